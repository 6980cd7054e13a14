"""Lines of an agent trace: which are records, where their parts lie, the token counts of every response."""

from array import array

from stratadiff._kernels._buffer import Bytes

# (code, next, number, bad, detail, records, counts, absent, odd): see the function's own text.
def scan(
    data: Bytes,
    /,
    start: int = 0,
    number: int = 0,
    max_line: int = 16777216,
    max_depth: int = 127,
    is_last: bool = True,
    goes_on: bool = False,
) -> tuple[int, int, int, array[int], int, array[int], array[int], tuple[int, int, int], array[int]]: ...

# Whether a text is one JSON value: RFC 8259, within the double range, no half surrogate pair, not too deep.
def is_json(data: Bytes, /, max_depth: int = 127) -> bool: ...
