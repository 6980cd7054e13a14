"""Lines as dense ids, equal exactly where the lines are."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import interning, lines
from stratadiff._kernels import intern
from strategies import (
    bad_byte_buffers,
    bad_int_buffers,
    byte_buffers,
    in_four_threads,
    int32,
    int_buffers,
    shares_memory,
    text_pairs,
    translated,
)


def interned(a: bytes, b: bytes, a_strip_cr: bool, b_strip_cr: bool) -> tuple[list[int], list[int], int]:
    a_ids, b_ids, distinct = intern.intern_lines(
        a, int32(lines.index(a)[0]), a_strip_cr, b, int32(lines.index(b)[0]), b_strip_cr
    )
    return a_ids.tolist(), b_ids.tolist(), distinct


def expected(a: bytes, b: bytes, a_strip_cr: bool, b_strip_cr: bool) -> tuple[list[int], list[int], int]:
    return interning.intern(
        interning.contents(a, lines.index(a)[0], a_strip_cr),
        interning.contents(b, lines.index(b)[0], b_strip_cr),
    )


few_lines = translated((b"\n", b"\n", b"\r\n", b"\r", b"a", b"b", b"\x00"), 60)


@given(st.one_of(text_pairs(), st.tuples(few_lines, few_lines)), st.booleans(), st.booleans())
def test_ids_are_the_references(pair: tuple[bytes, bytes], a_strip_cr: bool, b_strip_cr: bool) -> None:
    assert interned(*pair, a_strip_cr, b_strip_cr) == expected(*pair, a_strip_cr, b_strip_cr)


@given(st.lists(st.sampled_from([b"", b"a", b"aa", b"ab", b"ba"]), min_size=1, max_size=80))
def test_ids_are_dense_and_numbered_by_first_appearance(parts: list[bytes]) -> None:
    text = b"\n".join(parts)
    a_ids, b_ids, distinct = interned(text, text, False, False)
    assert a_ids == b_ids
    seen: list[int] = []
    for number in a_ids:
        if number not in seen:
            seen.append(number)
    assert seen == list(range(distinct))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300])
def test_lines_that_differ_in_one_byte(size: int) -> None:
    """Length, every position and trailing zeros count, whatever a hash thinks of them."""
    base = b"x" * size
    variants = [base, base + b"\x00", base + b"\x00\x00"]
    for place in range(size):
        variants += [base[:place] + byte + base[place + 1 :] for byte in (b"y", b"\x00", b"\xf8")]
    text = b"\n".join([*variants, base, b""])
    a_ids, b_ids, distinct = interned(text, text, False, False)
    assert distinct == len(variants)
    assert a_ids == b_ids == [*range(len(variants)), 0]


def test_cr_is_part_of_a_line_unless_stripped() -> None:
    assert interned(b"a\r\nb\r", b"a\nb\n\r", True, False) == ([0, 1], [0, 1, 2], 3)
    assert interned(b"a\r\nb\r", b"a\nb\n\r", False, False) == ([0, 1], [2, 3, 4], 5)
    # Only one CR is removed, and an empty line has none to remove.
    assert interned(b"\r\r\n\r\n\n", b"\r\n", True, False) == ([0, 1, 1], [0], 2)


def test_the_byte_before_a_line_is_not_its_cr() -> None:
    data = b"a\r\n\nb\r\n"
    assert interned(data, b"\n", True, True) == expected(data, b"\n", True, True)
    # A line index may begin later than the buffer does: the CR before it belongs to no line.
    a_ids, _, _ = intern.intern_lines(b"\r\nx\n", int32([1, 2, 4]), True, b"", int32([0, 1]), True)
    assert a_ids.tolist() == [0, 1]


def test_empty_texts_share_their_one_empty_line() -> None:
    assert interned(b"", b"", False, False) == ([0], [0], 1)
    assert interned(b"", b"\n\n", True, True) == ([0], [0, 0], 1)


def test_every_kind_of_buffer() -> None:
    a, b = b"one\ntwo\r\none\n", b"two\r\nthree"
    wanted = expected(a, b, True, True)
    a_starts, b_starts = lines.index(a)[0], lines.index(b)[0]
    for kind, buffer in byte_buffers(a).items():
        result = intern.intern_lines(buffer, int32(a_starts), True, b, int32(b_starts), True)
        assert (result[0].tolist(), result[1].tolist(), result[2]) == wanted, kind
    for kind, buffer in byte_buffers(b).items():
        result = intern.intern_lines(a, int32(a_starts), True, buffer, int32(b_starts), True)
        assert (result[0].tolist(), result[1].tolist(), result[2]) == wanted, kind
    for kind, starts in int_buffers(a_starts).items():
        result = intern.intern_lines(a, starts, True, b, int_buffers(b_starts)[kind], True)
        assert (result[0].tolist(), result[1].tolist(), result[2]) == wanted, kind


@pytest.mark.parametrize("kind", bad_byte_buffers())
def test_other_text_buffers_are_refused(kind: str) -> None:
    buffer = bad_byte_buffers()[kind]
    with pytest.raises(ValueError):
        intern.intern_lines(buffer, int32([0, 1]), False, b"a", int32([0, 2]), False)
    with pytest.raises(ValueError):
        intern.intern_lines(b"a", int32([0, 2]), False, buffer, int32([0, 1]), False)


@pytest.mark.parametrize("kind", bad_int_buffers())
def test_other_start_buffers_are_refused(kind: str) -> None:
    buffer: Any = bad_int_buffers()[kind]
    with pytest.raises(ValueError):
        intern.intern_lines(b"abcdefgh", buffer, False, b"a", int32([0, 2]), False)
    with pytest.raises(ValueError):
        intern.intern_lines(b"a", int32([0, 2]), False, b"abcdefgh", buffer, False)


@pytest.mark.parametrize(
    "starts",
    [
        [],
        [0, 5],  # two past the end
        [0, 2, 5],
        [0, 2**31 - 1],
        [-1, 4],
        [-(2**31), 4],
        [0, 3, 2, 4],
        [4, 0],
        [2, 2],  # a line of length -1
        [0, 0, 4],
        [0, -5, 4],
        [2**31 - 1, -(2**31)],
    ],
)
def test_inconsistent_starts_are_refused(starts: list[int]) -> None:
    with pytest.raises(ValueError):
        intern.intern_lines(b"a\nb", int32(starts), False, b"x", int32([0, 2]), False)
    with pytest.raises(ValueError):
        intern.intern_lines(b"x", int32([0, 2]), True, b"a\nb", int32(starts), True)


@given(st.lists(st.integers(-3, 9), max_size=6), st.booleans())
def test_any_starts_give_ids_or_an_error(starts: list[int], strip_cr: bool) -> None:
    data = b"a\r\nb\n\r"
    ascending = all(first < second for first, second in pairwise(starts))
    if starts and ascending and starts[0] >= 0 and starts[-1] <= len(data) + 1:
        parts = interning.contents(data, starts, strip_cr)
        a_ids, b_ids, distinct = intern.intern_lines(
            data, int32(starts), strip_cr, data, int32(starts), strip_cr
        )
        assert (a_ids.tolist(), b_ids.tolist(), distinct) == interning.intern(parts, parts)
    else:
        with pytest.raises(ValueError):
            intern.intern_lines(data, int32(starts), strip_cr, b"", int32([0, 1]), False)


def test_result_shares_memory_with_numpy() -> None:
    a_ids, b_ids, _ = intern.intern_lines(b"a\nb", int32([0, 2, 4]), False, b"", int32([0, 1]), False)
    assert shares_memory(a_ids)
    assert shares_memory(b_ids)


def many(rows: list[bytes]) -> tuple[bytes, array[int]]:
    data = b"\n".join(rows) + b"\n"
    return data, int32(lines.index(data)[0])


def test_a_million_lines_all_different() -> None:
    data, starts = many([b"%d" % number for number in range(1_000_000)])
    a_ids, b_ids, distinct = intern.intern_lines(data, starts, False, data, starts, False)
    assert distinct == 1_000_000
    assert a_ids == b_ids == int32(range(1_000_000))


def test_a_million_lines_all_the_same() -> None:
    data, starts = many([b"the same long line over and over again"] * 1_000_000)
    a_ids, b_ids, distinct = intern.intern_lines(data, starts, False, data, starts, False)
    assert distinct == 1
    assert a_ids == b_ids == int32([0]) * 1_000_000


def test_threads_get_the_same() -> None:
    a = b"".join(b"line %d\n" % (number % 700) for number in range(3000))
    b = b"".join(b"line %d\n" % (number % 900) for number in range(3000))
    wanted = expected(a, b, False, False)
    assert all(result == wanted for result in in_four_threads(lambda: interned(a, b, False, False)))
