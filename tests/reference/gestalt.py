"""The matching-block algorithm (textdiff 9.2), by its definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Set

from reference import blocks
from reference.blocks import Block, Items

Region = tuple[int, int, int, int]


def popular_items(a: Items, b: Items) -> frozenset[Hashable]:
    """Name the popular lines: none below the two sizes of textdiff 9.2."""
    if len(a) + len(b) <= 2000 or len(b) < 200:
        return frozenset()
    return frozenset(item for item, count in Counter(b).items() if count > len(b) // 100 + 1)


def best_block(a: Items, b: Items, region: Region, popular: Set[Hashable]) -> tuple[int, int, int]:
    """Give the best block ``(i, j, size)`` of a region ``A[al:ah) x B[bl:bh)``; size 0 means none."""
    al, ah, bl, bh = region
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for j in range(bl, bh):
        places[b[j]].append(j)
    # below[j]: k(i + 1, j), the run of equal, not popular lines from there; absent means 0.
    below: dict[int, int] = {}
    best = (al, bl, 0)
    for i in range(ah - 1, al - 1, -1):
        row: dict[int, int] = {}
        if a[i] not in popular:
            # Downwards in i and in j, ">=" leaves the smallest i, then the smallest j, of the greatest k.
            for j in reversed(places.get(a[i], [])):
                row[j] = 1 + below.get(j + 1, 0)
                if row[j] >= best[2]:
                    best = (i, j, row[j])
        below = row
    i, j, size = best
    while i > al and j > bl and a[i - 1] == b[j - 1]:
        i, j, size = i - 1, j - 1, size + 1
    while i + size < ah and j + size < bh and a[i + size] == b[j + size]:
        size += 1
    return i, j, size


def matching_blocks(a: Items, b: Items, popular: Set[Hashable]) -> list[tuple[int, int, int]]:
    """Take the best block, then the best ones before and after it, until none is left."""
    found = []
    regions = [(0, len(a), 0, len(b))]
    while regions:
        al, ah, bl, bh = regions.pop()
        i, j, size = best_block(a, b, (al, ah, bl, bh), popular)
        if size == 0:
            continue
        found.append((i, j, size))
        if al < i and bl < j:
            regions.append((al, i, bl, j))
        if i + size < ah and j + size < bh:
            regions.append((i + size, ah, j + size, bh))
    return sorted(found)


def unsplit_script(a: Items, b: Items, drop_popular: bool) -> list[Block]:
    """Give the blocks of textdiff 9.2 before the split."""
    popular = popular_items(a, b) if drop_popular else frozenset()
    matches = [(i + k, j + k) for i, j, size in matching_blocks(a, b, popular) for k in range(size)]
    return blocks.from_matches(matches, len(a), len(b))


def edit_script(a: Items, b: Items) -> list[Block]:
    """Give the blocks of textdiff 9.2, split included."""
    return blocks.split_same_size(unsplit_script(a, b, drop_popular=True), a, b)


def word_script(a: Items, b: Items) -> list[Block]:
    """Give the blocks over word tokens (textdiff 9.4): never popular, no split."""
    return unsplit_script(a, b, drop_popular=False)
