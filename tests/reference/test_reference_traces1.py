"""The reference for traces, tokens, spans, policies and the bootstrap agrees with every recorded answer."""

from __future__ import annotations

import base64
import functools
import glob
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog, trace_bootstrap, trace_policy, trace_spans, trace_tokens
from reference.records import record, response, said, tool_use

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "agentlog")

Records = list[dict[str, Any]]


def load(*names: str) -> Any:
    with open(os.path.join(FOLDER, *names), encoding="utf-8") as stream:
        return json.load(stream)


def rows(name: str) -> list[dict[str, Any]]:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def file_bytes(*names: str) -> bytes:
    with open(os.path.join(FOLDER, *names), "rb") as stream:
        return stream.read()


@functools.cache
def traces(name: str, *folder: str) -> tuple[Records, Records]:
    b, c = (
        agentlog.read(file_bytes(*folder, f"{name}.{side}.agentlog")) for side in ("baseline", "candidate")
    )
    return b[0], c[0]


def pairs(name: str, *folder: str) -> list[tuple[Any, Any]]:
    b, c = traces(name, *folder)
    return list(zip(agentlog.turns(b), agentlog.turns(c), strict=False))


def same(value: Any, expected: Any) -> bool:
    """Tell equal values of equal types: `1` is not `1.0` here."""
    return json.dumps(value, ensure_ascii=False, indent=1) == json.dumps(
        expected, ensure_ascii=False, indent=1
    )


def without_blocks(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: change[name] for name in ("kind", "block_index", "summary")} for change in changes]


def spans_text(pair_index: int, changes: list[dict[str, Any]]) -> str:
    lines = [f"turn #{pair_index}, span-level changes ({len(changes)}):"]
    return "\n".join(lines + [f"  · {change['kind']}: {change['summary']}" for change in changes])


RULES = load("policy.json")["rules"]
CASES = [(case["name"],) for case in load("cases.json")["cases"]]
WEAK = {name: load("weak", f"{name}.json") for name in load("weak", "index.json")}
ALL_FILES = sorted(glob.glob(os.path.join(FOLDER, "**", "*.agentlog"), recursive=True))

each_case = pytest.mark.parametrize("place", CASES, ids=[case[0] for case in CASES])


def expectation(place: tuple[str, ...]) -> dict[str, Any]:
    name, *folder = place
    return load(*folder, f"{name}.expect.json")


# Single vectors


@pytest.mark.parametrize("row", rows("canonical.jsonl"), ids=lambda row: row["json"][:40])
def test_recorded_canonical_form(row: dict[str, Any]) -> None:
    value, _ = agentlog.parse(row["json"])
    assert agentlog.canonical(value).decode() == row["canonical"]
    assert agentlog.content_id(value) == row["id"]


@pytest.mark.parametrize("mode", ["strict", "tolerant"])
@pytest.mark.parametrize("row", rows("parser.jsonl"), ids=lambda row: row["name"])
def test_recorded_reading(row: dict[str, Any], mode: str) -> None:
    expected = row[mode]
    try:
        records, diagnostics = agentlog.read(base64.b64decode(row["base64"]), mode == "tolerant")
    except agentlog.ReadingError as error:
        assert expected == {"error": error.code, "line": error.line}
    else:
        found = [list(diagnostic) for diagnostic in diagnostics]
        assert expected == {"records": len(records), "diagnostics": found}


@pytest.mark.parametrize(
    "row", rows("bootstrap.jsonl"), ids=lambda row: f"{row['seed']}-{row['n']}-{row['statistic']}"
)
def test_recorded_resampling(row: dict[str, Any]) -> None:
    seed, n = row["seed"], row["n"]
    first = row["first_indices"]
    assert [str(found) for found in trace_bootstrap.outputs(seed, 3)] == row["first_outputs"]
    assert [trace_bootstrap.index(seed, n, *divmod(t, n)) for t in range(len(first))] == first
    low, high = trace_bootstrap.interval(row["baseline"], row["candidate"], row["statistic"], seed)
    assert same([low, high], [row["ci95_low"], row["ci95_high"]])


def responses(usages: list[Any]) -> Records:
    return [
        {"kind": "chat_response", "payload": {} if usage is None else {"usage": usage}} for usage in usages
    ]


def test_recorded_token_diffs() -> None:
    for row in rows("tokens.jsonl"):
        diff = trace_tokens.token_diff(responses(row["baseline"]), responses(row["candidate"]), row["top_k"])
        assert same(diff, row["expect"])
        assert trace_tokens.text(diff) == row["text"]


def test_recorded_span_diffs() -> None:
    for row in rows("spans.jsonl"):
        assert same(without_blocks(trace_spans.span_diff(row["baseline"], row["candidate"])), row["expect"])


# Recorded pairs of traces


@pytest.mark.parametrize("path", ALL_FILES, ids=os.path.basename)
def test_recorded_traces_break_no_rule(path: str) -> None:
    assert agentlog.verify(file_bytes(path)) == []


@each_case
def test_tokens(place: tuple[str, ...]) -> None:
    expected = expectation(place)
    diff = trace_tokens.token_diff(*traces(*place))
    assert same(diff, expected["tokens"])
    assert trace_tokens.text(diff) == expected["text"]["tokens"]


@each_case
def test_policy(place: tuple[str, ...]) -> None:
    expected = expectation(place)
    diff = trace_policy.policy_diff(*traces(*place), RULES)
    assert same(diff, expected["policy"])
    assert trace_policy.text(diff) == expected["text"]["policy"]


@each_case
def test_spans(place: tuple[str, ...]) -> None:
    expected = expectation(place)
    found = [without_blocks(trace_spans.span_diff(b, c)) for b, c in pairs(*place)]
    assert same(found, expected["spans"])
    texts = [spans_text(index, changes) for index, changes in enumerate(found) if changes]
    assert texts == expected["text"]["spans"]


@each_case
def test_ids_of_traces_and_sessions(place: tuple[str, ...]) -> None:
    expected = expectation(place)
    sides = {"baseline": traces(*place)[0], "candidate": traces(*place)[1]}
    for side, records in sides.items():
        assert agentlog.trace_id(records) == expected["report"][f"{side}_trace_id"]
        ids = [agentlog.session_id(session) for session in agentlog.sessions(records)]
        recorded = [one[f"{side}_session_id"] for one in expected["sessions"]]
        assert ids + [""] * (len(recorded) - len(ids)) == recorded


@each_case
def test_sessions_by_requests_as_the_published_peer_cuts_them(place: tuple[str, ...]) -> None:
    recorded = load(f"{place[0]}.upstream.json")["sessions_3_2_5_partition"]
    b, c = (agentlog.sessions(records, "requests") for records in traces(*place))
    assert max(len(b), len(c)) == len(recorded)
    for index, one in enumerate(recorded):
        left, right = (part[index] if index < len(part) else [] for part in (b, c))
        assert agentlog.session_id(left) == one["baseline_session_id"]
        assert agentlog.session_id(right) == one["candidate_session_id"]
        assert min(len(agentlog.turns(left)), len(agentlog.turns(right))) == one["pair_count"]


# Known weaknesses


@pytest.mark.parametrize("name", [name for name, case in WEAK.items() if "spans" in case["expect"]])
def test_weakness_in_spans(name: str) -> None:
    found = [without_blocks(trace_spans.span_diff(b, c)) for b, c in pairs(name, "weak")]
    assert same(found, WEAK[name]["expect"]["spans"])


@pytest.mark.parametrize("name", [name for name, case in WEAK.items() if "policy" in case])
def test_weakness_in_policies(name: str) -> None:
    case = WEAK[name]
    b, c = traces(name, "weak")
    diff = trace_policy.policy_diff(b, c, case["policy"])
    assert trace_policy.text(diff) == case["expect"]["policy_text"]
    # Where no path was recorded the turns go by their place.
    steps = "".join(step for step, _, _ in case.get("path", [])).replace("M", "A")
    path = steps or "A" * min(len(agentlog.turns(b)), len(agentlog.turns(c)))
    aligned = trace_policy.policy_diff(b, c, case["policy"], path)
    assert same({part: aligned[part] for part in ("regressions", "fixes", "changed")}, case["align_policy"])


# Tokens (levels §5)


def test_counts() -> None:
    def counted(value: Any) -> int:
        return trace_tokens.counts({"usage": {"output_tokens": value}})[1]

    assert [counted(value) for value in (12.9, -12.9, True, "12", None, float("nan"))] == [
        12,
        -12,
        0,
        0,
        0,
        0,
    ]
    assert counted(10**400) == 0
    assert counted(2**70) == 2**70
    assert trace_tokens.counts({"usage": [1]}) == trace_tokens.counts(None) == (0, 0, 0)


def test_unpaired_turns_count_in_the_summaries() -> None:
    diff = trace_tokens.token_diff(responses([{"input_tokens": 1}, {"input_tokens": 3}]), [])
    assert diff["pair_count"] == 0
    assert diff["baseline"]["input_tokens"]["total"] == 4
    assert trace_tokens.text(diff) == "token-level diff: no paired chat_response records"


def test_token_pairs_along_a_path() -> None:
    sides = responses([{"input_tokens": 1}]), responses([{"input_tokens": 9}, {"input_tokens": 2}])
    (pair,) = trace_tokens.token_diff(*sides, pairs=[(0, 1)])["worst_pairs"]
    assert (pair["pair_index"], pair["delta"]["input_tokens"]) == (0, 1)
    assert trace_tokens.token_diff(*sides, top_k=-1)["worst_pairs"] == []


# Spans (levels §4)


def kinds(baseline: list[Any], candidate: list[Any]) -> list[tuple[str, int]]:
    changes = trace_spans.span_diff({"content": baseline}, {"content": candidate})
    return [(change["kind"], change["block_index"]) for change in changes]


def test_one_block_dropped_of_twenty() -> None:
    calls = [tool_use(f"t{i}", input={"i": i}) for i in range(20)]
    assert kinds(calls, calls[:10] + calls[11:]) == [("tool_use_removed", 10)]
    assert kinds(calls[:10] + calls[11:], calls) == [("tool_use_added", 10)]
    assert kinds(calls, [said(str(i)) for i in range(20)]) == [("tool_use_removed", i) for i in range(20)] + [
        ("text_block_added", i) for i in range(20)
    ]


def total_cost(pairs: Any, b: list[Any], c: list[Any]) -> float:
    return sum(1.0 if None in (i, j) else trace_spans.pair_cost(b[i], c[j]) for i, j in pairs)


def cheapest(b: list[Any], c: list[Any]) -> float:
    """Try every alignment."""
    if not b or not c:
        return float(len(b) + len(c))
    paired = trace_spans.pair_cost(b[0], c[0]) + cheapest(b[1:], c[1:])
    return min(paired, 1.0 + cheapest(b[1:], c), 1.0 + cheapest(b, c[1:]))


few_blocks = st.lists(
    st.sampled_from([said("a"), said("b"), tool_use("t"), tool_use("u"), tool_use("u", input={})]), max_size=5
)


@given(few_blocks, few_blocks)
def test_alignment_by_cost_is_the_cheapest(b: list[Any], c: list[Any]) -> None:
    pairs = trace_spans.by_cost(b, c)
    assert [i for i, _ in pairs if i is not None] == list(range(len(b)))
    assert [j for _, j in pairs if j is not None] == list(range(len(c)))
    assert total_cost(pairs, b, c) == cheapest(b, c)


def summaries(b: dict[str, Any], c: dict[str, Any]) -> list[str]:
    return [change["summary"] for change in trace_spans.span_diff({"content": [b]}, {"content": [c]})]


def test_summaries() -> None:
    assert summaries({}, said("a")) == ["block type: None → 'text'"]
    assert summaries(tool_use("a"), tool_use("b")) == ["tool_use `a` removed", "tool_use `b` added"]
    old, new = (
        {"type": "tool_use", "input": {"b": 1, "a": 1, "z": [1]}},
        {"type": "tool_use", "input": {"c": 1, "z": [2]}},
    )
    assert summaries(old, new) == [
        "tool_use `?`: arg removed `a`, arg removed `b`, arg added `c`, arg `z` value changed"
    ]
    assert summaries(tool_use(None, input="x"), tool_use(None)) == [
        "tool_use `None`: input (non-dict) differs"
    ]
    assert summaries(tool_use("a", input=None), tool_use("a", input={})) == []
    result = {"type": "tool_result", "tool_use_id": "r"}
    assert summaries(result, result | {"is_error": False}) == []
    assert summaries(result, result | {"is_error": None}) == ["tool_result for r: is_error False → None"]
    assert summaries({"type": ["x"]}, {"type": ["x"], "y": 1}) == ["content block of type ['x'] differs"]
    long = "x" * 61
    assert summaries(said(long), said("xxxx")) == [
        f"text block: similarity 1.00  baseline='{'x' * 60}…'  candidate='xxxx'"
    ]


# Policies (levels §6, §9)


def broken(kind: str, params: dict[str, Any], *records: Any, **rule: Any) -> list[tuple[int | None, str]]:
    found = trace_policy.violations(records, [{"kind": kind, "params": params, **rule}])
    return [(violation["pair_index"], violation["detail"]) for violation in found]


def test_defaults_of_a_rule() -> None:
    rules = [{"kind": "no_call", "params": {"tool": "b"}}, {"kind": "no_call", "params": {"tool": "a"}}]
    (violation,) = trace_policy.violations([response(tool_use("a"))], rules)
    assert (violation["rule_id"], violation["severity"]) == ("rule-1", "error")


def test_order_of_calls() -> None:
    def before(first: str, *names: str) -> list[tuple[int | None, str]]:
        return broken(
            "must_call_before", {"first": first, "then": "b"}, *(response(tool_use(n)) for n in names)
        )

    assert before("a") == before("a", "a") == before("a", "a", "b", "a") == []
    assert before("a", "x", "b", "b") == [(1, "`a` must be called before `b`")]
    assert before("a", "b", "a") == [(0, "`a` must be called before `b`")]
    assert before("b", "b") == [(0, "`b` must be called before `b`")]


def test_rules_on_no_turns() -> None:
    assert broken("required_stop_reason", {"allowed": ["x"]}) == [(None, "trace has no responses")]
    assert broken("must_include_text", {"text": "x"}) == []
    assert broken("must_call_once", {"tool": "x"}) == [(None, "tool `x` called 0 times; expected exactly 1")]
    assert broken("required_stop_reason", {"allowed": ["a", "b"]}, response()) == [
        (None, "final stop_reason None not in allowed set ['a', 'b']")
    ]


def test_text_in_each_response() -> None:
    found = broken("must_include_text_each", {"text": "it's"}, response(said("it's")), response(said("no")))
    assert found == [(1, 'required text "it\'s" not found in response')]


def test_rules_by_session_keep_the_numbers_of_the_trace() -> None:
    records = [
        record("metadata"),
        response(said("bad"), tool_use("a")),
        record("metadata"),
        response(said("good")),
        response(said("bad")),
    ]
    once = "tool `a` called 0 times; expected exactly 1"
    assert broken("forbidden_text", {"text": "bad"}, *records, scope="session")[1][0] == 2
    assert broken("must_call_once", {"tool": "a"}, *records, scope="session") == [(None, once)]
    assert broken("max_turns", {"limit": 1}, *records, scope="session") == [
        (None, "trace has 2 turns; max is 1")
    ]


@pytest.mark.parametrize(
    ("condition", "turns"),
    [
        (("model", "==", "m"), [0]),
        (("model", "!=", "m"), [1]),
        (("stop_reason", "==", None), [1]),
        (("request.params.t", ">", 0.5), [0]),
        (("request.params.t", "<=", True), []),
        (("request.params.t", "<", 2), [0]),
        (("request.messages.1.role", "==", "user"), [0]),
        (("request.messages.2.role", "==", None), [0, 1]),
        (("request.messages.-1.role", "==", "user"), []),
        (("response.content.0.text", "contains", "ell"), [0]),
        (("response.content.0.text", "not_contains", "ell"), [1]),
        (("request.tools", "contains", 1.0), [0]),
        (("request.tools", "contains", True), []),
        (("model", "in", ["m", "n"]), [0]),
        (("model", "in", [None]), [1]),
        (("model", "not_in", ["m", "n"]), [1]),
        (("model", "in", "lmn"), [0]),
        (("model.x", "==", None), [0, 1]),
    ],
)
def test_conditions(condition: tuple[str, str, Any], turns: list[int]) -> None:
    messages = [{"role": "system"}, {"role": "user"}]
    records = [
        record("chat_request", {"params": {"t": 1}, "messages": messages, "tools": [1]}),
        response(said("hello"), model="m", stop_reason="end_turn"),
        response(said("bye")),
    ]
    when = dict(zip(("path", "op", "value"), condition, strict=True))
    found = broken("forbidden_text", {"text": ""}, *records, when=when)
    assert [turn for turn, _ in found] == turns
    never = {"path": "model", "op": "==", "value": 5}
    assert broken("must_call_once", {"tool": "x"}, *records, when=[when, never]) == []


def test_conditions_narrow_the_calls() -> None:
    records = [
        response(tool_use("a"), model="m"),
        response(tool_use("a")),
        record("tool_call", {"tool_name": "a"}),
    ]
    when = {"path": "model", "op": "==", "value": "m"}
    assert broken("must_call_once", {"tool": "a"}, *records, when=when) == []


def test_violations_of_dropped_and_inserted_turns() -> None:
    rules = [{"id": "no", "kind": "forbidden_text", "params": {"text": "bad"}}]
    bad, good = response(said("bad")), response(said("good"))
    diff = trace_policy.policy_diff([bad, good, bad], [good, bad, bad], rules, "DAAI")
    assert [one["pair_index"] for one in diff["regressions"]] == [2]
    assert [one["pair_index"] for one in diff["fixes"]] == [0]
    assert diff["changed"] == []


def test_text_of_changed_violations() -> None:
    rules = [{"id": "short", "kind": "max_turns", "params": {"limit": 0}}]
    diff = trace_policy.policy_diff([response()], [response(), response()], rules, "AI")
    assert trace_policy.text(diff).splitlines() == [
        "Policy diff, 1 baseline violation(s), 1 candidate violation(s)",
        "  changed (1):",
        "    ~ [error] short @ trace: trace has 2 turns; max is 0",
    ]
