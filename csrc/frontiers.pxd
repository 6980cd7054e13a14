# The backward search over two sequences whose every element occurs on both sides: greedy and furthest-reaching (Myers
# 1986), in the order of Wu, Manber, Myers and Miller (1990), from the end, so that it answers how far any point still is
# from it. Their order makes frontiers by p, the edits against the direction in which the lengths differ: its cost does not
# grow with edits that the difference of the lengths explains.
#
# The longer sequence is `a`; the caller of within() need not know. With delta = n - m, a point on diagonal k = x - y belongs
# to frontier p if it is at most delta + 2p - |k| edits from the end.

from buffers cimport Ints, free, int32_t, int64_t, ints_free, ints_init, ints_push, ints_reserve, malloc, memcpy

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
    bint swapped            # a and b are the caller's b and a
    int32_t bound
    int32_t rows            # rows made: the seed row, then frontiers p = 0, 1, ...
    int32_t distance        # result; -1 while unknown or past the bound
    # Row r holds, for every diagonal k from lowest(r) to highest(r), the smallest x reached; FAR before and after it.
    Ints cells
    Ints offsets            # offsets[i]: where k = 0 of kept row i would be in `cells`
    int32_t spacing         # kept rows are r = 0, spacing, 2 * spacing, ...
    int64_t made            # cells made so far
    Ints segment            # rows made again between two kept ones
    Ints segment_offsets
    int32_t segment_first   # number of the segment's first row; -1: none
    int32_t *pair           # two rows, once not all are kept
    int32_t *newest         # at k = 0
    int32_t *spare
    bint failed


cdef inline int32_t lowest(const Search *s, int32_t r) noexcept nogil:
    cdef int32_t p = r - 1 if r > 0 else 0
    return -p if p < s.m else -s.m


cdef inline int32_t highest(const Search *s, int32_t r) noexcept nogil:
    cdef int32_t p = r - 1 if r > 0 else 0
    return s.n - s.m + p if p < s.m else s.n


cdef inline int32_t width(const Search *s, int32_t r) noexcept nogil:
    # Room a row takes, its two FARs included.
    return highest(s, r) - lowest(s, r) + 3


cdef inline int32_t settle(const Search *s, int32_t k, int32_t edge, int32_t one, int32_t other, int32_t same) noexcept nogil:
    # The smallest of three x that lies in the table, moved along the equal elements before it. Left of `edge` x or y is
    # negative; the elements before both sequences differ from each other and all others, so nothing slides past the edge.
    cdef int32_t x = one if one >= edge else FAR
    other = other if other >= edge else FAR
    x = x if x < other else other
    x = x if x < same else same
    if x > s.n:
        return FAR
    if s.a[x - 1] == s.b[x - 1 - k]:
        x -= 1
        x -= equal_tail(s.a + k, s.b, x - k) if k >= 0 else equal_tail(s.a, s.b - k, x)
    return x


cdef inline void make_row(const Search *s, int32_t r, const int32_t *before, int32_t *cells) noexcept nogil:
    # Row r from the row before it; both are addressed by diagonal. A deletion comes from diagonal k + 1, an insertion from
    # k - 1; towards diagonal 0 an edit stays in its row, away from it the count p goes up.
    cdef int32_t low = lowest(s, r), high = highest(s, r), k = high
    (cells + (low - 1))[0] = FAR
    cells[high + 1] = FAR
    while k > 0:
        cells[k] = settle(s, k, k, cells[k + 1] - 1, (before + (k - 1))[0], before[k])
        k -= 1
    k = low
    while k < 0:
        (cells + k)[0] = settle(s, k, 0, (before + (k + 1))[0] - 1, (cells + (k - 1))[0], (before + k)[0])
        k += 1
    cells[0] = settle(s, 0, 0, cells[1] - 1, (cells - 1)[0], before[0])


cdef inline void copy_row(const Search *s, int32_t r, const int32_t *source, int32_t *target) noexcept nogil:
    memcpy(target + (lowest(s, r) - 1), source + (lowest(s, r) - 1), <size_t> width(s, r) * sizeof(int32_t))


cdef inline int32_t *add_row(const Search *s, int32_t r, Ints *cells, Ints *offsets) noexcept nogil:
    # Room for row r at the end of a list of rows; its address at k = 0, NULL without memory.
    cdef int32_t size = width(s, r), origin = <int32_t> cells.size + 1 - lowest(s, r)
    ints_push(offsets, origin)
    if not ints_reserve(cells, size) or offsets.failed:
        return NULL
    cells.size += size
    return cells.items + origin


cdef inline void thin_out(Search *s) noexcept nogil:
    # Too many cells: of the rows made keep one in SPACING. They only move towards the front.
    cdef int32_t r = 0, kept = 0, size
    cdef Py_ssize_t to = 0, k, source
    while r < s.rows:
        size = width(s, r)
        source = s.offsets.items[r] + lowest(s, r) - 1
        for k in range(size):
            s.cells.items[to + k] = s.cells.items[source + k]
        s.offsets.items[kept] = <int32_t> to + 1 - lowest(s, r)
        kept += 1
        to += size
        r += SPACING
    s.cells.size = to
    s.offsets.size = kept
    s.spacing = SPACING


cdef inline void begin_search(Search *s, const int32_t *a, int32_t n, const int32_t *b, int32_t m,
                              int32_t bound) noexcept nogil:
    # a[-1] and b[-1] must be readable, different, and equal to no element. Makes the seed row: the end of both sequences.
    cdef int32_t k
    cdef int32_t *seed
    s.swapped = n < m
    s.a = b if s.swapped else a
    s.b = a if s.swapped else b
    s.n = m if s.swapped else n
    s.m = n if s.swapped else m
    s.bound = bound if bound < n + m else n + m
    s.distance = -1
    s.spacing = 1
    s.segment_first = -1
    s.cells.size = s.offsets.size = s.segment.size = s.segment_offsets.size = 0
    s.pair = s.newest = s.spare = NULL
    s.made = 0
    s.rows = 1
    if s.n - s.m > s.bound:
        return
    seed = add_row(s, 0, &s.cells, &s.offsets)
    if seed == NULL:
        s.failed = True
        return
    for k in range(-1, s.n - s.m + 2):
        (seed + k)[0] = FAR
    seed[s.n - s.m] = s.n
    s.newest = seed


cdef inline bint undecided(const Search *s) noexcept nogil:
    # Whether another frontier can still find a distance within the bound.
    return s.distance < 0 and s.n - s.m + 2 * (<int64_t> s.rows - 1) <= s.bound and not s.failed


cdef inline void search_until(Search *s, int64_t cells) noexcept nogil:
    # Frontiers until one reaches the front of both sequences, or about that many cells are made in all.
    cdef int32_t r
    cdef int32_t *row
    while undecided(s) and s.made < cells:
        r = s.rows
        if s.spacing == 1:
            row = add_row(s, r, &s.cells, &s.offsets)
            if row == NULL:
                s.failed = True
                return
            # The list may have moved.
            make_row(s, r, s.cells.items + s.offsets.items[r - 1], row)
            s.newest = row
        else:
            make_row(s, r, s.newest, s.spare)
            row = s.newest
            s.newest = s.spare
            s.spare = row
            if r % SPACING == 0:
                row = add_row(s, r, &s.cells, &s.offsets)
                if row == NULL:
                    s.failed = True
                    return
                copy_row(s, r, s.newest, row)
        s.made += width(s, r)
        s.rows = r + 1
        if s.newest[0] == 0:
            s.distance = s.n - s.m + 2 * (r - 1)
        elif s.spacing == 1 and s.cells.size > KEPT_CELLS:
            # From -p - 1 to delta + p + 1, where delta + 2p is at most the bound.
            s.pair = <int32_t *> malloc(2 * (2 * <size_t> s.bound + 16) * sizeof(int32_t))
            if s.pair == NULL:
                s.failed = True
                return
            row = s.pair + (s.bound // 2 + 4)
            copy_row(s, r, s.newest, row)
            s.newest = row
            s.spare = row + (2 * s.bound + 16)
            thin_out(s)


cdef inline void end_search(Search *s) noexcept nogil:
    free(s.pair)
    s.pair = NULL


cdef inline const int32_t *row_of(Search *s, int32_t r) noexcept nogil:
    # Row r at k = 0, made again from the last kept one before it when it was not kept.
    cdef int32_t first, e
    cdef int32_t *row
    if s.spacing == 1:
        return s.cells.items + s.offsets.items[r]
    first = r - r % SPACING
    if s.segment_first != first:
        s.segment.size = 0
        s.segment_offsets.size = 0
        row = add_row(s, first, &s.segment, &s.segment_offsets)
        if row == NULL:
            s.failed = True
            return NULL
        copy_row(s, first, s.cells.items + s.offsets.items[first // SPACING], row)
        for e in range(first + 1, first + SPACING):
            if e >= s.rows:
                break
            row = add_row(s, e, &s.segment, &s.segment_offsets)
            if row == NULL:
                s.failed = True
                return NULL
            make_row(s, e, s.segment.items + s.segment_offsets.items[e - first - 1], row)
        s.segment_first = first
    return s.segment.items + s.segment_offsets.items[r - first]


cdef inline bint within(Search *s, int32_t d, int32_t x, int32_t y) noexcept nogil:
    # Whether the point is at most d edits from the end, asked for neighbours of points on a shortest path only: where the
    # frontier would have to be past the last one, the edits up to the point and from it are more than the distance.
    cdef int32_t k = y - x if s.swapped else x - y
    cdef int32_t twice = d + (k if k > 0 else -k) - (s.n - s.m)
    cdef int32_t r
    cdef const int32_t *cells
    if d < 0 or twice < 0:
        return False
    r = twice // 2 + 1
    if r >= s.rows or k < lowest(s, r) or k > highest(s, r):
        return False
    cells = row_of(s, r)
    return cells != NULL and (cells + k)[0] <= (y if s.swapped else x)


cdef inline void search_init(Search *s) noexcept nogil:
    ints_init(&s.cells)
    ints_init(&s.offsets)
    ints_init(&s.segment)
    ints_init(&s.segment_offsets)
    s.pair = NULL
    s.failed = False


cdef inline void search_free(Search *s) noexcept nogil:
    ints_free(&s.cells)
    ints_free(&s.offsets)
    ints_free(&s.segment)
    ints_free(&s.segment_offsets)
    free(s.pair)
    s.pair = NULL
