# How much the shingle sets of two texts have in common (levels §4.3).

from cpython.exc cimport PyErr_CheckSignals

from buffers cimport free, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc
from libc.string cimport memcmp, memset
from shingle_table cimport (
    BATCH, Batch, Entry, Reader, Table, Text, ask_for, make_room, read_shingles, reader_init, table_init,
)

cdef enum:
    MOST_AT_START = 1 << 17  # entries of a new table; a larger one grows as different shingles turn up
    MOST_AT_ONCE = 1 << 22  # different shingles of a pair held together, in 128 MiB; more are taken in parts


cdef struct Counts:
    Py_ssize_t common
    Py_ssize_t all


cdef inline void keep_part(Batch *batch, uint64_t part, int bits) noexcept nogil:
    # Of a batch only those whose hash starts with these bits.
    cdef int i, kept = 0
    for i in range(batch.size):
        batch.keys[kept] = batch.keys[i]
        batch.hashes[kept] = batch.hashes[i]
        kept += batch.hashes[i] >> (64 - bits) == part
    batch.size = kept


cdef inline void count_batch(Table *table, const Batch *batch, int32_t side, Py_ssize_t *common) noexcept nogil:
    # Locals, because the compiler cannot know that entries are not part of the table.
    cdef Entry *entries = table.entries
    cdef Entry *entry
    cdef uint64_t mask = <uint64_t> table.capacity - 1, at, low
    cdef uint32_t high
    cdef int32_t first = table.oldest, last = first + side
    cdef Py_ssize_t both = 0, used = 0
    cdef int i
    for i in range(batch.size):
        at = batch.hashes[i] & mask
        low = batch.keys[i].low
        high = batch.keys[i].high
        entry = &entries[at]
        while not ((entry.mark < first) | ((entry.low == low) & (entry.high == high))):
            at = (at + 1) & mask
            entry = &entries[at]
        # Free or the key's: without a branch, as no processor can foresee which.
        both += side & (entry.mark == first)
        used += entry.mark < first
        entry.low = low
        entry.high = high
        entry.mark = last
    common[0] += both
    table.used += used


cdef inline int count_part(Table *table, const Text *a, const Text *b, int k, uint64_t part, int bits,
                           Counts *counts) noexcept nogil:
    # Adds the shingles whose hash starts with these bits. 1: done; 0: there are too many; -1: no memory.
    cdef Reader reader
    cdef Batch batch
    cdef int32_t side
    table.used = 0
    for side in range(2):
        reader_init(&reader, b if side else a, k, table.seed)
        while True:
            read_shingles(&reader, &batch)
            if batch.size == 0:
                break
            if bits:
                keep_part(&batch, part, bits)
            if table.used + BATCH > MOST_AT_ONCE:
                return 0
            if not make_room(table):
                return -1
            ask_for(table, &batch)
            count_batch(table, &batch, side, &counts.common)
    counts.all += table.used
    return 1


cdef inline void next_round(Table *table) noexcept nogil:
    # Frees all entries, most often by growing older alone.
    if table.oldest < 0x7FFFFFF0:
        table.oldest += 2
    else:
        memset(table.entries, 0, <size_t> table.capacity * sizeof(Entry))
        table.oldest = 1


cdef struct Bytes:
    # A set of shingles whose code points fit a byte each: slots of round << 32 | shingle. Slots of earlier rounds are free.
    uint64_t *slots
    int bits                # how many slots there are, as a power of two
    uint32_t round
    uint64_t seed


cdef inline bint bytes_init(Bytes *self, Py_ssize_t wanted) noexcept nogil:
    # For a new pair.
    if self.slots != NULL and <Py_ssize_t> 1 << self.bits >= wanted and self.round < <uint32_t> 0xFFFFFFF0:
        self.round += 2
        return True
    free(self.slots)
    self.bits = 8
    while <Py_ssize_t> 1 << self.bits < wanted:
        self.bits += 1
    self.round = 2
    self.slots = <uint64_t *> calloc(<size_t> 1 << self.bits, sizeof(uint64_t))
    return self.slots != NULL


cdef inline void count_bytes(Bytes *self, const uint8_t *text, Py_ssize_t size, int k, uint32_t side,
                             Counts *counts) noexcept nogil:
    cdef uint64_t *slots = self.slots
    cdef uint64_t multiplier = self.seed | 1, slot, at, mask = (<uint64_t> 1 << self.bits) - 1
    cdef uint32_t key = 0, key_mask = <uint32_t> ((<uint64_t> 1 << 8 * k) - 1), first = self.round, seen
    cdef int shift = 64 - self.bits
    cdef Py_ssize_t i, common = 0, new = 0
    for i in range(k - 1):
        key = key << 8 | text[i]
    for i in range(k - 1, size):
        key = (key << 8 | text[i]) & key_mask
        at = key * multiplier >> shift
        while True:
            slot = slots[at]
            seen = <uint32_t> (slot >> 32)
            if (seen < first) | (<uint32_t> slot == key):
                break
            at = (at + 1) & mask
        # Free or the shingle's: without a branch, as no processor can foresee which.
        common += side & (seen == first)
        new += seen < first
        slots[at] = <uint64_t> (first + side) << 32 | key
    counts.common += common
    counts.all += new


cdef inline int look_at_signals() except -1 with gil:
    PyErr_CheckSignals()
    return 0


cdef inline double compared(Table *table, Bytes *small, const Text *a, const Text *b, int k) except -2.0 nogil:
    # The Jaccard index; -1.0 when memory ran out.
    cdef Counts counts
    cdef int bits = 0, done
    cdef uint64_t part = 0
    cdef Py_ssize_t wanted
    if a.size == b.size and a.kind == b.kind and memcmp(a.data, b.data, <size_t> a.size * a.kind) == 0:
        return 1.0
    counts.common = counts.all = 0
    wanted = 2 * (a.size + b.size)
    if a.kind == 1 and b.kind == 1 and a.size >= k and b.size >= k and wanted <= MOST_AT_START:
        if not bytes_init(small, 2 * wanted):
            return -1.0
        count_bytes(small, a.data, a.size, k, 0, &counts)
        count_bytes(small, b.data, b.size, k, 1, &counts)
        return <double> counts.common / <double> counts.all
    if wanted > MOST_AT_START:
        wanted = MOST_AT_START
    if table.entries == NULL or table.capacity < wanted or table.capacity > MOST_AT_START:
        free(table.entries)
        if not table_init(table, wanted, table.seed):
            return -1.0
    while part < <uint64_t> 1 << bits:
        done = count_part(table, a, b, k, part, bits, &counts)
        next_round(table)
        if done < 0:
            return -1.0
        part += 1
        if bits:
            look_at_signals()
        if done == 0:
            bits += 2
            part = 0
            counts.common = counts.all = 0
    return <double> counts.common / <double> counts.all
