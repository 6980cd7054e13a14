"""The exact, unique script (textdiff 9.3), by its definition: a full table, a walk, a bound."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Sequence

from reference import blocks, interning
from reference.blocks import Block, Items, Match


def distance_table(a: Items, b: Items) -> list[array[int]]:
    """Tabulate D(i, j), the least number of deletions plus insertions turning ``a[i:]`` into ``b[j:]``."""
    n, m = len(a), len(b)
    rows = [array("i", range(m, -1, -1))]
    for i in range(n - 1, -1, -1):
        below = rows[-1]
        row = array("i", bytes(4 * (m + 1)))
        row[m] = right = n - i
        item = a[i]
        for j in range(m - 1, -1, -1):
            # Matching equal heads is never worse than leaving one of them.
            right = below[j + 1] if item == b[j] else 1 + min(below[j], right)
            row[j] = right
        rows.append(row)
    rows.reverse()
    return rows


def walk(a: Items, b: Items) -> list[Match]:
    """Match equal heads as soon as possible; else delete where that is on a least path; else insert."""
    # The common head is matched anyway, and D(i, j) depends on what follows only.
    head = common_head(a, b)
    found = [(k, k) for k in range(head)]
    table = distance_table(a[head:], b[head:])
    i = j = head
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1 - head][j - head] <= table[i - head][j + 1 - head]:
            i += 1
        else:
            j += 1
    return found


def matchable_distance(a: Items, b: Items) -> int:
    """Give D': the edit distance after dropping from each side the lines the other does not have."""
    in_a, in_b = set(a), set(b)
    kept_a = [item for item in a if item in in_b]
    kept_b = [item for item in b if item in in_a]
    head = common_head(kept_a, kept_b)
    tail = common_head(kept_a[head:][::-1], kept_b[head:][::-1])
    # Equal ends never change an edit distance; leaving them out keeps the table small.
    return distance_table(kept_a[head : len(kept_a) - tail], kept_b[head : len(kept_b) - tail])[0][0]


def common_head(a: Items, b: Items) -> int:
    """Count the equal lines from the start."""
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count


def anchors(a: Items, b: Items) -> list[Match]:
    """Keep the anchors: of the lines unique on both sides, the first longest run increasing in both.

    Among several longest ones, the one whose list of baseline positions is lexicographically smallest.
    """
    a_counts, b_counts = Counter(a), Counter(b)
    unique: list[Match] = [
        (i, b.index(item)) for i, item in enumerate(a) if a_counts[item] == 1 and b_counts[item] == 1
    ]
    # longest[k]: the length of a longest increasing run that begins with anchor k.
    longest = [1] * len(unique)
    for k in range(len(unique) - 1, -1, -1):
        for later in range(k + 1, len(unique)):
            if unique[later][1] > unique[k][1]:
                longest[k] = max(longest[k], 1 + longest[later])
    found: list[Match] = []
    wanted = max(longest, default=0)
    for (i, j), length in zip(unique, longest, strict=True):
        if length == wanted and wanted > 0 and (not found or j > found[-1][1]):
            found.append((i, j))
            wanted -= 1
    return found


def bounded_walk(a: Items, b: Items, max_distance: int) -> list[Match]:
    """Walk the gap if its D' is within the bound; otherwise nothing in it matches."""
    return walk(a, b) if matchable_distance(a, b) <= max_distance else []


def matches(a: Items, b: Items, max_distance: int = 5000) -> list[Match]:
    """Give all matched positions of textdiff 9.3, in order."""
    head = common_head(a, b)
    found: list[Match] = [(k, k) for k in range(head)]

    def place(local: Sequence[Match], i: int, j: int) -> None:
        found.extend((i + x, j + y) for x, y in local)

    a_rest, b_rest = a[head:], b[head:]
    if matchable_distance(a_rest, b_rest) <= max_distance:
        place(walk(a_rest, b_rest), head, head)
        return found
    tail = common_head(a_rest[::-1], b_rest[::-1])
    a_middle, b_middle = a_rest[: len(a_rest) - tail], b_rest[: len(b_rest) - tail]
    kept = anchors(a_middle, b_middle)
    if kept:
        i = j = 0
        for x, y in [*kept, (len(a_middle), len(b_middle))]:
            place(bounded_walk(a_middle[i:x], b_middle[j:y], max_distance), head + i, head + j)
            if (x, y) != (len(a_middle), len(b_middle)):
                place([(x, y)], head, head)
            i, j = x + 1, y + 1
    place([(k, k) for k in range(tail)], len(a) - tail, len(b) - tail)
    return found


def edit_script(a: Items, b: Items, max_distance: int = 5000) -> list[Block]:
    """Give the blocks of textdiff 9.3 with the split of 9.1."""
    a_ids, b_ids, _ = interning.intern(a, b)
    parts = blocks.from_matches(matches(a_ids, b_ids, max_distance), len(a), len(b))
    return blocks.split_same_size(parts, a_ids, b_ids)


def word_script(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Block]:
    """Give the blocks of the walk alone (textdiff 9.4): no bound, no split."""
    a_ids, b_ids, _ = interning.intern(a, b)
    return blocks.from_matches(walk(a_ids, b_ids), len(a), len(b))
