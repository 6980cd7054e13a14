"""Where traces part: kinds, sentences, order (levels 3.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import agentlog, trace_turns
from stratadiff.errors import InputError, LimitError
from stratadiff.traces.compare import Divergence, LevelOptions, compare_traces
from stratadiff.traces.divergences import KINDS, argument_difference, compact
from stratadiff.traces.reader import trace_of
from traces.random_traces import trace_pairs, values
from traces.records import response, session, use

Record = dict[str, Any]


def divergences(old: list[Record], new: list[Record]) -> tuple[Divergence | None, list[Divergence]]:
    found = compare_traces(trace_of(old), trace_of(new), LevelOptions(levels=("turn",)))
    assert found.divergences is not None
    return found.first_divergence, found.divergences


def only(old: Record, new: Record) -> Divergence:
    """Compare one turn among others that are equal."""
    around = [response(f"turn {k}", use(f"tool{k}")) for k in range(3)]
    first, top = divergences(session(*around, old, *around), session(*around, new, *around))
    assert first is not None
    assert top == [first]
    assert (first.baseline_turn, first.candidate_turn) == (3, 3)
    return first


@settings(max_examples=200)
@given(trace_pairs(max_turns=10, max_sessions=0))
def test_divergences_are_those_of_the_definition(pair: tuple[list[Record], list[Record]]) -> None:
    first, top = divergences(*pair)
    expected = trace_turns.divergences(*(agentlog.turns(side) for side in pair))
    assert (None if first is None else first.to_dict(), [one.to_dict() for one in top]) == expected


@pytest.mark.parametrize(
    ("old", "new", "kind", "axis", "text"),
    [
        (
            response(use("a"), use("b", x=1)),
            response(use("a")),
            "structural_drift",
            "trajectory",
            "candidate dropped tool call(s): `b(x)`",
        ),
        (
            response(use("a")),
            response(use("a"), use("c", y=1, x=2), use("b")),
            "structural_drift",
            "trajectory",
            "candidate added tool call(s): `b()`, `c(x,y)`",
        ),
        (
            response(use("a"), use("b")),
            response(use("b"), use("c")),
            "structural_drift",
            "trajectory",
            "tool set changed: removed `a()`, added `c()`",
        ),
        (
            response(use("a", x=1)),
            response(use("a", x=1), use("a", x=1)),
            "structural_drift",
            "trajectory",
            "candidate called `a(x)` 2 time(s) vs baseline's 1 — duplicate tool invocation",
        ),
        (
            response(use("a"), use("b"), use("b"), use("b")),
            response(use("a"), use("b")),
            "structural_drift",
            "trajectory",
            "candidate called 2 tool(s) 2 time(s) vs baseline's 4 — dropped one or more repeat invocations",
        ),
        (
            response("x", use("a"), stop="tool_use"),
            response("x", use("a"), stop=None),
            "decision_drift",
            "safety",
            "stop_reason changed: `tool_use` → ``",
        ),
        (
            response(use("a", x=1, y={"k": [1.0, "é"]}), use("b")),
            response(use("a", x=1.0, y={"k": [True, "é"]}), use("b")),
            "decision_drift",
            "trajectory",
            'tool arg value changed: `a(y)`: `{"k":[1.0,"é"]}` → `{"k":[true,"é"]}`',
        ),
        (
            response("the answer is forty-two"),
            response("no idea, ask somebody else"),
            "decision_drift",
            "semantic",
            "response text diverged (text similarity 0.00); same tool sequence",
        ),
    ],
)
def test_sentences(old: Record, new: Record, kind: str, axis: str, text: str) -> None:
    found = only(old, new)
    assert (found.kind, found.primary_axis, found.explanation) == (kind, axis, text)
    assert 0.0 < found.confidence <= 1.0


def test_white_space_is_no_difference() -> None:
    old, new = session(response("a  b\n\n c", "")), session(response("\u3000a b\u2028c "))
    assert divergences(old, new) == (None, [])


def test_turns_without_a_partner() -> None:
    turns = [response(f"turn {k}", use(f"t{k}")) for k in range(4)]
    more = [response("bye"), response(use("x"), use("y")), response(use("z"))]
    first, top = divergences(session(*turns), session(more[0], *turns, *more[1:]))
    assert [one.explanation for one in top] == [
        "candidate inserted an extra response turn with no tool calls between baseline turns #0 and #0",
        "candidate inserted an extra turn with 2 tool calls between baseline turns #3 and #4",
        "candidate inserted an extra turn with 1 tool call between baseline turns #3 and #4",
    ]
    assert first == top[0]
    assert [(one.baseline_turn, one.candidate_turn) for one in top] == [(0, 0), (4, 5), (4, 6)]
    first, top = divergences(session(more[0], *turns, *more[1:]), session(*turns))
    assert [one.explanation for one in top] == [
        "candidate dropped a response turn with no tool calls (baseline turn #0 has no counterpart)",
        "candidate dropped a turn with 2 tool calls (baseline turn #5 has no counterpart)",
        "candidate dropped a turn with 1 tool call (baseline turn #6 has no counterpart)",
    ]
    assert {(one.kind, one.primary_axis, one.confidence) for one in top} == {(KINDS[0], "trajectory", 1.0)}


def test_the_gravest_five_by_kind_and_confidence() -> None:
    old = [response(f"turn number {k}", use("a", k=k)) for k in range(8)]
    new = [response(f"turn number {k}", use("a", k=k)) for k in range(8)]
    new[1] = response("turn number 1", use("a", k=77))  # arguments
    new[2] = response("turn number 2", use("a", k=2), stop="max_tokens")  # stop reason: less confident
    new[4] = response("turn number 4", use("a", k=4), use("a", k=4))  # structural
    new[5] = response("turn number 5", use("a", k=78))
    first, top = divergences(session(*old), session(*new))
    assert [one.baseline_turn for one in top] == [4, 1, 5, 2]
    assert first == top[1]
    for turn in (0, 3, 6):
        new[turn] = response(f"turn number {turn}", use("a", k=79))
    assert [one.baseline_turn for one in divergences(session(*old), session(*new))[1]] == [4, 0, 1, 3, 5]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, "`t(b)`: `1` → `2`"),  # in the baseline's order
        ({"b": 1, "a": None}, {"b": True}, "`t(b)`: `1` → `true`"),
        ({"b": 1, "a": None}, {"b": 1.0}, "`t(a)`: `null` → `<missing>`"),
        ({"a": 1}, {"a": 1, "b": 2}, "`t`: input changed"),
        ({"a": 1}, [1], "`t`: input changed"),
        (None, {}, "`t`: input changed"),
    ],
)
def test_argument_differences(old: Any, new: Any, text: str) -> None:
    assert argument_difference("t", old, new) == text


def test_first_uses_of_a_tool_are_compared_and_tools_in_code_point_order() -> None:
    old = response(use("b", x=1), use("a", x=1), use("a", x=5))
    new = response(use("b", x=2), use("a", x=1), use("a", x=6))
    assert only(old, new).explanation == "tool arg value changed: `b(x)`: `1` → `2`"
    new = response(use("b", x=2), use("a", x=3), use("a", x=5))
    assert only(old, new).explanation == "tool arg value changed: `a(x)`: `1` → `3`"


@given(
    st.recursive(
        values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    )
)
def test_compact_json_is_that_of_the_standard_library(value: Any) -> None:
    assert compact(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_values_that_cannot_be_written() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(LimitError, match="nested too deeply"):
        compact(value)
    with pytest.raises(InputError, match="no JSON form"):
        compact(10**5000)
