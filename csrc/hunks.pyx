"""From an edit script to hunks and shown rows, and from those to the canonical JSON of hunks (textdiff §9.1, §10)."""

from cpython.array cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize

from buffers cimport (
    Ints, Octets, PyBuffer_Release, Py_buffer, acquire_bytes, acquire_ints, check_bounds, free, int32_t, int64_t,
    ints_free, ints_init, ints_push, ints_reserve, ints_to_array, octets_free, octets_init, octets_reserve, uint8_t,
)
from hunks_json cimport HUNK, ROW, put_json
from libc.stdlib cimport calloc

cdef extern from "utf8.h" nogil:
    int32_t count_units(const uint8_t *p, const uint8_t *end, int surrogates)

cdef array INT32 = array("i")

cdef enum:
    EQUAL = 0
    DELETE = 1
    INSERT = 2
    REPLACE = 3
    # A pair whose two lines together have no more bytes than this always gets its ~ line (textdiff §15).
    SURELY_MARKED = 1952
    # The ~ line is drawn when its first change, with its marks and the lead of the window, fits into the window.
    MARK_LIMIT = 1960


cdef struct Side:
    const uint8_t *text
    Py_ssize_t size
    const int32_t *starts
    int32_t count
    bint strip_cr


cdef inline int32_t line_end(const Side *side, int32_t i) noexcept nogil:
    cdef int32_t start = side.starts[i], end = side.starts[i + 1] - 1
    if side.strip_cr and end > start and side.text[end - 1] == 13:
        end -= 1
    return end


cdef inline int32_t line_size(const Side *side, int32_t i) noexcept nogil:
    return line_end(side, i) - side.starts[i]


cdef int check_side(Side *side, Py_buffer *text, Py_buffer *starts, bint strip_cr) except -1:
    cdef Py_ssize_t k, entries = starts.len // 4
    side.text = <const uint8_t *> text.buf
    side.size = text.len
    side.starts = <const int32_t *> starts.buf
    side.strip_cr = strip_cr
    if entries < 1:
        raise ValueError("line starts need at least one entry")
    if side.starts[0] < 0 or side.starts[entries - 1] > text.len + 1:
        raise ValueError("line starts reach outside the text")
    for k in range(1, entries):
        if side.starts[k] <= side.starts[k - 1]:
            raise ValueError("line starts must increase")
    side.count = <int32_t> (entries - 1)
    return 0


cdef Py_ssize_t check_script(Py_buffer *view, int32_t n, int32_t m) except -1:
    # Blocks may start after the first line (a trimmed head); they touch each other and stay inside. Returns their number.
    cdef Py_ssize_t k, count = view.len // 20
    cdef const int32_t *op = <const int32_t *> view.buf
    if view.len % 20:
        raise ValueError("a block of an edit script has five numbers")
    for k in range(count):
        if not (0 <= op[0] <= 3 and 0 <= op[1] <= op[2] <= n and 0 <= op[3] <= op[4] <= m):
            raise ValueError("a block of the edit script reaches outside the lines")
        if k and (op[1] != (op - 3)[0] or op[3] != (op - 1)[0]):
            raise ValueError("the blocks of an edit script must touch")
        if op[0] == EQUAL and op[2] - op[1] != op[4] - op[3]:
            raise ValueError("an equal block has as many lines on both sides")
        op += 5
    return count


def long_pairs(object ops, object a, object a_starts, bint a_strip_cr, object b, object b_starts, bint b_strip_cr, /):
    """Return the changed line pairs for which it takes a word diff to know whether they get a ``~`` line.

    Parameters
    ----------
    ops : int32 buffer, shape (5 * k,)
        The edit script.
    a, a_starts, a_strip_cr, b, b_starts, b_strip_cr
        The lines of both sides, as for :func:`intern.intern_lines`.

    Returns
    -------
    array.array of int32, shape (4 * pairs,)
        Byte ranges ``a_start, a_end, b_start, b_end`` of every pair of a same-size replace block with more than 1952 bytes,
        in order.

    Raises
    ------
    ValueError, MemoryError
    """
    cdef Py_buffer[5] views
    cdef Side left, right
    cdef Ints out
    cdef const int32_t *op
    cdef Py_ssize_t count, _
    cdef int32_t t, i, j
    cdef int held = 0
    ints_init(&out)
    try:
        for source in (a, b):
            acquire_bytes(source, &views[held])
            held += 1
        for source in (a_starts, b_starts, ops):
            acquire_ints(source, &views[held])
            held += 1
        check_side(&left, &views[0], &views[2], a_strip_cr)
        check_side(&right, &views[1], &views[3], b_strip_cr)
        count = check_script(&views[4], left.count, right.count)
        op = <const int32_t *> views[4].buf
        with nogil:
            for _ in range(count):
                if op[0] == REPLACE and op[2] - op[1] == op[4] - op[3]:
                    for t in range(op[2] - op[1]):
                        i = op[1] + t
                        j = op[3] + t
                        if <int64_t> line_size(&left, i) + line_size(&right, j) > SURELY_MARKED:
                            ints_push(&out, left.starts[i])
                            ints_push(&out, line_end(&left, i))
                            ints_push(&out, right.starts[j])
                            ints_push(&out, line_end(&right, j))
                op += 5
        if out.failed:
            raise MemoryError
        return ints_to_array(INT32, out.items, out.size)
    finally:
        ints_free(&out)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])


def marked_pairs(object a, object a_edges, object a_bounds, object b, object b_edges, object b_bounds, object ops,
                 object op_bounds, bint surrogates, /):
    """Return which pairs get a ``~`` line: those whose first change fits into the window (textdiff §8.4).

    Parameters
    ----------
    a, b : bytes-like
        The texts of the two sides.
    a_edges, a_bounds, b_edges, b_bounds : int32 buffers
        Tokens from :func:`word_split.split_pairs`; a pair without tokens is too long and gets none.
    ops, op_bounds : int32 buffers
        Blocks over those tokens.
    surrogates : bool
        As for :func:`escape.escape_text`.

    Returns
    -------
    array.array of int32, shape (pairs,)
        1 or 0 per pair.

    Raises
    ------
    ValueError, MemoryError
    """
    cdef Py_buffer[8] views
    cdef const uint8_t *left
    cdef const uint8_t *right
    cdef const int32_t *x
    cdef const int32_t *y
    cdef const int32_t *x_bounds
    cdef const int32_t *y_bounds
    cdef const int32_t *op
    cdef const int32_t *bounds
    cdef Ints out
    cdef Py_ssize_t pairs, p, k
    cdef int64_t size
    cdef int held = 0
    ints_init(&out)
    try:
        for source in (a, b):
            acquire_bytes(source, &views[held])
            held += 1
        for source in (a_edges, a_bounds, b_edges, b_bounds, ops, op_bounds):
            acquire_ints(source, &views[held])
            held += 1
        left = <const uint8_t *> views[0].buf
        right = <const uint8_t *> views[1].buf
        x = <const int32_t *> views[2].buf
        x_bounds = <const int32_t *> views[3].buf
        y = <const int32_t *> views[4].buf
        y_bounds = <const int32_t *> views[5].buf
        bounds = <const int32_t *> views[7].buf
        pairs = views[3].len // 4 - 1
        if views[5].len // 4 - 1 != pairs or views[7].len // 4 - 1 != pairs:
            raise ValueError("bounds need one entry per pair and one more")
        check_bounds(x_bounds, pairs + 1, views[2].len // 4 - pairs)
        check_bounds(y_bounds, pairs + 1, views[4].len // 4 - pairs)
        check_bounds(bounds, pairs + 1, views[6].len // 20)
        for k in range(views[2].len // 4):
            if not 0 <= x[k] <= views[0].len:
                raise ValueError("a token edge reaches outside its text")
        for k in range(views[4].len // 4):
            if not 0 <= y[k] <= views[1].len:
                raise ValueError("a token edge reaches outside its text")
        for p in range(pairs):
            # The first block that is not equal decides; 4 characters of marks go with each of its sides.
            size = MARK_LIMIT + 1
            for k in range(bounds[p], bounds[p + 1]):
                op = <const int32_t *> views[6].buf + 5 * k
                if op[0] == EQUAL:
                    continue
                if not (0 <= op[1] <= op[2] <= x_bounds[p + 1] - x_bounds[p]
                        and 0 <= op[3] <= op[4] <= y_bounds[p + 1] - y_bounds[p]):
                    raise ValueError("a block reaches outside its tokens")
                size = 0
                if op[2] > op[1]:
                    size += 4 + count_units(left + x[x_bounds[p] + p + op[1]], left + x[x_bounds[p] + p + op[2]], surrogates)
                if op[4] > op[3]:
                    size += 4 + count_units(right + y[y_bounds[p] + p + op[3]], right + y[y_bounds[p] + p + op[4]],
                                            surrogates)
                break
            ints_push(&out, size <= MARK_LIMIT)
        if out.failed:
            raise MemoryError
        return ints_to_array(INT32, out.items, out.size)
    finally:
        ints_free(&out)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])


# ---------------------------------------------------------------------------------------------------------------------
# Layout


cdef struct Layout:
    Side a
    Side b
    const int32_t *a_ids
    const int32_t *b_ids
    int32_t *seen           # by id: number of the block whose baseline side holds it
    int32_t id_count
    int32_t blocks
    const int32_t *flags    # decisions for long pairs, in order
    int32_t flag_count
    int32_t flag_at
    int64_t limit           # lines kept
    int64_t total           # lines met
    Ints hunks
    Ints rows
    Ints pairs


cdef inline bint keeps(Layout *s) noexcept nogil:
    # Counts one line; says whether it is kept.
    s.total += 1
    return s.total <= s.limit


cdef void put_row(Layout *s, int32_t op, int32_t i, int32_t j, int32_t pair) noexcept nogil:
    cdef const Side *side = &s.b if op == INSERT else &s.a
    cdef int32_t line = j if op == INSERT else i
    if not ints_reserve(&s.rows, ROW):
        return
    s.rows.items[s.rows.size] = op
    s.rows.items[s.rows.size + 1] = i
    s.rows.items[s.rows.size + 2] = j
    s.rows.items[s.rows.size + 3] = pair
    s.rows.items[s.rows.size + 4] = 0 if op == 3 else side.starts[line]
    s.rows.items[s.rows.size + 5] = 0 if op == 3 else line_end(side, line)
    s.rows.size += ROW


cdef void put_block(Layout *s, int32_t op, int32_t i, int32_t j, int32_t count) noexcept nogil:
    # Rows of one kind, one after the other; those past the limit are only counted.
    cdef int64_t room = s.limit - s.total
    cdef int32_t t, shown = count
    if room < shown:
        shown = <int32_t> (room if room > 0 else 0)
    for t in range(shown):
        put_row(s, op, i + t if op != INSERT else -1, j + t if op != DELETE else -1, -1)
    s.total += count


cdef void put_pairs(Layout *s, int32_t i, int32_t j, int32_t count) noexcept nogil:
    cdef int32_t t, pair
    cdef bint marked
    for t in range(count):
        marked = True
        if <int64_t> line_size(&s.a, i + t) + line_size(&s.b, j + t) > SURELY_MARKED:
            marked = s.flag_at < s.flag_count and s.flags[s.flag_at] != 0
            s.flag_at += 1
        if s.total >= s.limit:
            s.total += 3 if marked else 2
            continue
        pair = <int32_t> (s.pairs.size // 4)
        ints_push(&s.pairs, s.a.starts[i + t])
        ints_push(&s.pairs, line_end(&s.a, i + t))
        ints_push(&s.pairs, s.b.starts[j + t])
        ints_push(&s.pairs, line_end(&s.b, j + t))
        if keeps(s):
            put_row(s, DELETE, i + t, -1, pair)
        if keeps(s):
            put_row(s, INSERT, -1, j + t, pair)
        if marked and keeps(s):
            put_row(s, 3, i + t, j + t, pair)


cdef bint share_a_line(Layout *s, const int32_t *op) noexcept nogil:
    cdef int32_t k
    s.blocks += 1
    for k in range(op[1], op[2]):
        s.seen[s.a_ids[k]] = s.blocks
    for k in range(op[3], op[4]):
        if s.seen[s.b_ids[k]] == s.blocks:
            return True
    return False


cdef void put_hunk(Layout *s, const int32_t *group, Py_ssize_t count) noexcept nogil:
    # One hunk from its blocks, a row of `hunks` with it: ranges, rows, the note's two sizes (or -1), and what was kept of
    # its separator (1) and note (2).
    cdef const int32_t *op = group
    cdef const int32_t *last = group + 5 * (count - 1)
    cdef Py_ssize_t _, at
    cdef int32_t note_n = -1, note_m = -1, kept = 0
    for _ in range(count):
        if op[0] == REPLACE and op[2] - op[1] != op[4] - op[3] and share_a_line(s, op):
            note_n = op[2] - op[1]
            note_m = op[4] - op[3]
        op += 5
    if s.hunks.size and keeps(s):
        kept |= 1
    if note_n >= 0 and keeps(s):
        kept |= 2
    at = s.rows.size // ROW
    op = group
    for _ in range(count):
        if op[0] == EQUAL:
            put_block(s, EQUAL, op[1], op[3], op[2] - op[1])
        elif op[0] == REPLACE and op[2] - op[1] == op[4] - op[3]:
            put_pairs(s, op[1], op[3], op[2] - op[1])
        else:
            put_block(s, DELETE, op[1], op[3], op[2] - op[1])
            put_block(s, INSERT, op[1], op[3], op[4] - op[3])
        op += 5
    if not ints_reserve(&s.hunks, HUNK):
        return
    s.hunks.items[s.hunks.size] = group[1] + 1
    s.hunks.items[s.hunks.size + 1] = last[2] - group[1]
    s.hunks.items[s.hunks.size + 2] = group[3] + 1
    s.hunks.items[s.hunks.size + 3] = last[4] - group[3]
    s.hunks.items[s.hunks.size + 4] = <int32_t> at
    s.hunks.items[s.hunks.size + 5] = <int32_t> (s.rows.size // ROW)
    s.hunks.items[s.hunks.size + 6] = note_n
    s.hunks.items[s.hunks.size + 7] = note_m
    s.hunks.items[s.hunks.size + 8] = kept
    s.hunks.size += HUNK


cdef void push_block(Ints *group, int32_t tag, int32_t i1, int32_t i2, int32_t j1, int32_t j2) noexcept nogil:
    ints_push(group, tag)
    ints_push(group, i1)
    ints_push(group, i2)
    ints_push(group, j1)
    ints_push(group, j2)


cdef void group_blocks(Layout *s, const int32_t *ops, Py_ssize_t count, int32_t context) noexcept nogil:
    # Hunks as §9.1 forms them: equal blocks longer than twice the context separate groups.
    cdef Ints group
    cdef Py_ssize_t k
    cdef int32_t tag, i1, i2, j1, j2, size
    ints_init(&group)
    for k in range(count):
        tag = ops[5 * k]
        i1 = ops[5 * k + 1]
        i2 = ops[5 * k + 2]
        j1 = ops[5 * k + 3]
        j2 = ops[5 * k + 4]
        if tag == EQUAL:
            if k == 0 and i2 - i1 > context:
                i1 = i2 - context
                j1 = j2 - context
            if k == count - 1 and i2 - i1 > context:
                i2 = i1 + context
                j2 = j1 + context
            size = i2 - i1
            if <int64_t> size > 2 * <int64_t> context:
                push_block(&group, EQUAL, i1, i1 + context, j1, j1 + context)
                if group.size > 5 and not group.failed:
                    put_hunk(s, group.items, group.size // 5)
                group.size = 0
                i1 = i2 - context
                j1 = j2 - context
        push_block(&group, tag, i1, i2, j1, j2)
    if (group.size > 5 or (group.size == 5 and group.items[0] != EQUAL)) and not group.failed:
        put_hunk(s, group.items, group.size // 5)
    if group.failed:
        s.rows.failed = True
    ints_free(&group)


def layout(object ops, object a, object a_starts, bint a_strip_cr, object a_ids, object b, object b_starts,
           bint b_strip_cr, object b_ids, object flags, /, Py_ssize_t context, Py_ssize_t max_lines):
    """Lay an edit script out as hunks and shown rows.

    Parameters
    ----------
    ops : int32 buffer, shape (5 * k,)
        The edit script; it may start after common head lines and end before common tail lines.
    a, a_starts, a_strip_cr, b, b_starts, b_strip_cr
        The lines of both sides, as for :func:`intern.intern_lines`.
    a_ids, b_ids : int32 buffers, shapes (n,) and (m,)
        Their ids, not negative.
    flags : int32 buffer
        For every pair :func:`long_pairs` names, in order, whether it gets a ``~`` line.
    context : int
        Unchanged lines around each change.
    max_lines : int
        How many lines of the plain form are kept: separators, hunk notes and ``~`` lines count *(textdiff §10.2)*.

    Returns
    -------
    hunks : array.array of int32, shape (9 * h,)
        ``baseline start, lines, candidate start, lines, first row, last row + 1, note sizes n, m (or -1, -1), kept`` where bit
        1 of ``kept`` is the separator line before the hunk and bit 2 its note line.
    rows : array.array of int32, shape (6 * r,)
        The kept rows: ``op, baseline, candidate, pair, start, end`` with op 0 unchanged, 1 removed, 2 added, 3 marked; line
        numbers from 0 or -1; byte range of the line in its side.
    pairs : array.array of int32, shape (4 * p,)
        Byte ranges of the pairs the rows name.
    total : int
        Lines of the whole plain form, notes after the hunks not counted.

    Raises
    ------
    ValueError, MemoryError

    Notes
    -----
    Linear in changed and shown lines. Source: textdiff §9.1, §10.1, §10.2.
    """
    cdef Py_buffer[8] views
    cdef Layout s
    cdef const int32_t *script
    cdef Py_ssize_t count, k
    cdef int32_t top = -1, c
    cdef int held = 0
    if context < 0 or max_lines < 0:
        raise ValueError("context and max_lines must be 0 or more")
    c = <int32_t> min(context, 0x3FFFFFFF)
    s.seen = NULL
    ints_init(&s.hunks)
    ints_init(&s.rows)
    ints_init(&s.pairs)
    try:
        for source in (a, b):
            acquire_bytes(source, &views[held])
            held += 1
        for source in (a_starts, b_starts, ops, a_ids, b_ids, flags):
            acquire_ints(source, &views[held])
            held += 1
        check_side(&s.a, &views[0], &views[2], a_strip_cr)
        check_side(&s.b, &views[1], &views[3], b_strip_cr)
        count = check_script(&views[4], s.a.count, s.b.count)
        script = <const int32_t *> views[4].buf
        s.a_ids = <const int32_t *> views[5].buf
        s.b_ids = <const int32_t *> views[6].buf
        if views[5].len // 4 != s.a.count or views[6].len // 4 != s.b.count:
            raise ValueError("every line needs one id")
        for k in range(s.a.count):
            if s.a_ids[k] < 0:
                raise ValueError("ids must not be negative")
            top = s.a_ids[k] if s.a_ids[k] > top else top
        for k in range(s.b.count):
            if s.b_ids[k] < 0:
                raise ValueError("ids must not be negative")
            top = s.b_ids[k] if s.b_ids[k] > top else top
        s.flags = <const int32_t *> views[7].buf
        s.flag_count = <int32_t> (views[7].len // 4)
        s.flag_at = 0
        s.blocks = 0
        s.limit = max_lines
        s.total = 0
        s.seen = <int32_t *> calloc(<size_t> top + 2, sizeof(int32_t))
        if s.seen == NULL:
            raise MemoryError
        with nogil:
            group_blocks(&s, script, count, c)
        if s.flag_at != s.flag_count:
            raise ValueError("every long pair needs one flag")
        if s.hunks.failed or s.rows.failed or s.pairs.failed:
            raise MemoryError
        return (
            ints_to_array(INT32, s.hunks.items, s.hunks.size),
            ints_to_array(INT32, s.rows.items, s.rows.size),
            ints_to_array(INT32, s.pairs.items, s.pairs.size),
            s.total,
        )
    finally:
        free(s.seen)
        ints_free(&s.hunks)
        ints_free(&s.rows)
        ints_free(&s.pairs)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])


# ---------------------------------------------------------------------------------------------------------------------
# Canonical JSON of hunks


def hunks_json(object hunks, object rows, object text, object text_bounds, object spans, object span_bounds, /):
    """Return the canonical JSON of a document's ``hunks`` member.

    Parameters
    ----------
    hunks, rows : int32 buffers
        From :func:`layout`.
    text, text_bounds, spans, span_bounds
        From :func:`escape.show_rows`.

    Returns
    -------
    bytes
        A JSON array in the form of run-records §2: keys sorted, no white space, numbers as decimal strings.

    Raises
    ------
    ValueError, MemoryError
    """
    cdef Py_buffer[6] views
    cdef Octets out
    cdef Py_ssize_t row_count, hunk_count, _
    cdef const int32_t *hunk
    cdef const int32_t *row
    cdef int held = 0
    octets_init(&out)
    try:
        acquire_bytes(text, &views[0])
        held = 1
        for source in (hunks, rows, text_bounds, spans, span_bounds):
            acquire_ints(source, &views[held])
            held += 1
        if views[1].len % (4 * HUNK) or views[2].len % (4 * ROW):
            raise ValueError("hunks need nine numbers each, rows six")
        hunk_count = views[1].len // (4 * HUNK)
        row_count = views[2].len // (4 * ROW)
        if views[3].len // 4 != row_count + 1 or views[5].len // 4 != row_count + 1:
            raise ValueError("bounds need one entry per row and one more")
        check_bounds(<const int32_t *> views[3].buf, row_count + 1, views[0].len)
        check_bounds(<const int32_t *> views[5].buf, row_count + 1, views[4].len // 8)
        hunk = <const int32_t *> views[1].buf
        for _ in range(hunk_count):
            if not 0 <= hunk[4] <= hunk[5] <= row_count:
                raise ValueError("a hunk reaches outside the rows")
            hunk += HUNK
        row = <const int32_t *> views[2].buf
        for _ in range(row_count):
            if not 0 <= row[0] <= 3:
                raise ValueError("a row has an unknown op")
            row += ROW
        with nogil:
            octets_reserve(&out, views[0].len + 96 * row_count + 64)
            put_json(&out, <const int32_t *> views[1].buf, hunk_count, <const int32_t *> views[2].buf,
                     <const uint8_t *> views[0].buf, <const int32_t *> views[3].buf, <const int32_t *> views[4].buf,
                     <const int32_t *> views[5].buf)
        if out.failed:
            raise MemoryError
        return PyBytes_FromStringAndSize(<const char *> out.items, out.size)
    finally:
        octets_free(&out)
        while held:
            held -= 1
            PyBuffer_Release(&views[held])
