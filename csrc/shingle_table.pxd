# Shingles of a text one after another, and an exact hash table of them (levels §4.3).

from buffers cimport free, int32_t, prefetch, uint8_t, uint32_t, uint64_t
from libc.stdint cimport uint16_t
from libc.stdlib cimport calloc

cdef extern from "byte_scan.h" nogil:
    uint64_t mix_u64(uint64_t a, uint64_t b)

cdef enum:
    LONGEST = 4             # code points of a shingle: 84 bits, and room to mark a shorter text
    BATCH = 32
    LEAST = 256             # entries of a table
    LARGE = 4096            # entries of a table that may not be in the nearest cache


cdef struct Text:
    const uint8_t *data
    Py_ssize_t size
    int kind


cdef struct Entry:
    uint64_t low            # the last three code points
    uint32_t high           # the one before; of a text shorter than k a mark and its length
    int32_t mark            # of a pair: when it was seen, and on which side; of `sets`: its id + 1


cdef struct Table:
    # Open addressing, linear probing.
    Entry *entries
    Py_ssize_t capacity     # a power of two, at least twice the entries in use
    Py_ssize_t used
    int32_t oldest          # an entry with a smaller mark is free
    uint64_t seed           # keeps strangers from preparing texts that collide; no result depends on it


cdef struct Reader:
    # Walks over the shingles of one text.
    const Text *text
    Py_ssize_t at           # code point that comes next
    uint64_t low
    uint32_t high
    uint64_t low_mask
    uint32_t high_mask
    int k
    uint64_t seed


cdef struct Batch:
    Entry[BATCH] keys
    uint64_t[BATCH] hashes
    int size


cdef inline uint32_t point(const Text *text, Py_ssize_t at) noexcept nogil:
    if text.kind == 1:
        return text.data[at]
    if text.kind == 2:
        return (<const uint16_t *> text.data)[at]
    return (<const uint32_t *> text.data)[at]


cdef inline uint64_t hash_of(const Entry *key, uint64_t seed) noexcept nogil:
    return mix_u64(key.low ^ seed, <uint64_t> key.high ^ (seed >> 7 | 1))


cdef inline void reader_init(Reader *self, const Text *text, int k, uint64_t seed) noexcept nogil:
    cdef Py_ssize_t at
    self.text = text
    self.k = k
    self.seed = seed
    self.low = 0
    self.high = 0
    self.low_mask = (<uint64_t> 1 << 21 * (k if k < 3 else 3)) - 1
    self.high_mask = 0x1FFFFF if k > 3 else 0
    # All but the last code point of the first shingle.
    self.at = k - 1 if text.size >= k else 0
    for at in range(self.at):
        self.low = self.low << 21 | point(text, at)


cdef inline void read_short(Reader *self, Batch *batch) noexcept nogil:
    # A text of less than k code points is its only shingle, and no part of any other.
    cdef Py_ssize_t at, size = self.text.size
    batch.size = 0
    if self.at < size:
        batch.keys[0].low = 0
        for at in range(size):
            batch.keys[0].low = batch.keys[0].low << 21 | point(self.text, at)
        batch.keys[0].high = <uint32_t> (<uint32_t> 1 << 31 | size)
        batch.hashes[0] = hash_of(&batch.keys[0], self.seed)
        batch.size = 1
        self.at = size


cdef inline void read_shingles(Reader *self, Batch *batch) noexcept nogil:
    # The next shingles, with repeats; none at the end.
    cdef Py_ssize_t start = self.at, left = self.text.size - start
    cdef int i, count = <int> (left if left < BATCH else BATCH)
    cdef uint64_t low = self.low
    cdef uint32_t high
    if self.text.size < self.k:
        read_short(self, batch)
        return
    for i in range(count):
        high = <uint32_t> (low >> 42) & self.high_mask
        low = (low << 21 | point(self.text, start + i)) & self.low_mask
        batch.keys[i].low = low
        batch.keys[i].high = high
        batch.hashes[i] = hash_of(&batch.keys[i], self.seed)
    self.low = low
    self.at = start + count
    batch.size = count


cdef inline bint table_init(Table *self, Py_ssize_t wanted, uint64_t seed) noexcept nogil:
    self.capacity = LEAST
    while self.capacity < wanted:
        self.capacity *= 2
    self.used = 0
    self.oldest = 1
    self.seed = seed
    self.entries = <Entry *> calloc(<size_t> self.capacity, sizeof(Entry))
    return self.entries != NULL


cdef inline Entry *find(const Table *self, const Entry *key, uint64_t hash_value) noexcept nogil:
    # The key's entry, or the free one where it belongs.
    cdef Py_ssize_t mask = self.capacity - 1, at = <Py_ssize_t> hash_value & mask
    cdef Entry *entry
    while True:
        entry = &self.entries[at]
        # One branch, rarely mispredicted.
        if (entry.mark < self.oldest) | ((entry.low == key.low) & (entry.high == key.high)):
            return entry
        at = (at + 1) & mask


cdef inline void put(Table *self, Entry *entry, const Entry *key, int32_t mark) noexcept nogil:
    entry.low = key.low
    entry.high = key.high
    entry.mark = mark
    self.used += 1


cdef inline bint make_room(Table *self) noexcept nogil:
    # For one more batch.
    cdef Table larger
    cdef Py_ssize_t at
    cdef Entry *entry
    if 2 * (self.used + BATCH) <= self.capacity:
        return True
    if not table_init(&larger, 2 * self.capacity, self.seed):
        return False
    larger.oldest = self.oldest
    larger.used = self.used
    for at in range(self.capacity):
        entry = &self.entries[at]
        if entry.mark >= self.oldest:
            find(&larger, entry, hash_of(entry, self.seed))[0] = entry[0]
    free(self.entries)
    self[0] = larger
    return True


cdef inline void ask_for(const Table *self, const Batch *batch) noexcept nogil:
    cdef int i
    if self.capacity > LARGE:
        for i in range(batch.size):
            prefetch(&self.entries[<Py_ssize_t> batch.hashes[i] & (self.capacity - 1)])
