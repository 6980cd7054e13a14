"""Sessions: pairs of them, their reports, their ids (levels 2, agentlog 6)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reference import agentlog
from stratadiff.traces.axes import AXES
from stratadiff.traces.compare import LevelOptions, SessionReport, compare_traces
from stratadiff.traces.features import PairTable, chosen
from stratadiff.traces.reader import trace_of
from stratadiff.traces.sessions import paired_sessions
from traces.random_traces import trace_pairs
from traces.records import request, response, session, use

Record = dict[str, Any]


def sessions(old: list[Record], new: list[Record], **options: Any) -> list[SessionReport]:
    split = options.get("split")
    traces = [trace_of(side, split=split) for side in (old, new)]
    found = compare_traces(traces[0], traces[1], LevelOptions(levels=("session",), **options)).sessions
    assert found is not None
    return found


def named(name: str, *records: Record, trace: str | None = None) -> list[Record]:
    made = session(*records)
    for number, record in enumerate(made):
        record["id"] = f"{name}{number}"
    if trace is not None:
        made[-1]["meta"] = {"trace_id": trace}
    return made


def test_sessions_are_paired_by_position_and_the_shorter_list_is_padded() -> None:
    old = [*named("a", response("x")), *named("b", response("y"), response("z"))]
    new = named("c", response("x"), response("w"))
    found = sessions(old, new)
    assert [(one.session_index, one.baseline_session_id, one.candidate_session_id) for one in found] == [
        (0, "a0", "c0"),
        (1, "b0", ""),
    ]
    assert [(one.pair_count, one.worst_severity) for one in found] == [(1, "none"), (0, "none")]
    padded = found[1].report
    assert [row.axis for row in padded.rows] == list(AXES)
    assert {(row.n, row.baseline_median, row.severity, tuple(row.flags)) for row in padded.rows} == {
        (0, 0.0, "none", ())
    }
    assert (padded.baseline_trace_id, padded.candidate_trace_id) == ("b0", "")
    assert (padded.first_divergence, padded.divergences, padded.drill_down) == (None, [], [])
    assert padded.extras["unpaired"] == {"baseline": 2, "candidate": 0}
    mirrored = sessions(new, old)
    assert [(one.pair_count, one.baseline_session_id) for one in mirrored] == [(1, "c0"), (0, "")]
    assert sessions([], []) == []


def test_a_report_is_that_of_the_sessions_alone() -> None:
    first = [response(f"answer {k}", use("a", k=k), latency_ms=10 * k) for k in range(7)]
    second = [response(f"reply {k}", latency_ms=5 * k) for k in range(6)]
    other = [response(f"reply {k} or so", latency_ms=6 * k) for k in range(6)]
    old = [*named("a", *first), *named("b", *second)]
    new = [*named("c", *first[1:]), *named("d", *other)]
    for options in ({}, {"align": True}, {"refusals": "strict"}, {"seed": 7}, {"drill_down_rows": 0}):
        found = sessions(old, new, **options)
        levels = ("trace", "turn")
        for one, (b, c) in zip(found, ((old[:8], new[:7]), (old[8:], new[7:])), strict=True):
            alone = compare_traces(trace_of(b), trace_of(c), LevelOptions(levels=levels, **options))
            for name in type(one.report).__slots__:
                assert getattr(one.report, name) == getattr(alone, name), name
            assert (one.pair_count, one.worst_severity) == (alone.pair_count, alone.worst_severity)


def test_turns_are_counted_from_the_start_of_the_session() -> None:
    old = [*named("a", response("x"), response("y")), *named("b", response("z"))]
    new = [*named("a", response("x")), *named("b", response("q"), response("z"))]
    report = sessions(old, new, align=True)[1].report
    assert report.first_divergence is not None
    assert (report.first_divergence.baseline_turn, report.first_divergence.candidate_turn) == (0, 0)
    assert [(row.pair_index, row.baseline_turn, row.candidate_turn) for row in report.drill_down] == [
        (0, 0, 1)
    ]


def test_a_session_has_no_judge() -> None:
    records = named("a", response("x"), response("y"))
    chosen_options = LevelOptions(levels=("trace", "session"), judge=[0.5, 1.0])
    found = compare_traces(trace_of(records), trace_of(records), chosen_options)
    assert found.rows is not None
    assert found.sessions is not None
    at = AXES.index("judge")
    assert (found.rows[at].n, found.sessions[0].report.rows[at].n) == (2, 0)


def test_trace_ids_of_sessions() -> None:
    leading = [response("x") | {"id": "r0"}]
    old = [*leading, *named("a", response("x"), trace="first"), *named("b", response("y"))]
    new = [*leading, *named("c", response("x"), request(), trace="other"), *named("d"), *named("e")]
    found = sessions(old, new)
    ids = [(one.report.baseline_trace_id, one.report.candidate_trace_id) for one in found]
    assert ids == [("r0", "r0"), ("first", "other"), ("b0", "d0"), ("", "e0")]


@settings(max_examples=200)
@given(trace_pairs(max_turns=6), st.sampled_from((None, "requests")))
def test_sessions_are_those_of_the_definition(
    pair: tuple[list[Record], list[Record]], split: str | None
) -> None:
    old, new = (trace_of(side, split=split) for side in pair)
    found = paired_sessions(old, new)
    for place, side in enumerate(pair):
        expected = agentlog.sessions(side, split)
        parts = [parts[place] for parts in found]
        assert all(part.turns == range(0) and part.session_id == "" for part in parts[len(expected) :])
        shown = [(part.session_id, part.trace_id, len(part.turns)) for part in parts[: len(expected)]]
        assert shown == [
            (agentlog.session_id(one), agentlog.trace_id(one), len(agentlog.turns(one))) for one in expected
        ]


def test_pairs_of_several_reports_stand_once() -> None:
    table = PairTable()
    assert table.add(range(4), range(4)) == range(4)
    assert table.add([2, 3], [2, 3]) == range(2, 4)
    assert table.add([0, 2], [0, 2]) == [0, 2]
    assert table.add([1, 4], [0, 4]) == range(4, 6)
    assert table.add([], []) == range(0)
    assert (table.baseline, table.candidate) == ([0, 1, 2, 3, 1, 4], [0, 1, 2, 3, 0, 4])
    assert len(table) == 6
    assert (chosen([*"abcdef"], range(2, 4)), chosen([*"abcdef"], [0, 5])) == (["c", "d"], ["a", "f"])
