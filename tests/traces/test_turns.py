"""Drill-down of pairs of turns (levels 3.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import agentlog, trace_axes, trace_turns
from stratadiff.traces.compare import LevelOptions, PairScore, compare_traces
from stratadiff.traces.pricing import pricing_of
from stratadiff.traces.reader import trace_of
from stratadiff.traces.turns import SCORED
from traces.random_traces import PRICES, trace_pairs
from traces.records import response, session, use

Record = dict[str, Any]


def drill_down(old: list[Record], new: list[Record], **options: Any) -> list[PairScore]:
    chosen = LevelOptions(levels=("turn",), **options)
    found = compare_traces(trace_of(old), trace_of(new), chosen).drill_down
    assert found is not None
    return found


def values(row: PairScore) -> dict[str, tuple[float, float, float]]:
    return {
        score.axis: (score.baseline_value, score.candidate_value, score.normalized_delta)
        for score in row.axis_scores
    }


@settings(max_examples=200)
@given(trace_pairs(max_turns=8, max_sessions=0), st.sampled_from((0, 1, 5)), st.booleans())
def test_rows_are_those_of_the_definition(
    pair: tuple[list[Record], list[Record]], count: int, is_strict: bool
) -> None:
    refusals = "strict" if is_strict else "contract"
    found = drill_down(*pair, pricing=pricing_of(PRICES), drill_down_rows=count, refusals=refusals)
    left, right = (agentlog.turns(side) for side in pair)
    pairs = [(k, k, left[k], right[k]) for k in range(min(len(left), len(right)))]
    table = trace_axes.pricing_of(PRICES)
    assert [row.to_dict() for row in found] == trace_turns.drill_down(pairs, table, count, refusals)


def test_an_unchanged_pair_is_said_to_be_conformance() -> None:
    records = session(response("a", latency_ms=5), response(use("b")))
    for index, row in enumerate(drill_down(records, records)):
        assert (row.pair_index, row.baseline_turn, row.candidate_turn) == (index, index, index)
        assert (row.regression_score, row.dominant_axis) == (0.0, "conformance")
        assert tuple(score.axis for score in row.axis_scores) == SCORED


def test_each_axis_counts_in_its_unit_up_to_four() -> None:
    usage = [{"output_tokens": 100, "thinking_tokens": 10}, {"output_tokens": 250, "thinking_tokens": 5}]
    old = session(response("abcd", use("t", a=1), usage=usage[0], latency_ms=100))
    new = session(response("abce", use("t", b=1), usage=usage[1], latency_ms=99_000))
    [row] = drill_down(old, new)
    assert values(row) == {
        "semantic": (1.0, 0.0, 2.0),
        "trajectory": (0.0, 1.0, 2.0),
        "safety": (0.0, 0.0, 0.0),
        "verbosity": (100.0, 250.0, 1.5),
        "latency": (100.0, 99000.0, 4.0),
        "cost": (0.0, 0.0, 0.0),
        "reasoning": (10.0, 5.0, 0.05),
        "conformance": (0.0, 0.0, 0.0),
    }
    assert (row.regression_score, row.dominant_axis) == (9.55, "latency")


def test_changed_argument_values_are_no_movement_here() -> None:
    [row] = drill_down(session(response(use("t", a=1))), session(response(use("t", a=2))))
    assert values(row)["trajectory"] == (0.0, 0.0, 0.0)


def test_of_equal_axes_the_last_dominates() -> None:
    [row] = drill_down(session(response("ab", use("t"))), session(response("ba", use("u"))))
    assert values(row)["semantic"][2] == values(row)["trajectory"][2] == 2.0
    assert row.dominant_axis == "trajectory"


def test_of_equal_scores_the_first_pair_leads() -> None:
    count = 12
    old = session(*[response(latency_ms=0) for _ in range(count)])
    new = session(*[response(latency_ms=1000 * (k % 2)) for k in range(count)])
    assert [row.pair_index for row in drill_down(old, new)] == [1, 3, 5, 7, 9]
    everything = drill_down(old, new, drill_down_rows=0)
    assert [row.pair_index for row in everything] == [1, 3, 5, 7, 9, 11, 0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("text", "stop", "score"),
    [
        ("I can't help", "end_turn", 1.0),
        ("I will not", "end_turn", 1.0),
        ("against my guidelines", "end_turn", 0.0),  # a phrase of the trace level
        ("x", "refusal", 1.0),
        ("x", "content_filter", 1.0),
        ("x", ["refusal"], 0.0),
    ],
)
def test_refusals(text: str, stop: Any, score: float) -> None:
    [row] = drill_down(session(response("x")), session(response(text, stop=stop)))
    assert values(row)["safety"][1] == score


def test_text_is_joined_by_line_feeds() -> None:
    # The trace level joins by spaces, so `i` and `won't` of two blocks are a phrase there.
    [row] = drill_down(session(response("x")), session(response("i", "won't")))
    assert values(row)["safety"][1] == 0.0
