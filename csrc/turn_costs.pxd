# The turns of one trace as the alignment sees them, and what it costs to pair two *(levels §3.2)*.

from buffers cimport int32_t, int64_t, uint64_t

cdef extern from "<string.h>" nogil:
    int memcmp(const void *, const void *, size_t)


cdef struct Side:
    Py_ssize_t count
    const int32_t *tools
    const int32_t *tool_bounds
    const int32_t *calls
    const int32_t *texts
    const int32_t *shingles
    const int32_t *shingle_bounds
    const int32_t *stops
    const int32_t *names
    const int32_t *inputs
    const int32_t *argument_bounds


cdef inline int32_t shared(const int32_t *x, Py_ssize_t n, const int32_t *y, Py_ssize_t m) noexcept nogil:
    # Of two ascending lists.
    cdef Py_ssize_t i = 0, j = 0
    cdef int32_t count = 0
    while i < n and j < m:
        if x[i] == y[j]:
            count += 1
            i += 1
            j += 1
        elif x[i] < y[j]:
            i += 1
        else:
            j += 1
    return count


cdef inline bint arguments_differ(const Side *a, const Side *b, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    # Some tool that both turns use was first given other arguments.
    cdef Py_ssize_t p = a.argument_bounds[i], q = b.argument_bounds[j]
    cdef Py_ssize_t p_end = a.argument_bounds[i + 1], q_end = b.argument_bounds[j + 1]
    while p < p_end and q < q_end:
        if a.names[p] == b.names[q]:
            if a.inputs[p] != b.inputs[q]:
                return True
            p += 1
            q += 1
        elif a.names[p] < b.names[q]:
            p += 1
        else:
            q += 1
    return False


cdef inline double cost(const Side *a, const Side *b, Py_ssize_t i, Py_ssize_t j, int32_t common) noexcept nogil:
    # `common` counts shingles; it is not looked at where the texts are equal.
    cdef const int32_t *x = a.tools + a.tool_bounds[i]
    cdef const int32_t *y = b.tools + b.tool_bounds[j]
    cdef Py_ssize_t n = a.tool_bounds[i + 1] - a.tool_bounds[i], m = b.tool_bounds[j + 1] - b.tool_bounds[j], union_size
    cdef int32_t both, p, q
    cdef bint same_tools
    cdef double apart, counts, similarity = 1.0
    if n == m and (n == 0 or memcmp(x, y, <size_t> n * sizeof(int32_t)) == 0):
        same_tools = True
        apart = 0.0
    else:
        same_tools = False
        both = shared(x, n, y, m)
        apart = 1.0 - <double> both / <double> (n + m - both)
    p = a.calls[i]
    q = b.calls[j]
    counts = 0.0 if p == q else <double> (p - q if p > q else q - p) / <double> (p if p > q else q)
    if a.texts[i] != b.texts[j]:
        union_size = (
            a.shingle_bounds[i + 1] - a.shingle_bounds[i] + b.shingle_bounds[j + 1] - b.shingle_bounds[j] - common
        )
        similarity = <double> common / <double> union_size if union_size else 1.0
    return (
        0.40 * (apart if apart > counts else counts)
        + 0.25 * (1.0 - similarity)
        + 0.15 * (1.0 if a.stops[i] != b.stops[j] else 0.0)
        + 0.20 * (1.0 if same_tools and n and arguments_differ(a, b, i, j) else 0.0)
    )


cdef inline int64_t bit_count(uint64_t x) noexcept nogil:
    x = x - (x >> 1 & <uint64_t> 0x5555555555555555)
    x = (x & <uint64_t> 0x3333333333333333) + (x >> 2 & <uint64_t> 0x3333333333333333)
    x = x + (x >> 4) & <uint64_t> 0x0F0F0F0F0F0F0F0F
    return <int64_t> (x * <uint64_t> 0x0101010101010101 >> 56)
