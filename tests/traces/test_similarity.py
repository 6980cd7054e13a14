"""Words, TF-IDF, shingles, white space (levels 1.1, 3.2, 4.3)."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_axes, trace_spans, trace_turns
from stratadiff.traces.similarity import WHITE_SPACE, Words, collapsed, shingle_similarities, words_of

texts = st.one_of(
    st.text("ab cd,.E\u0301é\u0130ΣςσA \n", max_size=30),
    st.text(max_size=30),
    st.text("\x1c\x1d\x1e\x1f \t\u0085\u2028ab", max_size=12),
)


def words_by_definition(text: str) -> list[str]:
    return [token for token in trace_axes.tokens(text) if token]


@given(texts)
def test_words_are_those_of_the_definition(text: str) -> None:
    assert words_of(text) == words_by_definition(text)


def test_words_of_every_code_point() -> None:
    known = [chr(point) for point in range(sys.maxunicode + 1)]
    known = [char for char in known if unicodedata.category(char) not in ("Cn", "Co")]
    for start in range(0, len(known), 4096):
        text = " | ".join(f"a{char}B" for char in known[start : start + 4096])
        assert words_of(text) == words_by_definition(text)


def test_no_word_character_is_white_space() -> None:
    # Words are cut by `str.split`, which must not cut inside them.
    for point in range(sys.maxunicode + 1):
        assert not (chr(point).isspace() and unicodedata.category(chr(point))[0] in "LNM")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't_stop 3.14", ["don", "t", "stop", "3", "14"]),
        ("ΟΔΟΣ", ["οδοσ"]),  # no final sigma
        ("İx", ["i\u0307x"]),
        ("e\u0301", ["é"]),
        ("नमस्ते", ["नमस्ते"]),  # vowel signs are marks
        ("x²½ Ⅷ", ["x²½", "ⅷ"]),
        ("  ", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.lists(st.tuples(texts, texts), max_size=6), st.data())
def test_similarities_are_those_of_the_definition(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    flat = [text for pair in pairs for text in pair]
    words = Words([*(["much else"] * 3), "that is not compared here at all", *flat])
    some = [index for index in range(len(pairs)) if data.draw(st.booleans())]
    found = words.similarities([4 + 2 * index for index in some], [5 + 2 * index for index in some])
    assert found == trace_axes.similarities([pairs[i][0] for i in some], [pairs[i][1] for i in some])


@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_shingles_are_those_of_the_definition(pairs: list[tuple[str, str]]) -> None:
    found = shingle_similarities([old for old, _ in pairs], [new for _, new in pairs])
    sets = [[set(trace_spans.shingles(text, 4)) for text in pair] for pair in pairs]
    assert found == [trace_turns.jaccard(*pair) for pair in sets]


@given(texts)
def test_collapsed_texts_are_those_of_the_definition(text: str) -> None:
    assert collapsed(text) == trace_turns.collapsed(text)


def test_white_space() -> None:
    assert WHITE_SPACE == trace_axes.WHITE_SPACE
    python = {chr(point) for point in range(sys.maxunicode + 1) if chr(point).isspace()}
    assert python - set(WHITE_SPACE) == set("\x1c\x1d\x1e\x1f")
    assert collapsed("\x85a\u3000 \t\x1cb\x1f ") == "a \x1cb\x1f"
