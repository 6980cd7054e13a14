"""Where we leave shadow-diff 3.2.5 on purpose: each numbered deviation on its smallest input.

A peer that changes its mind fails here first. Numbers: levels §10, agentlog §8.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import stratadiff
from interop import agentlogs, shadow_peer
from interop.peers import Job, run_alone

pytestmark = pytest.mark.interop

Json = Any


def _records(*payloads: Json, more: tuple[tuple[int, str, Json], ...] = ()) -> agentlogs.Records:
    """Make a trace of responses; `more` are (turn, kind, payload) that follow that turn's response."""
    entries = [("metadata", {"sdk": {}})]
    for turn, payload in enumerate(payloads):
        entries.append(("chat_response", payload))
        entries += [(kind, other) for place, kind, other in more if place == turn]
    return agentlogs.records_of(entries)


def _text(*texts: Json) -> Json:
    return {"content": [{"type": "text", "text": text} for text in texts], "stop_reason": "end_turn"}


def _use(name: Json, arguments: Json = None, identity: str = "t1") -> Json:
    return {"type": "tool_use", "id": identity, "name": name, "input": {} if arguments is None else arguments}


def _blocks(*blocks: Json) -> Json:
    return {"content": list(blocks), "stop_reason": "end_turn"}


def _rule(kind: str, **params: Json) -> list[Json]:
    return [{"id": "r", "kind": kind, "params": params}]


PAYLOADS: dict[str, tuple[Json, Json]] = {
    "U5": (
        _blocks(*[_use("a", {"k": k}) for k in range(6)]),
        _blocks(*[_use("a", {"k": k}) for k in range(5)], {"type": "image"}),
    ),
    "U6": (_blocks(_use("delete_user", {"id": 1})), _blocks(_use("list_users", {"id": 1}))),
    "U6 long": (
        _blocks(*[_use("a", {"k": k}) for k in range(6)]),
        _blocks(*[_use("a", {"k": k}) for k in range(5)], _use("b", {"k": 5})),
    ),
    "U7": (_text("refund approved"), _text("approved refund")),
    "A1": ({"content": "no"}, {"content": "yes"}),
    "A2": (_blocks(_use("a", {"dry_run": True})), _blocks(_use("a", {"dry_run": 1}))),
    "A7": (_text(5), _text("x")),
    "falsy input": (_blocks(_use("a", [])), _blocks(_use("a", {}))),
}
"""For the span level."""

TRACES: dict[str, tuple[agentlogs.Records, agentlogs.Records]] = {
    "U1": (_records(_text("हिन्दी")), _records(_text("हिन दी"))),
    "U2": (_records(_text("a b c d e f g")), _records(_text("a b c d e f g"))),
    "U3": (_records(_blocks(_use("a", {"k": 1}))), _records(_blocks(_use("a", {"k": 1.0})))),
    "A1": (_records({"content": "refund approved"}), _records({"content": "delivery rejected"})),
    "fence": (_records(_text("{}```")), _records(_text("{}```"))),
    "exponent": (_records(_blocks(_use("a", {"k": 1e21}))), _records(_blocks(_use("a", {"k": 1e-5})))),
    "A5": (_records({"usage": {"output_tokens": "12"}}), _records({"usage": {"output_tokens": True}})),
    "A5 crash": (_records({"usage": {"output_tokens": "12k"}}), _records({"usage": []})),
}
"""For the trace and token levels."""

POLICIES: dict[str, tuple[agentlogs.Records, agentlogs.Records, list[Json]]] = {
    "U9": (
        _records(_text("x")),
        _records(_blocks(_use("migrate"), _use("backup", identity="t2"))),
        _rule("must_call_before", first="backup", then="migrate"),
    ),
    "U10": (
        _records(_text("A."), _text("B.")),
        _records(_text("A.\nB.")),
        _rule("must_include_text", text="A.\nB."),
    ),
    "A3": (
        _records(_text("x"), _text("y")),
        _records(
            _text("x"),
            _text("y"),
            more=((0, "tool_call", {"tool_name": "rm", "tool_call_id": "z", "arguments": {}}),),
        ),
        _rule("no_call", tool="rm"),
    ),
    "A6": (_records(_blocks(_use("a", "text"))), _records(_blocks(_use("a", 5))), _rule("no_call", tool="a")),
}
"""For the policy level."""


class Peer(NamedTuple):
    """The peer's answers by deviation."""

    spans: dict[str, Json]
    reports: dict[str, Json]
    tokens: dict[str, Json]
    policies: dict[str, Json]


@pytest.fixture(scope="module")
def peer() -> Peer:
    """Ask the peer everything at once."""
    jobs: list[Json] = [{"call": "spans", "pairs": list(PAYLOADS.values())}]
    for call in ("report", "tokens"):
        jobs += [{"call": call, "baseline": b, "candidate": c} for b, c in TRACES.values()]
    jobs += [
        {"call": "policy", "baseline": b, "candidate": c, "rules": rules} for b, c, rules in POLICIES.values()
    ]
    spans, *rest = shadow_peer.ask(jobs, processes=1)
    count = len(TRACES)
    return Peer(
        dict(zip(PAYLOADS, spans["value"], strict=True)),
        dict(zip(TRACES, rest[:count], strict=True)),
        dict(zip(TRACES, rest[count : 2 * count], strict=True)),
        dict(zip(POLICIES, rest[2 * count :], strict=True)),
    )


def _theirs(peer: Peer, name: str) -> list[tuple[str, int, str]]:
    return [(one["kind"], one["block_index"], one["summary"]) for one in peer.spans[name]["value"]]


def _ours(name: str) -> list[tuple[str, int, str]]:
    return [(one.kind, one.block_index, one.summary) for one in stratadiff.span_diff(*PAYLOADS[name])]


def _row(report: Json, axis: str) -> Json:
    return next(row for row in report["rows"] if row["axis"] == axis)


def _our_row(name: str, axis: str) -> Json:
    return _row(stratadiff.compare_traces(*TRACES[name]).report().to_dict(), axis)


def _peer_row(peer: Peer, name: str, axis: str) -> Json:
    return _row(peer.reports[name]["value"][0], axis)


def test_u1_marks_belong_to_words(peer: Peer) -> None:
    assert _our_row("U1", "semantic")["candidate_median"] == 0.0  # one word against two others
    assert _peer_row(peer, "U1", "semantic")["candidate_median"] > 0.99  # the one is cut at its virama


def test_u2_equal_traces_have_no_delta(peer: Peer) -> None:
    assert _our_row("U2", "semantic")["delta"] == 0.0
    assert abs(_peer_row(peer, "U2", "semantic")["delta"]) < shadow_peer.SEMANTIC


def test_u3_numbers_are_digested_by_value(peer: Peer) -> None:
    assert _our_row("U3", "trajectory")["candidate_median"] == 0.0
    assert _peer_row(peer, "U3", "trajectory")["candidate_median"] == 1.0


def test_u5_blocks_of_two_types_are_never_paired_in_long_turns(peer: Peer) -> None:
    assert _theirs(peer, "U5") == [("block_type_changed", 5, "block type: 'tool_use' → 'image'")]
    assert _ours("U5") == [
        ("tool_use_removed", 5, "tool_use `a` removed"),
        ("block_added", 5, "image block added"),
    ]


@pytest.mark.parametrize(
    ("name", "index", "old", "new"), [("U6", 0, "delete_user", "list_users"), ("U6 long", 5, "a", "b")]
)
def test_u6_another_tool_is_removed_and_added(peer: Peer, name: str, index: int, old: str, new: str) -> None:
    assert _theirs(peer, name) == [
        ("tool_use_args_changed", index, f"tool_use `{old}`: name '{old}' → '{new}'")
    ]
    assert _ours(name) == [
        ("tool_use_removed", index, f"tool_use `{old}` removed"),
        ("tool_use_added", index, f"tool_use `{new}` added"),
    ]


def test_u7_similarity_is_of_shingles(peer: Peer) -> None:
    tail = "baseline='refund approved'  candidate='approved refund'"
    assert _theirs(peer, "U7") == [("text_block_changed", 0, f"text block: similarity 1.00  {tail}")]
    assert _ours("U7") == [("text_block_changed", 0, f"text block: similarity 0.62  {tail}")]


def test_u9_the_detail_has_no_tail(peer: Peer) -> None:
    b, c, rules = POLICIES["U9"]
    [theirs] = peer.policies["U9"]["value"]["regressions"]
    [ours] = stratadiff.policy_diff(b, c, rules).regressions
    assert ours.detail == "`backup` must be called before `migrate`"
    assert theirs["detail"] == ours.detail + " (was: first_idx=1, then_idx=0)"


def test_u10_a_text_is_looked_for_in_one_response(peer: Peer) -> None:
    b, c, rules = POLICIES["U10"]
    ours = stratadiff.policy_diff(b, c, rules)
    assert [len(ours.baseline_violations), len(ours.candidate_violations)] == [1, 0]
    theirs = peer.policies["U10"]["value"]
    assert [len(theirs["baseline_violations"]), len(theirs["candidate_violations"])] == [0, 0]


def test_u8_a_policy_is_checked_when_loaded() -> None:
    rules = _rule("required_stop_reason", allowed="tool_use")
    with pytest.raises(stratadiff.InputError, match="allowed"):
        stratadiff.load_policy({"rules": rules})
    [answer] = shadow_peer.ask([{"call": "load_policy", "document": {"rules": rules}}], processes=1)
    assert "value" in answer


def test_u11_critical_outranks_error(tmp_path: Path) -> None:
    # No axis moves; the rule is broken by the candidate's second turn.
    for name, records in (("a", _records(_text("x"))), ("b", _records(_text("x"), _text("x")))):
        (tmp_path / f"{name}.agentlog").write_bytes(agentlogs.file_bytes(records))
    exits = {}
    for severity in ("error", "critical"):
        [rule] = _rule("max_turns", limit=1)
        policy = {"apiVersion": "shadow.dev/v1alpha1", "rules": [rule | {"severity": severity}]}
        (tmp_path / f"{severity}.json").write_text(json.dumps(policy))
        argv = ("diff", "a.agentlog", "b.agentlog", "--policy", f"{severity}.json", "--fail-on", "severe")
        peer, ours = (run_alone(Job(program, argv, tmp_path)) for program in ("shadow", "stratadiff"))
        exits[severity] = (peer.exit, ours.exit)
    assert exits == {"error": (1, 1), "critical": (0, 1)}


def test_a1_a_string_is_one_text(peer: Peer) -> None:
    assert _peer_row(peer, "A1", "semantic")["candidate_median"] == 1.0
    assert _our_row("A1", "semantic")["candidate_median"] == 0.0
    assert [kind for kind, _, _ in _ours("A1")] == ["text_block_changed"]
    assert [kind for kind, _, _ in _theirs(peer, "A1")] == ["block_added"]  # a block a letter, all alike


def test_a2_true_is_not_one(peer: Peer) -> None:
    assert _theirs(peer, "A2") == []
    assert _ours("A2") == [("tool_use_args_changed", 0, "tool_use `a`: arg `dry_run` value changed")]


def test_a3_a_call_record_belongs_to_the_turn_that_asked(peer: Peer) -> None:
    b, c, rules = POLICIES["A3"]
    assert [one.pair_index for one in stratadiff.policy_diff(b, c, rules).regressions] == [0]
    assert [one["pair_index"] for one in peer.policies["A3"]["value"]["regressions"]] == [1]


@pytest.mark.parametrize("damage", ["unknown kind", "byte order mark"])
def test_a4_unknown_kinds_and_a_byte_order_mark_are_read(tmp_path: Path, damage: str) -> None:
    records = _records(_text("x"))
    data = agentlogs.file_bytes(records)
    if damage == "unknown kind":
        data += agentlogs.file_bytes(agentlogs.records_of([("telemetry", {})]))
    else:
        data = b"\xef\xbb\xbf" + data
    path = tmp_path / "trace.agentlog"
    path.write_bytes(data)
    trace = stratadiff.read_trace(path)
    assert trace.turn_count == 1
    assert [one.code for one in trace.diagnostics] == ["unknown-kind" if damage == "unknown kind" else "bom"]
    [answer] = shadow_peer.ask([{"call": "parse", "paths": [str(path)]}], processes=1)
    assert "raised" in answer["value"][0]


def test_a5_counts_that_are_no_numbers_are_absent(peer: Peer) -> None:
    theirs = peer.tokens["A5"]["value"]
    assert theirs["baseline"]["output_tokens"]["total"] == 12
    assert theirs["candidate"]["output_tokens"]["total"] == 1
    assert "raised" in peer.tokens["A5 crash"]
    for name in ("A5", "A5 crash"):
        ours = stratadiff.token_diff(*TRACES[name])
        assert ours.baseline["output_tokens"].total == ours.candidate["output_tokens"].total == 0


def test_a6_inputs_of_any_type_are_policed(peer: Peer) -> None:
    b, c, rules = POLICIES["A6"]
    assert "raised" in peer.policies["A6"]
    assert len(stratadiff.policy_diff(b, c, rules).candidate_violations) == 1


def test_a7_a_text_that_is_no_string_is_empty(peer: Peer) -> None:
    assert "raised" in peer.spans["A7"]
    assert [kind for kind, _, _ in _ours("A7")] == ["text_block_changed"]


# Not numbered (yet): found by these tests


def test_a_closing_fence_alone_is_taken_off(peer: Peer) -> None:
    scores = [
        one["drill_down"][0]["axis_scores"][-1]["baseline_value"]
        for one in (
            stratadiff.compare_traces(*TRACES["fence"]).report().to_dict(),
            peer.reports["fence"]["value"][0],
        )
    ]
    assert scores == [1.0, 0.0]


def test_exponents_are_written_as_python_does(peer: Peer) -> None:
    ours = stratadiff.compare_traces(*TRACES["exponent"]).report().to_dict()["first_divergence"]
    theirs = peer.reports["exponent"]["value"][0]["first_divergence"]
    assert ours["explanation"] == "tool arg value changed: `a(k)`: `1e+21` → `1e-05`"
    assert theirs["explanation"] == "tool arg value changed: `a(k)`: `1e21` → `0.00001`"


def test_only_null_is_an_empty_input(peer: Peer) -> None:
    assert _theirs(peer, "falsy input") == []
    assert _ours("falsy input") == [("tool_use_args_changed", 0, "tool_use `a`: input (non-dict) differs")]
