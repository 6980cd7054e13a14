"""Strict JSON without Python objects: canonical pretty form, canonical form of records, nesting depth."""

from typing import Final

from stratadiff._kernels._buffer import Bytes

MAX_DEPTH: Final = 512

# (status, offset, text). Status 0 fine; 1 not UTF-8; 2 not JSON; 3 too deep; 4 a repeated key; 5 byte-order
# mark. `text` is the pretty form (lone surrogates as ED xx xx), None unless the status is 0.
def pretty(
    data: Bytes, /, max_depth: int = 512, max_output: int = 2147483646
) -> tuple[int, int, bytes | None]: ...

# The canonical bytes of one object: no numbers, no lone surrogates. Forbidden key names are not looked at.
def is_canonical(data: Bytes, /, max_depth: int = 512) -> bool: ...

# Deepest nesting of brackets outside strings; any bytes are accepted.
def depth(data: Bytes, /) -> int: ...
