"""Canonical JSON, content ids and equality of JSON values in traces, by their definition (agentlog §4)."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Any


class Written(str):
    """A piece of canonical JSON: not a value to be written, but text that stands."""

    __slots__ = ()


ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def canonical(value: Any) -> bytes:
    """Write a value as canonical JSON (agentlog §4)."""
    # Keeps its own stack: no recursion whose depth the input decides.
    out: list[str] = []
    due = [value]
    while due:
        item = due.pop()
        if isinstance(item, Written):
            out.append(item)
        elif isinstance(item, dict):
            due += reversed(object_parts(item))
        elif isinstance(item, list | tuple):
            due += reversed(array_parts(item))
        else:
            out.append(scalar(item))
    return "".join(out).encode("utf-8")


def object_parts(value: dict[str, Any]) -> list[Any]:
    """List what an object is written as: its members by key, stably (agentlog §4)."""
    named = [(unicodedata.normalize("NFC", key), item) for key, item in value.items()]
    named.sort(key=lambda member: member[0].encode("utf-8"))
    parts: list[Any] = [Written("{")]
    for at, (key, item) in enumerate(named):
        parts += [Written(("," if at else "") + string(key) + ":"), item]
    return [*parts, Written("}")]


def array_parts(value: Sequence[Any]) -> list[Any]:
    """List what an array is written as (agentlog §4)."""
    parts: list[Any] = [Written("[")]
    for at, item in enumerate(value):
        parts += [Written("," if at else ""), item]
    return [*parts, Written("]")]


def scalar(value: Any) -> str:
    """Write anything but an array or object (agentlog §4)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, int | float):
        return double(float(value))
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def string(text: str) -> str:
    """Write a string, normalised to NFC (agentlog §4)."""
    normal = unicodedata.normalize("NFC", text)
    shown = (ESCAPES.get(char) or (f"\\u{ord(char):04x}" if char < " " else char) for char in normal)
    return '"' + "".join(shown) + '"'


def double(value: float) -> str:
    """Write a double in the fewest digits that read back as it, without an exponent (agentlog §4)."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON value")
    if value == 0:
        return "0"
    digits, exponent = shortest(abs(value))
    if exponent >= 0:
        text = digits + "0" * exponent
    else:
        padded = digits.rjust(1 - exponent, "0")
        text = padded[:exponent] + "." + padded[exponent:]
        text = text.rstrip("0").rstrip(".")
    return ("-" if value < 0 else "") + text


def shortest(value: float) -> tuple[str, int]:
    """Give d and e of the shortest d·10^e that reads back as a positive double (agentlog §4).

    Of those of that length the nearest to the exact value, and of two as near the larger.
    """
    # `repr` has the right number of digits, but where two are equally near not always the larger.
    mantissa, _, _ = repr(value).partition("e")
    whole, _, rest = mantissa.partition(".")
    length = len((whole + rest).strip("0"))
    exact = Fraction(value)
    top = 0  # 10^top <= exact < 10^(top + 1)
    while exact >= Fraction(10) ** (top + 1):
        top += 1
    while exact < Fraction(10) ** top:
        top -= 1
    exponent = top + 1 - length
    unit = Fraction(10) ** exponent
    around = {math.floor(exact / unit), math.ceil(exact / unit)}
    fitting = [digits for digits in around if float(digits * unit) == value]
    nearest = min(fitting, key=lambda digits: (abs(digits * unit - exact), -digits))
    return str(nearest), exponent


def content_id(payload: Any) -> str:
    """Give the content id of a payload (agentlog §4)."""
    return "sha256:" + hashlib.sha256(canonical(payload)).hexdigest()


def json_equal(a: Any, b: Any) -> bool:
    """Tell whether two values are equal as JSON: numbers by value, members in any order (agentlog §4)."""
    # Keeps its own stack: no recursion whose depth the input decides.
    due = [(a, b)]
    while due:
        left, right = due.pop()
        kind = json_type(left)
        if kind != json_type(right):
            return False
        if kind == "object":
            if left.keys() != right.keys():
                return False
            due += [(item, right[key]) for key, item in left.items()]
        elif kind == "array":
            if len(left) != len(right):
                return False
            due += zip(left, right, strict=True)
        elif left != right:
            return False
    return True


def json_type(value: Any) -> str:
    """Name the JSON type of a value; a boolean is not a number (agentlog §4)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    raise TypeError(f"{type(value).__name__} is not a JSON value")
