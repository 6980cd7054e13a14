# What it costs to pair two turns (levels §3.2), a row of the alignment at a time.

from buffers cimport free, int32_t, malloc, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc
from libc.string cimport memcmp

cdef extern from "align_rows.h" nogil:
    void add_texts(const int32_t *texts, const int32_t *stops, const double *sizes, const int32_t *common, int32_t text,
                   int32_t stop, double size, Py_ssize_t low, Py_ssize_t high, double *costs)

cdef extern from "byte_scan.h" nogil:
    uint64_t hash_bytes(const uint8_t *p, size_t n, uint64_t seed)

cdef struct Turns:
    # Of both sides, the baseline's first. Bounds have one entry more than there are turns.
    Py_ssize_t rows
    Py_ssize_t columns
    int32_t *tools
    Py_ssize_t *tool_bounds
    int32_t *calls
    int32_t *texts
    Py_ssize_t *shingle_bounds
    int32_t *stops
    int32_t *names
    int32_t *inputs
    Py_ssize_t *argument_bounds


cdef struct Costs:
    Turns turns
    int32_t *sets           # per turn: a number for its set of tools
    int32_t *shapes         # a number for that and the number of calls
    int32_t *arguments      # a number for its arguments
    double *sizes           # how many shingles it has
    double *apart           # per shape: what the tools add to the cost of a pair with the row's turn,
    int32_t *known          # if this is the row's shape
    double *row             # result: per candidate turn


cdef inline void costs_free(Costs *c) noexcept nogil:
    free(c.turns.tools)
    free(c.turns.tool_bounds)
    free(c.turns.calls)
    free(c.turns.texts)
    free(c.turns.shingle_bounds)
    free(c.turns.stops)
    free(c.turns.names)
    free(c.turns.inputs)
    free(c.turns.argument_bounds)
    free(c.sets)
    free(c.shapes)
    free(c.arguments)
    free(c.sizes)
    free(c.apart)
    free(c.known)
    free(c.row)


cdef inline bint same_span(const int32_t *items, const Py_ssize_t *bounds, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef Py_ssize_t size = bounds[i + 1] - bounds[i]
    return size == bounds[j + 1] - bounds[j] and memcmp(
        items + bounds[i], items + bounds[j], <size_t> size * sizeof(int32_t)
    ) == 0


cdef inline bint number_turns(const int32_t *first, const int32_t *second, const Py_ssize_t *bounds, Py_ssize_t count,
                              uint64_t seed, int32_t *numbers) noexcept nogil:
    # Equal numbers for turns whose items are equal, in `first` and, unless it is NULL, in `second`. False when memory ran out.
    cdef Py_ssize_t capacity = 64, at, i, other
    cdef size_t size
    cdef int32_t next_number = 0
    cdef uint64_t h
    cdef int32_t *slots
    cdef uint32_t *tags
    while capacity < 2 * count:
        capacity *= 2
    # A slot holds the turn that first had these items, from 1.
    slots = <int32_t *> calloc(<size_t> capacity, sizeof(int32_t))
    tags = <uint32_t *> malloc(<size_t> (count + 1) * sizeof(uint32_t))
    if slots == NULL or tags == NULL:
        free(slots)
        free(tags)
        return False
    for i in range(count):
        size = <size_t> (bounds[i + 1] - bounds[i]) * sizeof(int32_t)
        h = hash_bytes(<const uint8_t *> (first + bounds[i]), size, seed)
        if second != NULL:
            h = hash_bytes(<const uint8_t *> (second + bounds[i]), size, h)
        tags[i] = <uint32_t> (h >> 32)
        at = <Py_ssize_t> h & (capacity - 1)
        while slots[at]:
            other = slots[at] - 1
            if tags[other] == tags[i] and same_span(first, bounds, i, other) and (
                    second == NULL or same_span(second, bounds, i, other)):
                break
            at = (at + 1) & (capacity - 1)
        if slots[at]:
            numbers[i] = numbers[slots[at] - 1]
        else:
            slots[at] = <int32_t> (i + 1)
            numbers[i] = next_number
            next_number += 1
    free(slots)
    free(tags)
    return True


cdef inline bint costs_init(Costs *c, uint64_t seed) noexcept nogil:
    # Of filled turns. False when memory ran out.
    cdef Py_ssize_t count = c.turns.rows + c.turns.columns, i
    cdef int32_t *pairs
    cdef Py_ssize_t *bounds
    cdef bint done
    c.sets = <int32_t *> malloc(<size_t> (count + 1) * sizeof(int32_t))
    c.shapes = <int32_t *> malloc(<size_t> (count + 1) * sizeof(int32_t))
    c.arguments = <int32_t *> malloc(<size_t> (count + 1) * sizeof(int32_t))
    c.sizes = <double *> malloc(<size_t> (count + 1) * sizeof(double))
    c.apart = <double *> malloc(<size_t> (count + 1) * sizeof(double))
    c.known = <int32_t *> malloc(<size_t> (count + 1) * sizeof(int32_t))
    c.row = <double *> malloc(<size_t> (c.turns.columns + 1) * sizeof(double))
    if (c.sets == NULL or c.shapes == NULL or c.arguments == NULL or c.sizes == NULL or c.apart == NULL or c.known == NULL
            or c.row == NULL):
        return False
    if not number_turns(c.turns.tools, NULL, c.turns.tool_bounds, count, seed, c.sets):
        return False
    if not number_turns(c.turns.names, c.turns.inputs, c.turns.argument_bounds, count, seed, c.arguments):
        return False
    pairs = <int32_t *> malloc(<size_t> (2 * count + 1) * sizeof(int32_t))
    bounds = <Py_ssize_t *> malloc(<size_t> (count + 1) * sizeof(Py_ssize_t))
    done = pairs != NULL and bounds != NULL
    if done:
        for i in range(count):
            bounds[i] = 2 * i
            pairs[2 * i] = c.sets[i]
            pairs[2 * i + 1] = c.turns.calls[i]
            c.sizes[i] = <double> (c.turns.shingle_bounds[i + 1] - c.turns.shingle_bounds[i])
            c.known[i] = -1
        bounds[count] = 2 * count
        done = number_turns(pairs, NULL, bounds, count, seed, c.shapes)
    free(pairs)
    free(bounds)
    return done


cdef inline int32_t shared(const int32_t *x, Py_ssize_t n, const int32_t *y, Py_ssize_t m) noexcept nogil:
    # Of two ascending lists; of very different lengths, the items of the short one are searched for in the long one.
    cdef Py_ssize_t i = 0, j = 0, low, high, middle
    cdef int32_t count = 0
    if n > m:
        x, y = y, x
        n, m = m, n
    if m > 16 * n:
        for i in range(n):
            low = 0
            high = m
            while low < high:
                middle = (low + high) // 2
                if y[middle] < x[i]:
                    low = middle + 1
                else:
                    high = middle
            count += low < m and y[low] == x[i]
        return count
    while i < n and j < m:
        if x[i] == y[j]:
            count += 1
            i += 1
            j += 1
        elif x[i] < y[j]:
            i += 1
        else:
            j += 1
    return count


cdef inline double apart_by_tools(const Turns *t, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    # 0.40*max(1 − J(S_a, S_b), cd).
    cdef Py_ssize_t n = t.tool_bounds[i + 1] - t.tool_bounds[i], m = t.tool_bounds[j + 1] - t.tool_bounds[j], both
    cdef int32_t p = t.calls[i], q = t.calls[j]
    cdef double sets = 0.0, counts = 0.0
    if n or m:
        both = shared(t.tools + t.tool_bounds[i], n, t.tools + t.tool_bounds[j], m)
        sets = 1.0 - <double> both / <double> (n + m - both)
    if p != q:
        counts = <double> (p - q if p > q else q - p) / <double> (p if p > q else q)
    return 0.40 * (sets if sets > counts else counts)


cdef inline bint arguments_differ(const Turns *t, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    # Some tool that both turns use was first given other arguments.
    cdef Py_ssize_t p = t.argument_bounds[i], q = t.argument_bounds[j]
    cdef Py_ssize_t p_end = t.argument_bounds[i + 1], q_end = t.argument_bounds[j + 1]
    while p < p_end and q < q_end:
        if t.names[p] == t.names[q]:
            if t.inputs[p] != t.inputs[q]:
                return True
            p += 1
            q += 1
        elif t.names[p] < t.names[q]:
            p += 1
        else:
            q += 1
    return False


cdef inline void fill_costs(Costs *c, Py_ssize_t i, Py_ssize_t low, Py_ssize_t high, const int32_t *common) noexcept nogil:
    # Into `row`, for the candidate's turns low to high - 1, which share this many shingles with turn i of the baseline. Sums go
    # from left to right as the formula is written.
    cdef Py_ssize_t rows = c.turns.rows, j
    cdef int32_t shape = c.shapes[i], tools = c.sets[i], arguments = c.arguments[i], own
    cdef int32_t text = c.turns.texts[i], stop = c.turns.stops[i]
    cdef const int32_t *texts = c.turns.texts + rows
    cdef const int32_t *stops = c.turns.stops + rows
    cdef const double *sizes = c.sizes + rows
    cdef const int32_t *shapes = c.shapes + rows
    cdef const int32_t *sets = c.sets + rows
    cdef const int32_t *others = c.arguments + rows
    cdef int32_t *known = c.known
    cdef double *apart = c.apart
    cdef double *row = c.row
    for j in range(low, high):
        own = shapes[j]
        if known[own] != shape:
            known[own] = shape
            apart[own] = apart_by_tools(&c.turns, i, rows + j)
        row[j] = apart[own]
    if c.sizes[i] > 0.0:
        add_texts(texts, stops, sizes, common, text, stop, c.sizes[i], low, high, row)
    else:
        for j in range(low, high):
            row[j] = row[j] + (0.0 if texts[j] == text or sizes[j] == 0.0 else 0.25) + (0.15 if stops[j] != stop else 0.0)
    if c.turns.tool_bounds[i] < c.turns.tool_bounds[i + 1]:
        for j in range(low, high):
            # Cheapest question first; no branch between the two, as neither can be foreseen.
            if (sets[j] == tools) & (others[j] != arguments) and arguments_differ(&c.turns, i, rows + j):
                row[j] = row[j] + 0.20
