"""Cosine similarity under TF-IDF weights (levels 1.1)."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_axes
from stratadiff._kernels import tfidf
from strategies import bad_int_buffers, in_four_threads, int32, int_buffers

documents = st.lists(st.sampled_from(["a", "b", "c", "dd", "e1", "f", "g"]), max_size=9)


def corpus(texts: list[list[str]]) -> tuple[array[int], array[int]]:
    ids: dict[str, int] = {}
    terms: list[int] = []
    bounds = [0]
    for text in texts:
        terms += [ids.setdefault(term, len(ids)) for term in text]
        bounds.append(len(terms))
    return int32(terms), int32(bounds)


@given(st.lists(st.tuples(documents, documents), max_size=8))
def test_as_the_reference(pairs: list[tuple[list[str], list[str]]]) -> None:
    baseline, candidate = [a for a, _ in pairs], [b for _, b in pairs]
    found = tfidf.similarities(*corpus(baseline + candidate))
    expected = trace_axes.similarities([" ".join(a) for a in baseline], [" ".join(b) for b in candidate])
    assert [round(value, 12) for value in found] == list(expected)


def test_edges() -> None:
    assert list(tfidf.similarities(*corpus([]))) == []
    assert list(tfidf.similarities(*corpus([[], []]))) == [1.0]
    assert list(tfidf.similarities(*corpus([["a"], []]))) == [0.0]
    assert list(tfidf.similarities(*corpus([["a"], ["b"]]))) == [0.0]
    (same,) = tfidf.similarities(*corpus([["a", "b", "a"] * 100, ["a", "b", "a"] * 100]))
    assert round(same, 12) == 1.0
    assert same <= 1.0


def test_bad_arguments() -> None:
    ids, bounds = corpus([["a"], ["b"]])
    for bad in bad_int_buffers().values():
        with pytest.raises((TypeError, ValueError)):
            tfidf.similarities(bad, bounds)
        with pytest.raises((TypeError, ValueError)):
            tfidf.similarities(ids, bad)
    for bad_ids, bad_bounds in (
        ([0, 2], [0, 1, 2]),
        ([-1, 0], [0, 1, 2]),
        ([0, 1], [0, 1]),
        ([0, 1], [0, 1, 3]),
        ([0, 1], [0, 2, 1]),
        ([0, 1], []),
    ):
        with pytest.raises(ValueError):
            tfidf.similarities(int32(bad_ids), int32(bad_bounds))


def test_buffers_and_threads() -> None:
    ids, bounds = corpus([["a", "b"] * 40, ["b", "c"] * 30] * 50)
    expected = tfidf.similarities(ids, bounds)
    for buffer in int_buffers(list(ids)).values():
        assert tfidf.similarities(buffer, bounds) == expected
    assert all(result == expected for result in in_four_threads(lambda: tfidf.similarities(ids, bounds)))
