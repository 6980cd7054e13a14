"""One output as it is shown (textdiff 5.2, 7, 10.2)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from reference import escaping, hunks, jsonform, lines
from reference.escaping import escape_name
from reference.hunks import Diff
from reference.unicode15 import decimal_value

MAX_DIFF_BYTES = 5_000_000
MAX_RANK_DIGITS = 4_300
MISMATCH = "text does not match its digest; not shown"


@dataclass(frozen=True)
class Entry:
    """A chunk or a hit: how it is named, where it stands, and its record."""

    naming: dict[str, str]
    rank: int
    record: dict[str, Any]

    @property
    def digest(self) -> Any:
        """The recorded digest; absent reads as null."""
        return self.record.get("digest")

    @property
    def stored(self) -> bool:
        """Tell whether a text is stored."""
        return isinstance(self.record.get("text"), str)

    @property
    def text(self) -> bytes | None:
        """The stored text where it is usable."""
        if not self.stored:
            return None
        try:
            data = self.record["text"].encode("utf-8")
        except UnicodeEncodeError:
            return None
        return data if "sha256:" + hashlib.sha256(data).hexdigest() == self.digest else None

    @property
    def unusable(self) -> bool:
        """Tell whether a text is stored that cannot be shown."""
        return self.stored and self.text is None


def short(value: str | None) -> str:
    """Shorten a digest (textdiff, words used)."""
    if not value:
        return "(none)"
    return value.removeprefix("sha256:")[:12]


def shown_value(value: Any) -> str:
    """Print a value as settings lines do (textdiff 4.2), escaped."""
    if value is None:
        return "(none)"
    if isinstance(value, str) and value.startswith("sha256:"):
        return escape_name(short(value))
    return escape_name(str(value))


def record_list(value: Any, member: str, strings: tuple[str, ...]) -> list[dict[str, Any]] | None:
    """Recognise a list of records under `member`, each with these string members."""
    if not isinstance(value, dict) or not isinstance(value.get(member), list):
        return None
    records: list[dict[str, Any]] = value[member]
    fits = all(
        isinstance(record, dict) and all(isinstance(record.get(name), str) for name in strings)
        for record in records
    )
    return records if fits else None


def chunks_by_key(records: list[dict[str, Any]]) -> dict[str, Entry]:
    """Key the chunks; a repeated key keeps its first position and its last content."""
    found: dict[str, Entry] = {}
    seen: dict[str, int] = {}
    for record in records:
        doc = record["doc"]
        seen[doc] = seen.get(doc, 0) + 1
        if isinstance(record.get("id"), str):
            key, naming = record["id"], {"id": record["id"]}
        else:
            key, naming = f"{doc}#{seen[doc]}", {"doc": doc, "position": str(seen[doc])}
        found[str(key)] = Entry(naming, 0, record)
    return found


def hits_by_id(records: list[dict[str, Any]]) -> dict[str, Entry]:
    """Key the hits; a repeated id keeps its first position and its last content."""
    found: dict[str, Entry] = {}
    for position, record in enumerate(records, start=1):
        rank = record.get("rank")
        value = decimal_value(rank) if isinstance(rank, str) and len(rank) <= MAX_RANK_DIGITS else None
        found[str(record["id"])] = Entry({"id": record["id"]}, position if value is None else value, record)
    return found


class _Notes:
    # The notes of an output with entries, and the entries that point at them.

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.entries: list[dict[str, str]] = []

    def name(self, entry: Entry, change: str, note: str) -> None:
        naming = {name: str(value) for name, value in entry.naming.items()}
        self.entries.append({**naming, "change": change, "note": str(len(self.notes))})
        self.notes.append(note)

    def text_diff(self, old: bytes, new: bytes, algorithm: str, context: int) -> None:
        diff = hunks.line_diff(old.decode(), new.decode(), algorithm, context, escaping.TEXT)
        self.notes.extend("  " + line for line in hunks.plain_lines(diff))

    def text_block(self, entry: Entry) -> None:
        if entry.unusable:
            self.notes.append("    " + MISMATCH)
        elif entry.text is not None:
            self.notes.append("    " + escaping.shown(entry.text.decode(), escaping.TEXT))

    def change_block(self, old: Entry, new: Entry, algorithm: str, context: int) -> None:
        if old.digest == new.digest:
            self.text_block(new)
        elif old.text is not None and new.text is not None:
            self.text_diff(old.text, new.text, algorithm, context)
        elif old.unusable or new.unusable:
            self.notes.append("    " + MISMATCH)
        else:
            self.text_block(new)

    def diff(self, kind: str) -> Diff | None:
        """Give the output, or None when the document cannot carry a name."""
        for entry in self.entries:
            for value in entry.values():
                if any("\ud800" <= char <= "\udfff" for char in value):
                    return None
        return Diff(kind, notes=self.notes, entries=self.entries)


def chunk_diff(a: list[dict[str, Any]], b: list[dict[str, Any]], algorithm: str, context: int) -> Diff | None:
    """Compare two chunk indexes (textdiff 7.1)."""
    old, new = chunks_by_key(a), chunks_by_key(b)
    changed = [key for key in new if key in old and old[key].digest != new[key].digest]
    added = [key for key in new if key not in old]
    removed = [key for key in old if key not in new]
    unchanged = len(new) - len(changed) - len(added)
    out = _Notes()
    out.notes.append(
        f"chunks: {len(changed)} changed, {len(added)} added, {len(removed)} removed; {unchanged} unchanged"
    )
    for key in changed:
        line = f"~ chunk {escape_name(key)} changed"
        was, now = old[key], new[key]
        if was.unusable or now.unusable:
            out.name(now, "changed", f"{line}: {MISMATCH}")
        elif was.text is not None and now.text is not None:
            out.name(now, "changed", f"{line}:")
            out.text_diff(was.text, now.text, algorithm, context)
        else:
            values = f"{shown_value(was.digest)} -> {shown_value(now.digest)}"
            out.name(now, "changed", f"{line} (text not stored): {values}")
    for key in added:
        out.name(new[key], "added", f"+ chunk {escape_name(key)} added: {shown_value(new[key].digest)}")
    for key in removed:
        out.name(old[key], "removed", f"- chunk {escape_name(key)} removed: {shown_value(old[key].digest)}")
    return out.diff("chunk index")


def hit_diff(a: list[dict[str, Any]], b: list[dict[str, Any]], algorithm: str, context: int) -> Diff | None:
    """Compare two hit lists (textdiff 7.2)."""
    old, new = hits_by_id(a), hits_by_id(b)
    by_new_rank = sorted(new, key=lambda key: new[key].rank)
    by_old_rank = sorted(old, key=lambda key: old[key].rank)
    entered = [key for key in by_new_rank if key not in old]
    left = [key for key in by_old_rank if key not in new]
    both = [key for key in by_new_rank if key in old]
    moved = [key for key in both if old[key].rank != new[key].rank]
    same_rank = [key for key in both if old[key].rank == new[key].rank]
    changed = [key for key in same_rank if old[key].digest != new[key].digest]
    out = _Notes()
    some_changed = f"; {len(changed)} changed" if changed else ""
    out.notes.append(
        f"hits: {len(entered)} entered, {len(left)} left, {len(moved)} moved{some_changed}; "
        f"{len(same_rank) - len(changed)} unchanged"
    )
    for key in entered:
        out.name(new[key], "entered", f"+ hit {escape_name(key)} entered at #{new[key].rank}")
        out.text_block(new[key])
    for key in left:
        out.name(old[key], "left", f"- hit {escape_name(key)} left (was #{old[key].rank})")
        out.text_block(old[key])
    for key in moved:
        out.name(new[key], "moved", f"~ hit {escape_name(key)} #{old[key].rank} -> #{new[key].rank}")
        out.change_block(old[key], new[key], algorithm, context)
    for key in changed:
        values = f"{shown_value(old[key].digest)} -> {shown_value(new[key].digest)}"
        out.name(new[key], "changed", f"~ hit {escape_name(key)} #{new[key].rank} changed: {values}")
        out.change_block(old[key], new[key], algorithm, context)
    return out.diff("hits")


def json_diff(a: bytes, b: bytes, algorithm: str, context: int) -> Diff | None:
    """Compare two JSON outputs; None when either side does not parse."""
    try:
        old, new = jsonform.parse(a), jsonform.parse(b)
    except jsonform.JsonError:
        return None
    for member, strings, compare in (
        ("chunks", ("doc", "digest"), chunk_diff),
        ("hits", ("id",), hit_diff),
    ):
        old_records, new_records = record_list(old, member, strings), record_list(new, member, strings)
        if old_records is not None and new_records is not None:
            diff = compare(old_records, new_records, algorithm, context)
            if diff is not None:
                return diff
            break
    old_form, new_form = jsonform.pretty(old), jsonform.pretty(new)
    if old_form == new_form:
        note = "no difference after canonical key order; the bytes differ in layout only"
        return Diff("text", notes=[note])
    return hunks.line_diff(old_form, new_form, algorithm, context, escaping.JSON)


def diff_output(a: bytes, b: bytes, media_type: str, algorithm: str, context: int) -> Diff:
    """Decide what an output is and compare it (textdiff 5.2), uncut."""
    if media_type != "application/json" and not media_type.startswith("text/"):
        return Diff("binary", notes=["binary: sizes and digests differ; not shown"])
    larger = max(len(a), len(b))
    if larger > MAX_DIFF_BYTES:
        note = f"too large to diff ({larger / 1_000_000:.1f} MB); use --stage and --max-lines"
        return Diff("not diffed", notes=[note])
    if a == b:
        return Diff("text", notes=["no difference"])
    diff = json_diff(a, b, algorithm, context) if media_type == "application/json" else None
    if diff is None:
        diff = hunks.line_diff(lines.decode(a), lines.decode(b), algorithm, context, escaping.TEXT)
    return diff


def render_output(
    a: bytes, b: bytes, media_type: str, *, algorithm: str, context: int = 3, max_lines: int = 200
) -> dict[str, Any]:
    """Render one output: its members with ``~`` items among the hunks' lines, and its plain ``lines``."""
    return hunks.cut(diff_output(a, b, media_type, algorithm, context), max_lines)


def without_tildes(rendered: dict[str, Any]) -> dict[str, Any]:
    """Give the members as the document holds them: no ``~`` items, no plain lines."""
    found = {name: value for name, value in rendered.items() if name != "lines"}
    found["hunks"] = [
        {**one, "lines": [item for item in one["lines"] if item["op"] != "~"]} for one in rendered["hunks"]
    ]
    return found
