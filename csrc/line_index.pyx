# distutils: language = c
"""Where the lines of a text are, and how they end (textdiff §9.1)."""

from cpython.array cimport array

from buffers cimport (
    Ints, PyBuffer_Release, Py_buffer, acquire_bytes, ints_free, ints_init, ints_push, ints_reserve, ints_to_array,
    uint8_t, uint64_t,
)

cdef extern from "byte_scan.h" nogil:
    uint64_t byte_mask_64(const uint8_t *p, uint8_t value)
    int lowest_bit(uint64_t mask)

cdef array INT32 = array("i")


cdef Py_ssize_t find_lines(const uint8_t *text, Py_ssize_t size, Ints *starts) noexcept nogil:
    # Pushes the start of every line and the closing entry; returns the number of CR LF.
    cdef Py_ssize_t at = 0, newline, crlf = 0
    cdef uint64_t mask
    ints_reserve(starts, size // 48 + 4)
    ints_push(starts, 0)
    while at + 64 <= size:
        mask = byte_mask_64(text + at, 10)
        if mask and not ints_reserve(starts, 64):
            return crlf
        while mask:
            newline = at + lowest_bit(mask)
            mask &= mask - 1
            crlf += newline > 0 and text[newline - 1] == 13
            starts.items[starts.size] = <int> (newline + 1)
            starts.size += 1
        at += 64
    while at < size:
        if text[at] == 10:
            crlf += at > 0 and text[at - 1] == 13
            ints_push(starts, <int> (at + 1))
        at += 1
    return crlf


def index_lines(object data, /):
    """Return where the lines of a text start, and its counts of LF and CR LF.

    Lines end at LF only. A final LF opens no line; the empty text is one empty line *(textdiff §9.1)*.

    Parameters
    ----------
    data : bytes-like
        The text, at most 2147483645 bytes.

    Returns
    -------
    starts : array.array of int32, shape (n + 1,)
        Line i is ``data[starts[i] : starts[i + 1] - 1]``, an unterminated last line included. CRs are kept.
    lf_count, crlf_count : int
        How many LF the text has, and how many of them follow a CR.

    Raises
    ------
    OverflowError
        If the text is too long for int32 offsets.
    MemoryError

    Notes
    -----
    One pass over the bytes; memory is four bytes per line.
    """
    cdef Py_buffer view
    cdef Ints starts
    cdef Py_ssize_t crlf = 0, lf
    acquire_bytes(data, &view)
    ints_init(&starts)
    try:
        with nogil:
            crlf = find_lines(<const uint8_t *> view.buf, view.len, &starts)
            lf = starts.size - 1
            # Without a final LF the last line ends where the text does; the formula wants one position more.
            if view.len == 0 or (<const uint8_t *> view.buf)[view.len - 1] != 10:
                ints_push(&starts, <int> (view.len + 1))
        if starts.failed:
            raise MemoryError
        return ints_to_array(INT32, starts.items, starts.size), lf, crlf
    finally:
        ints_free(&starts)
        PyBuffer_Release(&view)
