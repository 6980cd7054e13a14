# The pieces of a first pass over a JSON text: strings, numbers, words, keys, the containers that open. The grammar
# around them is each kernel's own loop.

from buffers cimport octets_reserve, uint8_t, uint32_t, uint64_t
from json_escapes cimport BAD_ESCAPE, put_point, read_escape, written_size
from json_index cimport (
    NOT_JSON, NOT_UTF8, UNESCAPED, Frame, Member, Object, Scan, compare_keys, grown, note_repeated, out_of_memory,
)

cdef extern from "json_bytes.h" nogil:
    const uint8_t *json_plain_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_space_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_utf8_end(const uint8_t *p, const uint8_t *end)
    int json_utf8_size(const uint8_t *p, const uint8_t *end)
    uint64_t json_key_prefix(const uint8_t *p, Py_ssize_t size, const uint8_t *end)

cdef enum NumberClass:
    INTEGER = 0
    FRACTION = 1
    EXPONENT = 2

cdef inline const uint8_t *fail(Scan *s, const uint8_t *at) noexcept nogil:
    # The text stops being JSON at this byte; if it is not even UTF-8 there, that is the problem.
    # NULL, for the caller to return.
    s.status = NOT_UTF8 if at < s.end and at[0] >= 0x80 and json_utf8_size(at, s.end) == 0 else NOT_JSON
    s.problem = at
    return NULL


cdef inline const uint8_t *scan_string(Scan *s, const uint8_t *p) noexcept nogil:
    # p stands after the opening quote; returns the closing one, NULL on failure.
    cdef const uint8_t *start = p
    cdef const uint8_t *after
    cdef Py_ssize_t saved = 0
    cdef uint32_t point
    s.string_escaped = False
    while True:
        p = json_plain_end(p, s.end)
        if p == s.end:
            return fail(s, p)
        if p[0] == c'"':
            s.string_size = p - start - saved
            return p
        if p[0] == c'\\':
            after = read_escape(p + 1, s.end, &point)
            if point == BAD_ESCAPE:
                return fail(s, after)
            s.string_escaped = True
            if point >> 11 == 0x1B:
                s.lone_surrogate = True
            saved += after - p - written_size(point)
            p = after
        elif p[0] >= 0x80:
            p = json_utf8_end(p, s.end)
            if p < s.end and p[0] >= 0x80:
                return fail(s, p)
        else:
            return fail(s, p)


cdef inline const uint8_t *digits_end(const uint8_t *p, const uint8_t *end) noexcept nogil:
    while p < end and c'0' <= p[0] <= c'9':
        p += 1
    return p


cdef inline const uint8_t *scan_number(Scan *s, const uint8_t *p) noexcept nogil:
    # RFC 8259 section 6; returns past the number, NULL on failure.
    cdef const uint8_t *after
    if p[0] == c'-':
        p += 1
    after = digits_end(p, s.end)
    if after == p:
        return fail(s, p)
    if p[0] == c'0' and after > p + 1:
        return fail(s, p + 1)
    p = after
    s.number_class = INTEGER
    if p < s.end and p[0] == c'.':
        s.number_class = FRACTION
        after = digits_end(p + 1, s.end)
        if after == p + 1:
            return fail(s, after)
        p = after
    if p < s.end and p[0] | 0x20 == c'e':
        s.number_class = EXPONENT
        p += 1
        if p < s.end and (p[0] == c'+' or p[0] == c'-'):
            p += 1
        after = digits_end(p, s.end)
        if after == p:
            return fail(s, p)
        p = after
    return p


cdef inline const uint8_t *scan_word(Scan *s, const uint8_t *p, const char *word) noexcept nogil:
    while word[0]:
        if p == s.end or p[0] != <uint8_t> word[0]:
            return fail(s, p)
        p += 1
        word += 1
    return p


cdef inline const uint8_t *scan_scalar(Scan *s, const uint8_t *p) noexcept nogil:
    # A number or a word; returns past it, NULL on failure.
    cdef uint8_t c = p[0]
    if c == c'-' or c'0' <= c <= c'9':
        return scan_number(s, p)
    if c == c't':
        return scan_word(s, p, b"true")
    if c == c'f':
        return scan_word(s, p, b"false")
    if c == c'n':
        return scan_word(s, p, b"null")
    return fail(s, p)


cdef inline bint unescape_key(Scan *s, Member *member, const uint8_t *p, const uint8_t *close) noexcept nogil:
    # Puts the key's bytes at the end of `keys`; unescaping never makes a text longer.
    cdef uint8_t *out
    cdef uint32_t point
    if not octets_reserve(&s.keys, close - p + 8):
        out_of_memory(s)
        return False
    member.key = <uint32_t> s.keys.size
    out = s.keys.items + s.keys.size
    while p < close:
        if p[0] == c'\\':
            p = read_escape(p + 1, close, &point)
            out = put_point(out, point)
        else:
            out[0] = p[0]
            out += 1
            p += 1
    s.keys.size = out - s.keys.items
    member.key_size = <uint32_t> (s.keys.size - member.key)
    member.prefix = json_key_prefix(s.keys.items + member.key, member.key_size, out)
    member.key_size |= UNESCAPED
    return True


cdef inline const uint8_t *scan_key(Scan *s, Frame *frame, const uint8_t *p) noexcept nogil:
    # A key and its colon; returns past the colon, NULL on failure.
    cdef const uint8_t *close
    cdef Member *member
    cdef void *room
    cdef int order
    if p == s.end or p[0] != c'"':
        return fail(s, p)
    close = scan_string(s, p + 1)
    if close == NULL:
        return NULL
    s.output_size += <uint64_t> s.string_size + 4
    if s.member_count == s.member_capacity:
        room = grown(s.members, &s.member_capacity, s.member_count + 1, sizeof(Member))
        if room == NULL:
            return out_of_memory(s)
        s.members = <Member *> room
    member = &s.members[s.member_count]
    member.at = <uint32_t> (p - s.text)
    member.first_object = <uint32_t> s.object_count
    if s.string_escaped:
        if not unescape_key(s, member, p + 1, close):
            return NULL
    else:
        member.key = member.at + 1
        member.key_size = <uint32_t> (close - p - 1)
        member.prefix = json_key_prefix(p + 1, member.key_size, s.end)
    if frame.ascending and s.member_count > frame.first_member:
        order = compare_keys(s, member - 1, member)
        if order > 0:
            frame.ascending = False
        elif order == 0:
            note_repeated(s, p)
    s.member_count += 1
    p = json_space_end(close + 1, s.end)
    if p == s.end or p[0] != c':':
        return fail(s, p)
    return p + 1


cdef inline Frame *open_container(Scan *s, Py_ssize_t depth, uint8_t opener) noexcept nogil:
    cdef Frame *frame
    cdef void *room
    if depth == s.frame_capacity:
        room = grown(s.frames, &s.frame_capacity, depth + 1, sizeof(Frame))
        if room == NULL:
            out_of_memory(s)
            return NULL
        s.frames = <Frame *> room
    frame = &s.frames[depth]
    frame.closer = opener + 2
    if opener == c'{':
        if s.object_count == s.object_capacity:
            room = grown(s.objects, &s.object_capacity, s.object_count + 1, sizeof(Object))
            if room == NULL:
                out_of_memory(s)
                return NULL
            s.objects = <Object *> room
        frame.first_member = s.member_count
        frame.keys_size = s.keys.size
        frame.object_number = <uint32_t> s.object_count
        frame.ascending = True
        s.object_count += 1
    return frame
