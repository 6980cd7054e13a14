"""Percentiles, totals and largest differences of columns, without sorting them (levels §1, §1.6, §5)."""

from cpython.array cimport array
from libc.math cimport NAN, ceil, floor

from buffers cimport (
    PyBuffer_Release, Py_buffer, acquire_doubles, acquire_longs, clone, free, int32_t, int64_t, malloc, uint64_t,
)
from selection cimport (
    Selection, double_of_key, fill_keys, median_of, select_ranks, selection_free, selection_init, selection_reserve,
)

cdef array INT32 = array("i")

# ---------------------------------------------------------------------------------------------------------------------
# Summaries


cdef struct Totals:
    int64_t maximum
    int64_t high            # the total is high * 2^32 + low; neither can overflow for 2^31 values
    int64_t low


cdef void copy_and_total(int64_t *target, const int64_t *values, Py_ssize_t size, Totals *totals) noexcept nogil:
    cdef Py_ssize_t k
    cdef int64_t value, maximum = values[0], high = 0, low = 0
    for k in range(size):
        value = values[k]
        target[k] = value
        maximum = value if value > maximum else maximum
        high += value >> 32
        low += value & <int64_t> 0xFFFFFFFF
    totals.maximum = maximum
    totals.high = high
    totals.low = low


cdef inline double between(double low, double high, double fraction) noexcept nogil:
    return low * (1.0 - fraction) + high * fraction


cdef void percentiles(Selection *room, Py_ssize_t size, double *found) noexcept nogil:
    # 0.25, 0.5, 0.75 and 0.95 of the values in `room` (levels §5).
    cdef double *shares = [0.25, 0.5, 0.75, 0.95]
    cdef Py_ssize_t ranks[8]
    cdef Py_ssize_t sorted_ranks[8]
    cdef int64_t values[8]
    cdef int k, at
    cdef double x
    for k in range(4):
        x = <double> (size - 1) * shares[k]
        ranks[2 * k] = <Py_ssize_t> x
        ranks[2 * k + 1] = ranks[2 * k] + 1 if ranks[2 * k] + 1 < size else size - 1
    # In a short column the ranks of one percentile reach past those of the next.
    for k in range(8):
        at = k
        while at > 0 and sorted_ranks[at - 1] > ranks[k]:
            sorted_ranks[at] = sorted_ranks[at - 1]
            at -= 1
        sorted_ranks[at] = ranks[k]
    select_ranks(room, size, sorted_ranks, 8, values)
    for k in range(4):
        x = <double> (size - 1) * shares[k]
        found[k] = between(
            <double> value_at(sorted_ranks, values, ranks[2 * k]), <double> value_at(sorted_ranks, values, ranks[2 * k + 1]),
            x - <double> ranks[2 * k],
        )


cdef inline int64_t value_at(const Py_ssize_t *ranks, const int64_t *values, Py_ssize_t rank) noexcept nogil:
    cdef int k = 0
    while ranks[k] != rank:
        k += 1
    return values[k]


def summary(object values, /):
    """Return the summary of a column of counts *(levels §5)*.

    Parameters
    ----------
    values : int64 buffer, shape (m,)

    Returns
    -------
    p25, median, p75, p95 : float
        Linear between the two nearest ranks. 0.0 for an empty column.
    maximum, total : int
        Exact, whatever the total's size. 0 for an empty column.

    Raises
    ------
    ValueError
        If the argument is not a contiguous int64 buffer.
    MemoryError

    Notes
    -----
    Linear in time and memory: 16 bytes a value.
    """
    cdef Py_buffer view
    cdef Selection room
    cdef Totals totals
    cdef double found[4]
    cdef Py_ssize_t size
    acquire_longs(values, &view)
    selection_init(&room)
    try:
        size = view.len // 8
        if size == 0:
            return 0.0, 0.0, 0.0, 0.0, 0, 0
        if not selection_reserve(&room, size):
            raise MemoryError
        with nogil:
            copy_and_total(room.values, <const int64_t *> view.buf, size, &totals)
            if size == 1:
                found[0] = found[1] = found[2] = found[3] = <double> room.values[0]
            else:
                percentiles(&room, size, found)
        return found[0], found[1], found[2], found[3], totals.maximum, (<object> totals.high << 32) + totals.low
    finally:
        selection_free(&room)
        PyBuffer_Release(&view)


# ---------------------------------------------------------------------------------------------------------------------
# Largest differences


cdef struct Ranked:
    # A pair and the sum of its three differences, which needs 66 bits.
    uint64_t low
    uint64_t high
    int32_t pair


cdef inline bint is_smaller(const Ranked *a, const Ranked *b) noexcept nogil:
    # Comes later in the result: a smaller sum, or the same and a later pair.
    if a.high != b.high:
        return a.high < b.high
    if a.low != b.low:
        return a.low < b.low
    return a.pair > b.pair


cdef void sink(Ranked *heap, Py_ssize_t size, Ranked entry) noexcept nogil:
    # Puts an entry in place of the root; no entry is smaller than its parent.
    cdef Py_ssize_t at = 0, child = 1
    while child < size:
        if child + 1 < size and is_smaller(&heap[child + 1], &heap[child]):
            child += 1
        if not is_smaller(&heap[child], &entry):
            break
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = entry


cdef void rise(Ranked *heap, Py_ssize_t at, Ranked entry) noexcept nogil:
    cdef Py_ssize_t parent
    while at > 0:
        parent = (at - 1) >> 1
        if not is_smaller(&entry, &heap[parent]):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = entry


cdef inline uint64_t distance(int64_t a, int64_t b) noexcept nogil:
    return <uint64_t> a - <uint64_t> b if a > b else <uint64_t> b - <uint64_t> a


cdef void rank_pairs(const int64_t **columns, Py_ssize_t size, Ranked *heap, Py_ssize_t wanted, int32_t *pairs) noexcept nogil:
    # `heap` holds the best so far, the worst of them at the root.
    cdef Py_ssize_t k, kept = 0
    cdef uint64_t part
    cdef int dimension
    cdef Ranked entry
    for k in range(size):
        entry.low = entry.high = 0
        for dimension in range(3):
            part = distance(columns[dimension][k], columns[dimension + 3][k])
            entry.low += part
            entry.high += entry.low < part
        entry.pair = <int32_t> k
        if kept < wanted:
            rise(heap, kept, entry)
            kept += 1
        elif is_smaller(&heap[0], &entry):
            sink(heap, wanted, entry)
    while kept:
        kept -= 1
        pairs[kept] = heap[0].pair
        sink(heap, kept, heap[kept])


def worst(object b_in, object b_out, object b_th, object c_in, object c_out, object c_th, object k, /):
    """Return the pairs whose counts differ most *(levels §5)*.

    Parameters
    ----------
    b_in, b_out, b_th, c_in, c_out, c_th : int64 buffer, shape (n,)
        Counts of the baseline and of the candidate: input, output, thinking.
    k : int
        Pairs wanted; a negative number is 0, one above n is n.

    Returns
    -------
    array.array of int32, shape (min(k, n),)
        Indices of pairs by the sum of the three absolute differences, largest first; of equal sums the earlier pair first.

    Raises
    ------
    ValueError
        If a column is not a contiguous int64 buffer, or they differ in length.
    MemoryError

    Notes
    -----
    Exact for any counts. O(n log k), 24 bytes of memory per pair wanted.
    """
    cdef tuple sources = (b_in, b_out, b_th, c_in, c_out, c_th)
    cdef Py_buffer views[6]
    cdef const int64_t *columns[6]
    cdef int held = 0, column
    cdef Py_ssize_t size, wanted
    cdef Ranked *heap = NULL
    cdef array pairs
    try:
        for column in range(6):
            acquire_longs(sources[column], &views[column])
            held += 1
            columns[column] = <const int64_t *> views[column].buf
            if views[column].len != views[0].len:
                raise ValueError("columns of pairs must have one length")
        size = views[0].len // 8
        wanted = max(0, min(k, size))
        pairs = clone(INT32, wanted, False)
        if wanted:
            heap = <Ranked *> malloc(<size_t> wanted * sizeof(Ranked))
            if heap == NULL:
                raise MemoryError
            with nogil:
                rank_pairs(columns, size, heap, wanted, <int32_t *> pairs.data.as_ints)
        return pairs
    finally:
        free(heap)
        for column in range(held):
            PyBuffer_Release(&views[column])


# ---------------------------------------------------------------------------------------------------------------------
# Measurements


def median(object values, /):
    """Return the median: the middle value, or ``(a + b) / 2`` of the two middle ones *(levels §1)*.

    Parameters
    ----------
    values : double buffer, shape (n,)
        Not empty, no NaN. Zero of either sign is 0.0.

    Raises
    ------
    ValueError
        If the argument is not a contiguous buffer of doubles, is empty or holds a NaN.
    MemoryError

    Notes
    -----
    Linear in time and memory: 16 bytes a value.
    """
    cdef Py_buffer view
    cdef Selection room
    cdef Py_ssize_t size
    cdef bint fine
    cdef double found = 0.0
    acquire_doubles(values, &view)
    selection_init(&room)
    try:
        size = view.len // 8
        if size == 0:
            raise ValueError("nothing has no median")
        if not selection_reserve(&room, size):
            raise MemoryError
        with nogil:
            fine = fill_keys(room.values, <const double *> view.buf, size)
            if fine:
                found = median_of(&room, size)
        if not fine:
            raise ValueError("NaN has no rank")
        return found
    finally:
        selection_free(&room)
        PyBuffer_Release(&view)


cdef inline double at_rank(const int64_t *found, double rank) noexcept nogil:
    cdef double fraction = rank - floor(rank)
    if fraction == 0.0:
        return double_of_key(found[0])
    return between(double_of_key(found[0]), double_of_key(found[1]), fraction)


def interval(object values, /):
    """Return percentiles 2.5 and 97.5 of bootstrap results *(levels §1.6)*.

    Parameters
    ----------
    values : double buffer, shape (R,)
        In any order, not empty. Zero of either sign is 0.0.

    Returns
    -------
    low, high : float
        Both NaN if some value is.

    Raises
    ------
    ValueError
        If the argument is not a contiguous buffer of doubles, or empty.
    MemoryError
    """
    cdef Py_buffer view
    cdef Selection room
    cdef Py_ssize_t size
    cdef Py_ssize_t ranks[4]
    cdef int64_t found[4]
    cdef double low = NAN, high = NAN, low_rank, high_rank
    acquire_doubles(values, &view)
    selection_init(&room)
    try:
        size = view.len // 8
        if size == 0:
            raise ValueError("nothing has no percentiles")
        if not selection_reserve(&room, size):
            raise MemoryError
        with nogil:
            if fill_keys(room.values, <const double *> view.buf, size):
                low_rank = 2.5 / 100.0 * <double> (size - 1)
                high_rank = 97.5 / 100.0 * <double> (size - 1)
                ranks[0] = <Py_ssize_t> floor(low_rank)
                ranks[1] = <Py_ssize_t> ceil(low_rank)
                ranks[2] = <Py_ssize_t> floor(high_rank)
                ranks[3] = <Py_ssize_t> ceil(high_rank)
                # One rank of the high end may lie below one of the low end only where there is a single value or two.
                if ranks[1] > ranks[2]:
                    ranks[1], ranks[2] = ranks[2], ranks[1]
                    select_ranks(&room, size, ranks, 4, found)
                    found[1], found[2] = found[2], found[1]
                else:
                    select_ranks(&room, size, ranks, 4, found)
                low = at_rank(&found[0], low_rank)
                high = at_rank(&found[2], high_rank)
        return low, high
    finally:
        selection_free(&room)
        PyBuffer_Release(&view)
