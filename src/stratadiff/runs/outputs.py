"""What an output is, and how its change is shown: chunk indexes and hits here, everything else in the core
(textdiff §§5, 7).

Both kinds are recognised by their parsed content alone. Their change is not a line diff but lines about
chunks or hits, which the format calls notes; the line diff of a chunk's own stored text stands among them,
indented.
"""

from __future__ import annotations

from stratadiff.core.canonical import can_carry
from stratadiff.core.digests import digest_bytes
from stratadiff.core.escape import escape_name, shown_text
from stratadiff.core.frozen import Frozen
from stratadiff.core.jsontext import canonical_pair, has_member_list, parse_lines
from stratadiff.core.textdiff import diff_json_lines, diff_texts, settle_without_lines, text_diff
from stratadiff.runs.names import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stratadiff.core.textdiff import TextDiff

CHUNK_INDEX = "chunk index"
HITS = "hits"

JSON_MEDIA_TYPE = "application/json"
MISMATCH = "text does not match its digest; not shown"

_UNCUT = 2**31 - 1
_MAX_RANK_DIGITS = 4_300
# Decimal digits new in Unicode 15.0: Python 3.11 does not know them, and output must not depend on it.
_UNICODE_15_DIGITS = {zero + value: str(value) for zero in (0x11F50, 0x1E4F0) for value in range(10)}


class Entry(Frozen):
    """A chunk or hit that a line of the output names, as the record holds it: raw, not escaped.

    Attributes
    ----------
    naming : dict of str to str
        ``id``, or ``doc`` and ``position`` for a chunk without an id of its own.
    change : str
        ``changed``, ``added``, ``removed``, ``entered``, ``left`` or ``moved``.
    line : int
        0-based position of the line that names it.
    """

    __slots__ = ("change", "line", "naming")
    naming: dict[str, str]
    change: str
    line: int

    def __init__(self, naming: dict[str, str], change: str, line: int) -> None:
        self._fill(naming=naming, change=change, line=line)


class RenderedOutput(Frozen):
    """The change of one output, ready to be shown: the interface of
    :class:`~stratadiff.core.textdiff.TextDiff`.

    Attributes
    ----------
    kind : str
        ``text``, ``chunk index``, ``hits``, ``binary`` or ``not diffed``.
    notes : tuple of str
        Lines that go with the output, escaped, after the cut.
    more_lines : int or None
        Lines left out by the cut.
    entries : tuple of Entry or None
        For chunk indexes and hits, those whose line was kept.
    """

    __slots__ = ("_diff", "entries", "kind", "more_lines", "notes")
    kind: str
    notes: tuple[str, ...]
    more_lines: int | None
    entries: tuple[Entry, ...] | None
    _diff: TextDiff | None

    def __init__(
        self,
        kind: str,
        notes: list[str],
        more_lines: int | None,
        entries: tuple[Entry, ...] | None = None,
        diff: TextDiff | None = None,
    ) -> None:
        self._fill(kind=kind, notes=tuple(notes), more_lines=more_lines, entries=entries, _diff=diff)

    @property
    def hunks(self) -> Any:
        """Return the hunks of a line diff; empty for every other kind."""
        return () if self._diff is None else self._diff.hunks

    def plain_lines(self) -> list[str]:
        """Return the lines as the plain form prints them, the mark of the cut included."""
        if self._diff is not None:
            return self._diff.plain_lines()
        lines = list(self.notes)
        if self.more_lines is not None:
            lines.append(f"… {self.more_lines} more lines (use --max-lines)")
        return lines

    def hunks_json(self) -> bytes:
        """Return the canonical JSON of the hunks."""
        return b"[]" if self._diff is None else self._diff.hunks_json()

    def members(self) -> dict[str, Any]:
        """Return the members of the output that its content decides, in the document's terms."""
        members: dict[str, Any] = {"kind": self.kind, "notes": list(self.notes), "hunks": []}
        if self._diff is not None:
            members["hunks"] = self._diff.members()["hunks"]
        if self.more_lines is not None:
            members["truncated"] = {"more_lines": str(self.more_lines)}
        if self.entries is not None:
            members["entries"] = [
                {**entry.naming, "change": entry.change, "note": str(entry.line)} for entry in self.entries
            ]
        return members


def render_output(
    a: bytes, b: bytes, media_type: str, *, algorithm: str = "myers", context: int = 3, max_lines: int = 200
) -> RenderedOutput:
    """Render the change of one output.

    Parameters
    ----------
    a, b : bytes
        The stored bytes of both sides; empty for an absent side.
    media_type : str
        As recorded. Only ``application/json``, exactly so written, is looked at as a chunk index or hits.
    algorithm : str
        ``myers`` or ``gestalt``.
    context : int
        Unchanged lines around a change.
    max_lines : int
        Plain lines kept; lines about chunks and hits count like any other.

    Returns
    -------
    RenderedOutput
        Keeps `a` and `b` alive while it lives: take its lines and let it go.

    Notes
    -----
    Cost is that of the line diff, plus one parse of both sides where they may be chunk indexes or hits.
    """
    diff = settle_without_lines(a, b, media_type)
    if diff is None:
        forms = canonical_pair(a, b) if media_type == JSON_MEDIA_TYPE else None
        if forms is None:
            diff = diff_texts(
                a, b, json_mode=False, algorithm=algorithm, context=context, max_lines=max_lines
            )
        else:
            # All that follows is made from the canonical forms; the bytes need not lie in memory beside them.
            del a, b
            rendered = _render_records(*forms, algorithm, context, max_lines)
            if rendered is not None:
                return rendered
            diff = diff_json_lines(*forms, algorithm=algorithm, context=context, max_lines=max_lines)
    return RenderedOutput(diff.kind, list(diff.notes), diff.more_lines, None, diff)


def chunk_records(value: Any) -> list[dict[str, Any]] | None:
    """Return the chunks of a chunk index, None when the value is none (textdiff §7)."""
    return _record_list(value, "chunks", ("doc", "digest"))


def _record_list(value: Any, member: str, strings: tuple[str, ...]) -> list[dict[str, Any]] | None:
    records = value.get(member) if isinstance(value, dict) else None
    if not isinstance(records, list):
        return None
    for record in records:
        if not isinstance(record, dict):
            return None
        for name in strings:
            if not isinstance(record.get(name), str):
                return None
    return records


def _render_records(
    a: bytes, b: bytes, algorithm: str, context: int, max_lines: int
) -> RenderedOutput | None:
    """Render two chunk indexes or lists of hits, given as canonical lines; None when they are not such, or no
    document can name them.
    """
    if not any(has_member_list(a, name) and has_member_list(b, name) for name in ("chunks", "hits")):
        return None
    # Numbers are parsed as the strings of their spelling, so they equal and name what those strings would
    # (§6).
    old, new = parse_lines(a), parse_lines(b)
    old_records, new_records = chunk_records(old), chunk_records(new)
    lines = _Lines(algorithm, context)
    if old_records is not None and new_records is not None:
        lines.add_chunks(_chunks_by_key(old_records), _chunks_by_key(new_records))
        return lines.rendered(CHUNK_INDEX, max_lines)
    old_records, new_records = _record_list(old, "hits", ("id",)), _record_list(new, "hits", ("id",))
    if old_records is not None and new_records is not None:
        lines.add_hits(_hits_by_id(old_records), _hits_by_id(new_records))
        return lines.rendered(HITS, max_lines)
    return None


class _Record:
    """A chunk or a hit: how an entry names it, its rank, its digest, its stored text where usable."""

    __slots__ = ("digest", "is_unusable", "naming", "rank", "text")

    def __init__(self, naming: dict[str, str], record: dict[str, Any], rank: int = 0) -> None:
        self.naming = naming
        self.rank = rank
        self.digest = record.get("digest")
        self.text: bytes | None = None
        self.is_unusable = False
        text = record.get("text")
        if isinstance(text, str):
            try:
                data = text.encode()
            except UnicodeEncodeError:
                self.is_unusable = True
                return
            if digest_bytes(data) == self.digest:
                self.text = data
            else:
                self.is_unusable = True


def _chunks_by_key(records: list[dict[str, Any]]) -> dict[str, _Record]:
    """Key the chunks; a repeated key keeps its first position and its last content."""
    found: dict[str, _Record] = {}
    seen: dict[str, int] = {}
    for record in records:
        doc = record["doc"]
        position = seen[doc] = seen.get(doc, 0) + 1
        name = record.get("id")
        if isinstance(name, str):
            found[name] = _Record({"id": name}, record)
        else:
            found[f"{doc}#{position}"] = _Record({"doc": doc, "position": str(position)}, record)
    return found


def _hits_by_id(records: list[dict[str, Any]]) -> dict[str, _Record]:
    """Key the hits; a repeated id keeps its first position and its last content."""
    found: dict[str, _Record] = {}
    for position, record in enumerate(records, start=1):
        name = record["id"]
        found[name] = _Record({"id": name}, record, _rank(record.get("rank"), position))
    return found


def _rank(value: Any, position: int) -> int:
    """Return a recorded rank of decimal digits, else the position in the list."""
    if not isinstance(value, str) or len(value) > _MAX_RANK_DIGITS:
        return position
    if not value.isascii():
        value = value.translate(_UNICODE_15_DIGITS)
    return int(value) if value.isdecimal() else position


class _Lines:
    """The lines of one chunk index or hits output, and the entries that point at them."""

    __slots__ = ("_algorithm", "_context", "_entries", "_lines")

    def __init__(self, algorithm: str, context: int) -> None:
        self._algorithm = algorithm
        self._context = context
        self._lines: list[str] = []
        self._entries: list[Entry] = []

    def rendered(self, kind: str, max_lines: int) -> RenderedOutput | None:
        """Cut the lines; None when a name holds a lone surrogate, which no document carries (§7.3)."""
        for entry in self._entries:
            if not all(can_carry(value) for value in entry.naming.values()):
                return None
        total = len(self._lines)
        if total <= max_lines:
            return RenderedOutput(kind, self._lines, None, tuple(self._entries))
        kept = tuple(entry for entry in self._entries if entry.line < max_lines)
        return RenderedOutput(kind, self._lines[:max_lines], total - max_lines, kept)

    def add_chunks(self, old: dict[str, _Record], new: dict[str, _Record]) -> None:
        changed = [key for key in new if key in old and old[key].digest != new[key].digest]
        added = [key for key in new if key not in old]
        removed = [key for key in old if key not in new]
        unchanged = len(new) - len(changed) - len(added)
        self._lines.append(
            f"chunks: {len(changed)} changed, {len(added)} added, {len(removed)} removed; "
            f"{unchanged} unchanged"
        )
        for key in changed:
            was, now = old[key], new[key]
            line = f"~ chunk {escape_name(key)} changed"
            if was.is_unusable or now.is_unusable:
                self._name(now, "changed", f"{line}: {MISMATCH}")
            elif was.text is not None and now.text is not None:
                self._name(now, "changed", f"{line}:")
                self._add_diff(was.text, now.text)
            else:
                values = f"{_value(was.digest)} -> {_value(now.digest)}"
                self._name(now, "changed", f"{line} (text not stored): {values}")
        for key in added:
            self._name(new[key], "added", f"+ chunk {escape_name(key)} added: {_value(new[key].digest)}")
        for key in removed:
            self._name(old[key], "removed", f"- chunk {escape_name(key)} removed: {_value(old[key].digest)}")

    def add_hits(self, old: dict[str, _Record], new: dict[str, _Record]) -> None:
        by_new_rank = sorted(new, key=lambda key: new[key].rank)
        entered = [key for key in by_new_rank if key not in old]
        left = sorted((key for key in old if key not in new), key=lambda key: old[key].rank)
        both = [key for key in by_new_rank if key in old]
        moved = [key for key in both if old[key].rank != new[key].rank]
        in_place = [key for key in both if old[key].rank == new[key].rank]
        changed = [key for key in in_place if old[key].digest != new[key].digest]
        some_changed = f"; {len(changed)} changed" if changed else ""
        self._lines.append(
            f"hits: {len(entered)} entered, {len(left)} left, {len(moved)} moved{some_changed}; "
            f"{len(in_place) - len(changed)} unchanged"
        )
        for key in entered:
            self._name(new[key], "entered", f"+ hit {escape_name(key)} entered at #{new[key].rank}")
            self._add_text(new[key])
        for key in left:
            self._name(old[key], "left", f"- hit {escape_name(key)} left (was #{old[key].rank})")
            self._add_text(old[key])
        for key in moved:
            self._name(new[key], "moved", f"~ hit {escape_name(key)} #{old[key].rank} -> #{new[key].rank}")
            self._add_change(old[key], new[key])
        for key in changed:
            values = f"{_value(old[key].digest)} -> {_value(new[key].digest)}"
            self._name(new[key], "changed", f"~ hit {escape_name(key)} #{new[key].rank} changed: {values}")
            self._add_change(old[key], new[key])

    def _name(self, record: _Record, change: str, line: str) -> None:
        self._entries.append(Entry(record.naming, change, len(self._lines)))
        self._lines.append(line)

    def _add_diff(self, old: bytes, new: bytes) -> None:
        diff = text_diff(
            old,
            new,
            media_type="text/plain",
            algorithm=self._algorithm,
            context=self._context,
            max_lines=_UNCUT,
        )
        self._lines.extend("  " + line for line in diff.plain_lines())

    def _add_text(self, record: _Record) -> None:
        if record.is_unusable:
            self._lines.append("    " + MISMATCH)
        elif record.text is not None:
            self._lines.append("    " + shown_text(record.text.decode()))

    def _add_change(self, old: _Record, new: _Record) -> None:
        if old.digest != new.digest:
            if old.text is not None and new.text is not None:
                self._add_diff(old.text, new.text)
                return
            if old.is_unusable or new.is_unusable:
                self._lines.append("    " + MISMATCH)
                return
        self._add_text(new)


def _value(value: Any) -> str:
    """Write a recorded value as settings lines do, escaped."""
    return escape_name(value_text(value))
