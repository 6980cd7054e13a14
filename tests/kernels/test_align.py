"""Alignment of blocks and turns (levels 3.2, 4.1)."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_turns
from stratadiff._kernels import align
from strategies import bad_int_buffers, in_four_threads, int32, int_buffers

Turn: TypeAlias = "tuple[frozenset[int], int, int, frozenset[int], int, tuple[tuple[int, int], ...]]"
Side: TypeAlias = "tuple[array[int], ...]"


# Blocks


def best_path(
    a: Sequence[int], b: Sequence[int], kinds_a: Sequence[int], kinds_b: Sequence[int]
) -> list[int]:
    """Fill the whole table as the format says, without trimming anything."""
    n, m = len(a), len(b)
    table = [[float(i + j) if i == 0 or j == 0 else 0.0 for j in range(m + 1)] for i in range(n + 1)]
    step = [["I" if i == 0 else "D" for _ in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0.0 if a[i - 1] == b[j - 1] else 0.5 if kinds_a[i - 1] == kinds_b[j - 1] else 2.5
            pair, insert, drop = table[i - 1][j - 1] + cost, table[i][j - 1] + 1, table[i - 1][j] + 1
            table[i][j] = least = min(pair, insert, drop)
            step[i][j] = "A" if pair == least else "I" if insert == least else "D"
    found: list[int] = []
    i, j = n, m
    while i or j:
        what = step[i][j]
        i -= what != "I"
        j -= what != "D"
        found[:0] = [i if what != "I" else -1, j if what != "D" else -1]
    return found


kind_of = [0, 0, 0, 1, 1, 2, 3]
block_ids = st.lists(st.integers(0, 6), max_size=14)


@given(block_ids, block_ids)
def test_blocks(a: list[int], b: list[int]) -> None:
    kinds_a, kinds_b = [kind_of[x] for x in a], [kind_of[x] for x in b]
    found = align.blocks(int32(a), int32(b), int32(kinds_a), int32(kinds_b))
    assert list(found) == best_path(a, b, kinds_a, kinds_b)


def test_blocks_on_the_edges() -> None:
    nothing, one = int32([]), int32([5])
    assert list(align.blocks(nothing, nothing, nothing, nothing)) == []
    assert list(align.blocks(one, nothing, one, nothing)) == [0, -1]
    assert list(align.blocks(nothing, one, nothing, one)) == [-1, 0]
    many = int32(range(30_000))
    assert list(align.blocks(many, many, many, many))[-2:] == [29_999, 29_999]


def test_one_of_twenty_dropped() -> None:
    a = list(range(20))
    b = a[:10] + a[11:]
    found = list(align.blocks(int32(a), int32(b), int32([0] * 20), int32([0] * 19)))
    pairs = list(zip(found[::2], found[1::2], strict=True))
    assert [pair for pair in pairs if -1 in pair] == [(10, -1)]


def test_too_many_blocks() -> None:
    a, b = int32(range(40)), int32(range(100, 130))
    with pytest.raises(OverflowError, match="40 by 30 blocks are more than the 1199 cells"):
        align.blocks(a, b, a, b, 1199)
    assert len(align.blocks(a, b, a, b, 1200)) == 2 * 70


def test_block_buffers() -> None:
    a = [1, 2, 3, 2]
    expected = align.blocks(int32(a), int32([2, 3]), int32(a), int32([2, 3]))
    for buffer in int_buffers(a).values():
        assert align.blocks(buffer, int32([2, 3]), buffer, int32([2, 3])) == expected
    for bad in bad_int_buffers().values():
        with pytest.raises((TypeError, ValueError)):
            align.blocks(int32(a), int32(a), int32(a), bad)
    with pytest.raises(ValueError, match="an id and a kind"):
        align.blocks(int32(a), int32(a), int32(a), int32([1]))


# Turns


def side_of(turns: Sequence[Turn]) -> Side:
    tools, bounds, calls, texts, shingles, shingle_bounds, stops = ([], [0], [], [], [], [0], [])  # type: ignore[var-annotated]
    names, inputs, argument_bounds = [], [], [0]  # type: ignore[var-annotated]
    for own_tools, q, text, own_shingles, stop, arguments in turns:
        tools += sorted(own_tools)
        bounds.append(len(tools))
        calls.append(q)
        texts.append(text)
        shingles += sorted(own_shingles)
        shingle_bounds.append(len(shingles))
        stops.append(stop)
        names += [name for name, _ in sorted(arguments)]
        inputs += [value for _, value in sorted(arguments)]
        argument_bounds.append(len(names))
    columns = (tools, bounds, calls, texts, shingles, shingle_bounds, stops, names, inputs, argument_bounds)
    return tuple(int32(column) for column in columns)


def jaccard(x: frozenset[int], y: frozenset[int]) -> float:
    return len(x & y) / len(x | y) if x or y else 1.0


def cost(a: Turn, b: Turn) -> float:
    counts = 0.0 if a[1] == b[1] else abs(a[1] - b[1]) / max(a[1], b[1])
    alike = 1.0 if a[2] == b[2] else jaccard(a[3], b[3])
    stops = 1.0 if a[4] != b[4] else 0.0
    differ = any(dict(b[5]).get(name, value) != value for name, value in a[5])
    arguments = 1.0 if a[0] and a[0] == b[0] and differ else 0.0
    return 0.40 * max(1 - jaccard(a[0], b[0]), counts) + 0.25 * (1 - alike) + 0.15 * stops + 0.20 * arguments


def expected_path(a: Sequence[Turn], b: Sequence[Turn]) -> tuple[str, list[float]]:
    costs = [[cost(x, y) for y in b] for x in a]
    path = trace_turns.path_from_costs(costs, len(a), len(b))
    return path, [costs[i][j] for i, j in trace_turns.pairs_along(path)]


few = st.frozensets(st.integers(0, 4), max_size=4)
turn = st.tuples(
    few,
    st.integers(0, 3),
    st.integers(0, 5),
    st.frozensets(st.integers(0, 12), max_size=9),
    st.integers(0, 2),
    st.dictionaries(st.integers(0, 3), st.integers(0, 1), max_size=3).map(lambda d: tuple(d.items())),
)


def sensible(turns: list[Turn]) -> list[Turn]:
    """Give turns of equal texts equal shingles, as they have."""
    shingles: dict[int, frozenset[int]] = {}
    return [(*t[:3], shingles.setdefault(t[2], t[3]), *t[4:]) for t in turns]


@given(st.lists(turn, max_size=9), st.lists(turn, max_size=9), st.lists(st.integers(0, 8), max_size=9))
def test_turns(a: list[Turn], b: list[Turn], taken: list[int]) -> None:
    both = sensible(a + b)
    a, b = both[: len(a)], both[len(a) :] + [both[k % len(both)] for k in taken if both]
    path, costs = align.turns(side_of(a), side_of(b))
    expected, expected_costs = expected_path(a, b)
    assert path.decode() == expected
    assert list(costs) == expected_costs


def random_turns(seed: int, count: int, alphabet: int = 400) -> list[Turn]:
    chance = random.Random(seed)
    made: list[Turn] = []
    for number in range(count):
        tools = frozenset(chance.choices(range(5), k=chance.choice([0, 0, 1, 2])))
        shingles = frozenset(min(chance.randrange(alphabet), chance.randrange(alphabet)) for _ in range(25))
        made.append((tools, len(tools), number + seed * 10**6, shingles, chance.randrange(3), ()))
    return made


@pytest.mark.parametrize(("n", "m"), [(1, 260), (300, 1), (240, 250), (250, 200)])
def test_turns_with_lists_and_bits(n: int, m: int) -> None:
    # Enough turns that some shingles are frequent and some are not.
    a = random_turns(1, n)
    b = a[: n // 3] + random_turns(2, m) + a[n // 2 :]
    path, costs = align.turns(side_of(a), side_of(b[:m]))
    assert (path.decode(), list(costs)) == expected_path(a, b[:m])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(1000, 998), (1001, 990), (40, 1002), (1001, 3), (1100, 1020)])
def test_turns_around_the_band(n: int, m: int) -> None:
    a = random_turns(3, n, 60)
    b = (random_turns(4, 130, 60) + a)[:m]
    path, costs = align.turns(side_of(a), side_of(b))
    assert (path.decode(), list(costs)) == expected_path(a, b)


def test_no_turns_on_a_side() -> None:
    some = side_of(random_turns(5, 3))
    assert align.turns(side_of([]), side_of([])) == (b"", array("d"))
    assert align.turns(some, side_of([])) == (b"DDD", array("d"))
    assert align.turns(side_of([]), some) == (b"III", array("d"))


def test_equal_traces_cost_nothing() -> None:
    turns = random_turns(6, 1500)
    path, costs = align.turns(side_of(turns), side_of(turns))
    assert path == b"A" * 1500
    assert set(costs) == {0.0}


def test_too_many_turns() -> None:
    a, b = side_of(random_turns(7, 40)), side_of(random_turns(8, 30))
    with pytest.raises(OverflowError, match="40 by 30 turns are more than the 1199 cells"):
        align.turns(a, b, 1199)
    align.turns(a, b, 1200)


def test_bad_sides() -> None:
    good = side_of(random_turns(9, 3))
    for place in range(10):
        for bad in bad_int_buffers().values():
            with pytest.raises((TypeError, ValueError)):
                align.turns(good, (*good[:place], bad, *good[place + 1 :]))
    bad_sides: list[Any] = [
        good[:9],
        (*good[:6], int32([1]), *good[7:]),
        (*good[:1], int32([0, 1, 2]), *good[2:]),
        (*good[:5], int32([0, 1, 2, 10**6]), *good[6:]),
        (*good[:4], int32([-1] * len(good[4])), *good[5:]),
        (*good[:2], int32([-1, 0, 0]), *good[3:]),
        (*good[:8], int32([1]), *good[9:]),
    ]
    for side in bad_sides:
        with pytest.raises(ValueError):
            align.turns(good, side)
        with pytest.raises(ValueError):
            align.turns(side, good)


def test_threads() -> None:
    a, b = side_of(random_turns(10, 90)), side_of(random_turns(11, 80))
    expected = align.turns(a, b)
    assert all(result == expected for result in in_four_threads(lambda: align.turns(a, b)))
