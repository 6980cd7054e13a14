"""Two byte strings to what is shown of their difference. The heart.

The pipeline works on bytes and arrays from end to end: line index, ids, edit script, layout, words, displayed
text. Python objects are made for the rows that are asked for, and only then.
"""

from __future__ import annotations

from array import array

from stratadiff._kernels import hunks as _hunks
from stratadiff._kernels import myers
from stratadiff._kernels.escape import show_rows
from stratadiff._kernels.word_split import split_pairs
from stratadiff.core import jsontext
from stratadiff.core.linediff import check_algorithm, diff_lines
from stratadiff.core.lines import Lines
from stratadiff.errors import UsageError
from stratadiff.limits import (
    DEFAULT_CONTEXT,
    DEFAULT_MAX_LINES,
    MAX_CHANGED_LINES,
    MAX_DIFF_BYTES,
    MAX_PAIR_CHARS,
    MAX_PAIR_WORDS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Blocks = tuple[array[int], array[int]]
    Tokens = tuple[array[int], array[int], array[int], array[int], array[int], array[int]]

_UNLIMITED = 2**31 - 1
_OPS = " -+~"
# Tokens of long pairs are made for this many bytes of lines at a time, so that memory stays bounded.
_LONG_PAIR_BATCH = 1 << 20


class Line:
    """One shown line of a hunk.

    Attributes
    ----------
    op : str
        ``" "`` unchanged, ``"-"`` removed, ``"+"`` added.
    baseline, candidate : int or None
        The line's number from 1 on each side, None on the side it is not on.
    text : str
        The line as displayed: escaped, and windowed if it is long.
    spans : tuple of (int, int)
        Changed words as ``[start, end)`` in characters of `text`.
    """

    __slots__ = ("baseline", "candidate", "op", "spans", "text")

    def __init__(
        self,
        op: str,
        baseline: int | None,
        candidate: int | None,
        text: str,
        spans: tuple[tuple[int, int], ...],
    ) -> None:
        self.op = op
        self.baseline = baseline
        self.candidate = candidate
        self.text = text
        self.spans = spans

    def __repr__(self) -> str:
        return f"Line({self.op!r}, {self.baseline}, {self.candidate}, {self.text!r}, {self.spans!r})"


class Hunk:
    """A group of changes with the unchanged lines around them.

    Attributes
    ----------
    baseline_start, baseline_lines, candidate_start, candidate_lines : int
        First line from 1, and how many lines the hunk spans on each side.
    lines : tuple of Line
    note : str or None
    """

    __slots__ = ("baseline_lines", "baseline_start", "candidate_lines", "candidate_start", "lines", "note")

    def __init__(
        self,
        baseline_start: int,
        baseline_lines: int,
        candidate_start: int,
        candidate_lines: int,
        lines: tuple[Line, ...],
        note: str | None,
    ) -> None:
        self.baseline_start = baseline_start
        self.baseline_lines = baseline_lines
        self.candidate_start = candidate_start
        self.candidate_lines = candidate_lines
        self.lines = lines
        self.note = note

    def __repr__(self) -> str:
        return (
            f"Hunk(-{self.baseline_start},{self.baseline_lines} "
            f"+{self.candidate_start},{self.candidate_lines}, {len(self.lines)} lines)"
        )


class _Layout:
    # What the kernels need to draw the kept rows; lives as long as its TextDiff.
    __slots__ = ("a", "b", "blocks", "hunks", "json_mode", "pairs", "rows", "shown", "tokens")

    def __init__(
        self,
        a: bytes,
        b: bytes,
        hunks: array[int],
        rows: array[int],
        pairs: array[int],
        tokens: Tokens,
        blocks: Blocks,
        json_mode: bool,
    ) -> None:
        self.a = a
        self.b = b
        self.hunks = hunks
        self.rows = rows
        self.pairs = pairs
        self.tokens = tokens
        self.blocks = blocks
        self.json_mode = json_mode
        self.shown: tuple[bytes, array[int], array[int], array[int]] | None = None

    def show(self, marks: bool) -> tuple[bytes, array[int], array[int], array[int]]:
        # Displayed text of the rows. The one with ~ lines serves both forms.
        if self.shown is None or marks:
            a_edges, _, a_bounds, b_edges, _, b_bounds = self.tokens
            self.shown = show_rows(
                self.a,
                self.b,
                self.rows,
                self.pairs,
                a_edges,
                a_bounds,
                b_edges,
                b_bounds,
                self.blocks[0],
                self.blocks[1],
                not self.json_mode,
                self.json_mode,
                marks,
            )
        return self.shown


def _note_text(n: int, m: int) -> str:
    return f"no line could anchor this block of {n} against {m} lines; it is shown whole, removed then added"


class TextDiff:
    """What is shown of the difference of two texts.

    Attributes
    ----------
    kind : str
        ``text``, ``binary`` or ``not diffed``.
    notes : list of str
        What the lines hide, or why there are none.
    more_lines : int or None
        Lines that ``max_lines`` cut off, None if it cut none.
    """

    __slots__ = ("_hunks", "_layout", "kind", "more_lines", "notes")

    def __init__(
        self, kind: str, notes: list[str], layout: _Layout | None = None, more_lines: int | None = None
    ) -> None:
        self.kind = kind
        self.notes = notes
        self.more_lines = more_lines
        self._layout = layout
        self._hunks: tuple[Hunk, ...] | None = None

    def __repr__(self) -> str:
        return f"TextDiff(kind={self.kind!r}, notes={self.notes!r}, hunks={len(self.hunks)})"

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """The line diff, made when first asked for."""
        if self._hunks is None:
            self._hunks = tuple(self._make_hunks())
        return self._hunks

    def _make_hunks(self) -> Iterator[Hunk]:
        layout = self._layout
        if layout is None:
            return
        text, bounds, spans, span_bounds = layout.show(marks=False)
        rows, table = layout.rows, layout.hunks
        for h in range(0, len(table), 9):
            lines = []
            for r in range(table[h + 4], table[h + 5]):
                op, i, j = rows[6 * r : 6 * r + 3]
                if op == 3:
                    continue
                lines.append(
                    Line(
                        _OPS[op],
                        i + 1 if i >= 0 else None,
                        j + 1 if j >= 0 else None,
                        text[bounds[r] : bounds[r + 1]].decode(),
                        tuple(
                            (spans[2 * k], spans[2 * k + 1])
                            for k in range(span_bounds[r], span_bounds[r + 1])
                        ),
                    )
                )
            if lines:
                note = _note_text(table[h + 6], table[h + 7]) if table[h + 8] & 2 else None
                yield Hunk(table[h], table[h + 1], table[h + 2], table[h + 3], tuple(lines), note)

    def plain_lines(self) -> list[str]:
        """Return the lines of the plain form: hunks, marked lines, notes, and what was cut.

        Source: textdiff §10.1, §10.2.
        """
        result = []
        layout = self._layout
        if layout is not None:
            text, bounds, _, _ = layout.show(marks=True)
            rows, table = layout.rows, layout.hunks
            prefixes = ("  ", "- ", "+ ", "~ ")
            for h in range(0, len(table), 9):
                if table[h + 8] & 1:
                    result.append("…")
                if table[h + 8] & 2:
                    result.append(_note_text(table[h + 6], table[h + 7]))
                result.extend(
                    prefixes[rows[6 * r]] + text[bounds[r] : bounds[r + 1]].decode()
                    for r in range(table[h + 4], table[h + 5])
                )
        result.extend(self.notes)
        if self.more_lines is not None:
            result.append(f"… {self.more_lines} more lines (use --max-lines)")
        return result

    def hunks_json(self) -> bytes:
        """Return the canonical JSON of the document's ``hunks`` member; no Python object is made per line."""
        layout = self._layout
        if layout is None:
            return b"[]"
        return _hunks.hunks_json(layout.hunks, layout.rows, *layout.show(marks=False))

    def members(self) -> dict[str, Any]:
        """Return the members this difference has in a document.

        ``kind``, ``notes``, ``hunks``, and ``truncated`` if it was cut.
        """
        result: dict[str, Any] = {"kind": self.kind, "notes": list(self.notes), "hunks": []}
        for hunk in self.hunks:
            member: dict[str, Any] = {
                "baseline": {"start": str(hunk.baseline_start), "lines": str(hunk.baseline_lines)},
                "candidate": {"start": str(hunk.candidate_start), "lines": str(hunk.candidate_lines)},
                "lines": [
                    {
                        "op": line.op,
                        "baseline": None if line.baseline is None else str(line.baseline),
                        "candidate": None if line.candidate is None else str(line.candidate),
                        "text": line.text,
                        "spans": [[str(start), str(end)] for start, end in line.spans],
                    }
                    for line in hunk.lines
                ],
            }
            if hunk.note is not None:
                member["note"] = hunk.note
            result["hunks"].append(member)
        if self.more_lines is not None:
            result["truncated"] = {"more_lines": str(self.more_lines)}
        return result


def _match_words(algorithm: str, tokens: Tokens) -> Blocks:
    _, a_ids, a_bounds, _, b_ids, b_bounds = tokens
    if algorithm == "gestalt":
        from stratadiff._kernels import gestalt

        return gestalt.match_many(a_ids, a_bounds, b_ids, b_bounds)
    return myers.walk_many(a_ids, a_bounds, b_ids, b_bounds)


def _decide_long_pairs(a: bytes, b: bytes, pairs: array[int], algorithm: str, json_mode: bool) -> array[int]:
    # Which long pairs get a ~ line: it counts as a line even where it is not shown.
    flags = array("i")
    first = size = 0
    for k in range(0, len(pairs), 4):
        size += pairs[k + 1] - pairs[k] + pairs[k + 3] - pairs[k + 2]
        if size < _LONG_PAIR_BATCH and k + 4 < len(pairs):
            continue
        tokens = split_pairs(a, b, pairs[first : k + 4], json_mode, MAX_PAIR_CHARS, MAX_PAIR_WORDS)
        blocks = _match_words(algorithm, tokens)
        flags.extend(
            _hunks.marked_pairs(
                a, tokens[0], tokens[2], b, tokens[3], tokens[5], blocks[0], blocks[1], json_mode
            )
        )
        first, size = k + 4, 0
    return flags


_NO_INTS = array("i")
_NO_BOUNDS = array("i", [0])
_NO_TOKENS = (_NO_INTS, _NO_INTS, _NO_BOUNDS, _NO_INTS, _NO_INTS, _NO_BOUNDS)
_NO_BLOCKS = (_NO_INTS, _NO_BOUNDS)


def diff_texts(
    a: bytes, b: bytes, *, json_mode: bool, algorithm: str, context: int, max_lines: int | None
) -> TextDiff:
    """Return the line diff of two texts.

    Parameters
    ----------
    a, b : bytes
        Text, UTF-8 where it can be decoded; or, with `json_mode`, canonical pretty forms of JSON.
    json_mode : bool
        Backslashes are shown as they are, and three-byte surrogates are characters.
    algorithm : {"myers", "gestalt"}
    context : int
    max_lines : int or None
        None: nothing is cut.

    Returns
    -------
    TextDiff
    """
    left, right = Lines(a), Lines(b)
    strip_left, strip_right = left.crlf_count > 0, right.crlf_count > 0
    script = diff_lines(
        left, right, algorithm=algorithm, context=context, max_changed_lines=MAX_CHANGED_LINES
    )
    ops = script.ops
    if ops is None:
        return TextDiff(
            "not diffed",
            [f"too many changed lines to diff ({script.middle_count}); use --stage and --max-lines"],
        )
    flags = _NO_INTS
    long_pairs = _hunks.long_pairs(ops, a, left.starts, strip_left, b, right.starts, strip_right)
    if long_pairs:
        flags = _decide_long_pairs(a, b, long_pairs, algorithm, json_mode)
    limit = _UNLIMITED if max_lines is None else max_lines
    hunks, rows, pairs, total = _hunks.layout(
        ops,
        a,
        left.starts,
        strip_left,
        script.a_ids,
        b,
        right.starts,
        strip_right,
        script.b_ids,
        flags,
        min(context, _UNLIMITED),
        min(limit, _UNLIMITED),
    )
    notes = []
    if left.has_final_newline != right.has_final_newline:
        notes.append("final newline removed" if left.has_final_newline else "final newline added")
    if left.endings != right.endings:
        notes.append(f"line endings {left.endings} -> {right.endings}")
    if not hunks:
        if notes:
            notes[0] = f"whitespace-only change: {notes[0]}"
        else:
            notes.append("the bytes differ, but not in any line shown")
    more_lines = None
    if total + len(notes) > limit:
        more_lines = total + len(notes) - limit
        del notes[max(0, limit - total) :]
    if not hunks:
        return TextDiff("text", notes, None, more_lines)
    tokens: Tokens = _NO_TOKENS
    blocks: Blocks = _NO_BLOCKS
    if pairs:
        tokens = split_pairs(a, b, pairs, json_mode, MAX_PAIR_CHARS, MAX_PAIR_WORDS)
        blocks = _match_words(algorithm, tokens)
    return TextDiff("text", notes, _Layout(a, b, hunks, rows, pairs, tokens, blocks, json_mode), more_lines)


def check_options(algorithm: str, context: int, max_lines: int | None) -> None:
    """Raise :class:`~stratadiff.errors.UsageError` for options no line diff takes."""
    check_algorithm(algorithm)
    if context < 0:
        raise UsageError("context must be 0 or more")
    if max_lines is not None and max_lines < 1:
        raise UsageError("max_lines must be at least 1")


def text_diff(
    a: bytes,
    b: bytes,
    *,
    media_type: str = "text/plain",
    algorithm: str = "myers",
    context: int = DEFAULT_CONTEXT,
    max_lines: int | None = DEFAULT_MAX_LINES,
) -> TextDiff:
    r"""Return what is shown of the difference of two byte strings.

    Parameters
    ----------
    a, b : bytes
        Baseline and candidate.
    media_type : str, default "text/plain"
        ``application/json`` is compared by its canonical lines where both sides parse strictly, ``text/…`` by
        its lines, and everything else is binary. Compared exactly: parameters make another type.
    algorithm : {"myers", "gestalt"}, default "myers"
        The minimal, unique line diff, or the one that agrees with the published tools byte for byte.
    context : int, default 3
        Unchanged lines around each change.
    max_lines : int or None, default 200
        Lines kept, as the plain form counts them; None keeps all.

    Returns
    -------
    TextDiff

    Raises
    ------
    UsageError
        If an option is out of range or the algorithm unknown.

    Notes
    -----
    Texts over 5,000,000 bytes and more than 200,000 changed lines are *not diffed*; see
    :mod:`stratadiff.limits`. Time is linear in the bytes plus the line diff, see
    :func:`stratadiff.edit_script`. Source: textdiff §5.2 to §10.

    Examples
    --------
    >>> import stratadiff
    >>> diff = stratadiff.text_diff(b"red\ngreen\n", b"red\ngreen tea\n")
    >>> print("\n".join(diff.plain_lines()))
      red
    - green
    + green tea
    ~ green{+ tea+}
    >>> diff.hunks[0].lines[2].spans
    ((5, 9),)
    """
    check_options(algorithm, context, max_lines)
    verdict = settle_without_lines(a, b, media_type)
    if verdict is not None:
        return verdict
    if media_type == "application/json":
        forms = jsontext.canonical_pair(a, b)
        if forms is not None:
            return diff_json_lines(*forms, algorithm=algorithm, context=context, max_lines=max_lines)
    return diff_texts(a, b, json_mode=False, algorithm=algorithm, context=context, max_lines=max_lines)


def settle_without_lines(a: bytes, b: bytes, media_type: str) -> TextDiff | None:
    """Return the difference where media type, size or equality settles it, else None.

    Source: textdiff §5.2, steps 1 to 3.
    """
    if media_type != "application/json" and not media_type.startswith("text/"):
        return TextDiff("binary", ["binary: sizes and digests differ; not shown"])
    too_large = settle_by_size(max(len(a), len(b)))
    if too_large is not None:
        return too_large
    if a == b:
        return TextDiff("text", ["no difference"])
    return None


def settle_by_size(larger: int) -> TextDiff | None:
    """Return the difference of two texts that are not equal where the size of the larger settles it."""
    if larger <= MAX_DIFF_BYTES:
        return None
    return TextDiff(
        "not diffed", [f"too large to diff ({larger / 1_000_000:.1f} MB); use --stage and --max-lines"]
    )


def diff_json_lines(
    left: bytes, right: bytes, *, algorithm: str, context: int, max_lines: int | None
) -> TextDiff:
    """Return the line diff of two canonical pretty forms *(textdiff §5.2, step 4)*."""
    if left == right:
        return TextDiff("text", ["no difference after canonical key order; the bytes differ in layout only"])
    return diff_texts(left, right, json_mode=True, algorithm=algorithm, context=context, max_lines=max_lines)
