# Order statistics without sorting: counts over ranges of values, then only the ranges that hold a wanted rank.
#
# Linear on any input: a pass over a group of values leaves groups whose range is smaller by a factor of up to 4096.

from libc.string cimport memset

from buffers cimport free, int64_t, malloc, memcpy, uint8_t, uint32_t, uint64_t

cdef enum:
    SELECT_BITS = 12        # of the table: 16 KB of counts, half of an L1 cache
    SELECT_SHORT = 40       # up to here sorting is faster
    SELECT_RANKS = 8        # ranks asked for at once, at most


cdef struct Selection:
    # Room for one selection at a time over up to `capacity` values.
    int64_t *values         # to be filled by the caller; left in another order
    int64_t *room
    uint32_t *counts
    uint8_t *groups         # all zero between uses


cdef struct Group:
    # Values among which some ranks are looked for.
    int64_t *values
    int64_t *room
    Py_ssize_t size
    Py_ssize_t below        # values smaller than all of these
    int first               # ranks[first] to ranks[stop - 1] are in here
    int stop


cdef inline void selection_init(Selection *self) noexcept nogil:
    self.values = self.room = NULL
    self.counts = NULL
    self.groups = NULL


cdef inline bint selection_reserve(Selection *self, Py_ssize_t capacity) noexcept nogil:
    self.values = <int64_t *> malloc((<size_t> capacity + 1) * sizeof(int64_t))
    if capacity <= SELECT_SHORT:
        return self.values != NULL
    self.room = <int64_t *> malloc((<size_t> capacity + 1) * sizeof(int64_t))
    self.counts = <uint32_t *> malloc((<size_t> 1 << SELECT_BITS) * sizeof(uint32_t))
    self.groups = <uint8_t *> malloc(<size_t> 1 << SELECT_BITS)
    if self.values == NULL or self.room == NULL or self.counts == NULL or self.groups == NULL:
        return False
    memset(self.groups, 0, <size_t> 1 << SELECT_BITS)
    return True


cdef inline void selection_free(Selection *self) noexcept nogil:
    free(self.values)
    free(self.room)
    free(self.counts)
    free(self.groups)
    selection_init(self)


cdef inline void sort_short(int64_t *values, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef int64_t value
    for i in range(1, size):
        value = values[i]
        k = i
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value


cdef inline int bit_length(uint64_t value) noexcept nogil:
    cdef int found = 0
    while value:
        value >>= 1
        found += 1
    return found


cdef inline int split_group(
    Selection *self, const Group *group, const Py_ssize_t *ranks, int64_t *found, Group *parts
) noexcept nogil:
    # Finds the ranks whose values a table can tell apart; writes the groups the others are in, returns how many.
    cdef int64_t *values = group.values
    cdef int64_t low = values[0], high = values[0], value
    cdef uint32_t *counts = self.counts
    cdef uint8_t *groups = self.groups
    cdef Py_ssize_t k, before, size = group.size
    cdef uint64_t spread, bucket, base
    cdef int bits, width, shift, rank, count = 0
    cdef int64_t *ends[SELECT_RANKS]
    cdef uint64_t buckets[SELECT_RANKS]
    for k in range(1, size):
        value = values[k]
        low = value if value < low else low
        high = value if value > high else high
    base = <uint64_t> low
    spread = <uint64_t> high - base
    bits = bit_length(spread)
    width = bit_length(<uint64_t> size) + 1
    if width > SELECT_BITS:
        width = SELECT_BITS
    shift = bits - width if bits > width else 0
    memset(counts, 0, (<size_t> (spread >> shift) + 1) * sizeof(uint32_t))
    for k in range(size):
        counts[(<uint64_t> values[k] - base) >> shift] += 1
    bucket = 0
    before = group.below
    rank = group.first
    while rank < group.stop:
        while before + <Py_ssize_t> counts[bucket] <= ranks[rank]:
            before += counts[bucket]
            bucket += 1
        if shift == 0:
            found[rank] = <int64_t> (base + bucket)
            rank += 1
            continue
        parts[count].size = counts[bucket]
        parts[count].below = before
        parts[count].first = rank
        while rank < group.stop and ranks[rank] < before + <Py_ssize_t> counts[bucket]:
            rank += 1
        parts[count].stop = rank
        buckets[count] = bucket
        count += 1
        groups[bucket] = <uint8_t> count
    if count == 0:
        return 0
    # Each wanted range into a place of its own; what it leaves is the room for the next step.
    k = 0
    for rank in range(count):
        parts[rank].values = group.room + k
        parts[rank].room = group.values + k
        ends[rank] = parts[rank].values
        k += parts[rank].size
    for k in range(size):
        rank = groups[(<uint64_t> values[k] - base) >> shift]
        if rank:
            ends[rank - 1][0] = values[k]
            ends[rank - 1] += 1
    for rank in range(count):
        groups[buckets[rank]] = 0
    return count


cdef inline void select_ranks(
    Selection *self, Py_ssize_t size, const Py_ssize_t *ranks, int count, int64_t *found
) noexcept nogil:
    # found[k] = the value that sorting would put at ranks[k]; ranks ascend (equal ones are fine), all below `size` > 0.
    cdef Group pending[2 * SELECT_RANKS]
    cdef Group group
    cdef int left = 1, rank
    pending[0].values = self.values
    pending[0].room = self.room
    pending[0].size = size
    pending[0].below = 0
    pending[0].first = 0
    pending[0].stop = count
    # Groups have ranks of their own, so there are never more of them than ranks.
    while left:
        left -= 1
        group = pending[left]
        if group.size <= SELECT_SHORT:
            sort_short(group.values, group.size)
            for rank in range(group.first, group.stop):
                found[rank] = group.values[ranks[rank] - group.below]
        else:
            left += split_group(self, &group, ranks, found, &pending[left])


# Doubles in the order of their values, as integers in the same order. Zero has one sign.


cdef inline int64_t key_of_double(double value) noexcept nogil:
    cdef int64_t bits
    value += 0.0
    memcpy(&bits, &value, 8)
    return bits if bits >= 0 else bits ^ <int64_t> 0x7FFFFFFFFFFFFFFF


cdef inline double double_of_key(int64_t key) noexcept nogil:
    cdef double value
    if key < 0:
        key ^= <int64_t> 0x7FFFFFFFFFFFFFFF
    memcpy(&value, &key, 8)
    return value


cdef inline bint fill_keys(int64_t *keys, const double *values, Py_ssize_t size) noexcept nogil:
    # False where one is no number.
    cdef Py_ssize_t k
    cdef double value
    cdef bint fine = True
    for k in range(size):
        value = values[k]
        fine &= value == value
        keys[k] = key_of_double(value)
    return fine


cdef inline double median_of(Selection *self, Py_ssize_t size) noexcept nogil:
    # Of the keys in self.values: the middle one, or (a + b) / 2 of the two.
    cdef Py_ssize_t ranks[2]
    cdef int64_t found[2]
    ranks[0] = (size - 1) >> 1
    ranks[1] = size >> 1
    select_ranks(self, size, ranks, 2, found)
    if ranks[0] == ranks[1]:
        return double_of_key(found[0])
    return (double_of_key(found[0]) + double_of_key(found[1])) / 2.0
