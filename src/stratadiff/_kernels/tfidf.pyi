"""Cosine similarity of document pairs under TF-IDF weights."""

from array import array

from stratadiff._kernels._buffer import Ints

# Terms of 2n documents as dense ids, 2n + 1 bounds: a similarity in [0, 1] per pair (i, n + i), not rounded.
def similarities(ids: Ints, bounds: Ints, /) -> array[float]: ...
