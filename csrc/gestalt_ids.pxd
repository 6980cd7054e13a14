# The two sequences as the matcher needs them: dense ids, and where each occurs in the second one.

from libc.string cimport memset

from buffers cimport Ints, int32_t, int64_t, memcpy, uint32_t, uint64_t

cdef enum Outcome:
    DONE = 0
    NO_MEMORY = 1
    INTERRUPTED = 2


cdef struct Match:
    # A run of equal elements: a[i : i + size] = b[j : j + size].
    int32_t i
    int32_t j
    int32_t size


cdef struct Matcher:
    # Two sequences of dense ids, made so that an element of A that is not in B has id -1.
    int32_t n
    int32_t m
    int32_t *a              # room for the longest sequences of all pairs
    int32_t *b
    int32_t *a_key          # as `a`, popular ids replaced by -1: what may start a block
    int32_t *counts         # counts[v]: how often id v occurs in B; 0 if it is popular
    int32_t *starts         # starts[v]: where the ascending positions of id v in B begin in `places`
    int32_t *places
    int32_t *table          # ids by value (see number_elements)
    int64_t table_size
    bint popular            # any popular element
    int64_t steps
    Outcome outcome
    Ints stack              # regions still to be searched, four numbers each
    Ints *rows              # result


cdef inline uint64_t slot_of(int32_t value, uint64_t mask) noexcept nogil:
    # Multiplicative hashing, the upper half of the product.
    return (<uint64_t> <uint32_t> value * <uint64_t> 0x9E3779B97F4A7C15 >> 32) & mask


cdef inline int32_t number_elements(Matcher *g, const int32_t *a, const int32_t *b) noexcept nogil:
    # Numbers the values of B by first appearance; values of A that B lacks become -1. Returns how many there
    # are. Values in a narrow range (interned lines and words always are) index `table`; others are hashed: a
    # slot then holds the first position of a value in B, plus one.
    cdef int32_t *table = g.table
    cdef int32_t count = 0, k, low, high
    cdef int64_t width
    cdef uint64_t room = 4, mask, slot
    # Numbers replace copies: a thread of the caller that writes to its arrays meanwhile gets a wrong script,
    # not a slot outside the table.
    memcpy(g.a, a, <size_t> g.n * sizeof(int32_t))
    memcpy(g.b, b, <size_t> g.m * sizeof(int32_t))
    low = high = g.b[0]
    for k in range(1, g.m):
        low = min(low, g.b[k])
        high = max(high, g.b[k])
    width = <int64_t> high - low + 1
    if width <= g.table_size and width <= 4 * (<int64_t> g.n + g.m):
        memset(table, 0, <size_t> width * sizeof(int32_t))
        for k in range(g.m):
            slot = <uint64_t> (g.b[k] - <int64_t> low)
            if table[slot] == 0:
                count += 1
                table[slot] = count
            g.b[k] = table[slot] - 1
        for k in range(g.n):
            g.a[k] = table[g.a[k] - <int64_t> low] - 1 if low <= g.a[k] <= high else -1
        return count
    while room < 2 * <uint64_t> g.m:
        room *= 2
    mask = room - 1
    memset(table, 0, room * sizeof(int32_t))
    for k in range(g.m):
        slot = slot_of(b[k], mask)
        while table[slot] and b[table[slot] - 1] != b[k]:
            slot = (slot + 1) & mask
        if table[slot]:
            g.b[k] = g.b[table[slot] - 1]
        else:
            table[slot] = k + 1
            g.b[k] = count
            count += 1
    for k in range(g.n):
        slot = slot_of(a[k], mask)
        while table[slot] and b[table[slot] - 1] != a[k]:
            slot = (slot + 1) & mask
        g.a[k] = g.b[table[slot] - 1] if table[slot] else -1
    return count


cdef inline void list_positions(Matcher *g, int32_t count, int32_t threshold) noexcept nogil:
    # The positions of every id in B, all in one array. Ids that occur more often than the threshold are
    # popular: they have none, and no key in A.
    cdef int32_t *counts = g.counts
    cdef int32_t *starts = g.starts
    cdef int32_t k, v, total = 0
    memset(counts, 0, <size_t> count * sizeof(int32_t))
    for k in range(g.m):
        counts[g.b[k]] += 1
    g.popular = False
    starts[0] = 0
    for v in range(count):
        if counts[v] > threshold:
            g.popular = True
            counts[v] = 0
        # Filling moves starts[v + 1] from the start of id v to its end.
        starts[v + 1] = total
        total += counts[v]
    for k in range(g.m):
        v = g.b[k]
        if counts[v]:
            g.places[starts[v + 1]] = k
            starts[v + 1] += 1
    for k in range(g.n):
        v = g.a[k]
        g.a_key[k] = v if v >= 0 and counts[v] else -1
