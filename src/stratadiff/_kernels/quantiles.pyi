"""Percentiles, totals and largest differences of columns, without sorting them."""

from array import array

from stratadiff._kernels._buffer import Doubles, Longs

# p25, median, p75, p95, maximum, total; all zero for an empty column.
def summary(values: Longs, /) -> tuple[float, float, float, float, int, int]: ...

# Indices of the k pairs with the largest sum of absolute differences, largest first, ties in order.
def worst(
    b_in: Longs, b_out: Longs, b_th: Longs, c_in: Longs, c_out: Longs, c_th: Longs, k: int, /
) -> array[int]: ...
def median(values: Doubles, /) -> float: ...

# Percentiles 2.5 and 97.5.
def interval(values: Doubles, /) -> tuple[float, float]: ...
