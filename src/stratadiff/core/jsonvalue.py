"""JSON text to Python values, exactly as the standard ``json`` reads it, without the cost of importing it.

Run folders are defined by what Python's ``json`` accepts (run-records §2), so its own scanner does the
work. The package around that scanner imports ``re`` and ``enum``, more than the comparison of two small
runs costs; it is loaded only to word an error.
"""

from __future__ import annotations

import sys
from _json import make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\n\r"


class _Settings:
    """What ``json.JSONDecoder`` tells the scanner by default."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float: type = float
    parse_int: type = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__
    memo: dict[str, str] = {}  # noqa: RUF012  the pure-Python scanner's; the compiled one has its own


class _NumbersAsWritten(_Settings):
    parse_float = str
    parse_int = str


class LongInteger:
    """An integer of more digits than the interpreter makes an ``int`` of.

    Attributes
    ----------
    text : str
        The number as written.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"LongInteger({self.text!r})"


def _any_integer(literal: str) -> int | LongInteger:
    return int(literal) if len(literal) < _MOST_DIGITS else LongInteger(literal)


_MOST_DIGITS = 640
"""Digits of which any interpreter makes an int, however it is set up."""


class _AnyIntegers(_Settings):
    parse_int = staticmethod(_any_integer)  # type: ignore[assignment]


def _wire_int(literal: str) -> int | float:
    value = int(literal) if len(literal) < 21 else None
    return value if value is not None and -(2**63) <= value < 2**64 else float(literal)


class _Wire(_Settings):
    parse_int = staticmethod(_wire_int)  # type: ignore[assignment]


_scan_wire = make_scanner(_Wire())  # type: ignore[arg-type]
_scan = make_scanner(_Settings())  # type: ignore[arg-type]  # the stub names the pure-Python twin
_scan_as_written = make_scanner(_NumbersAsWritten())  # type: ignore[arg-type]
_scan_any = make_scanner(_AnyIntegers())  # type: ignore[arg-type]


def parse_as_written(text: str) -> Any:
    """Return the value of a text known to be JSON; numbers are strings that keep their spelling."""
    return _scan_as_written(text, 0)[0]


def parse_valid(text: str) -> Any:
    """Return the value of a text known to be JSON: an integer of thousands of digits is no error but a
    :class:`LongInteger`.
    """
    text = text.lstrip(_SPACE)
    if sys.get_int_max_str_digits():
        try:
            return _scan(text, 0)[0]
        except ValueError:  # an integer past the interpreter's own limit
            pass
    return _scan_any(text, 0)[0]


def parse(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        ``json.JSONDecodeError`` and its kin, as ``json.loads`` raises them.
    RecursionError
        Nested past what the interpreter's stack has left; look at the depth first.
    """
    start = 0
    if text[:1] in _SPACE:
        start = len(text) - len(text.lstrip(_SPACE))
    try:
        value, end = _scan(text, start)
        if end == len(text) or not text[end:].strip(_SPACE):
            return value
    except StopIteration:
        pass
    import json  # only to say what is wrong: start-up

    return json.loads(text)


def wire_parser(size: int) -> Callable[[bytes | memoryview], Any]:
    """Return a function from JSON bytes, known to be valid and not too deep, to their value.

    Integers from -2^63 to 2^64 - 1 are ints, every other number is a float; of a repeated member the last one
    stays *(agentlog §4, §5)*.

    Parameters
    ----------
    size : int
        Bytes there are to parse. orjson is the fastest reader and costs more to import than a small file
        costs to read without it.
    """
    if size < _ORJSON_FROM:
        return _parse_wire
    with _uninterrupted():
        import orjson  # start-up

    return orjson.loads


_ORJSON_FROM = 256 * 1024


class _uninterrupted:  # noqa: N801  a context, named for where it stands
    """Holds Ctrl-C back: an exception while orjson is imported makes its start-up code crash the process."""

    def __enter__(self) -> None:
        import signal  # start-up

        self._before: Any = None
        if hasattr(signal, "pthread_sigmask"):
            self._before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))

    def __exit__(self, *_: object) -> None:
        import signal

        if self._before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def _parse_wire(data: bytes | memoryview) -> Any:
    return _scan_wire(str(data, "utf-8").lstrip(_SPACE), 0)[0]
