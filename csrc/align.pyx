"""Needleman–Wunsch alignment: content blocks by id *(levels §4.1)*, turns by three tables *(levels §3.2)*.

Both keep two bits per cell for the way back and one row of costs.
"""

from cpython.array cimport array, clone
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport sqrt

from buffers cimport (
    Py_buffer, PyBuffer_Release, acquire_ints, check_bounds, free, int32_t, int64_t, malloc, uint8_t, uint64_t,
)
from turn_costs cimport Side, bit_count, cost, shared

cdef extern from "<stdlib.h>" nogil:
    void *calloc(size_t, size_t)

cdef extern from "<string.h>" nogil:
    void *memset(void *, int, size_t)

cdef enum:
    PAIR = 0
    INSERT = 1
    DROP = 2
    # Costs of blocks in halves: the gap, and a pair of the same kind or of different ones.
    GAP = 2
    SAME_KIND = 1
    OTHER_KIND = 5
    # Cells between two looks at signals.
    BATCH = 4000000
    # A shingle in at least one turn of so many is looked for by a bit instead of a list.
    FREQUENT = 12
    FEWEST = 16
    PARTS = 10

cdef double INFINITE = 1e18
cdef double OPEN = 0.60
cdef double EXTEND = 0.15

MAX_CELLS = 1 << 28

cdef array _ints = array('i')
cdef array _doubles = array('d')


cdef inline void put_step(uint8_t *row, Py_ssize_t at, int step) noexcept nogil:
    # The row starts as zeros.
    row[at >> 2] |= <uint8_t> (step << 2 * (at & 3))


cdef inline int get_step(const uint8_t *row, Py_ssize_t at) noexcept nogil:
    return row[at >> 2] >> 2 * (at & 3) & 3


# -----------------------------------------------------------------------------------------------------------
# Blocks


cdef void fill_blocks(
    const int32_t *ids_a, const int32_t *ids_b, const int32_t *kinds_a, const int32_t *kinds_b, Py_ssize_t first,
    Py_ssize_t last, Py_ssize_t columns, int32_t *row, uint8_t *steps, Py_ssize_t stride,
) noexcept nogil:
    # Rows first to last - 1 of the table; `row` holds the costs of the row before.
    cdef Py_ssize_t i, j
    cdef int32_t diagonal, above, pair, best
    cdef uint8_t *out
    for i in range(first, last):
        out = steps + i * stride
        diagonal = row[0]
        row[0] = <int32_t> (i + 1) * GAP
        for j in range(columns):
            above = row[j + 1]
            if ids_a[i] == ids_b[j]:
                pair = diagonal
            elif kinds_a[i] == kinds_b[j]:
                pair = diagonal + SAME_KIND
            else:
                pair = diagonal + OTHER_KIND
            best = row[j] + GAP
            if pair <= best and pair <= above + GAP:
                best = pair
            elif best <= above + GAP:
                put_step(out, j, INSERT)
            else:
                best = above + GAP
                put_step(out, j, DROP)
            row[j + 1] = best
            diagonal = above


def blocks(ids_a, ids_b, kinds_a, kinds_b, /, Py_ssize_t max_cells=1 << 28):
    """Align two lists of blocks.

    Costs are 1.0 for a gap and, for a pair, 0.0 with one id, 0.5 with one kind, else 2.5. Of equal costs a pair goes
    before an addition and that before a removal, at every cell; the way back starts at the far corner.

    Parameters
    ----------
    ids_a, ids_b : int32 buffer
        Blocks with one id are equal.
    kinds_a, kinds_b : int32 buffer
        Blocks with one kind are comparable.
    max_cells : int, optional
        Cells the table may have, after equal blocks at the ends are paired.

    Returns
    -------
    array('i')
        Steps in forward order, two values each: a block of a, a block of b, -1 where a side has none.

    Raises
    ------
    ValueError
        Buffers that are no int32, or ids without kinds.
    OverflowError
        The table is too large.
    MemoryError

    Notes
    -----
    Time O(nm); memory nm / 4 bytes. Equal blocks at the ends cost nothing.
    """
    cdef Py_buffer[4] views
    cdef int opened = 0
    cdef const int32_t *a
    cdef const int32_t *b
    cdef Py_ssize_t n, m, equal = 0, stride, i, j, at, row_count
    cdef int32_t *row = NULL
    cdef uint8_t *steps = NULL
    cdef array result
    cdef int *out
    cdef int step
    try:
        for source in (ids_a, ids_b, kinds_a, kinds_b):
            acquire_ints(source, &views[opened])
            opened += 1
        n = views[0].len // 4
        m = views[1].len // 4
        if views[2].len // 4 != n or views[3].len // 4 != m:
            raise ValueError("every block needs an id and a kind")
        a = <const int32_t *> views[0].buf
        b = <const int32_t *> views[1].buf
        while equal < n and equal < m and a[n - 1 - equal] == b[m - 1 - equal]:
            equal += 1
        # An equal pair in the far corner is never dearer than a gap there, so those go without the table.
        n -= equal
        m -= equal
        if n and m and n > max_cells // m:
            raise OverflowError(f"{n} by {m} blocks are more than the {max_cells} cells an alignment may have")
        stride = (m + 3) // 4
        if n and m:
            row = <int32_t *> malloc(<size_t> (m + 1) * sizeof(int32_t))
            steps = <uint8_t *> calloc(<size_t> n, <size_t> stride)
            if row == NULL or steps == NULL:
                raise MemoryError
            for j in range(m + 1):
                row[j] = <int32_t> j * GAP
            i = 0
            row_count = BATCH // m + 1
            while i < n:
                at = i + row_count if row_count < n - i else n
                with nogil:
                    fill_blocks(
                        a, b, <const int32_t *> views[2].buf, <const int32_t *> views[3].buf, i, at, m, row, steps, stride
                    )
                i = at
                PyErr_CheckSignals()
        # Written backwards from the end, then moved to the front.
        result = clone(_ints, 2 * (n + m + equal), False)
        out = result.data.as_ints
        at = 2 * (n + m + equal)
        for i in range(equal):
            at -= 2
            out[at] = <int32_t> (n + equal - 1 - i)
            out[at + 1] = <int32_t> (m + equal - 1 - i)
        i = n
        j = m
        while i or j:
            step = INSERT if i == 0 else DROP if j == 0 else get_step(steps + (i - 1) * stride, j - 1)
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
        free(steps)
        while opened:
            opened -= 1
            PyBuffer_Release(&views[opened])


# -----------------------------------------------------------------------------------------------------------
# Turns


cdef struct Table:
    Side a
    Side b
    Py_ssize_t width        # of the band: |i - j| of the cells computed; all of them if it is at least a.count + b.count
    Py_ssize_t stride       # bytes of steps a row
    uint8_t *steps
    double *rows            # six: M, X, Y of the row before and of this one
    int32_t *common         # per candidate turn, shingles in common with the row's
    int32_t *starts         # per shingle: its list of candidate turns in `places`
    int32_t *heads          # and the first of them that is still inside the band
    int32_t *places
    int32_t *bits           # per shingle: its bit, -1 if it has a list
    Py_ssize_t words
    uint64_t *bits_a
    uint64_t *bits_b


cdef inline Py_ssize_t low_end(const Table *t, Py_ssize_t i) noexcept nogil:
    # Columns of a row, both ends included; column 0 is the border.
    return i - t.width if i > t.width + 1 else 1


cdef inline Py_ssize_t high_end(const Table *t, Py_ssize_t i) noexcept nogil:
    return i + t.width if t.b.count - i > t.width else t.b.count


cdef void count_common(Table *t, Py_ssize_t i, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    # Shingles that turn i of the baseline shares with the candidate's turns low to high - 1.
    cdef const int32_t *ids = t.a.shingles
    cdef int32_t *common = t.common
    cdef Py_ssize_t at, j, k
    cdef int32_t id, head, end
    cdef const uint64_t *x = t.bits_a + i * t.words
    cdef const uint64_t *y
    cdef int64_t sum
    for j in range(low, high):
        common[j] = 0
    for at in range(t.a.shingle_bounds[i], t.a.shingle_bounds[i + 1]):
        id = ids[at]
        if t.bits[id] >= 0:
            continue
        head = t.heads[id]
        end = t.starts[id + 1]
        while head < end and t.places[head] < low:
            head += 1
        t.heads[id] = head
        while head < end and t.places[head] < high:
            common[t.places[head]] += 1
            head += 1
    if t.words:
        for j in range(low, high):
            y = t.bits_b + j * t.words
            sum = 0
            for k in range(t.words):
                sum += bit_count(x[k] & y[k])
            common[j] += <int32_t> sum


cdef void fill_turns(Table *t, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    # Rows first to last of the three tables, the first one being 1; rows 0 of M, X, Y stand in the upper three.
    cdef Py_ssize_t size = t.b.count + 2
    cdef double *above = t.rows
    cdef double *here = t.rows + 3 * size
    cdef double *m0
    cdef double *x0
    cdef double *y0
    cdef double *m1
    cdef double *x1
    cdef double *y1
    cdef double *other
    cdef Py_ssize_t i, j, low, high
    cdef double m, x, y, best, value
    cdef uint8_t *out
    if first % 2 == 0:
        above = t.rows + 3 * size
        here = t.rows
    for i in range(first, last + 1):
        low = low_end(t, i)
        high = high_end(t, i)
        m0 = above
        x0 = above + size
        y0 = above + 2 * size
        m1 = here
        x1 = here + size
        y1 = here + 2 * size
        m1[low - 1] = x1[low - 1] = y1[low - 1] = INFINITE
        if low == 1 and i <= t.width:
            m1[0] = y1[0] = OPEN + <double> (i - 1) * EXTEND
        count_common(t, i - 1, low - 1, high)
        out = t.steps + (i - 1) * t.stride
        for j in range(low, high + 1):
            best = m0[j - 1]
            if x0[j - 1] < best:
                best = x0[j - 1]
            if y0[j - 1] < best:
                best = y0[j - 1]
            m = best + cost(&t.a, &t.b, i - 1, j - 1, t.common[j - 1])
            x = m1[j - 1] + OPEN
            value = x1[j - 1] + EXTEND
            if value < x:
                x = value
            y = m0[j] + OPEN
            value = y0[j] + EXTEND
            if value < y:
                y = value
            m1[j] = m
            x1[j] = x
            y1[j] = y
            best = m if m < x else x
            if y < best:
                best = y
            value = best - m
            if value < 0:
                value = -value
            if value >= 1e-12:
                value = best - x
                if value < 0:
                    value = -value
                put_step(out, j - low, INSERT if value < 1e-12 else DROP)
        # The next row may look one column further.
        m1[high + 1] = x1[high + 1] = y1[high + 1] = INFINITE
        other = above
        above = here
        here = other


cdef int prepare(Table *t, Py_ssize_t shingle_count) except -1:
    # Lists and bits of the shingles that both sides have.
    cdef Side *a = &t.a
    cdef Side *b = &t.b
    cdef Py_ssize_t at, i, k, total = 0, bit_count_ = 0
    cdef int32_t id
    cdef int32_t fewest = FEWEST if b.count < FREQUENT * FEWEST else <int32_t> (b.count // FREQUENT)
    t.starts = <int32_t *> calloc(<size_t> shingle_count + 2, sizeof(int32_t))
    t.heads = <int32_t *> calloc(<size_t> shingle_count + 1, sizeof(int32_t))
    t.bits = <int32_t *> malloc(<size_t> (shingle_count + 1) * sizeof(int32_t))
    t.common = <int32_t *> calloc(<size_t> b.count + 1, sizeof(int32_t))
    if t.starts == NULL or t.heads == NULL or t.bits == NULL or t.common == NULL:
        raise MemoryError
    with nogil:
        # heads marks what the baseline has, starts[id + 2] counts the candidate's turns with it.
        for at in range(a.shingle_bounds[0], a.shingle_bounds[a.count]):
            t.heads[a.shingles[at]] = 1
        for at in range(b.shingle_bounds[0], b.shingle_bounds[b.count]):
            t.starts[b.shingles[at] + 1] += t.heads[b.shingles[at]]
        for k in range(shingle_count):
            t.bits[k] = -1
            if t.starts[k + 1] >= fewest:
                t.bits[k] = <int32_t> bit_count_
                bit_count_ += 1
                t.starts[k + 1] = 0
            total += t.starts[k + 1]
            t.starts[k + 1] = <int32_t> total
        t.words = (bit_count_ + 63) // 64
    t.places = <int32_t *> malloc(<size_t> (total + 1) * sizeof(int32_t))
    t.bits_a = <uint64_t *> calloc(<size_t> a.count * t.words + 1, sizeof(uint64_t))
    t.bits_b = <uint64_t *> calloc(<size_t> b.count * t.words + 1, sizeof(uint64_t))
    if t.places == NULL or t.bits_a == NULL or t.bits_b == NULL:
        raise MemoryError
    with nogil:
        for i in range(a.count):
            for at in range(a.shingle_bounds[i], a.shingle_bounds[i + 1]):
                id = t.bits[a.shingles[at]]
                if id >= 0:
                    t.bits_a[i * t.words + (id >> 6)] |= <uint64_t> 1 << (id & 63)
        for k in range(shingle_count):
            # From here on: where the next turn of the list goes, 0 marking no list.
            t.heads[k] = t.starts[k] if t.heads[k] else -1
        for i in range(b.count):
            for at in range(b.shingle_bounds[i], b.shingle_bounds[i + 1]):
                id = b.shingles[at]
                if t.bits[id] >= 0:
                    t.bits_b[i * t.words + (t.bits[id] >> 6)] |= <uint64_t> 1 << (t.bits[id] & 63)
                elif t.heads[id] >= 0 and t.heads[id] < t.starts[id + 1]:
                    t.places[t.heads[id]] = <int32_t> i
                    t.heads[id] += 1
        for k in range(shingle_count):
            t.heads[k] = t.starts[k]
    return 0


cdef int open_side(object source, Side *side, Py_buffer *views, int *opened, Py_ssize_t *shingle_count) except -1:
    cdef tuple parts = tuple(source)
    cdef Py_ssize_t k, limit
    cdef const int32_t *ids
    if len(parts) != PARTS:
        raise ValueError(f"a side has {PARTS} buffers")
    for part in parts:
        acquire_ints(part, &views[opened[0]])
        opened[0] += 1
    views += opened[0] - PARTS
    side.count = views[2].len // 4
    side.tools = <const int32_t *> views[0].buf
    side.tool_bounds = <const int32_t *> views[1].buf
    side.calls = <const int32_t *> views[2].buf
    side.texts = <const int32_t *> views[3].buf
    side.shingles = <const int32_t *> views[4].buf
    side.shingle_bounds = <const int32_t *> views[5].buf
    side.stops = <const int32_t *> views[6].buf
    side.names = <const int32_t *> views[7].buf
    side.inputs = <const int32_t *> views[8].buf
    side.argument_bounds = <const int32_t *> views[9].buf
    for k in (3, 6):
        if views[k].len // 4 != side.count:
            raise ValueError("the buffers of a side speak of different numbers of turns")
    for k in (1, 5, 9):
        if views[k].len // 4 != side.count + 1:
            raise ValueError("bounds need one entry more than there are turns")
    if views[7].len != views[8].len:
        raise ValueError("every argument needs a name and a value")
    check_bounds(side.tool_bounds, side.count + 1, views[0].len // 4)
    check_bounds(side.shingle_bounds, side.count + 1, views[4].len // 4)
    check_bounds(side.argument_bounds, side.count + 1, views[7].len // 4)
    limit = 0
    ids = side.shingles
    for k in range(views[4].len // 4):
        if ids[k] < 0:
            raise ValueError("shingle ids must not be negative")
        if ids[k] >= limit:
            limit = ids[k] + 1
    if limit > shingle_count[0]:
        shingle_count[0] = limit
    for k in range(side.count):
        if side.calls[k] < 0:
            raise ValueError("numbers of calls must not be negative")
    return 0


def turns(side_a, side_b, /, Py_ssize_t max_cells=1 << 28):
    """Align the turns of two traces by three tables with affine gaps.

    Parameters
    ----------
    side_a, side_b : sequence of ten int32 buffers
        Baseline and candidate. The tools of every turn, ascending, and their bounds; numbers of calls; texts; the
        shingles of every text, ascending and without repeats, and their bounds; stop reasons; names of the tools
        used, ascending, the arguments each was first given, and their bounds. Ids mean the same on both sides:
        texts, stops and arguments are equal where their ids are.
    max_cells : int, optional
        Cells the tables may have inside the band.

    Returns
    -------
    path : bytes
        ``A`` a pair, ``D`` a baseline turn dropped, ``I`` a candidate turn inserted, in forward order.
    costs : array('d')
        Of every pair, in that order.

    Raises
    ------
    ValueError
        Buffers that are no int32 or do not fit together.
    OverflowError
        The tables are too large.
    MemoryError

    Notes
    -----
    O(nm) cells, inside the band past 1,000 turns; a cell costs the shingles its turns share. Memory: a quarter of a
    byte per cell, and linear in the turns and shingles.
    """
    cdef Py_buffer[20] views
    cdef int opened = 0
    cdef Table t
    cdef Py_ssize_t n, m, longer, size, i, j, at, k, shingle_count = 0, cells, last, batch, pair_count
    cdef int step
    cdef array costs
    cdef uint8_t *path = NULL
    memset(&t, 0, sizeof(t))
    try:
        open_side(side_a, &t.a, views, &opened, &shingle_count)
        open_side(side_b, &t.b, views, &opened, &shingle_count)
        n = t.a.count
        m = t.b.count
        longer = n if n > m else m
        t.width = n + m
        if longer > 1000:
            k = <Py_ssize_t> sqrt(<double> longer)
            while k * k > longer:
                k -= 1
            while (k + 1) * (k + 1) <= longer:
                k += 1
            t.width = (n - m if n > m else m - n) + (k if k > 100 else 100)
        cells = m if m < 2 * t.width + 1 else 2 * t.width + 1
        if n and m and n > max_cells // cells:
            raise OverflowError(f"{n} by {m} turns are more than the {max_cells} cells an alignment may have")
        path = <uint8_t *> malloc(<size_t> (n + m + 1))
        if path == NULL:
            raise MemoryError
        if n and m:
            prepare(&t, shingle_count)
            size = m + 2
            t.stride = (cells + 3) // 4
            t.rows = <double *> malloc(<size_t> (6 * size) * sizeof(double))
            t.steps = <uint8_t *> calloc(<size_t> n, <size_t> t.stride)
            if t.rows == NULL or t.steps == NULL:
                raise MemoryError
            for j in range(6 * size):
                t.rows[j] = INFINITE
            t.rows[0] = 0.0
            for j in range(1, m + 1):
                if j <= t.width:
                    t.rows[j] = t.rows[size + j] = OPEN + <double> (j - 1) * EXTEND
            batch = BATCH // cells + 1
            i = 1
            while i <= n:
                last = i + batch - 1 if batch - 1 < n - i else n
                with nogil:
                    fill_turns(&t, i, last)
                i = last + 1
                PyErr_CheckSignals()
        at = n + m
        i = n
        j = m
        pair_count = 0
        while i or j:
            if i == 0 or j == 0:
                step = INSERT if i == 0 else DROP
            else:
                step = get_step(t.steps + (i - 1) * t.stride, j - low_end(&t, i))
            at -= 1
            path[at] = b"AID"[step]
            pair_count += step == PAIR
            if step != INSERT:
                i -= 1
            if step != DROP:
                j -= 1
        costs = clone(_doubles, pair_count, False)
        i = j = pair_count = 0
        for k in range(at, n + m):
            if path[k] == c'A':
                costs.data.as_doubles[pair_count] = cost(
                    &t.a, &t.b, i, j,
                    shared(
                        t.a.shingles + t.a.shingle_bounds[i], t.a.shingle_bounds[i + 1] - t.a.shingle_bounds[i],
                        t.b.shingles + t.b.shingle_bounds[j], t.b.shingle_bounds[j + 1] - t.b.shingle_bounds[j],
                    ),
                )
                pair_count += 1
            i += path[k] != c'I'
            j += path[k] != c'D'
        return (<char *> path + at)[:n + m - at], costs
    finally:
        free(path)
        free(t.steps)
        free(t.rows)
        free(t.common)
        free(t.starts)
        free(t.heads)
        free(t.places)
        free(t.bits)
        free(t.bits_a)
        free(t.bits_b)
        while opened:
            opened -= 1
            PyBuffer_Release(&views[opened])
