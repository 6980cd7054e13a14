"""Character properties of Unicode 15.0, whatever the interpreter's own tables are."""

from __future__ import annotations

import json
import os
import unicodedata
from bisect import bisect_right

PINNED_VERSION = "15.0.0"
WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"})

with open(os.path.join(os.path.dirname(__file__), "unicode15.json"), encoding="ascii") as _stream:
    TABLE = json.load(_stream)


def in_ranges(code: int, ranges: list[list[int]]) -> bool:
    """Look a code point up in ascending inclusive ranges."""
    place = bisect_right(ranges, [code, 0x110000]) - 1
    return place >= 0 and ranges[place][0] <= code <= ranges[place][1]


def is_word(char: str) -> bool:
    """Tell whether a character is a word character (textdiff 8.3)."""
    if unicodedata.unidata_version == PINNED_VERSION:
        return unicodedata.category(char) in WORD_CATEGORIES or char == "_"
    return in_ranges(ord(char), TABLE["word"])


def decimal_value(text: str) -> int | None:
    """Read a string of decimal digits of any script; anything else is None."""
    value = 0
    for char in text:
        if not in_ranges(ord(char), TABLE["decimal"]):
            return None
        zero = TABLE["zeros"][bisect_right(TABLE["zeros"], ord(char)) - 1]
        value = value * 10 + ord(char) - zero
    return value if text else None
