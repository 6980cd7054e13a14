"""Line starts and line-end counts (textdiff 9.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference import lines
from stratadiff._kernels import line_index
from strategies import (
    bad_byte_buffers,
    byte_buffers,
    in_four_threads,
    line_soup,
    mapped,
    shares_memory,
    translated,
)

ends_soup = translated((b"\n", b"\r", b"\r\n", b"a", b"\x00", b"bc"), 80)


def indexed(data: Any) -> tuple[list[int], int, int]:
    starts, lf_count, crlf_count = line_index.index_lines(data)
    return starts.tolist(), lf_count, crlf_count


def contents(data: bytes) -> list[bytes]:
    """Read the lines the way the index says, CR rule included."""
    starts, _, crlf_count = line_index.index_lines(data)
    found = [data[starts[i] : starts[i + 1] - 1] for i in range(len(starts) - 1)]
    if crlf_count > 0:
        found = [line[:-1] if line.endswith(b"\r") else line for line in found]
    return found


@given(st.one_of(ends_soup, line_soup))
@example(b"")
@example(b"\n")
@example(b"\r")
@example(b"\r\n")
@example(b"\n\n")
@example(b"\n\r")
def test_index_is_the_references(data: bytes) -> None:
    assert indexed(data) == lines.index(data)


@given(line_soup)
def test_lines_are_those_of_the_specification(data: bytes) -> None:
    text = lines.decode(data)
    assert [lines.decode(line) for line in contents(data)] == lines.split_lines(text)
    _, lf_count, crlf_count = line_index.index_lines(data)
    named = "LF" if crlf_count == 0 else "CRLF" if crlf_count == lf_count else "mixed"
    assert named == lines.endings(text)


@pytest.mark.parametrize(
    "size", [*range(20), *range(30, 35), *range(62, 67), *range(126, 131), 255, 256, 257]
)
def test_one_end_at_every_position(size: int) -> None:
    for filler in (b"a", b"\r", b"\x0b", b"\x8a", b"\xff"):
        assert indexed(filler * size) == lines.index(filler * size)
        for place in range(size):
            for end in (b"\n", b"\r\n"):
                data = filler * place + end + filler * (size - place - 1)
                assert indexed(data) == lines.index(data)


@pytest.mark.parametrize("offset", range(9))
def test_a_buffer_may_start_anywhere(offset: int) -> None:
    data = b"\n\r" * 4 + b"one\ntwo\r\n\nthree and some more\n" * 7
    part = memoryview(data)[offset : len(data) - offset]
    assert indexed(part) == lines.index(bytes(part))


def test_neighbouring_memory_is_not_read() -> None:
    around = memoryview(b"\n\n\n\nab\r\n\n\n\n")
    assert indexed(around[4:6]) == lines.index(b"ab")
    assert indexed(around[4:7]) == lines.index(b"ab\r")
    assert indexed(around[7:8]) == lines.index(b"\n")


@pytest.mark.parametrize("data", [b"", b"\n", b"a\r\nb\n\nc"])
def test_every_kind_of_buffer(data: bytes) -> None:
    for kind, buffer in byte_buffers(data).items():
        assert indexed(buffer) == lines.index(data), kind


@pytest.mark.parametrize("kind", bad_byte_buffers())
def test_other_buffers_are_refused(kind: str) -> None:
    with pytest.raises(ValueError):
        line_index.index_lines(bad_byte_buffers()[kind])


@pytest.mark.parametrize("value", [None, 3, "text", ["a"], object()])
def test_what_is_no_buffer_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        line_index.index_lines(value)


def test_result_shares_memory_with_numpy() -> None:
    for data in (b"", b"a\nb", b"\n" * 1000):
        assert shares_memory(line_index.index_lines(data)[0])


def test_a_mapping_is_released() -> None:
    data = mapped(b"a\nb\n")
    line_index.index_lines(data)
    data.close()


def test_a_million_lines() -> None:
    data = b"".join(b"%d\r\n" % number for number in range(1_000_000))
    starts, lf_count, crlf_count = line_index.index_lines(data)
    assert (len(starts) - 1, lf_count, crlf_count) == (1_000_000, 1_000_000, 1_000_000)
    assert (starts[0], starts[1], starts[-1]) == (0, 3, len(data))
    assert data[starts[999_999] : starts[1_000_000] - 1] == b"999999\r"


def test_only_line_ends() -> None:
    starts, lf_count, crlf_count = line_index.index_lines(b"\n" * 1_000_000)
    assert (starts.tolist(), lf_count, crlf_count) == (list(range(1_000_001)), 1_000_000, 0)


def test_one_huge_line() -> None:
    assert indexed(b"a" * 5_000_000) == ([0, 5_000_001], 0, 0)


def test_threads_get_the_same() -> None:
    data = b"one\ntwo\r\nthree\n" * 5000
    expected = lines.index(data)
    assert all(result == expected for result in in_four_threads(lambda: indexed(data)))


def test_u05_a_missing_final_newline_opens_no_line() -> None:
    assert contents(b"x") == [b"x"]
    assert contents(b"a\nb") == contents(b"a\nb\n") == [b"a", b"b"]
    assert contents(b"a\nb\n\n") == [b"a", b"b", b""]


def test_u06_only_lf_ends_a_line() -> None:
    crafted = "a\u2028+++ b\n\x0cc\x85\x0b\x1c\x1d\x1e\u0085\u2029\n".encode()
    assert contents(crafted) == crafted.split(b"\n")[:2]
    assert indexed(crafted)[1:] == (2, 0)


def test_u07_line_ends_are_not_content() -> None:
    assert contents(b"a\r\nb\r\n") == [b"a", b"b"]
    # Mixed ends: one CR LF makes a trailing CR an end everywhere, at the unterminated last line too.
    assert contents(b"a\r\nb\nc\r") == [b"a", b"b", b"c"]
    # A lone CR inside a line stays content, and so does the first of two.
    assert contents(b"a\rb\r\nc\r\r\n") == [b"a\rb", b"c\r"]
    assert contents(b"a\rb\nc\r") == [b"a\rb", b"c\r"]
