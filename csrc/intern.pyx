"""Lines of two texts as dense int32 ids."""

from cpython.array cimport array
from libc.string cimport memcmp, memset

from buffers cimport (
    PyBuffer_Release, Py_buffer, acquire_bytes, acquire_ints, clone, free, int32_t, malloc, prefetch, realloc,
    uint8_t, uint32_t, uint64_t,
)

cdef extern from "byte_scan.h" nogil:
    uint64_t hash_bytes(const uint8_t *p, size_t n, uint64_t seed)

cdef array INT32 = array("i")

# Keyed per process, so that nobody can prepare lines that collide. No result depends on it: ids are numbered by first
# appearance, and equality is decided on the bytes.
cdef uint64_t SEED = <uint64_t> hash(b"stratadiff.intern") * <uint64_t> 0x9E3779B97F4A7C15

cdef enum:
    BATCH = 32


cdef struct Line:
    const uint8_t *at
    int32_t size
    uint32_t tag            # 32 bits of the line's hash: they choose the slot and filter the comparisons


cdef struct Table:
    # Open addressing, linear probing. Slots are ids alone, so that twice as many fit into a cache; -1 is empty.
    int32_t *slots
    uint32_t mask
    Line *lines             # first line of each id
    int32_t count
    int32_t capacity        # of `lines`
    bint failed


cdef struct Side:
    const uint8_t *text
    const int32_t *starts
    int32_t count
    bint strip_cr
    int32_t *ids


cdef inline Line line_of(const Side *side, int32_t i) noexcept nogil:
    # Without its tag.
    cdef Line line
    line.tag = 0
    line.at = side.text + side.starts[i]
    line.size = side.starts[i + 1] - 1 - side.starts[i]
    if side.strip_cr and line.size and line.at[line.size - 1] == 13:
        line.size -= 1
    return line


cdef inline bint same(Line a, Line b) noexcept nogil:
    return a.size == b.size and memcmp(a.at, b.at, <size_t> a.size) == 0


cdef bint grow(Table *table) noexcept nogil:
    # Twice the slots; the tags find every id's place again without its bytes.
    cdef uint32_t size = (table.mask + 1) * 2, mask = size - 1, at
    cdef int32_t id
    cdef int32_t *slots = <int32_t *> malloc(size * sizeof(int32_t))
    if slots == NULL:
        table.failed = True
        return False
    memset(slots, 0xFF, size * sizeof(int32_t))
    for id in range(table.count):
        at = table.lines[id].tag & mask
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = id
    free(table.slots)
    table.slots = slots
    table.mask = mask
    return True


cdef inline int32_t lookup(Table *table, Line line) noexcept nogil:
    # The id of a line, a new one if it was not met before.
    cdef uint32_t at = line.tag & table.mask
    cdef int32_t id
    cdef Line *grown
    while True:
        id = table.slots[at]
        if id < 0:
            break
        if table.lines[id].tag == line.tag and same(table.lines[id], line):
            return id
        at = (at + 1) & table.mask
    id = table.count
    if id == table.capacity:
        grown = <Line *> realloc(table.lines, 2 * <size_t> table.capacity * sizeof(Line))
        if grown == NULL:
            table.failed = True
            return 0
        table.lines = grown
        table.capacity *= 2
    table.slots[at] = id
    table.lines[id] = line
    table.count += 1
    if <uint32_t> table.count > (table.mask >> 1):
        grow(table)
    return id


cdef inline uint32_t tag_of(Line line) noexcept nogil:
    cdef uint64_t h = hash_bytes(line.at, <size_t> line.size, SEED)
    return <uint32_t> (h ^ (h >> 32))


cdef void intern_batch(Table *table, Side *side, int32_t i, int32_t stop) noexcept nogil:
    # Lines i to stop, at most BATCH of them, in steps that each ask for the memory the next one needs.
    cdef Line[BATCH] lines
    cdef int32_t k, id
    for k in range(stop - i):
        lines[k] = line_of(side, i + k)
        lines[k].tag = tag_of(lines[k])
        prefetch(&table.slots[lines[k].tag & table.mask])
    for k in range(stop - i):
        id = table.slots[lines[k].tag & table.mask]
        if id >= 0:
            prefetch(&table.lines[id])
    for k in range(stop - i):
        id = table.slots[lines[k].tag & table.mask]
        if id >= 0 and table.lines[id].tag == lines[k].tag:
            prefetch(table.lines[id].at)
    for k in range(stop - i):
        side.ids[i + k] = lookup(table, lines[k])


cdef void intern_baseline(Table *table, Side *side) noexcept nogil:
    cdef int32_t i = 0, stop
    while i < side.count and not table.failed:
        stop = i + BATCH if side.count - i > BATCH else side.count
        intern_batch(table, side, i, stop)
        i = stop


cdef void intern_candidate(Table *table, Side *a, Side *b, const int32_t *first) noexcept nogil:
    # Most lines of a candidate follow the line they followed in the baseline: try that one before hashing anything, and go
    # over to batches while that keeps failing.
    cdef int32_t j = 0, guess = 0, misses = 0, id, stop
    cdef int32_t known = table.count
    cdef Line line
    while j < b.count and not table.failed:
        line = line_of(b, j)
        if guess < a.count and same(line_of(a, guess), line):
            b.ids[j] = a.ids[guess]
            guess += 1
            j += 1
            misses = 0
            continue
        if guess + 1 < a.count and same(line_of(a, guess + 1), line):
            b.ids[j] = a.ids[guess + 1]
            guess += 2
            j += 1
            misses = 0
            continue
        misses += 1
        stop = j + 1
        if misses > 4:
            stop = j + BATCH if b.count - j > BATCH else b.count
        intern_batch(table, b, j, stop)
        j = stop
        id = b.ids[j - 1]
        if id < known and first[id] >= 0:
            guess = first[id] + 1


cdef int check_starts(const int32_t *starts, Py_ssize_t entries, Py_ssize_t size) except -1:
    # What index_lines promises; anything else could read outside the text.
    cdef Py_ssize_t k
    if entries < 1:
        raise ValueError("line starts need at least one entry")
    if starts[0] < 0 or starts[entries - 1] > size + 1:
        raise ValueError("line starts reach outside the text")
    for k in range(1, entries):
        if starts[k] <= starts[k - 1]:
            raise ValueError("line starts must increase")
    return 0


def intern_lines(object a, object a_starts, bint a_strip_cr, object b, object b_starts, bint b_strip_cr, /):
    """Return the lines of two texts as dense ids: equal lines, and only they, share one.

    Parameters
    ----------
    a, b : bytes-like
        The two texts.
    a_starts, b_starts : int32 buffer, shapes (n + 1,) and (m + 1,)
        Line starts as :func:`line_index.index_lines` returns them.
    a_strip_cr, b_strip_cr : bool
        Whether one CR at the end of a line is not part of its content *(textdiff §9.1)*.

    Returns
    -------
    a_ids, b_ids : array.array of int32, shapes (n,) and (m,)
        Numbered from 0 by first appearance, the lines of `a` first.
    distinct : int
        How many ids there are.

    Raises
    ------
    ValueError
        If the starts do not describe lines of the text.
    MemoryError

    Notes
    -----
    Expected cost O(bytes), keyed against prepared collisions; equality is decided on bytes, the hash only filters.
    """
    cdef Py_buffer a_view, b_view, a_lines, b_lines
    cdef Side left, right
    cdef Table table
    cdef int32_t *first = NULL
    cdef int32_t i, id
    cdef uint32_t size = 64
    cdef array a_ids, b_ids
    cdef int held = 0
    table.slots = NULL
    table.lines = NULL
    try:
        acquire_bytes(a, &a_view)
        held = 1
        acquire_bytes(b, &b_view)
        held = 2
        acquire_ints(a_starts, &a_lines)
        held = 3
        acquire_ints(b_starts, &b_lines)
        held = 4
        left.text = <const uint8_t *> a_view.buf
        left.starts = <const int32_t *> a_lines.buf
        left.strip_cr = a_strip_cr
        check_starts(left.starts, a_lines.len // 4, a_view.len)
        left.count = <int32_t> (a_lines.len // 4 - 1)
        right.text = <const uint8_t *> b_view.buf
        right.starts = <const int32_t *> b_lines.buf
        right.strip_cr = b_strip_cr
        check_starts(right.starts, b_lines.len // 4, b_view.len)
        right.count = <int32_t> (b_lines.len // 4 - 1)
        a_ids = clone(INT32, left.count, False)
        b_ids = clone(INT32, right.count, False)
        left.ids = <int32_t *> a_ids.data.as_ints
        right.ids = <int32_t *> b_ids.data.as_ints
        while size < 2 * <uint32_t> left.count:
            size *= 2
        table.mask = size - 1
        table.count = 0
        table.capacity = left.count + 16
        table.failed = False
        table.slots = <int32_t *> malloc(size * sizeof(int32_t))
        table.lines = <Line *> malloc(<size_t> table.capacity * sizeof(Line))
        first = <int32_t *> malloc((<size_t> left.count + 1) * sizeof(int32_t))
        if table.slots == NULL or table.lines == NULL or first == NULL:
            raise MemoryError
        with nogil:
            memset(table.slots, 0xFF, size * sizeof(int32_t))
            intern_baseline(&table, &left)
            # Where to go on guessing after a line is found by its hash: only lines that occur once tell.
            for i in range(table.count):
                first[i] = -2
            for i in range(left.count):
                id = left.ids[i]
                first[id] = i if first[id] == -2 else -1
            intern_candidate(&table, &left, &right, first)
        if table.failed:
            raise MemoryError
        return a_ids, b_ids, table.count
    finally:
        free(table.slots)
        free(table.lines)
        free(first)
        if held > 3:
            PyBuffer_Release(&b_lines)
        if held > 2:
            PyBuffer_Release(&a_lines)
        if held > 1:
            PyBuffer_Release(&b_view)
        if held > 0:
            PyBuffer_Release(&a_view)
