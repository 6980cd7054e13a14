"""From an edit script to hunks, shown rows and their JSON (textdiff 9.1, 10.1, 10.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import pipeline
from reference import escaping, hunks, jsonform, lines, myers, words
from stratadiff._kernels import hunks as kernel
from stratadiff._kernels import intern, line_index
from strategies import (
    bad_byte_buffers,
    bad_int_buffers,
    byte_buffers,
    id_pairs,
    in_four_threads,
    int32,
    int_buffers,
    shares_memory,
    text_pairs,
)

algorithms = st.sampled_from(("myers", "gestalt"))


def without_tildes(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave ``~`` items out, as the document does."""
    return [{**one, "lines": [item for item in one["lines"] if item["op"] != "~"]} for one in members]


def check(a: bytes, b: bytes, algorithm: str, context: int, max_lines: int) -> None:
    """Compare hunks, rows, notes and the count of lines with the reference, and the JSON with both."""
    shown = pipeline.show(a, b, pipeline.line_ops(a, b, algorithm, context), algorithm, context, max_lines)
    wanted, total = pipeline.reference_hunks(
        lines.decode(a), lines.decode(b), algorithm, context, max_lines, escaping.TEXT
    )
    assert shown.total == total
    assert pipeline.hunk_members(shown) == wanted
    # How many plain lines are kept is known without the rows.
    kept = len(shown.rows) // 6 + sum(bits.bit_count() for bits in shown.hunks[8::9])
    assert kept == min(total, max_lines)
    data = kernel.hunks_json(
        shown.hunks, shown.rows, shown.text, shown.text_bounds, shown.spans, shown.span_bounds
    )
    assert data == jsonform.dump(without_tildes(wanted)).encode()


@given(text_pairs(), algorithms, st.integers(0, 5), st.integers(1, 50))
def test_hunks_are_the_references(
    texts: tuple[bytes, bytes], algorithm: str, context: int, max_lines: int
) -> None:
    check(*texts, algorithm, context, max_lines)


@given(id_pairs(sizes=(1, 2, 3, 5, 9, 17, 24)), algorithms, st.integers(0, 4), st.integers(1, 40))
def test_hunks_of_short_lines(
    pair: tuple[list[int], list[int]], algorithm: str, context: int, max_lines: int
) -> None:
    """Many hunks of many shapes, contexts that touch and do not, and every place to cut."""
    a, b = (b"".join(b"line %d\n" % number for number in side) for side in pair)
    check(a, b, algorithm, context, max_lines)


@given(id_pairs(sizes=(2, 3, 5, 9)), st.integers(0, 3), st.integers(1, 30))
def test_blocks_that_nothing_anchors(pair: tuple[list[int], list[int]], context: int, max_lines: int) -> None:
    """With bound 0 the sides of a block may share lines: split where the sizes agree, a note where not."""
    a, b = (b"".join(b"%d\n" % number for number in side) for side in pair)
    a_lines, b_lines = a.decode().split("\n")[:-1] or [""], b.decode().split("\n")[:-1] or [""]
    script = myers.edit_script(a_lines, b_lines, 0)
    shown = pipeline.show(a, b, pipeline.flat(script), "myers", context, max_lines)
    parts = [
        hunks.hunk(group, a_lines, b_lines, "myers", escaping.TEXT) for group in hunks.groups(script, context)
    ]
    diff = hunks.Diff("text", parts)
    assert shown.total == len(hunks.plain_lines(diff))
    assert pipeline.hunk_members(shown) == hunks.cut(diff, max_lines)["hunks"]


@given(text_pairs(), st.integers(0, 3), st.integers(1, 20))
def test_script_may_leave_out_common_ends(texts: tuple[bytes, bytes], context: int, max_lines: int) -> None:
    """All that is common at both ends but the context may be missing from the script."""
    a, b = texts
    a_lines, b_lines = (lines.split_lines(lines.decode(text)) for text in texts)
    script = myers.edit_script(a_lines, b_lines)
    whole = pipeline.show(a, b, pipeline.flat(script), "myers", context, max_lines)
    cut = list(script)
    if cut[0][0] == "equal":
        tag, i1, i2, j1, j2 = cut[0]
        drop = max(0, i2 - i1 - context)
        cut[0] = (tag, i1 + drop, i2, j1 + drop, j2)
    if cut[-1][0] == "equal":
        tag, i1, i2, j1, j2 = cut[-1]
        drop = max(0, i2 - i1 - context)
        cut[-1] = (tag, i1, i2 - drop, j1, j2 - drop)
    cut = [(tag, i1, i2, j1, j2) for tag, i1, i2, j1, j2 in cut if i1 < i2 or j1 < j2]
    assert pipeline.show(a, b, pipeline.flat(cut), "myers", context, max_lines) == whole


@pytest.mark.parametrize("algorithm", ["myers", "gestalt"])
@pytest.mark.parametrize("size", [974, 975, 976, 977, 999, 1000, 1001, 1955, 1956, 1957, 1960, 2000])
@pytest.mark.parametrize("filler", ["x", "é", "."])
def test_marked_line_right_at_the_window(algorithm: str, size: int, filler: str) -> None:
    """A pair has a ``~`` line if its first change with 40 characters before it fits into the window."""
    head = "same words before, "
    for old, new in (
        (head + filler * size, head + filler * size + "y"),
        (head + filler * size, head),
        (head, head + filler * size + " and after"),
        (filler * size, "y" * size),
    ):
        check(f"{old}\n".encode(), f"{new}\n".encode(), algorithm, 3, 50)


def test_long_pairs_are_those_a_word_diff_decides() -> None:
    old = [b"a" * 976, b"same", b"b" * 10, b"c" * 977, b"d" * 3000]
    new = [b"A" * 976, b"same", b"B" * 10, b"C" * 976, b"D"]
    a, b = b"\r\n".join(old), b"\n".join(new)
    a_starts, b_starts = line_index.index_lines(a)[0], line_index.index_lines(b)[0]
    script = int32([3, 0, 1, 0, 1, 0, 1, 2, 1, 2, 3, 2, 5, 2, 5])
    found = kernel.long_pairs(script, a, a_starts, True, b, b_starts, False).tolist()
    pairs = [tuple(found[at : at + 4]) for at in range(0, len(found), 4)]
    assert [(a[i:j], b[k:m]) for i, j, k, m in pairs] == [(old[3], new[3]), (old[4], new[4])]
    # Only pairs of a block with as many lines on both sides.
    uneven = int32([3, 0, 5, 0, 4, 2, 5, 5, 4, 5])
    assert kernel.long_pairs(uneven, a, a_starts, True, b, b_starts, False).tolist() == []


@given(st.integers(0, 40), st.integers(0, 2100), st.integers(0, 30), st.integers(0, 2100), algorithms)
def test_marked_pairs_are_the_references(
    lead: int, removed: int, between: int, added: int, algorithm: str
) -> None:
    old = "s " * lead + "x" * removed + " " + "t " * between + "end"
    new = "s " * lead + "y" * added + " " + "t " * between + "End"
    a, b = old.encode(), new.encode()
    pairs = int32([0, len(a), 0, len(b)])
    found = pipeline.diff_words(a, b, pairs, algorithm, False)
    flags = kernel.marked_pairs(
        a, found.a_edges, found.a_bounds, b, found.b_edges, found.b_bounds, found.ops, found.op_bounds, False
    )
    assert flags.tolist() == [int(words.mark(old, new, algorithm).tilde is not None)]


def test_marked_pairs_without_tokens_are_too_long() -> None:
    a, b = b"a" * 10_001, b"b" * 10_000
    found = pipeline.diff_words(a, b, int32([0, len(a), 0, len(b)]), "myers", False)
    flags = kernel.marked_pairs(
        a, found.a_edges, found.a_bounds, b, found.b_edges, found.b_bounds, found.ops, found.op_bounds, False
    )
    assert flags.tolist() == [0]


def test_a_replaced_block_of_other_sizes_with_a_common_line() -> None:
    a, b = b"k\nx\n1\n2\n", b"k\n3\nx\n4\n5\n6\n"
    shown = pipeline.show(a, b, int32([0, 0, 1, 0, 1, 3, 1, 4, 1, 6]), "myers", 3, 200)
    assert shown.hunks.tolist() == [1, 4, 1, 6, 0, 9, 3, 5, 2]
    assert shown.total == 10
    one = pipeline.hunk_members(shown)[0]
    assert one["note"].startswith("no line could anchor this block of 3 against 5 lines;")
    # Cut right after the note: the note was kept, but no item, so no hunk is left.
    assert (
        pipeline.hunk_members(pipeline.show(a, b, int32([0, 0, 1, 0, 1, 3, 1, 4, 1, 6]), "myers", 3, 1)) == []
    )


def arguments(a: bytes = b"a\nb\n", b: bytes = b"a\nc\n") -> list[Any]:
    """Give good positional arguments of `layout` for two lines of which the second differs."""
    script = int32([0, 0, 1, 0, 1, 3, 1, 2, 1, 2])
    return [
        script,
        a,
        int32([0, 2, 4]),
        False,
        int32([0, 1]),
        b,
        int32([0, 2, 4]),
        False,
        int32([0, 2]),
        int32([]),
    ]


def test_good_arguments_are_good() -> None:
    found, rows, pairs, total = kernel.layout(*arguments(), context=3, max_lines=9)
    assert found.tolist() == [1, 2, 1, 2, 0, 4, -1, -1, 0]
    assert [rows[at] for at in range(0, len(rows), 6)] == [0, 1, 2, 3]
    assert pairs.tolist() == [2, 3, 2, 3]
    assert total == 4
    assert all(shares_memory(part) for part in (found, rows, pairs))


def test_every_kind_of_buffer() -> None:
    wanted = kernel.layout(*arguments(), context=3, max_lines=9)
    for place in range(10):
        good = arguments()
        if place in (3, 7):
            continue
        kinds = byte_buffers(good[place]) if place in (1, 5) else int_buffers(good[place].tolist())
        for kind, buffer in kinds.items():
            given_arguments = arguments()
            given_arguments[place] = buffer
            assert kernel.layout(*given_arguments, context=3, max_lines=9) == wanted, (place, kind)


@pytest.mark.parametrize("place", [0, 1, 2, 4, 5, 6, 8, 9])
def test_other_buffers_are_refused(place: int) -> None:
    for bad in (bad_byte_buffers() if place in (1, 5) else bad_int_buffers()).values():
        given_arguments = arguments()
        given_arguments[place] = bad
        with pytest.raises(ValueError):
            kernel.layout(*given_arguments, context=3, max_lines=9)


BAD_SCRIPTS = [
    [0],
    [0, 0, 1, 0],
    [0, 0, 1, 0, 1, 3],
    [0, 0, 3, 0, 3],
    [3, 0, 2, 0, 3],
    [3, 0, 3, 0, 2],
    [0, -1, 1, -1, 1],
    [3, 1, 0, 0, 1],
    [0, 0, 2, 0, 1],
    [3, 0, 1, 0, 1, 3, 0, 1, 0, 1],
    [4, 0, 1, 0, 1],
    [-1, 0, 1, 0, 1],
    [3, 0, 2**31 - 1, 0, 2**31 - 1],
    [2, -(2**31), -(2**31), 0, 1],
    [3, 2**31 - 1, -(2**31), 0, 1],
]


@pytest.mark.parametrize("script", BAD_SCRIPTS)
def test_scripts_that_fit_no_text_are_refused(script: list[int]) -> None:
    good = arguments()
    with pytest.raises(ValueError):
        kernel.layout(int32(script), *good[1:], context=3, max_lines=9)
    with pytest.raises(ValueError):
        kernel.long_pairs(int32(script), *(good[place] for place in (1, 2, 3, 5, 6, 7)))


@pytest.mark.parametrize(
    "starts", [[], [0], [0, 2], [0, 2, 9], [-1, 2, 4], [0, 4, 2], [0, 0, 4], [0, 2**31 - 1, 4], [2, 2, 2]]
)
def test_starts_that_fit_no_text_are_refused(starts: list[int]) -> None:
    for place in (2, 6):
        bad = arguments()
        bad[place] = int32(starts)
        with pytest.raises(ValueError):
            kernel.layout(*bad, context=3, max_lines=9)
        with pytest.raises(ValueError):
            kernel.long_pairs(*(bad[number] for number in (0, 1, 2, 3, 5, 6, 7)))


def test_ids_and_flags_of_another_length_are_refused() -> None:
    for place, values in ((4, [0]), (4, [0, 1, 2]), (4, []), (8, [0]), (8, [0, 1, 2]), (9, [1])):
        bad = arguments()
        bad[place] = int32(values)
        with pytest.raises(ValueError):
            kernel.layout(*bad, context=3, max_lines=9)
    long = b"a\n" + b"x" * 2000 + b"\n"
    bad = arguments(long, long)
    bad[2] = bad[6] = int32(lines.index(long)[0])
    with pytest.raises(ValueError):
        kernel.layout(*bad, context=3, max_lines=9)


@pytest.mark.parametrize(("context", "max_lines"), [(-1, 9), (-(2**31), 9), (3, -1)])
def test_options_out_of_range_are_refused(context: int, max_lines: int) -> None:
    with pytest.raises(ValueError):
        kernel.layout(*arguments(), context=context, max_lines=max_lines)


def test_huge_options() -> None:
    wanted = kernel.layout(*arguments(), context=3, max_lines=9)
    assert kernel.layout(*arguments(), context=2**31 - 1, max_lines=2**31 - 1) == wanted
    assert kernel.layout(*arguments(), context=2**30, max_lines=2**30) == wanted


def test_json_of_no_hunk() -> None:
    assert kernel.hunks_json(int32([]), int32([]), b"", int32([0]), int32([]), int32([0])) == b"[]"


def test_json_escapes_what_json_must() -> None:
    # Displayed text has no control character, but quotes and backslashes.
    a, b = b'say "no" \\ \x01\n', 'say "yés" \\ 😀\n'.encode()
    shown = pipeline.show(a, b, int32([3, 0, 1, 0, 1]), "myers", 3, 9)
    data = kernel.hunks_json(
        shown.hunks, shown.rows, shown.text, shown.text_bounds, shown.spans, shown.span_bounds
    )
    value = json.loads(data)
    assert [item["text"] for item in value[0]["lines"]] == ['say "no" \\\\ \\u0001', 'say "yés" \\\\ 😀']
    assert data == json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def test_inconsistent_rows_have_no_json() -> None:
    shown = pipeline.show(b"a\nb\n", b"a\nc\n", int32([0, 0, 1, 0, 1, 3, 1, 2, 1, 2]), "myers", 3, 9)
    good = [shown.hunks, shown.rows, shown.text, shown.text_bounds, shown.spans, shown.span_bounds]
    assert len(shown.rows) == 24
    far = 2**31 - 1
    for place, values in (
        (0, shown.hunks[:-1].tolist()),
        (0, [1, 2, 1, 2, 0, 5, -1, -1, 0]),
        (0, [1, 2, 1, 2, 3, 1, -1, -1, 0]),
        (0, [1, 2, 1, 2, -1, 4, -1, -1, 0]),
        (0, [1, 2, 1, 2, 0, far, -1, -1, 0]),
        (1, shown.rows[:-1].tolist()),
        (1, shown.rows[:-6].tolist()),
        (3, []),
        (3, shown.text_bounds[:-1].tolist()),
        (3, [0, 1, 2, 1, len(shown.text)]),
        (3, [0, 1, 2, 3, len(shown.text) + 1]),
        (3, [-1, 1, 2, 3, 3]),
        (3, [0, far, far, far, far]),
        (4, shown.spans[:-1].tolist()),
        (4, []),
        (5, []),
        (5, shown.span_bounds[:-1].tolist()),
        (5, [0, 0, 2, 1, 2]),
        (5, [0, 0, 1, 2, 3]),
        (5, [-1, 0, 1, 2, 2]),
        (5, [0, 0, far, far, far]),
    ):
        bad = list(good)
        bad[place] = int32(values)
        with pytest.raises(ValueError):
            kernel.hunks_json(*bad)
    for place in (0, 1, 3, 4, 5):
        for buffer in bad_int_buffers().values():
            bad = list(good)
            bad[place] = buffer
            with pytest.raises(ValueError):
                kernel.hunks_json(*bad)


def test_u05_a_final_newline_invents_no_line() -> None:
    check(b"x", b"y", "myers", 3, 9)
    check(b"a\nb", b"a\nb\n", "myers", 3, 9)
    check(b"k\nb\nc", b"k\nB\nc\n", "myers", 3, 9)
    check(b"", b"a", "myers", 3, 9)
    check(b"", b"\n\n", "gestalt", 0, 9)


def test_u06_numbers_count_lf_only() -> None:
    check("a\u2028+++ b\n\x0cc\n".encode(), "a\u2028+++ B\n\x0cc\x85d\n".encode(), "myers", 3, 99)


def test_u07_cr_lf_against_lf() -> None:
    check(b"a\r\nb\r\n", b"a\nB\n", "myers", 3, 9)
    check(b"a\r\nb\nc\r", b"a\nb\nc\r", "myers", 1, 9)
    check(b"a\rb\r\nc\r\r\n", b"a\rb\nc\r\n", "gestalt", 1, 9)


def test_a_million_lines() -> None:
    size = 1_000_000
    a = b"".join(b"%d\n" % number for number in range(size))
    b = a.replace(b"\n500000\n", b"\nfive\n").replace(b"\n999999\n", b"\n")
    a_starts, b_starts = line_index.index_lines(a)[0], line_index.index_lines(b)[0]
    a_ids, b_ids, _ = intern.intern_lines(a, a_starts, False, b, b_starts, False)
    script = [
        ("equal", 0, 500_000, 0, 500_000),
        ("replace", 500_000, 500_001, 500_000, 500_001),
        ("equal", 500_001, size - 1, 500_001, size - 1),
        ("delete", size - 1, size, size - 1, size - 1),
    ]
    found, rows, _, total = kernel.layout(
        pipeline.flat(script), a, a_starts, False, a_ids, b, b_starts, False, b_ids, int32([]),
        context=3, max_lines=200,
    )  # fmt: skip
    assert found.tolist() == [
        *(499_998, 7, 499_998, 7, 0, 9, -1, -1, 0),
        *(999_997, 4, 999_997, 3, 9, 13, -1, -1, 1),
    ]
    assert (len(rows), total) == (6 * 13, 14)


def test_all_of_many_lines_changed_and_cut() -> None:
    a = b"".join(b"old %d\n" % number for number in range(100_000))
    b = b"".join(b"new %d\n" % number for number in range(100_000))
    shown = pipeline.show(a, b, int32([3, 0, 100_000, 0, 100_000]), "myers", 3, 200)
    assert (shown.total, len(shown.rows) // 6, len(shown.pairs) // 4) == (300_000, 200, 67)


def test_threads_get_the_same() -> None:
    a = b"".join(b"line %d of some\n" % (number % 700) for number in range(900))
    b = b"".join(b"line %d of many\n" % (number % 90) for number in range(900))
    script = pipeline.line_ops(a[:9000], b[:9000], "myers", 3)
    wanted = pipeline.show(a[:9000], b[:9000], script, "myers", 3, 500)
    results = in_four_threads(lambda: pipeline.show(a[:9000], b[:9000], script, "myers", 3, 500))
    assert all(result == wanted for result in results)
