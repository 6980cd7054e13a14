"""The matching-block edit script (textdiff §9.2), which agrees with ``difflib`` and the published tools.

The blocks are those of Ratcliff and Obershelp: the longest run of equal elements, then the same on both sides
of it. Only the search for the longest run differs from the usual one. Where the best run so far has length K,
a longer one covers one of any K + 1 neighbouring elements of A; so one sample in K + 1 is looked up in B, the
rarest within reach.
"""

from cpython.array cimport array

from buffers cimport (
    Ints, PyBuffer_Release, Py_buffer, acquire_ints, check_bounds, free, int32_t, int64_t, ints_free,
    ints_init, ints_push, ints_reserve, ints_to_array, malloc,
)
from gestalt_ids cimport DONE, INTERRUPTED, NO_MEMORY, Match, Matcher, list_positions, number_elements

cdef extern from "id_scan.h" nogil:
    int32_t equal_tail(const int32_t *a, const int32_t *b, int32_t length)
    int32_t equal_head(const int32_t *a, const int32_t *b, int32_t length)

cdef extern from "Python.h":
    # Declared without Cython's own propagation: the exception stays set while the search winds down.
    int PyErr_CheckSignals() noexcept

cdef array INT32 = array("i")

cdef enum:
    EQUAL = 0
    DELETE = 1
    INSERT = 2
    REPLACE = 3
    # Popular elements exist above this many elements on both sides together, and from this many in B.
    POPULAR_TOTAL = 2000
    POPULAR_B = 200
    # How far a sample is moved back in search of a rarer element.
    REACH = 16
    # Steps between two looks at pending signals: some milliseconds.
    PATIENCE = 4194304


# -----------------------------------------------------------------------------------------------------------
# The best block of a region


cdef bint is_interrupted() noexcept nogil:
    # Only handlers that run here can raise, as for KeyboardInterrupt.
    with gil:
        return PyErr_CheckSignals() != 0


cdef bint count_steps(Matcher *g, int64_t steps) noexcept nogil:
    # False when the search has to stop.
    g.steps += steps
    if g.steps >= PATIENCE:
        g.steps = 0
        if is_interrupted():
            g.outcome = INTERRUPTED
            return False
    return True


cdef inline const int32_t *first_not_below(
    const int32_t *p, const int32_t *end, int32_t value
) noexcept nogil:
    # In ascending positions. Most lists are a single one, or start inside the region.
    cdef const int32_t *middle
    if p == end or p[0] >= value:
        return p
    while p < end:
        middle = p + (end - p) // 2
        if middle[0] < value:
            p = middle + 1
        else:
            end = middle
    return p


cdef inline int32_t rarity(const Matcher *g, int32_t i) noexcept nogil:
    return g.counts[g.a_key[i]] if g.a_key[i] >= 0 else 0


cdef int32_t choose_sample(const Matcher *g, int32_t nearest, int32_t farthest) noexcept nogil:
    # The rarest of the farthest few elements. Any choice is right; a rare element costs little to look up.
    cdef int32_t i = farthest, best = farthest, least = rarity(g, farthest), rare
    if farthest - nearest > REACH:
        nearest = farthest - REACH
    while least > 1 and i > nearest:
        i -= 1
        rare = rarity(g, i)
        if rare < least:
            least = rare
            best = i
    return best


cdef bint best_block(
    Matcher *g, int32_t al, int32_t ah, int32_t bl, int32_t bh, int32_t bound, Match *best
) noexcept nogil:
    # The longest run of equal, not popular elements inside the region; among several the one of smallest i,
    # then j. False when the search has to stop.
    #
    # Samples p1 < p2 < ... are at most K + 1 apart, K being the best size when the later one is chosen. A run
    # that covers none of them is at most K long and starts after the sample at which size K was found: it is
    # no better. A run that covers several is looked at once, at the first; so no pair of equal elements is
    # visited three times. No run is longer than `bound`, the best of the region this one was cut from; and
    # runs found at later samples start later. So the first sample at which one is that long is the last.
    cdef const int32_t *a = g.a_key
    cdef const int32_t *b = g.b
    cdef const int32_t *place
    cdef const int32_t *places_end
    cdef int32_t last = al - 1, p, j, v, behind, back, ahead
    cdef int64_t steps
    best.i = al
    best.j = bl
    best.size = 0
    while ah - 1 - last > best.size and best.size < bound:
        p = choose_sample(g, last + 1, last + 1 + best.size)
        steps = REACH
        v = a[p]
        if v >= 0:
            places_end = g.places + g.starts[v + 1]
            place = first_not_below(g.places + g.starts[v], places_end, bl)
            while place < places_end and place[0] < bh:
                if steps >= PATIENCE:
                    if not count_steps(g, steps):
                        return False
                    steps = 0
                steps += 1
                j = place[0]
                place += 1
                behind = min(p - last - 1, j - bl)
                ahead = min(ah - p, bh - j)
                if behind + ahead < best.size:
                    continue
                back = equal_tail(a + (p - behind), b + (j - behind), behind)
                steps += back
                if back == p - last - 1 and last >= al and j - back > bl and a[last] == b[j - back - 1]:
                    continue
                ahead = 1 + equal_head(a + p + 1, b + j + 1, ahead - 1)
                steps += ahead
                if back + ahead > best.size or (back + ahead == best.size and p - back < best.i):
                    best.i = p - back
                    best.j = j - back
                    best.size = back + ahead
                    if best.size == bound and best.i == last + 1:
                        return True
        last = p
        if not count_steps(g, steps):
            return False
    return True


cdef bint grow_block(Matcher *g, int32_t al, int32_t ah, int32_t bl, int32_t bh, Match *best) noexcept nogil:
    # Lets popular elements join at both ends. False if there is no block after all.
    cdef int32_t grown
    if g.popular:
        grown = equal_tail_of(g, best.i, al, best.j, bl)
        best.i -= grown
        best.j -= grown
        best.size += grown
        best.size += equal_head_of(g, best.i + best.size, ah, best.j + best.size, bh)
    return best.size > 0


cdef inline int32_t equal_tail_of(
    const Matcher *g, int32_t i, int32_t al, int32_t j, int32_t bl
) noexcept nogil:
    cdef int32_t room = min(i - al, j - bl)
    return equal_tail(g.a + (i - room), g.b + (j - room), room)


cdef inline int32_t equal_head_of(
    const Matcher *g, int32_t i, int32_t ah, int32_t j, int32_t bh
) noexcept nogil:
    return equal_head(g.a + i, g.b + j, min(ah - i, bh - j))


# -----------------------------------------------------------------------------------------------------------
# Matching and the opcodes


cdef void push_row(Ints *rows, int32_t tag, int32_t i1, int32_t i2, int32_t j1, int32_t j2) noexcept nogil:
    if not ints_reserve(rows, 5):
        return
    rows.items[rows.size] = tag
    rows.items[rows.size + 1] = i1
    rows.items[rows.size + 2] = i2
    rows.items[rows.size + 3] = j1
    rows.items[rows.size + 4] = j2
    rows.size += 5


cdef void push_block(Ints *rows, Match *done, const Match *block) noexcept nogil:
    # `done` is the equal row being made, not yet written; a block that touches it on both sides becomes part
    # of it.
    cdef int32_t i = done.i + done.size, j = done.j + done.size
    if block.i == i and block.j == j:
        done.size += block.size
        return
    if done.size:
        push_row(rows, EQUAL, done.i, i, done.j, j)
    if block.i > i and block.j > j:
        push_row(rows, REPLACE, i, block.i, j, block.j)
    elif block.i > i:
        push_row(rows, DELETE, i, block.i, j, j)
    else:
        push_row(rows, INSERT, i, i, j, block.j)
    done[0] = block[0]


cdef bint push_region(
    Ints *stack, int32_t al, int32_t ah, int32_t bl, int32_t bh, int32_t bound
) noexcept nogil:
    if not ints_reserve(stack, 5):
        return False
    stack.items[stack.size] = al
    stack.items[stack.size + 1] = ah
    stack.items[stack.size + 2] = bl
    stack.items[stack.size + 3] = bh
    stack.items[stack.size + 4] = min(bound, ah - al, bh - bl)
    stack.size += 5
    return True


cdef bint push_waiting(Ints *stack, const Match *block) noexcept nogil:
    # A block, put where a region would be; no region ends at -1.
    if not ints_reserve(stack, 5):
        return False
    stack.items[stack.size] = block.i
    stack.items[stack.size + 1] = block.j
    stack.items[stack.size + 2] = block.size
    stack.items[stack.size + 3] = -1
    stack.size += 5
    return True


cdef void match_pair(
    Matcher *g, const int32_t *a, int32_t n, const int32_t *b, int32_t m, bint drop_popular
) noexcept nogil:
    # Pushes the rows of one pair. Regions are taken from left to right, so the blocks come in order: one
    # waits on the stack until the region before it is done.
    cdef Ints *stack = &g.stack
    cdef const int32_t *top
    cdef Match block, done
    cdef int32_t al, ah, bl, bh, bound, count
    g.n = n
    g.m = m
    done.i = done.j = done.size = 0
    stack.size = 0
    if n > 0 and m > 0:
        count = number_elements(g, a, b)
        if drop_popular and <int64_t> n + m > POPULAR_TOTAL and m >= POPULAR_B:
            list_positions(g, count, m // 100 + 1)
        else:
            list_positions(g, count, m)
        push_region(stack, 0, n, 0, m, n)
    while stack.size:
        stack.size -= 5
        top = stack.items + stack.size
        if top[3] < 0:
            block.i = top[0]
            block.j = top[1]
            block.size = top[2]
            push_block(g.rows, &done, &block)
            continue
        al = top[0]
        ah = top[1]
        bl = top[2]
        bh = top[3]
        if not best_block(g, al, ah, bl, bh, top[4], &block):
            return
        bound = block.size
        if not grow_block(g, al, ah, bl, bh, &block):
            continue
        if block.i + block.size < ah and block.j + block.size < bh:
            push_region(stack, block.i + block.size, ah, block.j + block.size, bh, bound)
        push_waiting(stack, &block)
        if al < block.i and bl < block.j:
            push_region(stack, al, block.i, bl, block.j, bound)
        if stack.failed:
            break
    block.i = n
    block.j = m
    block.size = 0
    push_block(g.rows, &done, &block)
    if done.size:
        push_row(g.rows, EQUAL, done.i, done.i + done.size, done.j, done.j + done.size)
    if stack.failed or g.rows.failed:
        g.outcome = NO_MEMORY


# -----------------------------------------------------------------------------------------------------------
# The interface


cdef bint matcher_init(Matcher *g, int32_t n, int32_t m, Ints *rows) noexcept nogil:
    # Room for sequences of up to n and m elements.
    cdef size_t a_room = <size_t> n + 1, b_room = <size_t> m + 2
    g.table_size = <int64_t> n + m if n > 3 * <int64_t> m else 4 * <int64_t> m + 4
    g.rows = rows
    g.steps = 0
    g.outcome = DONE
    ints_init(&g.stack)
    g.a = <int32_t *> malloc((2 * a_room + 4 * b_room + <size_t> g.table_size) * sizeof(int32_t))
    if g.a == NULL:
        g.outcome = NO_MEMORY
        return False
    g.a_key = g.a + a_room
    g.b = g.a_key + a_room
    g.counts = g.b + b_room
    g.starts = g.counts + b_room
    g.places = g.starts + b_room
    g.table = g.places + b_room
    return True


cdef void matcher_free(Matcher *g) noexcept nogil:
    free(g.a)
    ints_free(&g.stack)


cdef int check_outcome(const Matcher *g) except -1:
    # An interruption has left its exception set already.
    if g.outcome == INTERRUPTED:
        return -1
    if g.outcome == NO_MEMORY:
        raise MemoryError
    return 0


def edit_script(a, b, /, bint drop_popular=True):
    """Return the matching-block edit script of two sequences of ids *(textdiff §9.2; Ratcliff and Metzener
1988)*.

    Without popular elements the script is that of ``difflib.SequenceMatcher(None, a, b, autojunk=False)``.

    Parameters
    ----------
    a, b : buffer of int32
        Any values; equal values are equal elements.
    drop_popular : bool, optional
        Let no block start from an element that is popular: one that occurs more than ``len(b) // 100 + 1``
        times in `b`, where both together have more than 2,000 elements and `b` has at least 200.

    Returns
    -------
    opcodes : array.array of int32, shape (5 * rows,)
        Rows ``tag, i1, i2, j1, j2``, tags 0 equal, 1 delete, 2 insert, 3 replace, in order and covering
        everything; neighbours never share a tag.

    Raises
    ------
    ValueError
        If a buffer does not hold int32.
    OverflowError
        If a buffer is too long for int32 positions.
    MemoryError
    KeyboardInterrupt
        Signals are looked at every few milliseconds, as hostile sequences can take very long.

    Notes
    -----
    Memory is linear: at most 32 bytes per element besides the result. A region with r pairs of equal elements
    takes O(length + r) time, far less where its longest block is long; there are as many regions as blocks,
    so the worst case is cubic. """
    cdef Py_buffer a_view, b_view
    cdef Matcher g
    cdef Ints rows
    acquire_ints(a, &a_view)
    try:
        acquire_ints(b, &b_view)
    except BaseException:
        PyBuffer_Release(&a_view)
        raise
    ints_init(&rows)
    try:
        with nogil:
            if matcher_init(&g, <int32_t> (a_view.len // 4), <int32_t> (b_view.len // 4), &rows):
                match_pair(
                    &g, <const int32_t *> a_view.buf, <int32_t> (a_view.len // 4),
                    <const int32_t *> b_view.buf, <int32_t> (b_view.len // 4), drop_popular,
                )
            matcher_free(&g)
        check_outcome(&g)
        return ints_to_array(INT32, rows.items, rows.size)
    finally:
        ints_free(&rows)
        PyBuffer_Release(&a_view)
        PyBuffer_Release(&b_view)


cdef int32_t longest_of(const int32_t *bounds, Py_ssize_t pairs) noexcept nogil:
    cdef int32_t longest = 0
    cdef Py_ssize_t k
    for k in range(pairs):
        longest = max(longest, bounds[k + 1] - bounds[k])
    return longest


cdef void match_pairs(
    Matcher *g, const int32_t *a, const int32_t *a_bounds, const int32_t *b, const int32_t *b_bounds,
    Py_ssize_t pairs, Ints *row_bounds,
) noexcept nogil:
    cdef Py_ssize_t k
    ints_push(row_bounds, 0)
    for k in range(pairs):
        match_pair(
            g, a + a_bounds[k], a_bounds[k + 1] - a_bounds[k], b + b_bounds[k], b_bounds[k + 1] - b_bounds[k],
            False,
        )
        if g.outcome != DONE:
            return
        if g.rows.size // 5 > 2147483647:
            g.outcome = NO_MEMORY
            return
        ints_push(row_bounds, <int32_t> (g.rows.size // 5))
    if row_bounds.failed:
        g.outcome = NO_MEMORY


def match_many(a, a_bounds, b, b_bounds, /):
    """Return the matching-block edit scripts of many pairs of id sequences, without popular elements.

    Parameters
    ----------
    a, b : buffer of int32
        The sequences of all pairs, one after the other. Ids are compared within a pair only.
    a_bounds, b_bounds : buffer of int32, shape (pairs + 1,)
        Pair p is ``a[a_bounds[p] : a_bounds[p + 1]]`` against `b` likewise.

    Returns
    -------
    opcodes : array.array of int32, shape (5 * rows,)
        As `edit_script` gives them, positions counted from the start of the pair's sequences.
    op_bounds : array.array of int32, shape (pairs + 1,)
        The rows of pair p are ``op_bounds[p]`` to ``op_bounds[p + 1]``.

    Raises
    ------
    ValueError
        If a buffer does not hold int32, or the bounds are empty, descend, reach outside, or differ in number.
    OverflowError
        If a buffer is too long for int32 positions.
    MemoryError
    KeyboardInterrupt

    Notes
    -----
    Cost as for `edit_script`, with working memory for the longest pair only.
    """
    cdef Py_buffer views[4]
    cdef Matcher g
    cdef Ints rows, row_bounds
    cdef Py_ssize_t pairs, held = 0
    cdef const int32_t *a_starts
    cdef const int32_t *b_starts
    ints_init(&rows)
    ints_init(&row_bounds)
    try:
        for source in (a, a_bounds, b, b_bounds):
            acquire_ints(source, &views[held])
            held += 1
        pairs = views[1].len // 4 - 1
        if views[3].len != views[1].len:
            raise ValueError("a_bounds and b_bounds must have the same number of entries")
        a_starts = <const int32_t *> views[1].buf
        b_starts = <const int32_t *> views[3].buf
        check_bounds(a_starts, pairs + 1, views[0].len // 4)
        check_bounds(b_starts, pairs + 1, views[2].len // 4)
        with nogil:
            if matcher_init(&g, longest_of(a_starts, pairs), longest_of(b_starts, pairs), &rows):
                match_pairs(
                    &g, <const int32_t *> views[0].buf, a_starts, <const int32_t *> views[2].buf, b_starts,
                    pairs, &row_bounds,
                )
            matcher_free(&g)
        check_outcome(&g)
        return (
            ints_to_array(INT32, rows.items, rows.size),
            ints_to_array(INT32, row_bounds.items, row_bounds.size),
        )
    finally:
        while held:
            held -= 1
            PyBuffer_Release(&views[held])
        ints_free(&rows)
        ints_free(&row_bounds)
