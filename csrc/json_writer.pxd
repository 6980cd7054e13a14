# Second pass over a JSON text: writing the canonical pretty form. The text is known to be good, and the
# result to have exactly the room it needs, so nothing is checked here.

from buffers cimport uint8_t, uint32_t
from json_escapes cimport put_written, read_escape
from json_index cimport Object, Scan

cdef extern from "json_bytes.h" nogil:
    const uint8_t *json_text_copy(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit)
    const uint8_t *json_scalar_copy(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit)
    const uint8_t *json_space_end(const uint8_t *p, const uint8_t *end)
    uint8_t *json_indent(uint8_t *out, uint8_t *limit, Py_ssize_t level)


cdef struct Level:
    # A container still open in the second pass.
    uint32_t entry          # next member, where they are put in order
    uint32_t last_entry     # past the last one; 0: written in the order of the text
    uint32_t object_number
    uint8_t closer


cdef inline const uint8_t *write_string(
    const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit
) noexcept nogil:
    # p stands at the opening quote; returns past the closing one.
    cdef uint32_t point
    out[0][0] = c'"'
    out[0] += 1
    p += 1
    while True:
        p = json_text_copy(p, end, out, limit)
        if p[0] == c'"':
            break
        p = read_escape(p + 1, end, &point)
        out[0] = put_written(out[0], point)
    out[0][0] = c'"'
    out[0] += 1
    return p + 1


cdef inline const uint8_t *write_key(
    const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit
) noexcept nogil:
    # A key and its colon; returns where the value starts.
    p = write_string(p, end, out, limit)
    out[0][0] = c':'
    out[0][1] = c' '
    out[0] += 2
    return json_space_end(json_space_end(p, end) + 1, end)


cdef inline void write_document(const Scan *s, Level *levels, uint8_t *out, uint8_t *limit) noexcept nogil:
    cdef const uint8_t *end = s.end
    cdef const uint8_t *p = json_space_end(s.text, end)
    cdef const uint8_t *after
    cdef const Object *object
    cdef Level *level
    cdef Py_ssize_t depth = 0
    cdef uint32_t next_object = 0
    cdef uint8_t c
    while True:
        c = p[0]
        if c == c'"':
            p = write_string(p, end, &out, limit)
        elif c == c'{' or c == c'[':
            after = json_space_end(p + 1, end)
            out[0] = c
            out += 1
            if after[0] == c + 2:
                out[0] = c + 2
                out += 1
                p = after + 1
            else:
                p = after
                level = &levels[depth]
                level.closer = c + 2
                level.last_entry = 0
                depth += 1
                out = json_indent(out, limit, depth)
                if c == c'{':
                    object = &s.objects[next_object]
                    if object.entry_count:
                        level.object_number = next_object
                        level.entry = object.first_entry
                        level.last_entry = object.first_entry + object.entry_count
                        p = s.text + s.entries[level.entry].at
                        next_object = s.entries[level.entry].first_object
                    else:
                        next_object += 1
                    p = write_key(p, end, &out, limit)
                continue
        else:
            # Numbers and words: everything up to white space or punctuation.
            p = json_scalar_copy(p, end, &out, limit)
        while depth > 0:
            level = &levels[depth - 1]
            if level.last_entry:
                level.entry += 1
                if level.entry < level.last_entry:
                    out[0] = c','
                    out = json_indent(out + 1, limit, depth)
                    next_object = s.entries[level.entry].first_object
                    p = write_key(s.text + s.entries[level.entry].at, end, &out, limit)
                    break
                object = &s.objects[level.object_number]
                p = s.text + object.end
                next_object = object.next_object
            else:
                p = json_space_end(p, end)
                if p[0] == c',':
                    out[0] = c','
                    out = json_indent(out + 1, limit, depth)
                    p = json_space_end(p + 1, end)
                    if level.closer == c'}':
                        p = write_key(p, end, &out, limit)
                    break
                p += 1
            depth -= 1
            out = json_indent(out, limit, depth)
            out[0] = level.closer
            out += 1
        else:
            out[0] = c'\n'
            return
