"""Paired resampling of medians and means, with an index stream that every platform repeats (levels §1.6, §8).

A resample is a count per pair: how often it was drawn. All columns share the counts. The sum of the counts of the
smallest values, at vector speed, leaves only a few values near the middle to walk over for a median; of means over 0 and
1 such a sum is all there is.
"""

from cpython.array cimport array
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, sqrt
from libc.stdlib cimport calloc
from libc.string cimport memset

from buffers cimport (
    PyBuffer_Release, Py_buffer, acquire_doubles, clone, free, int32_t, int64_t, malloc, memcpy, uint8_t, uint64_t,
)
from selection cimport (
    Selection, double_of_key, fill_keys, key_of_double, median_of, select_ranks, selection_free, selection_init,
    selection_reserve,
)

cdef extern from "byte_sums.h" nogil:
    uint64_t masked_sum(const uint8_t *p, const uint8_t *mask, size_t n)
    uint64_t byte_sum(const uint8_t *p, size_t n)

cdef extern from "<float.h>" nogil:
    const double DBL_MAX

cdef array DOUBLE = array("d")

cdef enum:
    DRAWS_AT_ONCE = 1 << 25     # between looks at signals

cdef enum Statistic:
    CONSTANT = 0            # a median that no resample changes
    MEDIAN = 1
    MEAN = 2


cdef struct Near:
    # A value near the median: its rank key, and which pair it belongs to.
    int64_t key
    int32_t pair


cdef struct Column:
    const double *values
    Statistic statistic
    double constant
    uint8_t *below          # MEDIAN: 0xFF for the `start` smallest values; MEAN: 0xFF for ones; else 0
    int32_t *near           # pairs of the values that follow, ascending
    double *near_values
    Py_ssize_t start
    Py_ssize_t near_count


cdef struct Sample:
    # What all columns share.
    uint64_t seed
    Py_ssize_t size         # n
    Py_ssize_t padded       # n, up to a multiple of 64
    uint8_t *drawn          # how often each pair was, modulo 256
    int64_t *keys           # preparing: of one column
    int64_t *other_keys     # preparing: of its partner
    Near *near
    Selection room
    Column *columns         # baseline, candidate, baseline, ...
    uint8_t *is_equal       # per pair of columns: they are equal
    Py_ssize_t count        # pairs of columns
    bint is_drawn           # some column needs the draws


# ---------------------------------------------------------------------------------------------------------------------
# The stream


cdef inline uint64_t output_of(uint64_t state) noexcept nogil:
    # SplitMix64 (Steele, Lea and Flood 2014).
    cdef uint64_t z = state
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t state_before(const Sample *s, int64_t resample) noexcept nogil:
    return s.seed + <uint64_t> resample * <uint64_t> s.size * <uint64_t> 0x9E3779B97F4A7C15


cdef void draw(Sample *s, int64_t resample) noexcept nogil:
    cdef uint64_t state = state_before(s, resample), size = <uint64_t> s.size
    cdef uint8_t *drawn = s.drawn
    cdef Py_ssize_t _
    memset(drawn, 0, <size_t> s.size)
    for _ in range(s.size):
        state += <uint64_t> 0x9E3779B97F4A7C15
        drawn[((output_of(state) >> 32) * size) >> 32] += 1


# ---------------------------------------------------------------------------------------------------------------------
# Preparing a column


cdef void sort_near(Near *near, Py_ssize_t size) noexcept nogil:
    # Shell's method with Knuth's gaps: a few square roots of n values.
    cdef Py_ssize_t gap = 1, i, k
    cdef Near entry
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, size):
            entry = near[i]
            k = i
            while k >= gap and near[k - gap].key > entry.key:
                near[k] = near[k - gap]
                k -= gap
            near[k] = entry
        gap //= 3


cdef bint prepare_median(Sample *s, Column *column, const int64_t *keys) noexcept nogil:
    # The middle of a resample of n lies within four standard deviations, 2 sqrt(n) places, of the middle of the values
    # in all but one of 16,000 resamples. Values there are sorted, those below are marked. False without memory.
    cdef Py_ssize_t n = s.size, k, first = (n - 1) >> 1, second = n >> 1, reach = <Py_ssize_t> (2.0 * sqrt(<double> n)) + 2
    cdef Py_ssize_t start = first - reach if first > reach else 0
    cdef Py_ssize_t stop = second + reach + 1 if n - second > reach + 1 else n
    cdef Py_ssize_t ranks[2]
    cdef int64_t edges[2]
    cdef Py_ssize_t marks, ties, count = 0
    cdef int64_t low, high, key
    ranks[0] = start
    ranks[1] = stop - 1
    memcpy(s.room.values, keys, <size_t> n * sizeof(int64_t))
    select_ranks(&s.room, n, ranks, 2, edges)
    low = edges[0]
    high = edges[1]
    column.start = start
    column.near_count = stop - start
    column.below = <uint8_t *> calloc(<size_t> s.padded, 1)
    column.near = <int32_t *> malloc(<size_t> column.near_count * sizeof(int32_t))
    column.near_values = <double *> malloc(<size_t> column.near_count * sizeof(double))
    if column.below == NULL or column.near == NULL or column.near_values == NULL:
        return False
    # Of values equal to an edge any may be taken, only the number counts: of the lower edge's `marks` go below, of the
    # upper edge's `ties` come after what lies between. The loops over all values have no branch that could be guessed wrong.
    marks = start
    ties = stop - start
    for k in range(n):
        marks -= keys[k] < low
        ties -= low <= keys[k] < high
        column.below[k] = <uint8_t> -(keys[k] < low)
    if low != high:
        ties += marks
    for k in range(n):
        key = keys[k]
        if low <= key <= high:
            if key == low and marks > 0:
                marks -= 1
                column.below[k] = 0xFF
            elif key < high or ties > 0:
                ties -= key == high
                s.near[count].key = key
                s.near[count].pair = <int32_t> k
                count += 1
    sort_near(s.near, count)
    for k in range(count):
        column.near[k] = s.near[k].pair
        column.near_values[k] = double_of_key(s.near[k].key)
    return True


cdef bint is_constant(const int64_t *keys, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(1, size):
        if keys[k] != keys[0]:
            return False
    return True


cdef bint is_tame(const int64_t *keys, Py_ssize_t size) noexcept nogil:
    # No median of these is infinite, so one less itself is zero.
    cdef Py_ssize_t k
    for k in range(size):
        if fabs(double_of_key(keys[k])) > DBL_MAX / 2.0:
            return False
    return True


cdef enum Outcome:
    DONE = 0
    NO_MEMORY = 1
    HAS_NAN = 2
    NOT_BINARY = 3


cdef Outcome prepare_column(Sample *s, Column *column, int64_t *keys) noexcept nogil:
    cdef Py_ssize_t k, n = s.size
    cdef int64_t one = key_of_double(1.0)
    if not fill_keys(keys, column.values, n):
        return HAS_NAN
    if column.statistic == MEAN:
        column.below = <uint8_t *> calloc(<size_t> s.padded, 1)
        if column.below == NULL:
            return NO_MEMORY
        for k in range(n):
            if keys[k] == one:
                column.below[k] = 0xFF
            elif keys[k] != 0:
                return NOT_BINARY
        return DONE
    if is_constant(keys, n):
        column.statistic = CONSTANT
        column.constant = double_of_key(keys[0])
        if n % 2 == 0:
            column.constant = (column.constant + column.constant) / 2.0
        return DONE
    return DONE if prepare_median(s, column, keys) else NO_MEMORY


cdef Outcome prepare(Sample *s) noexcept nogil:
    cdef Py_ssize_t pair, i
    cdef Column *baseline
    cdef Column *candidate
    cdef Outcome outcome
    for pair in range(s.count):
        baseline = &s.columns[2 * pair]
        candidate = &s.columns[2 * pair + 1]
        outcome = prepare_column(s, baseline, s.keys)
        if outcome == DONE:
            outcome = prepare_column(s, candidate, s.other_keys)
        if outcome != DONE:
            return outcome
        for i in range(s.size):
            if s.keys[i] != s.other_keys[i]:
                break
        else:
            s.is_equal[pair] = is_tame(s.keys, s.size)
        if not s.is_equal[pair] and (baseline.statistic != CONSTANT or candidate.statistic != CONSTANT):
            s.is_drawn = True
    return DONE


# ---------------------------------------------------------------------------------------------------------------------
# Resampling


cdef double slow_statistic(Sample *s, const Column *column, int64_t resample) noexcept nogil:
    # From the drawn values themselves: for a median far from the middle, and where a count passed 255.
    cdef uint64_t state = state_before(s, resample), size = <uint64_t> s.size
    cdef Py_ssize_t k, pair, ones = 0
    for k in range(s.size):
        state += <uint64_t> 0x9E3779B97F4A7C15
        pair = <Py_ssize_t> (((output_of(state) >> 32) * size) >> 32)
        if column.statistic == MEAN:
            ones += column.below[pair] & 1
        else:
            s.room.values[k] = key_of_double(column.values[pair])
    return <double> ones / <double> s.size if column.statistic == MEAN else median_of(&s.room, s.size)


cdef inline double statistic_of(Sample *s, const Column *column, int64_t resample) noexcept nogil:
    cdef const uint8_t *drawn = s.drawn
    cdef const int32_t *near = column.near
    cdef Py_ssize_t at = 0, stop = column.near_count
    cdef int64_t total = 0, wanted = (s.size - 1) >> 1
    cdef double low
    if column.statistic == CONSTANT:
        return column.constant
    if column.start or column.statistic == MEAN:
        total = <int64_t> masked_sum(drawn, column.below, <size_t> s.padded)
    if column.statistic == MEAN:
        return <double> total / <double> s.size
    if total > wanted:
        return slow_statistic(s, column, resample)
    while at < stop:
        total += drawn[near[at]]
        if total > wanted:
            break
        at += 1
    if at == stop:
        return slow_statistic(s, column, resample)
    low = column.near_values[at]
    if s.size & 1:
        return low
    wanted += 1
    while total <= wanted:
        at += 1
        if at == stop:
            return slow_statistic(s, column, resample)
        total += drawn[near[at]]
    return (low + column.near_values[at]) / 2.0


cdef void run(Sample *s, int64_t first, int64_t last, double *results) noexcept nogil:
    cdef int64_t resample
    cdef Py_ssize_t pair
    cdef bint is_exact = True
    for resample in range(first, last):
        if s.is_drawn:
            draw(s, resample)
            is_exact = byte_sum(s.drawn, <size_t> s.padded) == <uint64_t> s.size
        for pair in range(s.count):
            if s.is_equal[pair]:
                results[pair] = 0.0
            elif is_exact:
                results[pair] = (
                    statistic_of(s, &s.columns[2 * pair + 1], resample) - statistic_of(s, &s.columns[2 * pair], resample)
                )
            else:
                results[pair] = slow_difference(s, pair, resample)
        results += s.count


cdef double slow_difference(Sample *s, Py_ssize_t pair, int64_t resample) noexcept nogil:
    cdef double candidate = slow_statistic(s, &s.columns[2 * pair + 1], resample)
    return candidate - slow_statistic(s, &s.columns[2 * pair], resample)


# ---------------------------------------------------------------------------------------------------------------------
# The door


cdef int allocate(Sample *s) except -1:
    cdef size_t n = <size_t> s.size
    s.padded = (s.size + 63) // 64 * 64
    s.drawn = <uint8_t *> calloc(<size_t> s.padded, 1)
    s.keys = <int64_t *> malloc(n * sizeof(int64_t))
    s.other_keys = <int64_t *> malloc(n * sizeof(int64_t))
    s.near = <Near *> malloc((<size_t> (4.0 * sqrt(<double> n)) + 8) * sizeof(Near))
    if s.drawn == NULL or s.keys == NULL or s.other_keys == NULL or s.near == NULL:
        raise MemoryError
    if not selection_reserve(&s.room, s.size):
        raise MemoryError
    return 0


cdef void sample_free(Sample *s) noexcept:
    cdef Py_ssize_t k
    if s.columns != NULL:
        for k in range(2 * s.count):
            free(s.columns[k].below)
            free(s.columns[k].near)
            free(s.columns[k].near_values)
    free(s.columns)
    free(s.is_equal)
    free(s.drawn)
    free(s.keys)
    free(s.other_keys)
    free(s.near)
    selection_free(&s.room)


def resample(object seed, object columns, bytes kinds, int64_t first, int64_t last, /):
    """Return the difference of a statistic for a range of resamples and for every pair of columns *(levels §1.6, §8)*.

    Resample r draws n pair indices, the k-th from output ``r * n + k`` of SplitMix64; a result is the statistic of the
    drawn candidate values less that of the drawn baseline values.

    Parameters
    ----------
    seed : int
        Taken modulo 2**64.
    columns : sequence of (baseline, candidate), double buffers of shape (n,)
        All of one n, at least 1, without NaN. They share the draws.
    kinds : bytes
        One per pair of columns: ``m`` median, ``a`` arithmetic mean over values that are 0.0 or 1.0.
    first, last : int
        Resamples, half-open, from 0.

    Returns
    -------
    array.array of double, shape ((last - first) * len(columns),)
        Row by row, a row per resample. The same numbers whatever the range they are computed in.

    Raises
    ------
    ValueError
        A column is no contiguous buffer of doubles, empty, of another length, or holds a NaN; values of a mean other
        than 0 and 1; an unknown or missing kind; a range that is none.
    OverflowError
        More than 2147483645 results.
    MemoryError

    Notes
    -----
    Per resample n draws, n bytes per column read at vector speed, and O(sqrt(n)) steps per median on average. Memory 45
    bytes a pair, and one more per pair and column. Releases the GIL, so ranges can be shared among threads.
    Source of the generator: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
    """
    cdef Sample s
    cdef Py_buffer *views = NULL
    cdef Py_ssize_t held = 0, k, count
    cdef Outcome outcome
    cdef int64_t stop, step
    cdef array results
    cdef list sources = [source for baseline, candidate in columns for source in (baseline, candidate)]
    count = len(kinds)
    if len(sources) != 2 * count:
        raise ValueError("every pair of columns needs one kind")
    if not 0 <= first <= last or last > <int64_t> 1 << 62:
        raise ValueError("resamples are numbered from 0 and do not end before they begin")
    if count and (last - first) > 2147483645 // count:
        raise OverflowError("more than 2147483645 results; split the range")
    memset(&s, 0, sizeof(Sample))
    selection_init(&s.room)
    try:
        s.seed = <uint64_t> (int(seed) & 0xFFFFFFFFFFFFFFFF)
        s.columns = <Column *> calloc(2 * <size_t> count + 1, sizeof(Column))
        s.is_equal = <uint8_t *> calloc(<size_t> count + 1, 1)
        views = <Py_buffer *> malloc((2 * <size_t> count + 1) * sizeof(Py_buffer))
        if s.columns == NULL or s.is_equal == NULL or views == NULL:
            raise MemoryError
        s.count = count
        for k in range(2 * count):
            acquire_doubles(sources[k], &views[k])
            held += 1
            if views[k].len != views[0].len or views[k].len == 0:
                raise ValueError("columns must have one length, at least 1")
            if kinds[k // 2] != c"m" and kinds[k // 2] != c"a":
                raise ValueError("a kind is b'm' or b'a'")
            s.columns[k].values = <const double *> views[k].buf
            s.columns[k].statistic = MEDIAN if kinds[k // 2] == c"m" else MEAN
        results = clone(DOUBLE, (last - first) * count, False)
        if count == 0 or first == last:
            return results
        s.size = views[0].len // 8
        allocate(&s)
        with nogil:
            outcome = prepare(&s)
        if outcome == NO_MEMORY:
            raise MemoryError
        if outcome == HAS_NAN:
            raise ValueError("NaN has no rank")
        if outcome == NOT_BINARY:
            raise ValueError("means are taken over 0.0 and 1.0 only")
        step = max(1, DRAWS_AT_ONCE // s.size)
        stop = first
        while stop < last:
            k = stop - first
            with nogil:
                run(&s, stop, min(stop + step, last), results.data.as_doubles + k * count)
            stop = min(stop + step, last)
            PyErr_CheckSignals()
        return results
    finally:
        sample_free(&s)
        for k in range(held):
            PyBuffer_Release(&views[k])
        free(views)
