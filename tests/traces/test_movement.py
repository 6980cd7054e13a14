"""Distances of tool calls (levels 1.2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog, trace_axes
from stratadiff.errors import LimitError
from stratadiff.traces import movement
from stratadiff.traces.features import Features
from stratadiff.traces.movement import Movements, distance
from stratadiff.traces.reader import trace_of
from traces.random_traces import NAMES, inputs
from traces.records import response, session

ids = st.lists(st.integers(0, 3), max_size=9)


def moved(old: list[Any], new: list[Any]) -> float:
    features = Features(trace_of(session(response(*old))), trace_of(session(response(*new))))
    return Movements(features.baseline, features.candidate).distance(0, 0)


def use(name: Any, *given_input: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "name": name}
    return block | {"input": given_input[0]} if given_input else block


@given(ids, ids)
def test_distances_are_those_of_the_definition(old: list[int], new: list[int]) -> None:
    expected = trace_axes.normalised_distance([str(x) for x in old], [str(x) for x in new])
    assert distance(old, new) == expected == distance(new, old)


calls = st.lists(st.builds(use, st.sampled_from(NAMES), inputs), max_size=4)


@given(calls, st.data())
def test_movements_are_those_of_the_definition(old: list[Any], data: st.DataObject) -> None:
    new = data.draw(st.one_of(calls, st.permutations(old), st.just(old)))
    payloads = [{"content": side} for side in (old, new)]
    assert moved(old, new) == trace_axes.trajectory(*payloads)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"x": 1}, {"x": 1.0}, 0.0),
        ({"x": 0.0}, {"x": -0.0}, 0.0),
        ({"x": 1}, {"x": True}, 1.0),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, 0.0),
        ({"x": "é"}, {"x": "e\u0301"}, 0.0),  # canonical JSON normalises
        ({"é": 1}, {"e\u0301": 1}, 1.0),  # but KEYS does not
        ({"x": 2**60}, {"x": float(2**60)}, 1.0),  # ...846976 and ...847000
        ({"x": 2**64}, {"x": float(2**64)}, 0.0),
        ({"x": 2**64 + 1}, {"x": 2**64}, 0.0),
        ({"x": [1, 2]}, {"x": (1, 2)}, 0.0),
        (None, None, 0.0),
        (None, {}, 1.0),
        ([], {}, 1.0),
    ],
)
def test_equal_arguments(old: Any, new: Any, expected: float) -> None:
    assert moved([use("t", old)], [use("t", new)]) == expected
    if expected:
        assert agentlog.canonical(old) != agentlog.canonical(new) or sorted(old) != sorted(new)


def test_an_absent_input_is_null() -> None:
    assert moved([use("t")], [use("t", None)]) == 0.0


def test_values_of_the_callers_own_classes() -> None:
    class Text(str):
        __slots__ = ()

    assert moved([use("t", {"x": "y"})], [use("t", {"x": Text("y")})]) == 0.0
    assert moved([use("t", {"x": "y"})], [use("t", {"x": Text("z")})]) == 1.0


def test_names_that_are_no_strings() -> None:
    assert moved([use(None)], [use(3)]) == 0.0
    assert moved([use(None)], [use("_")]) == 0.0


def test_calls_past_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movement, "MAX_CALL_CELLS", 5)
    with pytest.raises(LimitError, match="3 against 2 tool calls in one turn"):
        distance([0, 1, 2, 3, 9], [0, 4, 5, 9])
    assert distance([0, 1, 2, 9], [0, 3, 9]) == 0.5
