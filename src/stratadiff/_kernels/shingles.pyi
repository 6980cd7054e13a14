"""Shingles of texts: every run of k code points, as a set; how much two sets have in common."""

from array import array
from collections.abc import Sequence

# Common over union of the k-shingle sets; two empty texts have 1.0. k is 1 to 4.
def jaccard(a: str, b: str, k: int, /) -> float: ...

# The same for every pair of two equally long lists.
def jaccards(texts_a: Sequence[str], texts_b: Sequence[str], k: int, /) -> array[float]: ...

# (ids, bounds): the sets one after another, each ascending; an id means the same in all of them.
def sets(texts: Sequence[str], k: int, /) -> tuple[array[int], array[int]]: ...
