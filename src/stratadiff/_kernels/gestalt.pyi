"""The matching-block edit script, which agrees with ``difflib`` and the published tools."""

from array import array

from stratadiff._kernels._buffer import Ints

# Opcodes are flat int32, five per row: tag, i1, i2, j1, j2; tags 0 equal, 1 delete, 2 insert, 3 replace.
# Both functions may take long on hostile input and let signals through (KeyboardInterrupt).
def edit_script(a: Ints, b: Ints, /, drop_popular: bool = True) -> array[int]: ...

# (opcodes, op_bounds): pair p owns rows op_bounds[p] to op_bounds[p + 1], positions from its own start.
def match_many(a: Ints, a_bounds: Ints, b: Ints, b_bounds: Ints, /) -> tuple[array[int], array[int]]: ...
