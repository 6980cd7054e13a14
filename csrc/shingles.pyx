"""Shingles of texts: every run of k code points, as a set; how much two sets have in common *(levels §4.3)*.

A shingle is kept whole, as a key of up to 84 bits, so that equality never rests on a hash.
"""

from cpython.array cimport array, clone
from cpython.exc cimport PyErr_CheckSignals

from buffers cimport (
    Ints, free, int32_t, ints_free, ints_init, ints_reserve, ints_to_array, malloc, memcpy, uint8_t, uint64_t,
)
from libc.string cimport memset
from shingle_pairs cimport Bytes, compared
from shingle_table cimport (
    LONGEST, Batch, Entry, Reader, Table, Text, ask_for, find, make_room, put, read_shingles, reader_init, table_init,
)

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void *PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)

cdef array INT32 = array("i")
cdef array DOUBLE = array("d")

# Keyed per process, so that nobody can prepare texts that collide. No result depends on it.
cdef uint64_t SEED = <uint64_t> hash("stratadiff.shingles") * <uint64_t> 0x9E3779B97F4A7C15

cdef enum:
    SMALL_START = 1 << 14   # entries of the first table of `sets`
    FEW = 1024              # code points that are not worth giving up the interpreter's lock
    MANY = 1 << 22          # code points between two looks at signals


# ---------------------------------------------------------------------------------------------------------------------
# Sets


cdef void sort_ids(int32_t *ids, int32_t *other, Py_ssize_t count, int32_t most) noexcept nogil:
    # Ascending. By digits of eight bits from the lowest on; `other` has room for as many.
    cdef Py_ssize_t[256] places
    cdef Py_ssize_t i, k, place, size
    cdef int32_t id
    cdef int shift = 0
    cdef int32_t *source = ids
    cdef int32_t *target = other
    if count <= 32:
        for i in range(1, count):
            id = ids[i]
            k = i
            while k > 0 and ids[k - 1] > id:
                ids[k] = ids[k - 1]
                k -= 1
            ids[k] = id
        return
    while most >> shift:
        memset(places, 0, sizeof(places))
        for i in range(count):
            places[source[i] >> shift & 255] += 1
        place = 0
        for k in range(256):
            size = places[k]
            places[k] = place
            place += size
        for i in range(count):
            k = source[i] >> shift & 255
            target[places[k]] = source[i]
            places[k] += 1
        source, target = target, source
        shift += 8
        if shift == 32:
            break
    if source != ids:
        memcpy(ids, source, <size_t> count * sizeof(int32_t))


cdef bint collect(Table *table, const Text *text, int k, Ints *ids, Ints *spare) noexcept nogil:
    # Pushes the text's set. False when memory ran out.
    cdef Reader reader
    cdef Batch batch
    cdef Entry *entry
    cdef int32_t *own
    cdef int32_t most = 0, before = -1
    cdef Py_ssize_t count = 0, kept = 0, at
    cdef int i
    cdef bint is_sorted = True
    if not ints_reserve(ids, text.size):
        return False
    own = ids.items + ids.size
    reader_init(&reader, text, k, table.seed)
    while True:
        read_shingles(&reader, &batch)
        if batch.size == 0:
            break
        if not make_room(table):
            return False
        ask_for(table, &batch)
        for i in range(batch.size):
            entry = find(table, &batch.keys[i], batch.hashes[i])
            if entry.mark == 0:
                put(table, entry, &batch.keys[i], <int32_t> table.used + 1)
            own[count] = entry.mark - 1
            if own[count] < most:
                is_sorted = False
            else:
                most = own[count]
            count += 1
    if not is_sorted:
        spare.size = 0
        if not ints_reserve(spare, count):
            return False
        sort_ids(own, spare.items, count, most)
    for at in range(count):
        if own[at] != before:
            before = own[at]
            own[kept] = before
            kept += 1
    ids.size += kept
    return True


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


cdef Text *look_at(tuple texts) except NULL:
    # The tuple keeps the texts; strings never change.
    cdef Py_ssize_t at, count = len(texts)
    cdef Text *found = <Text *> malloc((<size_t> count + 1) * sizeof(Text))
    if found == NULL:
        raise MemoryError
    for at in range(count):
        text = texts[at]
        if not isinstance(text, str):
            free(found)
            raise TypeError(f"a text is {type(text).__name__}, not str")
        found[at].data = <const uint8_t *> PyUnicode_DATA(text)
        found[at].size = PyUnicode_GET_LENGTH(text)
        found[at].kind = PyUnicode_KIND(text)
    return found


cdef int check_length(int k) except -1:
    if k < 1 or k > LONGEST:
        raise ValueError(f"shingles have 1 to {LONGEST} code points")
    return 0


def jaccard(str a not None, str b not None, int k, /):
    """Return the Jaccard index of the k-shingle sets of two texts: common over union.

    Parameters
    ----------
    a, b : str
        Compared by code points; nothing is normalised.
    k : int
        Code points of a shingle, 1 to 4. A text shorter than that is its only shingle.

    Returns
    -------
    float
        In [0, 1]; 1.0 for two empty texts.

    Raises
    ------
    ValueError
        If `k` is out of range.
    MemoryError

    Notes
    -----
    Linear in the lengths; memory linear in the different shingles, at most 200 MiB. Source: levels §4.3.
    """
    return jaccards((a,), (b,), k)[0]


def jaccards(object texts_a, object texts_b, int k, /):
    """Return the Jaccard index of the k-shingle sets of every pair of texts.

    Parameters
    ----------
    texts_a, texts_b : sequence of str
        Equally many.
    k : int
        As in :func:`jaccard`.

    Returns
    -------
    array.array of double
        One index per pair.

    Raises
    ------
    ValueError
        If `k` is out of range, or the lists differ in length.
    TypeError
        If an item is no str.
    MemoryError

    Notes
    -----
    Linear in the lengths; memory as :func:`jaccard`, for one pair at a time.
    """
    check_length(k)
    cdef tuple left = tuple(texts_a), right = tuple(texts_b)
    cdef Py_ssize_t count = len(left), at = 0, stop, points
    cdef Text *a = NULL
    cdef Text *b = NULL
    cdef Table table
    cdef Bytes small
    cdef array result
    cdef double value = 0.0
    if len(right) != count:
        raise ValueError("the two lists of texts differ in length")
    table.entries = NULL
    small.slots = NULL
    small.bits = 0
    small.round = 0
    table.seed = small.seed = SEED
    try:
        a = look_at(left)
        b = look_at(right)
        result = clone(DOUBLE, count, False)
        while at < count:
            points = 0
            stop = at
            while stop < count and points < MANY:
                points += a[stop].size + b[stop].size
                stop += 1
            if points <= FEW:
                while at < stop and value >= 0.0:
                    value = result.data.as_doubles[at] = compared(&table, &small, &a[at], &b[at], k)
                    at += 1
            else:
                with nogil:
                    while at < stop and value >= 0.0:
                        value = result.data.as_doubles[at] = compared(&table, &small, &a[at], &b[at], k)
                        at += 1
            if value < 0.0:
                raise MemoryError
            if stop < count:
                PyErr_CheckSignals()
        return result
    finally:
        free(table.entries)
        free(small.slots)
        free(a)
        free(b)


def sets(object texts, int k, /):
    """Return the k-shingle sets of texts as ids that mean the same in all of them.

    Parameters
    ----------
    texts : sequence of str
        Any number.
    k : int
        As in :func:`jaccard`.

    Returns
    -------
    ids : array.array of int32
        The sets one after another, each ascending and without repeats; ids are dense, by first occurrence.
    bounds : array.array of int32, shape (texts + 1,)
        Set t is ``ids[bounds[t] : bounds[t + 1]]``.

    Raises
    ------
    ValueError
        If `k` is out of range.
    TypeError
        If an item is no str.
    OverflowError
        If there are more than 2147483645 code points in all.
    MemoryError

    Notes
    -----
    Linear in the code points. Memory: 32 to 64 bytes per different shingle, half as much again while the table grows, and
    4 to 8 per id. Source: levels §4.3.
    """
    check_length(k)
    cdef tuple given = tuple(texts)
    cdef Py_ssize_t count = len(given), at = 0, stop, points
    cdef uint64_t total = 0
    cdef Text *found = look_at(given)
    cdef Table table
    cdef Ints ids, spare
    cdef array bounds
    cdef bint has_room = True
    table.entries = NULL
    ints_init(&ids)
    ints_init(&spare)
    try:
        for at in range(count):
            total += <uint64_t> found[at].size
        if total > 2147483645 or count > 2147483645:
            raise OverflowError("more than 2147483645 code points cannot be indexed; split them")
        bounds = clone(INT32, count + 1, False)
        if not table_init(&table, 2 * <Py_ssize_t> total if 2 * total < SMALL_START else SMALL_START, SEED):
            raise MemoryError
        bounds.data.as_ints[0] = 0
        at = 0
        while at < count:
            points = 0
            stop = at
            while stop < count and points < MANY:
                points += found[stop].size
                stop += 1
            with nogil:
                while at < stop and has_room:
                    has_room = collect(&table, &found[at], k, &ids, &spare)
                    at += 1
                    bounds.data.as_ints[at] = <int32_t> ids.size
            if not has_room:
                raise MemoryError
            if stop < count:
                PyErr_CheckSignals()
        return ints_to_array(INT32, ids.items, ids.size), bounds
    finally:
        free(found)
        free(table.entries)
        ints_free(&ids)
        ints_free(&spare)
