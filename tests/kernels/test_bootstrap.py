"""Paired resampling: the doubles of the definition, however the work is split (levels §1.6, §8)."""

from __future__ import annotations

import json
import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_bootstrap
from stratadiff._kernels import bootstrap, quantiles
from strategies import bad_wide_buffers, doubles, in_four_threads, shares_memory, wide_buffers

DATA = Path(__file__).parent.parent / "data" / "agentlog" / "bootstrap.jsonl"
CASES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
KINDS = {"median": b"m", "mean": b"a"}
Column = list[float]
Columns = list[tuple[Column, Column]]


def resampled(columns: Columns, kinds: bytes, seed: int, first: int, last: int) -> list[Column]:
    """List the kernel's results of every pair of columns."""
    pairs = [(doubles(baseline), doubles(candidate)) for baseline, candidate in columns]
    found = bootstrap.resample(seed, pairs, kinds, first, last)
    assert len(found) == (last - first) * len(columns)
    return [found[at :: len(columns)].tolist() for at in range(len(columns))]


def expected(columns: Columns, kinds: bytes, seed: int, first: int, last: int) -> list[Column]:
    """List what the definition gives, a resample at a time."""
    size = len(columns[0][0])
    drawn = [[trace_bootstrap.index(seed, size, r, k) for k in range(size)] for r in range(first, last)]
    found = []
    for (baseline, candidate), kind in zip(columns, kinds, strict=True):
        take = trace_bootstrap.median if kind == ord("m") else trace_bootstrap.mean
        found.append([take([candidate[i] for i in ix]) - take([baseline[i] for i in ix]) for ix in drawn])
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{case['n']}-{case['statistic']}" for case in CASES])
def test_recorded_intervals(case: dict[str, Any]) -> None:
    columns = [(doubles(case["baseline"]), doubles(case["candidate"]))]
    results = bootstrap.resample(case["seed"], columns, KINDS[case["statistic"]], 0, 1000)
    assert quantiles.interval(results) == (case["ci95_low"], case["ci95_high"])


@pytest.mark.parametrize("case", [case for case in CASES if case["n"] <= len(case["first_indices"])])
def test_recorded_indices(case: dict[str, Any]) -> None:
    """Means of columns that are 1 at one pair each tell how often each pair was drawn."""
    size = case["n"]
    counts = [case["first_indices"][:size].count(pair) for pair in range(size)]
    columns = [([0.0] * size, [float(pair == at) for pair in range(size)]) for at in range(size)]
    found = resampled(columns, b"a" * size, case["seed"], 0, 1)
    assert [row[0] for row in found] == [count / size for count in counts]


SIZES = (1, 2, 3, 4, 5, 6, 9, 12, 24, 25, 26, 27, 31, 40, 63, 64, 65, 70)
seeds = st.one_of(
    st.just(42), st.integers(-3, 3), st.integers(2**64 - 2, 2**64 + 2), st.integers(-(2**70), 2**70)
)


def column_of(size: int, kind: int, raw: bytes) -> Column:
    """Make a column of few values, many, tied in the middle, constant, spread wide, huge, or infinite."""
    values = [raw[k % len(raw)] * 31 + k * raw[0] for k in range(size)]
    match kind:
        case 0:
            return [float(value % 3) for value in values]
        case 1:
            return [0.1 * (value % 251) - 9.0 for value in values]
        case 2:
            return [0.5 if value % 5 < 3 else value * 1e-3 for value in values]
        case 3:
            return [0.3] * size
        case 4:
            return [(-1.0) ** value * 10.0 ** (value % 600 - 300) for value in values]
        case 5:
            return [1.7e308 if value % 3 else -1.7e308 for value in values]
        case _:
            return [math.inf if value % 3 == 0 else float(value) for value in values]


@st.composite
def column_sets(draw: st.DrawFn) -> tuple[Columns, bytes]:
    size = draw(st.sampled_from(SIZES))
    kinds = draw(st.sampled_from((b"m", b"a", b"mm", b"ma", b"mam")))
    columns = []
    for kind in kinds:
        shapes = st.just(-1) if kind == ord("a") else st.integers(0, 6)
        sides = []
        for _ in range(2):
            shape, raw = draw(shapes), draw(st.binary(min_size=1, max_size=12))
            if shape < 0:
                sides.append([float(value > 1.0) for value in column_of(size, 0, raw)])
            else:
                sides.append(column_of(size, shape, raw))
        columns.append((sides[0], sides[draw(st.integers(0, 3)) > 0]))
    return columns, kinds


@given(column_sets(), seeds, st.sampled_from((0, 0, 1, 999, 2**40)), st.integers(0, 9))
def test_results_are_the_definitions(
    chosen: tuple[Columns, bytes], seed: int, first: int, count: int
) -> None:
    columns, kinds = chosen
    found = resampled(columns, kinds, seed, first, first + count)
    # Infinite medians on both sides leave NaN, which equals itself here.
    np.testing.assert_array_equal(found, expected(columns, kinds, seed, first, first + count))


@pytest.mark.parametrize("size", [100, 255, 256, 257, 640, 1001])
def test_many_resamples(size: int) -> None:
    columns = [
        ([(k * 7919) % 1009 / 7.0 for k in range(size)], [(k * 104729) % 1013 / 7.0 for k in range(size)]),
        ([1.0] * size, [1.0 if k % 10 else (k * 31 % 97) / 97 for k in range(size)]),
        ([float(k % 3 == 0) for k in range(size)], [float(k % 2 == 0) for k in range(size)]),
    ]
    count = 60_000 // size
    assert resampled(columns, b"mma", 7, 0, count) == expected(columns, b"mma", 7, 0, count)


@pytest.mark.parametrize(
    ("size", "number"),
    [
        (65, 2766595),  # a middle below everything sorted
        (65, 2214320),  # and above
        (64, 9818141),
        (64, 6932795),
        (100, 721593),
        (100, 1789315),
        (100, 8776671),  # the first of the two middle values is the last sorted one
    ],
)
def test_a_median_far_from_the_middle(size: int, number: int) -> None:
    columns = [
        ([0.0] * size, [float(k) for k in range(size)]),
        ([float(-k) for k in range(size)], [1.0] * size),
    ]
    columns.append((columns[0][1][::-1], [float(k // 5) for k in range(size)]))
    wanted = expected(columns, b"mmm", 42, number, number + 1)
    assert abs(wanted[0][0] - (size - 1) / 2) > 2 * math.sqrt(size)
    assert resampled(columns, b"mmm", 42, number, number + 1) == wanted


def test_any_split_of_a_range() -> None:
    columns = [([k * 0.37 % 5 for k in range(90)], [k * 0.73 % 5 for k in range(90)])]
    whole = resampled(columns, b"m", 42, 0, 100)[0]
    for step in (1, 7, 33, 99):
        parts = [resampled(columns, b"m", 42, at, min(at + step, 100))[0] for at in range(0, 100, step)]
        assert [value for part in parts for value in part] == whole


def test_columns_do_not_change_each_other() -> None:
    size = 50
    columns: Columns = [
        ([0.5] * size, [0.5] * size),
        ([float(k) for k in range(size)], [float(k * k % 13) for k in range(size)]),
        ([float(k % 2) for k in range(size)], [1.0] * size),
    ]
    together = resampled(columns, b"mma", 3, 0, 40)
    for at in range(3):
        assert resampled(columns[at : at + 1], b"mma"[at : at + 1], 3, 0, 40)[0] == together[at]


def test_equal_and_constant_columns() -> None:
    same = [k * 0.1 for k in range(41)]
    assert resampled([(same, same[:])], b"m", 42, 0, 5) == [[0.0] * 5]
    assert resampled([([1.0] * 40, [0.25] * 40)], b"m", 42, 0, 5) == [[-0.75] * 5]
    # Half the sum of two huge values is infinite, and infinity less itself is nothing.
    huge = [1.7e308] * 40
    assert resampled([([1.0] * 40, huge)], b"m", 42, 0, 3) == [[math.inf] * 3]
    assert all(math.isnan(value) for value in resampled([(huge, huge)], b"m", 42, 0, 3)[0])
    assert resampled([(huge[1:], huge[1:])], b"m", 42, 0, 3) == [[0.0] * 3]


def test_zero_has_one_sign() -> None:
    for kind in (b"m", b"a"):
        for sides in (([0.0] * 5, [-0.0] * 5), ([0.0, -0.0, 1.0], [-0.0, -0.0, 1.0])):
            found = resampled([sides], kind, 1, 0, 20)[0]
            assert [math.copysign(1.0, value) for value in found] == [1.0] * 20
            assert set(found) == {0.0}


def test_nothing_to_do() -> None:
    assert bootstrap.resample(42, [], b"", 0, 1000).tolist() == []
    assert bootstrap.resample(42, [(doubles([1.0]), doubles([2.0]))], b"m", 5, 5).tolist() == []


def test_every_kind_of_buffer() -> None:
    values = [k * 0.7 % 3 for k in range(30)]
    other = values[::-1]
    wanted = resampled([(values, other)], b"m", 9, 0, 20)[0]
    for kind, buffer in wide_buffers(values, "d").items():
        found = bootstrap.resample(9, ((buffer, wide_buffers(other, "d")[kind]),), b"m", 0, 20)
        assert found.tolist() == wanted, kind
    assert shares_memory(found, np.float64)


@pytest.mark.parametrize("kind", bad_wide_buffers("d"))
def test_other_buffers_are_refused(kind: str) -> None:
    buffer: Any = bad_wide_buffers("d")[kind]
    good = doubles([0.0, 1.0, 2.0, 3.0])
    for columns in ([(buffer, good)], [(good, buffer)], [(good, good), (good, buffer)]):
        with pytest.raises(ValueError):
            bootstrap.resample(1, columns, b"m" * len(columns), 0, 1)


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ([([], [])], b"m"),
        ([([1.0], [])], b"m"),
        ([([1.0], [1.0, 2.0])], b"m"),
        ([([1.0], [1.0]), ([1.0, 2.0], [1.0, 2.0])], b"mm"),
        ([([1.0], [math.nan])], b"m"),
        ([([math.nan], [1.0])], b"a"),
        ([([0.5], [1.0])], b"a"),
        ([([1.0], [math.inf])], b"a"),
        ([([1.0], [2.0])], b"a"),
        ([([1.0], [2.0])], b""),
        ([([1.0], [2.0])], b"mm"),
        ([([1.0], [2.0])], b"x"),
        ([([1.0], [2.0])], b"\0"),
        ([], b"m"),
    ],
)
def test_other_columns_are_refused(columns: Columns, kinds: bytes) -> None:
    with pytest.raises(ValueError):
        resampled(columns, kinds, 42, 0, 3)


@pytest.mark.parametrize("bounds", [(-1, 3), (3, 2), (0, 2**62 + 1), (-(2**63), 2**63 - 1)])
def test_other_ranges_are_refused(bounds: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        bootstrap.resample(1, [(doubles([1.0]), doubles([2.0]))], b"m", *bounds)


def test_too_many_results_are_refused() -> None:
    with pytest.raises(OverflowError):
        bootstrap.resample(1, [(doubles([1.0]), doubles([2.0]))], b"m", 0, 2**31)


def test_sides_that_are_no_pairs_are_refused() -> None:
    broken: Any = [(doubles([1.0]),)]
    with pytest.raises(ValueError):
        bootstrap.resample(1, broken, b"m", 0, 1)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals here")
def test_long_work_can_be_interrupted() -> None:
    class StoppedError(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise StoppedError

    columns = [(doubles(range(1000)), doubles(range(1000, 0, -1)))]
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(StoppedError):
            bootstrap.resample(1, columns, b"m", 0, 1_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_threads_get_the_same() -> None:
    columns = [([k * 0.37 % 5 for k in range(900)], [k * 0.73 % 5 for k in range(900)])] * 3
    wanted = resampled(columns, b"mmm", 42, 0, 50)
    assert all(found == wanted for found in in_four_threads(lambda: resampled(columns, b"mmm", 42, 0, 50)))
