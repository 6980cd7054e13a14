"""Strict JSON without Python objects: the canonical pretty form, the canonical form of records, nesting depth.

The pretty form takes two passes. The first checks everything, adds up the exact size of the result, and keeps an index
only of what cannot be written in the order it stands: the members of objects whose keys do not ascend. The second
writes, trusting the first. Neither recurses.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.string cimport memcmp, memmove

from buffers cimport (
    Octets, PyBuffer_Release, Py_buffer, acquire_bytes, free, malloc, memcpy, octets_free, octets_init,
    octets_reserve, realloc, uint8_t, uint32_t, uint64_t,
)

cdef extern from "json_bytes.h" nogil:
    const uint8_t *json_plain_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_text_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_text_copy(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit)
    const uint8_t *json_space_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_mark_end(const uint8_t *p, const uint8_t *end)
    const uint8_t *json_utf8_end(const uint8_t *p, const uint8_t *end)
    int json_utf8_size(const uint8_t *p, const uint8_t *end)
    uint64_t json_key_prefix(const uint8_t *p, Py_ssize_t size, const uint8_t *end)
    uint8_t *json_indent(uint8_t *out, uint8_t *limit, Py_ssize_t level)
    uint32_t json_hex_digit(uint8_t c)

MAX_DEPTH = 512

cdef enum Status:
    FINE = 0
    NOT_UTF8 = 1
    NOT_JSON = 2
    TOO_DEEP = 3
    REPEATED_MEMBER = 4
    BYTE_ORDER_MARK = 5
    NO_MEMORY = 6

cdef enum:
    BAD_ESCAPE = 0xFFFFFFFF
    # Marks a key whose unescaped bytes stand in `keys` instead of the text; sizes need 31 bits only.
    UNESCAPED = 0x80000000
    # Runs this long are sorted by insertion before they are merged.
    SHORT_RUN = 12


cdef struct Member:
    # A member of an object still open.
    uint64_t prefix         # first bytes of the unescaped key, for a quick comparison
    uint32_t key            # where the unescaped key starts, in the text or in `keys`
    uint32_t key_size       # its bytes, and UNESCAPED
    uint32_t at             # where the member starts in the text: its opening quote
    uint32_t first_object   # number of the first object inside its value


cdef struct Entry:
    # A member of a closed object whose members have to be put in order.
    uint32_t at
    uint32_t first_object


cdef struct Object:
    # One non-empty object; they are numbered in the order they open, so those inside one value are consecutive.
    uint32_t first_entry
    uint32_t entry_count    # 0: the keys ascend already
    uint32_t end            # past its closing brace
    uint32_t next_object    # number of the first object after it


cdef struct Frame:
    # A container still open in the first pass.
    Py_ssize_t first_member
    Py_ssize_t keys_size    # size of `keys` when it opened
    uint32_t object_number
    uint8_t closer
    bint ascending


cdef struct Scan:
    const uint8_t *text
    const uint8_t *end
    Status status
    const uint8_t *problem
    Py_ssize_t max_depth
    uint64_t output_size
    Py_ssize_t string_size      # of the string scanned last: bytes its content takes when written
    bint string_escaped         # and whether the text has an escape in it
    const uint8_t *repeated     # the first member seen to repeat a key, NULL if none
    Frame *frames
    Py_ssize_t frame_capacity
    Member *members             # of open objects, innermost last
    Py_ssize_t member_count
    Py_ssize_t member_capacity
    Member *spare               # room for merging
    Py_ssize_t spare_capacity
    Octets keys                 # unescaped keys of open objects
    Object *objects
    Py_ssize_t object_count
    Py_ssize_t object_capacity
    Entry *entries
    Py_ssize_t entry_count
    Py_ssize_t entry_capacity


# ---------------------------------------------------------------------------------------------------------------------
# Characters


cdef inline const uint8_t *read_hex(const uint8_t *p, const uint8_t *end, uint32_t *value) noexcept nogil:
    # Four hexadecimal digits. On failure the value is BAD_ESCAPE, the result where it was noticed.
    cdef uint32_t total = 0, digit
    cdef int k
    for k in range(4):
        digit = json_hex_digit(p[0]) if p < end else 16
        if digit == 16:
            value[0] = BAD_ESCAPE
            return p
        total = total << 4 | digit
        p += 1
    value[0] = total
    return p


cdef const uint8_t *read_escape(const uint8_t *p, const uint8_t *end, uint32_t *point) noexcept nogil:
    # The escape whose backslash stands before p; two escapes where they make a surrogate pair. Fails as read_hex.
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


# ---------------------------------------------------------------------------------------------------------------------
# First pass: strings and scalars


cdef const uint8_t *fail(Scan *s, const uint8_t *at) noexcept nogil:
    # The text stops being JSON at this byte; if it is not even UTF-8 there, that is the problem. Returns NULL.
    s.status = NOT_UTF8 if at < s.end and at[0] >= 0x80 and json_utf8_size(at, s.end) == 0 else NOT_JSON
    s.problem = at
    return NULL


cdef const uint8_t *scan_string(Scan *s, const uint8_t *p) noexcept nogil:
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


cdef const uint8_t *scan_number(Scan *s, const uint8_t *p) noexcept nogil:
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
    if p < s.end and p[0] == c'.':
        after = digits_end(p + 1, s.end)
        if after == p + 1:
            return fail(s, after)
        p = after
    if p < s.end and p[0] | 0x20 == c'e':
        p += 1
        if p < s.end and (p[0] == c'+' or p[0] == c'-'):
            p += 1
        after = digits_end(p, s.end)
        if after == p:
            return fail(s, p)
        p = after
    return p


cdef const uint8_t *scan_word(Scan *s, const uint8_t *p, const char *word) noexcept nogil:
    while word[0]:
        if p == s.end or p[0] != <uint8_t> word[0]:
            return fail(s, p)
        p += 1
        word += 1
    return p


# ---------------------------------------------------------------------------------------------------------------------
# First pass: members and their order


cdef void *grown(void *items, Py_ssize_t *capacity, Py_ssize_t wanted, size_t item_size) noexcept nogil:
    # Room for `wanted` items; NULL and nothing changed when memory is out.
    cdef Py_ssize_t new_capacity = wanted if wanted > 2 * capacity[0] else 2 * capacity[0]
    cdef void *result
    if new_capacity < 16:
        new_capacity = 16
    result = realloc(items, <size_t> new_capacity * item_size)
    if result != NULL:
        capacity[0] = new_capacity
    return result


cdef inline const uint8_t *out_of_memory(Scan *s) noexcept nogil:
    s.status = NO_MEMORY
    s.problem = s.text
    return NULL


cdef inline const uint8_t *key_bytes(const Scan *s, const Member *member) noexcept nogil:
    if member.key_size & UNESCAPED:
        return s.keys.items + member.key
    return s.text + member.key


cdef inline int compare_keys(const Scan *s, const Member *x, const Member *y) noexcept nogil:
    cdef uint32_t x_size, y_size
    cdef int order
    if x.prefix != y.prefix:
        return -1 if x.prefix < y.prefix else 1
    x_size = x.key_size & ~<uint32_t> UNESCAPED
    y_size = y.key_size & ~<uint32_t> UNESCAPED
    if x_size > 8 and y_size > 8:
        order = memcmp(key_bytes(s, x) + 8, key_bytes(s, y) + 8, (x_size if x_size < y_size else y_size) - 8)
        if order:
            return order
    # Equal prefixes with a key of at most eight bytes: the longer one only goes on with more (possibly NUL) bytes.
    return -1 if x_size < y_size else x_size > y_size


cdef inline bint goes_after(const Scan *s, const Member *x, const Member *y) noexcept nogil:
    # Equal keys stay in the order of the text.
    cdef int order = compare_keys(s, x, y)
    return order > 0 or (order == 0 and x.at > y.at)


cdef void sort_short(const Scan *s, Member *items, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k, to
    cdef Member member
    for k in range(1, count):
        member = items[k]
        to = k
        while to > 0 and goes_after(s, &items[to - 1], &member):
            items[to] = items[to - 1]
            to -= 1
        items[to] = member


cdef void merge(const Scan *s, Member *items, Py_ssize_t middle, Py_ssize_t count) noexcept nogil:
    # Two sorted runs become one; the first is set aside, so the write never overtakes the read.
    cdef Py_ssize_t i = 0, j = middle, to = 0
    cdef Member *left = s.spare
    if not goes_after(s, &items[middle - 1], &items[middle]):
        return
    memcpy(left, items, <size_t> middle * sizeof(Member))
    while i < middle and j < count:
        if goes_after(s, &left[i], &items[j]):
            items[to] = items[j]
            j += 1
        else:
            items[to] = left[i]
            i += 1
        to += 1
    memcpy(items + to, left + i, <size_t> (middle - i) * sizeof(Member))


cdef bint sort_members(Scan *s, Member *items, Py_ssize_t count) noexcept nogil:
    # Insertion for short runs, then merging from the bottom up: O(n log n) comparisons on any input.
    cdef Py_ssize_t k, width
    cdef Member member
    cdef void *room
    for k in range(1, count):
        if not goes_after(s, &items[k - 1], &items[k]):
            break
    else:
        # Exactly the wrong way round, which merging would take for the worst case.
        for k in range(count // 2):
            member = items[k]
            items[k] = items[count - 1 - k]
            items[count - 1 - k] = member
        return True
    if count <= 2 * SHORT_RUN:
        sort_short(s, items, count)
        return True
    if s.spare_capacity < count:
        room = grown(s.spare, &s.spare_capacity, count, sizeof(Member))
        if room == NULL:
            out_of_memory(s)
            return False
        s.spare = <Member *> room
    k = 0
    while k < count:
        sort_short(s, items + k, SHORT_RUN if count - k > SHORT_RUN else count - k)
        k += SHORT_RUN
    width = SHORT_RUN
    while width < count:
        k = 0
        while k + width < count:
            merge(s, items + k, width, 2 * width if count - k > 2 * width else count - k)
            k += 2 * width
        width *= 2
    return True


cdef inline void note_repeated(Scan *s, const uint8_t *at) noexcept nogil:
    if s.repeated == NULL or at < s.repeated:
        s.repeated = at


cdef bint close_object(Scan *s, const Frame *frame, const uint8_t *after) noexcept nogil:
    # Forgets the members, except their order when it is not the order of the text.
    cdef Object *object = &s.objects[frame.object_number]
    cdef Member *items = s.members + frame.first_member
    cdef Py_ssize_t count = s.member_count - frame.first_member, k
    cdef void *room
    object.first_entry = <uint32_t> s.entry_count
    object.entry_count = 0
    object.end = <uint32_t> (after - s.text)
    object.next_object = <uint32_t> s.object_count
    if not frame.ascending:
        if not sort_members(s, items, count):
            return False
        for k in range(1, count):
            if compare_keys(s, &items[k - 1], &items[k]) == 0:
                note_repeated(s, s.text + items[k].at)
        if s.entry_capacity < s.entry_count + count:
            room = grown(s.entries, &s.entry_capacity, s.entry_count + count, sizeof(Entry))
            if room == NULL:
                out_of_memory(s)
                return False
            s.entries = <Entry *> room
        for k in range(count):
            s.entries[s.entry_count + k].at = items[k].at
            s.entries[s.entry_count + k].first_object = items[k].first_object
        s.entry_count += count
        object.entry_count = <uint32_t> count
    s.member_count = frame.first_member
    s.keys.size = frame.keys_size
    return True


cdef bint unescape_key(Scan *s, Member *member, const uint8_t *p, const uint8_t *close) noexcept nogil:
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


cdef const uint8_t *scan_key(Scan *s, Frame *frame, const uint8_t *p) noexcept nogil:
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


# ---------------------------------------------------------------------------------------------------------------------
# First pass: the grammar


cdef Frame *open_container(Scan *s, Py_ssize_t depth, uint8_t opener) noexcept nogil:
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


cdef void scan_document(Scan *s) noexcept nogil:
    cdef const uint8_t *p = s.text
    cdef const uint8_t *end = s.end
    cdef const uint8_t *after
    cdef Frame *frame
    cdef Py_ssize_t depth = 0
    cdef uint8_t c
    if end - p >= 3 and p[0] == 0xEF and p[1] == 0xBB and p[2] == 0xBF:
        s.status = BYTE_ORDER_MARK
        s.problem = p
        return
    while True:
        # A value is due.
        p = json_space_end(p, end)
        if p == end:
            fail(s, p)
            return
        c = p[0]
        if c == c'"':
            p = scan_string(s, p + 1)
            if p == NULL:
                return
            p += 1
            s.output_size += <uint64_t> s.string_size + 2
        elif c == c'{' or c == c'[':
            if depth == s.max_depth:
                s.status = TOO_DEEP
                s.problem = p
                return
            after = json_space_end(p + 1, end)
            if after == end or after[0] != c + 2:
                frame = open_container(s, depth, c)
                if frame == NULL:
                    return
                depth += 1
                s.output_size += 2 + 2 * <uint64_t> depth
                p = after
                if c == c'{':
                    p = scan_key(s, frame, p)
                    if p == NULL:
                        return
                continue
            s.output_size += 2
            p = after + 1
        else:
            if c == c'-' or c'0' <= c <= c'9':
                after = scan_number(s, p)
            elif c == c't':
                after = scan_word(s, p, b"true")
            elif c == c'f':
                after = scan_word(s, p, b"false")
            elif c == c'n':
                after = scan_word(s, p, b"null")
            else:
                after = fail(s, p)
            if after == NULL:
                return
            s.output_size += <uint64_t> (after - p)
            p = after
        # A value has ended: close what ends with it, up to the next comma.
        while depth > 0:
            p = json_space_end(p, end)
            if p == end:
                fail(s, p)
                return
            frame = &s.frames[depth - 1]
            if p[0] == c',':
                s.output_size += 2 + 2 * <uint64_t> depth
                p += 1
                if frame.closer == c'}':
                    p = scan_key(s, frame, json_space_end(p, end))
                    if p == NULL:
                        return
                break
            if p[0] != frame.closer:
                fail(s, p)
                return
            p += 1
            depth -= 1
            s.output_size += 2 + 2 * <uint64_t> depth
            if frame.closer == c'}' and not close_object(s, frame, p):
                return
        else:
            p = json_space_end(p, end)
            if p < end:
                fail(s, p)
            elif s.repeated != NULL:
                s.status = REPEATED_MEMBER
                s.problem = s.repeated
            s.output_size += 1
            return


# ---------------------------------------------------------------------------------------------------------------------
# Second pass: writing. The text is known to be good, and the result to have exactly the room it needs.


cdef struct Level:
    # A container still open in the second pass.
    uint32_t entry          # next member, where they are put in order
    uint32_t last_entry     # past the last one; 0: written in the order of the text
    uint32_t object_number
    uint8_t closer


cdef inline const uint8_t *write_string(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit) noexcept nogil:
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


cdef inline const uint8_t *write_key(const uint8_t *p, const uint8_t *end, uint8_t **out, uint8_t *limit) noexcept nogil:
    # A key and its colon; returns where the value starts.
    p = write_string(p, end, out, limit)
    out[0][0] = c':'
    out[0][1] = c' '
    out[0] += 2
    return json_space_end(json_space_end(p, end) + 1, end)


cdef void write_document(const Scan *s, Level *levels, uint8_t *out, uint8_t *limit) noexcept nogil:
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
            while p < end and p[0] > 0x20 and p[0] != c',' and p[0] != c']' and p[0] != c'}':
                out[0] = p[0]
                out += 1
                p += 1
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


# ---------------------------------------------------------------------------------------------------------------------
# The canonical form of records


cdef struct Key:
    # Of a container still open: the last key, if it is an object that has one.
    uint32_t at             # 0: none yet (no key can start there)
    uint32_t size
    bint escaped
    uint8_t closer


cdef const uint8_t *canonical_string(const uint8_t *p, const uint8_t *end, bint *escaped) noexcept nogil:
    # p stands after the opening quote; returns the closing one, NULL if the content is not valid or not minimal.
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
            # Minimal is what we would have written ourselves: the same letters, or \u00 and two lower-case digits.
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


cdef inline int compare_plain(const uint8_t *x, Py_ssize_t x_size, const uint8_t *y, Py_ssize_t y_size) noexcept nogil:
    cdef Py_ssize_t shorter = x_size if x_size < y_size else y_size
    cdef int order = memcmp(x, y, <size_t> shorter) if shorter else 0
    return order if order else -1 if x_size < y_size else x_size > y_size


cdef int compare_escaped(const uint8_t *x, const uint8_t *x_end, const uint8_t *y, const uint8_t *y_end) noexcept nogil:
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


cdef const uint8_t *canonical_key(const uint8_t *text, const uint8_t *p, const uint8_t *end, Key *last) noexcept nogil:
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


cdef const uint8_t *canonical_word(const uint8_t *p, const uint8_t *end) noexcept nogil:
    cdef Py_ssize_t left = end - p
    if left >= 4 and (memcmp(p, b"true", 4) == 0 or memcmp(p, b"null", 4) == 0):
        return p + 4
    if left >= 5 and memcmp(p, b"false", 5) == 0:
        return p + 5
    return NULL


cdef int check_canonical(
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


cdef Py_ssize_t deepest(const uint8_t *p, const uint8_t *end) noexcept nogil:
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


# ---------------------------------------------------------------------------------------------------------------------
# The interface


cdef inline const uint8_t *first_byte(const Py_buffer *view) noexcept nogil:
    # An empty buffer may have no address at all; arithmetic needs one.
    return <const uint8_t *> view.buf if view.len else <const uint8_t *> b""


cdef inline int check_depth_limit(Py_ssize_t max_depth) except -1:
    if max_depth < 1:
        raise ValueError("max_depth must be at least 1")
    return 0


cdef void scan_init(Scan *s, const Py_buffer *view, Py_ssize_t max_depth) noexcept nogil:
    s.text = first_byte(view)
    s.end = s.text + view.len
    s.status = FINE
    s.problem = s.text
    s.max_depth = max_depth
    s.output_size = 0
    s.repeated = NULL
    s.frames = NULL
    s.members = NULL
    s.spare = NULL
    s.objects = NULL
    s.entries = NULL
    s.frame_capacity = s.member_capacity = s.spare_capacity = s.object_capacity = s.entry_capacity = 0
    s.member_count = s.object_count = s.entry_count = 0
    octets_init(&s.keys)


cdef void free_working_memory(Scan *s) noexcept nogil:
    # What the second pass does not need.
    free(s.frames)
    free(s.members)
    free(s.spare)
    s.frames = NULL
    s.members = NULL
    s.spare = NULL
    octets_free(&s.keys)


def pretty(data, /, Py_ssize_t max_depth=512):
    """Return the canonical pretty form of a JSON text, or what is wrong with it and where.

    Parsing is strict: UTF-8 without a byte-order mark, the grammar of RFC 8259, no repeated key in an object, nothing
    after the value. The pretty form has two spaces per level, keys in code-point order, numbers as written, strings with
    minimal escapes, and a final LF *(textdiff §6)*.

    Parameters
    ----------
    data : bytes-like
        The text, at most 2147483645 bytes.
    max_depth : int, optional
        Containers that may be open at once; ``[1]`` needs 1.

    Returns
    -------
    status : int
        0 fine, 1 not UTF-8, 2 not JSON, 3 too deep, 4 a repeated key, 5 a byte-order mark. The first problem from the
        left is reported; a repeated key only where there is no other.
    offset : int
        The byte at which the problem shows; 0 if there is none. Status 1: the start of the invalid sequence. Status 2:
        the first byte with which the text is no longer the beginning of any JSON text, ``len(data)`` if it just stops
        early. Status 3: the bracket that is too many. Status 4: the opening quote of the first key that repeats one.
    text : bytes or None
        The pretty form in UTF-8, lone surrogates as three bytes ``ED A0..BF xx``; None unless the status is 0.

    Raises
    ------
    ValueError
        If `max_depth` is less than 1.
    OverflowError
        If the text is too long for 32-bit offsets.
    MemoryError

    Notes
    -----
    Time is linear in the sizes of the text and the result, but for O(n log n) where the n keys of an object are not in
    order. Memory, besides the result: 16 bytes per non-empty object and 8 per member out of order; while an object is
    open, 24 bytes per member, twice that while it is sorted. The result itself can be `max_depth` times the text, as
    every line is indented.
    """
    cdef Py_buffer view
    cdef Scan s
    cdef Level *levels = NULL
    cdef Py_ssize_t level_count
    cdef uint8_t *out
    check_depth_limit(max_depth)
    acquire_bytes(data, &view)
    scan_init(&s, &view, max_depth)
    try:
        with nogil:
            scan_document(&s)
            level_count = s.frame_capacity
            free_working_memory(&s)
        if s.status == NO_MEMORY:
            raise MemoryError
        if s.status != FINE:
            return <int> s.status, s.problem - s.text, None
        if level_count:
            levels = <Level *> malloc(<size_t> level_count * sizeof(Level))
            if levels == NULL:
                raise MemoryError
        text = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> s.output_size)
        out = <uint8_t *> PyBytes_AS_STRING(text)
        with nogil:
            write_document(&s, levels, out, out + s.output_size)
        return 0, 0, text
    finally:
        free_working_memory(&s)
        free(levels)
        free(s.objects)
        free(s.entries)
        PyBuffer_Release(&view)


def is_canonical(data, /, Py_ssize_t max_depth=512):
    """Return whether a text is the canonical form of a record, byte for byte *(run-records §2)*.

    That is: one object, valid UTF-8, no white space outside strings, keys strictly ascending by code point, minimal
    escapes, no lone surrogate, no number anywhere. Which keys a record may have is not looked at.

    Parameters
    ----------
    data : bytes-like
        The text, at most 2147483645 bytes.
    max_depth : int, optional
        Containers that may be open at once; a deeper text is not canonical.

    Raises
    ------
    ValueError
        If `max_depth` is less than 1.
    OverflowError
        If the text is too long for 32-bit offsets.
    MemoryError

    Notes
    -----
    One pass, linear; memory is 16 bytes per open container.
    """
    cdef Py_buffer view
    cdef const uint8_t *text
    cdef Key *keys = NULL
    cdef int answer
    check_depth_limit(max_depth)
    acquire_bytes(data, &view)
    text = first_byte(&view)
    with nogil:
        answer = check_canonical(text, text + view.len, max_depth, &keys)
        free(keys)
    PyBuffer_Release(&view)
    if answer < 0:
        raise MemoryError
    return answer == 1


def depth(data, /):
    """Return the deepest nesting of brackets and braces outside strings.

    Any bytes are accepted and nothing is checked: a closing bracket of either kind ends one level, if one is open; a
    backslash in a string takes the next byte with it; a string that does not end holds the rest.

    Parameters
    ----------
    data : bytes-like
        The text, at most 2147483645 bytes.

    Raises
    ------
    OverflowError
        If the text is too long.

    Notes
    -----
    One pass, linear, no memory.
    """
    cdef Py_buffer view
    cdef const uint8_t *text
    cdef Py_ssize_t answer
    acquire_bytes(data, &view)
    text = first_byte(&view)
    with nogil:
        answer = deepest(text, text + view.len)
    PyBuffer_Release(&view)
    return answer
