# The backward search over two sequences whose every element occurs on both sides: greedy, furthest-reaching (Myers 1986), from
# the end, so that it answers how far any point still is from it.

from buffers cimport Ints, free, int32_t, ints_free, ints_init, ints_push, ints_reserve, malloc

cdef extern from "id_scan.h" nogil:
    int32_t equal_tail(const int32_t *a, const int32_t *b, int32_t length)

cdef enum:
    # Frontiers are all kept up to this many cells (16 MB); past it only one in SPACING is, the others are made again.
    KEPT_CELLS = 4194304
    SPACING = 64
    FAR = 0x3FFFFFFF


cdef struct Search:
    const int32_t *a        # a[-1] and b[-1] must be readable, different, and equal to no element
    const int32_t *b
    int32_t n
    int32_t m
    int32_t bound
    int32_t edits           # number of the newest frontier
    int32_t distance        # result; -1 while unknown or past the bound
    # Frontier d holds, for k = lowest(d), lowest(d) + 2, ..., the smallest x reached on diagonal k = x - y.
    Ints cells
    Ints offsets            # offsets[f]: where kept frontier f starts in `cells`
    int32_t spacing         # kept frontiers are d = 0, spacing, 2 * spacing, ...
    Ints segment            # frontiers made again between two kept ones
    Ints segment_offsets
    int32_t segment_first   # d of the segment's first frontier; -1: none
    int32_t *rows           # two frontiers, once not all are kept
    int32_t *newest
    int32_t *spare
    bint failed


cdef inline int32_t lowest(const Search *s, int32_t d) noexcept nogil:
    # Smallest diagonal of frontier d: n - m - d, cut at the table's edge -m without changing parity.
    cdef int32_t k = s.n - s.m - d
    if k < -s.m:
        k = -s.m + ((-s.m - k) & 1)
    return k


cdef inline int32_t highest(const Search *s, int32_t d) noexcept nogil:
    cdef int32_t k = s.n - s.m + d
    if k > s.n:
        k = s.n - ((k - s.n) & 1)
    return k


cdef inline int32_t width(const Search *s, int32_t d) noexcept nogil:
    cdef int32_t low = lowest(s, d), high = highest(s, d)
    return (high - low) // 2 + 1 if high >= low else 0


cdef inline void advance(const Search *s, int32_t d, const int32_t *before, int32_t *cells) noexcept nogil:
    # Frontier d from frontier d - 1. A deletion comes from diagonal k + 1, an insertion from k - 1. Frontiers are padded with
    # FAR on both ends, so neighbours outside them need no test.
    cdef int32_t low = lowest(s, d), count = width(s, d), n = s.n
    cdef int32_t t, k, x, other, edge
    cdef const int32_t *source = before + ((low + 1 - lowest(s, d - 1)) >> 1)
    cdef const int32_t *a = s.a
    cdef const int32_t *b = s.b
    (cells - 1)[0] = FAR
    cells[count] = FAR
    for t in range(count):
        k = low + 2 * t
        edge = k if k > 0 else 0        # a point left of it has x < 0 or y = x - k < 0
        x = source[t] - 1
        x = x if x >= edge else FAR
        other = source[t - 1]
        other = other if other >= edge else FAR
        x = x if x < other else other
        cells[t] = x
    for t in range(count):
        x = cells[t]
        k = low + 2 * t
        # The elements before both sequences differ from each other and from all others: no test for their ends.
        if x <= n and a[x - 1] == b[x - 1 - k]:
            cells[t] = x - 1 - (equal_tail(a + k, b, x - 1 - k) if k >= 0 else equal_tail(a, b - k, x - 1))


cdef inline void move_ints(int32_t *to, const int32_t *source, int32_t count) noexcept nogil:
    cdef int32_t k
    for k in range(count):
        to[k] = source[k]


cdef inline void thin_out(Search *s, int32_t d) noexcept nogil:
    # Too many cells: keep one frontier in SPACING of those up to d.
    cdef int32_t f = 0, kept = 0, size
    cdef Py_ssize_t to = 0
    while f <= d:
        size = width(s, f)
        # They only move towards the front: copying upwards is safe where they overlap.
        move_ints(s.cells.items + to, s.cells.items + s.offsets.items[f] - 1, size + 2)
        s.offsets.items[kept] = <int32_t> to + 1
        kept += 1
        to += size + 2
        f += SPACING
    s.cells.size = to
    s.offsets.size = kept
    s.spacing = SPACING


cdef inline void begin_search(Search *s, const int32_t *a, int32_t n, const int32_t *b, int32_t m,
                              int32_t bound) noexcept nogil:
    # Frontier 0. a[-1] and b[-1] must be readable, different, and equal to no element.
    cdef int32_t shorter = n if n < m else m
    s.a = a
    s.b = b
    s.n = n
    s.m = m
    s.bound = bound if bound < n + m else n + m
    s.distance = -1
    s.edits = 0
    s.spacing = 1
    s.segment_first = -1
    s.cells.size = s.offsets.size = s.segment.size = s.segment_offsets.size = 0
    s.rows = s.newest = s.spare = NULL
    ints_push(&s.offsets, 1)
    ints_push(&s.cells, FAR)
    ints_push(&s.cells, n - equal_tail(a + (n - shorter), b + (m - shorter), shorter))
    ints_push(&s.cells, FAR)
    if s.cells.failed or s.offsets.failed:
        s.failed = True
    elif n == m and s.cells.items[1] == 0:
        s.distance = 0


cdef inline bint undecided(const Search *s) noexcept nogil:
    # Whether advancing can still find a distance within the bound.
    cdef int32_t apart = s.n - s.m if s.n > s.m else s.m - s.n
    return s.distance < 0 and s.edits < s.bound and apart <= s.bound and not s.failed


cdef inline void search_until(Search *s, int32_t last) noexcept nogil:
    # Frontiers up to number `last`, or to the one that reaches the front of both sequences.
    cdef int32_t d, size, low
    cdef int32_t *other
    while undecided(s) and s.edits < last:
        d = s.edits + 1
        size = width(s, d)
        if s.spacing == 1:
            ints_push(&s.offsets, <int32_t> s.cells.size + 1)
            if not ints_reserve(&s.cells, size + 2) or s.offsets.failed:
                s.failed = True
                return
            s.newest = s.cells.items + s.cells.size + 1
            advance(s, d, s.cells.items + s.offsets.items[d - 1], s.newest)
            s.cells.size += size + 2
        else:
            advance(s, d, s.newest, s.spare)
            other = s.newest
            s.newest = s.spare
            s.spare = other
            if d % SPACING == 0:
                ints_push(&s.offsets, <int32_t> s.cells.size + 1)
                if not ints_reserve(&s.cells, size + 2) or s.offsets.failed:
                    s.failed = True
                    return
                move_ints(s.cells.items + s.cells.size, s.newest - 1, size + 2)
                s.cells.size += size + 2
        s.edits = d
        # The front of both sequences is the point x = 0 of diagonal 0.
        low = lowest(s, d)
        if (low & 1) == 0 and low <= 0 and highest(s, d) >= 0 and s.newest[(0 - low) >> 1] == 0:
            s.distance = d
        elif s.spacing == 1 and s.cells.size > KEPT_CELLS:
            s.rows = <int32_t *> malloc(2 * (<size_t> s.bound + 4) * sizeof(int32_t))
            if s.rows == NULL:
                s.failed = True
                return
            move_ints(s.rows + s.bound + 4, s.newest - 1, size + 2)
            s.newest = s.rows + s.bound + 5
            s.spare = s.rows + 1
            thin_out(s, d)


cdef inline void end_search(Search *s) noexcept nogil:
    free(s.rows)
    s.rows = NULL


cdef inline const int32_t *frontier(Search *s, int32_t d) noexcept nogil:
    # Frontier d, made again from the last kept one before it when it was not kept.
    cdef int32_t first, e, size
    if s.spacing == 1:
        return s.cells.items + s.offsets.items[d]
    first = d - d % SPACING
    if s.segment_first != first:
        s.segment.size = 0
        s.segment_offsets.size = 0
        size = width(s, first)
        if not ints_reserve(&s.segment, size + 2):
            s.failed = True
            return NULL
        move_ints(s.segment.items, s.cells.items + s.offsets.items[first // SPACING] - 1, size + 2)
        ints_push(&s.segment_offsets, 1)
        s.segment.size = size + 2
        for e in range(first + 1, first + SPACING):
            if e > s.distance:
                break
            size = width(s, e)
            ints_push(&s.segment_offsets, <int32_t> s.segment.size + 1)
            if not ints_reserve(&s.segment, size + 2) or s.segment_offsets.failed:
                s.failed = True
                return NULL
            advance(s, e, s.segment.items + s.segment_offsets.items[e - first - 1],
                    s.segment.items + s.segment.size + 1)
            s.segment.size += size + 2
        s.segment_first = first
    return s.segment.items + s.segment_offsets.items[d - first]


cdef inline bint within(Search *s, int32_t d, int32_t x, int32_t y) noexcept nogil:
    # Whether D(x, y) <= d, for d of the right parity.
    cdef int32_t low, k = x - y
    cdef const int32_t *cells
    if d < 0:
        return False
    low = lowest(s, d)
    if k < low or k > highest(s, d):
        return False
    cells = frontier(s, d)
    return cells != NULL and cells[(k - low) >> 1] <= x


cdef inline void search_init(Search *s) noexcept nogil:
    ints_init(&s.cells)
    ints_init(&s.offsets)
    ints_init(&s.segment)
    ints_init(&s.segment_offsets)
    s.failed = False


cdef inline void search_free(Search *s) noexcept nogil:
    ints_free(&s.cells)
    ints_free(&s.offsets)
    ints_free(&s.segment)
    ints_free(&s.segment_offsets)
