"""Word tokens of changed line pairs, as ids that a matcher can compare (textdiff §8.3)."""

from cpython.array cimport array
from libc.string cimport memcmp

from buffers cimport (
    Ints, PyBuffer_Release, Py_buffer, acquire_bytes, acquire_ints, free, int32_t, ints_free, ints_init, ints_push,
    ints_to_array, malloc, uint8_t, uint32_t, uint64_t,
)

cdef extern from "byte_scan.h" nogil:
    uint64_t hash_bytes(const uint8_t *p, size_t n, uint64_t seed)

cdef extern from "utf8.h" nogil:
    int utf8_unit(const uint8_t *p, const uint8_t *end, int surrogates, uint32_t *unit)
    int32_t count_units(const uint8_t *p, const uint8_t *end, int surrogates)

cdef extern from "word_table.h" nogil:
    int is_word(uint32_t code_point)
    int is_space(uint32_t code_point)
    const char *WORD_TABLE_UNICODE

cdef array INT32 = array("i")
cdef uint64_t SEED = <uint64_t> hash(b"stratadiff.word_split") * <uint64_t> 0x9E3779B97F4A7C15

UNICODE_VERSION = WORD_TABLE_UNICODE.decode("ascii")
"""The Unicode version of the word and escape tables; fixed, whatever the Python that runs them."""


cdef struct Entry:
    int32_t pair        # the entry counts only for this pair, so nothing is cleared between pairs
    int32_t id
    uint32_t tag
    int32_t size
    const uint8_t *at


cdef enum:
    OTHER = 0
    WORD = 1
    SPACE = 2


cdef inline int class_of(uint32_t unit) noexcept nogil:
    if unit < 0x80:
        if (97 <= unit <= 122) or (65 <= unit <= 90) or (48 <= unit <= 57) or unit == 95:
            return WORD
        return SPACE if is_space(unit) else OTHER
    if is_word(unit):
        return WORD
    return SPACE if is_space(unit) else OTHER


cdef bint split_line(const uint8_t *text, int32_t start, int32_t end, bint surrogates, int32_t limit,
                     Ints *edges) noexcept nogil:
    # Pushes the edges of the line's tokens, start and end included. False once there are more than `limit` tokens.
    cdef int32_t at = start, count = 0
    cdef int kind, kind_before = OTHER
    cdef uint32_t unit
    ints_push(edges, start)
    while at < end:
        kind_before = kind = -1
        # One token: a run of one class, or a single other character.
        while at < end:
            unit = text[at]
            if unit < 0x80:
                kind = class_of(unit)
                if kind_before >= 0 and kind != kind_before:
                    break
                at += 1
            else:
                kind = utf8_unit(text + at, text + end, surrogates, &unit)
                if kind_before >= 0 and class_of(unit) != kind_before:
                    break
                at += kind
                kind = class_of(unit)
            kind_before = kind
            if kind == OTHER:
                break
        count += 1
        if count > limit:
            return False
        ints_push(edges, at)
    return True


cdef void number_tokens(const uint8_t *text, const int32_t *edges, int32_t count, Ints *ids, Entry *slots,
                        uint32_t mask, int32_t pair, int32_t *next_id) noexcept nogil:
    cdef int32_t k, size
    cdef uint32_t at, tag
    cdef uint64_t h
    cdef const uint8_t *token
    cdef Entry *slot
    for k in range(count):
        token = text + edges[k]
        size = edges[k + 1] - edges[k]
        h = hash_bytes(token, <size_t> size, SEED)
        tag = <uint32_t> (h ^ (h >> 32))
        at = tag & mask
        while True:
            slot = &slots[at]
            if slot.pair != pair:
                slot.pair = pair
                slot.id = next_id[0]
                slot.tag = tag
                slot.size = size
                slot.at = token
                next_id[0] += 1
                break
            if slot.tag == tag and slot.size == size and memcmp(slot.at, token, <size_t> size) == 0:
                break
            at = (at + 1) & mask
        ints_push(ids, slot.id)


def split_pairs(object a, object b, object pairs, bint surrogates, Py_ssize_t max_chars, Py_ssize_t max_words, /):
    """Split pairs of lines into word tokens.

    A token is a maximal run of white space, a maximal run of word characters, or any one other character or undecodable
    byte; tokens cover the line. Character classes are those of Unicode 15.0 *(textdiff §8.3)*.

    Parameters
    ----------
    a, b : bytes-like
        The texts that hold the lines of the two sides.
    pairs : int32 buffer, shape (4 * k,)
        Byte ranges ``a_start, a_end, b_start, b_end``, one pair after the other.
    surrogates : bool
        Whether three-byte forms of surrogates are characters (JSON) or undecodable bytes (text).
    max_chars, max_words : int
        A pair with more characters, or more tokens, on both sides together gets no tokens.

    Returns
    -------
    a_edges, a_ids, a_bounds, b_edges, b_ids, b_bounds : array.array of int32
        Tokens of pair p are ``ids[bounds[p] : bounds[p + 1]]``; ids are comparable within the pair. Their byte edges are
        ``edges[bounds[p] + p : bounds[p + 1] + p + 1]``, one more than the tokens.

    Raises
    ------
    ValueError
        If a range does not lie in its text.
    MemoryError

    Notes
    -----
    Linear in the bytes of the lines.
    """
    cdef Py_buffer a_view, b_view, pair_view
    cdef Ints[6] out            # a edges, ids, bounds; b edges, ids, bounds
    cdef Entry *slots = NULL
    cdef uint32_t capacity = 64, k
    cdef const int32_t *pair
    cdef const uint8_t *left
    cdef const uint8_t *right
    cdef int32_t p, count, next_id, limit, a_count
    cdef Py_ssize_t longest = 0, a_from, b_from
    cdef bint marked
    cdef int held = 0, n
    if max_chars < 0 or max_words < 0:
        raise ValueError("max_chars and max_words must be 0 or more")
    for n in range(6):
        ints_init(&out[n])
    try:
        acquire_bytes(a, &a_view)
        held = 1
        acquire_bytes(b, &b_view)
        held = 2
        acquire_ints(pairs, &pair_view)
        held = 3
        if pair_view.len % 16:
            raise ValueError("pairs need four numbers each")
        count = <int32_t> (pair_view.len // 16)
        pair = <const int32_t *> pair_view.buf
        left = <const uint8_t *> a_view.buf
        right = <const uint8_t *> b_view.buf
        for p in range(count):
            if not (0 <= pair[4 * p] <= pair[4 * p + 1] <= a_view.len
                    and 0 <= pair[4 * p + 2] <= pair[4 * p + 3] <= b_view.len):
                raise ValueError("a pair reaches outside its text")
            longest = max(longest, pair[4 * p + 1] - pair[4 * p] + pair[4 * p + 3] - pair[4 * p + 2])
        limit = <int32_t> min(max_words, 0x3FFFFFFF)
        while capacity < 2 * <uint64_t> min(longest, limit) + 2:
            capacity *= 2
        slots = <Entry *> malloc(capacity * sizeof(Entry))
        if slots == NULL:
            raise MemoryError
        with nogil:
            for k in range(capacity):
                slots[k].pair = -1
            ints_push(&out[2], 0)
            ints_push(&out[5], 0)
            for p in range(count):
                a_from = out[0].size
                b_from = out[3].size
                marked = True
                if pair[1] - pair[0] + pair[3] - pair[2] > max_chars:
                    marked = (count_units(left + pair[0], left + pair[1], surrogates)
                              + count_units(right + pair[2], right + pair[3], surrogates) <= max_chars)
                if marked:
                    marked = split_line(left, pair[0], pair[1], surrogates, limit, &out[0])
                if marked:
                    a_count = <int32_t> (out[0].size - a_from - 1)
                    marked = split_line(right, pair[2], pair[3], surrogates, limit - a_count, &out[3])
                for n in range(6):
                    if out[n].failed:
                        marked = False
                if marked:
                    next_id = 0
                    number_tokens(left, out[0].items + a_from, <int32_t> (out[0].size - a_from - 1), &out[1], slots,
                                  capacity - 1, p, &next_id)
                    number_tokens(right, out[3].items + b_from, <int32_t> (out[3].size - b_from - 1), &out[4], slots,
                                  capacity - 1, p, &next_id)
                else:
                    out[0].size = a_from
                    out[3].size = b_from
                    ints_push(&out[0], pair[0])
                    ints_push(&out[3], pair[2])
                ints_push(&out[2], <int32_t> out[1].size)
                ints_push(&out[5], <int32_t> out[4].size)
                pair += 4
        for n in range(6):
            if out[n].failed:
                raise MemoryError
        return tuple([ints_to_array(INT32, out[n].items, out[n].size) for n in range(6)])
    finally:
        free(slots)
        for n in range(6):
            ints_free(&out[n])
        if held > 2:
            PyBuffer_Release(&pair_view)
        if held > 1:
            PyBuffer_Release(&b_view)
        if held > 0:
            PyBuffer_Release(&a_view)
