from array import array

from stratadiff._kernels._buffer import Bytes

def index_lines(data: Bytes, /) -> tuple[array[int], int, int]: ...
