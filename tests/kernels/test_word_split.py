"""Word tokens of changed line pairs (textdiff 8.3)."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import unicode15, words
from reference.words import MAX_PAIR_CHARS, MAX_PAIR_WORDS, WHITE_SPACE
from stratadiff._kernels import word_split
from strategies import (
    bad_byte_buffers,
    bad_int_buffers,
    byte_buffers,
    in_four_threads,
    int32,
    int_buffers,
    shares_memory,
    translated,
    word_soup,
)

Ranges = Sequence[tuple[int, int, int, int]]
Split: TypeAlias = "tuple[array[int], array[int], array[int], array[int], array[int], array[int]]"

# Code points of every kind, surrogates as the kernel gets them in JSON mode.
json_soup = translated(
    (
        b"a",
        b"_1",
        b" ",
        b"\t\xc2\xa0",
        b".",
        b"\\",
        "é".encode(),
        "漢".encode(),
        "\u0301".encode(),
        "👩".encode(),
        b"\xed\xa0\xbd",
        b"\xed\xb0\x80",
        b"\xed\xbf\xbf",
        "\ud7ff".encode(),
        "\ue000".encode(),
    ),
    24,
)


def decode(data: bytes, surrogates: bool) -> str:
    return data.decode("utf-8", "surrogatepass" if surrogates else "surrogateescape")


def split(
    a: Any,
    b: Any,
    ranges: Ranges,
    surrogates: bool = False,
    max_chars: int = MAX_PAIR_CHARS,
    max_words: int = MAX_PAIR_WORDS,
) -> Split:
    flat = int32(number for pair in ranges for number in pair)
    return word_split.split_pairs(a, b, flat, surrogates, max_chars, max_words)


def side(edges: array[int], ids: array[int], bounds: array[int], pair: int) -> tuple[list[int], list[int]]:
    """Read one side of one pair: its edges, one more than tokens, and its ids."""
    first, last = bounds[pair], bounds[pair + 1]
    return edges[first + pair : last + pair + 1].tolist(), ids[first:last].tolist()


def check(
    a: bytes, b: bytes, ranges: Ranges, surrogates: bool, max_chars: int, max_words: int, result: Split
) -> None:
    """Compare with the reference, token by token."""
    a_edges, a_ids, a_bounds, b_edges, b_ids, b_bounds = result
    for edges, ids, bounds in ((a_edges, a_ids, a_bounds), (b_edges, b_ids, b_bounds)):
        assert len(bounds) == len(ranges) + 1
        assert bounds[0] == 0
        assert len(ids) == bounds[-1]
        assert len(edges) == bounds[-1] + len(ranges)
    for number, (a_start, a_end, b_start, b_end) in enumerate(ranges):
        old, new = decode(a[a_start:a_end], surrogates), decode(b[b_start:b_end], surrogates)
        old_tokens, new_tokens = words.tokens(old), words.tokens(new)
        old_edges, old_ids = side(a_edges, a_ids, a_bounds, number)
        new_edges, new_ids = side(b_edges, b_ids, b_bounds, number)
        too_long = len(old) + len(new) > max_chars or len(old_tokens) + len(new_tokens) > max_words
        if too_long:
            assert (old_edges, old_ids, new_edges, new_ids) == ([a_start], [], [b_start], [])
            continue
        assert (old_edges[0], old_edges[-1], new_edges[0], new_edges[-1]) == (a_start, a_end, b_start, b_end)
        assert [decode(a[x:y], surrogates) for x, y in pairwise(old_edges)] == old_tokens
        assert [decode(b[x:y], surrogates) for x, y in pairwise(new_edges)] == new_tokens
        # Ids are equal exactly where tokens are: the two numberings go together one to one.
        named = set(zip(old_ids + new_ids, old_tokens + new_tokens, strict=True))
        assert len(named) == len(set(old_ids + new_ids)) == len(set(old_tokens + new_tokens))


def check_split(
    a: bytes,
    b: bytes,
    ranges: Ranges,
    surrogates: bool = False,
    max_chars: int = MAX_PAIR_CHARS,
    max_words: int = MAX_PAIR_WORDS,
) -> None:
    result = split(a, b, ranges, surrogates, max_chars, max_words)
    check(a, b, ranges, surrogates, max_chars, max_words, result)


def joined(sides: Sequence[tuple[bytes, bytes]], gap: bytes) -> tuple[bytes, bytes, list[Any]]:
    """Put the lines of many pairs into two buffers, with `gap` around each."""
    a = b = gap
    ranges = []
    for old, new in sides:
        ranges.append((len(a), len(a) + len(old), len(b), len(b) + len(new)))
        a += old + gap
        b += new + gap
    return a, b, ranges


@given(
    st.lists(st.tuples(word_soup, word_soup), max_size=3),
    st.sampled_from((b"\n", b"", b"x", b"\xa9\x80\x80")),
)
def test_tokens_are_the_references(sides: list[tuple[bytes, bytes]], gap: bytes) -> None:
    """What stands around a line, continuation bytes even, never joins it."""
    check_split(*joined(sides, gap))


@given(st.binary(max_size=24), st.binary(max_size=24))
def test_any_bytes(old: bytes, new: bytes) -> None:
    check_split(*joined([(old, new)], b"\n"))


@given(st.lists(st.tuples(json_soup, json_soup), max_size=3))
def test_surrogates_are_code_points(sides: list[tuple[bytes, bytes]]) -> None:
    check_split(*joined(sides, b"\n"), surrogates=True)


@given(word_soup, word_soup, st.integers(0, 20), st.integers(0, 12))
def test_small_caps(old: bytes, new: bytes, max_chars: int, max_words: int) -> None:
    check_split(*joined([(old, new), (b"a", b"b")], b"\n"), max_chars=max_chars, max_words=max_words)


@given(word_soup, word_soup, st.integers(-1, 1), st.booleans())
def test_right_at_the_caps(old: bytes, new: bytes, beside: int, of_words: bool) -> None:
    chars = len(decode(old, False)) + len(decode(new, False))
    count = len(words.tokens(decode(old, False))) + len(words.tokens(decode(new, False)))
    a, b, ranges = joined([(old, new)], b"\n")
    if of_words:
        check_split(a, b, ranges, max_words=max(0, count + beside))
    else:
        check_split(a, b, ranges, max_chars=max(0, chars + beside))


@pytest.mark.parametrize("size", [9_999, 10_000, 10_001])
@pytest.mark.parametrize("char", ["a", "漢", "😀"])
def test_twenty_thousand_characters(size: int, char: str) -> None:
    # Emoji are a token each, so only the cap on words is in their way.
    a, b = char.encode() * size, char.encode() * 10_000
    check_split(a, b, [(0, len(a), 0, len(b))])
    check_split(a, b, [(0, len(a), 0, len(b))], max_words=100_000)


@pytest.mark.parametrize("size", [999, 1_000, 1_001])
def test_two_thousand_words(size: int) -> None:
    a, b = b"." * size, b"a " * 500
    check_split(a, b, [(0, len(a), 0, len(b))])


def test_an_undecodable_byte_counts_as_one_character() -> None:
    a, b = b"\xff" * 6, b"\xe2\x82" * 2
    check_split(a, b, [(0, 6, 0, 4)], max_chars=10)
    check_split(a, b, [(0, 6, 0, 4)], max_chars=9)


def test_surrogate_bytes_are_undecodable_in_text() -> None:
    line = b"a\xed\xa0\x80b"
    edges = split(line, b"", [(0, 5, 0, 0)])[0]
    assert edges.tolist() == [0, 1, 2, 3, 4, 5]
    edges = split(line, b"", [(0, 5, 0, 0)], surrogates=True)[0]
    assert edges.tolist() == [0, 1, 4, 5]


def test_ids_are_comparable_within_a_pair() -> None:
    result = split(b"one two one", b"two two", [(0, 11, 0, 7)])
    one, space, two, _, again = result[1]
    assert again == one
    assert result[4].tolist() == [two, space, two]
    assert len({one, two, space}) == 3


def test_words_that_differ_in_their_last_byte_only() -> None:
    for size in (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64):
        base = "x" * (size - 1)
        a = " ".join(base + char for char in "abcABC019_").encode()
        check_split(a, a[::-1], [(0, len(a), 0, len(a))])


@pytest.mark.parametrize("plane", range(17))
def test_every_code_point(plane: int) -> None:
    """The class of each character: two of them, then one between a letter and a space."""
    data = bytearray()
    ranges = []
    chars = []
    for code in range(plane * 0x10000, (plane + 1) * 0x10000):
        if 0xD800 <= code <= 0xDFFF or code > sys.maxunicode:
            continue
        char = chr(code)
        start = len(data)
        data += f"{char}{char}".encode()
        middle = len(data)
        data += f"a{char} ".encode()
        ranges.append((start, middle, middle, len(data)))
        chars.append(char)
    result = split(bytes(data), bytes(data), ranges)
    a_counts = [last - first for first, last in pairwise(result[2])]
    b_counts = [last - first for first, last in pairwise(result[5])]
    for char, twice, between in zip(chars, a_counts, b_counts, strict=True):
        is_space, is_word = char in WHITE_SPACE, unicode15.in_ranges(ord(char), unicode15.TABLE["word"])
        expected = (1, 2) if is_space or is_word else (2, 3)
        assert (twice, between) == expected, f"U+{ord(char):04X}"
    for number in (0, 9, 48, 65, 95):
        if plane == 0:
            # A space joins the space after it, a word character the letter before it.
            edges, _ = side(result[3], result[4], result[5], number)
            joins_letter = edges[1] - edges[0] == 2
            assert joins_letter == unicode15.in_ranges(number, unicode15.TABLE["word"])


def test_white_space_and_words_are_told_apart_everywhere() -> None:
    chars = [chr(code) for code in range(0x3100) if not 0xD800 <= code <= 0xDFFF]
    line = "".join(f"a{char}a " for char in chars).encode()
    check_split(line, line, [(0, len(line), 0, 0)], max_chars=10**6, max_words=10**6)


def test_no_pair() -> None:
    result = split(b"abc", b"abc", [])
    assert [part.tolist() for part in result] == [[], [], [0], [], [], [0]]


def test_empty_lines() -> None:
    check_split(b"", b"", [(0, 0, 0, 0)])
    check_split(b"ab", b"cd", [(2, 2, 0, 2), (1, 1, 2, 2), (0, 2, 1, 1)])


def test_pairs_in_any_order_and_overlapping() -> None:
    check_split(
        b"one two three", b"four five six", [(4, 13, 5, 13), (0, 7, 0, 9), (4, 7, 0, 4), (4, 13, 5, 13)]
    )


def test_every_kind_of_buffer() -> None:
    a, b = "one é\xa0two".encode() + b"\xff", b"one two"
    flat = [0, len(a), 0, len(b)]
    for kind, buffer in byte_buffers(a).items():
        result = word_split.split_pairs(buffer, byte_buffers(b)[kind], int32(flat), False, 100, 100)
        check(a, b, [(0, len(a), 0, len(b))], False, 100, 100, result)
    for buffer in int_buffers(flat).values():
        result = word_split.split_pairs(a, b, buffer, False, 100, 100)
        check(a, b, [(0, len(a), 0, len(b))], False, 100, 100, result)
        assert all(shares_memory(part) for part in result)


@pytest.mark.parametrize("kind", bad_byte_buffers())
def test_other_text_buffers_are_refused(kind: str) -> None:
    bad = bad_byte_buffers()[kind]
    with pytest.raises(ValueError):
        split(bad, b"a", [(0, 1, 0, 1)])
    with pytest.raises(ValueError):
        split(b"a", bad, [(0, 1, 0, 1)])


@pytest.mark.parametrize("kind", bad_int_buffers())
def test_other_pair_buffers_are_refused(kind: str) -> None:
    with pytest.raises(ValueError):
        word_split.split_pairs(b"abcdef", b"abcdef", bad_int_buffers()[kind], False, 100, 100)


@pytest.mark.parametrize(
    "flat",
    [
        [0],
        [0, 1, 0],
        [0, 1, 0, 1, 0],
        [0, 4, 0, 1],
        [0, 1, 0, 4],
        [2, 1, 0, 1],
        [0, 1, 2, 1],
        [-1, 1, 0, 1],
        [0, 1, -1, 1],
        [0, -1, 0, 1],
        [4, 4, 0, 0],
        [0, 2**31 - 1, 0, 1],
        [-(2**31), 2**31 - 1, 0, 1],
        [0, 1, 0, 1, 0, 1, 3, 4],
    ],
)
def test_inconsistent_pairs_are_refused(flat: list[int]) -> None:
    with pytest.raises(ValueError):
        word_split.split_pairs(b"abc", b"abc", int32(flat), False, 100, 100)


def test_a_million_characters() -> None:
    a = b"word, " * 200_000
    result = split(a, a, [(0, len(a), 0, len(a))], max_chars=10**7, max_words=10**7)
    assert len(result[1]) == len(result[4]) == 600_000
    assert set(result[1]) == set(result[4])
    assert len(set(result[1])) == 3


def test_many_pairs() -> None:
    a, b, ranges = joined([(b"a b%d" % number, b"a c%d" % number) for number in range(20_000)], b"\n")
    result = split(a, b, ranges)
    assert result[2].tolist() == result[5].tolist() == list(range(0, 60_001, 3))
    check(a, b, ranges, False, MAX_PAIR_CHARS, MAX_PAIR_WORDS, result)


def test_threads_get_the_same() -> None:
    a, b, ranges = joined(
        [(b"one two %d" % number, b"one three %d" % number) for number in range(500)], b"\n"
    )
    wanted = split(a, b, ranges)
    assert all(result == wanted for result in in_four_threads(lambda: split(a, b, ranges)))
