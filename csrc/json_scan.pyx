"""Strict JSON without Python objects: canonical pretty form, canonical form of records, nesting depth.

The pretty form takes two passes. The first checks everything, adds up the exact size of the result, and keeps
an index only of what cannot be written in the order it stands: the members of objects whose keys do not
ascend. The second writes, trusting the first. Neither recurses.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

from buffers cimport PyBuffer_Release, Py_buffer, acquire_bytes, free, malloc, uint8_t, uint64_t
from json_canonical cimport Key, check_canonical, deepest
from json_index cimport (
    BYTE_ORDER_MARK, FINE, NO_MEMORY, REPEATED_MEMBER, TOO_DEEP, TOO_LARGE, Frame, Scan, close_object, scan_free, scan_init,
)
from json_pass cimport fail, json_space_end, open_container, scan_key, scan_scalar, scan_string
from json_writer cimport Level, write_document

MAX_DEPTH = 512


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
            after = scan_scalar(s, p)
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


# -----------------------------------------------------------------------------------------------------------
# The interface


cdef inline const uint8_t *first_byte(const Py_buffer *view) noexcept nogil:
    # An empty buffer may have no address at all; arithmetic needs one.
    return <const uint8_t *> view.buf if view.len else <const uint8_t *> b""


cdef inline int check_depth_limit(Py_ssize_t max_depth) except -1:
    if max_depth < 1:
        raise ValueError("max_depth must be at least 1")
    return 0


def pretty(data, /, Py_ssize_t max_depth=512, Py_ssize_t max_output=0x7FFFFFFE):
    """Return the canonical pretty form of a JSON text, or what is wrong with it and where.

    Parsing is strict: UTF-8 without a byte-order mark, the grammar of RFC 8259, no repeated key in an object,
    nothing after the value. The pretty form has two spaces per level, keys in code-point order, numbers as
    written, strings with minimal escapes, and a final LF *(textdiff §6)*.

    Parameters
    ----------
    data : bytes-like
        The text, at most 2147483645 bytes. Anything but ``bytes`` is copied first, as it might change between
        the passes.
    max_depth : int, optional
        Containers that may be open at once; ``[1]`` needs 1.
    max_output : int, optional
        Bytes the pretty form may have.

    Returns
    -------
    status : int
        0 fine, 1 not UTF-8, 2 not JSON, 3 too deep, 4 a repeated key, 5 a byte-order mark, 6 a pretty form of more
        than `max_output` bytes. The first problem from the left is reported; a repeated key only where there is no
        other, the size only of a text that is fine.
    offset : int
        The byte at which the problem shows; 0 if there is none. Status 1: the start of the invalid sequence.
        Status 2: the first byte with which the text is no longer the beginning of any JSON text,
        ``len(data)`` if it just stops early. Status 3: the bracket that is too many. Status 4: the opening
        quote of the first key that repeats one.
    text : bytes or None
        The pretty form in UTF-8, lone surrogates as three bytes ``ED A0..BF xx``; None unless status is 0.

    Raises
    ------
    ValueError
        If `max_depth` is less than 1.
    OverflowError
        If the text is too long for 32-bit offsets.
    MemoryError

    Notes
    -----
    Time is linear in the sizes of the text and the result, but for O(n log n) where the n keys of an object
    are not in order. Memory, besides the result: 16 bytes per non-empty object and 8 per member out of order;
    while an object is open, 24 bytes per member, twice that while it is sorted. The result itself can be
    `max_depth` times the text, as every line is indented.
    """
    cdef Py_buffer view
    cdef Scan s
    cdef Level *levels = NULL
    cdef Py_ssize_t level_count
    cdef uint8_t *out
    check_depth_limit(max_depth)
    acquire_bytes(data, &view)
    if type(data) is not bytes:
        try:
            data = PyBytes_FromStringAndSize(<const char *> view.buf, view.len)
        finally:
            PyBuffer_Release(&view)
        acquire_bytes(data, &view)
    scan_init(&s, first_byte(&view), view.len, max_depth)
    try:
        with nogil:
            scan_document(&s)
            level_count = s.frame_capacity
            scan_free(&s)
        if s.status == NO_MEMORY:
            raise MemoryError
        if s.status != FINE:
            return <int> s.status, s.problem - s.text, None
        if level_count:
            levels = <Level *> malloc(<size_t> level_count * sizeof(Level))
            if levels == NULL:
                raise MemoryError
        if max_output < 0 or s.output_size > <uint64_t> max_output:
            return TOO_LARGE, 0, None
        text = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> s.output_size)
        out = <uint8_t *> PyBytes_AS_STRING(text)
        with nogil:
            write_document(&s, levels, out, out + s.output_size)
        return 0, 0, text
    finally:
        scan_free(&s)
        free(levels)
        free(s.objects)
        free(s.entries)
        PyBuffer_Release(&view)


def is_canonical(data, /, Py_ssize_t max_depth=512):
    """Return whether a text is the canonical form of a record, byte for byte *(run-records §2)*.

    That is: one object, valid UTF-8, no white space outside strings, keys strictly ascending by code point,
    minimal escapes, no lone surrogate, no number anywhere. Which keys a record may have is not looked at.

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

    Any bytes are accepted and nothing is checked: a closing bracket of either kind ends one level, if one is
    open; a backslash in a string takes the next byte with it; a string that does not end holds the rest.

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
