"""Lines as small integers: equal lines get equal numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def intern(baseline: Iterable[Item], candidate: Iterable[Item]) -> tuple[list[int], list[int], int]:
    """Number the distinct items of both sides by first appearance, the baseline first."""
    numbers: dict[Item, int] = {}
    a_ids = [numbers.setdefault(item, len(numbers)) for item in baseline]
    b_ids = [numbers.setdefault(item, len(numbers)) for item in candidate]
    return a_ids, b_ids, len(numbers)


def contents(data: bytes, starts: Sequence[int], strip_cr: bool) -> list[bytes]:
    """Cut the lines out of `data` as the line index describes them."""
    found = [data[start : end - 1] for start, end in pairwise(starts)]
    if strip_cr:
        found = [line[:-1] if line.endswith(b"\r") else line for line in found]
    return found
