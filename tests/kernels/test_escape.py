"""Displayed text: escapes, the window of a long line, spans carried through (textdiff 8.1 to 8.4)."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kernels import pipeline
from reference import escaping, golden, hunks, jsonform, lines, words
from stratadiff._kernels import escape
from strategies import (
    bad_byte_buffers,
    bad_int_buffers,
    byte_buffers,
    in_four_threads,
    int32,
    int_buffers,
    line_soup,
    shares_memory,
    translated,
    word_soup,
)

# What JSON mode meets: no undecodable byte, but lone surrogates as three bytes.
json_soup = translated(
    (
        b"a",
        b" ",
        b"\\",
        b'"',
        b"\x7f",
        "é\u00ad".encode(),
        "漢\u2028\ufeff".encode(),
        "\U000e0020\U0001d173😀".encode(),
        b"\xed\xa0\xbd",
        b"\xed\xb0\x80",
        b"\xed\xbf\xbf",
        "\ud7ff\ue000\uffff".encode(),
    ),
    24,
)


def as_json_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


@given(st.one_of(line_soup, st.binary(max_size=40)))
def test_escape_is_the_references(data: bytes) -> None:
    assert escape.escape_text(data).decode() == escaping.escape(lines.decode(data), escaping.TEXT)


@given(json_soup)
def test_escape_in_json_mode(data: bytes) -> None:
    found = escape.escape_text(data, backslash=False, surrogates=True).decode()
    assert found == escaping.escape(as_json_text(data), escaping.JSON)
    found = escape.escape_text(data, backslash=True, surrogates=True).decode()
    assert found == escaping.escape_name(as_json_text(data))


@given(line_soup, line_soup)
def test_escape_of_a_prefix_is_a_prefix(head: bytes, tail: bytes) -> None:
    """Character by character, wherever the data is cut between characters."""
    head_text, tail_text = head.decode("utf-8", "ignore"), tail.decode("utf-8", "ignore")
    whole = escape.escape_text((head_text + tail_text).encode())
    assert whole == escape.escape_text(head_text.encode()) + escape.escape_text(tail_text.encode())


def test_every_code_point() -> None:
    for first in range(0, sys.maxunicode + 1, 0x4000):
        for code in range(first, first + 0x4000):
            if not 0xD800 <= code <= 0xDFFF and code in escaping.ESCAPED | {0x5C}:
                char = chr(code)
                found = escape.escape_text(char.encode())
                assert found.decode() == escaping.escape_char(char, escaping.TEXT)
        text = "".join(chr(code) for code in range(first, first + 0x4000) if not 0xD800 <= code <= 0xDFFF)
        found = escape.escape_text(text.encode())
        assert found.decode() == escaping.escape(text, escaping.TEXT)


def test_every_surrogate() -> None:
    for code in range(0xD800, 0xE000):
        data = chr(code).encode("utf-8", "surrogatepass")
        as_bytes = "".join(f"\\x{byte:02x}" for byte in data).encode()
        assert escape.escape_text(data, surrogates=True) == f"\\u{code:04x}".encode()
        assert escape.escape_text(data) == as_bytes


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129])
def test_one_escaped_character_at_every_position(size: int) -> None:
    """Blocks of a machine's word are skipped at once where nothing in them is escaped."""
    for filler in ("x", "é", "漢"):
        for place in range(size + 1):
            for char in (
                "\x1f",
                "\x7f",
                "\\",
                "\u009f",
                "\u00ad",
                "\u200b",
                "\ufeff",
                "\U000e0001",
                "\U0001bca0",
            ):
                text = filler * place + char + filler * (size - place)
                found = escape.escape_text(text.encode()).decode()
                assert found == filler * place + escaping.escape_char(char, escaping.TEXT) + filler * (
                    size - place
                )
            data = filler.encode() * place + b"\xff" + filler.encode() * (size - place)
            expected = filler * place + "\\xff" + filler * (size - place)
            assert escape.escape_text(data).decode() == expected


@pytest.mark.parametrize("size", [0, 1, 62, 63, 64, 65, 66, 127, 128, 129])
@pytest.mark.parametrize(
    "broken",
    [
        b"\xc3", b"\xe2\x82", b"\xe2", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xf0", b"\x80", b"\xbf\xbf",
        b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff\xfe", b"\xe2\x82\xe2\x82\xac",
        b"\xf0\x9f\x98\xf0\x9f\x98\x80", b"\xc3\xc3\xa9",
    ],
)  # fmt: skip
def test_broken_sequences(broken: bytes, size: int) -> None:
    for data in (
        b"a" * size + broken,
        b"a" * size + broken + b"b" * 70,
        "é".encode() * size + broken * 3 + b"\n",
    ):
        assert escape.escape_text(data).decode() == escaping.escape(lines.decode(data), escaping.TEXT)


def test_nothing_escaped_is_not_copied() -> None:
    data = "nothing here is escaped: é 漢字 😀".encode() * 10
    assert escape.escape_text(data) is data
    assert escape.escape_text(b"") == b""
    assert escape.escape_text(b"a\\b", backslash=False) == b"a\\b"


def test_u08_no_terminal_control_passes() -> None:
    assert escape.escape_text(b"\x1b]0;T\x07\r\xc2\x9b2J\x9b2J\n") == (
        rb"\u001b]0;T\u0007\u000d\u009b2J\x9b2J\u000a"
    )


def test_u09_format_characters_and_ordinary_ones() -> None:
    assert escape.escape_text("a\u202eb x\u2066y\u200b".encode()).decode() == r"a\u202eb x\u2066y\u200b"
    ordinary = "∀ → λ é 漢 \u0301 \u00a0 \ue000 \U0010ffff"
    assert escape.escape_text(ordinary.encode()).decode() == ordinary
    assert escape.escape_text("👩\u200d👩".encode()).decode() == r"👩\u200d👩"
    assert escape.escape_text("\U000e0001".encode()) == rb"\udb40\udc01"


@pytest.mark.parametrize("data", [b"", b"plain", b"a\\\x00\xff"])
def test_every_kind_of_buffer(data: bytes) -> None:
    expected = escaping.escape(lines.decode(data), escaping.TEXT)
    for kind, buffer in byte_buffers(data).items():
        assert escape.escape_text(buffer).decode() == expected, kind


def test_neighbouring_memory_is_not_read() -> None:
    around = memoryview("a漢\u2028".encode())
    assert escape.escape_text(around[1:3]) == rb"\xe6\xbc"
    assert escape.escape_text(around[4:6]) == rb"\xe2\x80"
    assert escape.escape_text(around[2:4]) == rb"\xbc\xa2"


@pytest.mark.parametrize("kind", bad_byte_buffers())
def test_other_buffers_are_refused(kind: str) -> None:
    with pytest.raises(ValueError):
        escape.escape_text(bad_byte_buffers()[kind])


def test_five_million_bytes() -> None:
    assert escape.escape_text(b"\x00" * 5_000_000) == b"\\u0000" * 5_000_000
    assert escape.escape_text(b"\xff\\" * 1_000_000) == b"\\xff\\\\" * 1_000_000
    data = "漢".encode() * 1_500_000
    assert escape.escape_text(data) == data


# Rows.


def shown_lines(parts: list[bytes], mode: str) -> list[str]:
    """Show unchanged lines through the kernel."""
    data = b"\n".join(parts)
    rows = []
    start = 0
    for number, part in enumerate(parts):
        rows += [0, number, number, -1, start, start + len(part)]
        start += len(part) + 1
    none, bounds = int32([]), int32([0])
    text, text_bounds, spans, span_bounds = escape.show_rows(
        data, data, int32(rows), none, none, bounds, none, bounds, none, bounds,
        backslash=mode == escaping.TEXT, surrogates=mode == escaping.JSON, marks=True,
    )  # fmt: skip
    assert spans.tolist() == []
    assert span_bounds.tolist() == [0] * (len(parts) + 1)
    assert all(shares_memory(part) for part in (text_bounds, spans, span_bounds))
    assert (text_bounds[0], text_bounds[-1]) == (0, len(text))
    return [text[text_bounds[at] : text_bounds[at + 1]].decode() for at in range(len(parts))]


@given(st.lists(word_soup, max_size=4))
def test_rows_of_unchanged_lines(parts: list[bytes]) -> None:
    expected = [escaping.shown(lines.decode(part), escaping.TEXT) for part in parts]
    assert shown_lines(parts, escaping.TEXT) == expected


@given(st.lists(json_soup, max_size=4))
def test_rows_of_unchanged_lines_in_json_mode(parts: list[bytes]) -> None:
    expected = [escaping.shown(as_json_text(part), escaping.JSON) for part in parts]
    assert shown_lines(parts, escaping.JSON) == expected


@pytest.mark.parametrize("size", [1999, 2000, 2001, 2002, 2999, 3000, 100_000])
@pytest.mark.parametrize("char", [b"x", "é".encode(), "漢".encode(), "😀".encode(), b"\xff", b"\\", b"\x1b"])
def test_window_of_an_unchanged_line(size: int, char: bytes) -> None:
    for part in (char * size, b"a" + char * (size - 1), char * (size - 1) + b"\xe2"):
        assert shown_lines([part], escaping.TEXT) == [escaping.shown(lines.decode(part), escaping.TEXT)]


def show_pair(
    old: str, new: str, algorithm: str, mode: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Show one changed pair: by the kernels, with its one line on each side, and by the reference."""
    errors = "surrogateescape" if mode == escaping.TEXT else "surrogatepass"
    a, b = old.encode("utf-8", errors), new.encode("utf-8", errors)
    shown = pipeline.show(a, b, int32([3, 0, 1, 0, 1]), algorithm, 3, 9, json_mode=mode == escaping.JSON)
    wanted = hunks.pair_items(old, new, 0, 0, algorithm, mode)
    return pipeline.items(shown), wanted


algorithms = st.sampled_from(("myers", "gestalt"))


@given(word_soup, word_soup, word_soup, algorithms)
def test_pair_with_a_common_start(head: bytes, old: bytes, new: bytes, algorithm: str) -> None:
    old_text, new_text = lines.decode(head + old + b" end"), lines.decode(head + new + b" end")
    assume(old_text != new_text)
    found, wanted = show_pair(old_text, new_text, algorithm, escaping.TEXT)
    assert found == wanted


@given(json_soup, json_soup, json_soup, algorithms)
def test_pair_in_json_mode(head: bytes, old: bytes, new: bytes, algorithm: str) -> None:
    old_text, new_text = as_json_text(head + old), as_json_text(head + new)
    assume(old_text != new_text)
    found, wanted = show_pair(old_text, new_text, algorithm, escaping.JSON)
    assert found == wanted


# Few tokens each, for the reference's sake.
LETTERS = "abcdefghijklmnopqrst" * 4
FILLERS = (
    "x",
    "漢",
    f"{LETTERS} ",
    f"é.{LETTERS}",
    f"\\{LETTERS}",
    f"\x1b[{LETTERS}",
    f"\u202e{LETTERS}\udcff",
    f"\U000e0001{LETTERS}",
)


@st.composite
def long_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two lines around the window's size that differ in one to three places."""
    raw = draw(st.binary(min_size=8, max_size=8))
    filler = FILLERS[raw[0] % len(FILLERS)]
    sizes = (1999, 2000, 2001, 2039, 2041, 2100) if len(filler) > 1 else (1999, 2000, 2001, 4000, 4100)
    size = sizes[raw[1] % len(sizes)]
    old = new = (filler * size)[:size]
    for where, piece in zip(raw[2:5], raw[5:8], strict=True):
        place = where * size // 255
        new = new[:place] + ("a", " b ", "", "\udc80", "Q" * 50)[piece % 5] + new[place + piece % 3 :]
    assume(old != new)
    return (old, new) if raw[0] < 128 else (new, old)


@given(long_pairs(), algorithms)
def test_pair_of_long_lines(pair: tuple[str, str], algorithm: str) -> None:
    found, wanted = show_pair(*pair, algorithm, escaping.TEXT)
    assert found == wanted


@pytest.mark.parametrize("algorithm", ["myers", "gestalt"])
@pytest.mark.parametrize(
    "place", [0, 39, 40, 41, 42, 1959, 1960, 1999, 2000, 2039, 2040, 2041, 2500, 3959, 3999, 4000]
)
def test_window_around_a_difference(place: int, algorithm: str) -> None:
    for filler in ("abcdefghijklmnop ", "é", "\\\x1ba"):
        base = (filler * 4000)[:4000]
        for new in (base[:place] + "XYZ" + base[place:], base[:place] + "QR" + base[place + 1 :]):
            found, wanted = show_pair(base, new, algorithm, escaping.TEXT)
            assert found == wanted


@pytest.mark.parametrize("algorithm", ["myers", "gestalt"])
@pytest.mark.parametrize("size", [9_999, 10_000, 10_001])
def test_too_long_to_mark(size: int, algorithm: str) -> None:
    for old, new in (
        ("a" * size, "a" * 5_000 + "b" * 5_000),
        ("a" * size, "a" * 10_000),
        ("ab" * (size // 2) + "c", "ab" * 5_000),
        ("é" * size, "é" * 4_000 + "\udcff" + "é" * 5_999),
        ("x" + "aa" * 4_999 + "a" * (size - 9_999), "x" + "aa" * 4_998 + "bcd"),
    ):
        for first, second in ((old, new), (new, old)):
            if first != second:
                found, wanted = show_pair(first, second, algorithm, escaping.TEXT)
                assert found == wanted


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_too_many_words_to_mark(count: int) -> None:
    for old, new in (
        ("." * count, "." * 999 + "!"),
        (". " * (count // 2), "a " * 500),
        ("." * count, "." * 1000 + "x"),
    ):
        if old != new:
            found, wanted = show_pair(old, new, "myers", escaping.TEXT)
            assert found == wanted


def test_u11_one_enormous_line() -> None:
    old = '{"k":[' + ",".join(f'"{number}"' for number in range(600_000)) + "]}"
    place = old.index('"510000"')
    new = old[: place + 1] + "9" + old[place + 2 :]
    found, wanted = show_pair(old, new, "myers", escaping.TEXT)
    assert found == wanted
    assert [len(item["spans"]) for item in found] == [1, 1]


def test_rows_without_marks() -> None:
    a, b = b"one two\n", b"one 2\n"
    with_marks = pipeline.show(a, b, int32([3, 0, 1, 0, 1]), "myers", 3, 9)
    without = pipeline.show(a, b, int32([3, 0, 1, 0, 1]), "myers", 3, 9, marks=False)
    assert pipeline.items(without)[:2] == pipeline.items(with_marks)[:2]
    assert pipeline.items(with_marks)[2]["text"] == "one [-two-]{+2+}"
    assert pipeline.items(without)[2]["text"] == ""


def arguments() -> list[Any]:
    """Give good positional arguments of `show_rows`: one pair of lines, three rows."""
    a, b = b"one two", b"one 2"
    rows = [1, 0, -1, 0, 0, 7, 2, -1, 0, 0, 0, 5, 3, -1, -1, 0, 0, 0]
    pairs = int32([0, 7, 0, 5])
    found = pipeline.diff_words(a, b, pairs, "myers", False)
    return [
        a,
        b,
        int32(rows),
        pairs,
        found.a_edges,
        found.a_bounds,
        found.b_edges,
        found.b_bounds,
        found.ops,
        found.op_bounds,
    ]


def show(given_arguments: list[Any]) -> tuple[bytes, Any, Any, Any]:
    function: Any = escape.show_rows
    found: tuple[bytes, Any, Any, Any] = function(
        *given_arguments, backslash=True, surrogates=False, marks=True
    )
    return found


def test_every_kind_of_row_buffer() -> None:
    wanted = show(arguments())
    assert wanted[0] == b"one twoone 2one [-two-]{+2+}"
    assert wanted[2].tolist() == [4, 7, 4, 5]
    for place in range(10):
        good = arguments()
        kinds = byte_buffers(good[place]) if place < 2 else int_buffers(good[place].tolist())
        for kind, buffer in kinds.items():
            good[place] = buffer
            assert show(good) == wanted, (place, kind)


@pytest.mark.parametrize("place", range(10))
def test_other_row_buffers_are_refused(place: int) -> None:
    for kind, buffer in (bad_byte_buffers() if place < 2 else bad_int_buffers()).items():
        bad = arguments()
        bad[place] = buffer
        with pytest.raises(ValueError):
            show(bad)
            pytest.fail(f"{kind} was taken")


FAR = 2**31 - 1


@pytest.mark.parametrize(
    ("place", "values"),
    [
        (2, [0]),
        (2, [0, 0, 0, -1, 0]),
        (2, [0, 0, 0, -1, 0, 8]),
        (2, [0, 0, 0, -1, -1, 5]),
        (2, [0, 0, 0, -1, 5, 2]),
        (2, [0, 0, 0, -1, 0, FAR]),
        (2, [0, 0, 0, -1, -FAR - 1, FAR]),
        (2, [2, -1, 0, -1, 0, 6]),
        (2, [1, 0, -1, 1, 0, 7]),
        (2, [1, 0, -1, FAR, 0, 7]),
        (2, [3, -1, -1, 1, 0, 0]),
        (2, [3, -1, -1, -1, 0, 0]),
        (2, [4, 0, 0, -1, 0, 7]),
        (2, [-1, 0, 0, -1, 0, 7]),
        (3, [0, 7, 0]),
        (3, [0, 8, 0, 5]),
        (3, [0, 7, 0, 6]),
        (3, [-1, 7, 0, 5]),
        (3, [5, 4, 0, 5]),
        (3, [0, FAR, 0, 5]),
        (3, []),
        (4, []),
        (4, [0, 3, 4]),
        (4, [0, 3, 4, 8]),
        (4, [0, 4, 3, 7]),
        (4, [-1, 3, 4, 7]),
        (4, [0, 3, FAR, 7]),
        (5, []),
        (5, [0]),
        (5, [0, 4]),
        (5, [0, -1]),
        (5, [1, 3]),
        (5, [0, FAR]),
        (6, []),
        (6, [0, 3, 4, 6]),
        (6, [0, 4, 3, 5]),
        (7, []),
        (7, [0]),
        (7, [0, 4]),
        (7, [3, 0]),
        (8, [0]),
        (8, [0, 0, 2, 0, 2, 3, 2, 4, 2, 3]),
        (8, [0, 0, 2, 0, 2, 3, 2, 3, 2, 4]),
        (8, [0, 0, 2, 0, 2, 3, -2, 3, 2, 3]),
        (8, [0, 0, 2, 0, 2, 3, 3, 2, 2, 3]),
        (8, [0, 0, 2, 0, 2, 3, 2, FAR, 2, 3]),
        (8, [0, 0, 2, 0, 2, 9, 2, 3, 2, 3]),
        (9, []),
        (9, [0]),
        (9, [0, 3]),
        (9, [0, -1]),
        (9, [2, 0]),
        (9, [0, FAR]),
    ],
)
def test_inconsistent_rows_are_refused(place: int, values: list[int]) -> None:
    bad = arguments()
    bad[place] = int32(values)
    with pytest.raises(ValueError):
        show(bad)


def test_no_row() -> None:
    none, bounds = int32([]), int32([0])
    text, *others = show([b"", b"", none, none, none, bounds, none, bounds, none, bounds])
    assert (text, [part.tolist() for part in others]) == (b"", [[0], [], [0]])


def test_recorded_lines_are_valid_and_unescapable() -> None:
    """Displayed text has nothing left to escape but its own backslashes."""
    for row in golden.rows("render.jsonl"):
        for line in row["expect"]["lines"]:
            data = line.encode()
            assert escape.escape_text(data, backslash=False) is data


def test_json_strings_keep_their_own_escapes() -> None:
    text = jsonform.pretty(jsonform.parse(b'["\\\\ \\" \\n \\ud800 \\u0085 \\u00ad"]')).encode(
        "utf-8", "surrogatepass"
    )
    found = escape.escape_text(text, backslash=False, surrogates=True)
    assert found == b'[\\u000a  "\\\\ \\" \\n \\ud800 \\u0085 \\u00ad"\\u000a]\\u000a'
    assert words.tokens(found.decode())


def test_threads_get_the_same() -> None:
    parts = [b"line %d \\ \x1b \xff " % number * (number % 400) for number in range(200)]
    wanted = shown_lines(parts, escaping.TEXT)
    assert all(result == wanted for result in in_four_threads(lambda: shown_lines(parts, escaping.TEXT)))
