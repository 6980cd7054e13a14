# Questions that need no index: is a text the canonical form of a record, and how deep is it nested?

from libc.string cimport memcmp

from buffers cimport realloc, uint8_t, uint32_t
from json_escapes cimport BAD_ESCAPE, read_escape, written_size
from json_index cimport grown

cdef extern from "json_bytes.h" nogil:
    const uint8_t *json_plain_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_text_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_mark_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_utf8_end(const uint8_t *p, const uint8_t *end)


cdef struct Key:
    # Of a container still open: the last key, if it is an object that has one.
    uint32_t at             # 0: none yet (no key can start there)
    uint32_t size
    bint escaped
    uint8_t closer


cdef inline const uint8_t *canonical_string(
    const uint8_t *p, const uint8_t *end, bint *escaped
) noexcept nogil:
    # p stands after the opening quote; returns the closing one, NULL if the content is not valid or not
    # minimal.
    cdef uint32_t point
    cdef const uint8_t *after
    escaped[0] = False
    while True:
        p = json_plain_end(p, end)
        if p == end:
            return NULL
        if p[0] == c'"':
            return p
        if p[0] == c'\\':
            # Minimal is what we would have written ourselves: the same letters, or \u00 and two lower-case
            # digits.
            escaped[0] = True
            after = read_escape(p + 1, end, &point)
            if point == BAD_ESCAPE or p[1] == c'/' or after - p != written_size(point):
                return NULL
            if p[1] == c'u' and (point >= 0x20 or c'A' <= p[5] <= c'F'):
                return NULL
            p = after
        elif p[0] >= 0x80:
            p = json_utf8_end(p, end)
            if p < end and p[0] >= 0x80:
                return NULL
        else:
            return NULL


cdef inline int compare_plain(
    const uint8_t *x, Py_ssize_t x_size, const uint8_t *y, Py_ssize_t y_size
) noexcept nogil:
    cdef Py_ssize_t shorter = x_size if x_size < y_size else y_size
    cdef int order = memcmp(x, y, <size_t> shorter) if shorter else 0
    return order if order else -1 if x_size < y_size else x_size > y_size


cdef inline int compare_escaped(
    const uint8_t *x, const uint8_t *x_end, const uint8_t *y, const uint8_t *y_end
) noexcept nogil:
    # Minimal escapes stand for ASCII, so comparing byte by byte, escapes read, is the order of code points.
    cdef uint32_t x_point, y_point
    while x < x_end and y < y_end:
        x_point = x[0]
        y_point = y[0]
        x = read_escape(x + 1, x_end, &x_point) if x_point == c'\\' else x + 1
        y = read_escape(y + 1, y_end, &y_point) if y_point == c'\\' else y + 1
        if x_point != y_point:
            return -1 if x_point < y_point else 1
    return -1 if y < y_end else x < x_end


cdef inline const uint8_t *canonical_key(
    const uint8_t *text, const uint8_t *p, const uint8_t *end, Key *last
) noexcept nogil:
    # A key above the last one, and its colon; returns past it, NULL otherwise.
    cdef const uint8_t *close
    cdef const uint8_t *old = text + last.at
    cdef bint escaped
    cdef int order
    if p == end or p[0] != c'"':
        return NULL
    p += 1
    close = canonical_string(p, end, &escaped)
    if close == NULL or end - close < 2 or close[1] != c':':
        return NULL
    if last.at:
        if escaped or last.escaped:
            order = compare_escaped(old, old + last.size, p, close)
        else:
            order = compare_plain(old, last.size, p, close - p)
        if order >= 0:
            return NULL
    last.at = <uint32_t> (p - text)
    last.size = <uint32_t> (close - p)
    last.escaped = escaped
    return close + 2


cdef inline const uint8_t *canonical_word(const uint8_t *p, const uint8_t *end) noexcept nogil:
    cdef Py_ssize_t left = end - p
    if left >= 4 and (memcmp(p, b"true", 4) == 0 or memcmp(p, b"null", 4) == 0):
        return p + 4
    if left >= 5 and memcmp(p, b"false", 5) == 0:
        return p + 5
    return NULL


cdef inline int check_canonical(
    const uint8_t *text, const uint8_t *end, Py_ssize_t max_depth, Key **keys
) noexcept nogil:
    # 1: canonical, 0: not, -1: no memory.
    cdef const uint8_t *p = text
    cdef Py_ssize_t depth = 0, capacity = 0
    cdef Key *key
    cdef void *room
    cdef bint escaped
    cdef uint8_t c
    if p == end or p[0] != c'{':
        return 0
    while True:
        if p == end:
            return 0
        c = p[0]
        if c == c'"':
            p = canonical_string(p + 1, end, &escaped)
            if p == NULL:
                return 0
            p += 1
        elif c == c'{' or c == c'[':
            if depth == max_depth:
                return 0
            if end - p >= 2 and p[1] == c + 2:
                p += 2
            else:
                if depth == capacity:
                    room = grown(keys[0], &capacity, depth + 1, sizeof(Key))
                    if room == NULL:
                        return -1
                    keys[0] = <Key *> room
                key = &keys[0][depth]
                key.at = 0
                key.closer = c + 2
                depth += 1
                p += 1
                if c == c'{':
                    p = canonical_key(text, p, end, key)
                    if p == NULL:
                        return 0
                continue
        else:
            p = canonical_word(p, end)
            if p == NULL:
                return 0
        while depth > 0:
            if p == end:
                return 0
            key = &keys[0][depth - 1]
            if p[0] == c',':
                p += 1
                if key.closer == c'}':
                    p = canonical_key(text, p, end, key)
                    if p == NULL:
                        return 0
                break
            if p[0] != key.closer:
                return 0
            p += 1
            depth -= 1
        else:
            return p == end


cdef inline Py_ssize_t deepest(const uint8_t *p, const uint8_t *end) noexcept nogil:
    cdef Py_ssize_t depth = 0, result = 0
    while True:
        p = json_mark_end(p, end)
        if p == end:
            return result
        if p[0] == c'"':
            p = json_text_end(p + 1, end)
            while p < end and p[0] == c'\\':
                if end - p < 2:
                    return result
                p = json_text_end(p + 2, end)
            if p == end:
                return result
        elif p[0] | 0x20 == c'{':
            depth += 1
            if depth > result:
                result = depth
        elif depth > 0:
            depth -= 1
        p += 1
