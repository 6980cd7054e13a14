"""The reference for traces, tokens, spans, policies and the bootstrap agrees with every recorded answer."""

from __future__ import annotations

import base64
import functools
import glob
import json
import os
from typing import Any

import pytest

from reference import agentlog, trace_bootstrap, trace_policy, trace_spans, trace_tokens

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
WEAK = [(name, "weak") for name in load("weak", "index.json")]
ALL_FILES = sorted(glob.glob(os.path.join(FOLDER, "**", "*.agentlog"), recursive=True))

each_case = pytest.mark.parametrize("place", CASES, ids=[case[0] for case in CASES])
each_weakness = pytest.mark.parametrize("place", WEAK, ids=[case[0] for case in WEAK])


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


@each_weakness
def test_weakness_in_spans(place: tuple[str, ...]) -> None:
    expected = load("weak", f"{place[0]}.json")["expect"]
    found = [without_blocks(trace_spans.span_diff(b, c)) for b, c in pairs(*place)]
    if "spans" in expected:
        assert same(found, expected["spans"])


@each_weakness
def test_weakness_in_policies(place: tuple[str, ...]) -> None:
    case = load("weak", f"{place[0]}.json")
    if "policy" not in case:
        return
    b, c = traces(*place)
    assert trace_policy.text(trace_policy.policy_diff(b, c, case["policy"])) == case["expect"]["policy_text"]
    if "align_policy" in case:
        steps = "".join(step for step, _, _ in case.get("path", [])).replace("M", "A")
        path = steps or "A" * min(len(agentlog.turns(b)), len(agentlog.turns(c)))
        diff = trace_policy.policy_diff(b, c, case["policy"], path)
        assert same({part: diff[part] for part in case["align_policy"]}, case["align_policy"])
