from array import array

from stratadiff._kernels._buffer import Bytes, Ints

def intern_lines(
    a: Bytes, a_starts: Ints, a_strip_cr: bool, b: Bytes, b_starts: Ints, b_strip_cr: bool, /
) -> tuple[array[int], array[int], int]: ...
