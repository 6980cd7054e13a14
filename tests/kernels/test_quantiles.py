"""Summaries of counts, the pairs that differ most, medians and interval bounds (levels §1, §1.6, §5)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_bootstrap, trace_tokens
from stratadiff._kernels import quantiles
from strategies import bad_wide_buffers, doubles, in_four_threads, int64, shares_memory, wide_buffers

DATA = Path(__file__).parent.parent / "data" / "agentlog" / "tokens.jsonl"
LOW, HIGH = -(2**63), 2**63 - 1
FIELDS = ("p25", "median", "p75", "p95", "maximum", "total")
SIZES = (0, 1, 2, 3, 4, 5, 6, 20, 21, 39, 40, 41, 42, 80, 81, 200)


def summary(values: list[int]) -> dict[str, Any]:
    return dict(zip(FIELDS, quantiles.summary(int64(values)), strict=True))


def typed(found: dict[str, Any]) -> dict[str, tuple[type, Any]]:
    return {name: (type(found[name]), found[name]) for name in FIELDS}


@st.composite
def count_columns(draw: st.DrawFn, sizes: tuple[int, ...] = SIZES) -> list[int]:
    """Draw counts: small, of any width, at the ends of int64, mostly equal, or one far away from the rest."""
    size = draw(st.sampled_from(sizes))
    width = draw(st.sampled_from((0, 1, 3, 9, 12, 13, 24, 25, 37, 53, 54, 62, 63)))
    base = draw(st.sampled_from((0, 0, 1000, -1000, 2**53, -(2**53), HIGH, LOW)))
    raw = int.from_bytes(draw(st.binary(min_size=1, max_size=16)), "little") | 1
    values = []
    for _ in range(size):
        raw = (raw * 0x5DEECE66D + 11) % 2**80
        values.append(max(LOW, min(HIGH, base + (raw >> 12) % 2**width * (-1) ** (raw >> 76))))
    for place in draw(st.lists(st.integers(0, max(size - 1, 0)), max_size=3)) if size else []:
        values[place] = draw(st.sampled_from((LOW, HIGH, 0, -1, 2**53 + 1, values[0])))
    if draw(st.booleans()):
        values = [values[k // 3] for k in range(size)]
    return values


@given(count_columns())
def test_summaries(values: list[int]) -> None:
    assert typed(summary(values)) == typed(trace_tokens.summary(values))


@given(st.lists(st.integers(LOW, HIGH), max_size=60))
def test_summaries_of_anything(values: list[int]) -> None:
    assert typed(summary(values)) == typed(trace_tokens.summary(values))


@pytest.mark.parametrize(
    "values",
    [
        range(10_000),
        range(10_000, 0, -1),
        [7] * 10_000,
        [*range(5_000), *[HIGH] * 5_000],
        [LOW, *[0] * 9_998, HIGH],
        [1 << (k % 63) for k in range(10_000)],
        [-(1 << (k % 64)) for k in range(10_000)],
        [k * k * k % 1_000_003 for k in range(10_000)],
        [(1 << 62) + k % 2 for k in range(10_000)],
        # Every pass leaves nearly all of them in one range.
        [*[1 << shift for shift in range(0, 63, 2)], *[0] * 20, *range(64)],
        [HIGH] * 5_000,
        [LOW] * 5_000,
    ],
    ids=lambda values: f"{len(values)} from {values[0]}",
)
def test_large_summaries(values: Any) -> None:
    values = list(values)
    assert typed(summary(values)) == typed(trace_tokens.summary(values))


def test_a_million_counts() -> None:
    values = [(k * 48271 % 2147483647) ** 2 for k in range(1, 1_000_001)]
    assert typed(summary(values)) == typed(trace_tokens.summary(values))


def test_recorded_token_diffs() -> None:
    for line in DATA.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        columns: list[list[int]] = []
        for side in ("baseline", "candidate"):
            rows = [trace_tokens.counts({"usage": usage}) for usage in case[side]]
            for at, name in enumerate(trace_tokens.DIMENSIONS):
                columns.append([row[at] for row in rows])
                assert summary(columns[-1]) == case["expect"][side][name]
        pairs = case["expect"]["pair_count"]
        found = quantiles.worst(*[int64(values[:pairs]) for values in columns], case["top_k"])
        assert found.tolist() == [pair["pair_index"] for pair in case["expect"]["worst_pairs"]]


# The pairs that differ most.

few = st.integers(-2, 2)
wide = st.one_of(st.sampled_from((LOW, HIGH, 0, -1)), st.integers(LOW, HIGH))
rows_of_six = st.one_of(
    st.lists(st.tuples(few, few, few, few, few, few), max_size=40),
    st.lists(st.tuples(wide, wide, wide, wide, wide, wide), max_size=12),
)


def worst(rows: list[tuple[int, ...]], k: int) -> list[int]:
    columns = [int64([row[at] for row in rows]) for at in range(6)]
    return quantiles.worst(*columns, k).tolist()


def expected_worst(rows: list[tuple[int, ...]], k: int) -> list[int]:
    sums = [sum(abs(row[at + 3] - row[at]) for at in range(3)) for row in rows]
    return sorted(range(len(rows)), key=lambda pair: -sums[pair])[: max(k, 0)]


@given(rows_of_six, st.one_of(st.integers(-1, 45), st.sampled_from((2**31, 2**64, -(2**64)))))
def test_worst(rows: list[tuple[int, ...]], k: int) -> None:
    assert worst(rows, k) == expected_worst(rows, k)


def test_sums_that_no_int64_holds() -> None:
    rows = [
        (LOW, LOW, LOW, HIGH, HIGH, HIGH),
        (HIGH, HIGH, HIGH, LOW, LOW, LOW + 1),
        (LOW, LOW, LOW, HIGH, HIGH, HIGH),
        (0, 0, 0, HIGH, HIGH, HIGH),
        (0, 0, 0, LOW, LOW, LOW),
        (LOW, 0, 0, HIGH, 0, 0),
    ]
    assert worst(rows, 6) == [0, 2, 1, 4, 3, 5]


@pytest.mark.parametrize("step", [1, -1, 0])
def test_worst_of_many(step: int) -> None:
    rows = [(0, 0, 0, step * k, 0, 0) for k in range(3_000)]
    for k in (1, 10, 1_000, 3_000):
        assert worst(rows, k) == expected_worst(rows, k)


def test_columns_of_pairs_have_one_length() -> None:
    for at in range(6):
        columns = [int64([1, 2])] * 6
        columns[at] = int64([1])
        with pytest.raises(ValueError):
            quantiles.worst(*columns, 1)


# Measurements.

finite = st.floats(allow_nan=False, allow_infinity=False)
measurements = st.one_of(
    st.lists(finite, min_size=1, max_size=90),
    st.lists(
        st.sampled_from((0.0, -0.0, 1.0, 0.1, -1e300, 5e-324, -5e-324, 1.7e308)), min_size=1, max_size=90
    ),
    count_columns(tuple(size for size in SIZES if size)).map(
        lambda values: [float(value) for value in values]
    ),
    count_columns(tuple(size for size in SIZES if size)).map(
        lambda values: [value * 1e-9 for value in values]
    ),
)


@given(measurements)
def test_medians(values: list[float]) -> None:
    assert quantiles.median(doubles(values)) == trace_bootstrap.median(values)


@given(measurements)
def test_intervals(values: list[float]) -> None:
    ordered = sorted(values)
    wanted = (trace_bootstrap.percentile(ordered, 2.5), trace_bootstrap.percentile(ordered, 97.5))
    found = quantiles.interval(doubles(values))
    assert found == wanted or str(found) == str(wanted)  # the latter for NaN out of huge values


@pytest.mark.parametrize("size", [1, 2, 3, 39, 40, 41, 42, 81, 100, 999, 1000, 1001, 5000])
def test_intervals_of_many(size: int) -> None:
    values = [(k * 7919 % size) ** 3 / 7.0 - size for k in range(size)]
    ordered = sorted(values)
    wanted = (trace_bootstrap.percentile(ordered, 2.5), trace_bootstrap.percentile(ordered, 97.5))
    assert quantiles.interval(doubles(values)) == wanted


def test_the_order_of_doubles() -> None:
    values = [math.inf, 1e308, 1.0, 5e-324, 0.0, -5e-324, -1.0, -1e308, -math.inf]
    for k in range(len(values) + 1):
        some = sorted(values)[: len(values) - k] + [math.inf] * k
        assert quantiles.median(doubles(some[::-1])) == sorted(some)[4]


def test_zero_has_one_sign() -> None:
    for values in ([-0.0], [-0.0, 0.0], [0.0, -0.0, -0.0], [-0.0] * 50):
        for found in (quantiles.median(doubles(values)), *quantiles.interval(doubles(values))):
            assert math.copysign(1.0, found) == 1.0


def test_what_is_no_number_has_no_rank() -> None:
    with pytest.raises(ValueError):
        quantiles.median(doubles([1.0, math.nan]))
    assert [str(bound) for bound in quantiles.interval(doubles([1.0, -math.nan, 2.0]))] == ["nan", "nan"]
    with pytest.raises(ValueError):
        quantiles.median(doubles([]))
    with pytest.raises(ValueError):
        quantiles.interval(doubles([]))


# Buffers and threads.


def test_every_kind_of_buffer() -> None:
    values = [5, -3, 2**60, 0, 8, 8]
    for kind, buffer in wide_buffers(values, "q").items():
        assert quantiles.summary(buffer) == quantiles.summary(int64(values)), kind
        found = quantiles.worst(buffer, buffer, buffer, *[int64([0] * 6)] * 3, 2)
        assert found.tolist() == [2, 4], kind
    assert shares_memory(found)
    measured = [5.0, -3.5, 1e300, 0.0]
    for kind, buffer in wide_buffers(measured, "d").items():
        assert quantiles.median(buffer) == 2.5, kind
        assert quantiles.interval(buffer) == quantiles.interval(doubles(measured)), kind


@pytest.mark.parametrize("kind", bad_wide_buffers("q"))
def test_other_buffers_of_counts_are_refused(kind: str) -> None:
    buffer: Any = bad_wide_buffers("q")[kind]
    with pytest.raises(ValueError):
        quantiles.summary(buffer)
    for at in range(6):
        columns: list[Any] = [int64(range(4))] * 6
        columns[at] = buffer
        with pytest.raises(ValueError):
            quantiles.worst(*columns, 1)


@pytest.mark.parametrize("kind", bad_wide_buffers("d"))
def test_other_buffers_of_measurements_are_refused(kind: str) -> None:
    buffer: Any = bad_wide_buffers("d")[kind]
    with pytest.raises(ValueError):
        quantiles.median(buffer)
    with pytest.raises(ValueError):
        quantiles.interval(buffer)


def test_threads_get_the_same() -> None:
    values = int64([k * k % 100_003 << 20 for k in range(20_000)])
    wanted = quantiles.summary(values)
    assert all(found == wanted for found in in_four_threads(lambda: quantiles.summary(values)))
