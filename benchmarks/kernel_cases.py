"""Cases of the other kernels: word spans, escaping, JSON."""

from __future__ import annotations

import json
import re
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any

import peers
import workloads
from measure import OURS, Built, Case, Target, Timed, timed
from stratadiff._kernels import json_scan, myers
from stratadiff._kernels.escape import escape_text
from stratadiff._kernels.word_split import split_pairs
from stratadiff.core.linediff import EditScript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
            "difflib": timed(over(difflib_words)),
            "cydifflib": timed(over(cydifflib_words)),
            "rapidfuzz": timed(over(peers.rapidfuzz_words)),
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
            notes = {OURS: f"[{len(text)} bytes]"}
            if orjson is not None:
                written = with_orjson()
                assert json.loads(written) == json.loads(text), "orjson writes another value"
                # Floats with small exponents: it spells numbers its own way, we keep the spelling.
                notes["orjson"] = "[same bytes]" if written + b"\n" == text else "[numbers respelled]"
            return notes

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


CASES: list[Case] = [*_word_cases(), *_escape_cases(), *_json_cases()]
"""Every case of this file."""

CONTENDERS: dict[str, tuple[str, ...]] = {
    "words": (OURS, "re.findall alone", "difflib", "cydifflib", "rapidfuzz"),
    "escape": (OURS, "copy", "re.sub"),
    "json": (OURS, "json", "orjson", "orjson loads alone"),
}
"""Who takes part in a group; pytest needs the names before a case is built."""
