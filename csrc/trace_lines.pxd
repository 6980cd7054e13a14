# One line of a trace: the JSON grammar, and by the way what the line is of a record *(agentlog §1, §3)*.

from buffers cimport int64_t, uint8_t, uint32_t
from json_escapes cimport put_point, read_escape
from json_index cimport TOO_DEEP, Frame, Scan, close_object
from json_pass cimport EXPONENT, INTEGER, fail, json_space_end, open_container, scan_key, scan_scalar, scan_string

cdef extern from "<string.h>" nogil:
    int memcmp(const void *, const void *, size_t)

cdef extern from "double_range.h" nogil:
    bint past_double_range(const uint8_t *p, const uint8_t *end)

cdef enum:
    # What a member is to a record.
    VERSION = 0
    ID = 1
    KIND = 2
    TS = 3
    PARENT = 4
    META = 5
    PAYLOAD = 6
    SLOTS = 7
    USAGE = 8
    TRACE_ID_KEY = 9
    CACHE_KEY = 10
    INPUT = 11              # INPUT, OUTPUT, THINKING in a row
    OUTPUT = 12
    THINKING = 13
    OTHER = 14

cdef struct Count:
    # A token count: absent, a number that fits, or a literal to be read with more care.
    bint there
    bint odd
    int64_t value
    const uint8_t *at
    const uint8_t *end


cdef struct Part:
    # The value of a member of the record.
    bint there
    uint8_t lead            # its first byte
    bint escaped
    const uint8_t *at
    const uint8_t *end


cdef struct Line:
    Part parts[7]
    Count counts[3]
    bint repeated_envelope
    bint cache_fields
    bint trace_id
    bint is_object


cdef inline bint is_text(const uint8_t *p, Py_ssize_t size, const char *text, Py_ssize_t text_size) noexcept nogil:
    return size == text_size and memcmp(p, text, <size_t> size) == 0


cdef inline Py_ssize_t unescaped(const uint8_t *p, const uint8_t *end, uint8_t *out, Py_ssize_t room) noexcept nogil:
    # The content of a scanned string; a longer one than there is room for is none of those looked for: 0.
    cdef uint8_t *start = out
    cdef uint32_t point
    while p < end:
        if out - start > room - 4:
            return 0
        if p[0] == c'\\':
            p = read_escape(p + 1, end, &point)
            out = put_point(out, point)
        else:
            out[0] = p[0]
            out += 1
            p += 1
    return out - start


cdef inline int slot_of(const uint8_t *p, const uint8_t *end, bint escaped, int place) noexcept nogil:
    # What a key stands for: `place` is the slot of the object it is in, SLOTS for the record itself.
    cdef uint8_t buffer[64]
    cdef Py_ssize_t size = end - p
    if escaped:
        size = unescaped(p, end, buffer, 64)
        p = buffer
    if place == SLOTS:
        if is_text(p, size, "payload", 7):
            return PAYLOAD
        if is_text(p, size, "version", 7):
            return VERSION
        if is_text(p, size, "id", 2):
            return ID
        if is_text(p, size, "kind", 4):
            return KIND
        if is_text(p, size, "ts", 2):
            return TS
        if is_text(p, size, "parent", 6):
            return PARENT
        if is_text(p, size, "meta", 4):
            return META
    elif place == PAYLOAD:
        if is_text(p, size, "usage", 5):
            return USAGE
    elif place == USAGE:
        if is_text(p, size, "input_tokens", 12):
            return INPUT
        if is_text(p, size, "output_tokens", 13):
            return OUTPUT
        if is_text(p, size, "thinking_tokens", 15):
            return THINKING
        if is_text(p, size, "cache_read_input_tokens", 23) or is_text(p, size, "cache_creation_input_tokens", 27):
            return CACHE_KEY
    elif place == META:
        if is_text(p, size, "trace_id", 8):
            return TRACE_ID_KEY
    return OTHER


cdef inline void read_count(Count *count, const uint8_t *p, const uint8_t *end, int number_class) noexcept nogil:
    # Toward zero. Up to 18 digits fit; a fraction of up to 15 digits is its integer part, as no double rounds it up.
    cdef int64_t value = 0
    cdef bint negative = p[0] == c'-'
    count.there = True
    count.odd = False
    count.at = p
    count.end = end
    p += negative
    if end - p > (18 if number_class == INTEGER else 16) or number_class == EXPONENT:
        count.odd = True
        count.value = 0
        return
    while p < end and p[0] != c'.':
        value = 10 * value + (p[0] - c'0')
        p += 1
    count.value = -value if negative else value


cdef inline void forget_counts(Line *line) noexcept nogil:
    cdef int k
    for k in range(3):
        line.counts[k].there = False
    line.cache_fields = False


cdef inline const uint8_t *scan_own_key(Scan *s, Frame *frame, const uint8_t *p, Line *line) noexcept nogil:
    # A key of the record itself: a repeated one is more than a remark.
    cdef const uint8_t *inner = s.repeated
    s.repeated = NULL
    p = scan_key(s, frame, p)
    line.repeated_envelope |= s.repeated != NULL
    if inner != NULL:
        s.repeated = inner
    return p


cdef inline int slot_after(Scan *s, const uint8_t *key, int place) noexcept nogil:
    # Of the key scanned last, whose opening quote is at `key`.
    cdef Py_ssize_t size = s.string_size
    if s.string_escaped:
        # Ends at the first quote that no backslash takes; the string is known to be well formed.
        size = 0
        while key[1 + size] != c'"':
            size += 2 if key[1 + size] == c'\\' else 1
    return slot_of(key + 1, key + 1 + size, s.string_escaped, place)


cdef inline void scan_line(Scan *s, Line *line) noexcept nogil:
    # One JSON text; what it is of a record is noted by the way. A later member of a name replaces an earlier one.
    cdef const uint8_t *p = s.text
    cdef const uint8_t *end = s.end
    cdef const uint8_t *after
    cdef const uint8_t *key
    cdef const uint8_t *inner
    cdef Frame *frame
    cdef Part *part = NULL
    cdef Py_ssize_t depth = 0
    cdef int places[4]          # what the object open at depth 1 to 3 is
    cdef int slot = OTHER       # of the value that is due
    cdef uint8_t c
    line.is_object = False
    while True:
        # A value is due.
        p = json_space_end(p, end)
        if p == end:
            fail(s, p)
            return
        c = p[0]
        if slot != OTHER:
            if slot < SLOTS:
                part = &line.parts[slot]
                part.there = True
                part.lead = c
                part.at = p
                if slot == PAYLOAD:
                    forget_counts(line)
                elif slot == META:
                    line.trace_id = False
            elif slot == USAGE:
                forget_counts(line)
            elif slot == TRACE_ID_KEY:
                line.trace_id = c == c'"'
            elif slot == CACHE_KEY:
                line.cache_fields = True
            else:
                line.counts[slot - INPUT].there = False
        if c == c'"':
            after = scan_string(s, p + 1)
            if after == NULL:
                return
            if slot < SLOTS:
                part.escaped = s.string_escaped
            p = after + 1
        elif c == c'{' or c == c'[':
            if depth == s.max_depth:
                s.status = TOO_DEEP
                s.problem = p
                return
            after = json_space_end(p + 1, end)
            if depth == 0:
                line.is_object = c == c'{'
            if after == end or after[0] != c + 2:
                frame = open_container(s, depth, c)
                if frame == NULL:
                    return
                depth += 1
                if depth <= 3:
                    # An array is no place whose keys are looked for, nor is anything in it.
                    places[depth] = OTHER if c == c'[' else SLOTS if depth == 1 else slot
                p = after
                slot = OTHER
                if c == c'{':
                    key = p
                    p = scan_key(s, frame, p)  # the first key of an object repeats none
                    if p == NULL:
                        return
                    if depth <= 3 and places[depth] != OTHER:
                        slot = slot_after(s, key, places[depth])
                continue
            p = after + 1
        else:
            after = scan_scalar(s, p)
            if after == NULL:
                return
            if c <= c'9':  # a number: words start with letters
                if (s.number_class == EXPONENT or after - p > 300) and past_double_range(p, after):
                    fail(s, p)
                    return
                if INPUT <= slot <= THINKING:
                    read_count(&line.counts[slot - INPUT], p, after, s.number_class)
            p = after
        # A value has ended: close what ends with it, up to the next comma.
        while depth > 0:
            if depth == 1 and part != NULL:
                part.end = p
                part = NULL
            p = json_space_end(p, end)
            if p == end:
                fail(s, p)
                return
            frame = &s.frames[depth - 1]
            if p[0] == c',':
                p += 1
                slot = OTHER
                if frame.closer == c'}':
                    p = json_space_end(p, end)
                    key = p
                    if depth == 1:
                        p = scan_own_key(s, frame, p, line)
                    else:
                        p = scan_key(s, frame, p)
                    if p == NULL:
                        return
                    if depth <= 3 and places[depth] != OTHER:
                        slot = slot_after(s, key, places[depth])
                break
            if p[0] != frame.closer:
                fail(s, p)
                return
            p += 1
            depth -= 1
            if frame.closer == c'}':
                inner = s.repeated
                if depth == 0:
                    s.repeated = NULL
                if not close_object(s, frame, p):
                    return
                if depth == 0:
                    line.repeated_envelope |= s.repeated != NULL
                    if inner != NULL:
                        s.repeated = inner
        else:
            p = json_space_end(p, end)
            if p < end:
                fail(s, p)
            elif s.lone_surrogate:
                fail(s, s.text)
            return


cdef inline void clear_line(Line *line) noexcept nogil:
    cdef int k
    for k in range(SLOTS):
        line.parts[k].there = False
    forget_counts(line)
    line.repeated_envelope = False
    line.trace_id = False
