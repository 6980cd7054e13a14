"""Cases of calls in one process: line diff, hostile inputs, words, escaping, JSON, gestalt, small texts."""

from __future__ import annotations

import json
import re
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any

import peers
import workloads
from measure import OURS, Built, Case, Target, Timed
from stratadiff import text_diff
from stratadiff._kernels import gestalt, json_scan, myers
from stratadiff._kernels.escape import escape_text
from stratadiff._kernels.intern import intern_lines
from stratadiff._kernels.line_index import index_lines
from stratadiff._kernels.word_split import split_pairs
from stratadiff.core.linediff import EditScript, LineScript, diff_lines
from stratadiff.core.lines import Lines
from stratadiff.limits import MAX_EDIT_DISTANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNLIMITED = 2**31 - 1
SLOW_SECONDS = 10  # what a peer that may take minutes is given


def _timed(call: Callable[[], object] | None, cpu_limit: int | None = None) -> Timed | None:
    return None if call is None else Timed(call, cpu_limit)


# Lines


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
            "xdiffblocks": _timed(xdiff),
            "bdiff": _timed(bdiff),
            "pygit2": _timed(default),
            "pygit2 minimal": _timed(minimal, limit),
        }
        lines_a, lines_b = a.split(b"\n")[:-1], b.split(b"\n")[:-1]
        matching = {}
        if matchers:
            matching = {
                "difflib": peers.sequence_opcodes(peers.difflib_matcher(), lines_a, lines_b),
                "cydifflib": peers.sequence_opcodes(peers.cydifflib_matcher(), lines_a, lines_b),
            }
            contenders |= {name: _timed(call) for name, call in matching.items()}

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
        for kind in ("code", "prose", "json lines"):
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
        ("identical 100k", partial(pair, "identical", 100_000), False, True),
    ]
    cases = []
    for name, make, slow, exact in rows:
        targets = [Target("below", 1.0)]
        if exact:
            targets.append(Target("faster", 3.0, "pygit2 minimal"))
        cases.append(Case("hostile", name, line_case(make, slow), tuple(targets), quick="60k 1%" in name))
    return cases


# Words


def _word_case(words: int, rate: float, lines: int, ascii_only: bool) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        texts = [
            workloads.word_line_pair(words, rate, seed, ascii_only=ascii_only) for seed in range(1, lines + 1)
        ]
        a = "\n".join([left for left, _ in texts]).encode()
        b = "\n".join([right for _, right in texts]).encode()
        pairs = array("i")
        i = j = 0
        for left, right in texts:
            pairs.extend((i, i + len(left.encode()), j, j + len(right.encode())))
            i, j = pairs[-3] + 1, pairs[-1] + 1

        def ours() -> tuple[array[int], array[int]]:
            _, a_ids, a_bounds, _, b_ids, b_bounds = split_pairs(a, b, pairs, False, 1 << 30, 1 << 30)
            return myers.walk_many(a_ids, a_bounds, b_ids, b_bounds)

        def over(make: Callable[[str, str], Callable[[], Any] | None]) -> Callable[[], list[Any]] | None:
            calls = [make(left, right) for left, right in texts]
            if calls[0] is None:
                return None
            if len(calls) == 1:
                return calls[0]
            return lambda: [call() for call in calls if call is not None]

        difflib_words = partial(peers.word_opcodes, peers.difflib_matcher())
        cydifflib_words = partial(peers.word_opcodes, peers.cydifflib_matcher())

        def check() -> Mapping[str, str]:
            ops, bounds = ours()
            counts = dict.fromkeys((OURS, "difflib", "cydifflib", "rapidfuzz"), 0)
            for k, (left, right) in enumerate(texts):
                words_a, words_b = peers.WORDS.findall(left), peers.WORDS.findall(right)
                script = EditScript(ops[5 * bounds[k] : 5 * bounds[k + 1]])
                assert script.apply(words_a, words_b) == words_b, "our words are not the expression's"
                counts[OURS] += script.distance
                for name, make in (
                    ("difflib", difflib_words),
                    ("cydifflib", cydifflib_words),
                    ("rapidfuzz", peers.rapidfuzz_words),
                ):
                    call = make(left, right)
                    if call is not None:
                        counts[name] += peers.opcode_edits(call())
            if counts["rapidfuzz"]:
                assert counts[OURS] == counts["rapidfuzz"], f"not minimal: {counts}"
            return {name: f"[{count}]" for name, count in counts.items() if count}

        split = peers.WORDS.findall
        contenders = {
            OURS: Timed(ours),
            "re.findall alone": Timed(lambda: [(split(left), split(right)) for left, right in texts]),
            "difflib": _timed(over(difflib_words)),
            "cydifflib": _timed(over(cydifflib_words)),
            "rapidfuzz": _timed(over(peers.rapidfuzz_words)),
        }
        return Built(contenders, check, len(a) + len(b))

    return build


def _word_cases() -> list[Case]:
    targets = (Target("faster", 20, "difflib"), Target("faster", 2, "rapidfuzz"))
    cases = [
        Case(
            "words", f"{words} words {rate:.0%}", _word_case(words, rate, 1, True), targets, quick=rate == 0.1
        )
        for words in (50, 200, 500)
        for rate in (0.1, 0.4)
    ]
    cases.append(Case("words", "200 words 10%, scripts", _word_case(200, 0.1, 1, False), targets))
    cases.append(Case("words", "100 lines of 50 words 10%", _word_case(50, 0.1, 100, True), targets))
    return cases


# Escaping

ESCAPED = re.compile(
    "[\\\\\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)


def _replacement(match: re.Match[str]) -> str:
    char = match[0]
    if char == "\\":
        return "\\\\"
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _escape_case(kind: str) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        text = workloads.escape_text(kind, 10_000_000).replace("\n", " ")
        data = text.encode()
        by_expression = partial(ESCAPED.sub, _replacement, text)

        def check() -> Mapping[str, str]:
            shown = escape_text(data)
            assert shown == by_expression().encode(), "the expression escapes otherwise"
            return {OURS: f"[{len(shown) - len(data)} more bytes]"}

        contenders = {
            OURS: Timed(lambda: escape_text(data)),
            "copy": Timed(lambda: bytearray(data)),
            "re.sub": Timed(by_expression),
        }
        return Built(contenders, check, len(data))

    return build


def _escape_cases() -> list[Case]:
    targets = {
        "ascii": Target("rate", 2e9),
        "mixed": Target("rate", 1e9),
        "escaped 5%": Target("faster", 10, "re.sub"),
        "controls": Target("faster", 10, "re.sub"),
    }
    return [
        Case("escape", f"{kind} 10 MB", _escape_case(kind), (target,), quick=kind != "controls")
        for kind, target in targets.items()
    ]


# JSON


def _json_case(size: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        data = workloads.json_document(size)
        orjson = peers.library("orjson")

        def ours() -> bytes:
            text = json_scan.pretty(data)[2]
            assert text is not None
            return text

        def standard() -> str:
            return json.dumps(json.loads(data), indent=2, sort_keys=True, ensure_ascii=False)

        def with_orjson() -> bytes:
            options: int = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
            out: bytes = orjson.dumps(orjson.loads(data), option=options)
            return out

        def check() -> Mapping[str, str]:
            text = ours()
            assert text == standard().encode() + b"\n", "json writes another form"
            if orjson is not None:
                assert text == with_orjson() + b"\n", "orjson writes another form"
            return {OURS: f"[{len(text)} bytes]"}

        contenders = {
            OURS: Timed(ours),
            "json": Timed(standard),
            "orjson": Timed(with_orjson) if orjson is not None else None,
            "orjson loads alone": Timed(lambda: orjson.loads(data)) if orjson is not None else None,
        }
        return Built(contenders, check, len(data))

    return build


def _json_cases() -> list[Case]:
    targets = (Target("faster", 10, "json"), Target("at most", 1.5, "orjson"))
    return [
        Case("json", f"{size // 1_000_000} MB", _json_case(size), targets, quick=size == 1_000_000)
        for size in (1_000_000, 3_000_000, 10_000_000)
    ]


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
            "difflib": _timed(by_difflib),
            "cydifflib": _timed(by_cydifflib),
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
            "difflib opcodes": _timed(peers.sequence_opcodes(peers.difflib_matcher(), lines_a, lines_b)),
            "pygit2": _timed(patch),
        }
        return Built(contenders, check, len(a) + len(b))

    return build


def _small_cases() -> list[Case]:
    return [
        Case("small", f"{kind} 2 KB", _small_case(kind, lines), (Target("below", 40e-6),), quick=True)
        for kind, lines in (("code", 80), ("prose", 40), ("json lines", 30))
    ]


CASES: list[Case] = [
    *_line_cases(),
    *_hostile_cases(),
    *_word_cases(),
    *_escape_cases(),
    *_json_cases(),
    *_gestalt_cases(),
    *_small_cases(),
]
"""Every case of this file."""
