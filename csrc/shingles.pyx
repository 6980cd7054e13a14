"""Shingles of texts: every run of k code points, as a set; how much two sets have in common *(levels §4.3)*.

A shingle is kept whole, as a key of up to 126 bits, so that equality never rests on a hash.
"""

from cpython.array cimport array, clone

from buffers cimport (
    Ints, free, int32_t, ints_free, ints_init, ints_push, ints_to_array, uint8_t, uint32_t, uint64_t,
)

cdef extern from "Python.h":
    int PyUnicode_KIND(object) nogil
    void *PyUnicode_DATA(object) nogil
    Py_ssize_t PyUnicode_GET_LENGTH(object) nogil

cdef extern from "<stdlib.h>" nogil:
    void *calloc(size_t, size_t)
    void qsort(void *, size_t, size_t, int (*)(const void *, const void *) noexcept nogil)

cdef extern from "<stdint.h>" nogil:
    ctypedef unsigned short uint16_t

cdef enum:
    LONGEST = 6             # code points of a shingle that fit a key
    FEW = 2048              # code points that are not worth giving up the interpreter's lock


cdef struct Key:
    uint64_t low            # the last three code points, 21 bits each
    uint64_t high           # those before; of a text shorter than k also its length and a mark


cdef struct Entry:
    Key key
    int32_t round           # 0: free; else the text (of `sets`) or the side of a pair that saw it last
    int32_t id


cdef struct Table:
    Entry *entries
    Py_ssize_t capacity     # a power of two
    Py_ssize_t used
    uint64_t seed


cdef struct Text:
    const uint8_t *data
    Py_ssize_t size
    int kind


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    # The finaliser of SplitMix64.
    x = (x ^ x >> 30) * <uint64_t> 0xBF58476D1CE4E5B9
    x = (x ^ x >> 27) * <uint64_t> 0x94D049BB133111EB
    return x ^ x >> 31


cdef inline uint32_t point(const Text *text, Py_ssize_t at) noexcept nogil:
    if text.kind == 1:
        return text.data[at]
    if text.kind == 2:
        return (<const uint16_t *> text.data)[at]
    return (<const uint32_t *> text.data)[at]


cdef bint table_init(Table *self, Py_ssize_t expected, uint64_t seed) noexcept nogil:
    self.capacity = 64
    while self.capacity < 2 * expected:
        self.capacity *= 2
    self.used = 0
    self.seed = seed
    self.entries = <Entry *> calloc(<size_t> self.capacity, sizeof(Entry))
    return self.entries != NULL


cdef inline Entry *find(const Table *self, const Key *key) noexcept nogil:
    # The key's entry, or the free one where it belongs.
    cdef Py_ssize_t mask = self.capacity - 1
    cdef Py_ssize_t at = <Py_ssize_t> mixed(key.low ^ mixed(key.high ^ self.seed)) & mask
    cdef Entry *entry
    while True:
        entry = &self.entries[at]
        if entry.round == 0 or (entry.key.low == key.low and entry.key.high == key.high):
            return entry
        at = (at + 1) & mask


cdef bint make_room(Table *self, Py_ssize_t extra) noexcept nogil:
    # Keeps at least half the entries free, so that searches stay short.
    cdef Table larger
    cdef Py_ssize_t at
    cdef Entry *entry
    if 2 * (self.used + extra) <= self.capacity:
        return True
    if not table_init(&larger, 2 * (self.used + extra), self.seed):
        return False
    for at in range(self.capacity):
        entry = &self.entries[at]
        if entry.round:
            find(&larger, &entry.key)[0] = entry[0]
    larger.used = self.used
    free(self.entries)
    self[0] = larger
    return True


cdef inline Py_ssize_t shingle_count(const Text *text, int k) noexcept nogil:
    # With repeats.
    return text.size - k + 1 if text.size >= k else text.size > 0


cdef inline void first_key(const Text *text, int k, Key *key) noexcept nogil:
    cdef Py_ssize_t at, size = k if text.size >= k else text.size
    key.low = key.high = 0
    for at in range(size):
        shift_in(key, point(text, at), size)
    if text.size < k:
        key.high |= <uint64_t> 1 << 63 | <uint64_t> text.size << 56


cdef inline void shift_in(Key *key, uint32_t code, Py_ssize_t k) noexcept nogil:
    cdef uint64_t three = (<uint64_t> 1 << 63) - 1
    if k > 3:
        key.high = (key.high << 21 | key.low >> 42) & ((<uint64_t> 1 << 21 * (k - 3)) - 1)
        key.low = (key.low << 21 | code) & three
    else:
        key.low = (key.low << 21 | code) & ((<uint64_t> 1 << 21 * k) - 1)


cdef double compared(Table *self, const Text *a, const Text *b, int k, int32_t round) noexcept nogil:
    # Rounds `round` and `round` + 1 are this pair's: an entry of an earlier one counts as not there. The table
    # has room.
    cdef Py_ssize_t only_a = 0, only_b = 0, common = 0, at, count
    cdef Key key
    cdef Entry *entry
    count = shingle_count(a, k)
    if count:
        first_key(a, k, &key)
    for at in range(count):
        if at:
            shift_in(&key, point(a, at + k - 1), k)
        entry = find(self, &key)
        if entry.round < round:
            if entry.round == 0:
                entry.key = key
                self.used += 1
            entry.round = round
            only_a += 1
    count = shingle_count(b, k)
    if count:
        first_key(b, k, &key)
    for at in range(count):
        if at:
            shift_in(&key, point(b, at + k - 1), k)
        entry = find(self, &key)
        if entry.round < round:
            if entry.round == 0:
                entry.key = key
                self.used += 1
            entry.round = round + 1
            only_b += 1
        elif entry.round == round:
            entry.round = round + 1
            common += 1
    # only_a still counts those in common.
    if only_a + only_b == 0:
        return 1.0
    return <double> common / <double> (only_a + only_b)


cdef inline void look_at(object text, Text *found):
    found.data = <const uint8_t *> PyUnicode_DATA(text)
    found.size = PyUnicode_GET_LENGTH(text)
    found.kind = PyUnicode_KIND(text)


cdef int check_length(int k) except -1:
    if k < 1 or k > LONGEST:
        raise ValueError(f"shingles have 1 to {LONGEST} code points")
    return 0


cdef uint64_t seed_of_process() except? 0:
    # Keeps strangers from choosing texts that collide; no result depends on it.
    return <uint64_t> <Py_ssize_t> hash("shingles")


def jaccard(str a not None, str b not None, int k, /):
    """Return the Jaccard index of the k-shingle sets of two texts: common over union.

    Parameters
    ----------
    a, b : str
        Compared by code points; nothing is normalised.
    k : int
        Code points of a shingle, 1 to 6. A text shorter than that is its only shingle.

    Returns
    -------
    float
        In [0, 1]; 1.0 for two empty texts.

    Raises
    ------
    ValueError
        `k` is out of range.
    MemoryError

    Notes
    -----
    Linear in the lengths, memory too.
    """
    return jaccards((a,), (b,), k)[0]


cdef array _doubles = array('d')
cdef array _ints = array('i')


def jaccards(texts_a, texts_b, int k, /):
    """Return the Jaccard index of the k-shingle sets of every pair of texts.

    Parameters
    ----------
    texts_a, texts_b : sequence of str
        Equally many.
    k : int
        As in :func:`jaccard`.

    Returns
    -------
    array('d')
        One index per pair.

    Raises
    ------
    ValueError
        `k` is out of range, or the lists differ in length.
    TypeError
        An item is no str.
    MemoryError

    Notes
    -----
    Linear in the lengths; memory linear in the longest pair.
    """
    check_length(k)
    cdef tuple left = tuple(texts_a), right = tuple(texts_b)
    cdef Py_ssize_t count = len(left), at, wanted
    cdef Text a, b
    cdef Table table
    cdef array result
    cdef double value
    cdef int32_t round = 1
    if len(right) != count:
        raise ValueError("the two lists of texts differ in length")
    for text in left + right:
        if not isinstance(text, str):
            raise TypeError(f"a text is {type(text).__name__}, not str")
    result = clone(_doubles, count, False)
    if not table_init(&table, 0, seed_of_process()):
        raise MemoryError
    try:
        for at in range(count):
            first, second = left[at], right[at]
            if first is second or first == second:
                result.data.as_doubles[at] = 1.0
                continue
            look_at(first, &a)
            look_at(second, &b)
            wanted = shingle_count(&a, k) + shingle_count(&b, k)
            if 2 * (table.used + wanted) > table.capacity:
                # What earlier pairs left behind is of no use: start over, large enough for this one.
                free(table.entries)
                table.entries = NULL
                if not table_init(&table, 4 * wanted if wanted < FEW else wanted, table.seed):
                    raise MemoryError
                round = 1
            if wanted <= FEW:
                value = compared(&table, &a, &b, k, round)
            else:
                with nogil:
                    value = compared(&table, &a, &b, k, round)
            result.data.as_doubles[at] = value
            round += 2
            if round > 0x7FFFFFF0:
                free(table.entries)
                table.entries = NULL
                if not table_init(&table, wanted, table.seed):
                    raise MemoryError
                round = 1
    finally:
        free(table.entries)
    return result


cdef int compare_ints(const void *x, const void *y) noexcept nogil:
    cdef int32_t a = (<const int32_t *> x)[0]
    cdef int32_t b = (<const int32_t *> y)[0]
    return (a > b) - (a < b)


cdef bint collect(Table *self, const Text *text, int k, int32_t round, Ints *ids) noexcept nogil:
    cdef Py_ssize_t count = shingle_count(text, k), at, start = ids.size
    cdef Key key
    cdef Entry *entry
    cdef bint is_sorted = True
    if not make_room(self, count):
        return False
    if count:
        first_key(text, k, &key)
    for at in range(count):
        if at:
            shift_in(&key, point(text, at + k - 1), k)
        entry = find(self, &key)
        if entry.round == round:
            continue
        if entry.round == 0:
            entry.key = key
            entry.id = <int32_t> self.used
            self.used += 1
        entry.round = round
        if ids.size > start and ids.items[ids.size - 1] > entry.id:
            is_sorted = False
        ints_push(ids, entry.id)
    if not is_sorted and not ids.failed:
        qsort(ids.items + start, <size_t> (ids.size - start), sizeof(int32_t), compare_ints)
    return not ids.failed


def sets(texts, int k, /):
    """Return the k-shingle sets of texts as ids that mean the same in all of them.

    Parameters
    ----------
    texts : sequence of str
        Any number.
    k : int
        As in :func:`jaccard`.

    Returns
    -------
    ids : array('i')
        The sets one after another, each ascending and without repeats; ids are dense, by first occurrence.
    bounds : array('i')
        Where each set starts, and the end of the last.

    Raises
    ------
    ValueError
        `k` is out of range.
    TypeError
        An item is no str.
    OverflowError
        More than 2147483645 code points in all.
    MemoryError

    Notes
    -----
    O(n log n) in the lengths; memory: 24 bytes per different shingle, twice that while the table grows, and 4 per
    id.
    """
    check_length(k)
    cdef tuple given = tuple(texts)
    cdef Py_ssize_t count = len(given), at
    cdef Text text
    cdef Table table
    cdef Ints ids
    cdef array bounds
    cdef bint has_room
    cdef uint64_t total = 0
    for item in given:
        if not isinstance(item, str):
            raise TypeError(f"a text is {type(item).__name__}, not str")
        total += <uint64_t> len(item)
    if total > 2147483645 or count > 2147483645:
        raise OverflowError("more than 2147483645 code points cannot be indexed")
    bounds = clone(_ints, count + 1, False)
    ints_init(&ids)
    if not table_init(&table, 0, seed_of_process()):
        raise MemoryError
    try:
        bounds.data.as_ints[0] = 0
        for at in range(count):
            look_at(given[at], &text)
            if text.size <= FEW:
                has_room = collect(&table, &text, k, <int32_t> at + 1, &ids)
            else:
                with nogil:
                    has_room = collect(&table, &text, k, <int32_t> at + 1, &ids)
            if not has_room:
                raise MemoryError
            bounds.data.as_ints[at + 1] = <int32_t> ids.size
        return ints_to_array(_ints, ids.items, ids.size), bounds
    finally:
        ints_free(&ids)
        free(table.entries)
