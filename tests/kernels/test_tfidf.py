"""Cosine similarity under TF-IDF weights (levels 1.1)."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence

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


def by_definition(baseline: Sequence[list[str]], candidate: Sequence[list[str]]) -> list[float]:
    """Write out the formulas of levels §1.1, 2 to 4, without the rounding."""
    corpus = [*baseline, *candidate]
    found: dict[str, int] = {}
    for text in corpus:
        for term in set(text):
            found[term] = found.get(term, 0) + 1

    def weights(text: list[str]) -> dict[str, float]:
        return {
            term: (1 + math.log(text.count(term))) * (math.log((len(corpus) + 1) / (found[term] + 1)) + 1)
            for term in dict.fromkeys(text)
        }

    similarities = []
    for a, b in zip(map(weights, baseline), map(weights, candidate), strict=True):
        dot = squares_a = squares_b = 0.0
        for term, weight in a.items():
            squares_a += weight * weight
            dot += weight * b.get(term, 0.0)
        for weight in b.values():
            squares_b += weight * weight
        norms = math.sqrt(squares_a), math.sqrt(squares_b)
        if min(norms) < 1e-12:
            similarities.append(1.0 if max(norms) < 1e-12 else 0.0)
        else:
            similarities.append(min(max(dot / (norms[0] * norms[1]), 0.0), 1.0))
    return similarities


@given(st.lists(st.tuples(documents, documents), max_size=8))
def test_to_the_last_bit(pairs: list[tuple[list[str], list[str]]]) -> None:
    baseline, candidate = [a for a, _ in pairs], [b for _, b in pairs]
    assert list(tfidf.similarities(*corpus(baseline + candidate))) == by_definition(baseline, candidate)


@pytest.mark.parametrize("repeats", [1, 63, 64, 65, 300])
def test_many_documents_and_frequent_terms(repeats: int) -> None:
    chance = random.Random(repeats)
    texts = [
        [str(int(chance.random() ** 3 * 300)) for _ in range(chance.choice([0, 1, 30]))]
        + ["the"] * chance.randrange(repeats + 1)
        + ["a"] * chance.choice([0, repeats])
        for _ in range(120)
    ]
    assert list(tfidf.similarities(*corpus(texts))) == by_definition(texts[:60], texts[60:])


def test_terms_no_document_has() -> None:
    """Before the first document, after the last, and with gaps in the ids."""
    found = tfidf.similarities(int32([5, 0, 2, 0, 3, 4]), int32([1, 3, 5]))
    assert list(found) == by_definition([["x", "y"]], [["x", "z"]])


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
