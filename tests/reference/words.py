"""Word tokens, and what is marked in a changed pair of lines (textdiff 8.3, 8.4, 9.4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from reference import gestalt, myers
from reference.escaping import LEAD, WINDOW
from reference.unicode15 import is_word

MAX_PAIR_CHARS = 20_000
MAX_PAIR_WORDS = 2_000

WHITE_SPACE = frozenset(
    map(
        chr,
        [
            *range(0x09, 0x0E),
            *range(0x1C, 0x21),
            0x85,
            0xA0,
            0x1680,
            *range(0x2000, 0x200B),
            0x2028,
            0x2029,
            0x202F,
            0x205F,
            0x3000,
        ],
    )
)


def tokens(line: str) -> list[str]:
    """Split a line: runs of white space, runs of word characters, and every other character alone."""
    found: list[str] = []
    kinds = ("space" if char in WHITE_SPACE else "word" if is_word(char) else "other" for char in line)
    for kind, group in groupby(zip(kinds, line, strict=True), key=lambda pair: pair[0]):
        run = [char for _, char in group]
        found.extend(run if kind == "other" else ["".join(run)])
    return found


def common_prefix(a: str, b: str) -> int:
    """Count the equal characters from the start."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


@dataclass(frozen=True)
class MarkedPair:
    """What differs inside a pair of lines, in unescaped characters.

    `tilde` is the text of the ``~`` line and the point its window starts from; None when there is none.
    """

    point: int
    removed: list[tuple[int, int]]
    added: list[tuple[int, int]]
    tilde: tuple[str, int] | None


def mark(old: str, new: str, algorithm: str) -> MarkedPair:
    """Mark the words that differ in a pair of lines."""
    point = common_prefix(old, new)
    too_long = len(old) + len(new) > MAX_PAIR_CHARS
    old_tokens, new_tokens = ([], []) if too_long else (tokens(old), tokens(new))
    if too_long or len(old_tokens) + len(new_tokens) > MAX_PAIR_WORDS:
        suffix = common_prefix(old[point:][::-1], new[point:][::-1])
        removed = [(point, len(old) - suffix)] if point < len(old) - suffix else []
        added = [(point, len(new) - suffix)] if point < len(new) - suffix else []
        return MarkedPair(point, removed, added, None)

    script = {"gestalt": gestalt.word_script, "myers": myers.word_script}[algorithm]
    removed, added = [], []
    tilde = ""
    # Where the marker of the first block starts and ends.
    marker: tuple[int, int] | None = None
    for tag, i1, i2, j1, j2 in script(old_tokens, new_tokens):
        old_part, new_part = "".join(old_tokens[i1:i2]), "".join(new_tokens[j1:j2])
        if tag == "equal":
            tilde += old_part
            continue
        start_of_marker = len(tilde)
        if old_part:
            start = len("".join(old_tokens[:i1]))
            removed.append((start, start + len(old_part)))
            tilde += f"[-{old_part}-]"
        if new_part:
            start = len("".join(new_tokens[:j1]))
            added.append((start, start + len(new_part)))
            tilde += f"{{+{new_part}+}}"
        if marker is None:
            marker = (start_of_marker, len(tilde))
    if marker is None or marker[1] - marker[0] + LEAD > WINDOW:
        return MarkedPair(point, removed, added, None)
    return MarkedPair(point, removed, added, (tilde, marker[0]))
