"""Ordered lists of blocks (textdiff 9.1): what every line-diff algorithm yields."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

Block = tuple[str, int, int, int, int]
Items = Sequence[Hashable]
Match = tuple[int, int]


def from_matches(matches: Iterable[Match], a_size: int, b_size: int) -> list[Block]:
    """Turn matched positions, ascending on both sides, into blocks that cover everything."""
    found: list[Block] = []
    i = j = 0
    for x, y in [*matches, (a_size, b_size)]:
        if i < x and j < y:
            found.append(("replace", i, x, j, y))
        elif i < x:
            found.append(("delete", i, x, j, y))
        elif j < y:
            found.append(("insert", i, x, j, y))
        if (x, y) != (a_size, b_size):
            found.append(("equal", x, x + 1, y, y + 1))
        i, j = x + 1, y + 1
    return joined(found)


def joined(parts: Iterable[Block]) -> list[Block]:
    """Join neighbours of one tag."""
    found: list[Block] = []
    for tag, i1, i2, j1, j2 in parts:
        if found and found[-1][0] == tag:
            _, first_i, _, first_j, _ = found[-1]
            found[-1] = (tag, first_i, i2, first_j, j2)
        else:
            found.append((tag, i1, i2, j1, j2))
    return found


def split_same_size(parts: Iterable[Block], a: Items, b: Items) -> list[Block]:
    """Split a same-size replace line by line where its k-th lines are equal for some k (textdiff 9.1)."""
    found: list[Block] = []
    for tag, i1, i2, j1, j2 in parts:
        if tag == "replace" and i2 - i1 == j2 - j1:
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                found.append(("equal" if a[i] == b[j] else "replace", i, i + 1, j, j + 1))
        else:
            found.append((tag, i1, i2, j1, j2))
    return joined(found)


def shifted(parts: Iterable[Block], by_a: int, by_b: int) -> list[Block]:
    """Move blocks to where their sequences stand in longer ones."""
    return [(tag, i1 + by_a, i2 + by_a, j1 + by_b, j2 + by_b) for tag, i1, i2, j1, j2 in parts]


def apply(parts: Iterable[Block], a: Items, b: Items) -> list[Hashable]:
    """Rebuild the candidate: equal lines from the baseline, the others from the candidate."""
    found: list[Hashable] = []
    for tag, i1, i2, j1, j2 in parts:
        found.extend(a[i1:i2] if tag == "equal" else b[j1:j2])
    return found


def edit_count(parts: Iterable[Block]) -> int:
    """Count the deletions and insertions."""
    return sum(i2 - i1 + j2 - j1 for tag, i1, i2, j1, j2 in parts if tag != "equal")
