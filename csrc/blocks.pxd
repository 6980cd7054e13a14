# Matched runs (i, j, length) of two sequences, and the opcodes they stand for.

from buffers cimport Ints, int32_t, ints_reserve

cdef enum:
    EQUAL = 0
    DELETE = 1
    INSERT = 2
    REPLACE = 3


cdef inline void push_run(Ints *runs, int32_t i, int32_t j, int32_t length) noexcept nogil:
    # Appends a matched run, joined to the last one where they touch on both sides.
    cdef int32_t *last
    if length <= 0:
        return
    if runs.size:
        last = runs.items + runs.size - 3
        if last[0] + last[2] == i and last[1] + last[2] == j:
            last[2] += length
            return
    if not ints_reserve(runs, 3):
        return
    runs.items[runs.size] = i
    runs.items[runs.size + 1] = j
    runs.items[runs.size + 2] = length
    runs.size += 3


cdef inline void split_replaces(const Ints *runs, const int32_t *a, int32_t n, const int32_t *b, int32_t m,
                                Ints *split) noexcept nogil:
    # §9.1: a same-size replace whose k-th lines are equal is split there. Pushes old and new runs to `split`.
    cdef int32_t i = 0, j = 0, k, end_i, end_j
    cdef Py_ssize_t t = 0
    while True:
        end_i = runs.items[t] if t < runs.size else n
        end_j = runs.items[t + 1] if t < runs.size else m
        if end_i - i == end_j - j:
            for k in range(end_i - i):
                if a[i + k] == b[j + k]:
                    push_run(split, i + k, j + k, 1)
        if t >= runs.size:
            return
        push_run(split, end_i, end_j, runs.items[t + 2])
        i = end_i + runs.items[t + 2]
        j = end_j + runs.items[t + 2]
        t += 3


cdef inline void push_opcode(Ints *ops, int32_t tag, int32_t i1, int32_t i2, int32_t j1, int32_t j2) noexcept nogil:
    if not ints_reserve(ops, 5):
        return
    ops.items[ops.size] = tag
    ops.items[ops.size + 1] = i1
    ops.items[ops.size + 2] = i2
    ops.items[ops.size + 3] = j1
    ops.items[ops.size + 4] = j2
    ops.size += 5


cdef inline void push_opcodes(Ints *ops, const Ints *runs, int32_t n, int32_t m) noexcept nogil:
    # The opcodes that cover n against m elements and have these runs as their equal blocks.
    cdef int32_t i = 0, j = 0, end_i, end_j
    cdef Py_ssize_t t = 0
    while True:
        end_i = runs.items[t] if t < runs.size else n
        end_j = runs.items[t + 1] if t < runs.size else m
        if i < end_i or j < end_j:
            push_opcode(ops, REPLACE if i < end_i and j < end_j else DELETE if i < end_i else INSERT,
                        i, end_i, j, end_j)
        if t >= runs.size:
            return
        i = end_i + runs.items[t + 2]
        j = end_j + runs.items[t + 2]
        push_opcode(ops, EQUAL, end_i, i, end_j, j)
        t += 3
