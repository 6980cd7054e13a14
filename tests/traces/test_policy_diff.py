"""Policies run over traces, and the difference of two traces, aligned and not (levels 6.2, 6.3, 9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_policy
from stratadiff.traces import policy
from stratadiff.traces.policy import load_policy, policy_diff, violations_of
from stratadiff.traces.reader import read_for, read_trace, trace_of
from traces.records import call, request, response, session, use

DATA = Path(__file__).parent.parent / "data" / "agentlog"
CASES = [case["name"] for case in json.loads((DATA / "cases.json").read_text())["cases"]]
WEAK = [
    name
    for name in json.loads((DATA / "weak" / "index.json").read_text())
    if "policy" in json.loads((DATA / "weak" / f"{name}.json").read_text())
]

Record = dict[str, Any]


def rule(kind: str = "no_call", **more: Any) -> dict[str, Any]:
    return {"id": "r", "kind": kind, "params": {"tool": "x"}, **more}


# What a trace must keep


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], set()),
        ([rule("max_turns", params={"limit": 1}, scope="session")], set()),
        ([rule("max_total_tokens", params={"limit": 1})], set()),
        ([rule("forbidden_text", params={"text": "x"})], {"responses"}),
        ([rule()], {"responses", "tools"}),
        ([rule("max_turns", params={"limit": 1}, when={"path": "stop_reason", "op": "==", "value": 1})],
         {"responses"}),
        ([rule("max_turns", params={"limit": 1}, when={"path": "model", "op": "==", "value": 1})],
         {"responses", "requests"}),
    ],
)  # fmt: skip
def test_needs(value: list[Any], expected: set[str]) -> None:
    assert policy.needs(value) == frozenset(expected)


def test_a_trace_without_what_is_needed(tmp_path: Path) -> None:
    path = str(DATA / f"{CASES[0]}.baseline.agentlog")
    with pytest.raises(TypeError, match="needs"):
        violations_of(read_for(path, frozenset()), [rule()])


@pytest.mark.parametrize("name", CASES)
def test_what_is_needed_is_enough(name: str) -> None:
    rules = load_policy(str(DATA / "policy.json"))
    path = str(DATA / f"{name}.candidate.agentlog")
    for one in rules:
        part = read_for(path, policy.needs([one]))
        assert violations_of(part, [one]) == violations_of(read_trace(path), [one])


# Golden data


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    expected = json.loads((DATA / f"{name}.expect.json").read_text())["policy"]
    sides = [read_trace(str(DATA / f"{name}.{side}.agentlog")) for side in ("baseline", "candidate")]
    found = policy_diff(*sides, load_policy(str(DATA / "policy.json")))
    assert found.changed is None
    assert found.to_dict() == expected
    assert list(found.to_dict()) == list(expected)
    for violation in found.to_dict()["baseline_violations"]:
        assert list(violation) == ["rule_id", "kind", "severity", "pair_index", "detail"]


@pytest.mark.parametrize("name", WEAK)
def test_weak_golden(name: str) -> None:
    case = json.loads((DATA / "weak" / f"{name}.json").read_text())
    sides = [read_trace(str(DATA / "weak" / f"{name}.{side}.agentlog")) for side in ("baseline", "candidate")]
    found = policy_diff(*sides, case["policy"])
    assert trace_policy.text(found.to_dict()) == case["expect"]["policy_text"]
    steps = {"M": b"A", "I": b"I", "D": b"D"}
    counts = [side.turn_count for side in sides]
    default = b"A" * min(counts) + b"D" * (counts[0] - min(counts)) + b"I" * (counts[1] - min(counts))
    path = b"".join(steps[step] for step, _, _ in case["path"]) if "path" in case else default
    aligned = policy_diff(*sides, case["policy"], path=path).to_dict()
    assert {part: aligned[part] for part in case["align_policy"]} == case["align_policy"]


# Differences


def test_regressions_and_fixes_keep_repeats() -> None:
    old = trace_of([response(use("x"), use("x")), response("a")])
    new = trace_of([response("a"), response(use("x"), use("x"))])
    found = policy_diff(old, new, [rule()])
    assert [one.pair_index for one in found.regressions] == [1, 1]
    assert [one.pair_index for one in found.fixes] == [0, 0]


def test_aligned_violations() -> None:
    rules = [
        rule("max_turns", id="turns", params={"limit": 1}),
        rule("forbidden_text", id="text", params={"text": "!"}),
    ]
    old = trace_of([response("a!"), response("b"), response("c!")])
    new = trace_of([response("x!"), response("a!"), response("c"), response("d!")])
    found = policy_diff(old, new, rules, path=b"IADAI")
    assert [(one.rule_id, one.pair_index) for one in found.regressions] == [("text", 0), ("text", 3)]
    assert [(one.rule_id, one.pair_index) for one in found.fixes] == [("text", 2)]
    assert found.changed is not None
    assert [(one.baseline.detail, one.candidate.detail) for one in found.changed] == [
        ("trace has 3 turns; max is 1", "trace has 4 turns; max is 1")
    ]
    assert found.to_dict()["changed"] == [
        {"baseline": found.changed[0].baseline.to_dict(), "candidate": found.changed[0].candidate.to_dict()}
    ]


def test_u19_one_inserted_turn_changes_nothing_when_aligned() -> None:
    turns = [response(use(name)) for name in "abcd"]
    old, new = trace_of(turns), trace_of([turns[0], response(use("x")), *turns[1:]])
    rules = [rule(params={"tool": name}, id=name) for name in "abcd"]
    shifted = policy_diff(old, new, rules)
    assert (len(shifted.regressions), len(shifted.fixes)) == (3, 3)
    aligned = policy_diff(old, new, rules, path=b"AIAAA")
    assert (aligned.regressions, aligned.fixes, aligned.changed) == ([], [], [])


def test_records_are_not_modified() -> None:
    records = [*session(request(model="m"), response("a", use("x", "1")), call("x", "1"))]
    before = json.dumps(records)
    violations_of(trace_of(records), [rule(when={"path": "model", "op": "==", "value": "m"})])
    assert json.dumps(records) == before


# Against the reference

names = st.sampled_from(["a", "b", ""])
texts = st.sampled_from(["", "a", "b", "ab", "a\nb", "ba"])
blocks = st.one_of(
    texts.map(lambda text: {"type": "text", "text": text}),
    st.builds(use, names, st.sampled_from(["", "1", "2", "3"])),
    st.sampled_from([None, 5, {}, {"type": "text", "text": 5}, {"type": "tool_use", "id": 5, "name": 5}]),
)
usages = st.fixed_dictionaries(
    {}, optional={"input_tokens": st.sampled_from([0, 1, 2.5, "3", True]), "output_tokens": st.integers(0, 3)}
)
responses = st.builds(
    lambda content, stop, usage, model: {
        "kind": "chat_response",
        "payload": {"content": content, "stop_reason": stop, "usage": usage, "model": model},
    },
    st.lists(blocks, max_size=3) | texts,
    st.sampled_from(["end_turn", "tool_use", None, 5]),
    usages | st.none(),
    st.sampled_from(["m", "n", None]),
)
others = st.one_of(
    st.just({"kind": "metadata", "payload": {}}),
    st.builds(call, names, st.sampled_from(["", "1", "2", None])),
    st.builds(lambda model: request(model=model, params={"n": 1}), st.sampled_from(["m", "n", ""])),
)
records = st.lists(responses | others, max_size=9)
conditions = st.one_of(
    st.builds(
        lambda path, op, value: {"path": path, "op": op, "value": value},
        st.sampled_from(["stop_reason", "request", "request.model", "response.content.0.text"]),
        st.sampled_from(["==", "!="]),
        st.sampled_from(["m", "a", None, "end_turn", 5]),
    ),
    st.just({"path": "response.usage.output_tokens", "op": ">=", "value": 1}),
    st.just({"path": "response.model", "op": "in", "value": ["m", None]}),
    st.just({"path": "response.content", "op": "not_contains", "value": {}}),
)
params = {
    "must_call_before": st.fixed_dictionaries({"first": names, "then": names}),
    "must_call_once": st.fixed_dictionaries({"tool": names}),
    "no_call": st.fixed_dictionaries({"tool": names}),
    "max_turns": st.fixed_dictionaries({"limit": st.integers(0, 4)}),
    "required_stop_reason": st.fixed_dictionaries({"allowed": st.lists(st.sampled_from(["end_turn", "x"]))}),
    "max_total_tokens": st.fixed_dictionaries({"limit": st.integers(0, 5)}),
    "must_include_text": st.fixed_dictionaries({"text": texts}),
    "must_include_text_each": st.fixed_dictionaries({"text": texts}),
    "forbidden_text": st.fixed_dictionaries({"text": texts}),
}
rules = st.sampled_from(sorted(params)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"id": st.sampled_from("pq"), "kind": st.just(kind), "params": params[kind]},
        optional={
            "severity": st.sampled_from(["info", "critical"]),
            "scope": st.sampled_from(["trace", "session"]),
            "when": conditions | st.lists(conditions, min_size=1, max_size=2),
        },
    )
)


def whole(rule: dict[str, Any]) -> dict[str, Any]:
    return {"severity": "error", "description": "", **rule}


@given(records, st.lists(rules.map(whole), max_size=4))
def test_violations_are_the_references(records: list[Record], rules: list[dict[str, Any]]) -> None:
    found = [one.to_dict() for one in violations_of(trace_of(records), rules)]
    assert found == trace_policy.violations(records, rules)


@st.composite
def paths(draw: st.DrawFn, old: int, new: int) -> bytes:
    steps = b""
    while old or new:
        possible = [b"A"] * bool(old and new) + [b"D"] * bool(old) + [b"I"] * bool(new)
        step = draw(st.sampled_from(possible))
        steps += step
        old -= step != b"I"
        new -= step != b"D"
    return steps


@given(records, records, st.lists(rules.map(whole), max_size=3), st.data())
def test_differences_are_the_references(
    old: list[Record], new: list[Record], rules: list[dict[str, Any]], data: st.DataObject
) -> None:
    before, after = trace_of(old), trace_of(new)
    assert policy_diff(before, after, rules).to_dict() == trace_policy.policy_diff(old, new, rules)
    path = data.draw(paths(before.turn_count, after.turn_count))
    aligned = policy_diff(before, after, rules, path=path).to_dict()
    assert aligned == trace_policy.policy_diff(old, new, rules, path.decode())
