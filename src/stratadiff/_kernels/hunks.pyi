from array import array

from stratadiff._kernels._buffer import Bytes, Ints

def long_pairs(
    ops: Ints, a: Bytes, a_starts: Ints, a_strip_cr: bool, b: Bytes, b_starts: Ints, b_strip_cr: bool, /
) -> array[int]: ...
def marked_pairs(
    a: Bytes,
    a_edges: Ints,
    a_bounds: Ints,
    b: Bytes,
    b_edges: Ints,
    b_bounds: Ints,
    ops: Ints,
    op_bounds: Ints,
    surrogates: bool,
    /,
) -> array[int]: ...
def layout(
    ops: Ints,
    a: Bytes,
    a_starts: Ints,
    a_strip_cr: bool,
    a_ids: Ints,
    b: Bytes,
    b_starts: Ints,
    b_strip_cr: bool,
    b_ids: Ints,
    flags: Ints,
    /,
    context: int,
    max_lines: int,
) -> tuple[array[int], array[int], array[int], int]: ...
def hunks_json(
    hunks: Ints, rows: Ints, text: Bytes, text_bounds: Ints, spans: Ints, span_bounds: Ints, /
) -> bytes: ...
