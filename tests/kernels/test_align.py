"""Alignment of blocks and turns (levels 3.2, 4.1)."""

from __future__ import annotations

import json
import os
import random
import signal
from array import array
from collections.abc import Sequence
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog, trace_turns
from stratadiff._kernels import align
from strategies import bad_int_buffers, in_four_threads, int32, int_buffers, shares_memory

Turn: TypeAlias = "tuple[frozenset[int], int, int, frozenset[int], int, tuple[tuple[int, int], ...]]"
Side: TypeAlias = "tuple[array[int], ...]"

LONG = os.path.join(os.path.dirname(__file__), "..", "data", "agentlog", "long")


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


def check_blocks(a: Sequence[int], b: Sequence[int], kinds_a: Sequence[int], kinds_b: Sequence[int]) -> None:
    found = align.blocks(int32(a), int32(b), int32(kinds_a), int32(kinds_b))
    assert list(found) == best_path(a, b, kinds_a, kinds_b)


@given(block_ids, block_ids)
def test_blocks(a: list[int], b: list[int]) -> None:
    check_blocks(a, b, [kind_of[x] for x in a], [kind_of[x] for x in b])


@given(st.data())
def test_any_ids_and_kinds(data: st.DataObject) -> None:
    """Kinds need not follow from ids, nor ids be dense or positive."""
    values = st.sampled_from([0, 1, -1, 7, 2**31 - 1, -(2**31)])
    n, m = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    columns = [data.draw(st.lists(values, min_size=size, max_size=size)) for size in (n, m, n, m)]
    check_blocks(columns[0], columns[1], columns[2], columns[3])


@pytest.mark.parametrize(("n", "m"), [(1, 70), (70, 1), (33, 34), (64, 65), (50, 7)])
def test_more_blocks(n: int, m: int) -> None:
    chance = random.Random(n)
    for alphabet in (2, 5, 60):
        a = [chance.randrange(alphabet) for _ in range(n)]
        b = [chance.randrange(alphabet) for _ in range(m)]
        check_blocks(a, b, [x % 3 for x in a], [x % 3 for x in b])


@pytest.mark.parametrize(("n", "m"), [(0, 6), (6, 0), (6, 6), (9, 4), (4, 9)])
def test_blocks_with_nothing_in_common(n: int, m: int) -> None:
    """Blocks of other kinds are never paired: two gaps are cheaper; removals come first."""
    a, b = list(range(n)), list(range(100, 100 + m))
    gaps = [[i, -1] for i in range(n)] + [[-1, j] for j in range(m)]
    assert list(align.blocks(int32(a), int32(b), int32(a), int32(b))) == [x for gap in gaps for x in gap]
    # Of one kind, all that can be are paired.
    kind_a, kind_b = int32([0] * n), int32([0] * m)
    found = align.blocks(int32(a), int32(b), kind_a, kind_b)
    pairs = [(i, j) for i, j in zip(found[::2], found[1::2], strict=True) if i >= 0 and j >= 0]
    assert len(pairs) == min(n, m)
    check_blocks(a, b, kind_a, kind_b)


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
    tools, bounds, calls, texts, shingles, shingle_bounds, stops = ([], [0], [], [], [], [0], [])
    names, inputs, argument_bounds = [], [], [0]
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
    path = trace_turns.steps(lambda i, j: cost(a[i], b[j]), len(a), len(b))
    return path, [cost(a[i], b[j]) for i, j in trace_turns.pairs_along(path)]


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
    check_turns(a, b)


def check_turns(a: Sequence[Turn], b: Sequence[Turn]) -> None:
    path, costs = align.turns(side_of(a), side_of(b))
    assert (path.decode(), list(costs)) == expected_path(a, b)


def random_turns(seed: int, count: int, alphabet: int = 400) -> list[Turn]:
    chance = random.Random(seed)
    made: list[Turn] = []
    for number in range(count):
        tools = frozenset(chance.choices(range(5), k=chance.choice([0, 0, 1, 2])))
        shingles = frozenset(min(chance.randrange(alphabet), chance.randrange(alphabet)) for _ in range(25))
        made.append((tools, len(tools), number + seed * 10**6, shingles, chance.randrange(3), ()))
    return made


@pytest.mark.parametrize(
    ("n", "m"), [(1, 260), (300, 1), (240, 250), (250, 200), (20, 63), (20, 64), (20, 65), (9, 129), (9, 192)]
)
@pytest.mark.parametrize("alphabet", [30, 400, 6000])
def test_turns_with_lists_and_bit_sets(n: int, m: int, alphabet: int) -> None:
    # Enough turns that some shingles are frequent and some are not.
    a = random_turns(1, n, alphabet)
    b = a[: n // 3] + random_turns(2, m, alphabet) + a[n // 2 :]
    check_turns(a, b[:m])


@pytest.mark.parametrize("size", [7, 8, 9, 255, 256, 257, 700, 70_000])
def test_turns_that_share_many_shingles(size: int) -> None:
    """Counts of one, two and three bytes."""
    common = frozenset(range(size))
    nothing: frozenset[int] = frozenset()
    a: list[Turn] = [(nothing, 0, k, common | {size + k, size + 9}, 0, ()) for k in range(4)]
    b: list[Turn] = [(nothing, 0, 10 + k, (common - {k}) | {size + k + 1}, 0, ()) for k in range(5)]
    check_turns(a, b)
    check_turns(b, a)


def test_turns_of_many_tools() -> None:
    """Sets of tools of very different sizes; differing arguments near the end of long lists."""
    few, many = frozenset([3, 77]), frozenset(range(0, 300, 3))
    other = frozenset([*range(1, 300, 3), 77, 78])
    arguments = tuple((k, 0) for k in range(100))
    nothing: frozenset[int] = frozenset()
    a: list[Turn] = [
        (few, 2, 0, nothing, 0, ()),
        (many, 100, 1, nothing, 0, arguments),
        (nothing, 0, 1, nothing, 0, ()),
        (other, 500, 2, nothing, 0, ()),
    ]
    b: list[Turn] = [
        (many, 100, 1, nothing, 0, (*arguments[:-1], (99, 1))),
        (many, 100, 1, nothing, 0, arguments),
        (few, 3, 0, nothing, 1, ()),
        (frozenset([301]), 1, 2, nothing, 0, ()),
    ]
    check_turns(a, b)
    check_turns(b, a)
    for turn_a in a:
        for turn_b in b:
            check_turns([turn_a], [turn_b])


def test_argument_lists_that_only_overlap() -> None:
    """Names without a counterpart make no difference; their sets of tools are equal all the same."""
    tools = frozenset([1])
    nothing: frozenset[int] = frozenset()
    lists: list[tuple[tuple[int, int], ...]] = [
        (),
        ((1, 5),),
        ((1, 6),),
        ((0, 1), (1, 5)),
        ((1, 5), (2, 1)),
        ((0, 1), (2, 1)),
    ]
    turns: list[Turn] = [(tools, 1, 0, nothing, 0, arguments) for arguments in lists]
    for a in turns:
        for b in turns:
            check_turns([a], [b])
    check_turns(turns, turns[::-1])


def test_ids_need_not_be_dense() -> None:
    """As for a session out of a long trace: few of all ids, and those anywhere."""
    a, b = random_turns(12, 30, 60), random_turns(13, 40, 60)
    b[10:10] = a[5:20]
    chance = random.Random(5)
    new = dict(zip(range(60), sorted(chance.sample(range(2**31 - 1), 60)), strict=True))
    spread = [[(*t[:3], frozenset(new[x] for x in t[3]), *t[4:]) for t in side] for side in (a, b)]
    expected = align.turns(side_of(a), side_of(b))
    assert align.turns(side_of(spread[0]), side_of(spread[1])) == expected
    assert align.turns(side_of(spread[0]), side_of(b))[0] != b""  # and nothing outside is touched


def test_bounds_may_leave_out_both_ends() -> None:
    a = side_of(random_turns(14, 9))
    b = side_of(random_turns(15, 12))
    wider = []
    for tools, tool_bounds, q, t, ids, id_bounds, g, names, values, bounds in (a, b):
        wider.append(
            (
                int32([9, *tools, 0, -1]),
                int32(bound + 1 for bound in tool_bounds),
                *(q, t),
                int32([7, 7, *ids, 2**30]),
                int32(bound + 2 for bound in id_bounds),
                g,
                int32([1, *names, 5]),
                int32([1, *values, 5]),
                int32(bound + 1 for bound in bounds),
            )
        )
    assert align.turns(wider[0], wider[1]) == align.turns(a, b)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "shift"),
    [
        (1000, 1000, 130),
        (1001, 1001, 130),
        (1001, 990, 95),
        (990, 1001, 130),
        (1100, 1020, 130),
        (40, 1002, 5),
        (1001, 3, 1),
        (1, 1001, 0),
    ],
)
def test_turns_around_the_band(n: int, m: int, shift: int) -> None:
    """Shifted within the band of 100 and past it, which changes the path from 1,001 turns on."""
    a = random_turns(3, n, 60)
    b = (random_turns(4, shift, 60) + a)[:m]
    check_turns(a, b)


def test_band_of_very_long_traces() -> None:
    """Past 10,201 turns the band is wider than 100: a shift by 102 is found, one by 103 is not."""
    nothing: frozenset[int] = frozenset()
    a: list[Turn] = [(frozenset([k]), 1, k, nothing, 0, ()) for k in range(10_500)]
    for shift, inside in ((102, True), (103, False)):
        new: list[Turn] = [(frozenset([20_000 + k]), 1, 20_000 + k, nothing, 0, ()) for k in range(shift)]
        path, costs = align.turns(side_of(a), side_of([*new, *a[:-shift]]))
        assert (path == b"I" * shift + b"A" * (10_500 - shift) + b"D" * shift) == inside
        assert (set(costs) == {0.0}) == inside


def responses(path: str) -> list[dict[str, Any]]:
    with open(path, "rb") as file:
        return agentlog.turns(agentlog.read(file.read())[0])


def test_golden_pair_past_the_band() -> None:
    baseline = [trace_turns.Turn(p) for p in responses(os.path.join(LONG, "long-shifted.baseline.agentlog"))]
    candidate = [
        trace_turns.Turn(p) for p in responses(os.path.join(LONG, "long-shifted.candidate.agentlog"))
    ]
    ids: dict[Any, int] = {}

    def number(value: Any) -> int:
        return ids.setdefault(value, len(ids))

    def seen(turn: trace_turns.Turn) -> Turn:
        return (
            frozenset(number(("tool", tool)) for tool in turn.tools),
            turn.calls,
            number(("text", turn.text)),
            frozenset(number(shingle) for shingle in turn.shingles),
            number(("stop", turn.stop)),
            # Nothing in these traces is equal under two spellings.
            tuple(
                (number(("name", name)), number(("input", json.dumps(value, sort_keys=True))))
                for name, value in turn.inputs.items()
            ),
        )

    path, costs = align.turns(
        side_of([seen(turn) for turn in baseline]), side_of([seen(turn) for turn in candidate])
    )
    with open(os.path.join(LONG, "long-shifted.expect.json"), encoding="utf-8") as file:
        runs = json.load(file)["path_runs"]
    assert path.decode() == "".join({"M": "A"}.get(step, step) * length for step, length in runs)
    pairs = trace_turns.pairs_along(path.decode())
    assert list(costs) == [trace_turns.cost(baseline[i], candidate[j]) for i, j in pairs]


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
        (*good[:5], int32([-1, 0, 0, 1]), *good[6:]),
        (*good[:5], int32([0, 5, 4, 6]), *good[6:]),
        (*good[:4], good[4][::-1], *good[5:]),  # no longer ascending
        (int32([1, 1]), int32([0, 2, 2, 2]), *good[2:]),
        (*good[:7], int32([2, 1]), int32([0, 0]), int32([0, 0, 2, 2])),
        5,
    ]
    for side in bad_sides:
        with pytest.raises((TypeError, ValueError)):
            align.turns(good, side)
        with pytest.raises((TypeError, ValueError)):
            align.turns(side, good)


def test_results_and_buffers() -> None:
    a, b = side_of(random_turns(16, 6)), side_of(random_turns(17, 7))
    path, costs = align.turns(a, b)
    assert isinstance(path, bytes)
    assert np.shares_memory(np.asarray(costs), costs)
    assert shares_memory(align.blocks(a[2], b[2], a[3], b[3]))
    for kind in int_buffers([1]):
        others = [[int_buffers(list(column))[kind] for column in side] for side in (a, b)]
        assert align.turns(others[0], others[1]) == (path, costs), kind


def test_threads() -> None:
    a, b = side_of(random_turns(10, 90)), side_of(random_turns(11, 80))
    expected = align.turns(a, b)
    assert all(result == expected for result in in_four_threads(lambda: align.turns(a, b)))


class AlarmError(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals here")
@pytest.mark.parametrize("what", ["blocks", "turns"])
def test_long_runs_can_be_interrupted(what: str) -> None:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise AlarmError

    size = 16_000
    a, b = int32(range(size)), int32(range(size, 2 * size))
    nothing: frozenset[int] = frozenset()
    turns: list[Turn] = [(frozenset([k]), 1, k, nothing, 0, ()) for k in range(12_000)]
    sides = side_of(turns[:4000]), side_of(turns[4000:])
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(AlarmError):
            align.blocks(a, b, a, b) if what == "blocks" else align.turns(*sides)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
