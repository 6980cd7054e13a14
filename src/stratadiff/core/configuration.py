"""Configuration files, YAML or JSON, and what is wanted of the values in them.

A value may come from YAML (:mod:`stratadiff.core.yamltext`: scalars keep their spelling), from JSON (numbers
keep their class) or from a caller's own dictionaries. The functions ``*_of`` turn it into text, a number or
whatever it says, or raise an error that tells what was found and what to write instead.
"""

from __future__ import annotations

import os

from stratadiff._kernels.json_scan import pretty
from stratadiff.core.files import read_file
from stratadiff.core.jsonvalue import parse
from stratadiff.core.yamltext import PlainScalar, read_yaml
from stratadiff.errors import ConfigurationError, LimitError
from stratadiff.limits import MAX_YAML_BYTES, MAX_YAML_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NOT_UTF8, _NOT_JSON, _TOO_DEEP, _REPEATED, _BYTE_ORDER_MARK = range(1, 6)

_NULLS = frozenset(("~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
# Booleans in YAML 1.1, texts in YAML 1.2.
_DISPUTED_WORDS = {
    spelling: word in ("yes", "on")
    for word in ("yes", "no", "on", "off")
    for spelling in (word, word.capitalize(), word.upper())
}
_MAX_DIGITS = 100
_INFINITE = float("inf")


# Files.


def read_configuration(path: str) -> Any:
    """Return the value of a configuration file.

    A name that ends in ``.json`` is strict JSON: UTF-8, no member twice, RFC 8259. Any other is YAML, unless
    it starts with a brace or bracket and is JSON.

    Raises
    ------
    ConfigurationError
        With the file and the line.
    LimitError
        See :func:`~stratadiff.core.yamltext.read_yaml`; size and depth hold for JSON too.
    NotFoundError, UnreadableError
        As :func:`~stratadiff.core.files.read_file`.
    """
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError):
        size = 0  # reading it says what is wrong
    data = b"" if size > MAX_YAML_BYTES else read_file(path)
    if size > MAX_YAML_BYTES or len(data) > MAX_YAML_BYTES:
        raise LimitError(f"more than {MAX_YAML_BYTES:,} bytes; split it", where=path)
    must_be_json = path.lower().endswith(".json")
    if must_be_json or data.lstrip()[:1] in (b"{", b"["):
        status, offset, _ = pretty(data, MAX_YAML_DEPTH, 0)  # no room for a result: none is made
        if must_be_json or status != _NOT_JSON:
            return _json_value(data, status, offset, path)
    return read_yaml(data, path)


def _json_value(data: bytes, status: int, offset: int, path: str) -> Any:
    line = data.count(b"\n", 0, offset) + 1
    if status == _NOT_UTF8:
        message = f"not UTF-8 (byte 0x{data[offset]:02x}); save it as UTF-8"
    elif status == _BYTE_ORDER_MARK:
        message = "starts with a byte-order mark; save it as UTF-8 without one"
    elif status == _NOT_JSON:
        rest = data[offset : offset + 80].decode("utf-8", "replace").split("\n")[0]
        message = f"not JSON from {shown(rest)} on" if rest.strip() else "not JSON, something is missing"
        if not data.strip():
            message = "is empty; nothing but blanks is in it"
    elif status == _REPEATED:
        from json.decoder import scanstring  # type: ignore[attr-defined]  # to word an error: start-up

        name = scanstring(data[offset + 1 :].decode("utf-8"), 0)[0]
        message = f"the member {shown(name)} is there twice; keep one"
    elif status == _TOO_DEEP:
        raise LimitError(f"line {line}: nested deeper than {MAX_YAML_DEPTH} levels", where=path)
    else:
        try:
            return parse(data.decode("utf-8"))
        except ValueError:  # what is left: an integer past the interpreter's own limit
            message, line = "holds an integer of thousands of digits; write a smaller one", 0
    raise ConfigurationError(message, where=path, line=line)


# Values.


def text_of(value: Any, what: str) -> str:
    """Return a value as text: what is in quotes, or a plain YAML scalar as it is spelled.

    Parameters
    ----------
    value : Any
        From YAML, JSON or a caller.
    what : str
        Its name in the message.

    Raises
    ------
    ConfigurationError
        A number, a boolean, a list; ``null`` or nothing, in YAML too.
    """
    if isinstance(value, PlainScalar):
        if not value:
            raise ConfigurationError(f"{what} must be text; found nothing (an empty text is written '')")
        if value in _NULLS:
            raise ConfigurationError(f"{what} must be text; found {value} (the text is written '{value}')")
        return str(value)
    if not isinstance(value, str):
        advice = "" if value is None or isinstance(value, (list, tuple, dict)) else "; put it in quotes"
        raise ConfigurationError(f"{what} must be text; found {described(value)}{advice}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"{what} holds half a surrogate pair, {shown(value)}, which no trace can hold; remove it"
        ) from None
    return value


def integer_of(value: Any, what: str) -> int:
    """Return a value as an integer of at least 0, in decimal digits and nothing else.

    Raises
    ------
    ConfigurationError
        ``1.0`` and ``true`` are no integers, nor is a text of digits. The YAML spellings ``010``, ``0x1F``,
        ``1_000``, ``1e3`` and ``+5`` mean other numbers, or texts, to other readers: refused.
    """
    problem = f"{what} must be a whole number; found {described(value)}"
    if isinstance(value, PlainScalar):
        if _is_decimal(value.removeprefix("-")):
            found = int(value)
        else:
            readings = [number for number in _readings(value) if number != _INFINITE]
            meant = " or ".join(str(int(number)) for number in readings if number == int(number))
            raise ConfigurationError(f"{problem}: write {meant}" if meant else problem)
    elif isinstance(value, str):
        raise ConfigurationError(
            f"{problem}: write {value} without quotes" if _is_decimal(value) else problem
        )
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        raise ConfigurationError(f"{problem}: write {int(value)}")
    elif isinstance(value, bool) or not isinstance(value, int):
        raise ConfigurationError(problem)
    else:
        found = value
    if found < 0:
        raise ConfigurationError(f"{what} must be at least 0; found {described(value)}")
    if found >= 10**_MAX_DIGITS:  # a caller's, or JSON's
        raise ConfigurationError(f"{what} has more than {_MAX_DIGITS} digits; write a smaller number")
    return found


def value_of(value: Any, what: str) -> Any:
    """Return a value as what it says: null, boolean, number, text, list or mapping of those.

    A plain YAML scalar is what every YAML reader takes it for: ``null``, ``true``, ``12``, ``1.5``, or text.

    Raises
    ------
    ConfigurationError
        YAML readers disagree about it (``no``, ``010``, ``1e3``), or JSON has no such value.
    """
    return _value(value, what, MAX_YAML_DEPTH)


def _value(value: Any, what: str, levels: int) -> Any:
    if isinstance(value, PlainScalar):
        return _plain_value(value, what)
    if isinstance(value, str):
        return text_of(value, what)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and value - value == 0:  # finite
        return value
    if isinstance(value, (list, tuple, dict)):
        if levels == 0:
            raise ConfigurationError(f"{what} is nested deeper than {MAX_YAML_DEPTH} levels")
        if not isinstance(value, dict):
            return [_value(item, what, levels - 1) for item in value]
        return {text_of(key, what): _value(item, what, levels - 1) for key, item in _members(value)}
    raise ConfigurationError(f"{what} must be a value that JSON has; found {described(value)}")


def _members(value: dict[Any, Any]) -> list[tuple[Any, Any]]:
    return [(str(key) if isinstance(key, PlainScalar) else key, item) for key, item in value.items()]


def _plain_value(value: PlainScalar, what: str) -> Any:
    if not value or value in _NULLS:
        return None
    if value in _BOOLEANS:
        return _BOOLEANS[value]
    if value in _DISPUTED_WORDS:
        other = "true" if _DISPUTED_WORDS[value] else "false"
        raise ConfigurationError(
            f"{what} is {value}, text to some YAML readers and {other} to others: write '{value}' or {other}"
        )
    readings = _readings(value)
    if not readings:
        return str(value)
    if readings == (_INFINITE,):
        raise ConfigurationError(f"{what} must be a value that JSON has; found {described(value)}")
    whole, dot, fraction = value.removeprefix("-").partition(".")
    if _is_decimal(whole) and (not dot or (fraction.isascii() and fraction.isdigit())):
        return float(value) if dot else int(value)
    meant = " or ".join(str(int(one)) if one == int(one) else repr(one) for one in readings)
    raise ConfigurationError(
        f"{what} is {value}, one thing to some YAML readers and another to others: "
        f"write {meant}, or '{value}' for the text"
    )


def _is_decimal(text: str) -> bool:
    is_digits = len(text) <= _MAX_DIGITS and text.isascii() and text.isdigit()
    return is_digits and (text[0] != "0" or text == "0")


def _readings(text: str) -> tuple[int | float, ...]:
    """Return the numbers that one YAML reader or another takes a plain scalar for: none for a text, the
    infinite one for what is no number of JSON or has too many digits.
    """
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    digits = unsigned.replace("_", "").lower()
    if digits in (".inf", ".nan"):
        return (_INFINITE,)
    starts_well = unsigned.startswith(tuple("0123456789."))
    if not starts_well or not text.isascii() or digits.strip("0123456789abcdefox.+-"):
        return ()
    if len(digits) > _MAX_DIGITS:
        return (_INFINITE,) if digits.isdigit() else ()
    sign = -1 if text.startswith("-") else 1
    try:
        if digits[:2] in ("0x", "0o", "0b"):
            return (sign * int(digits, 0),)
        if digits.isdigit():
            decimal = sign * int(digits)
            octal = sign * int(digits, 8) if digits[0] == "0" and not digits.strip("01234567") else decimal
            return (decimal,) if decimal == octal else (decimal, octal)
        number = sign * float(digits)
    except ValueError:
        return ()
    return (number,) if abs(number) != _INFINITE else (_INFINITE,)


def member_of(container: Any, key: Any, reader: Callable[[Any, str], Any], what: str) -> Any:
    """Return what `reader` makes of a member; its error names the member's line, where there is one."""
    try:
        return reader(container[key], what)
    except ConfigurationError as error:
        lines = getattr(container, "lines", None)
        if error.line or lines is None:
            raise
        raise ConfigurationError(error.message, line=lines[key]) from None


def described(value: Any) -> str:
    """Return what a value is, for a message."""
    if value is None:
        return "null"
    if isinstance(value, PlainScalar):
        if not value:
            return "nothing"
        is_word = len(value) <= 60 and (value in _NULLS or value in _BOOLEANS or _readings(value))
        return value if is_word else shown(value)
    if isinstance(value, bool):
        return f"the boolean {'true' if value else 'false'}"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, (int, float)):
        try:
            return f"the number {value!r}"
        except ValueError:  # thousands of digits
            return "a number of thousands of digits"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"a Python {type(value).__name__}"


def shown(text: str) -> str:
    """Return a text in quotes, with escapes, cut to a readable length."""
    return repr(str(text) if len(text) <= 60 else text[:59] + "…")
