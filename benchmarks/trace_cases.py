"""Cases of agent traces: single levels in one process, whole commands, and their peak memory."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import peers
import trace_peers
import trace_workloads
from command_cases import PASS, our_command, tool
from measure import OURS, Built, Case, Command, Elapsed, PeakMemory, Target, Timed, output_of, timed
from workloads import Draw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trace_workloads import Records

ALL_LEVELS = ("--hierarchical", "--token-diff", "--spans")

_PARSE_ONLY = """
import sys, simdjson
parse = simdjson.Parser().parse
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        for line in file:
            parse(line)
"""


def _parse_only(*paths: str) -> tuple[str, ...]:
    return (sys.executable, "-c", _PARSE_ONLY, *paths)


def _pair(folder: str, turns: int) -> tuple[str, str]:
    root = os.path.join(folder, f"traces-{turns}")
    if os.path.isdir(root):
        return os.path.join(root, "baseline.agentlog"), os.path.join(root, "candidate.agentlog")
    paths = trace_workloads.write_trace_pair(root, turns)
    for name, value in (("pricing", trace_workloads.PRICING), ("policy", trace_workloads.POLICY)):
        with open(os.path.join(root, name + ".json"), "w") as out:
            json.dump(value, out)
    return paths


def _records(folder: str, turns: int) -> tuple[Records, Records]:
    # As a program has them that has read two files: what belongs together lies together, keys are shared.
    import orjson

    sides = []
    for path in _pair(folder, turns):
        with open(path, "rb") as file:
            sides.append([orjson.loads(line) for line in file])
    return sides[0], sides[1]


# Token counts


def _check_tokens(ours: Any, theirs: Any) -> None:
    for name in trace_peers.DIMENSIONS:
        for side in ("baseline", "candidate"):
            mine, peer = getattr(ours, side)[name], getattr(theirs, side)[name]
            for number in ("median", "p25", "p75", "p95", "maximum", "total"):
                assert getattr(mine, number) == getattr(peer, number), f"{side} {name} {number} differs"
    worst = [[pair.pair_index for pair in found.worst_pairs] for found in (ours, theirs)]
    assert worst[0] == worst[1], "the worst pairs differ"


def _tokens_in_memory(turns: int, *, usages_only: bool) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        import stratadiff

        a, b = _records(folder, turns)
        if usages_only:
            a, b = (
                [
                    {"kind": "chat_response", "payload": {"usage": {**record["payload"]["usage"]}}}
                    for record in side
                    if record["kind"] == "chat_response"
                ]
                for side in (a, b)
            )
        shadow = peers.library("shadow.hierarchical")

        def check() -> Mapping[str, str]:
            if shadow is not None:
                _check_tokens(stratadiff.token_diff(a, b), shadow.token_diff(a, b))
            return {}

        contenders = {
            OURS: Timed(lambda: stratadiff.token_diff(a, b)),
            "touch each usage": Timed(trace_peers.touch_usages(a, b)),
            "numpy": timed(trace_peers.numpy_tokens(a, b)),
            "shadow-diff": None if shadow is None else Timed(lambda: shadow.token_diff(a, b)),
        }
        return Built(contenders, check)

    return build


def _tokens_from_files(turns: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        import stratadiff

        paths = _pair(folder, turns)
        shadow = trace_peers.shadow_tokens_of_files(*paths)

        def check() -> Mapping[str, str]:
            if shadow is not None:
                _check_tokens(stratadiff.token_diff(*paths), shadow())
            return {}

        contenders = {
            OURS: Timed(lambda: stratadiff.token_diff(*paths)),
            "simdjson, parse only": timed(trace_peers.simdjson_parse(*paths)),
            "orjson, numpy": timed(trace_peers.orjson_tokens(*paths)),
            "msgspec, numpy": timed(trace_peers.msgspec_tokens(*paths)),
            "shadow-diff": timed(shadow),
        }
        return Built(contenders, check, sum(map(os.path.getsize, paths)))

    return build


# Spans, policy, alignment, bootstrap


def _spans(blocks: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        import stratadiff

        a, b = trace_workloads.long_turns(blocks, edit_rate=0.1 if blocks > 50 else 0.3)
        shadow = peers.library("shadow.hierarchical")

        def check() -> Mapping[str, str]:
            notes = {OURS: f"[{len(stratadiff.span_diff(a, b))}]"}
            assert stratadiff.span_diff(a, b), "our span level sees nothing"
            if shadow is not None:
                notes["shadow-diff"] = f"[{len(shadow.span_diff(a, b))}]"
            return notes

        contenders = {
            OURS: Timed(lambda: stratadiff.span_diff(a, b)),
            "orjson, rapidfuzz": timed(trace_peers.block_distance(a["content"], b["content"])),
            "shadow-diff": None if shadow is None else Timed(lambda: shadow.span_diff(a, b)),
        }
        return Built(contenders, check)

    return build


def _policy(turns: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        import stratadiff

        a, b = _records(folder, turns)
        policy = stratadiff.load_policy(trace_workloads.POLICY)
        shadow = peers.library("shadow.hierarchical")
        rules = None if shadow is None else shadow.load_policy(_versioned(trace_workloads.POLICY))

        def check() -> Mapping[str, str]:
            ours = stratadiff.policy_diff(a, b, policy)
            assert ours.regressions, "our policy level sees nothing"
            if shadow is None:
                return {}
            theirs = shadow.policy_diff(a, b, rules)
            for name in ("baseline_violations", "candidate_violations", "regressions", "fixes"):
                found = [[(v.rule_id, v.pair_index) for v in getattr(one, name)] for one in (ours, theirs)]
                assert found[0] == found[1], f"the {name} differ"
            return {OURS: f"[{len(ours.candidate_violations)}]"}

        contenders = {
            OURS: Timed(lambda: stratadiff.policy_diff(a, b, policy)),
            "touch each block": Timed(trace_peers.touch_blocks(a, b)),
            "shadow-diff": None if shadow is None else Timed(lambda: shadow.policy_diff(a, b, rules)),
        }
        return Built(contenders, check)

    return build


def _versioned(policy: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "shadow.dev/v1alpha1", **policy}


def _alignment(turns: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        import stratadiff

        a, b = _records(folder, turns)
        core = peers.library("shadow._core")

        def ours() -> Any:
            return stratadiff.compare_traces(a, b, levels=["turn"])

        def check() -> Mapping[str, str]:
            assert ours().comparison.first_divergence is not None, "our turn level sees nothing"
            return {}

        contenders = {
            OURS: Timed(ours),
            "shadow-diff, whole report": None
            if core is None
            else Timed(lambda: core.compute_diff_report(a, b, None, 42), cpu_limit=100),
        }
        return Built(contenders, check)

    return build


def _columns(pairs: int) -> tuple[list[Any], bytes]:
    from array import array

    draw = Draw("bootstrap", pairs)
    columns = []
    kinds = b"mmammmmma"
    for kind in kinds:
        values = []
        for _ in range(2):
            if kind == ord("a"):
                values.append(array("d", [float(draw.unit() < 0.3) for _ in range(pairs)]))
            else:
                values.append(array("d", [float(draw.below(100_000)) for _ in range(pairs)]))
        columns.append(tuple(values))
    return columns, kinds


def _bootstrap(pairs: int, *, wall_clock: bool) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        from stratadiff.core.quantiles import paired_intervals

        columns, kinds = _columns(pairs)
        one = partial(paired_intervals, columns, kinds, 42, threads=1)
        two = partial(paired_intervals, columns, kinds, 42, threads=2)

        def check() -> Mapping[str, str]:
            found = one()
            assert found == two(), "the intervals depend on the number of threads"
            reference = trace_peers.numpy_intervals(columns, kinds)
            if reference is not None and not wall_clock:
                for (low, high), (other_low, other_high) in zip(found, reference(), strict=True):
                    near = (other_high - other_low) / 4
                    assert abs(low - other_low) < near and abs(high - other_high) < near, "other intervals"
            return {}

        if wall_clock:
            return Built({OURS: Elapsed(two), "one thread": Elapsed(one)}, check)
        return Built({OURS: Timed(one), "numpy": timed(trace_peers.numpy_intervals(columns, kinds))}, check)

    return build


# Whole commands


def _command(turns: int, arguments: tuple[str, ...], limit: int = 0) -> Callable[[str], Built]:
    # `arguments` name files of the pair's folder; the peer has no --only and no --spans.
    def build(folder: str) -> Built:
        paths = _pair(folder, turns)
        root = os.path.dirname(paths[0])
        own = [os.path.join(root, word) if word.endswith(".json") else word for word in arguments]
        theirs = [word for word in own if word not in ("--spans", "--only", "token")]
        if "token" in arguments:
            theirs.append("--token-diff")
        peer = tool("shadow")
        library = peers.library("simdjson")

        def check() -> Mapping[str, str]:
            code, out = output_of((our_command(), "diff", *paths, *own, "--json"))
            assert code == 0, "our command refuses the traces"
            document = json.loads(out)
            assert document["pair_count"] == turns
            if "--spans" in arguments:
                levels = {"rows", "divergences", "sessions", "token_diff", "policy_diff", "spans"}
                assert levels <= document.keys(), "our command left out a level"
            return {}

        contenders = {
            OURS: Command(our_command(), "diff", *paths, *own),
            "python -c pass": Command(*PASS),
            "simdjson, parse only": Command(*_parse_only(*paths)) if library else None,
            "shadow-diff": Command(peer, "diff", *paths, *theirs, cpu_limit=limit or None) if peer else None,
        }
        return Built(contenders, check, sum(map(os.path.getsize, paths)))

    return build


def _memory(turns: int, arguments: tuple[str, ...]) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        paths = _pair(folder, turns)
        root = os.path.dirname(paths[0])
        own = [os.path.join(root, word) if word.endswith(".json") else word for word in arguments]
        library = peers.library("simdjson")

        def check() -> Mapping[str, str]:
            assert output_of((our_command(), "diff", *paths, *own))[0] == 0, "our command refuses the traces"
            return {}

        contenders = {
            OURS: PeakMemory(our_command(), "diff", *paths, *own),
            "python -c pass": PeakMemory(*PASS),
            "simdjson, parse only": PeakMemory(sys.executable, "-c", _PARSE_ONLY, *paths)
            if library
            else None,
        }
        return Built(contenders, check, sum(map(os.path.getsize, paths)))

    return build


_SHADOW = "shadow-diff"
_WHOLE = (*ALL_LEVELS, "--policy", "policy.json", "--pricing", "pricing.json")
_TOKENS = ("--only", "token")
_IN_MEMORY = (
    Target("faster", 10, _SHADOW),
    Target("at most", 4, "touch each usage"),
    Target("below", 0.5 / 50),
)
_FILE = 14.3  # MB of one file of 10,000 turns

CASES: list[Case] = [
    Case(
        "trace levels",
        "tokens, 10k pairs in memory",
        _tokens_in_memory(10_000, usages_only=False),
        _IN_MEMORY,
        quick=True,
    ),
    Case(
        "trace levels",
        "tokens, 10k pairs in memory, usages only",
        _tokens_in_memory(10_000, usages_only=True),
        _IN_MEMORY,
        quick=True,
    ),
    Case(
        "trace levels",
        "tokens, two files of 14 MB",
        _tokens_from_files(10_000),
        (Target("faster", 8, _SHADOW), Target("at most", 3, "simdjson, parse only")),
        quick=True,
    ),
    Case("trace levels", "spans, 20 blocks", _spans(20)),
    Case("trace levels", "spans, 200 blocks", _spans(200), (Target("faster", 30, _SHADOW),), quick=True),
    Case(
        "trace levels",
        "policy, 8 rules, 10k pairs",
        _policy(10_000),
        (Target("faster", 3, _SHADOW),),
        quick=True,
    ),
    Case("trace levels", "turns, 100 x 100", _alignment(100)),
    Case("trace levels", "turns, 1,000 x 1,000", _alignment(1000), (Target("below", 0.5),)),
    Case(
        "trace levels",
        "bootstrap, 9 x 1,000 x 10k",
        _bootstrap(10_000, wall_clock=False),
        (Target("below", 1.5),),
    ),
    Case(
        "trace threads",
        "bootstrap, 9 x 1,000 x 10k, two threads",
        _bootstrap(10_000, wall_clock=True),
        (Target("faster", 1.7, "one thread"),),
    ),
    Case("trace diff", "12 turns", _command(12, ()), (Target("at most", 6, "python -c pass"),), quick=True),
    Case("trace diff", "12 turns, all levels", _command(12, _WHOLE)),
    Case(
        "trace diff",
        "1k pairs, all levels",
        _command(1000, _WHOLE, limit=150),
        (Target("below", 0.6), Target("faster", 30, _SHADOW)),
    ),
    Case(
        "trace diff",
        "10k pairs, --only token",
        _command(10_000, _TOKENS, limit=100),
        (Target("below", 0.3),),
    ),
    Case(
        "trace diff",
        "10k pairs, all levels",
        _command(10_000, _WHOLE, limit=100),
        (Target("below", 5), Target("faster", 30, _SHADOW)),
    ),
    Case("trace memory", "10k pairs, --only token", _memory(10_000, _TOKENS), (Target("below", _FILE + 40),)),
    Case("trace memory", "1k pairs, all levels", _memory(1000, _WHOLE)),
    Case("trace memory", "10k pairs, all levels", _memory(10_000, _WHOLE)),
]
"""Every case of this file."""

CONTENDERS: dict[str, tuple[str, ...]] = {
    "trace levels": (
        OURS,
        "touch each usage",
        "touch each block",
        "simdjson, parse only",
        "numpy",
        "orjson, numpy",
        "msgspec, numpy",
        "orjson, rapidfuzz",
        "shadow-diff",
        "shadow-diff, whole report",
    ),
    "trace threads": (OURS, "one thread"),
    "trace diff": (OURS, "python -c pass", "simdjson, parse only", _SHADOW),
    "trace memory": (OURS, "python -c pass", "simdjson, parse only"),
}
"""Who takes part in a group."""

COMMAND_GROUPS = ("trace diff", "trace memory")
"""Groups whose contenders are whole commands."""
