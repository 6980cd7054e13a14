"""Needleman–Wunsch alignment: content blocks by id, turns by three tables."""

from array import array
from collections.abc import Sequence

from stratadiff._kernels._buffer import Ints

# Steps in forward order, two values each: a block of a, a block of b, -1 where a side has none. Costs: a gap
# 1.0, a pair 0.0 with one id, 0.5 with one kind, else 2.5. OverflowError past `max_cells`.
def blocks(
    ids_a: Ints, ids_b: Ints, kinds_a: Ints, kinds_b: Ints, /, max_cells: int = 268435456
) -> array[int]: ...

# (path of A, D and I, cost of every A). A side: tools, their bounds, numbers of calls, texts, shingles, their
# bounds, stop reasons, argument names, argument values, their bounds. OverflowError past `max_cells`.
def turns(
    side_a: Sequence[Ints], side_b: Sequence[Ints], /, max_cells: int = 268435456
) -> tuple[bytes, array[float]]: ...
