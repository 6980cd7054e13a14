"""``stratadiff diff`` of agent traces and shadow-diff 3.2.5 on the same generated pairs *(levels §8)*.

Ours is the whole command, from files to ``--output-json``; the peer is called by its functions on the same
records. How closely each number must agree, and which deviations on purpose are allowed for, is written in
``shadow_peer.py``; the deviations are tried one by one in ``test_deviations_from_shadow.py``.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import stratadiff
from interop import agentlogs, shadow_peer
from interop.agent_turns import Draw
from interop.agentlogs import PRICING, TracePair
from interop.peers import Answer, Job, run_all, run_alone

pytestmark = pytest.mark.interop

Json = Any

CASES = 280
MIDDLING = {"mixed": 60, "structure": 48, "unrelated": 40}
"""Longer pairs, by profile: turns of the baseline. The peer's time grows with their square."""

PAYLOADS = 1500
USAGES = 300

SEEDS = range(42, 72)
"""Bootstrap seeds of the peer whose extremes are the envelope."""
OUR_SEEDS = (42, 7, 2**63 + 11)
INTERVALS = 56
"""Pairs whose intervals are compared."""

COMMANDS = ("wording 0", "tools 1", "numbers 2", "identical 11")
"""Pairs compared by whole commands of both tools: the peer needs a quarter of a second to start."""

STRAY_BOUNDS = 0.003
"""Share of bounds that may lie outside the envelope: thirty draws do not always show the extremes."""


def _pairs() -> list[TracePair]:
    small = [agentlogs.trace_pair(seed) for seed in range(CASES)]
    return small + [agentlogs.trace_pair(1000, profile, turns) for profile, turns in MIDDLING.items()]


PAIRS = {pair.name: pair for pair in _pairs()}


class Compared:
    """What both tools said of a pair."""

    def __init__(self, answer: Answer, document: Json, peer: dict[str, Json]) -> None:
        self.answer = answer
        self.document = document
        self.peer = peer


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write every pair, its policy and the prices."""
    root = tmp_path_factory.mktemp("traces")
    (root / "pricing.json").write_text(json.dumps(PRICING | {"_comment": "made up"}))
    for number, pair in enumerate(PAIRS.values()):
        (root / f"{number}.a.agentlog").write_bytes(agentlogs.file_bytes(pair.baseline))
        (root / f"{number}.b.agentlog").write_bytes(agentlogs.file_bytes(pair.candidate))
        (root / f"{number}.policy.json").write_text(json.dumps({"rules": pair.rules}))
    return root


@pytest.fixture(scope="module")
def compared(files: Path) -> dict[str, Compared]:
    """Let both tools compare every pair at every level."""
    ours = []
    jobs = []
    for number, pair in enumerate(PAIRS.values()):
        options = (
            "--pricing",
            "pricing.json",
            "--policy",
            f"{number}.policy.json",
            "--output-json",
            f"{number}.json",
        )
        flags = ("--hierarchical", "--token-diff", "--spans", "--split", "requests")
        ours.append(
            Job(
                "stratadiff",
                ("diff", f"{number}.a.agentlog", f"{number}.b.agentlog", *options, *flags),
                files,
            )
        )
        sides = {
            "baseline": str(files / f"{number}.a.agentlog"),
            "candidate": str(files / f"{number}.b.agentlog"),
        }
        jobs += [
            {"call": "report", **sides, "pricing": PRICING},
            {"call": "sessions", **sides, "pricing": PRICING},
            {"call": "spans", "pairs": list(zip(*pair.payloads, strict=False))},
            {"call": "tokens", **sides},
            {"call": "policy", **sides, "rules": pair.rules},
        ]
    [answers] = run_all(ours)
    theirs = iter(shadow_peer.ask(jobs))
    found = {}
    for number, (name, answer) in enumerate(zip(PAIRS, answers, strict=True)):
        output = files / f"{number}.json"
        document = json.loads(output.read_bytes()) if output.exists() else None
        parts = ("report", "sessions", "spans", "tokens", "policy")
        found[name] = Compared(answer, document, {part: next(theirs) for part in parts})
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_report_is_the_peers(compared: dict[str, Compared], name: str) -> None:
    one = compared[name]
    assert (one.answer.exit, one.answer.raised) == (0, None)
    [theirs] = shadow_peer.value(one.peer["report"])
    assert not list(shadow_peer.report(one.document, theirs))


@pytest.mark.parametrize("name", PAIRS)
def test_sessions_are_the_peers(compared: dict[str, Compared], name: str) -> None:
    one = compared[name]
    assert not list(shadow_peer.sessions(one.document["sessions"], shadow_peer.value(one.peer["sessions"])))


@pytest.mark.parametrize("name", PAIRS)
def test_tokens_are_the_peers(compared: dict[str, Compared], name: str) -> None:
    one = compared[name]
    assert not list(shadow_peer.tokens(one.document["token_diff"], shadow_peer.value(one.peer["tokens"])))


@pytest.mark.parametrize("name", PAIRS)
def test_policy_is_the_peers(compared: dict[str, Compared], name: str) -> None:
    one = compared[name]
    assert not list(shadow_peer.policy(one.document["policy_diff"], shadow_peer.value(one.peer["policy"])))


@pytest.mark.parametrize("name", PAIRS)
def test_spans_are_the_peers(compared: dict[str, Compared], name: str) -> None:
    one = compared[name]
    changes = {pair["pair_index"]: pair["changes"] for pair in one.document["spans"]}
    peer = shadow_peer.value(one.peer["spans"])
    for index, (payloads, theirs) in enumerate(
        zip(zip(*PAIRS[name].payloads, strict=False), peer, strict=True)
    ):
        found = shadow_peer.spans(
            changes.pop(index, []), shadow_peer.value(theirs), shadow_peer.is_long(*payloads)
        )
        assert not list(found), f"pair {index}: {payloads}"
    assert not changes


def test_the_pairs_are_of_every_sort(compared: dict[str, Compared]) -> None:
    """Guard the generator: every kind of finding occurs, in good number."""
    severities: Counter[tuple[str, str]] = Counter()
    kinds: Counter[str] = Counter()
    for one in compared.values():
        [report] = shadow_peer.value(one.peer["report"])
        severities.update((row["axis"], row["severity"]) for row in report["rows"])
        kinds.update(entry["primary_axis"] for entry in report["divergences"])
        kinds.update(entry["dominant_axis"] for entry in report["drill_down"])
        kinds.update(
            change["kind"] for pair in shadow_peer.value(one.peer["spans"]) for change in pair["value"]
        )
        kinds.update(one["kind"] for one in shadow_peer.value(one.peer["policy"])["regressions"])
    for axis in (
        "semantic",
        "trajectory",
        "safety",
        "verbosity",
        "latency",
        "cost",
        "reasoning",
        "conformance",
    ):
        assert severities[axis, "severe"] >= 5
        assert severities[axis, "none"] >= 20
    assert len(kinds) >= 30
    assert min(kinds.values()) >= 1


# The commands themselves


@pytest.mark.parametrize("threshold", ["never", "minor", "moderate", "severe"])
@pytest.mark.parametrize("name", COMMANDS)
def test_exit_code_and_file_are_the_peers(files: Path, name: str, threshold: str) -> None:
    number = list(PAIRS).index(name)
    answers, documents = {}, {}
    for program in ("shadow", "stratadiff"):
        output = files / f"{number}.{threshold}.{program}.json"
        options = ("--pricing", "pricing.json", "--fail-on", threshold, "--output-json", str(output))
        argv = ("diff", f"{number}.a.agentlog", f"{number}.b.agentlog", *options)
        answers[program] = run_alone(Job(program, argv, files))
        documents[program] = json.loads(output.read_bytes())
    ours, theirs = documents["stratadiff"], documents["shadow"]
    worst = [[row["severity"] for row in one["rows"]] for one in (ours, theirs)]
    assert worst[0] == worst[1], "a severity near a threshold: choose another pair"
    assert answers["stratadiff"].exit == answers["shadow"].exit
    for line in shadow_peer.report(ours, {key: theirs[key] for key in theirs if key in ours}):
        pytest.fail(line)


# Intervals


def test_intervals_lie_in_the_peers_envelope(files: Path) -> None:
    names = [name for name in PAIRS if not name.startswith(("identical", "one side", "odd"))][:INTERVALS]
    numbers = {name: number for number, name in enumerate(PAIRS)}
    jobs = [
        {
            "call": "report",
            "baseline": str(files / f"{numbers[name]}.a.agentlog"),
            "candidate": str(files / f"{numbers[name]}.b.agentlog"),
            "pricing": PRICING,
            "seeds": list(SEEDS),
        }
        for name in names
    ]
    theirs = [[one["rows"] for one in shadow_peer.value(answer)] for answer in shadow_peer.ask(jobs)]
    strays = []
    bounds = 0
    for name, seeds in zip(names, theirs, strict=True):
        for seed in OUR_SEEDS:
            sides = (files / f"{numbers[name]}.{side}.agentlog" for side in "ab")
            result = stratadiff.compare_traces(*sides, levels=["trace"], pricing=PRICING, seed=seed)
            ours = result.report().to_dict()["rows"]
            bounds += 2 * sum(row["n"] > 0 for row in ours)
            strays += [f"{name}, seed {seed}: {line}" for line in shadow_peer.outside(ours, seeds)]
    assert bounds > 1500
    assert len(strays) <= STRAY_BOUNDS * bounds, "\n".join(strays)


# Single levels, on inputs of their own


def test_changes_of_payloads_are_the_peers() -> None:
    pairs = [agentlogs.payload_pair(seed) for seed in range(PAYLOADS)]
    [answer] = shadow_peer.ask([{"call": "spans", "pairs": pairs}])
    problems = []
    exact = 0
    for seed, ((b, c), peer) in enumerate(zip(pairs, shadow_peer.value(answer), strict=True)):
        ours = [change.to_dict() for change in stratadiff.span_diff(b, c)]
        found = list(shadow_peer.spans(ours, shadow_peer.value(peer), shadow_peer.is_long(b, c)))
        exact += shadow_peer.is_exact(shadow_peer.value(peer))
        problems += [f"payloads {seed}: {line}" for line in found]
    assert not problems, "\n".join(problems[:5])
    assert exact > PAYLOADS // 2


def _usages(draw: Draw) -> list[Json]:
    def count() -> Json:
        scale = draw.choice((10, 1000, 1000, 10**6, 2**53))
        number = draw.randint(0, scale)
        return draw.choice((number, number, number, number, 0, None, -number, number / 8))

    names = ("input_tokens", "output_tokens", "thinking_tokens")
    found = []
    for _ in range(draw.choice((0, 1, 2, 3, 4, 7, 20, 101))):
        usage: Json = {name: count() for name in names if draw.chance(0.95)}
        found.append(draw.choice((usage,) * 12 + (None, {}, "absent")))
    return found


def _responses(usages: list[Json]) -> agentlogs.Records:
    return [
        {
            "kind": "chat_response",
            "payload": {"content": []} | ({} if usage == "absent" else {"usage": usage}),
        }
        for usage in usages
    ]


def test_token_counts_are_the_peers() -> None:
    draw = Draw("token counts")
    cases = [
        (_responses(_usages(draw)), _responses(_usages(draw)), draw.choice((10, 10, 0, 1, 3)))
        for _ in range(USAGES)
    ]
    jobs = [{"call": "tokens", "baseline": b, "candidate": c, "top_k": k} for b, c, k in cases]
    for number, ((b, c, k), answer) in enumerate(zip(cases, shadow_peer.ask(jobs), strict=True)):
        ours = stratadiff.token_diff(b, c, top_k_pairs=k).to_dict()
        assert not list(shadow_peer.tokens(ours, shadow_peer.value(answer))), number
