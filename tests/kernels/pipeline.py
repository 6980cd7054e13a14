"""The kernels one after another, from two texts to shown rows: what the tests of the last two need."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any, TypeAlias

from reference import hunks, lines
from reference.blocks import Block
from reference.words import MAX_PAIR_CHARS, MAX_PAIR_WORDS
from stratadiff._kernels import escape, gestalt, intern, line_index, myers, word_split
from stratadiff._kernels import hunks as hunks_kernel
from strategies import int32

Ints: TypeAlias = "array[int]"

OPS = (" ", "-", "+", "~")
TAGS = {"equal": 0, "delete": 1, "insert": 2, "replace": 3}


@dataclass
class Shown:
    """What the kernels made of two texts."""

    hunks: Ints
    rows: Ints
    pairs: Ints
    total: int
    text: bytes
    text_bounds: Ints
    spans: Ints
    span_bounds: Ints


@dataclass
class Words:
    """Tokens of pairs and the blocks over them."""

    a_edges: Ints
    a_bounds: Ints
    b_edges: Ints
    b_bounds: Ints
    ops: Ints
    op_bounds: Ints


def flat(parts: list[Block]) -> Ints:
    """Write blocks as the kernels take them."""
    return int32(number for tag, *places in parts for number in (TAGS[tag], *places))


def line_ops(a: bytes, b: bytes, algorithm: str, context: int) -> Ints:
    """Give the reference's edit script, so that what is tested here is the layout alone."""
    a_lines, b_lines = (lines.split_lines(lines.decode(text)) for text in (a, b))
    return flat(hunks.line_blocks(a_lines, b_lines, algorithm, context))


def diff_words(a: bytes, b: bytes, pairs: Ints, algorithm: str, surrogates: bool) -> Words:
    """Split pairs into tokens and diff them."""
    a_edges, a_ids, a_bounds, b_edges, b_ids, b_bounds = word_split.split_pairs(
        a, b, pairs, surrogates, MAX_PAIR_CHARS, MAX_PAIR_WORDS
    )
    diff = gestalt.match_many if algorithm == "gestalt" else myers.walk_many
    ops, op_bounds = diff(a_ids, a_bounds, b_ids, b_bounds)
    return Words(a_edges, a_bounds, b_edges, b_bounds, ops, op_bounds)


def show(
    a: bytes,
    b: bytes,
    ops: Ints,
    algorithm: str,
    context: int,
    max_lines: int,
    *,
    json_mode: bool = False,
    marks: bool = True,
) -> Shown:
    """Lay an edit script out and show its rows; `a` and `b` as the kernels get them in either mode."""
    a_starts, _, a_crlf = line_index.index_lines(a)
    b_starts, _, b_crlf = line_index.index_lines(b)
    a_strip, b_strip = a_crlf > 0, b_crlf > 0
    a_ids, b_ids, _ = intern.intern_lines(a, a_starts, a_strip, b, b_starts, b_strip)
    long = hunks_kernel.long_pairs(ops, a, a_starts, a_strip, b, b_starts, b_strip)
    words = diff_words(a, b, long, algorithm, json_mode)
    flags = hunks_kernel.marked_pairs(
        a,
        words.a_edges,
        words.a_bounds,
        b,
        words.b_edges,
        words.b_bounds,
        words.ops,
        words.op_bounds,
        json_mode,
    )
    found, rows, pairs, total = hunks_kernel.layout(
        ops,
        a,
        a_starts,
        a_strip,
        a_ids,
        b,
        b_starts,
        b_strip,
        b_ids,
        flags,
        context=context,
        max_lines=max_lines,
    )
    words = diff_words(a, b, pairs, algorithm, json_mode)
    text, text_bounds, spans, span_bounds = escape.show_rows(
        a,
        b,
        rows,
        pairs,
        words.a_edges,
        words.a_bounds,
        words.b_edges,
        words.b_bounds,
        words.ops,
        words.op_bounds,
        backslash=not json_mode,
        surrogates=json_mode,
        marks=marks,
    )
    return Shown(found, rows, pairs, total, text, text_bounds, spans, span_bounds)


def items(shown: Shown) -> list[dict[str, Any]]:
    """Read the rows as the document's items, ``~`` ones included."""
    found = []
    for number in range(len(shown.rows) // 6):
        op, i, j = shown.rows[6 * number : 6 * number + 3]
        text = shown.text[shown.text_bounds[number] : shown.text_bounds[number + 1]].decode("utf-8")
        first, last = shown.span_bounds[number : number + 2]
        spans = [[str(shown.spans[2 * at]), str(shown.spans[2 * at + 1])] for at in range(first, last)]
        if op == 3:
            assert spans == []
            found.append({"op": "~", "text": text})
        else:
            found.append(
                {
                    "op": OPS[op],
                    "baseline": None if i == -1 else str(i + 1),
                    "candidate": None if j == -1 else str(j + 1),
                    "text": text,
                    "spans": spans,
                }
            )
    return found


def hunk_members(shown: Shown) -> list[dict[str, Any]]:
    """Read the hunks with their items as the reference gives them, those without a kept item left out."""
    every = items(shown)
    found = []
    for at in range(0, len(shown.hunks), 9):
        i, i_lines, j, j_lines, first, last, n, m, kept = shown.hunks[at : at + 9]
        if first == last:
            continue
        one: dict[str, Any] = {
            "baseline": {"start": str(i), "lines": str(i_lines)},
            "candidate": {"start": str(j), "lines": str(j_lines)},
            "lines": every[first:last],
        }
        if n != -1 and kept & 2:
            one["note"] = (
                f"no line could anchor this block of {n} against {m} lines; "
                "it is shown whole, removed then added"
            )
        found.append(one)
    return found


def reference_hunks(
    a: str, b: str, algorithm: str, context: int, max_lines: int, mode: str
) -> tuple[list[dict[str, Any]], int]:
    """Give the reference's hunks after the cut, and its count of plain lines, notes not counted."""
    diff = hunks.line_diff(a, b, algorithm, context, mode)
    diff.notes = []
    total = len(hunks.plain_lines(diff))
    return hunks.cut(diff, max_lines)["hunks"], total
