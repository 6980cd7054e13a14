"""The kinds of policy rules, one by one; rules made by hand (levels 6.2, 6.4)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from stratadiff.errors import ConfigurationError
from stratadiff.traces.conditions import Condition
from stratadiff.traces.policy import violations_of
from stratadiff.traces.reader import trace_of
from stratadiff.traces.rules import KINDS, PolicyRule
from traces.records import call, response, session, use

Record = dict[str, Any]


def places(kind: str, params: dict[str, Any], *records: Record, **more: Any) -> list[tuple[int | None, str]]:
    rule = PolicyRule("r", kind, params, **more)
    found = violations_of(trace_of(records), [rule])
    assert all((one.rule_id, one.kind, one.severity) == ("r", kind, rule.severity) for one in found)
    return [(one.pair_index, one.detail) for one in found]


# must_call_before

BEFORE = {"first": "a", "then": "b"}
LATE = "`a` must be called before `b`"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], []),
        ([response(use("a"))], []),
        ([response(use("a"), use("b"))], []),
        ([response(use("a")), response(use("b")), response(use("b"), use("a"))], []),
        ([response("x"), response(use("b"))], [(1, LATE)]),
        ([response(use("b"), use("a"))], [(0, LATE)]),
        ([response(), response(use("b")), response(use("a"), use("b"))], [(1, LATE)]),
        ([call("b", "1"), response(use("a"))], [(0, LATE)]),
        ([call("a", "1"), response(use("b"))], []),
    ],
)
def test_must_call_before(records: list[Record], expected: list[Any]) -> None:
    assert places("must_call_before", BEFORE, *records) == expected


def test_must_call_before_itself() -> None:
    same = {"first": "a", "then": "a"}
    assert places("must_call_before", same, response(use("a")), response(use("a"))) == [
        (0, "`a` must be called before `a`")
    ]
    assert places("must_call_before", same, response(use("b"))) == []


# must_call_once, no_call


@pytest.mark.parametrize("count", range(4))
def test_must_call_once(count: int) -> None:
    turns = [response(use("x"), use("y")) for _ in range(count)]
    expected = [] if count == 1 else [(None, f"tool `x` called {count} times; expected exactly 1")]
    assert places("must_call_once", {"tool": "x"}, *turns) == expected


def test_no_call() -> None:
    records = response(use("x"), use("y"), use("x")), response(), response(use("x")), call("x", "1")
    detail = "forbidden tool `x` called"
    assert places("no_call", {"tool": "x"}, *records) == [(0, detail), (0, detail), (2, detail), (2, detail)]
    assert places("no_call", {"tool": "z"}, *records) == []


def test_the_empty_name_is_a_name() -> None:
    assert places("no_call", {"tool": ""}, response(use(5))) == [(0, "forbidden tool `` called")]


# max_turns, max_total_tokens


def test_max_turns() -> None:
    assert places("max_turns", {"limit": 2}, response(), response()) == []
    assert places("max_turns", {"limit": 1}, response(), response()) == [
        (None, "trace has 2 turns; max is 1")
    ]
    assert places("max_turns", {"limit": 0}) == []


def test_max_total_tokens() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2.9, "thinking_tokens": 1, "cached_input_tokens": 100}
    records = response(usage=usage), response(), response(usage={"output_tokens": 2})
    assert places("max_total_tokens", {"limit": 10}, *records) == []
    assert places("max_total_tokens", {"limit": 9}, *records) == [
        (None, "total token usage 10 exceeds max 9")
    ]
    huge = response(usage={"input_tokens": 2**63, "output_tokens": 2**64 - 1})
    assert places("max_total_tokens", {"limit": 2**65}, huge, huge) == [
        (None, f"total token usage {2 * (2**63 + 2**64 - 1)} exceeds max {2**65}")
    ]


# required_stop_reason


@pytest.mark.parametrize("stop", ["max_tokens", None, 5, True, ["end_turn"], {"a": 1.0}])
def test_required_stop_reason(stop: Any) -> None:
    params = {"allowed": ["end_turn", "it's"]}
    assert places("required_stop_reason", params, response(stop=stop), response(stop="end_turn")) == []
    detail = f"final stop_reason {stop!r} not in allowed set ['end_turn', \"it's\"]"
    assert places("required_stop_reason", params, response(), response(stop=stop)) == [(None, detail)]


def test_required_stop_reason_of_nothing() -> None:
    assert places("required_stop_reason", {"allowed": []}) == [(None, "trace has no responses")]
    assert places("required_stop_reason", {"allowed": []}, response()) == [
        (None, "final stop_reason 'end_turn' not in allowed set []")
    ]


# Texts


def test_must_include_text() -> None:
    detail = "required text 'A.\\nB.' not found in any response"
    wanted = {"text": "A.\nB."}
    assert places("must_include_text", wanted) == []
    assert places("must_include_text", wanted, response("x"), response("A.", "B.")) == []
    # U10: not over two turns.
    assert places("must_include_text", wanted, response("A."), response("B.")) == [(None, detail)]
    assert places("must_include_text", {"text": ""}, response()) == []


def test_forbidden_text() -> None:
    detail = "forbidden text 'SSN:' present in response"
    records = response("SSN: SSN:"), response("ssn:"), response("a", "my SSN:")
    assert places("forbidden_text", {"text": "SSN:"}, *records) == [(0, detail), (2, detail)]
    assert len(places("forbidden_text", {"text": ""}, *records)) == 3


def test_must_include_text_each() -> None:
    detail = "required text 'a' not found in response"
    records = response("a"), response(), response("b"), response("xa")
    assert places("must_include_text_each", {"text": "a"}, *records) == [(1, detail), (2, detail)]


def test_no_normalisation() -> None:
    assert places("forbidden_text", {"text": "é"}, response("e\u0301")) == []


# Scope and conditions


def test_scope_session() -> None:
    records = [*session(response("a", use("x")), response("b")), *session(response("c"), response("d"))]
    detail = "required text 'a' not found in any response"
    assert places("must_include_text", {"text": "a"}, *records) == []
    assert places("must_include_text", {"text": "a"}, *records, scope="session") == [(None, detail)]
    each = places("must_include_text_each", {"text": "a"}, *records, scope="session")
    assert [turn for turn, _ in each] == [1, 2, 3]
    assert places("max_turns", {"limit": 2}, *records, scope="session") == []
    assert places("must_call_once", {"tool": "x"}, *records, scope="session") == [
        (None, "tool `x` called 0 times; expected exactly 1")
    ]


def test_a_session_without_turns_is_a_session() -> None:
    records = [*session(response()), *session(), *session(call("x"))]
    allowed = {"allowed": ["end_turn"]}
    expected = [(None, "trace has no responses")] * 2
    assert places("required_stop_reason", allowed, *records, scope="session") == expected
    assert len(places("must_call_once", {"tool": "x"}, *records, scope="session")) == 2
    # No records, no sessions.
    assert places("required_stop_reason", allowed, scope="session") == []


def test_a_rule_sees_the_turns_its_conditions_hold_for() -> None:
    slow = Condition("response.latency_ms", ">", 100)
    records = (
        response("a", use("x"), latency_ms=500),
        response("b", use("x"), latency_ms=50),
        response("c", stop="max_tokens", latency_ms=500),
        response("d", latency_ms=50),
    )
    assert places("no_call", {"tool": "x"}, *records, when=(slow,)) == [(0, "forbidden tool `x` called")]
    assert places("must_call_once", {"tool": "x"}, *records, when=slow) == []
    assert places("max_turns", {"limit": 1}, *records, when=[slow]) == [(None, "trace has 2 turns; max is 1")]
    assert places("required_stop_reason", {"allowed": ["end_turn"]}, *records, when=slow) == [
        (None, "final stop_reason 'max_tokens' not in allowed set ['end_turn']")
    ]
    assert [turn for turn, _ in places("forbidden_text", {"text": ""}, *records, when=slow)] == [0, 2]


def test_a_rule_whose_conditions_hold_nowhere_is_silent() -> None:
    never = {"path": "model", "op": "==", "value": "none"}
    for kind, params in (
        ("must_call_once", {"tool": "x"}),
        ("required_stop_reason", {"allowed": []}),
        ("must_include_text", {"text": "x"}),
    ):
        assert places(kind, params, response("y"), when=never) == []
        assert places(kind, params, response("y"), when=never, scope="session") == []
        assert places(kind, params, when=never) == []


def test_conditions_within_sessions() -> None:
    slow = Condition("response.latency_ms", ">", 100)
    records = [*session(response("a", latency_ms=1)), *session(response("b", latency_ms=500), response("c"))]
    assert places("must_call_once", {"tool": "x"}, *records, when=slow, scope="session") == [
        (None, "tool `x` called 0 times; expected exactly 1")
    ]
    assert [
        turn for turn, _ in places("forbidden_text", {"text": ""}, *records, when=slow, scope="session")
    ] == [1]


# Rules by hand


def test_fields_and_defaults() -> None:
    rule = PolicyRule("r", "no_call", {"tool": "x"})
    assert rule.to_dict() == {
        "id": "r", "kind": "no_call", "params": {"tool": "x"}, "severity": "error", "description": "",
        "scope": "trace", "when": [],
    }  # fmt: skip
    assert [field.name for field in dataclasses.fields(rule)] == list(rule.to_dict())
    assert dataclasses.replace(rule, severity="info").severity == "info"
    assert rule == PolicyRule(id="r", kind="no_call", params={"tool": "x", "ignored": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "zz"}, "rule 'r': unknown kind 'zz'; known kinds are " + ", ".join(sorted(KINDS))),
        ({"kind": None}, "rule 'r': `kind` must be text; found null"),
        ({"severity": "fatal"},
         "rule 'r': unknown severity 'fatal'; write one of info, warning, error, critical"),
        ({"severity": 5}, "rule 'r': `severity` must be text; found the number 5; put it in quotes"),
        ({"scope": "turn"}, "rule 'r': unknown scope 'turn'; write one of trace, session"),
        ({"id": 5}, "rule the number 5: `id` must be text; found the number 5; put it in quotes"),
        ({"description": 5}, "rule 'r': `description` must be text; found the number 5; put it in quotes"),
        ({"params": {}}, "rule 'r': the param `tool` is missing; no_call takes `tool`"),
        ({"params": None}, "rule 'r': `params` must be a mapping with `tool`; found null"),
        ({"params": {"tool": ["x"]}}, "rule 'r': `tool` must be text; found a list"),
        ({"when": "x"},
         "rule 'r': `when` must be a mapping of path, op and value, or a list of those; found the text 'x'"),
    ],
)  # fmt: skip
def test_a_wrong_rule_cannot_be_made(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        PolicyRule(**{"id": "r", "kind": "no_call", "params": {"tool": "x"}} | change)
    assert str(caught.value) == message
