"""Canonical JSON of trace payloads, and the content ids made of it *(agentlog §4)*.

Not RFC 8785: strings and keys are normalised to NFC, keys sort by code point, numbers never have an exponent.
"""

from __future__ import annotations

from _json import encode_basestring  # escapes exactly what the format says; json itself costs start-up time

from stratadiff.core.digests import sha256
from stratadiff.errors import LimitError
from stratadiff.limits import MAX_VALUE_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "sha256:"


def content_id(value: Any) -> str:
    """Return the content id of a payload: ``sha256:`` and 64 hexadecimal digits.

    Raises
    ------
    LimitError, ValueError, TypeError
        As :func:`canonical`.

    Examples
    --------
    >>> content_id({"hello": "world"})
    'sha256:93a23971a914e5eacbf0a8d25154cda309c3c1c72fbb9914d47c60f3cb681588'
    """
    return PREFIX + sha256(canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """Return the canonical bytes of a JSON value.

    Parameters
    ----------
    value : None, bool, int, float, str, list, tuple or dict with str keys
        Integers outside [-2^63, 2^64 - 1] are written as the nearest double.

    Raises
    ------
    LimitError
        Nested past ``limits.MAX_VALUE_DEPTH``.
    ValueError
        A float that is not finite, or a string with half a surrogate pair: neither is JSON.
    TypeError
        A type JSON does not have.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": [1e21, "x"]})
    b'{"a":[1000000000000000000000,"x"],"b":1}'
    """
    parts: list[str] = []
    try:
        _write(value, parts, 0)
    except RecursionError:
        raise LimitError("a value is nested deeper than the interpreter's stack has room for") from None
    return "".join(parts).encode()


def _write(value: Any, parts: list[str], depth: int) -> None:
    if isinstance(value, str):
        parts.append(_quoted(value))
    elif value is None:
        parts.append("null")
    elif value is True:
        parts.append("true")
    elif value is False:
        parts.append("false")
    elif isinstance(value, int):
        parts.append(str(value) if -(2**63) <= value < 2**64 else number_text(_nearest(value)))
    elif isinstance(value, float):
        parts.append(number_text(value))
    elif depth >= MAX_VALUE_DEPTH:
        raise LimitError(f"a value is nested deeper than {MAX_VALUE_DEPTH} levels")
    elif isinstance(value, dict):
        lead = "{"
        members = [(_normal(name), name) for name in value]
        members.sort(key=_first)
        for name, original in members:
            parts.append(f"{lead}{encode_basestring(name)}:")
            _write(value[original], parts, depth + 1)
            lead = ","
        parts.append("}" if lead == "," else "{}")
    elif isinstance(value, (list, tuple)):
        lead = "["
        for item in value:
            parts.append(lead)
            _write(item, parts, depth + 1)
            lead = ","
        parts.append("]" if lead == "," else "[]")
    else:
        raise TypeError(f"{type(value).__name__} is no JSON type")


def _first(member: tuple[str, str]) -> str:
    # Code points order as their UTF-8 bytes do.
    return member[0]


def _quoted(text: str) -> str:
    return encode_basestring(text if text.isascii() else _normal(text))


def _normal(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a member's name is {type(text).__name__}, not a string")
    if text.isascii():
        return text
    from unicodedata import normalize  # only for text that needs it: start-up

    return normalize("NFC", text)


def _nearest(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number is past the range of doubles") from None


def number_text(value: float) -> str:
    """Return a double in the fewest digits that read back as it, without an exponent.

    Raises
    ------
    ValueError
        The value is not finite.
    """
    text = repr(value)
    if "n" in text:
        raise ValueError(f"{text} is no JSON number")
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    sign = "-" if whole[0] == "-" else ""
    digits = whole.lstrip("-") + fraction
    point = len(digits) - len(fraction) + int(exponent or "0")
    leading = len(digits) - len(digits.lstrip("0"))
    digits, point = digits[leading:].rstrip("0"), point - leading
    if not digits:
        return "0"
    if len(digits) >= 15:
        digits, point = _upper_of_two(value, digits, point)
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _upper_of_two(value: float, digits: str, point: int) -> tuple[str, int]:
    # Two digit strings can be equally near: repr takes the even one, the format the larger. Exact
    # integers decide.
    numerator, denominator = abs(value).as_integer_ratio()
    scale = len(digits) - point
    if scale >= 0:
        numerator *= 10**scale
    else:
        denominator *= 10**-scale
    if 2 * numerator != (2 * int(digits) + 1) * denominator:
        return digits, point
    larger = str(int(digits) + 1)
    point += len(larger) - len(digits)
    if float(f"{larger}e{point - len(larger)}") != abs(value):
        return digits, point - (len(larger) - len(digits))
    return larger.rstrip("0"), point
