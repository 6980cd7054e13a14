"""The reference for axes, turns and texts keeps each single rule."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_axes, trace_report, trace_spans, trace_text, trace_turns


def response(*blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"content": list(blocks), **members}


def text(*texts: str, **members: Any) -> dict[str, Any]:
    return response(*({"type": "text", "text": part} for part in texts), **members)


def use(name: Any, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": name, "input": arguments}


def turn(*blocks: dict[str, Any], **members: Any) -> trace_turns.Turn:
    return trace_turns.Turn(response(*blocks, **members))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Straße, STRASSE", ["straße", "strasse"]),
        ("e\u0301té 3½x²", ["été", "3½x²"]),
        ("\u0915\u094d\u0937 a_b", ["\u0915\u094d\u0937", "a", "b"]),
        ("\u0130", ["i\u0307"]),
        ("ΟΔΟΣ", ["οδοσ"]),
        (" \t", []),
    ],
)
def test_words(source: str, expected: list[str]) -> None:
    assert [token for token in trace_axes.tokens(source) if token] == expected


def test_similarity_by_hand() -> None:
    # Two documents, both with one word "a": ln(3 / 3) + 1 = 1 for "a", ln(3 / 2) + 1 for the others.
    other = math.log(3 / 2) + 1
    assert trace_axes.similarities(["a b"], ["a c"]) == [round(1 / (1 + other * other), 12)]
    assert trace_axes.similarities(["", "", "x"], ["", "y", "x"]) == [1.0, 0.0, 1.0]
    assert trace_axes.similarities([], []) == []


def plain_levenshtein(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    step = plain_levenshtein(a[1:], b[1:]) + (a[0] != b[0])
    return min(step, plain_levenshtein(a[1:], b) + 1, plain_levenshtein(a, b[1:]) + 1)


@given(st.text("ab", max_size=5), st.text("ab", max_size=5))
def test_levenshtein(a: str, b: str) -> None:
    assert trace_axes.levenshtein(a, b) == plain_levenshtein(a, b)


def test_tokens_of_tool_calls() -> None:
    empty = hashlib.sha256(b"null").hexdigest()[:16]
    assert trace_axes.movement_token({"type": "tool_use"}) == f"_(|{empty})"
    assert trace_axes.movement_token({"type": "tool_use", "name": "f", "input": None}) == f"f(|{empty})"
    assert trace_axes.movement_token(use("f", b=1, a=2)).startswith("f(a,b|")
    assert trace_axes.movement_token(use("f", a=1)) == trace_axes.movement_token(use("f", a=1.0))
    assert trace_turns.call_token(use("f", b=1, a=2)) == "f(a,b)"
    assert trace_turns.call_token({"type": "tool_use", "name": 3, "input": [1]}) == "_()"


def test_costs() -> None:
    pricing = trace_axes.pricing_of(
        {
            "_note": "x",
            "m": [1, 2],
            "n": {"input": 1, "output": 2, "cached_input": 0.5, "batch_discount": 0.5},
        }
    )
    usage = {"input_tokens": 10, "output_tokens": 1, "cached_input_tokens": 4, "thinking_tokens": 1}
    assert trace_axes.cost({"model": "m", "usage": usage}, pricing) == (18.0, True)
    assert trace_axes.cost({"model": "n", "usage": usage}, pricing) == (16.0, True)
    assert trace_axes.cost({"model": "n", "usage": usage, "batch": True}, pricing) == (8.0, True)
    assert trace_axes.cost({"model": "n", "usage": usage, "batch": 1}, pricing) == (16.0, True)
    for model, priced in (
        ("m-2026-01-31", True),
        ("m-20260131", True),
        ("m-2026-1-31", False),
        ("m-٢٠٢٦٠١٣١", False),
        ("-20260131", False),
        ("_note", False),
        ("m-20260131-20260131", False),
    ):
        assert trace_axes.cost({"model": model, "usage": usage}, pricing) == (18.0 if priced else 0.0, priced)
    unusable: list[Any] = [
        [],
        {"model": "m"},
        {"usage": usage},
        {"model": "m", "usage": {"input_tokens": True, "output_tokens": 1}},
        {"model": "m", "usage": {"input_tokens": "1", "output_tokens": 1}},
    ]
    for payload in unusable:
        assert trace_axes.cost(payload, pricing) is None


@pytest.mark.parametrize(
    "table",
    [
        [],
        {"m": [1]},
        {"m": 1},
        {"m": [1, "2"]},
        {"m": {"input": -1}},
        {"m": {"input": True}},
        {"m": {"input": float("inf")}},
        {"m": {"inputs": 1}},
    ],
)
def test_bad_pricing(table: Any) -> None:
    with pytest.raises(ValueError, match=r"^m: |^the pricing table is not an object$"):
        trace_axes.pricing_of(table)


def test_pricing_flag() -> None:
    one = {"model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}
    free = {**one, "model": "x"}
    pricing = trace_axes.pricing_of({"m": [1, 1]})

    def flags(*sides: Any) -> Any:
        return trace_axes.rows([(side, side) for side in sides], pricing=pricing)[5]["flags"]

    assert flags() == []
    assert flags(one, free) == ["low_power"]
    assert flags(one, free, free) == ["low_power", "no_pricing"]
    assert flags({}) == ["no_pricing"]
    assert flags(*[one] * 5) == []


@pytest.mark.parametrize(
    ("source", "valid"),
    [
        ("[1, 2.5e3]", True),
        ('{"a": {"a": null}}', True),
        ("", False),
        ("NaN", False),
        ("[-Infinity]", False),
        ("1e400", False),
        ("1" * 400, False),
        ("0." + "1" * 5000, True),
        ('"\\ud83d\\ude00"', True),
        ('"\\ud83d"', False),
        ('{"\\udc00": 1}', False),
        ('{"a": "\\ud800", "a": 1}', False),
        ("[" * 127 + "]" * 127, True),
        ("[" * 128 + "]" * 128, False),
        ('"' + "[" * 200 + '"', True),
        ("[" * 100_000, False),
        ("\u00a0[1]", False),
        ('"\t"', False),
        ("[01]", False),
    ],
)
def test_valid_json(source: str, valid: bool) -> None:
    assert trace_axes.is_json(source) is valid


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("\u2003 [1]\u0085", "[1]"),
        ("\x1c[1]", "\x1c[1]"),
        ("```json\n{}\n```", "{}"),
        ("```json {}```", "{}"),
        ("```json{}", "{}"),
        ("```\n{}\n``````", "{}\n```"),
        ("``` [1]\n[2]", "[2]"),
        ("```", ""),
        ("a```", "a```"),
    ],
)
def test_unfenced(source: str, expected: str) -> None:
    assert trace_axes.unfenced(text(source)) == expected


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        (text("[1"), text("42"), (0.0, 1.0)),
        (text('{"a":', "1}"), text("x"), (1.0, 0.0)),
        (text("x"), text("[1]"), None),
        (response(use("f", a=1)), response(use("g", a=2)), (1.0, 1.0)),
        (response(use("f")), response(use("f", a=2)), (1.0, 0.0)),
        (response(use("f")), text("x"), (1.0, 0.0)),
        (response({"type": "tool_use", "input": [1]}, use("f", a=1)), response(use("f", a=1)), (1.0, 1.0)),
        (response({"type": "tool_use", "input": [1]}), response(use("f", a=1)), None),
    ],
)
def test_conformance(baseline: Any, candidate: Any, expected: Any) -> None:
    assert trace_axes.conformance(baseline, candidate) == expected


@pytest.mark.parametrize(
    ("axis", "baseline", "delta", "low", "high", "expected"),
    [
        ("latency", 100.0, 9.9, 1.0, 20.0, "minor"),
        ("latency", 100.0, 10.0, 1.0, 20.0, "moderate"),
        ("latency", 100.0, -30.0, -50.0, -1.0, "severe"),
        ("latency", 0.0, 5.0, 1.0, 9.0, "minor"),
        ("latency", 100.0, 4.9, -1.0, 9.0, "none"),
        ("latency", 100.0, 50.0, -40.0, 90.0, "minor"),
        ("latency", 100.0, 50.0, -10.0, 40.0, "severe"),
        ("latency", 100.0, 1e-10, 0.0, 0.0, "none"),
        ("latency", float("inf"), 5.0, 0.0, 0.0, "none"),
        ("safety", 0.0, 0.049, 0.0, 0.1, "minor"),
        ("safety", 0.0, 0.05, 0.0, 0.1, "moderate"),
        ("safety", 0.0, 0.15, 0.0, 0.2, "severe"),
        ("safety", 0.0, 0.15, -0.1, 0.2, "minor"),
    ],
)
def test_severity(axis: str, baseline: float, delta: float, low: float, high: float, expected: str) -> None:
    assert trace_axes.severity(axis, baseline, delta, low, high) == expected


def test_judge() -> None:
    pairs: list[tuple[Any, Any]] = [({}, {})] * 6
    row = trace_axes.rows(pairs, judge=[0.5] * 6)[7]
    assert (row["baseline_median"], row["candidate_median"], row["severity"], row["n"]) == (
        1.0,
        0.5,
        "severe",
        6,
    )
    assert (row["ci95_low"], row["ci95_high"]) == (-0.5, -0.5)
    for judge in ([0.5], [1.5] * 6, [float("nan")] * 6):
        with pytest.raises(ValueError, match="judge"):
            trace_axes.rows(pairs, judge=judge)


def test_empty_report() -> None:
    found = trace_report.report([], [])
    assert found["pair_count"] == 0
    assert [row["axis"] for row in found["rows"]] == list(trace_axes.AXES)
    assert all(row["n"] == 0 and row["flags"] == [] and row["severity"] == "none" for row in found["rows"])
    assert (found["first_divergence"], found["divergences"], found["drill_down"]) == (None, [], [])
    assert trace_report.sessions([], []) == []
    assert trace_text.sessions_text([]) == ""


def test_unchanged_pair_is_dominated_by_the_last_axis() -> None:
    same_turn = text("a", usage={"output_tokens": 3})
    (row,) = trace_turns.drill_down([(0, 0, same_turn, same_turn)])
    assert (row["regression_score"], row["dominant_axis"]) == (0.0, "conformance")
    rows = trace_turns.drill_down([(i, i, same_turn, same_turn) for i in range(7)], k=0)
    assert [row["pair_index"] for row in rows] == list(range(7))


def test_cost_of_turns() -> None:
    assert trace_turns.cost(turn(use("f", a=1)), turn(use("f", a=1.0))) == 0.0
    assert trace_turns.cost(turn(use("f", a=1)), turn(use("f", a=True))) == 0.20
    assert trace_turns.cost(turn(use("f", a=1)), turn(use("f", a=1), use("f", a=2))) == 0.40 * 0.5
    assert trace_turns.cost(turn(use("f")), turn()) == 0.40
    assert trace_turns.cost(turn(stop_reason="x"), turn(stop_reason=3)) == 0.15
    apart = trace_turns.cost(
        turn({"type": "text", "text": "a \u3000b"}), turn({"type": "text", "text": "\na b\u2028"})
    )
    assert apart == 0.0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"b": 1.0, "a": "é"}, {"a": "e", "b": 2}, "`f(b)`: `1.0` → `2`"),
        ({"a": [1, {"k": None}]}, {"b": 1}, '`f(a)`: `[1,{"k":null}]` → `<missing>`'),
        ({"a": 1}, {"a": 1, "b": 2}, "`f`: input changed"),
        ([1], [2], "`f`: input changed"),
        ({"a": "é"}, {"a": True}, '`f(a)`: `"é"` → `true`'),
        ({"a": 1}, {"a": 1.0}, None),
    ],
)
def test_argument_difference(old: Any, new: Any, expected: str | None) -> None:
    left, right = (turn({"type": "tool_use", "name": "f", "input": value}) for value in (old, new))
    assert trace_turns.argument_difference(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right", "kind", "expected"),
    [
        (
            response(use("g"), use("f")),
            response(),
            "structural_drift",
            "candidate dropped tool call(s): `f()`, `g()`",
        ),
        (
            response(use("f", a=1)),
            response(use("f", a=1), use("f", a=1), use("f", a=1)),
            "structural_drift",
            "candidate called `f(a)` 3 time(s) vs baseline's 1 — duplicate tool invocation",
        ),
        (
            response(use("f"), use("g"), use("g")),
            response(use("f"), use("g")),
            "structural_drift",
            "candidate called 2 tool(s) 2 time(s) vs baseline's 3 — dropped one or more repeat invocations",
        ),
        (
            text("abcdefghijklmnopqrstuvwxyz"),
            text("abcdefghijklmnopqrstuvwxyz!"),
            None,
            None,
        ),
        (
            text("some words"),
            text("something else"),
            "decision_drift",
            "response text diverged (text similarity 0.06); same tool sequence",
        ),
    ],
)
def test_explanations(left: Any, right: Any, kind: str | None, expected: str | None) -> None:
    found = trace_turns.divergence_walk([left], [right], "A")
    assert [(one["kind"], one["explanation"]) for one in found] == ([(kind, expected)] if kind else [])


small_cost = st.sampled_from([0.0, 0.05, 0.25, 0.4, 0.75, 1.0])


@given(st.integers(0, 4), st.integers(0, 4), st.data())
def test_path_reaches_the_far_corner(nb: int, nc: int, data: st.DataObject) -> None:
    costs = [[data.draw(small_cost) for _ in range(nc)] for _ in range(nb)]
    path = trace_turns.path_from_costs(costs, nb, nc)
    assert path.count("A") + path.count("D") == nb
    assert path.count("A") + path.count("I") == nc


def test_paths() -> None:
    assert trace_turns.path([], []) == ""
    assert trace_turns.path([], [{}, {}]) == "II"
    assert trace_turns.path([{}], []) == "D"
    turns = [text(f"turn number {word} of the trace") for word in ("one", "two", "three", "four")]
    assert trace_turns.path(turns, turns[1:]) == "DAAA"
    assert trace_turns.path(turns, [*turns[:2], text("something else"), *turns[2:]]) == "AAIAA"
    assert trace_turns.band_width(1000, 3) is None
    assert trace_turns.band_width(1001, 1000) == 101
    assert trace_turns.band_width(40_000, 40_000) == 200


@given(st.text(max_size=20))
def test_escape_leaves_nothing_that_drives_a_terminal(source: str) -> None:
    shown = trace_text.escape(source)
    assert all(char in "\u200c\u200d" or trace_text.escape_char(char) == char for char in shown)


def test_escape() -> None:
    assert trace_text.escape("\x1b]0;T\x07\r\n\x9b\\") == "\\x1b]0;T\\x07\\x0d\\x0a\\x9b\\"
    assert (
        trace_text.escape("\u202e\u2028\u200d\u00ad\U000e0041é") == "\\u202e\\u2028\u200d\\xad\\udb40\\udc41é"
    )


@pytest.mark.parametrize(
    ("value", "axis", "plain", "signed"),
    [
        (-0.0004, "semantic", "0.000", "+0.000"),
        (-0.04, "latency", "0.0", "+0.0"),
        (0.0000005, "cost", "0.000000", "+0.000000"),
        (-1.25, "verbosity", "-1.2", "-1.2"),
    ],
)
def test_numbers(value: float, axis: str, plain: str, signed: str) -> None:
    assert (trace_text.plain(value, axis), trace_text.signed(value, axis)) == (plain, signed)


def test_fail_on() -> None:
    def found(severity: str, *regressions: str) -> dict[str, Any]:
        return {
            "rows": [{"severity": severity}],
            "policy_diff": {"regressions": [{"severity": rank} for rank in regressions]},
        }

    assert not trace_report.fails(found("severe", "critical"), "never")
    assert trace_report.fails(found("moderate"), "moderate")
    assert not trace_report.fails(found("moderate"), "severe")
    assert trace_report.fails(found("none", "info", "critical"), "severe")
    assert not trace_report.fails(found("none", "info"), "moderate")
    assert trace_report.fails(found("none", "info"), "minor")
    assert not trace_report.fails({"rows": [{"severity": "none"}]}, "minor")


def test_records_with_kind_and_payload_only() -> None:
    one = [{"kind": "chat_response", "payload": text("a")}]
    found = trace_report.document(one, one, {"levels": trace_report.LEVELS, "rules": []})
    assert (found["baseline_trace_id"], found["pair_count"]) == ("", 1)
    assert found["sessions"][0]["baseline_session_id"] == ""
    assert one == [{"kind": "chat_response", "payload": text("a")}]
    assert trace_spans.span_diff(text("a"), text("a")) == []
