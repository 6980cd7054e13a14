"""Rows of the nine axes: severities, flags, intervals, options of an axis (levels 1)."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import agentlog, trace_axes
from stratadiff.errors import UsageError
from stratadiff.traces.axes import (
    AXES,
    SEVERITIES,
    AxisColumns,
    AxisRow,
    _severity,
    rows_of,
    worst_severity,
)
from stratadiff.traces.compare import LevelOptions, compare_traces
from stratadiff.traces.pricing import pricing_of
from stratadiff.traces.reader import trace_of
from traces.random_traces import PRICES, trace_pairs
from traces.records import response, session, use

Record = dict[str, Any]

EDGES = (0.0, 1e-9, 9e-10, 0.04, 0.05, 0.049999, 0.1, 0.15, 0.3, 0.29, 1.0, 10.0, 100.0, math.inf)


def compared(old: list[Record], new: list[Record], **options: Any) -> dict[str, AxisRow]:
    chosen = LevelOptions(levels=("trace",), **options)
    rows = compare_traces(trace_of(old), trace_of(new), chosen).rows
    assert rows is not None
    assert tuple(row.axis for row in rows) == AXES
    return {row.axis: row for row in rows}


def columns_of(axis: str, baseline: list[float], candidate: list[float]) -> AxisColumns:
    columns: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in AXES}
    columns[axis] = (baseline, candidate)
    return AxisColumns(len(baseline), columns, len(baseline), len(baseline))


# Severity


@given(st.data())
def test_severity_is_that_of_the_definition(data: st.DataObject) -> None:
    number = st.one_of(st.sampled_from(EDGES), st.floats(0, 2), st.floats(allow_nan=True))
    signed = st.tuples(number, st.sampled_from((1, -1))).map(lambda pair: pair[0] * pair[1])
    axis = data.draw(st.sampled_from(AXES))
    baseline, delta, low, high = (data.draw(signed) for _ in range(4))
    if data.draw(st.booleans()):
        low, high = sorted((low, high))
    crosses = low < -1e-9 and high > 1e-9
    assert _severity(axis, baseline, delta, low, high, crosses) == trace_axes.severity(
        axis, baseline, delta, low, high
    )


@pytest.mark.parametrize(
    ("axis", "baseline", "candidate", "severity"),
    [
        ("trajectory", 0.0, 0.04, "minor"),
        ("trajectory", 0.0, 0.05, "moderate"),
        ("trajectory", 0.0, 0.15, "severe"),
        ("verbosity", 100.0, 109.0, "minor"),
        ("verbosity", 100.0, 110.0, "moderate"),
        ("verbosity", 100.0, 70.0, "severe"),
        ("verbosity", 0.0, 1000.0, "minor"),
        ("verbosity", 100.0, 100.0, "none"),
        ("latency", 2000.0, 900.0, "severe"),  # dearer or cheaper: direction is not judged
    ],
)
def test_severities(axis: str, baseline: float, candidate: float, severity: str) -> None:
    [rows] = rows_of([columns_of(axis, [baseline] * 6, [candidate] * 6)], 42)
    row = rows[AXES.index(axis)]
    assert (row.severity, row.flags, row.ci95_low) == (severity, [], candidate - baseline)


def test_worst_severity() -> None:
    assert SEVERITIES == trace_axes.SEVERITIES
    rows = [AxisRow("cost", 0.0, 0.0, 0.0, 0.0, 0.0, name, 0, []) for name in ("none", "severe", "minor")]
    assert worst_severity(rows) == "severe"
    assert worst_severity([]) == "none"


# Rows


finite = st.one_of(st.floats(-10, 10), st.sampled_from((0.0, 1.0, -0.0, 1e300, 1e-300)))
rates = st.sampled_from((0.0, 1.0))


@settings(max_examples=40)
@given(st.data())
def test_rows_are_those_of_the_definition_whatever_is_computed_beside(data: st.DataObject) -> None:
    # Several reports at once share resamples wherever columns have one length.
    reports = []
    for _ in range(data.draw(st.integers(1, 3))):
        columns = {}
        for axis in AXES:
            size = data.draw(st.sampled_from((0, 1, 4, 5, 8)))
            value = rates if axis in trace_axes.MEANS else finite
            b, c = (data.draw(st.lists(value, min_size=size, max_size=size)) for _ in range(2))
            columns[axis] = (b, copy.copy(b) if data.draw(st.booleans()) else c)
        reports.append(AxisColumns(9, columns, 5, 9))
    seed = data.draw(st.integers(-5, 2**65))
    found = rows_of(reports, seed)
    for report, rows in zip(reports, found, strict=True):
        expected = [trace_axes.row(axis, *report.columns[axis], seed) for axis in AXES]
        assert [row.to_dict() for row in rows] == expected


def test_few_pairs_are_flagged() -> None:
    for count, flags in ((1, ["low_power"]), (4, ["low_power"]), (5, [])):
        [rows] = rows_of([columns_of("verbosity", [1.0] * count, [2.0] * count)], 42)
        assert rows[AXES.index("verbosity")].flags == flags
        assert rows[AXES.index("latency")].flags == []


def test_an_interval_around_zero_is_flagged() -> None:
    found = compared(
        session(*[response(usage={"output_tokens": 10 + k % 3}) for k in range(20)]),
        session(*[response(usage={"output_tokens": 10 + k % 5 % 3}) for k in range(20)]),
    )["verbosity"]
    assert found.flags == ["ci_crosses_zero"]
    assert found.ci95_low < 0 < found.ci95_high


# Axes


@settings(max_examples=100)
@given(trace_pairs(max_turns=8, max_sessions=0), st.booleans(), st.sampled_from(("contract", "strict")))
def test_rows_of_random_traces(
    pair: tuple[list[Record], list[Record]], text_only: bool, refusals: str
) -> None:
    turns = [agentlog.turns(side) for side in pair]
    pairs = list(zip(*turns, strict=False))
    table = trace_axes.pricing_of(PRICES)
    judge = [index % 3 / 2 for index in range(len(pairs))]
    found = compared(
        *pair,
        pricing=pricing_of(PRICES),
        semantic_text_only=text_only,
        refusals=refusals,
        judge=judge,
    )
    expected = trace_axes.rows(pairs, 42, table, refusals, text_only, judge)
    assert [row.to_dict() for row in found.values()] == expected


def test_tool_only_turns_dilute_the_semantic_axis_unless_told() -> None:
    tools = [response(use("read")) for _ in range(6)]
    old = session(*tools, *[response(f"one two {k}") for k in range(4)])
    new = session(*tools, *[response(f"other words {k}") for k in range(4)])
    found = compared(old, new)["semantic"]
    assert (found.candidate_median, found.n, found.severity) == (1.0, 10, "none")
    found = compared(old, new, semantic_text_only=True)["semantic"]
    assert (found.n, found.severity) == (4, "severe")


def test_equal_texts_are_exactly_alike() -> None:
    # Norms multiply to a little less or more than the sum of squares; rounding takes that out.
    words = ["alpha", "beta", "beta", "gamma", "delta", "delta", "delta", "epsilon"]
    records = session(*[response(" ".join(words[: 1 + k % 8])) for k in range(24)])
    found = compared(records, records)["semantic"]
    assert (found.baseline_median, found.candidate_median, found.delta) == (1.0, 1.0, 0.0)
    shuffled = session(*[response(" ".join(reversed(words[: 1 + k % 8]))) for k in range(24)])
    assert compared(records, shuffled)["semantic"].candidate_median == 1.0


@pytest.mark.parametrize(
    ("option", "safety"),
    [({}, (0.0, 1.0)), ({"refusals": "strict"}, (1.0, 0.0)), ({"abstentions": ["No Way"]}, (0.0, 0.0))],
)
def test_refusals(option: dict[str, Any], safety: tuple[float, float]) -> None:
    old = session(response("I can’t help with that."))
    new = session(response("The API won't be affected."))
    found = compared(old, new, **option)["safety"]
    assert (found.baseline_median, found.candidate_median) == safety


def test_other_abstentions() -> None:
    found = compared(session(response("fine")), session(response("no way!")), abstentions=["No Way"])
    assert found["safety"].candidate_median == 1.0


# Cost


def costs(payload: dict[str, Any], **table: Any) -> AxisRow:
    old = session(response(model="m", usage={"input_tokens": 0, "output_tokens": 0}))
    return compared(old, session(response(**payload)), pricing=pricing_of(table))["cost"]


def test_cost_adds_every_count_at_its_rate() -> None:
    usage = {
        "input_tokens": 1000,
        "output_tokens": 100,
        "cached_input_tokens": 10_000,
        "cached_write_5m_tokens": 200,
        "cached_write_1h_tokens": 300,
        "thinking_tokens": 50,
    }
    rates = {"input": 1e-5, "output": 4e-5, "cached_input": 1e-6, "cached_write_5m": 2e-5}
    found = costs({"model": "m", "usage": usage}, m=rates).candidate_median
    # A rate that is not given is that of the input, or of the output for reasoning.
    assert found == 1000 * 1e-5 + 10_000 * 1e-6 + 200 * 2e-5 + 300 * 1e-5 + 100 * 4e-5 + 50 * 4e-5
    halved = costs({"model": "m", "usage": usage, "batch": True}, m=rates | {"batch_discount": 0.5})
    assert halved.candidate_median == found * 0.5
    for batch in (1, "true", False, None):
        assert costs(
            {"model": "m", "usage": usage, "batch": batch}, m=rates | {"batch_discount": 0.5}
        ) == costs({"model": "m", "usage": usage}, m=rates)


@pytest.mark.parametrize(
    ("payload", "n", "flags"),
    [
        ({"model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}, 1, ["low_power"]),
        ({"model": "m-2026-05-01", "usage": {"input_tokens": 1, "output_tokens": 1}}, 1, ["low_power"]),
        ({"model": "x", "usage": {"input_tokens": 1, "output_tokens": 1}}, 1, ["low_power", "no_pricing"]),
        ({"model": "m", "usage": {"input_tokens": 1}}, 0, ["no_pricing"]),
        ({"model": "m", "usage": {"input_tokens": 1, "output_tokens": True}}, 0, ["no_pricing"]),
        ({"model": None, "usage": {"input_tokens": 1, "output_tokens": 1}}, 0, ["no_pricing"]),
        ({"model": "m"}, 0, ["no_pricing"]),
    ],
)
def test_what_has_a_cost(payload: dict[str, Any], n: int, flags: list[str]) -> None:
    found = costs(payload, m=[1e-6, 2e-6])
    assert (found.n, found.flags) == (n, flags)


def test_half_of_the_pairs_priced_is_enough() -> None:
    usage = {"input_tokens": 1, "output_tokens": 1}
    for priced, flags in ((3, []), (2, ["no_pricing"])):
        records = session(*[response(model="m" if k < priced else "x", usage=usage) for k in range(6)])
        assert compared(records, records, pricing=pricing_of({"m": [1, 1]}))["cost"].flags == flags


def test_infinite_costs_are_no_severity() -> None:
    usage = {"input_tokens": 1e300, "output_tokens": 1}
    records = session(response(model="m", usage=usage))
    found = compared(records, records, pricing=pricing_of({"m": [1e300, 0]}))["cost"]
    assert (found.n, found.candidate_median, found.severity) == (1, math.inf, "none")
    assert math.isnan(found.delta)
    usage["cached_input_tokens"] = -1e300  # infinity less infinity is no cost
    assert compared(records, records, pricing=pricing_of({"m": [1e300, 0]}))["cost"].n == 0


# Conformance


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('{"a": 1}', "x", (1.0, 0.0)),
        ("```json\n[1]\n```", "[2", (1.0, 0.0)),
        (
            "[1",
            "true",
            (0.0, 1.0),
        ),  # meant to be JSON by its first character; the other side need not be an object
        (use("t", a=1), use("other", a=2), (1.0, 1.0)),
        (use("t", a=1), use("t", b=1), (1.0, 0.0)),
        (use("t", a=1), "words", (1.0, 0.0)),
        (use("t"), use("t"), (1.0, 1.0)),
        ({"type": "tool_use", "name": "t", "input": "x"}, use("t"), None),
        ("words", '{"a": 1}', None),
    ],
)
def test_conformance(old: Any, new: Any, expected: tuple[float, float] | None) -> None:
    found = compared(session(response(old)), session(response(new)))["conformance"]
    assert (None if found.n == 0 else (found.baseline_median, found.candidate_median)) == expected


# Judge


def test_judge() -> None:
    records = session(*[response("a") for _ in range(5)])
    found = compared(records, records, judge=[1, 0.5, 0.0, 0.25, 0.75])["judge"]
    assert (found.baseline_median, found.candidate_median, found.n) == (1.0, 0.5, 5)
    assert found.severity != "none"


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ([], "judge has 0 scores for 2 pairs; give one for each pair"),
        ([1, 1, 1], "judge has 3 scores for 2 pairs; give one for each pair"),
        ([0.5, 1.5], "judge score 1 must be a number from 0 to 1, not 1.5"),
        ([True, 0.5], "judge score 0 must be a number from 0 to 1, not True"),
        (["1", 0.5], "judge score 0 must be a number from 0 to 1, not '1'"),
        ([0.5, None], "judge score 1 must be a number from 0 to 1, not None"),
        ([math.nan, 0.5], "judge score 0 must be a number from 0 to 1, not nan"),
    ],
)
def test_scores_that_are_none(judge: Any, message: str) -> None:
    records = session(response("a"), response("b"))
    with pytest.raises(UsageError) as caught:
        compared(records, records, judge=judge)
    assert str(caught.value) == message


def test_judge_with_aligned_turns_has_a_score_for_each_pair() -> None:
    old = session(response(use("a")), response(use("b")))
    new = session(response(use("x")), response(use("a")), response(use("b")))
    found = compared(old, new, align=True, judge=[0.5, 1.0])
    assert found["judge"].n == found["trajectory"].n == 2
