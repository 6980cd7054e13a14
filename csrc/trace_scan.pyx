"""Lines of an agent trace: which are records, where their parts lie, and the token counts of every response.

Everything the format asks of a line is decided here *(agentlog §1, §5)*, in one pass and without an object per
record; what is wanted as a Python value is parsed afterwards from the spans this leaves.
"""

from cpython.array cimport array

from buffers cimport (
    Longs, Py_buffer, PyBuffer_Release, acquire_bytes, free, int64_t, longs_free, longs_init, longs_reserve, longs_to_array,
    uint8_t,
)
from json_canonical cimport deepest
from json_index cimport FINE, NO_MEMORY, Scan, scan_free, scan_init
from json_pass cimport json_utf8_size
from trace_lines cimport (
    KIND, META, PARENT, PAYLOAD, SLOTS, TS, VERSION, Count, Line, Part, clear_line, is_text, scan_line, unescaped,
)

cdef extern from "<string.h>" nogil:
    void *memchr(const void *, int, size_t)
    size_t strlen(const char *)

cdef enum Code:
    KEPT = 0
    LINE_TOO_LARGE = 1
    BAD_UTF8 = 2
    BAD_DEPTH = 3
    BAD_JSON = 4
    BAD_ENVELOPE = 5
    OUT_OF_MEMORY = 6

cdef enum Flag:
    # A kept record's row: what there is to say about it.
    REPEATED = 1            # a member stands twice in some object of a value
    REPEATED_ENVELOPE = 2   # a member of the record itself stands twice
    UNKNOWN_KIND = 4
    OTHER_VERSION = 8
    CACHE_FIELDS = 16       # usage has cache_read_input_tokens or cache_creation_input_tokens
    TRACE_ID = 32           # meta.trace_id is a string

cdef enum:
    KIND_COUNT = 10
    RESPONSE = 2
    UNKNOWN = 10
    ROW = 6                 # values per record
    WRONG = 64              # added to a slot in the detail of an envelope error: there, and of a wrong type
    NOT_OBJECT = 128

cdef const char **KINDS = [
    "metadata", "chat_request", "chat_response", "tool_call", "tool_result", "error", "replay_summary", "chunk",
    "harness_event", "blob_ref",
]


cdef struct Result:
    Longs records
    Longs bad               # code, line and detail of every line read over
    Longs counts
    Longs odd
    int64_t absent[3]
    int64_t responses


cdef int kind_of(const Part *part) noexcept nogil:
    cdef const uint8_t *p = part.at + 1
    cdef Py_ssize_t size = part.end - part.at - 2
    cdef uint8_t buffer[64]
    cdef int k
    if part.escaped:
        size = unescaped(p, p + size, buffer, 64)
        p = buffer
    for k in range(KIND_COUNT):
        if is_text(p, size, KINDS[k], <Py_ssize_t> strlen(KINDS[k])):
            return k
    return UNKNOWN


cdef bint is_known_version(const Part *part) noexcept nogil:
    cdef const uint8_t *p = part.at + 1
    cdef Py_ssize_t size = part.end - part.at - 2
    cdef uint8_t buffer[64]
    if part.escaped:
        size = unescaped(p, p + size, buffer, 64)
        p = buffer
    return is_text(p, size, "0.1", 3)


cdef int envelope_problem(const Line *line) noexcept nogil:
    # The first member, in the format's order, that is missing or of a wrong type; -1 if none is.
    cdef int k
    cdef const Part *part
    if not line.is_object:
        return NOT_OBJECT
    for k in range(SLOTS):
        part = &line.parts[k]
        if not part.there:
            if k != PARENT and k != META:
                return k
        elif k <= TS:
            if part.lead != c'"':
                return k + WRONG
        elif k == PARENT:
            if part.lead != c'"' and part.lead != c'n':
                return k + WRONG
        elif k == META:
            if part.lead != c'{' and part.lead != c'n':
                return k + WRONG
    return -1


cdef int why_not(const uint8_t *start, const uint8_t *end, Py_ssize_t max_depth) noexcept nogil:
    # A line that does not parse: the first of the codes, in the format's order, that it earns.
    cdef const uint8_t *p = start
    cdef int size
    while p < end:
        if p[0] < 0x80:
            p += 1
            continue
        size = json_utf8_size(p, end)
        if size == 0:
            return BAD_UTF8
        p += size
    return BAD_DEPTH if deepest(start, end) > max_depth else BAD_JSON


cdef bint keep(Result *result, const Line *line, const Scan *s, const uint8_t *base, int64_t number) noexcept nogil:
    # The row of a record: kind, payload, line, flags; of a response its counts too.
    cdef int64_t *row
    cdef int64_t flags = 0
    cdef int kind = kind_of(&line.parts[KIND])
    cdef int k
    cdef const Count *count
    if s.repeated != NULL:
        # Of the record itself or of an object further in, both perhaps; the former is counted by the way.
        flags |= REPEATED
    if line.repeated_envelope:
        flags |= REPEATED_ENVELOPE
    if kind == UNKNOWN:
        flags |= UNKNOWN_KIND
    if not is_known_version(&line.parts[VERSION]):
        flags |= OTHER_VERSION
    if line.trace_id:
        flags |= TRACE_ID
    if kind == RESPONSE:
        if line.cache_fields:
            flags |= CACHE_FIELDS
        if not longs_reserve(&result.counts, 3):
            return False
        for k in range(3):
            count = &line.counts[k]
            if count.there:
                result.counts.items[result.counts.size + k] = count.value
                if count.odd:
                    if not longs_reserve(&result.odd, 4):
                        return False
                    result.odd.items[result.odd.size] = result.responses
                    result.odd.items[result.odd.size + 1] = k
                    result.odd.items[result.odd.size + 2] = count.at - base
                    result.odd.items[result.odd.size + 3] = count.end - base
                    result.odd.size += 4
            else:
                result.counts.items[result.counts.size + k] = 0
                result.absent[k] += 1
        result.counts.size += 3
        result.responses += 1
    if not longs_reserve(&result.records, ROW):
        return False
    row = result.records.items + result.records.size
    row[0] = kind
    row[1] = line.parts[PAYLOAD].at - base
    row[2] = line.parts[PAYLOAD].end - base
    row[3] = s.text - base
    row[4] = number
    row[5] = flags
    result.records.size += ROW
    return True


cdef int scan_lines(
    Scan *s, Result *result, const uint8_t *base, Py_ssize_t *at, const uint8_t *end, Py_ssize_t max_line, bint is_last,
    bint goes_on, int64_t *number, int *detail,
) noexcept nogil:
    # Reads lines up to the first that is not kept, or over those; leaves `at` past the last line read.
    cdef const uint8_t *p
    cdef const uint8_t *stop
    cdef const uint8_t *content
    cdef Line line
    cdef Py_ssize_t size
    cdef int code
    while base + at[0] < end:
        p = base + at[0]
        stop = <const uint8_t *> memchr(p, c'\n', <size_t> (end - p))
        if stop == NULL:
            if end - p > max_line:
                number[0] += 1
                return LINE_TOO_LARGE
            if not is_last:
                return KEPT
            stop = end
            size = end - p
        else:
            size = stop + 1 - p
        number[0] += 1
        if size > max_line:
            return LINE_TOO_LARGE
        at[0] += size
        content = stop
        while content > p and (content - 1)[0] == c'\r':
            content -= 1
        if content == p:
            continue
        s.text = p
        s.end = stop
        s.status = FINE
        s.repeated = NULL
        s.lone_surrogate = False
        s.member_count = s.object_count = s.entry_count = 0
        s.keys.size = 0
        clear_line(&line)
        scan_line(s, &line)
        if s.status == NO_MEMORY:
            return OUT_OF_MEMORY
        if s.status != FINE:
            code = why_not(p, stop, s.max_depth)
            detail[0] = <int> (s.problem - p) if s.problem - p < 0x7FFFFFFF else 0x7FFFFFFF
        else:
            code = BAD_ENVELOPE
            detail[0] = envelope_problem(&line)
        if code != BAD_ENVELOPE or detail[0] >= 0:
            if not goes_on:
                return code
            if not longs_reserve(&result.bad, 3):
                return OUT_OF_MEMORY
            result.bad.items[result.bad.size] = code
            result.bad.items[result.bad.size + 1] = number[0]
            result.bad.items[result.bad.size + 2] = detail[0]
            result.bad.size += 3
        elif not keep(result, &line, s, base, number[0]):
            return OUT_OF_MEMORY
    return KEPT


cdef array _longs = array('q')


def scan(
    data, /, Py_ssize_t start=0, int64_t number=0, Py_ssize_t max_line=16777216, Py_ssize_t max_depth=127, bint is_last=True,
    bint goes_on=False,
):
    """Read the lines of a piece of a trace, up to the first that holds no record *(agentlog §1, §5)*.

    Parameters
    ----------
    data : bytes-like
        The piece; lines end in LF. Only the trace's last line may lack it.
    start : int, optional
        Where to begin: the start of a line.
    number : int, optional
        Lines of the trace before that one.
    max_line : int, optional
        Bytes a line may have, LF included.
    max_depth : int, optional
        Containers that may be open at once, the record counted.
    is_last : bool, optional
        The trace ends with this piece; if not, a line without LF is left for the next.
    goes_on : bool, optional
        Read over lines that hold no record, and list them in `bad`; only one over `max_line` still ends reading.

    Returns
    -------
    code : int
        0 every line was read; else what is wrong with the last one read: 1 over `max_line`, 2 not UTF-8, 3 too deep,
        4 not JSON (RFC 8259; no number past the double range, no escape of half a surrogate pair), 5 no record.
    next : int
        Where reading stopped: past the last line read. Code 1: the start of that line.
    number : int
        Lines read so far, the one of `code` and blank ones included.
    bad : array('q'), three values a line
        Code, number and detail of every line read over.
    detail : int
        Codes 2 to 4: the byte of the line where reading gave up. Code 5: the member at fault, by its place among version, id,
        kind, ts, parent, meta, payload, plus 64 where it is there and of a wrong type; 128: the line is no object.
    records : array('q'), six values a record
        Kind (0 metadata, 1 chat_request, 2 chat_response, 3 tool_call, 4 tool_result, 5 error, 6 replay_summary, 7 chunk,
        8 harness_event, 9 blob_ref, 10 any other); start and end of the payload; start and number of the line; flags: 1 a
        repeated member, 2 a repeated member of the record itself, 4 an unknown kind, 8 a version other than 0.1, 16 usage of a
        response with cache_read_input_tokens or cache_creation_input_tokens, 32 a string meta.trace_id.
    counts : array('q'), three values a response
        input_tokens, output_tokens, thinking_tokens, toward zero; 0 where absent or listed in `odd`.
    absent : (int, int, int)
        Responses of this piece without such a number.
    odd : array('q'), four values a count
        Counts to be read with more care: response of this piece, dimension, start and end of the literal.

    Raises
    ------
    ValueError
        A size or position is out of range.
    OverflowError
        The piece is too long for 32-bit offsets.
    MemoryError

    Notes
    -----
    Linear, but for O(n log n) where the n keys of an object are not in order. Memory: 48 bytes a record, 24 a
    response, 24 per member of the objects open at once. A later member of a name replaces an earlier one.
    """
    cdef Py_buffer view
    cdef Scan s
    cdef Result result
    cdef Py_ssize_t at = start
    cdef const uint8_t *base
    cdef int code, detail = 0
    if max_depth < 1 or max_line < 1:
        raise ValueError("max_depth and max_line must be at least 1")
    acquire_bytes(data, &view)
    if start < 0 or start > view.len or number < 0:
        PyBuffer_Release(&view)
        raise ValueError("start reaches outside the data")
    base = <const uint8_t *> view.buf if view.len else <const uint8_t *> b""
    scan_init(&s, base, view.len, max_depth)
    longs_init(&result.records)
    longs_init(&result.bad)
    longs_init(&result.counts)
    longs_init(&result.odd)
    result.responses = result.absent[0] = result.absent[1] = result.absent[2] = 0
    try:
        with nogil:
            code = scan_lines(
                &s, &result, base, &at, base + view.len, max_line, is_last, goes_on, &number, &detail
            )
        if code == OUT_OF_MEMORY:
            raise MemoryError
        return (
            code, at, number,
            longs_to_array(_longs, result.bad.items, result.bad.size),
            detail,
            longs_to_array(_longs, result.records.items, result.records.size),
            longs_to_array(_longs, result.counts.items, result.counts.size),
            (result.absent[0], result.absent[1], result.absent[2]),
            longs_to_array(_longs, result.odd.items, result.odd.size),
        )
    finally:
        longs_free(&result.records)
        longs_free(&result.bad)
        longs_free(&result.counts)
        longs_free(&result.odd)
        scan_free(&s)
        free(s.objects)
        free(s.entries)
        PyBuffer_Release(&view)


def is_json(data, /, Py_ssize_t max_depth=127):
    """Return whether a text is one JSON value *(levels §1.5)*.

    That is: RFC 8259 in UTF-8 without a byte-order mark, no number past the double range, no escape of half a surrogate
    pair, at most `max_depth` containers open at once. Repeated members are let pass.

    Parameters
    ----------
    data : bytes-like
        The text.
    max_depth : int, optional
        Containers that may be open at once; a deeper text is none.

    Raises
    ------
    ValueError
        If `max_depth` is less than 1.
    OverflowError
        The text is too long for 32-bit offsets.
    MemoryError
    """
    cdef Py_buffer view
    cdef Scan s
    cdef Line line
    if max_depth < 1:
        raise ValueError("max_depth must be at least 1")
    acquire_bytes(data, &view)
    scan_init(&s, <const uint8_t *> view.buf if view.len else <const uint8_t *> b"", view.len, max_depth)
    try:
        with nogil:
            clear_line(&line)
            scan_line(&s, &line)
        if s.status == NO_MEMORY:
            raise MemoryError
        return s.status == FINE
    finally:
        scan_free(&s)
        free(s.objects)
        free(s.entries)
        PyBuffer_Release(&view)
