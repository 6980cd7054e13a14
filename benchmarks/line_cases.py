"""Cases of line diff in one process: from bytes to edit script, hostile inputs, gestalt, small texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import peers
import workloads
from measure import OURS, Built, Case, Target, Timed, timed
from stratadiff import text_diff
from stratadiff._kernels import gestalt
from stratadiff._kernels.intern import intern_lines
from stratadiff._kernels.line_index import index_lines
from stratadiff.core.linediff import EditScript, LineScript, diff_lines
from stratadiff.core.lines import Lines
from stratadiff.limits import MAX_EDIT_DISTANCE

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Mapping

UNLIMITED = 2**31 - 1
SLOW_SECONDS = 10  # what a peer that may take minutes is given


def script_of(a: bytes, b: bytes) -> LineScript:
    """Return our edit script of two texts, from their bytes."""
    return diff_lines(Lines(a), Lines(b), algorithm="myers", context=3, max_changed_lines=UNLIMITED)


def interned(a: bytes, b: bytes) -> tuple[array[int], array[int], int]:
    """Index and intern the lines of both sides: the floor of every line diff."""
    a_starts, _, a_crlf = index_lines(a)
    b_starts, _, b_crlf = index_lines(b)
    return intern_lines(a, a_starts, a_crlf > 0, b, b_starts, b_crlf > 0)


def line_case(
    pair: Callable[[], workloads.LinePair], slow: bool = False, matchers: bool = False
) -> Callable[[str], Built]:
    """Make the builder of a line diff case.

    Parameters
    ----------
    pair : callable
        Makes the two texts.
    slow : bool
        Whether the peer's minimal diff may take minutes here; then it has a CPU limit.
    matchers : bool
        Whether the difflib family takes part.
    """

    def build(folder: str) -> Built:
        _, a, b = pair()
        limit = SLOW_SECONDS if slow else None
        xdiff, bdiff = peers.xdiff_blocks(a, b), peers.bdiff_blocks(a, b)
        default, minimal = peers.git_patch(a, b, False), peers.git_patch(a, b, True)
        contenders = {
            OURS: Timed(lambda: script_of(a, b)),
            "interning": Timed(lambda: interned(a, b)),
            "dict interning": Timed(peers.dict_interning(a, b)),
            "xdiffblocks": timed(xdiff),
            "bdiff": timed(bdiff),
            "pygit2": timed(default),
            "pygit2 minimal": timed(minimal, limit),
        }
        lines_a, lines_b = a.split(b"\n")[:-1], b.split(b"\n")[:-1]
        matching = {}
        if matchers:
            matching = {
                "difflib": peers.sequence_opcodes(peers.difflib_matcher(), lines_a, lines_b),
                "cydifflib": peers.sequence_opcodes(peers.cydifflib_matcher(), lines_a, lines_b),
            }
            contenders |= {name: timed(call) for name, call in matching.items()}

        def check() -> Mapping[str, str]:
            found = script_of(a, b)
            assert found.ops is not None
            script = EditScript(found.ops)
            assert script.apply(lines_a, lines_b) == lines_b, "our script does not give the candidate"
            edits = {OURS: script.distance}
            for name, blocks in (("xdiffblocks", xdiff), ("bdiff", bdiff)):
                if blocks is not None:
                    edits[name] = peers.block_edits(blocks(), lines_a, lines_b)
            for name, patch in (("pygit2", default), ("pygit2 minimal", None if slow else minimal)):
                if patch is not None:
                    _, added, removed = patch().line_stats
                    edits[name] = added + removed
            for name, opcodes in matching.items():
                if opcodes is not None:
                    edits[name] = peers.opcode_edits(opcodes())
            if edits[OURS] <= MAX_EDIT_DISTANCE:  # the walk was exact, so nobody finds a shorter one
                assert edits[OURS] == min(edits.values()), f"our script is not minimal: {edits}"
            return {name: f"[{count}]" for name, count in edits.items()}

        return Built(contenders, check, len(a) + len(b))

    return build


def _line_cases() -> list[Case]:
    cases = []
    for count in (10_000, 100_000):
        for kind in ("code", "code, copies", "prose", "json lines"):
            for rate in (0.01, 0.1, 0.5):
                targets = [Target("at most", 1.2, "xdiffblocks"), Target("faster", 1.5, "pygit2 minimal")]
                if rate <= 0.1:
                    targets.append(Target("at most", 2.5, "interning"))
                build = line_case(
                    partial(workloads.line_pair, kind, count, rate), matchers=count == 10_000 and rate == 0.01
                )
                quick = kind == "code" and rate < 0.5
                cases.append(
                    Case("lines", f"{kind} {count // 1000}k {rate:.0%}", build, tuple(targets), quick)
                )
    return cases


def two_symbols_apart(count: int) -> workloads.LinePair:
    """Make two unrelated texts over two symbols."""
    a, b = workloads.two_symbol_lines(count, 1), workloads.two_symbol_lines(count, 2)
    return workloads.LinePair(
        f"two symbols, unrelated {count}", workloads.join_lines(a), workloads.join_lines(b)
    )


def _hostile_cases() -> list[Case]:
    pair = workloads.line_pair
    rows: list[tuple[str, Callable[[], workloads.LinePair], bool, bool]] = [
        # name, pair, may the peer take minutes, do both find as short a script
        ("two symbols 60k 1%", partial(pair, "two symbols", 60_000, 0.01), False, True),
        ("two symbols 60k 10%", partial(pair, "two symbols", 60_000, 0.1), False, True),
        ("two symbols 60k unrelated", partial(two_symbols_apart, 60_000), False, False),
        ("reversed 100k", partial(pair, "reversed", 100_000), True, True),
        ("shuffled 100k", partial(pair, "shuffled", 100_000), True, True),
        ("all different 100k", partial(pair, "all different", 100_000), False, True),
        ("moved blocks 100k 1%", partial(pair, "moved blocks", 100_000, 0.01), False, True),
        ("repeated 90% 100k 10%", partial(pair, "repeated", 100_000, 0.1), False, True),
        ("identical 100k", partial(pair, "identical", 100_000), False, False),
    ]
    cases = []
    for name, make, slow, as_short in rows:
        targets = [Target("below", 1.0)]
        if as_short:
            targets.append(Target("faster", 3.0, "pygit2 minimal"))
        cases.append(Case("hostile", name, line_case(make, slow), tuple(targets), quick="60k 1%" in name))
    return cases


# Gestalt


def _gestalt_case(kind: str, rate: float) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        _, a, b = workloads.line_pair(kind, 10_000, rate)
        lines_a, lines_b = a.split(b"\n")[:-1], b.split(b"\n")[:-1]

        def ours() -> array[int]:
            a_ids, b_ids, _ = interned(a, b)
            return gestalt.edit_script(a_ids, b_ids)

        by_difflib = peers.sequence_opcodes(peers.difflib_matcher(), lines_a, lines_b)
        by_cydifflib = peers.sequence_opcodes(peers.cydifflib_matcher(), lines_a, lines_b)

        def check() -> Mapping[str, str]:
            script = EditScript(ours())
            assert by_difflib is not None
            assert list(script) == [tuple(op) for op in by_difflib()], "difflib's script is another"
            return {OURS: f"[{script.distance}]"}

        contenders = {
            OURS: Timed(ours),
            "interning": Timed(lambda: interned(a, b)),
            "difflib": timed(by_difflib),
            "cydifflib": timed(by_cydifflib),
        }
        return Built(contenders, check, len(a) + len(b))

    return build


def _gestalt_cases() -> list[Case]:
    return [
        Case(
            "gestalt",
            f"{kind} 10k {rate:.0%}",
            _gestalt_case(kind, rate),
            (Target("faster", 20, "difflib"),),
            quick=kind == "prose" and rate == 0.01,
        )
        for kind in ("code", "prose", "json lines")
        for rate in (0.01, 0.1)
    ]


# Small texts


def _small_case(kind: str, lines: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        _, a, b = workloads.line_pair(kind, lines, 0.05)
        a, b = a[:2000], b[:2000]
        patch = peers.git_patch(a, b, False)
        lines_a, lines_b = a.split(b"\n"), b.split(b"\n")

        def check() -> Mapping[str, str]:
            found = text_diff(a, b)
            changed = [line.op for hunk in found.hunks for line in hunk.lines if line.op != " "]
            assert found.kind == "text" and changed, "the texts do not differ"
            return {OURS: f"[{len(changed)}]"}

        contenders = {
            OURS: Timed(lambda: text_diff(a, b)),
            "with hunks as JSON": Timed(lambda: text_diff(a, b).hunks_json()),
            "interning": Timed(lambda: interned(a, b)),
            "difflib opcodes": timed(peers.sequence_opcodes(peers.difflib_matcher(), lines_a, lines_b)),
            "pygit2": timed(patch),
        }
        return Built(contenders, check, len(a) + len(b))

    return build


def _small_cases() -> list[Case]:
    return [
        Case("small", f"{kind} 2 KB", _small_case(kind, lines), (Target("below", 40e-6),), quick=True)
        for kind, lines in (("code", 80), ("prose", 40), ("json lines", 30))
    ]


CASES: list[Case] = [*_line_cases(), *_hostile_cases(), *_gestalt_cases(), *_small_cases()]
"""Every case of this file."""

CONTENDERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("lines", "hostile"),
        (
            OURS,
            "interning",
            "dict interning",
            "xdiffblocks",
            "bdiff",
            "pygit2",
            "pygit2 minimal",
            "difflib",
            "cydifflib",
        ),
    ),
    "gestalt": (OURS, "interning", "difflib", "cydifflib"),
    "small": (OURS, "with hunks as JSON", "interning", "difflib opcodes", "pygit2"),
}
"""Who may take part in a group; pytest needs the names before a case is built."""
