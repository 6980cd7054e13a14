"""Needleman–Wunsch alignment: content blocks by id *(levels §4.1)*, turns by three tables *(levels §3.2)*.

Both keep two bits per cell for the way back and one row of costs.
"""

from cpython.array cimport array, clone
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport sqrt
from libc.stdlib cimport calloc
from libc.string cimport memset

from buffers cimport (
    PyBuffer_Release, Py_buffer, acquire_ints, free, int32_t, malloc, memcpy, uint8_t, uint64_t,
)
from turn_costs cimport Costs, Turns, costs_free, costs_init, fill_costs
from turn_shingles cimport Overlap, common_of, count_common, overlap_free, overlap_init

cdef extern from "align_rows.h" nogil:
    void block_row(int32_t id, int32_t kind, const int32_t *ids, const int32_t *kinds, Py_ssize_t columns, int32_t *row,
                   int32_t *best, uint8_t *steps)
    void turn_row(const double *m0, const double *x0, const double *y0, double *m1, double *x1, double *y1,
                  const double *costs, Py_ssize_t low, Py_ssize_t high, uint64_t *found, uint8_t *steps)

cdef extern from "id_scan.h" nogil:
    int32_t equal_tail(const int32_t *a, const int32_t *b, int32_t length)

cdef array INT32 = array("i")
cdef array DOUBLE = array("d")
cdef uint64_t SEED = <uint64_t> hash("stratadiff.align") * <uint64_t> 0x9E3779B97F4A7C15

cdef enum:
    PAIR = 0
    INSERT = 1
    DROP = 2
    WORK = 1 << 25          # operations between two looks at signals
    TOOLS = 0               # buffers of a side of turns
    TOOL_BOUNDS = 1
    CALLS = 2
    TEXTS = 3
    SHINGLES = 4
    SHINGLE_BOUNDS = 5
    STOPS = 6
    NAMES = 7
    INPUTS = 8
    ARGUMENT_BOUNDS = 9
    BUFFERS = 10
    BANDED = 1000           # turns of the longer side up to which all cells are computed
    NARROWEST = 100         # columns on either side of the diagonal of two equally long sides

cdef double INFINITE = 1e18
cdef double OPEN = 0.60
cdef double EXTEND = 0.15


cdef inline int step_at(const uint8_t *row, Py_ssize_t at) noexcept nogil:
    return row[at >> 2] >> 2 * (at & 3) & 3


# ---------------------------------------------------------------------------------------------------------------------
# Blocks


cdef void fill_blocks(const int32_t *ids_a, const int32_t *ids_b, const int32_t *kinds_a, const int32_t *kinds_b,
                      Py_ssize_t first, Py_ssize_t last, Py_ssize_t columns, int32_t *row, int32_t *best,
                      uint8_t *steps, Py_ssize_t stride) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(first, last):
        block_row(ids_a[i], kinds_a[i], ids_b, kinds_b, columns, row, best, steps + i * stride)


def blocks(object ids_a, object ids_b, object kinds_a, object kinds_b, /, Py_ssize_t max_cells=1 << 28):
    """Return the cheapest alignment of two lists of blocks.

    A gap costs 1.0, a pair 0.0 with one id, 0.5 with one kind, else 2.5. Of equal costs a pair goes before an addition and
    that before a removal, at every cell; the way back starts at the far corner.

    Parameters
    ----------
    ids_a, ids_b : int32 buffer, shapes (n,) and (m,)
        Blocks with one id are equal.
    kinds_a, kinds_b : int32 buffer, shapes (n,) and (m,)
        Blocks with one kind are comparable.
    max_cells : int, default 2**28
        Cells the table may have, after equal blocks at the end are paired.

    Returns
    -------
    array.array of int32, shape (2 * steps,)
        Steps in forward order, two values each: a block of a, a block of b, -1 where a side has none.

    Raises
    ------
    ValueError
        If an argument is no int32 buffer, or a block has no kind.
    OverflowError
        If the table is too large.
    MemoryError

    Notes
    -----
    Time O(n m); memory a quarter of a byte per cell. Source: levels §4.1.
    """
    cdef Py_buffer[4] views
    cdef int held = 0, step
    cdef const int32_t *a
    cdef const int32_t *b
    cdef Py_ssize_t n, m, equal, shorter, stride, i, j, at, last
    cdef int32_t *row = NULL
    cdef int32_t *best = NULL
    cdef uint8_t *steps = NULL
    cdef array result
    cdef int32_t *out
    try:
        for source in (ids_a, ids_b, kinds_a, kinds_b):
            acquire_ints(source, &views[held])
            held += 1
        n = views[0].len // 4
        m = views[1].len // 4
        if views[2].len // 4 != n or views[3].len // 4 != m:
            raise ValueError("every block needs an id and a kind")
        a = <const int32_t *> views[0].buf
        b = <const int32_t *> views[1].buf
        # An equal pair in the far corner is never dearer than a gap there, so those go without the table.
        shorter = n if n < m else m
        equal = equal_tail(a + (n - shorter), b + (m - shorter), <int32_t> shorter)
        n -= equal
        m -= equal
        if n and m and n > max_cells // m:
            raise OverflowError(f"{n} by {m} blocks are more than the {max_cells} cells an alignment may have")
        stride = (m + 3) // 4
        if n and m:
            row = <int32_t *> calloc(<size_t> m + 1, sizeof(int32_t))
            best = <int32_t *> malloc(<size_t> m * sizeof(int32_t))
            steps = <uint8_t *> malloc(<size_t> n * <size_t> stride)
            if row == NULL or best == NULL or steps == NULL:
                raise MemoryError
            i = 0
            while i < n:
                last = i + min(n - i, WORK // m + 1)
                with nogil:
                    fill_blocks(a, b, <const int32_t *> views[2].buf, <const int32_t *> views[3].buf, i, last, m, row,
                                best, steps, stride)
                i = last
                if i < n:
                    PyErr_CheckSignals()
        # Written backwards from the end, then moved to the front.
        result = clone(INT32, 2 * (n + m + equal), False)
        out = <int32_t *> result.data.as_ints
        at = 2 * (n + m + equal)
        for i in range(equal):
            at -= 2
            out[at] = <int32_t> (n + equal - 1 - i)
            out[at + 1] = <int32_t> (m + equal - 1 - i)
        i = n
        j = m
        while i or j:
            step = INSERT if i == 0 else DROP if j == 0 else step_at(steps + (i - 1) * stride, j - 1)
            if step != INSERT:
                i -= 1
            if step != DROP:
                j -= 1
            at -= 2
            out[at] = <int32_t> i if step != INSERT else -1
            out[at + 1] = <int32_t> j if step != DROP else -1
        return result[at:] if at else result
    finally:
        free(row)
        free(best)
        free(steps)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])


# ---------------------------------------------------------------------------------------------------------------------
# Turns


cdef struct Tables:
    Py_ssize_t rows
    Py_ssize_t columns
    Py_ssize_t width        # of the band: cells with |i - j| <= width are computed; all of them if it is rows + columns
    Py_ssize_t stride       # bytes of steps a row
    uint8_t *steps
    uint64_t *found          # steps of a row, before they are packed
    double *costs           # six rows: M, X, Y of the row before and of this one


cdef inline Py_ssize_t low_end(const Tables *t, Py_ssize_t i) noexcept nogil:
    # Columns of a row, both ends included; column 0 is the border.
    return i - t.width if i > t.width + 1 else 1


cdef inline Py_ssize_t high_end(const Tables *t, Py_ssize_t i) noexcept nogil:
    return i + t.width if t.columns - i > t.width else t.columns


cdef void fill_row(Tables *t, Py_ssize_t i, const double *costs) noexcept nogil:
    # Row i, from 1; costs[j] is that of pairing turns i - 1 and j.
    cdef Py_ssize_t size = t.columns + 2, low = low_end(t, i), high = high_end(t, i)
    cdef const double *before = t.costs + (0 if i & 1 else 3 * size)
    cdef double *row = t.costs + (3 * size if i & 1 else 0)
    row[low - 1] = row[size + low - 1] = row[2 * size + low - 1] = INFINITE
    if low == 1 and i <= t.width:
        row[0] = row[2 * size] = OPEN + <double> (i - 1) * EXTEND
    turn_row(before, before + size, before + 2 * size, row, row + size, row + 2 * size, costs, low, high, t.found,
             t.steps + (i - 1) * t.stride)
    # The next row may look one column further.
    row[high + 1] = row[size + high + 1] = row[2 * size + high + 1] = INFINITE


cdef Py_ssize_t fill_rows(Tables *t, Costs *costs, Overlap *overlap, Py_ssize_t i) noexcept nogil:
    # Row i and those after it, until it is time to look at signals; returns the next row.
    cdef Py_ssize_t low, high, work = 0
    while i <= t.rows and work < WORK:
        low = low_end(t, i)
        high = high_end(t, i)
        work += count_common(overlap, i - 1, low - 1, high)
        fill_costs(costs, i - 1, low - 1, high, overlap.common)
        fill_row(t, i, costs.row)
        work += (high - low + 16) * (
            8 + costs.turns.tool_bounds[i] - costs.turns.tool_bounds[i - 1]
            + costs.turns.argument_bounds[i] - costs.turns.argument_bounds[i - 1]
        )
        i += 1
    return i


cdef struct Given:
    # One side's arguments, and where the lists of its turns begin in each of the three buffers that hold lists.
    Py_buffer[10] views
    int held
    Py_ssize_t count


cdef int take_side(object source, Given *side) except -1:
    cdef tuple parts = tuple(source)
    cdef int k
    if len(parts) != BUFFERS:
        raise ValueError(f"a side has {BUFFERS} buffers")
    for part in parts:
        acquire_ints(part, &side.views[side.held])
        side.held += 1
    side.count = side.views[CALLS].len // 4
    for k in (TEXTS, STOPS):
        if side.views[k].len // 4 != side.count:
            raise ValueError("the buffers of a side speak of different numbers of turns")
    for k in (TOOL_BOUNDS, SHINGLE_BOUNDS, ARGUMENT_BOUNDS):
        if side.views[k].len // 4 != side.count + 1:
            raise ValueError("bounds need one entry more than there are turns")
    if side.views[NAMES].len != side.views[INPUTS].len:
        raise ValueError("every argument needs a name and a value")
    return 0


cdef void drop_side(Given *side) noexcept:
    while side.held:
        side.held -= 1
        PyBuffer_Release(&side.views[side.held])


cdef int copy_bounds(const Given *side, int k, int items, Py_ssize_t *bounds, Py_ssize_t *first) except -1:
    # To `bounds`, which has the end of what comes before already. Each is looked at once: another thread may change them.
    cdef const int32_t *given = <const int32_t *> side.views[k].buf
    cdef Py_ssize_t at, bound, before = given[0], limit = side.views[items].len // 4
    first[0] = before
    if before < 0:
        raise ValueError("bounds reach outside the elements")
    for at in range(side.count):
        bound = given[at + 1]
        if bound > limit:
            raise ValueError("bounds reach outside the elements")
        if bound < before:
            raise ValueError("bounds must not decrease")
        bounds[at + 1] = bounds[at] + (bound - before)
        before = bound
    return 0


cdef Py_ssize_t *join_bounds(const Given *a, const Given *b, int k, int items, Py_ssize_t *firsts) except NULL:
    cdef Py_ssize_t *bounds = <Py_ssize_t *> malloc(<size_t> (a.count + b.count + 1) * sizeof(Py_ssize_t))
    if bounds == NULL:
        raise MemoryError
    bounds[0] = 0
    try:
        copy_bounds(a, k, items, bounds, &firsts[0])
        copy_bounds(b, k, items, bounds + a.count, &firsts[1])
    except BaseException:
        free(bounds)
        raise
    return bounds


cdef int32_t *join_items(const Given *a, const Given *b, int k, Py_ssize_t n, Py_ssize_t m,
                         const Py_ssize_t *firsts) except NULL:
    # A copy of n items of one side and m of the other, in which no other thread can change what was looked at.
    cdef int32_t *items = <int32_t *> malloc(<size_t> (n + m + 1) * sizeof(int32_t))
    if items == NULL:
        raise MemoryError
    if n:
        memcpy(items, <const int32_t *> a.views[k].buf + firsts[0], <size_t> n * sizeof(int32_t))
    if m:
        memcpy(items + n, <const int32_t *> b.views[k].buf + firsts[1], <size_t> m * sizeof(int32_t))
    return items


cdef int check_ascending(const int32_t *items, const Py_ssize_t *bounds, Py_ssize_t count, str what) except -1:
    cdef Py_ssize_t i, at
    for i in range(count):
        for at in range(bounds[i] + 1, bounds[i + 1]):
            if items[at] <= items[at - 1]:
                raise ValueError(f"the {what} of a turn must ascend")
    return 0


cdef int32_t *join_lists(const Given *a, const Given *b, int items, int bounds_at, str what, Py_ssize_t **bounds,
                         Py_ssize_t *firsts) except NULL:
    cdef Py_ssize_t split
    cdef int32_t *joined
    bounds[0] = join_bounds(a, b, bounds_at, items, firsts)
    split = bounds[0][a.count]
    joined = join_items(a, b, items, split, bounds[0][a.count + b.count] - split, firsts)
    try:
        check_ascending(joined, bounds[0], a.count + b.count, what)
    except BaseException:
        free(joined)
        raise
    return joined


cdef int join_sides(Turns *t, Overlap *overlap, const Given *a, const Given *b) except -1:
    # Fills the turns, and the overlap's shingles.
    cdef Py_ssize_t[2] firsts
    cdef Py_ssize_t[2] zeros
    cdef Py_ssize_t n = a.count, m = b.count, at
    zeros[0] = zeros[1] = 0
    t.rows = overlap.rows = n
    t.columns = overlap.columns = m
    t.calls = join_items(a, b, CALLS, n, m, zeros)
    t.texts = join_items(a, b, TEXTS, n, m, zeros)
    t.stops = join_items(a, b, STOPS, n, m, zeros)
    t.tools = join_lists(a, b, TOOLS, TOOL_BOUNDS, "tools", &t.tool_bounds, firsts)
    t.names = join_lists(a, b, NAMES, ARGUMENT_BOUNDS, "names of arguments", &t.argument_bounds, firsts)
    t.inputs = join_items(a, b, INPUTS, t.argument_bounds[n], t.argument_bounds[n + m] - t.argument_bounds[n], firsts)
    overlap.numbers = join_lists(a, b, SHINGLES, SHINGLE_BOUNDS, "shingles", &t.shingle_bounds, firsts)
    for at in range(n + m):
        if t.calls[at] < 0:
            raise ValueError("numbers of calls must not be negative")
        # They ascend: the first is the smallest.
        if t.shingle_bounds[at] < t.shingle_bounds[at + 1] and overlap.numbers[t.shingle_bounds[at]] < 0:
            raise ValueError("shingle ids must not be negative")
    return 0


def turns(object side_a, object side_b, /, Py_ssize_t max_cells=1 << 28):
    """Return the alignment of the turns of two traces by three tables with affine gaps.

    Parameters
    ----------
    side_a, side_b : sequence of ten int32 buffers
        Baseline and candidate, n and m turns. In order: the tools of every turn, ascending, and their bounds; numbers of calls;
        texts; the shingles of every text, ascending, and their bounds; stop reasons; names of the tools used, ascending, the
        arguments each was first given, and their bounds. Bounds have one entry more than there are turns. Ids mean the same on
        both sides; texts, stop reasons and arguments are equal where their ids are.
    max_cells : int, default 2**28
        Cells the tables may have inside the band.

    Returns
    -------
    path : bytes
        ``A`` a pair, ``D`` a baseline turn dropped, ``I`` a candidate turn inserted, in forward order.
    costs : array.array of double
        Of every pair, in that order.

    Raises
    ------
    ValueError
        If an argument is no int32 buffer, or they do not fit together.
    OverflowError
        If the tables are too large.
    MemoryError

    Notes
    -----
    O(n m) cells, inside the band past 1,000 turns; every row costs the shingles its turn shares, too. Memory: a quarter of
    a byte per cell, and linear in the arguments. Source: levels §3.2.
    """
    cdef Given a, b
    cdef Costs c
    cdef Overlap overlap
    cdef Tables t
    cdef Py_ssize_t n, m, longer, size, i, j, at, k, cells, pair_count = 0
    cdef int step
    cdef bint has_room
    cdef array costs
    cdef uint8_t *path = NULL
    a.held = b.held = 0
    memset(&c, 0, sizeof(c))
    memset(&overlap, 0, sizeof(overlap))
    memset(&t, 0, sizeof(t))
    try:
        take_side(side_a, &a)
        take_side(side_b, &b)
        n = t.rows = a.count
        m = t.columns = b.count
        longer = n if n > m else m
        t.width = n + m
        if longer > BANDED:
            k = <Py_ssize_t> sqrt(<double> longer)
            t.width = (n - m if n > m else m - n) + (k if k > NARROWEST else NARROWEST)
        cells = m if m < 2 * t.width + 1 else 2 * t.width + 1
        if n and m and n > max_cells // cells:
            raise OverflowError(f"{n} by {m} turns are more than the {max_cells} cells an alignment may have")
        join_sides(&c.turns, &overlap, &a, &b)
        path = <uint8_t *> malloc(<size_t> (n + m + 1))
        if path == NULL:
            raise MemoryError
        if n and m:
            size = m + 2
            t.stride = (cells + 3) // 4
            t.found = <uint64_t *> malloc(<size_t> cells * sizeof(uint64_t))
            t.costs = <double *> malloc(<size_t> (6 * size) * sizeof(double))
            t.steps = <uint8_t *> malloc(<size_t> n * <size_t> t.stride)
            if t.found == NULL or t.costs == NULL or t.steps == NULL:
                raise MemoryError
            with nogil:
                has_room = costs_init(&c, SEED) and overlap_init(&overlap, c.turns.shingle_bounds)
                for j in range(6 * size):
                    t.costs[j] = INFINITE
                t.costs[0] = 0.0
                for j in range(1, m + 1):
                    if j <= t.width:
                        t.costs[j] = t.costs[size + j] = OPEN + <double> (j - 1) * EXTEND
            if not has_room:
                raise MemoryError
            i = 1
            while i <= n:
                with nogil:
                    i = fill_rows(&t, &c, &overlap, i)
                PyErr_CheckSignals()
        at = n + m
        i = n
        j = m
        while i or j:
            if i == 0 or j == 0:
                step = INSERT if i == 0 else DROP
            else:
                step = step_at(t.steps + (i - 1) * t.stride, j - low_end(&t, i))
            at -= 1
            path[at] = c"A" if step == PAIR else c"I" if step == INSERT else c"D"
            pair_count += step == PAIR
            if step != INSERT:
                i -= 1
            if step != DROP:
                j -= 1
        costs = clone(DOUBLE, pair_count, False)
        i = j = pair_count = 0
        for k in range(at, n + m):
            if path[k] == c"A":
                overlap.common[j] = common_of(&overlap, i, j)
                fill_costs(&c, i, j, j + 1, overlap.common)
                costs.data.as_doubles[pair_count] = c.row[j]
                pair_count += 1
            i += path[k] != c"I"
            j += path[k] != c"D"
        return (<char *> path + at)[:n + m - at], costs
    finally:
        free(path)
        free(t.steps)
        free(t.found)
        free(t.costs)
        costs_free(&c)
        overlap_free(&overlap)
        drop_side(&a)
        drop_side(&b)
