"""Shingle sets and what they have in common (levels 4.3)."""

from __future__ import annotations

import random
import signal
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_spans
from stratadiff._kernels import shingles
from strategies import in_four_threads, int32

texts = st.one_of(
    st.text("ab", max_size=12),
    st.text("aé漢", max_size=12),
    st.text("a\0漢😀\U0010ffff\ud800", max_size=12),
    st.text(max_size=40),
)
lengths = st.integers(1, 4)


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


@pytest.mark.parametrize("size", [1, 2, 3, 4, 31, 32, 33, 34, 35, 36, 63, 64, 65, 66, 67, 129])
@pytest.mark.parametrize("letters", ["ab", "xyé", "a漢字", "a😀\U0010ffff"])
def test_sizes_around_a_batch(size: int, letters: str) -> None:
    chance = random.Random(size)
    one, other = ("".join(chance.choices(letters, k=count)) for count in (size, 40))
    for k in range(1, 5):
        assert shingles.jaccard(one, other, k) == trace_spans.jaccard(one, other, k)


@pytest.mark.parametrize(("first", "last"), [(0, 0x80), (0, 0x100), (0, 0x3000), (0xD000, 0x10FFFF)])
def test_code_points_from_end_to_end(first: int, last: int) -> None:
    """Nothing but the same code points in the same order is a shingle in common."""
    points = [*range(first, first + 300), *range(last - 300, last + 1)]
    one = "".join(map(chr, (point for point in points if first <= point <= last)))
    for k in range(1, 5):
        for other in (one[::-1], one[7:], one[:50] + one, "\0" + one, one.translate({first + 4: first + 5})):
            assert shingles.jaccard(one, other, k) == trace_spans.jaccard(one, other, k)


def test_every_pair_starts_afresh() -> None:
    """Small pairs after large ones, and texts of every kind in turn."""
    chance = random.Random(3)
    alphabets = ["ab ", "abcdefgh", "aé漢字", "漢a😀"]
    pairs = [
        tuple(
            "".join(chance.choices(chance.choice(alphabets), k=chance.choice([0, 3, 40, 700, 9000])))
            for _ in range(2)
        )
        for _ in range(60)
    ]
    for k in (3, 4):
        found = shingles.jaccards([a for a, _ in pairs], [b for _, b in pairs], k)
        assert list(found) == [trace_spans.jaccard(a, b, k) for a, b in pairs]


def test_long_texts() -> None:
    one = "".join(chr(97 + number * number % 23) for number in range(200_000))
    other = one[:100_000] + "x" + one[100_000:]
    assert shingles.jaccard(one, other, 4) == trace_spans.jaccard(one, other, 4)
    wide = "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9000), k=100_000)))
    assert shingles.jaccard(one + wide, wide + other, 3) == trace_spans.jaccard(one + wide, wide + other, 3)
    many = [str(number) * 3 for number in range(5000)]
    assert list(shingles.jaccards(many, many[::-1], 4)) == [
        shingles.jaccard(a, b, 4) for a, b in zip(many, many[::-1], strict=True)
    ]


def test_repeats_of_16_million_code_points() -> None:
    one = "abc" * 5_600_000
    assert shingles.jaccard(one, one[1:] + "d", 3) == 3 / 4
    ids, bounds = shingles.sets([one, "bca"], 3)
    assert (ids, bounds) == (int32([0, 1, 2, 1]), int32([0, 3, 4]))


def different_points(seed: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Make the code points of two texts that have 4,400,000 different 2-shingles together."""
    points = np.random.default_rng(seed).integers(0x20, 0xD7FF, (2, 2_400_000), dtype=np.uint32)
    points[1, :400_000] = points[0, 500_000:900_000]
    return points


def text_of(points: np.ndarray[Any, np.dtype[np.uint32]]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


@pytest.mark.slow
def test_more_different_shingles_than_are_held_at_once() -> None:
    points = different_points(1)
    a, b = (np.unique(row[:-1].astype(np.uint64) << 32 | row[1:]) for row in points)
    union_size = len(np.unique(np.concatenate([a, b])))
    assert union_size > 1 << 22
    expected = (len(a) + len(b) - union_size) / union_size
    assert shingles.jaccard(text_of(points[0]), text_of(points[1]), 2) == expected


def test_sets_of_many_texts() -> None:
    """Ids of one, two and three bytes, sorted within every set."""
    chance = random.Random(2)
    letters = list(map(chr, range(0x100, 0x180)))
    made = ["".join(chance.choices(letters, k=chance.choice([0, 5, 40, 300, 3000]))) for _ in range(150)]
    names: dict[str, int] = {}
    ids, bounds = shingles.sets(made, 4)
    for number, text in enumerate(made):
        for at in range(max(len(text) - 3, min(len(text), 1))):
            names.setdefault(text[at : at + 4], len(names))
        own = list(ids[bounds[number] : bounds[number + 1]])
        assert own == sorted(names[shingle] for shingle in trace_spans.shingles(text, 4))
    assert len(names) > 1 << 16


class Named(str):
    """A str of another class, whose own comparison is of no interest."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def test_subclasses_are_their_text() -> None:
    assert shingles.jaccards([Named("abc")], [Named("xbc")], 2)[0] == 1 / 3
    assert shingles.sets([Named("abc"), "abc"], 2) == shingles.sets(["abc", "abc"], 2)


@pytest.mark.parametrize("k", [0, -1, 5])
def test_lengths(k: int) -> None:
    for call in (lambda: shingles.jaccard("a", "b", k), lambda: shingles.sets([], k)):
        with pytest.raises(ValueError, match="1 to 4 code points"):
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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals here")
@pytest.mark.parametrize("name", ["jaccards", "sets", pytest.param("one pair", marks=pytest.mark.slow)])
def test_long_runs_can_be_interrupted(name: str) -> None:
    class StoppedError(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise StoppedError

    text = "".join(map(chr, random.Random(1).choices(range(97, 123), k=100_000)))
    many = [text, text[1:]] * 1000
    one, other = map(text_of, different_points(2)) if name == "one pair" else ("", "")
    calls: dict[str, Callable[[], object]] = {
        "sets": lambda: shingles.sets(many, 4),
        "jaccards": lambda: shingles.jaccards(many, many[1:] + many[:1], 4),
        "one pair": lambda: shingles.jaccard(one, other, 2),
    }
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(StoppedError):
            calls[name]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
