"""Displayed text: escaping, the window of long lines, and spans carried through both (textdiff §8)."""

from cpython.array cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcpy

from buffers cimport (
    Ints, Octets, PyBuffer_Release, Py_buffer, acquire_bytes, acquire_ints, check_bounds, int32_t, int64_t, ints_free,
    ints_init, ints_push, ints_to_array, octets_free, octets_init, octets_reserve, uint8_t, uint32_t,
)

cdef extern from "utf8.h" nogil:
    int utf8_unit(const uint8_t *p, const uint8_t *end, int surrogates, uint32_t *unit)
    const uint8_t *unit_boundary(const uint8_t *begin, const uint8_t *at, const uint8_t *end, int surrogates)
    int32_t count_units(const uint8_t *p, const uint8_t *end, int surrogates)
    const uint8_t *skip_units(const uint8_t *p, const uint8_t *end, int32_t count, int surrogates)

cdef extern from "escape_scan.h" nogil:
    const uint8_t *shown_run(const uint8_t *p, const uint8_t *end, int backslash, int surrogates, int64_t *continuations)
    int write_escape(uint32_t unit, uint8_t *out)
    int needs_escape(uint32_t unit, int backslash)
    int is_clean_ascii(uint8_t byte)

cdef array INT32 = array("i")

cdef enum:
    WINDOW = 2000
    LEAD = 40
    # Columns of a shown row and of a pair, as hunks.layout() makes them.
    ROW = 6
    PAIR = 4
    MARK = 3


cdef int64_t put_shown(Octets *out, const uint8_t *p, const uint8_t *end, bint backslash, bint surrogates) noexcept nogil:
    # Appends the displayed form of [p, end); returns how many characters it has.
    cdef int64_t shown = 0, continuations = 0
    cdef const uint8_t *stop
    cdef uint32_t unit
    cdef int length
    while p < end:
        stop = shown_run(p, end, backslash, surrogates, &continuations)
        if not octets_reserve(out, (stop - p) + 16):
            return shown
        memcpy(out.items + out.size, p, <size_t> (stop - p))
        out.size += stop - p
        shown += stop - p
        p = stop
        # Escapes come in crowds: one after the other, without asking how far the next run goes.
        while p < end:
            if is_clean_ascii(p[0]):
                break
            length = utf8_unit(p, end, surrogates, &unit)
            if not needs_escape(unit, backslash):
                break
            if not octets_reserve(out, 16):
                return shown
            p += length
            length = write_escape(unit, out.items + out.size)
            out.size += length
            shown += length
    return shown - continuations


def escape_text(object data, /, bint backslash=True, bint surrogates=False):
    """Return the displayed form of a text as UTF-8; the same object if nothing in it is escaped.

    Parameters
    ----------
    data : bytes-like
        UTF-8 with, possibly, bytes that are part of no character.
    backslash : bool, default True
        Whether a backslash is doubled (text) or shown as it is (canonical JSON).
    surrogates : bool, default False
        Whether three-byte forms of surrogates are characters, shown as ``\\uXXXX``, or undecodable bytes, ``\\xNN``.

    Returns
    -------
    bytes
        Valid UTF-8 without characters of categories Cc, Cf, Zl, Zp *(textdiff §8.1, Unicode 15.0)*.

    Raises
    ------
    MemoryError

    Notes
    -----
    Linear; memory is that of the result, and none when nothing is escaped.
    """
    cdef Py_buffer view
    cdef Octets out
    cdef int64_t continuations = 0
    cdef const uint8_t *begin
    cdef const uint8_t *end
    cdef const uint8_t *stop
    acquire_bytes(data, &view)
    octets_init(&out)
    try:
        begin = <const uint8_t *> view.buf
        end = begin + view.len
        with nogil:
            stop = shown_run(begin, end, backslash, surrogates, &continuations)
            if stop < end:
                octets_reserve(&out, view.len + (view.len >> 2) + 64)
                put_shown(&out, begin, end, backslash, surrogates)
        if out.failed:
            raise MemoryError
        if stop == end:
            return data if type(data) is bytes else bytes(data)
        return PyBytes_FromStringAndSize(<const char *> out.items, out.size)
    finally:
        octets_free(&out)
        PyBuffer_Release(&view)


# ---------------------------------------------------------------------------------------------------------------------
# Rows: lines as they are shown


cdef struct View:
    # What all rows of a call share.
    const uint8_t *a
    const uint8_t *b
    const int32_t *pairs
    const int32_t *a_edges
    const int32_t *a_bounds
    const int32_t *b_edges
    const int32_t *b_bounds
    const int32_t *ops
    const int32_t *op_bounds
    bint backslash
    bint surrogates
    Octets text
    Octets marked           # the ~ line being made, unescaped
    Ints spans


cdef void put_ascii(Octets *out, const char *source, int32_t length) noexcept nogil:
    if octets_reserve(out, length):
        memcpy(out.items + out.size, source, <size_t> length)
        out.size += length


cdef int32_t put_number(Octets *out, int64_t value) noexcept nogil:
    cdef char[20] digits
    cdef int32_t at = 20
    while True:
        at -= 1
        digits[at] = <char> (48 + value % 10)
        value //= 10
        if value == 0:
            break
    put_ascii(out, digits + at, 20 - at)
    return 20 - at


cdef const uint8_t *common_prefix(const uint8_t *a, const uint8_t *a_end, const uint8_t *b, const uint8_t *b_end,
                                  bint surrogates) noexcept nogil:
    # End, in a, of the longest common prefix in whole units.
    cdef const uint8_t *p = a
    cdef const uint8_t *q = b
    cdef const uint8_t *edge
    while p < a_end and q < b_end and p[0] == q[0]:
        p += 1
        q += 1
    edge = unit_boundary(a, p, a_end, surrogates)
    if edge == p:
        edge = p - (q - unit_boundary(b, q, b_end, surrogates))
    return edge


cdef int32_t common_suffix(const uint8_t *a, const uint8_t *a_end, const uint8_t *b, const uint8_t *b_end,
                           bint surrogates) noexcept nogil:
    # Length in bytes of the longest common suffix in whole units.
    cdef int32_t size = 0
    while size < a_end - a and size < b_end - b and (a_end - 1 - size)[0] == (b_end - 1 - size)[0]:
        size += 1
    while size and (unit_boundary(a, a_end - size, a_end, surrogates) != a_end - size
                    or unit_boundary(b, b_end - size, b_end, surrogates) != b_end - size):
        size -= 1
    return size


cdef void show_line(View *v, const uint8_t *begin, const uint8_t *end, const uint8_t *point, const uint8_t *whole,
                    Ints *raw) noexcept nogil:
    # Appends one displayed line: `point` is what a window is placed around; raw spans are byte offsets from `whole`.
    cdef const uint8_t *first = begin
    cdef const uint8_t *last = end
    cdef const uint8_t *x
    cdef const uint8_t *y
    cdef int64_t shown = 0
    cdef int32_t total = 0, start = 0, k
    if end - begin > WINDOW:
        total = count_units(begin, end, v.surrogates)
        if total > WINDOW:
            start = count_units(begin, point, v.surrogates) - LEAD
            start = min(start, total - WINDOW)
            start = max(start, 0)
            first = skip_units(begin, end, start, v.surrogates)
            last = skip_units(first, end, WINDOW, v.surrogates)
            if start > 0:
                put_ascii(&v.text, "\xe2\x80\xa6 ", 4)
                shown = 2 + put_number(&v.text, start) + 14
                put_ascii(&v.text, " characters \xe2\x80\xa6 ", 16)
        else:
            total = 0
    begin = first
    for k in range(0, <int32_t> raw.size // 2):
        x = whole + raw.items[2 * k]
        y = whole + raw.items[2 * k + 1]
        x = x if x > first else first
        y = y if y < last else last
        if x >= y:
            continue
        shown += put_shown(&v.text, begin, x, v.backslash, v.surrogates)
        ints_push(&v.spans, <int32_t> shown)
        shown += put_shown(&v.text, x, y, v.backslash, v.surrogates)
        ints_push(&v.spans, <int32_t> shown)
        begin = y
    put_shown(&v.text, begin, last, v.backslash, v.surrogates)
    if total and total - start - WINDOW > 0:
        put_ascii(&v.text, " \xe2\x80\xa6 ", 5)
        put_number(&v.text, total - start - WINDOW)
        put_ascii(&v.text, " more characters", 16)


cdef void show_mark(View *v, int32_t pair, Ints *raw) noexcept nogil:
    # The ~ line of a pair: equal tokens as they are, [-removed-], {+added+} (textdiff §8.4).
    cdef const int32_t *a_edges = v.a_edges + v.a_bounds[pair] + pair
    cdef const int32_t *b_edges = v.b_edges + v.b_bounds[pair] + pair
    cdef const int32_t *op
    cdef Octets *out = &v.marked
    cdef Py_ssize_t point = -1
    cdef int32_t k
    out.size = 0
    raw.size = 0
    for k in range(v.op_bounds[pair], v.op_bounds[pair + 1]):
        op = v.ops + 5 * <Py_ssize_t> k
        if op[0] == 0:
            put_ascii(out, <const char *> v.a + a_edges[op[1]], a_edges[op[2]] - a_edges[op[1]])
            continue
        if point < 0:
            point = out.size
        if op[2] > op[1]:
            put_ascii(out, "[-", 2)
            put_ascii(out, <const char *> v.a + a_edges[op[1]], a_edges[op[2]] - a_edges[op[1]])
            put_ascii(out, "-]", 2)
        if op[4] > op[3]:
            put_ascii(out, "{+", 2)
            put_ascii(out, <const char *> v.b + b_edges[op[3]], b_edges[op[4]] - b_edges[op[3]])
            put_ascii(out, "+}", 2)
    if not out.failed and out.size:
        show_line(v, out.items, out.items + out.size, out.items + (point if point > 0 else 0), out.items, raw)


cdef void show_row(View *v, const int32_t *row, bint marks, Ints *raw) noexcept nogil:
    cdef const uint8_t *text = v.b if row[0] == 2 else v.a
    cdef const uint8_t *begin = text + row[4]
    cdef const uint8_t *end = text + row[5]
    cdef const uint8_t *point = begin
    cdef const int32_t *pair
    cdef const int32_t *edges
    cdef const int32_t *op
    cdef const uint8_t *prefix
    cdef int32_t side, k, p = row[3]
    cdef bint marked
    raw.size = 0
    if p < 0:
        show_line(v, begin, end, point, text, raw)
        return
    if row[0] == MARK:
        if marks:
            show_mark(v, p, raw)
        return
    pair = v.pairs + PAIR * <Py_ssize_t> p
    marked = v.a_bounds[p + 1] > v.a_bounds[p] or v.b_bounds[p + 1] > v.b_bounds[p]
    if not marked or end - begin > WINDOW:
        prefix = common_prefix(v.a + pair[0], v.a + pair[1], v.b + pair[2], v.b + pair[3], v.surrogates)
        k = <int32_t> (prefix - (v.a + pair[0]))
        point = begin + k
        if not marked:
            # Too long to mark word by word: one span, between the common ends.
            ints_push(raw, row[4] + k)
            ints_push(raw, row[5] - common_suffix(v.a + pair[0] + k, v.a + pair[1], v.b + pair[2] + k, v.b + pair[3],
                                                  v.surrogates))
    if marked:
        side = 3 if row[0] == 2 else 1
        edges = (v.b_edges + v.b_bounds[p] if row[0] == 2 else v.a_edges + v.a_bounds[p]) + p
        for k in range(v.op_bounds[p], v.op_bounds[p + 1]):
            op = v.ops + 5 * <Py_ssize_t> k
            if op[0] != 0 and op[side + 1] > op[side]:
                ints_push(raw, edges[op[side]])
                ints_push(raw, edges[op[side + 1]])
    if not raw.failed:
        show_line(v, begin, end, point, text, raw)


cdef int check_rows(const int32_t *rows, Py_ssize_t count, Py_ssize_t a_size, Py_ssize_t b_size, const int32_t *pair,
                    Py_ssize_t pairs) except -1:
    cdef Py_ssize_t k
    cdef const int32_t *row
    cdef const int32_t *own
    for k in range(count):
        row = rows + ROW * k
        if not 0 <= row[0] <= MARK:
            raise ValueError("a row has an unknown op")
        if not 0 <= row[4] <= row[5] <= (b_size if row[0] == 2 else a_size):
            raise ValueError("a row reaches outside its text")
        if row[3] >= pairs or (row[0] == MARK and row[3] < 0):
            raise ValueError("a row names a pair that is not there")
        if row[3] >= 0 and row[0] != MARK:
            own = pair + PAIR * <Py_ssize_t> row[3] + (2 if row[0] == 2 else 0)
            if row[4] != own[0] or row[5] != own[1]:
                raise ValueError("a row is not the line of its pair")
    return 0


cdef int check_tokens(const int32_t *edges, Py_ssize_t edge_count, const int32_t *bounds, Py_ssize_t pairs,
                      Py_ssize_t size) except -1:
    cdef Py_ssize_t p, k
    cdef int32_t before
    check_bounds(bounds, pairs + 1, edge_count)
    if pairs and bounds[pairs] + pairs > edge_count:
        raise ValueError("token bounds reach outside the edges")
    for p in range(pairs):
        before = 0
        for k in range(bounds[p] + p, bounds[p + 1] + p + 1):
            if edges[k] < before or edges[k] > size:
                raise ValueError("token edges must ascend within their text")
            before = edges[k]
    return 0


cdef int check_ops(View *v, Py_ssize_t op_rows, Py_ssize_t pairs) except -1:
    # Blocks must be in order, or spans would run backwards.
    cdef Py_ssize_t p, k
    cdef const int32_t *op
    cdef int32_t i, j
    check_bounds(v.op_bounds, pairs + 1, op_rows)
    for p in range(pairs):
        i = j = 0
        for k in range(v.op_bounds[p], v.op_bounds[p + 1]):
            op = v.ops + 5 * k
            if not (0 <= op[0] <= 3 and i <= op[1] <= op[2] <= v.a_bounds[p + 1] - v.a_bounds[p]
                    and j <= op[3] <= op[4] <= v.b_bounds[p + 1] - v.b_bounds[p]):
                raise ValueError("a block reaches outside its tokens")
            i = op[2]
            j = op[4]
    return 0


def show_rows(object a, object b, object rows, object pairs, object a_edges, object a_bounds, object b_edges,
              object b_bounds, object ops, object op_bounds, /, bint backslash, bint surrogates, bint marks):
    """Return the displayed text of rows, with the spans of changed words in displayed characters.

    Parameters
    ----------
    a, b : bytes-like
        The texts of the two sides.
    rows : int32 buffer, shape (6 * n,)
        ``op, baseline, candidate, pair, start, end`` as :func:`hunks.layout` makes them; op 0 unchanged, 1 removed, 2 added,
        3 the marked line of a pair.
    pairs : int32 buffer, shape (4 * k,)
        Byte ranges of the pairs the rows name.
    a_edges, a_bounds, b_edges, b_bounds : int32 buffers
        Tokens of the pairs, from :func:`word_split.split_pairs`; a pair without tokens gets one span per side.
    ops, op_bounds : int32 buffers
        Blocks over those tokens, from :func:`myers.walk_many` or :func:`gestalt.match_many`.
    backslash, surrogates : bool
        As for :func:`escape_text`.
    marks : bool
        Whether rows with op 3 get their text; without, it is empty.

    Returns
    -------
    text : bytes
        All rows' displayed text, UTF-8, one after the other.
    text_bounds : array.array of int32, shape (n + 1,)
        Where each row's text starts, in bytes.
    spans : array.array of int32, shape (2 * s,)
        ``start, end`` in characters of the row's displayed text.
    span_bounds : array.array of int32, shape (n + 1,)
        Spans of row r are ``span_bounds[r] : span_bounds[r + 1]`` (in pairs of numbers).

    Raises
    ------
    ValueError
        If an index does not fit what it indexes.
    OverflowError
        If the text of all rows passes 2147483647 bytes.
    MemoryError

    Notes
    -----
    Linear in the bytes of the rows' lines. Source: textdiff §8.1 to §8.4.
    """
    cdef Py_buffer[10] views
    cdef View v
    cdef Ints text_bounds, span_bounds, raw
    cdef const int32_t *row
    cdef Py_ssize_t count, pair_count, k, _
    cdef int held = 0
    cdef bint overflow = False
    octets_init(&v.text)
    octets_init(&v.marked)
    ints_init(&v.spans)
    ints_init(&text_bounds)
    ints_init(&span_bounds)
    ints_init(&raw)
    try:
        for source in (a, b):
            acquire_bytes(source, &views[held])
            held += 1
        for source in (rows, pairs, a_edges, a_bounds, b_edges, b_bounds, ops, op_bounds):
            acquire_ints(source, &views[held])
            held += 1
        v.a = <const uint8_t *> views[0].buf
        v.b = <const uint8_t *> views[1].buf
        v.pairs = <const int32_t *> views[3].buf
        v.a_edges = <const int32_t *> views[4].buf
        v.a_bounds = <const int32_t *> views[5].buf
        v.b_edges = <const int32_t *> views[6].buf
        v.b_bounds = <const int32_t *> views[7].buf
        v.ops = <const int32_t *> views[8].buf
        v.op_bounds = <const int32_t *> views[9].buf
        v.backslash = backslash
        v.surrogates = surrogates
        if views[2].len % (4 * ROW) or views[3].len % (4 * PAIR) or views[8].len % 20:
            raise ValueError("rows need six numbers each, pairs four, blocks five")
        count = views[2].len // (4 * ROW)
        pair_count = views[3].len // (4 * PAIR)
        for k in (5, 7, 9):
            if views[k].len // 4 != pair_count + 1:
                raise ValueError("bounds need one entry per pair and one more")
        row = <const int32_t *> views[2].buf
        check_rows(row, count, views[0].len, views[1].len, v.pairs, pair_count)
        for k in range(pair_count):
            if not (0 <= v.pairs[4 * k] <= v.pairs[4 * k + 1] <= views[0].len
                    and 0 <= v.pairs[4 * k + 2] <= v.pairs[4 * k + 3] <= views[1].len):
                raise ValueError("a pair reaches outside its text")
        check_tokens(v.a_edges, views[4].len // 4, v.a_bounds, pair_count, views[0].len)
        check_tokens(v.b_edges, views[6].len // 4, v.b_bounds, pair_count, views[1].len)
        check_ops(&v, views[8].len // 20, pair_count)
        with nogil:
            ints_push(&text_bounds, 0)
            ints_push(&span_bounds, 0)
            for _ in range(count):
                show_row(&v, row, marks, &raw)
                if v.text.size > 2147483647:
                    overflow = True
                    break
                ints_push(&text_bounds, <int32_t> v.text.size)
                ints_push(&span_bounds, <int32_t> (v.spans.size // 2))
                row += ROW
        if overflow:
            raise OverflowError("the shown rows have more than 2147483647 bytes; lower max_lines")
        if (v.text.failed or v.marked.failed or v.spans.failed or text_bounds.failed or span_bounds.failed
                or raw.failed):
            raise MemoryError
        return (
            PyBytes_FromStringAndSize(<const char *> v.text.items, v.text.size),
            ints_to_array(INT32, text_bounds.items, text_bounds.size),
            ints_to_array(INT32, v.spans.items, v.spans.size),
            ints_to_array(INT32, span_bounds.items, span_bounds.size),
        )
    finally:
        octets_free(&v.text)
        octets_free(&v.marked)
        ints_free(&v.spans)
        ints_free(&text_bounds)
        ints_free(&span_bounds)
        ints_free(&raw)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])
