"""The line diff of two texts: blocks, hunks, items, notes, and its plain lines (textdiff 9.1, 10.1, 10.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference import blocks, escaping, gestalt, lines, myers, words
from reference.blocks import Block

MAX_CHANGED_LINES = 200_000


@dataclass
class Diff:
    """One output as it is shown, before the cut: `hunks` hold ``~`` items too."""

    kind: str
    hunks: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    entries: list[dict[str, str]] | None = None


def trim(a: list[str], b: list[str]) -> tuple[int, int]:
    """Count the equal lines at the start, and at the end without overlapping them."""
    head = myers.common_head(a, b)
    tail = myers.common_head(a[head:][::-1], b[head:][::-1])
    return head, tail


def line_blocks(a: list[str], b: list[str], algorithm: str, context: int) -> list[Block]:
    """Give the blocks of an algorithm, at their positions in the whole texts."""
    if algorithm == "myers":
        return myers.edit_script(a, b)
    head, tail = trim(a, b)
    start = head - min(context, head)
    drop = tail - min(context, tail)
    found = gestalt.edit_script(a[start : len(a) - drop], b[start : len(b) - drop])
    return blocks.shifted(found, start, start)


def groups(parts: list[Block], context: int) -> list[list[Block]]:
    """Divide the blocks into the groups that become hunks."""
    if not parts:
        # No line changed, and without context none is looked at.
        return []
    parts = list(parts)
    if parts[0][0] == "equal":
        tag, i1, i2, j1, j2 = parts[0]
        keep = min(context, i2 - i1)
        parts[0] = (tag, i2 - keep, i2, j2 - keep, j2)
    if parts[-1][0] == "equal":
        tag, i1, i2, j1, j2 = parts[-1]
        keep = min(context, i2 - i1)
        parts[-1] = (tag, i1, i1 + keep, j1, j1 + keep)
    found: list[list[Block]] = [[]]
    for tag, i1, i2, j1, j2 in parts:
        if tag == "equal" and i2 - i1 > 2 * context:
            found[-1].append((tag, i1, i1 + context, j1, j1 + context))
            found.append([(tag, i2 - context, i2, j2 - context, j2)])
        else:
            found[-1].append((tag, i1, i2, j1, j2))
    return [group for group in found if any(block[0] != "equal" for block in group)]


def _item(op: str, i: int | None, j: int | None, text: str, spans: list[list[str]]) -> dict[str, Any]:
    return {
        "op": op,
        "baseline": None if i is None else str(i + 1),
        "candidate": None if j is None else str(j + 1),
        "text": text,
        "spans": spans,
    }


def pair_items(old: str, new: str, i: int, j: int, algorithm: str, mode: str) -> list[dict[str, Any]]:
    """Show one changed pair: ``-``, ``+`` and, where there is one, ``~``."""
    marks = words.mark(old, new, algorithm)
    removed = escaping.shown_spans(old, mode, marks.point, marks.removed)
    added = escaping.shown_spans(new, mode, marks.point, marks.added)
    found = [
        _item("-", i, None, escaping.shown(old, mode, marks.point), removed),
        _item("+", None, j, escaping.shown(new, mode, marks.point), added),
    ]
    if marks.tilde is not None:
        text, point = marks.tilde
        found.append({"op": "~", "text": escaping.shown(text, mode, point)})
    return found


def hunk(group: list[Block], a: list[str], b: list[str], algorithm: str, mode: str) -> dict[str, Any]:
    """Lay one group out as a hunk."""
    _, i_start, _, j_start, _ = group[0]
    _, _, i_end, _, j_end = group[-1]
    items: list[dict[str, Any]] = []
    found: dict[str, Any] = {
        "baseline": {"start": str(i_start + 1), "lines": str(i_end - i_start)},
        "candidate": {"start": str(j_start + 1), "lines": str(j_end - j_start)},
        "lines": items,
    }
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                items.append(_item(" ", i, j, escaping.shown(a[i], mode), []))
        elif tag == "replace" and i2 - i1 == j2 - j1:
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                items.extend(pair_items(a[i], b[j], i, j, algorithm, mode))
        else:
            items.extend(_item("-", i, None, escaping.shown(a[i], mode), []) for i in range(i1, i2))
            items.extend(_item("+", None, j, escaping.shown(b[j], mode), []) for j in range(j1, j2))
            if tag == "replace" and set(a[i1:i2]) & set(b[j1:j2]):
                found["note"] = (
                    f"no line could anchor this block of {i2 - i1} against {j2 - j1} lines; "
                    "it is shown whole, removed then added"
                )
    return found


def end_notes(a_text: str, b_text: str, any_hunk: bool) -> list[str]:
    """Say what the lines hide."""
    found = []
    if lines.has_final_newline(a_text) and not lines.has_final_newline(b_text):
        found.append("final newline removed")
    if lines.has_final_newline(b_text) and not lines.has_final_newline(a_text):
        found.append("final newline added")
    if lines.endings(a_text) != lines.endings(b_text):
        found.append(f"line endings {lines.endings(a_text)} -> {lines.endings(b_text)}")
    if not any_hunk and found:
        found[0] = "whitespace-only change: " + found[0]
    if not any_hunk and not found:
        found = ["the bytes differ, but not in any line shown"]
    return found


def line_diff(a_text: str, b_text: str, algorithm: str, context: int, mode: str) -> Diff:
    """Diff two decoded texts line by line."""
    a, b = lines.split_lines(a_text), lines.split_lines(b_text)
    head, tail = trim(a, b)
    changed = len(a) + len(b) - 2 * (head + tail)
    if changed > MAX_CHANGED_LINES:
        note = f"too many changed lines to diff ({changed}); use --stage and --max-lines"
        return Diff("not diffed", notes=[note])
    parts = groups(line_blocks(a, b, algorithm, context), context)
    found = [hunk(group, a, b, algorithm, mode) for group in parts]
    return Diff("text", found, end_notes(a_text, b_text, bool(found)))


def _rows(diff: Diff) -> list[tuple[str, int, str]]:
    # Every plain line with what it is and which hunk it belongs to.
    prefix = {" ": "  ", "-": "- ", "+": "+ ", "~": "~ "}
    rows = []
    for number, one in enumerate(diff.hunks):
        if number > 0:
            rows.append(("separator", number, "…"))
        if "note" in one:
            rows.append(("hunk note", number, one["note"]))
        rows.extend(("item", number, prefix[item["op"]] + item["text"]) for item in one["lines"])
    rows.extend(("note", 0, note) for note in diff.notes)
    return rows


def plain_lines(diff: Diff) -> list[str]:
    """Give the plain lines of 10.1, uncut."""
    return [text for _, _, text in _rows(diff)]


def cut(diff: Diff, max_lines: int) -> dict[str, Any]:
    """Cut to `max_lines` plain lines: the members of 10.2, with ``~`` items, and the plain ``lines``."""
    rows = _rows(diff)
    kept = rows[:max_lines]
    found: dict[str, Any] = {"kind": diff.kind}
    hunks = []
    for number, one in enumerate(diff.hunks):
        item_count = sum(1 for what, owner, _ in kept if what == "item" and owner == number)
        if item_count == 0:
            continue
        part = {name: one[name] for name in ("baseline", "candidate")}
        part["lines"] = one["lines"][:item_count]
        if any(what == "hunk note" and owner == number for what, owner, _ in kept):
            part["note"] = one["note"]
        hunks.append(part)
    found["hunks"] = hunks
    found["notes"] = diff.notes[: sum(1 for what, _, _ in kept if what == "note")]
    if diff.entries is not None:
        # Outputs with entries have no hunks, so an index into the notes stays what it was.
        found["entries"] = [entry for entry in diff.entries if int(entry["note"]) < len(found["notes"])]
    found["lines"] = [text for _, _, text in kept]
    more_lines = len(rows) - len(kept)
    if more_lines > 0:
        found["truncated"] = {"more_lines": str(more_lines)}
        found["lines"].append(f"… {more_lines} more lines (use --max-lines)")
    return found
