"""The exact, unique edit script (textdiff 9.3) and its walk over many pairs (9.4)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import blocks, golden, myers
from reference.blocks import Block
from stratadiff._kernels import myers as kernel
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
EXTREMES = (-(2**31), 2**31 - 1, -1, 0, 1, 2**30, -(2**30), 65536)

pairs = id_pairs()
short_pairs = id_pairs(sizes=(0, 1, 2, 3, 4, 6, 8, 12, 20))


def blocks_of(rows: Sequence[int]) -> list[Block]:
    assert len(rows) % 5 == 0
    return [
        (TAGS[rows[at]], rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4])
        for at in range(0, len(rows), 5)
    ]


def script(a: Sequence[int], b: Sequence[int], *options: int) -> list[Block]:
    return blocks_of(kernel.edit_script(int32(a), int32(b), *options))


def assert_well_formed(parts: list[Block], a: Sequence[int], b: Sequence[int]) -> None:
    """Blocks cover everything in order, are what their tag says, and neighbours differ in tag."""
    i = j = 0
    last = ""
    for tag, i1, i2, j1, j2 in parts:
        assert (i1, j1) == (i, j)
        assert tag != last
        if tag == "equal":
            assert list(a[i1:i2]) == list(b[j1:j2])
            assert i2 > i1
        else:
            assert (i2 > i1, j2 > j1) == (tag != "insert", tag != "delete")
        i, j, last = i2, j2, tag
    assert (i, j) == (len(a), len(b))


@pytest.mark.parametrize("kind", ["lines", "words"])
def test_recorded_scripts(kind: str) -> None:
    rows = [row for row in golden.rows("myers-ops.jsonl") if row["kind"] == kind]
    assert len(rows) > 90
    for row in rows:
        if kind == "lines":
            found = script(row["a"], row["b"], row["cap"])
        else:
            found = many([(row["a"], row["b"])])[0]
        assert [list(block) for block in found] == row["ops"], row["id"]


@given(pairs)
def test_script_is_the_references(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    found = script(a, b)
    assert found == myers.edit_script(a, b)
    assert_well_formed(found, a, b)
    assert blocks.apply(found, a, b) == b
    assert blocks.edit_count(found) == myers.distance_table(a, b)[0][0]


@given(short_pairs, st.integers(0, 8))
def test_script_under_a_small_bound(pair: tuple[list[int], list[int]], max_distance: int) -> None:
    a, b = pair
    found = script(a, b, max_distance)
    assert_well_formed(found, a, b)
    assert found == myers.edit_script(a, b, max_distance)


@given(pairs, st.sampled_from((-1, 0, 1)))
def test_script_right_at_the_bound(pair: tuple[list[int], list[int]], beside: int) -> None:
    a, b = pair
    head = myers.common_head(a, b)
    max_distance = max(0, myers.matchable_distance(a[head:], b[head:]) + beside)
    assert script(a, b, max_distance) == myers.edit_script(a, b, max_distance)


@st.composite
def shuffled_sections(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw two sides of repeated lines with unique ones between them, in another order on each side."""
    unique = draw(st.integers(1, 9))
    order = draw(st.permutations(range(unique)))
    fill = draw(st.binary(min_size=4 * unique, max_size=4 * unique))
    a: list[int] = []
    b: list[int] = []
    for place in range(unique):
        section = fill[4 * place : 4 * place + 4]
        a += [1000 + place] + [byte % 3 for byte in section[: section[0] % 5]]
        b += [1000 + order[place]] + [byte % 3 for byte in section[section[1] % 4 :]]
    if draw(st.booleans()):
        b = edited(b, draw(st.binary(max_size=9)), 3, 0)
    return a, b


@given(shuffled_sections(), st.integers(0, 6))
def test_anchors_past_the_bound(pair: tuple[list[int], list[int]], max_distance: int) -> None:
    a, b = pair
    found = script(a, b, max_distance)
    assert_well_formed(found, a, b)
    assert found == myers.edit_script(a, b, max_distance)


@given(short_pairs, st.binary(max_size=6), st.binary(max_size=6), st.integers(0, 3))
def test_common_ends_past_the_bound(
    pair: tuple[list[int], list[int]], head: bytes, tail: bytes, max_distance: int
) -> None:
    a, b = ([*head, *side, *tail] for side in pair)
    assert script(a, b, max_distance) == myers.edit_script(a, b, max_distance)


@given(pairs, st.permutations(EXTREMES), st.integers(0, 9))
def test_ids_are_only_compared(
    pair: tuple[list[int], list[int]], names: list[int], max_distance: int
) -> None:
    """Negative and huge ids are as good as small ones."""
    a, b = pair
    renamed = dict(zip(range(8), names, strict=True))
    a_named = [renamed.get(number, number + 100) for number in a]
    b_named = [renamed.get(number, number + 100) for number in b]
    assert script(a_named, b_named) == script(a, b)
    assert script(a_named, b_named, max_distance) == script(a, b, max_distance)


@given(short_pairs)
def test_sides_swapped_need_as_many_edits(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    assert blocks.edit_count(script(a, b)) == blocks.edit_count(script(b, a))


def test_the_common_tail_has_no_say() -> None:
    """The golden `repeats` example: an edit is drawn the same wherever it stands."""
    x, y, a, empty, f, b = range(6)
    lost_first = [("replace", 0, 2, 0, 1), ("equal", 2, 5, 1, 4)]
    assert script([x, empty, f, empty, b], [y, f, empty, b]) == lost_first
    matched_first = [("equal", 0, 2, 0, 2), ("delete", 2, 4, 2, 2), ("equal", 4, 5, 2, 3)]
    assert script([a, empty, f, empty, b], [a, empty, b]) == matched_first


def test_nothing_at_all() -> None:
    assert script([], []) == []
    assert script([], [1, 2]) == [("insert", 0, 0, 0, 2)]
    assert script([1, 2], []) == [("delete", 0, 2, 0, 0)]
    assert script([7], [7]) == [("equal", 0, 1, 0, 1)]
    assert script([7], [8]) == [("replace", 0, 1, 0, 1)]


@pytest.mark.parametrize("max_distance", [5000, 2**31 - 1])
@pytest.mark.parametrize("size", [62, 63, 64, 65, 66, 127, 128, 129, 200])
def test_sizes_around_a_machine_word(size: int, max_distance: int) -> None:
    a = [number * number % 7 for number in range(size)]
    b = [number * number % 5 for number in range(size)]
    for b_size in (0, 1, size - 1, size):
        assert script(a, b[:b_size], max_distance) == myers.edit_script(a, b[:b_size])
        assert script(b[:b_size], a, max_distance) == myers.edit_script(b[:b_size], a)


def test_just_under_and_over_the_default_bound() -> None:
    # All 2 x 2,500 lines are on both sides, in an order that shares one line only: D' is 4,998.
    a = list(range(2500))
    b = a[::-1]
    assert blocks.edit_count(script(a, b)) == 4998
    assert blocks.edit_count(script(a, b, 4998)) == 4998
    # One more pair of lines and D' is over the bound; the only anchor kept is the smallest one.
    a = list(range(2502))
    b = a[::-1]
    found = script(a, b)
    assert found == [
        ("insert", 0, 0, 0, 2501),
        ("equal", 0, 1, 2501, 2502),
        ("delete", 1, 2502, 2502, 2502),
    ]


def test_distance_counts_only_lines_both_sides_have() -> None:
    # 12,000 edits, D' = 0: exact, whatever the bound.
    a = [number if number % 7 == 0 else -number for number in range(7000)]
    b = [number if number % 7 == 0 else 100_000 + number for number in range(7000)]
    found = script(a, b, 0)
    assert blocks.edit_count(found) == 12_000
    assert sum(i2 - i1 for tag, i1, i2, _, _ in found if tag == "equal") == 1000


def test_u01_repetitive_records() -> None:
    """A tiny edit in repetitive text is a tiny diff, in both directions."""
    a = [symbol for number in range(70) for symbol in (100, number % 5, 101)]
    b = a[:33] + a[36:]
    removed, added = script(a, b), script(b, a)
    assert blocks.edit_count(removed) == blocks.edit_count(added) == 3
    assert [tag for tag, *_ in removed] == ["equal", "delete", "equal"]
    mirror = {"equal": "equal", "delete": "insert"}
    assert added == [(mirror[tag], j1, j2, i1, i2) for tag, i1, i2, j1, j2 in removed]


def test_u02_sixty_thousand_lines_of_two_symbols() -> None:
    a = [number % 2 for number in range(60_000)]
    b = [number // 2 % 2 for number in range(60_000)]
    for first, second in ((a, b), (b, a)):
        found = script(first, second)
        assert_well_formed(found, first, second)
        # Past the bound, without one unique line: head and tail match, the middles are one block but for
        # the lines of a same-size block that happen to be equal.
        head, tail = myers.common_head(first, second), myers.common_head(first[::-1], second[::-1])
        middle = ("replace", head, 60_000 - tail, head, 60_000 - tail)
        parts: list[Block] = [
            ("equal", 0, head, 0, head),
            middle,
            ("equal", 60_000 - tail, 60_000, 60_000 - tail, 60_000),
        ]
        parts = [block for block in parts if block[1] < block[2]]
        assert found == blocks.split_same_size(parts, first, second)


def test_u02_sixty_thousand_lines_with_other_sizes() -> None:
    a = [number % 2 for number in range(60_000)]
    b = [2, *(number // 2 % 2 for number in range(50_000)), 3]
    assert script(a, b) == [("replace", 0, 60_000, 0, 50_002)]


def test_a_million_lines() -> None:
    a = array("i", range(1_000_000))
    b = a[:400_000] + int32([-1, -2]) + a[400_001:700_000] + a[700_003:]
    assert blocks_of(kernel.edit_script(a, b)) == [
        ("equal", 0, 400_000, 0, 400_000),
        ("replace", 400_000, 400_001, 400_000, 400_002),
        ("equal", 400_001, 700_000, 400_002, 700_001),
        ("delete", 700_000, 700_003, 700_001, 700_001),
        ("equal", 700_003, 1_000_000, 700_001, 999_998),
    ]
    assert blocks_of(kernel.edit_script(a, a)) == [("equal", 0, 1_000_000, 0, 1_000_000)]
    other = int32(range(1_000_000, 2_000_000))
    assert blocks_of(kernel.edit_script(a, other)) == [("replace", 0, 1_000_000, 0, 1_000_000)]


def test_a_hundred_thousand_unique_lines_in_another_order() -> None:
    """Past the bound, the anchors' longest increasing run must not cost the square of their number."""
    size = 100_000
    a = list(range(size))
    b = [number * 7919 % size for number in range(size)]
    found = script(a, b)
    assert_well_formed(found, a, b)
    assert blocks.apply(found, a, b) == b


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
    rows, row_bounds = kernel.walk_many(int32(a_ids), int32(a_bounds), int32(b_ids), int32(b_bounds))
    assert len(row_bounds) == len(sides) + 1
    assert (row_bounds[0], row_bounds[-1] * 5) == (0, len(rows))
    return [blocks_of(rows[5 * row_bounds[p] : 5 * row_bounds[p + 1]]) for p in range(len(sides))]


@given(st.lists(short_pairs, max_size=4))
def test_walk_of_many_pairs(sides: list[tuple[list[int], list[int]]]) -> None:
    assert many(sides) == [myers.word_script(a, b) for a, b in sides]


def test_walk_of_many_pairs_has_no_bound() -> None:
    a = [number for number in range(2800) for _ in range(2)]
    b = a[::-1]
    found = many([(a, b), ([1], [1])])
    assert blocks.edit_count(found[0]) == 2 * 5600 - 4
    assert found[1] == [("equal", 0, 1, 0, 1)]


def test_walk_of_no_pair() -> None:
    assert many([]) == []
    assert many([([], []), ([], [])]) == [[], []]


def test_walk_of_every_kind_of_buffer() -> None:
    a, b, bounds = [1, 2, 3, 3], [2, 3, 4, 3], [0, 3, 4]
    wanted = many([(a[:3], b[:3]), (a[3:], b[3:])])
    for kind in int_buffers(a):
        rows, row_bounds = kernel.walk_many(
            int_buffers(a)[kind], int_buffers(bounds)[kind], int_buffers(b)[kind], int_buffers(bounds)[kind]
        )
        parts = [blocks_of(rows[5 * row_bounds[p] : 5 * row_bounds[p + 1]]) for p in range(2)]
        assert parts == wanted, kind
        assert shares_memory(rows)
        assert shares_memory(row_bounds)


INCONSISTENT_BOUNDS = [
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
]


@pytest.mark.parametrize("bounds", INCONSISTENT_BOUNDS)
def test_inconsistent_bounds_are_refused(bounds: list[int]) -> None:
    ids = int32([1, 2, 3, 4])
    good = int32([0] * len(bounds))
    with pytest.raises(ValueError):
        kernel.walk_many(ids, int32(bounds), ids, good)
    with pytest.raises(ValueError):
        kernel.walk_many(ids, good, ids, int32(bounds))


def test_bounds_of_other_length_are_refused() -> None:
    ids = int32([1, 2, 3, 4])
    with pytest.raises(ValueError):
        kernel.walk_many(ids, int32([0, 2, 4]), ids, int32([0, 4]))
    with pytest.raises(ValueError):
        kernel.walk_many(ids, int32([0, 4]), ids, int32([0, 2, 4]))
    with pytest.raises(ValueError):
        kernel.walk_many(ids, int32([0, 4]), ids, int32([]))


# Buffers.


@pytest.mark.parametrize("pair", [([], []), ([], [1]), ([5, -6, 7], [5, 7, 2**31 - 1])])
def test_every_kind_of_buffer(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    for kind, buffer in int_buffers(a).items():
        assert blocks_of(kernel.edit_script(buffer, int_buffers(b)[kind])) == myers.edit_script(a, b), kind


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
            kernel.walk_many(*many_arguments)


@pytest.mark.parametrize("max_distance", [-1, -(2**31)])
def test_negative_bounds_are_refused(max_distance: int) -> None:
    with pytest.raises(ValueError):
        kernel.edit_script(int32([1]), int32([2]), max_distance)


@pytest.mark.parametrize("max_distance", [2**63, -(2**63) - 1])
def test_bounds_no_integer_holds_are_refused(max_distance: int) -> None:
    with pytest.raises((ValueError, OverflowError)):
        kernel.edit_script(int32([1]), int32([2]), max_distance)


def test_result_shares_memory_with_numpy() -> None:
    assert shares_memory(kernel.edit_script(int32([1, 2]), int32([2, 1])))
    assert shares_memory(kernel.edit_script(int32([]), int32([])))


def test_inputs_are_left_alone() -> None:
    a, b = int32([3, 1, 2, 1]), int32([1, 3, 1])
    kernel.edit_script(a, b)
    assert (a.tolist(), b.tolist()) == ([3, 1, 2, 1], [1, 3, 1])


def test_threads_get_the_same() -> None:
    a = [number * number % 101 for number in range(1500)]
    b = [number * number % 97 for number in range(1500)]
    first, over = script(a, b), script(a, b, 100)
    results = in_four_threads(lambda: (script(a, b), script(a, b, 100)))
    assert all(result == (first, over) for result in results)
