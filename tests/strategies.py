"""Hypothesis strategies shared by the tests: id sequences, lines, words, JSON; and buffers, good and bad.

Most draw bytes and translate them: hypothesis makes bytes fast and shrinks them well.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

Result = TypeVar("Result")

# Around nothing, one, two, and a machine word.
SIZES = (0, 1, 1, 2, 2, 3, 4, 5, 7, 9, 12, 17, 24, 33, 63, 64, 65)


def edited(sequence: Sequence[int], script: bytes, alphabet: int, fresh: int) -> list[int]:
    """Apply small edits, three bytes each: what to do, where, and with which symbol.

    With ``alphabet`` 0 every inserted symbol is new, counted up from `fresh`.
    """
    found = list(sequence)
    for what, where, symbol in zip(script[::3], script[1::3], script[2::3], strict=False):
        place = where * (len(found) + 1) // 256
        value = symbol % alphabet if alphabet else fresh
        fresh += 1
        match what % 5:
            case 0:
                found.insert(place, value)
            case 1:
                del found[place : place + 1 + symbol % 3]
            case 2:
                found[place : place + 1] = [value]
            case 3:
                found[place:place] = found[symbol % (len(found) + 1) :][:3]
            case _:
                found[place : place + 2] = found[place : place + 2][::-1]
    return found


@st.composite
def id_pairs(draw: st.DrawFn, sizes: Sequence[int] = SIZES) -> tuple[list[int], list[int]]:
    """Draw two id sequences: unrelated or edited, of 1, 2, 3, 8 or 200 symbols or all different."""
    size = draw(st.sampled_from(sizes))
    alphabet = draw(st.sampled_from((1, 2, 2, 3, 3, 8, 200, 0)))
    if alphabet == 0:
        a = list(range(size))
        return a, edited(a, draw(st.binary(max_size=18)), 0, size)
    a = [byte % alphabet for byte in draw(st.binary(min_size=size, max_size=size))]
    if draw(st.booleans()):
        return a, edited(a, draw(st.binary(max_size=24)), alphabet, 0)
    size = draw(st.sampled_from(sizes))
    return a, [byte % alphabet for byte in draw(st.binary(min_size=size, max_size=size))]


def translated(pieces: Sequence[bytes], max_size: int) -> st.SearchStrategy[bytes]:
    """Draw the concatenation of up to `max_size` of these pieces."""
    count = len(pieces)
    return st.binary(max_size=max_size).map(lambda raw: b"".join([pieces[byte % count] for byte in raw]))


# What a line is made of: separators of every kind, letters, marks, escapes, damaged UTF-8.
SOUP = (
    b"\n",
    b"\r\n",
    b"\n",
    b"a",
    b"b",
    b" ",
    b"ab",
    b"\r",
    b"_9",
    b".",
    b"\t",
    b"\\",
    b"\x00",
    b"\x0b\x0c\x1c\x85",
    "é".encode(),
    "漢字".encode(),
    "e\u0301".encode(),
    "\u2028\u200b\u202e".encode(),
    "👩\u200d👩".encode(),
    "\U000e0001\ue000".encode(),
    "\u0660²\u00a0\u3000".encode(),
    b"\xff",
    b"\xc0\xaf",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
)

line_soup = translated(SOUP, 40)
"""Bytes of a few lines, damaged UTF-8 and line ends of every kind included."""

word_soup = translated([piece for piece in SOUP if b"\n" not in piece], 24)
"""Bytes of one line."""


@st.composite
def text_pairs(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw two texts: unrelated, or the lines of one edited, with words changed in some of them."""
    a = draw(line_soup)
    if draw(st.integers(0, 3)) == 0:
        return a, draw(line_soup)
    lines = a.split(b"\n")
    script = draw(st.binary(min_size=3, max_size=15))
    for what, where, symbol in zip(script[::3], script[1::3], script[2::3], strict=False):
        place = where * (len(lines) + 1) // 256
        piece = SOUP[symbol % len(SOUP)]
        if what % 6 == 0:
            lines.insert(place, piece)
        elif what % 6 == 1:
            del lines[place : place + 1]
        elif what % 6 == 2:
            lines[place:place] = lines[: 1 + symbol % 3]
        elif place < len(lines):
            line = lines[place]
            middle = (len(line) // 2, len(line), 0)[what % 6 - 3]
            lines[place] = line[:middle] + piece + line[middle:]
    return a, b"\n".join(lines)


# JSON.

JSON_STRINGS = (
    '"a"',
    '"b"',
    '""',
    '"k\\u0061"',
    '"\\u0062"',
    '"\\ud83d\\ude00"',
    '"😀"',
    '"\ufb33"',
    '"\\ud800"',
    '"\\ude00\\ud83d"',
    '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"/"',
    '"\\u0000\\u001F\\u007f"',
    '"\u2028\x7f"',
    '"[{\\"]}"',
)
JSON_SCALARS = (
    *JSON_STRINGS,
    "true",
    "false",
    "null",
    "0",
    "-0",
    "1.0",
    "1.00",
    "1E+5",
    "-12.5e-07",
    "123456789012345678901234567890",
)
JSON_SPACE = ("", "", "", " ", "\n", "\t\r ")


@st.composite
def json_texts(draw: st.DrawFn, scalars: Sequence[str] = JSON_SCALARS) -> str:
    """Draw a JSON text with odd spellings and white space; members may repeat."""
    choices: Iterator[int] = iter(draw(st.binary(max_size=40)))

    def pick(options: Sequence[str]) -> str:
        return options[next(choices, 0) % len(options)]

    def value(depth: int) -> str:
        kind = next(choices, 0) % 4
        space = pick(JSON_SPACE)
        if kind < 2 or depth > 5:
            return space + pick(scalars) + space
        size = next(choices, 0) % 4
        if kind == 2:
            return space + "[" + (",".join(value(depth + 1) for _ in range(size)) or space) + "]" + space
        members = (f"{space}{pick(JSON_STRINGS)}{space}:{value(depth + 1)}" for _ in range(size))
        return space + "{" + (",".join(members) or space) + "}" + space

    return value(0)


@st.composite
def damaged(draw: st.DrawFn, texts: st.SearchStrategy[bytes], pieces: Sequence[bytes]) -> bytes:
    """Draw a text with one to three places cut out, doubled or overwritten."""
    data = draw(texts)
    # Three bytes each: whether to cut, insert or overwrite, where, and with which piece.
    script = draw(st.binary(min_size=3, max_size=9))
    for what, where, piece in zip(script[::3], script[1::3], script[2::3], strict=False):
        place = where * (len(data) + 1) // 256
        put = pieces[piece % len(pieces)] if what % 3 else b""
        data = data[:place] + put + data[place + (what % 3 != 1) :]
    return data


JSON_PIECES = (
    *(bytes([byte]) for byte in b'{}[],:"\\ \n\r\t\x0b\x00/u0123456789-+.eEtfn_'),
    b"\x1f",
    b"\x7f",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xc3",
    b"\\u",
    b"\\ud800",
    b"\\x41",
    b"NaN",
    b"-Infinity",
    b"01",
    b"1.",
    b".5",
    b"'a'",
    b"//",
    b"[",
    b"\xc2\xa0",
    "é".encode(),
)

# Buffers.


def int32(values: Iterable[int]) -> array[int]:
    """Make the kernels' integer buffer."""
    return array("i", values)


def int_buffers(values: Sequence[int]) -> dict[str, Any]:
    """Make the same int32 values in every kind of buffer a kernel takes."""
    wide = np.array([[value, 0] for value in values], dtype=np.int32).reshape(-1, 2)
    frozen = np.array(values, dtype=np.int32)
    frozen.setflags(write=False)
    return {
        "array": int32(values),
        "numpy": np.array(values, dtype=np.int32),
        "numpy read-only": frozen,
        "numpy copied from strided": np.ascontiguousarray(wide[:, 0]),
        "memoryview": memoryview(int32(values)),
        "memoryview read-only": memoryview(int32(values)).toreadonly(),
        "memoryview of bytes": memoryview(int32(values).tobytes()).cast("i"),
    }


def bad_int_buffers() -> dict[str, Any]:
    """Make buffers that are not contiguous one-dimensional int32."""
    return {
        "int64": np.arange(4, dtype=np.int64),
        "int16": np.arange(4, dtype=np.int16),
        "uint32": np.arange(4, dtype=np.uint32),
        "float32": np.arange(4, dtype=np.float32),
        "big endian": np.arange(4, dtype=np.dtype(">i4")),
        "array of int64": array("q", range(4)),
        "array of bytes": array("b", range(4)),
        "bytes": bytes(8),
        "strided": np.arange(8, dtype=np.int32)[::2],
        "reversed": memoryview(int32(range(4)))[::-1],
        "two-dimensional": np.zeros((2, 2), dtype=np.int32),
        "no dimension": np.array(3, dtype=np.int32),
    }


def int64(values: Iterable[int]) -> array[int]:
    """Make the kernels' buffer of counts."""
    return array("q", values)


def doubles(values: Iterable[float]) -> array[float]:
    """Make the kernels' buffer of measurements."""
    return array("d", values)


def wide_buffers(values: Sequence[float], code: str) -> dict[str, Any]:
    """Make the same int64 (`code` ``q``) or double (``d``) values in every kind of buffer a kernel takes."""
    kind = {"q": np.int64, "d": np.float64}[code]
    frozen = np.array(values, dtype=kind)
    frozen.setflags(write=False)
    return {
        "array": array(code, values),
        "numpy": np.array(values, dtype=kind),
        "numpy read-only": frozen,
        "memoryview": memoryview(array(code, values)),
        "memoryview inside a longer one": memoryview(array(code, [1, *values, 2]))[1 : 1 + len(values)],
        "memoryview of bytes": memoryview(array(code, values).tobytes()).cast(code),
    }


def bad_wide_buffers(code: str) -> dict[str, Any]:
    """Make buffers that are not contiguous one-dimensional int64 (`code` ``q``) or double (``d``)."""
    kind = {"q": np.int64, "d": np.float64}[code]
    other = {"q": "d", "d": "q"}[code]
    return {
        "the other of eight bytes": array(other, range(4)),
        "uint64": np.arange(4, dtype=np.uint64),
        "int32": int32(range(4)),
        "float32": np.arange(4, dtype=np.float32),
        "complex": np.arange(4, dtype=np.complex64),
        "big endian": np.arange(4, dtype=np.dtype(kind).newbyteorder(">")),
        "time": np.arange(4).astype("datetime64[s]").astype(object),
        "bytes": bytes(32),
        "strided": np.arange(8, dtype=kind)[::2],
        "reversed": memoryview(array(code, range(4)))[::-1],
        "two-dimensional": np.zeros((2, 2), dtype=kind),
        "no dimension": np.array(3, dtype=kind),
    }


def mapped(data: bytes) -> mmap.mmap:
    """Map memory that holds `data`, which must not be empty."""
    found = mmap.mmap(-1, len(data))
    found[:] = data
    return found


def byte_buffers(data: bytes) -> dict[str, Any]:
    """Make the same bytes in every kind of buffer a kernel takes."""
    found: dict[str, Any] = {
        "bytes": data,
        "bytearray": bytearray(data),
        "memoryview": memoryview(data),
        "memoryview inside a longer one": memoryview(b"\n\xff" + data + b"\n")[2 : 2 + len(data)],
        "numpy": np.frombuffer(data, dtype=np.uint8),
        "array": array("B", data),
    }
    if data:
        found["mmap"] = mapped(data)
    return found


def bad_byte_buffers() -> dict[str, Any]:
    """Make buffers that are not contiguous one-dimensional bytes."""
    return {
        "int32": int32(range(4)),
        "uint16": np.arange(4, dtype=np.uint16),
        "float": np.arange(4, dtype=np.float64),
        "strided": memoryview(b"a\nb\nc\n")[::2],
        "reversed": np.frombuffer(b"a\nb\n", dtype=np.uint8)[::-1],
        "two-dimensional": np.zeros((2, 3), dtype=np.uint8),
    }


def shares_memory(result: array[Any], kind: type[np.generic] = np.int32) -> bool:
    """Tell whether numpy looks at the result itself, as values of this type."""
    view = np.asarray(result)
    address, count = result.buffer_info()
    same_place = count == 0 or view.__array_interface__["data"][0] == address
    return view.dtype == kind and view.shape == (count,) and same_place


def in_four_threads(call: Callable[[], Result]) -> list[Result]:
    """Make the same call from four threads at once, a few times each."""
    with ThreadPoolExecutor(4) as threads:
        return [future.result() for future in [threads.submit(call) for _ in range(16)]]
