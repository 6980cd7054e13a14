"""What is read of a response, odd values included (agentlog 3)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings

from reference import agentlog, trace_axes, trace_turns
from stratadiff.traces.features import Features, number
from stratadiff.traces.pricing import pricing_of
from stratadiff.traces.reader import trace_of
from traces.random_traces import PRICES, trace_pairs
from traces.records import response, session, use

Record = dict[str, Any]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (-2.5, -2.5),
        (2**53 + 1, 2.0**53),
        (10**400, None),
        (math.inf, None),
        (math.nan, None),
        (True, None),
        (None, None),
        ("1", None),
        ([1], None),
    ],
)
def test_numbers(value: Any, expected: float | None) -> None:
    assert number(value) == expected == trace_axes.number(value)


@settings(max_examples=200)
@given(trace_pairs(max_turns=8))
def test_columns_are_those_of_the_definition(pair: tuple[list[Record], list[Record]]) -> None:
    found = Features(trace_of(pair[0]), trace_of(pair[1]), pricing_of(PRICES))
    table = trace_axes.pricing_of(PRICES)
    tools = found.tools.texts()
    for records, side in zip(pair, (found.baseline, found.candidate), strict=True):
        assert len(side) == len(agentlog.turns(records))
        for turn, payload in enumerate(agentlog.turns(records)):
            texts = agentlog.texts(payload)
            assert found.spaced[side.spaced[turn]] == " ".join(texts)
            assert found.lined[side.lined[turn]] == "\n".join(texts)
            assert side.has_text[turn] == any(texts)
            assert [tools[call.tool] for call in side.calls[turn]] == trace_turns.call_tokens(payload)
            assert side.output[turn] == trace_axes.count(payload, "output_tokens")
            assert (side.thinking[turn] or 0.0) + side.thoughts[turn] == trace_axes.reasoning(payload)
            cost = trace_axes.cost(payload, table)
            assert (side.cost[turn], side.priced[turn]) == (cost or (None, False))


def test_equal_texts_and_tools_have_equal_ids_on_both_sides() -> None:
    old = session(response("a", "b", use("t", y=1, x=2)), response("c"))
    new = session(response("c"), response("a b"), response(use("t", x=3, y=4), "a\nb"))
    found = Features(trace_of(old), trace_of(new))
    assert found.baseline.spaced[0] == found.candidate.spaced[1]
    assert found.baseline.lined[0] == found.candidate.lined[2]
    assert found.baseline.spaced[1] == found.candidate.spaced[0]
    assert found.baseline.calls[0][0].tool == found.candidate.calls[2][0].tool
    assert found.tools.texts() == ["t(x,y)"]
