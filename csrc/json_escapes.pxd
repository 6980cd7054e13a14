# One character of a JSON string: reading an escape, writing a code point. Nothing here looks at the string
# around it.

from buffers cimport memcpy, uint8_t, uint32_t

cdef extern from "json_bytes.h" nogil:
    uint32_t json_hex_digit(uint8_t c)

cdef enum:
    BAD_ESCAPE = 0xFFFFFFFF


cdef inline const uint8_t *read_hex(const uint8_t *p, const uint8_t *end, uint32_t *value) noexcept nogil:
    # Four hexadecimal digits. On failure the value is BAD_ESCAPE, the result where it was noticed.
    cdef uint32_t total = 0, digit
    cdef int _digit
    for _digit in range(4):
        digit = json_hex_digit(p[0]) if p < end else 16
        if digit == 16:
            value[0] = BAD_ESCAPE
            return p
        total = total << 4 | digit
        p += 1
    value[0] = total
    return p


cdef inline const uint8_t *read_escape(const uint8_t *p, const uint8_t *end, uint32_t *point) noexcept nogil:
    # The escape whose backslash stands before p; two escapes where they make a surrogate pair. Fails as
    # read_hex.
    cdef uint32_t low
    cdef const uint8_t *after
    cdef uint8_t c
    if p == end:
        point[0] = BAD_ESCAPE
        return p
    c = p[0]
    if c == c'"' or c == c'\\' or c == c'/':
        point[0] = c
    elif c == c'n':
        point[0] = 10
    elif c == c't':
        point[0] = 9
    elif c == c'r':
        point[0] = 13
    elif c == c'b':
        point[0] = 8
    elif c == c'f':
        point[0] = 12
    elif c == c'u':
        p = read_hex(p + 1, end, point)
        if point[0] >> 10 == 0x36 and end - p >= 6 and p[0] == c'\\' and p[1] == c'u':
            after = read_hex(p + 2, end, &low)
            if low >> 10 == 0x37:
                point[0] = 0x10000 + ((point[0] - 0xD800) << 10) + (low - 0xDC00)
                return after
        return p
    else:
        point[0] = BAD_ESCAPE
        return p
    return p + 1


cdef inline uint8_t short_escape(uint32_t point) noexcept nogil:
    # The letter of a two-character escape, 0 where there is none.
    if point == 10:
        return c'n'
    if point == 9:
        return c't'
    if point == 13:
        return c'r'
    if point == 8:
        return c'b'
    if point == 12:
        return c'f'
    if point == c'"' or point == c'\\':
        return <uint8_t> point
    return 0


cdef inline Py_ssize_t written_size(uint32_t point) noexcept nogil:
    if point < 0x80:
        return 2 if short_escape(point) else 6 if point < 0x20 else 1
    return 2 if point < 0x800 else 3 if point < 0x10000 else 4


cdef inline uint8_t *put_point(uint8_t *out, uint32_t point) noexcept nogil:
    # A code point in UTF-8; lone surrogates by the same rule, so that bytes order as code points do.
    if point < 0x80:
        out[0] = <uint8_t> point
        return out + 1
    if point < 0x800:
        out[0] = <uint8_t> (0xC0 | point >> 6)
        out[1] = <uint8_t> (0x80 | point & 0x3F)
        return out + 2
    if point < 0x10000:
        out[0] = <uint8_t> (0xE0 | point >> 12)
        out[1] = <uint8_t> (0x80 | point >> 6 & 0x3F)
        out[2] = <uint8_t> (0x80 | point & 0x3F)
        return out + 3
    out[0] = <uint8_t> (0xF0 | point >> 18)
    out[1] = <uint8_t> (0x80 | point >> 12 & 0x3F)
    out[2] = <uint8_t> (0x80 | point >> 6 & 0x3F)
    out[3] = <uint8_t> (0x80 | point & 0x3F)
    return out + 4


cdef inline uint8_t *put_written(uint8_t *out, uint32_t point) noexcept nogil:
    # A code point as a string of the result holds it: escaped only if it has to be.
    cdef uint8_t letter = short_escape(point)
    if letter:
        out[0] = c'\\'
        out[1] = letter
        return out + 2
    if point >= 0x20:
        return put_point(out, point)
    memcpy(out, b"\\u00", 4)
    out[4] = <uint8_t> (c'0' + (point >> 4))
    point &= 15
    out[5] = <uint8_t> (point + (c'0' if point < 10 else c'a' - 10))
    return out + 6
