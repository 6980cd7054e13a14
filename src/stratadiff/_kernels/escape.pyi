from array import array

from stratadiff._kernels._buffer import Bytes, Ints

def escape_text(data: Bytes, /, backslash: bool = True, surrogates: bool = False) -> bytes: ...
def show_rows(
    a: Bytes,
    b: Bytes,
    rows: Ints,
    pairs: Ints,
    a_edges: Ints,
    a_bounds: Ints,
    b_edges: Ints,
    b_bounds: Ints,
    ops: Ints,
    op_bounds: Ints,
    /,
    backslash: bool,
    surrogates: bool,
    marks: bool,
) -> tuple[bytes, array[int], array[int], array[int]]: ...
