# Shingles that turns have in common (levels §3.2), counted for a row of the alignment at a time.
#
# A shingle of few candidate turns has a list of them, a shingle of many a bit set; what is on one side only is dropped. So
# a row costs what its turn shares, and the sets take no more memory than the lists would.

from buffers cimport free, int32_t, malloc, uint64_t
from libc.stdlib cimport calloc
from libc.string cimport memset

ctypedef const uint64_t *Set

cdef extern from "bit_counts.h" nogil:
    void add_eight(uint64_t *planes, Py_ssize_t words, Set *sets, Py_ssize_t first, Py_ssize_t end, int depth)
    void read_counters(const uint64_t *planes, Py_ssize_t words, Py_ssize_t first, Py_ssize_t end, int depth,
                       int32_t *out)

cdef enum:
    FREQUENT = 64           # a shingle in one of so many candidate turns has a bit set: one word for each entry of its list
    FEWEST = 3              # and in at least so many


cdef struct List:
    int32_t head            # the first place that no row has left behind
    int32_t end


cdef struct Overlap:
    Py_ssize_t rows
    Py_ssize_t columns
    int32_t *numbers        # the shingles of all turns, baseline's first, as 1, 2, ... ; 0 is not in the baseline
    const Py_ssize_t *bounds  # per turn of both, baseline's first: where its shingles start in `numbers`
    int32_t *marks          # per number: the baseline turn looked at last, from 1
    int32_t *own            # per baseline turn the shingles that the candidate has: indices into `sets`, then into `lists`
    Py_ssize_t *own_bounds
    Py_ssize_t *own_middles
    List *lists             # per rare shingle: its candidate turns in `places`, ascending
    int32_t *places
    uint64_t *sets          # per frequent shingle a bit for each candidate turn; the first set is empty
    Py_ssize_t words
    uint64_t *planes
    int32_t *common         # result: per candidate turn


cdef inline void overlap_free(Overlap *o) noexcept nogil:
    free(o.numbers)
    free(o.marks)
    free(o.own)
    free(o.own_bounds)
    free(o.own_middles)
    free(o.lists)
    free(o.places)
    free(o.sets)
    free(o.planes)
    free(o.common)


cdef inline Py_ssize_t number_directly(int32_t *ids, Py_ssize_t split, Py_ssize_t size, int32_t most) noexcept nogil:
    # Replaces ids by numbers; returns how many there are, or -1 when memory ran out.
    cdef int32_t *known = <int32_t *> calloc(<size_t> most + 1, sizeof(int32_t))
    cdef Py_ssize_t at
    cdef int32_t count = 0
    if known == NULL:
        return -1
    for at in range(split):
        if known[ids[at]] == 0:
            count += 1
            known[ids[at]] = count
        ids[at] = known[ids[at]]
    for at in range(split, size):
        ids[at] = known[ids[at]]
    free(known)
    return count


cdef inline Py_ssize_t number_sparsely(int32_t *ids, Py_ssize_t split, Py_ssize_t size) noexcept nogil:
    # The same by open addressing: a slot is id << 32 | number, 0 when empty.
    cdef uint64_t capacity = 64, at, id
    cdef uint64_t *slots
    cdef Py_ssize_t k
    cdef int32_t count = 0
    while capacity < 2 * <uint64_t> split:
        capacity *= 2
    slots = <uint64_t *> calloc(capacity, sizeof(uint64_t))
    if slots == NULL:
        return -1
    for k in range(size):
        id = <uint64_t> ids[k]
        at = (id * <uint64_t> 0x9E3779B97F4A7C15) >> 24 & (capacity - 1)
        while slots[at] and slots[at] >> 32 != id:
            at = (at + 1) & (capacity - 1)
        if slots[at] == 0 and k < split:
            count += 1
            slots[at] = id << 32 | <uint64_t> count
        ids[k] = <int32_t> (slots[at] & <uint64_t> 0xFFFFFFFF)
    free(slots)
    return count


cdef inline bint overlap_init(Overlap *o, const Py_ssize_t *bounds) noexcept nogil:
    # `numbers` still has ids, 0 or more, and is the overlap's. All else is set here. False when memory ran out.
    cdef Py_ssize_t split = bounds[o.rows], size = bounds[o.rows + o.columns], at, i, j, count, most_own = 0
    cdef Py_ssize_t fewest = (o.columns + FREQUENT - 1) // FREQUENT, frequent = 0, rare = 0, total = 0
    cdef int32_t most = 0, number
    cdef int32_t *roles
    cdef int depth = 3
    if fewest < FEWEST:
        fewest = FEWEST
    o.bounds = bounds
    # An even number, so that two at a time leave no rest.
    o.words = (o.columns + 127) // 128 * 2
    for at in range(size):
        if o.numbers[at] > most:
            most = o.numbers[at]
    if most <= 4 * size + 1024:
        count = number_directly(o.numbers, split, size, most)
    else:
        count = number_sparsely(o.numbers, split, size)
    if count < 0:
        return False
    o.common = <int32_t *> calloc(<size_t> o.words * 64, sizeof(int32_t))
    o.marks = <int32_t *> calloc(<size_t> count + 1, sizeof(int32_t))
    o.own_bounds = <Py_ssize_t *> malloc(<size_t> (o.rows + 1) * sizeof(Py_ssize_t))
    o.own_middles = <Py_ssize_t *> malloc(<size_t> (o.rows + 1) * sizeof(Py_ssize_t))
    o.lists = <List *> malloc(<size_t> (count + 1) * sizeof(List))
    if o.common == NULL or o.marks == NULL or o.own_bounds == NULL or o.own_middles == NULL or o.lists == NULL:
        return False
    # What a shingle is goes into `marks` for now: set number -k, list number k, or nothing.
    roles = o.marks
    for at in range(split, size):
        roles[o.numbers[at]] += 1
    roles[0] = 0
    for at in range(1, count + 1):
        number = roles[at]
        if number >= fewest:
            frequent += 1
            roles[at] = <int32_t> -frequent
        elif number:
            # Its end moves as it is filled.
            o.lists[rare].head = o.lists[rare].end = <int32_t> total
            total += number
            rare += 1
            roles[at] = <int32_t> rare
    for at in range(split):
        most_own += roles[o.numbers[at]] != 0
    o.own = <int32_t *> malloc(<size_t> (most_own + 1) * sizeof(int32_t))
    o.places = <int32_t *> malloc(<size_t> (total + 1) * sizeof(int32_t))
    o.sets = <uint64_t *> calloc(<size_t> (frequent + 1) * o.words, sizeof(uint64_t))
    if o.own == NULL or o.places == NULL or o.sets == NULL:
        return False
    total = most_own = 0
    for i in range(o.rows):
        o.own_bounds[i] = total
        for at in range(bounds[i], bounds[i + 1]):
            if roles[o.numbers[at]] < 0:
                o.own[total] = -roles[o.numbers[at]]
                total += 1
        o.own_middles[i] = total
        if total - o.own_bounds[i] > most_own:
            most_own = total - o.own_bounds[i]
        for at in range(bounds[i], bounds[i + 1]):
            if roles[o.numbers[at]] > 0:
                o.own[total] = roles[o.numbers[at]] - 1
                total += 1
    o.own_bounds[o.rows] = total
    for j in range(o.columns):
        for at in range(bounds[o.rows + j], bounds[o.rows + j + 1]):
            number = roles[o.numbers[at]]
            if number > 0:
                o.places[o.lists[number - 1].end] = <int32_t> j
                o.lists[number - 1].end += 1
            elif number:
                o.sets[-number * o.words + (j >> 6)] |= <uint64_t> 1 << (j & 63)
    for at in range(count + 1):
        o.marks[at] = 0
    while <Py_ssize_t> 1 << depth <= most_own + 8:
        depth += 1
    o.planes = <uint64_t *> malloc(<size_t> (depth + 1) * o.words * sizeof(uint64_t))
    return o.planes != NULL


cdef inline Py_ssize_t count_common(Overlap *o, Py_ssize_t i, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    # Shingles that turn i of the baseline shares with the candidate's turns low to high - 1, into `common`; returns about how
    # many operations that took. Rows come in order, and neither low nor high ever decreases.
    cdef Set[8] eight
    cdef Py_ssize_t at = o.own_bounds[i], middle = o.own_middles[i], end = o.own_bounds[i + 1], work
    cdef Py_ssize_t first = (low >> 6) & ~<Py_ssize_t> 1, stop = ((high + 127) >> 7) << 1, count = middle - at
    cdef int32_t *common = o.common
    cdef const int32_t *places = o.places
    cdef List *found
    cdef int32_t head, last
    cdef int depth = 3, plane, k
    work = (count + 16) * (stop - first)
    if count:
        # All planes that the sum may need.
        while <Py_ssize_t> 1 << depth <= count:
            depth += 1
        for plane in range(depth):
            memset(o.planes + plane * o.words + first, 0, <size_t> (stop - first) * sizeof(uint64_t))
        while at < middle:
            for k in range(8):
                eight[k] = o.sets + (o.own[at] * o.words if at < middle else 0)
                at += 1
            add_eight(o.planes, o.words, eight, first, stop, depth)
        read_counters(o.planes, o.words, first, stop, depth, common)
    else:
        memset(common + low, 0, <size_t> (high - low) * sizeof(int32_t))
    for at in range(middle, end):
        found = &o.lists[o.own[at]]
        head = found.head
        last = found.end
        while head < last and places[head] < low:
            head += 1
        found.head = head
        while head < last and places[head] < high:
            common[places[head]] += 1
            head += 1
            work += 1
    return work + end - middle


cdef inline int32_t common_of(Overlap *o, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    # For a single pair; calls come with ascending i.
    cdef Py_ssize_t at
    cdef int32_t count = 0
    if o.marks[0] != i + 1:
        for at in range(o.bounds[i], o.bounds[i + 1]):
            o.marks[o.numbers[at]] = <int32_t> (i + 1)
        o.marks[0] = <int32_t> (i + 1)
    for at in range(o.bounds[o.rows + j], o.bounds[o.rows + j + 1]):
        count += o.numbers[at] != 0 and o.marks[o.numbers[at]] == i + 1
    return count
