"""Paired resampling of medians and means, with an index stream that every platform repeats."""

from array import array
from collections.abc import Iterable

from stratadiff._kernels._buffer import Doubles

# Row by row, a row per resample from `first` to `last` - 1: candidate's statistic less baseline's. A kind per
# pair of columns: b"m" median, b"a" mean over 0.0 and 1.0.
def resample(
    seed: int, columns: Iterable[tuple[Doubles, Doubles]], kinds: bytes, first: int, last: int, /
) -> array[float]: ...
