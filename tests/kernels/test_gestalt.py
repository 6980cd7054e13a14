"""The matching-block algorithm (textdiff 9.2), against its definition and against difflib."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import blocks, gestalt
from reference.blocks import Block
from stratadiff._kernels import gestalt as kernel
from strategies import (
    bad_int_buffers,
    edited,
    id_pairs,
    in_four_threads,
    int32,
    int_buffers,
    shares_memory,
)

TAGS = ("equal", "delete", "insert", "replace")

pairs = id_pairs()
short_pairs = id_pairs(sizes=(0, 1, 2, 3, 4, 6, 8, 12, 20))


def blocks_of(rows: Sequence[int]) -> list[Block]:
    assert len(rows) % 5 == 0
    return [
        (TAGS[rows[at]], rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4])
        for at in range(0, len(rows), 5)
    ]


def script(a: Sequence[int], b: Sequence[int], drop_popular: bool = True) -> list[Block]:
    return blocks_of(kernel.edit_script(int32(a), int32(b), drop_popular=drop_popular))


def difflib_script(a: Sequence[int], b: Sequence[int], popular: bool = False) -> list[Block]:
    return list(SequenceMatcher(None, a, b, autojunk=popular).get_opcodes())


@given(pairs)
def test_script_is_the_references_and_difflibs(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    found = script(a, b)
    assert found == gestalt.unsplit_script(a, b, drop_popular=True) == difflib_script(a, b)
    assert blocks.apply(found, a, b) == b
    assert script(a, b, drop_popular=False) == found


@st.composite
def popular_pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw two sides around 2,000 lines together: mostly unique lines, a few symbols near popularity."""
    total = draw(st.sampled_from((1998, 1999, 2000, 2001, 2002, 2040)))
    b_size = draw(st.sampled_from((198, 199, 200, 201, 299, 300, 1000, 1001)))
    raw = draw(st.binary(min_size=16, max_size=16))
    b = list(range(10, 10 + b_size))
    # As many of each of four symbols as make it just popular or just not.
    for symbol in range(4):
        count = b_size // 100 + 1 + raw[symbol] % 3 - 1
        start, step = raw[4 + symbol] * b_size // 256, 1 + raw[8 + symbol] % 5
        for number in range(count):
            b[(start + number * step) % b_size] = symbol
    a = edited(b[: 20 + raw[12] * b_size // 256], draw(st.binary(max_size=30)), 4, 0)
    while len(a) < total - b_size:
        a.append(raw[len(a) % 16] % 4 if len(a) % 11 == 0 else 100_000 + len(a))
    return a, b


@given(popular_pairs())
def test_popular_lines(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    # difflib drops popular lines from 200 candidate lines on; the format only above 2,000 lines together.
    found = script(a, b)
    assert found == difflib_script(a, b, popular=len(a) + len(b) > 2000)
    assert script(a, b, drop_popular=False) == difflib_script(a, b)
    assert blocks.apply(found, a, b) == b


@pytest.mark.parametrize("count", [10, 11, 12, 13])
@pytest.mark.parametrize("total", [2000, 2001])
def test_popular_from_which_count_on(count: int, total: int) -> None:
    """With 1,000 candidate lines a line is popular from 12 on, if there are more than 2,000 lines in all."""
    b = [7] * count + list(range(1000, 2000 - count))
    a = list(range(5000, 5000 + total - 1000 - count)) + [7] * count
    assert (len(a) + len(b), len(b)) == (total, 1000)
    found = script(a, b)
    assert found == gestalt.unsplit_script(a, b, drop_popular=True)
    assert any(tag == "equal" for tag, *_ in found) == (count < 12 or total == 2000)


@pytest.mark.parametrize("b_size", [199, 200])
def test_popular_needs_two_hundred_candidate_lines(b_size: int) -> None:
    b = [7] * b_size
    a = [*range(100, 2100), 7]
    found = script(a, b)
    assert found == gestalt.unsplit_script(a, b, drop_popular=True)
    assert any(tag == "equal" for tag, *_ in found) == (b_size == 199)


def test_popular_lines_extend_a_block() -> None:
    b = [7] * 150 + [1] + [7] * 150
    a = [*range(1000, 3000), *[7] * 5, 1, *[7] * 3, 8]
    found = script(a, b)
    assert found == gestalt.unsplit_script(a, b, drop_popular=True) == difflib_script(a, b, popular=True)
    assert ("equal", 2000, 2009, 145, 154) in found


def test_popular_lines_match_from_the_corner() -> None:
    """With no block at all, only forward growth from the region's corner can match popular lines."""
    b = [7] * 300
    a = [7] * 3 + list(range(1000, 3000))
    found = script(a, b)
    assert found == gestalt.unsplit_script(a, b, drop_popular=True) == difflib_script(a, b, popular=True)
    assert found[0] == ("equal", 0, 3, 0, 3)


def test_script_is_not_split() -> None:
    # The lines of both sides are popular, so nothing anchors the block; the split is the caller's.
    b = [*[7, 8] * 150]
    a = [9, *[8, 7] * 149, 8, *range(1000, 2800)]
    found = script(a, b)
    assert found == gestalt.unsplit_script(a, b, drop_popular=True) == difflib_script(a, b, popular=True)


@given(pairs)
def test_ids_are_only_compared(pair: tuple[list[int], list[int]]) -> None:
    """Negative and huge ids are as good as small ones."""
    names = (-(2**31), 2**31 - 1, -1, 0, 2**30, -(2**30), 65536, 1)
    a, b = ([names[number] if number < 8 else -number for number in side] for side in pair)
    assert script(a, b) == script(*pair)


def test_nothing_at_all() -> None:
    assert script([], []) == []
    assert script([], [1, 2]) == [("insert", 0, 0, 0, 2)]
    assert script([1, 2], []) == [("delete", 0, 2, 0, 0)]
    assert script([7], [7]) == [("equal", 0, 1, 0, 1)]
    assert script([7], [8]) == [("replace", 0, 1, 0, 1)]


@pytest.mark.parametrize("size", [62, 63, 64, 65, 66, 127, 128, 129, 200])
def test_sizes_around_a_machine_word(size: int) -> None:
    a = [number * number % 7 for number in range(size)]
    b = [number * number % 5 for number in range(size)]
    for b_size in (0, 1, size - 1, size):
        assert script(a, b[:b_size]) == difflib_script(a, b[:b_size])
        assert script(b[:b_size], a) == difflib_script(b[:b_size], a)


def test_u01_popularity_has_no_say_below_two_thousand_lines() -> None:
    a = [symbol for number in range(70) for symbol in (100, number % 5, 101)]
    b = a[:33] + a[36:]
    for first, second in ((a, b), (b, a)):
        # Not minimal, which is what `myers` is for, but without the silent loss of repeated lines.
        found = script(first, second)
        assert found == difflib_script(first, second)
        popular = difflib_script(first, second, popular=True)
        assert blocks.edit_count(found) == 57 < blocks.edit_count(popular)


def test_u02_two_symbols_in_another_rhythm() -> None:
    a = [number % 2 for number in range(300)]
    b = [number // 2 % 2 for number in range(300)]
    assert script(a, b) == difflib_script(a, b)
    assert script(b, a) == difflib_script(b, a)


def test_deeply_nested_regions() -> None:
    """Every best block leaves the rest on one side of it: no recursion may be as deep as the input."""
    a, b = [], []
    for number in range(5_000):
        a += [number, -2 * number - 1]
        b += [number, -2 * number - 2]
    found = script(a, b)
    assert len(found) == 10_000
    assert blocks.apply(found, a, b) == b
    a.reverse()
    b.reverse()
    assert blocks.apply(script(a, b), a, b) == b


def test_a_million_lines() -> None:
    a = int32(range(1_000_000))
    b = a[:400_000] + int32([-1, -2]) + a[400_001:700_000] + a[700_003:]
    assert blocks_of(kernel.edit_script(a, b)) == [
        ("equal", 0, 400_000, 0, 400_000),
        ("replace", 400_000, 400_001, 400_000, 400_002),
        ("equal", 400_001, 700_000, 400_002, 700_001),
        ("delete", 700_000, 700_003, 700_001, 700_001),
        ("equal", 700_003, 1_000_000, 700_001, 999_998),
    ]


# Many pairs.


def many(sides: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[Block]]:
    a_bounds, b_bounds = [0], [0]
    a_ids: list[int] = []
    b_ids: list[int] = []
    for a, b in sides:
        a_ids += a
        b_ids += b
        a_bounds.append(len(a_ids))
        b_bounds.append(len(b_ids))
    rows, row_bounds = kernel.match_many(int32(a_ids), int32(a_bounds), int32(b_ids), int32(b_bounds))
    assert len(row_bounds) == len(sides) + 1
    assert (row_bounds[0], row_bounds[-1] * 5) == (0, len(rows))
    return [blocks_of(rows[5 * row_bounds[p] : 5 * row_bounds[p + 1]]) for p in range(len(sides))]


@given(st.lists(short_pairs, max_size=4))
def test_many_pairs(sides: list[tuple[list[int], list[int]]]) -> None:
    assert many(sides) == [difflib_script(a, b) for a, b in sides]


def test_many_pairs_are_never_popular() -> None:
    a = [*range(1000, 2900), *[7, 8] * 20]
    b = [*[8, 7, 9] * 30, *range(5000, 5200)]
    assert len(a) + len(b) > 2000
    assert difflib_script(a, b) != difflib_script(a, b, popular=True)
    assert many([(a, b), ([1], [1])]) == [difflib_script(a, b), [("equal", 0, 1, 0, 1)]]


def test_many_of_no_pair() -> None:
    assert many([]) == []
    assert many([([], []), ([], [])]) == [[], []]


def test_many_of_every_kind_of_buffer() -> None:
    a, b, bounds = [1, 2, 3, 3], [2, 3, 4, 3], [0, 3, 4]
    wanted = many([(a[:3], b[:3]), (a[3:], b[3:])])
    for kind in int_buffers(a):
        rows, row_bounds = kernel.match_many(
            int_buffers(a)[kind], int_buffers(bounds)[kind], int_buffers(b)[kind], int_buffers(bounds)[kind]
        )
        parts = [blocks_of(rows[5 * row_bounds[p] : 5 * row_bounds[p + 1]]) for p in range(2)]
        assert parts == wanted, kind
        assert shares_memory(rows)
        assert shares_memory(row_bounds)


@pytest.mark.parametrize(
    "bounds",
    [
        [],
        [0, 5],
        [0, 2**31 - 1],
        [-1, 4],
        [-(2**31), 4],
        [4, 0],
        [0, 3, 2, 4],
        [0, -2, 4],
        [2**31 - 1, -(2**31)],
        [5, 5],
    ],
)
def test_inconsistent_bounds_are_refused(bounds: list[int]) -> None:
    ids = int32([1, 2, 3, 4])
    good = int32([0] * len(bounds))
    with pytest.raises(ValueError):
        kernel.match_many(ids, int32(bounds), ids, good)
    with pytest.raises(ValueError):
        kernel.match_many(ids, good, ids, int32(bounds))


def test_bounds_of_other_length_are_refused() -> None:
    ids = int32([1, 2, 3, 4])
    with pytest.raises(ValueError):
        kernel.match_many(ids, int32([0, 2, 4]), ids, int32([0, 4]))
    with pytest.raises(ValueError):
        kernel.match_many(ids, int32([0, 4]), ids, int32([0, 2, 4]))


# Buffers.


@pytest.mark.parametrize("pair", [([], []), ([], [1]), ([5, -6, 7], [5, 7, 2**31 - 1])])
def test_every_kind_of_buffer(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    for kind, buffer in int_buffers(a).items():
        assert blocks_of(kernel.edit_script(buffer, int_buffers(b)[kind])) == difflib_script(a, b), kind


@pytest.mark.parametrize("kind", bad_int_buffers())
def test_other_buffers_are_refused(kind: str) -> None:
    bad: Any = bad_int_buffers()[kind]
    ids, bounds = int32([1, 2, 3, 4]), int32([0, 4])
    for arguments in ((bad, ids), (ids, bad)):
        with pytest.raises(ValueError):
            kernel.edit_script(*arguments)
    for place in range(4):
        many_arguments: list[Any] = [ids, bounds, ids, bounds]
        many_arguments[place] = bad
        with pytest.raises(ValueError):
            kernel.match_many(*many_arguments)


def test_result_shares_memory_with_numpy() -> None:
    assert shares_memory(kernel.edit_script(int32([1, 2]), int32([2, 1])))
    assert shares_memory(kernel.edit_script(int32([]), int32([])))


def test_threads_get_the_same() -> None:
    a = [number * number % 101 for number in range(1500)]
    b = [number * number % 97 for number in range(1500)]
    wanted = script(a, b)
    assert wanted == difflib_script(a, b, popular=True)
    assert all(result == wanted for result in in_four_threads(lambda: script(a, b)))
