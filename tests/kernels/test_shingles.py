"""Shingle sets and what they have in common (levels 4.3)."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_spans
from stratadiff._kernels import shingles
from strategies import in_four_threads

texts = st.one_of(
    st.text("ab", max_size=12),
    st.text("aé漢", max_size=12),
    st.text("a\0漢😀\U0010ffff\ud800", max_size=12),
    st.text(max_size=40),
)
lengths = st.integers(1, 6)


@given(texts, texts, lengths)
def test_jaccard(a: str, b: str, k: int) -> None:
    expected = trace_spans.jaccard(a, b, k)
    assert shingles.jaccard(a, b, k) == expected
    assert shingles.jaccard(b, a, k) == expected
    assert shingles.jaccard(a, a, k) == 1.0


@given(st.lists(st.tuples(texts, texts), max_size=30), lengths)
def test_jaccards(pairs: list[tuple[str, str]], k: int) -> None:
    found = shingles.jaccards([a for a, _ in pairs], [b for _, b in pairs], k)
    assert list(found) == [shingles.jaccard(a, b, k) for a, b in pairs]


@given(st.lists(texts, max_size=12), lengths)
def test_sets(given_texts: list[str], k: int) -> None:
    ids, bounds = shingles.sets(given_texts, k)
    assert (bounds[0], bounds[-1], len(bounds)) == (0, len(ids), len(given_texts) + 1)
    names: dict[str, int] = {}
    for text in given_texts:
        for at in range(max(len(text) - k + 1, min(len(text), 1))):
            names.setdefault(text[at : at + k], len(names))
    for number, text in enumerate(given_texts):
        own = list(ids[bounds[number] : bounds[number + 1]])
        assert own == sorted(names[shingle] for shingle in trace_spans.shingles(text, k))


def test_short_texts_equal_only_themselves() -> None:
    assert shingles.jaccard("ab", "\0ab", 4) == 0.0
    assert shingles.jaccard("ab", "ab ", 4) == 0.0
    assert shingles.jaccard("ab", "abcd", 4) == 0.0
    assert shingles.jaccard("", "a", 4) == 0.0
    assert shingles.jaccard("", "", 4) == 1.0


def test_kinds_of_strings_that_hold_the_same_shingles() -> None:
    assert shingles.jaccard("abcd", "abcd漢", 4) == 1 / 2
    assert shingles.jaccard("abcd", "abcd😀", 3) == 2 / 3


def test_long_texts() -> None:
    one = "".join(chr(97 + number * number % 23) for number in range(200_000))
    other = one[:100_000] + "x" + one[100_000:]
    expected = trace_spans.jaccard(one, other, 4)
    assert shingles.jaccard(one, other, 4) == expected
    many = [str(number) * 3 for number in range(5000)]
    assert list(shingles.jaccards(many, many[::-1], 4)) == [
        shingles.jaccard(a, b, 4) for a, b in zip(many, many[::-1], strict=True)
    ]


@pytest.mark.parametrize("k", [0, -1, 7])
def test_lengths(k: int) -> None:
    for call in (lambda: shingles.jaccard("a", "b", k), lambda: shingles.sets([], k)):
        with pytest.raises(ValueError, match="1 to 6 code points"):
            call()


def test_wrong_arguments() -> None:
    bad: Any = b"bytes"
    with pytest.raises(TypeError):
        shingles.jaccard("a", bad, 3)
    with pytest.raises(TypeError, match="a text is bytes"):
        shingles.jaccards(["a"], [bad], 3)
    with pytest.raises(TypeError, match="a text is int"):
        shingles.sets(["a", 5], 3)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="differ in length"):
        shingles.jaccards(["a"], [], 3)


def test_results_are_arrays() -> None:
    ids, bounds = shingles.sets(["abc"], 3)
    assert (ids, bounds) == (array("i", [0]), array("i", [0, 1]))
    assert shingles.jaccards(["a"], ["a"], 3) == array("d", [1.0])


def test_threads() -> None:
    made = ["".join(chr(97 + (n * m) % 26) for m in range(3000)) for n in range(1, 9)]
    expected = shingles.sets(made, 4), shingles.jaccards(made, made[::-1], 4)
    call = lambda: (shingles.sets(made, 4), shingles.jaccards(made, made[::-1], 4))  # noqa: E731
    assert all(result == expected for result in in_four_threads(call))
