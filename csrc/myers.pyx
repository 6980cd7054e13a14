"""The exact, unique, minimal edit script of two id sequences (textdiff §9.3), with its bound.

The script is defined by a walk over D, the table of edit distances of suffixes. The table is never made: a greedy
furthest-reaching search, run backwards, knows for every diagonal the smallest x from which the end is within reach, and
that is all the walk asks.
"""

from cpython.array cimport array

from buffers cimport (
    Ints, PyBuffer_Release, Py_buffer, acquire_ints, check_bounds, free, int32_t, int64_t, ints_free, ints_init,
    ints_push, ints_to_array, malloc, memcpy, uint32_t, uint64_t,
)
from blocks cimport EQUAL, push_opcodes, push_run, split_replaces
from frontiers cimport Search, begin_search, end_search, search_free, search_init, search_until, undecided, within
from libc.stdint cimport INT64_MAX
from libc.stdlib cimport calloc

cdef extern from "id_scan.h" nogil:
    int32_t equal_tail(const int32_t *a, const int32_t *b, int32_t length)
    int32_t equal_head(const int32_t *a, const int32_t *b, int32_t length)

cdef array INT32 = array("i")

# ---------------------------------------------------------------------------------------------------------------------
# Regions: counts, anchors, the walk


cdef struct Region:
    # One region of the two sequences and the arrays its work needs. Arrays by id are all zero between regions, except
    # `place`, which holds positions that are valid only while in use.
    const int32_t *a
    const int32_t *b
    int32_t n
    int32_t m
    int32_t *a_count
    int32_t *b_count
    int32_t *place
    int32_t *a_kept         # elements that also occur on the other side of the region, from index 1 on
    int32_t *b_kept
    int32_t *targets        # per candidate anchor: its position in b; room for one per element of the shorter side
    int32_t *ranks
    int32_t *piles
    Search search
    Ints *runs              # result: (i, j, length) of matched runs in the whole sequences, ascending
    bint failed


cdef void count_elements(Region *r) noexcept nogil:
    cdef int32_t i
    for i in range(r.n):
        r.a_count[r.a[i]] += 1
    for i in range(r.m):
        r.b_count[r.b[i]] += 1


cdef void clear_counts(Region *r) noexcept nogil:
    cdef int32_t i
    for i in range(r.n):
        r.a_count[r.a[i]] = 0
    for i in range(r.m):
        r.b_count[r.b[i]] = 0


cdef int32_t list_anchors(Region *r) noexcept nogil:
    # Ids that occur once on each side, in the order of a: fills targets[] with their positions in b.
    cdef int32_t i, count = 0
    for i in range(r.m):
        if r.b_count[r.b[i]] == 1:
            r.place[r.b[i]] = i
    for i in range(r.n):
        if r.a_count[r.a[i]] == 1 and r.b_count[r.a[i]] == 1:
            r.targets[count] = r.place[r.a[i]]
            count += 1
    return count


cdef int32_t rank_increasing(const int32_t *targets, int32_t count, int32_t *piles, int32_t *ranks) noexcept nogil:
    # ranks[t] = length of the longest increasing subsequence starting with element t; returns the greatest.
    cdef int32_t t, low, high, middle, longest = 0
    for t in range(count - 1, -1, -1):
        # piles[h] = greatest first element of an increasing subsequence of length h + 1 met so far; descending in h.
        low = 0
        high = longest
        while low < high:
            middle = (low + high) >> 1
            if piles[middle] > targets[t]:
                low = middle + 1
            else:
                high = middle
        piles[low] = targets[t]
        ranks[t] = low + 1
        if low == longest:
            longest += 1
    return longest


cdef int64_t distance_floor(Region *r) noexcept nogil:
    # A lower bound of D'. Edits of different ids are different edits, so lower bounds over disjoint sets of ids add up: ids
    # that occur once on each side cost twice what is outside a longest increasing subsequence, any other id that occurs on
    # both at least the difference of its counts.
    cdef int32_t count = list_anchors(r), i, x, y
    cdef int64_t total = 2 * <int64_t> (count - rank_increasing(r.targets, count, r.piles, r.ranks))
    for i in range(r.n):
        x = r.a_count[r.a[i]]
        y = r.b_count[r.a[i]]
        if y > 0 and x > 0 and x + y > 2:
            total += x - y if x > y else y - x
            r.a_count[r.a[i]] = -x      # seen; restored below
    for i in range(r.n):
        if r.a_count[r.a[i]] < 0:
            r.a_count[r.a[i]] = -r.a_count[r.a[i]]
    return total


cdef bint walk(Region *r, int32_t a_at, int32_t b_at, int32_t bound, bint bounded) noexcept nogil:
    # Matches the region's lines by the walk of §9.3, if its D' is at most `bound`; otherwise matches nothing and returns
    # False. a_at and b_at are the region's place in the whole sequences.
    cdef const int32_t *a = r.a
    cdef const int32_t *b = r.b
    cdef int32_t n = r.n, m = r.m, i = 0, j = 0, x = 0, y = 0, left, length, kept_n = 0, kept_m = 0
    cdef Search *s = &r.search
    count_elements(r)
    r.a_kept[0] = -1
    r.b_kept[0] = -2
    for i in range(n):
        if r.b_count[a[i]]:
            kept_n += 1
            r.a_kept[kept_n] = a[i]
    for j in range(m):
        if r.a_count[b[j]]:
            kept_m += 1
            r.b_kept[kept_m] = b[j]
    begin_search(s, r.a_kept + 1, kept_n, r.b_kept + 1, kept_m, bound)
    search_until(s, n + m)
    if undecided(s) and not (bounded and distance_floor(r) > bound):
        search_until(s, INT64_MAX)
    if s.distance >= 0 and not s.failed:
        i = j = 0
        left = s.distance
        while i < n and j < m:
            length = equal_head(a + i, b + j, n - i if n - i < m - j else m - j)
            if length:
                push_run(r.runs, a_at + i, b_at + j, length)
                i += length
                j += length
                x += length
                y += length
            elif not r.b_count[a[i]]:
                i += 1
            elif within(s, left - 1, x + 1, y):
                i += 1
                x += 1
                left -= 1
            else:
                # A line of b that a does not have is an edit of D but not of D', so it leaves `left` alone.
                if r.a_count[b[j]]:
                    y += 1
                    left -= 1
                j += 1
    end_search(s)
    clear_counts(r)
    if s.failed:
        r.failed = True
    return s.distance >= 0


cdef void match_region(Region *r, const int32_t *a, int32_t i1, int32_t i2, const int32_t *b, int32_t j1, int32_t j2,
                       int32_t bound) noexcept nogil:
    # Between two anchors: the walk, or nothing.
    if i1 == i2 or j1 == j2:
        return
    r.a = a + i1
    r.b = b + j1
    r.n = i2 - i1
    r.m = j2 - j1
    walk(r, i1, j1, bound, True)


cdef void match_by_anchors(Region *r, const int32_t *a, int32_t i1, int32_t i2, const int32_t *b, int32_t j1, int32_t j2,
                           int32_t bound) noexcept nogil:
    # §9.3 past the bound: unique lines in order match, each gap between them is treated on its own.
    cdef int32_t i, t, count, wanted, limit = -1, before_i = i1, before_j = j1
    cdef Ints anchors
    ints_init(&anchors)
    r.a = a + i1
    r.b = b + j1
    r.n = i2 - i1
    r.m = j2 - j1
    count_elements(r)
    count = list_anchors(r)
    wanted = rank_increasing(r.targets, count, r.piles, r.ranks)
    # Of the longest increasing subsequences the one whose positions in a are lexicographically smallest: always the first
    # element from which the rest can still be long enough.
    t = 0
    for i in range(r.n):
        if wanted == 0:
            break
        if r.a_count[r.a[i]] == 1 and r.b_count[r.a[i]] == 1:
            if r.ranks[t] == wanted and r.targets[t] > limit:
                limit = r.targets[t]
                wanted -= 1
                ints_push(&anchors, i1 + i)
                ints_push(&anchors, j1 + limit)
            t += 1
    clear_counts(r)
    if anchors.failed:
        r.failed = True
    elif anchors.size:
        for t in range(0, <int32_t> anchors.size, 2):
            match_region(r, a, before_i, anchors.items[t], b, before_j, anchors.items[t + 1], bound)
            push_run(r.runs, anchors.items[t], anchors.items[t + 1], 1)
            before_i = anchors.items[t] + 1
            before_j = anchors.items[t + 1] + 1
        match_region(r, a, before_i, i2, b, before_j, j2, bound)
    ints_free(&anchors)


cdef void match_lines(Region *r, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int32_t bound) noexcept nogil:
    # Fills r.runs for the whole of both sequences.
    cdef int32_t shorter = n if n < m else m, head = equal_head(a, b, shorter), tail
    push_run(r.runs, 0, 0, head)
    if head == shorter:
        return
    r.a = a + head
    r.b = b + head
    r.n = n - head
    r.m = m - head
    if walk(r, head, head, bound, True) or r.failed:
        return
    tail = equal_tail(a + n - (shorter - head), b + m - (shorter - head), shorter - head)
    match_by_anchors(r, a, head, n - tail, b, head, m - tail, bound)
    push_run(r.runs, n - tail, m - tail, tail)


# ---------------------------------------------------------------------------------------------------------------------
# Ids and memory


cdef int32_t densify(int32_t *ids, Py_ssize_t count, uint64_t *slots, uint64_t mask) noexcept nogil:
    # Ids 0, 1, ... by first appearance, in place; returns how many. A slot is (value << 32 | id + 1), 0 when empty.
    cdef Py_ssize_t i
    cdef uint64_t at, key
    cdef int32_t next_id = 0
    for i in range(count):
        key = <uint64_t> <uint32_t> ids[i]
        at = (key * <uint64_t> 0x9E3779B97F4A7C15) >> 20
        while True:
            at &= mask
            if slots[at] == 0:
                next_id += 1
                slots[at] = key << 32 | <uint64_t> <uint32_t> next_id
                ids[i] = next_id - 1
                break
            if slots[at] >> 32 == key:
                ids[i] = <int32_t> <uint32_t> slots[at] - 1
                break
            at += 1
    return next_id


cdef int prepare(Region *r, const int32_t **a, Py_ssize_t n, const int32_t **b, Py_ssize_t m, int32_t **own,
                 Py_ssize_t longest_n, Py_ssize_t longest_m) except -1:
    # Allocates the region's arrays and copies the ids, renumbered if arrays by id would be larger than the sequences. Copies,
    # because ids become indices: no other thread may change them after they were looked at.
    # longest_n and longest_m are the sizes of the largest region.
    cdef Py_ssize_t i
    cdef int32_t low = 0, high = -1, ids
    cdef uint64_t slots_count = 16
    cdef uint64_t *slots
    cdef Py_ssize_t shorter = longest_n if longest_n < longest_m else longest_m
    own[0] = <int32_t *> malloc((<size_t> (n + m) + 1) * sizeof(int32_t))
    if own[0] == NULL:
        raise MemoryError
    if n:
        memcpy(own[0], a[0], <size_t> n * sizeof(int32_t))
    if m:
        memcpy(own[0] + n, b[0], <size_t> m * sizeof(int32_t))
    a[0] = own[0]
    b[0] = own[0] + n
    for i in range(n + m):
        low = min(low, own[0][i])
        high = max(high, own[0][i])
    if low < 0 or high > 2 * (n + m) + 1024:
        while slots_count < 2 * <uint64_t> (n + m):
            slots_count *= 2
        slots = <uint64_t *> calloc(slots_count, sizeof(uint64_t))
        if slots == NULL:
            raise MemoryError
        ids = densify(own[0], n + m, slots, slots_count - 1)
        free(slots)
    else:
        ids = high + 1
    r.a_count = <int32_t *> calloc(<size_t> ids + 1, sizeof(int32_t))
    r.b_count = <int32_t *> calloc(<size_t> ids + 1, sizeof(int32_t))
    r.place = <int32_t *> malloc((<size_t> ids + 1) * sizeof(int32_t))
    r.a_kept = <int32_t *> malloc((<size_t> longest_n + 1) * sizeof(int32_t))
    r.b_kept = <int32_t *> malloc((<size_t> longest_m + 1) * sizeof(int32_t))
    r.targets = <int32_t *> malloc((<size_t> shorter + 1) * sizeof(int32_t))
    r.ranks = <int32_t *> malloc((<size_t> shorter + 1) * sizeof(int32_t))
    r.piles = <int32_t *> malloc((<size_t> shorter + 1) * sizeof(int32_t))
    if (r.a_count == NULL or r.b_count == NULL or r.place == NULL or r.a_kept == NULL or r.b_kept == NULL
            or r.targets == NULL or r.ranks == NULL or r.piles == NULL):
        raise MemoryError
    return 0


cdef void region_init(Region *r, Ints *runs) noexcept:
    r.a_count = r.b_count = r.place = r.a_kept = r.b_kept = r.targets = r.ranks = r.piles = NULL
    r.runs = runs
    r.failed = False
    ints_init(runs)
    search_init(&r.search)


cdef void region_free(Region *r) noexcept:
    free(r.a_count)
    free(r.b_count)
    free(r.place)
    free(r.a_kept)
    free(r.b_kept)
    free(r.targets)
    free(r.ranks)
    free(r.piles)
    search_free(&r.search)


def edit_script(object a, object b, /, Py_ssize_t max_distance=5000):
    """Return the exact, unique, minimal edit script of two id sequences, or the anchored one past a bound.

    Parameters
    ----------
    a, b : int32 buffer, shapes (n,) and (m,)
        Any int32 values; equal values are equal elements.
    max_distance : int, default 5000
        Bound on the edit distance counted after dropping elements without a partner; past it, elements that are unique on
        both sides anchor the script *(textdiff §9.3)*.

    Returns
    -------
    array.array of int32, shape (5 * k,)
        Rows ``tag, i1, i2, j1, j2`` (0 equal, 1 delete, 2 insert, 3 replace), half-open, covering both sequences.

    Raises
    ------
    ValueError
        If an argument is not a contiguous int32 buffer or `max_distance` is negative.
    MemoryError

    Notes
    -----
    Time O((n + m) min(P, max_distance)), where P counts the edits against the direction in which the lengths differ;
    memory linear plus at most 16 MB of frontiers. Sources: Myers, "An O(ND) Difference Algorithm and Its Variations"
    (1986); Wu, Manber, Myers and Miller, "An O(NP) Sequence Comparison Algorithm" (1990); textdiff §9.3 for the choice
    among minimal scripts.
    """
    cdef Py_buffer a_view, b_view
    cdef const int32_t *left
    cdef const int32_t *right
    cdef int32_t *own = NULL
    cdef int32_t n, m, bound
    cdef Region region
    cdef Ints runs, split, ops
    if max_distance < 0:
        raise ValueError("max_distance must be 0 or more")
    bound = <int32_t> (max_distance if max_distance < 0x3FFFFFFF else 0x3FFFFFFF)
    acquire_ints(a, &a_view)
    try:
        acquire_ints(b, &b_view)
    except BaseException:
        PyBuffer_Release(&a_view)
        raise
    region_init(&region, &runs)
    ints_init(&split)
    ints_init(&ops)
    try:
        left = <const int32_t *> a_view.buf
        right = <const int32_t *> b_view.buf
        n = <int32_t> (a_view.len // 4)
        m = <int32_t> (b_view.len // 4)
        if <int64_t> n + m > 0x3FFFFFFF:
            raise OverflowError("more than 1073741823 elements on both sides together")
        prepare(&region, &left, n, &right, m, &own, n, m)
        with nogil:
            match_lines(&region, left, n, right, m, bound)
            split_replaces(&runs, left, n, right, m, &split)
            push_opcodes(&ops, &split, n, m)
        if region.failed or runs.failed or split.failed or ops.failed:
            raise MemoryError
        return ints_to_array(INT32, ops.items, ops.size)
    finally:
        region_free(&region)
        ints_free(&runs)
        ints_free(&split)
        ints_free(&ops)
        free(own)
        PyBuffer_Release(&a_view)
        PyBuffer_Release(&b_view)


def walk_many(object a, object a_bounds, object b, object b_bounds, /):
    """Return the exact, unique, minimal edit scripts of many pairs of short id sequences.

    Parameters
    ----------
    a, b : int32 buffer
        The elements of all pairs, one pair after the other. Ids are compared within one pair only.
    a_bounds, b_bounds : int32 buffer, shape (pairs + 1,)
        Pair p is ``a[a_bounds[p] : a_bounds[p + 1]]`` against ``b[b_bounds[p] : b_bounds[p + 1]]``.

    Returns
    -------
    opcodes : array.array of int32, shape (5 * k,)
        As :func:`edit_script`, indices relative to each pair's own start; no trimming, no bound *(textdiff §9.4)*.
    op_bounds : array.array of int32, shape (pairs + 1,)
        Rows of pair p are ``op_bounds[p] : op_bounds[p + 1]``.

    Raises
    ------
    ValueError
        If bounds do not fit the elements or each other.
    MemoryError

    Notes
    -----
    O((n + m) D) per pair; the caller caps the sizes.
    """
    cdef Py_buffer[4] views
    cdef const int32_t *left
    cdef const int32_t *right
    cdef const int32_t *left_bounds
    cdef const int32_t *right_bounds
    cdef int32_t *own = NULL
    cdef int32_t n, m
    cdef Py_ssize_t p, pairs, longest_n = 0, longest_m = 0
    cdef int held = 0
    cdef Region region
    cdef Ints runs, ops, op_bounds
    region_init(&region, &runs)
    ints_init(&ops)
    ints_init(&op_bounds)
    try:
        for source in (a, a_bounds, b, b_bounds):
            acquire_ints(source, &views[held])
            held += 1
        left = <const int32_t *> views[0].buf
        left_bounds = <const int32_t *> views[1].buf
        right = <const int32_t *> views[2].buf
        right_bounds = <const int32_t *> views[3].buf
        check_bounds(left_bounds, views[1].len // 4, views[0].len // 4)
        check_bounds(right_bounds, views[3].len // 4, views[2].len // 4)
        pairs = views[1].len // 4 - 1
        if views[3].len // 4 - 1 != pairs:
            raise ValueError("the two sides have different numbers of bounds")
        for p in range(pairs):
            longest_n = max(longest_n, left_bounds[p + 1] - left_bounds[p])
            longest_m = max(longest_m, right_bounds[p + 1] - right_bounds[p])
        prepare(&region, &left, views[0].len // 4, &right, views[2].len // 4, &own, longest_n, longest_m)
        with nogil:
            ints_push(&op_bounds, 0)
            for p in range(pairs):
                n = left_bounds[p + 1] - left_bounds[p]
                m = right_bounds[p + 1] - right_bounds[p]
                runs.size = 0
                region.a = left + left_bounds[p]
                region.b = right + right_bounds[p]
                region.n = n
                region.m = m
                walk(&region, 0, 0, n + m, False)
                push_opcodes(&ops, &runs, n, m)
                ints_push(&op_bounds, <int32_t> (ops.size // 5))
                if region.failed or runs.failed or ops.failed or op_bounds.failed:
                    break
        if region.failed or runs.failed or ops.failed or op_bounds.failed:
            raise MemoryError
        return ints_to_array(INT32, ops.items, ops.size), ints_to_array(INT32, op_bounds.items, op_bounds.size)
    finally:
        region_free(&region)
        ints_free(&runs)
        ints_free(&ops)
        ints_free(&op_bounds)
        free(own)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])


def common_ends(object a, object b, /):
    """Return how many elements two id sequences share at their start and, not overlapping that, at their end.

    Parameters
    ----------
    a, b : int32 buffer, shapes (n,) and (m,)

    Returns
    -------
    head, tail : int

    Raises
    ------
    ValueError
        If an argument is not a contiguous int32 buffer.
    """
    cdef Py_buffer a_view, b_view
    cdef const int32_t *left
    cdef const int32_t *right
    cdef int32_t n, m, shorter, head, tail
    acquire_ints(a, &a_view)
    try:
        acquire_ints(b, &b_view)
    except BaseException:
        PyBuffer_Release(&a_view)
        raise
    n = <int32_t> (a_view.len // 4)
    m = <int32_t> (b_view.len // 4)
    left = <const int32_t *> a_view.buf
    right = <const int32_t *> b_view.buf
    shorter = n if n < m else m
    with nogil:
        head = equal_head(left, right, shorter)
        tail = equal_tail(left + (n - (shorter - head)), right + (m - (shorter - head)), shorter - head)
    PyBuffer_Release(&a_view)
    PyBuffer_Release(&b_view)
    return head, tail


def split_replaces_at(object ops, object a, object b, /, Py_ssize_t a_offset=0, Py_ssize_t b_offset=0):
    """Place a script of two slices in their sequences, and split same-size replaces at equal elements.

    Parameters
    ----------
    ops : int32 buffer, shape (5 * k,)
        A script that covers the slices from its first to its last block.
    a, b : int32 buffer, shapes (n,) and (m,)
        The whole sequences.
    a_offset, b_offset : int
        Where the slices start.

    Returns
    -------
    array.array of int32, shape (5 * k,)
        The script over the whole sequences' indices; neighbours of one tag are joined *(textdiff §9.1)*.

    Raises
    ------
    ValueError
        If a block does not fit.
    MemoryError
    """
    cdef Py_buffer[3] views
    cdef Ints runs, split, out
    cdef const int32_t *op
    cdef Py_ssize_t count, k, _
    cdef int32_t i0, j0, n = 0, m = 0
    cdef int held = 0
    ints_init(&runs)
    ints_init(&split)
    ints_init(&out)
    try:
        for source in (ops, a, b):
            acquire_ints(source, &views[held])
            held += 1
        if a_offset < 0 or a_offset > views[1].len // 4 or b_offset < 0 or b_offset > views[2].len // 4:
            raise ValueError("an offset lies outside its sequence")
        i0 = <int32_t> a_offset
        j0 = <int32_t> b_offset
        count = views[0].len // 20
        op = <const int32_t *> views[0].buf
        for _ in range(count):
            if not (n == op[1] <= op[2] <= views[1].len // 4 - a_offset
                    and m == op[3] <= op[4] <= views[2].len // 4 - b_offset):
                raise ValueError("a block of the edit script does not fit")
            n = op[2]
            m = op[4]
            if op[0] == EQUAL:
                if op[2] - op[1] != op[4] - op[3]:
                    raise ValueError("an equal block has as many elements on both sides")
                push_run(&runs, op[1], op[3], op[2] - op[1])
            op += 5
        split_replaces(&runs, <const int32_t *> views[1].buf + i0, n, <const int32_t *> views[2].buf + j0, m, &split)
        push_opcodes(&out, &split, n, m)
        for k in range(out.size):
            if k % 5 == 1 or k % 5 == 2:
                out.items[k] += i0
            elif k % 5:
                out.items[k] += j0
        if runs.failed or split.failed or out.failed:
            raise MemoryError
        return ints_to_array(INT32, out.items, out.size)
    finally:
        ints_free(&runs)
        ints_free(&split)
        ints_free(&out)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])
