# The canonical JSON of hunks, written without making an object per line (run-records §2, textdiff §12).

from libc.string cimport memcpy

from buffers cimport Octets, int32_t, int64_t, octets_reserve, uint8_t, uint64_t

cdef extern from "byte_scan.h" nogil:
    uint64_t byte_mask_64(const uint8_t *p, uint8_t value)

cdef enum:
    # Columns of the hunk and row tables of hunks.layout().
    HUNK = 9
    ROW = 6


cdef inline void put(Octets *out, const char *source, Py_ssize_t size) noexcept nogil:
    if octets_reserve(out, size):
        memcpy(out.items + out.size, source, <size_t> size)
        out.size += size


cdef inline void put_number(Octets *out, int64_t value) noexcept nogil:
    # A decimal string, quotes included.
    cdef char[22] digits
    cdef int32_t at = 21
    digits[21] = 34
    while True:
        at -= 1
        digits[at] = <char> (48 + value % 10)
        value //= 10
        if value == 0:
            break
    at -= 1
    digits[at] = 34
    put(out, digits + at, 22 - at)


cdef inline void put_text(Octets *out, const uint8_t *text, Py_ssize_t size) noexcept nogil:
    # A JSON string of displayed text, which holds no control characters: only quotes and backslashes are escaped.
    cdef Py_ssize_t at = 0, first = 0
    put(out, "\"", 1)
    while at < size:
        if size - at >= 64 and not byte_mask_64(text + at, 34) and not byte_mask_64(text + at, 92):
            at += 64
            continue
        if text[at] == 34 or text[at] == 92:
            put(out, <const char *> text + first, at - first)
            put(out, "\\", 1)
            first = at
        at += 1
    put(out, <const char *> text + first, size - first)
    put(out, "\"", 1)


cdef inline void put_line_number(Octets *out, int32_t line) noexcept nogil:
    if line < 0:
        put(out, "null", 4)
    else:
        put_number(out, <int64_t> line + 1)


cdef inline void put_plain_number(Octets *out, int64_t value) noexcept nogil:
    cdef Py_ssize_t at = out.size
    cdef Py_ssize_t k
    put_number(out, value)
    if out.failed:
        return
    # Without the quotes.
    for k in range(at, out.size - 2):
        out.items[k] = out.items[k + 1]
    out.size -= 2


cdef inline void put_json(Octets *out, const int32_t *hunks, Py_ssize_t hunk_count, const int32_t *rows,
                          const uint8_t *text, const int32_t *text_bounds, const int32_t *spans,
                          const int32_t *span_bounds) noexcept nogil:
    cdef const int32_t *hunk = hunks
    cdef const int32_t *row
    cdef Py_ssize_t _, r
    cdef int32_t k
    cdef bint first_hunk = True, first_row
    put(out, "[", 1)
    for _ in range(hunk_count):
        if hunk[5] > hunk[4]:
            if not first_hunk:
                put(out, ",", 1)
            first_hunk = False
            put(out, "{\"baseline\":{\"lines\":", 21)
            put_number(out, hunk[1])
            put(out, ",\"start\":", 9)
            put_number(out, hunk[0])
            put(out, "},\"candidate\":{\"lines\":", 23)
            put_number(out, hunk[3])
            put(out, ",\"start\":", 9)
            put_number(out, hunk[2])
            put(out, "},\"lines\":[", 11)
            first_row = True
            for r in range(hunk[4], hunk[5]):
                row = rows + ROW * r
                if row[0] == 3:
                    continue
                if not first_row:
                    put(out, ",", 1)
                first_row = False
                put(out, "{\"baseline\":", 12)
                put_line_number(out, row[1])
                put(out, ",\"candidate\":", 13)
                put_line_number(out, row[2])
                put(out, ",\"op\":\"", 7)
                put(out, " " if row[0] == 0 else "-" if row[0] == 1 else "+", 1)
                put(out, "\",\"spans\":[", 11)
                for k in range(span_bounds[r], span_bounds[r + 1]):
                    if k > span_bounds[r]:
                        put(out, ",", 1)
                    put(out, "[", 1)
                    put_number(out, spans[2 * k])
                    put(out, ",", 1)
                    put_number(out, spans[2 * k + 1])
                    put(out, "]", 1)
                put(out, "],\"text\":", 9)
                put_text(out, text + text_bounds[r], text_bounds[r + 1] - text_bounds[r])
                put(out, "}", 1)
            put(out, "]", 1)
            if hunk[6] >= 0 and hunk[8] & 2:
                put(out, ",\"note\":\"no line could anchor this block of ", 44)
                put_plain_number(out, hunk[6])
                put(out, " against ", 9)
                put_plain_number(out, hunk[7])
                put(out, " lines; it is shown whole, removed then added\"", 46)
            put(out, "}", 1)
        hunk += HUNK
    put(out, "]", 1)
