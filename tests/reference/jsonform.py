"""Strict JSON and its two canonical forms (textdiff 6, run-records 2)."""

from __future__ import annotations

import re
from typing import Any

MAX_DEPTH = 512

NOT_UTF8 = "not UTF-8"
NOT_JSON = "not JSON"
TOO_DEEP = "too deep"
DUPLICATE = "duplicate member"
BYTE_ORDER_MARK = "byte-order mark"


class JsonError(ValueError):
    """The text does not parse; `fault` says why, `offset` is the byte where it was found."""

    def __init__(self, fault: str, offset: int, /) -> None:
        super().__init__(f"{fault} at byte {offset}")
        self.fault = fault
        self.offset = offset


class Number(str):
    """A number: its spelling, which is its value. It compares as the string it is."""

    __slots__ = ()


SPACE = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"')
ESCAPE = re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.")
SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
WORDS = {"true": True, "false": False, "null": None}


def unescape(literal: str) -> str:
    """Read a string literal with its quotes; a pair of surrogate escapes is one character."""

    def one(match: re.Match[str]) -> str:
        escape = match.group()
        if len(escape) == 12:
            high, low = int(escape[2:6], 16), int(escape[8:], 16)
            return chr(0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00))
        return chr(int(escape[2:], 16)) if escape[1] == "u" else SHORT[escape[1]]

    return ESCAPE.sub(one, literal[1:-1])


def quote(text: str) -> str:
    """Write a string with the minimal escapes of the document (textdiff 2)."""
    short = {char: "\\" + letter for letter, char in SHORT.items() if letter != "/"}
    shown = (short.get(char) or (f"\\u{ord(char):04x}" if char < " " else char) for char in text)
    return '"' + "".join(shown) + '"'


class _Reader:
    # Keeps its own stack: no recursion whose depth the input decides.

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.at = 0

    def fail(self, fault: str, at: int | None = None) -> JsonError:
        at = self.at if at is None else at
        return JsonError(fault, len(self.text[:at].encode("utf-8")))

    def space(self) -> None:
        match = SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def take(self, char: str) -> bool:
        if self.text.startswith(char, self.at):
            self.at += len(char)
            return True
        return False

    def string(self) -> str:
        match = STRING.match(self.text, self.at)
        if match is None:
            raise self.fail(NOT_JSON)
        self.at = match.end()
        return unescape(match.group())

    def scalar(self) -> Any:
        if self.text.startswith('"', self.at):
            return self.string()
        for word, value in WORDS.items():
            if self.take(word):
                return value
        match = NUMBER.match(self.text, self.at)
        if match is None:
            raise self.fail(NOT_JSON)
        self.at = match.end()
        return Number(match.group())

    def key(self, members: dict[str, Any]) -> str:
        self.space()
        start = self.at
        key = self.string()
        if key in members:
            raise self.fail(DUPLICATE, start)
        self.space()
        if not self.take(":"):
            raise self.fail(NOT_JSON)
        return key

    def document(self) -> Any:
        # Each open container, with the key its next value belongs to when it is an object.
        stack: list[tuple[Any, str | None]] = []
        while True:
            # A value is due.
            self.space()
            value: Any
            if self.text.startswith(("[", "{"), self.at):
                if len(stack) == self.max_depth:
                    raise self.fail(TOO_DEEP)
                is_list = self.text[self.at] == "["
                self.at += 1
                value = [] if is_list else {}
                self.space()
                if not self.take("]" if is_list else "}"):
                    stack.append((value, None if is_list else self.key(value)))
                    continue
            else:
                value = self.scalar()
            # A value is complete: put it where it belongs, and close what ends here.
            while True:
                if not stack:
                    self.space()
                    if self.at != len(self.text):
                        raise self.fail(NOT_JSON)
                    return value
                container, key = stack.pop()
                if key is None:
                    container.append(value)
                else:
                    container[key] = value
                self.space()
                if self.take(","):
                    stack.append((container, None if key is None else self.key(container)))
                    break
                if not self.take("]" if key is None else "}"):
                    raise self.fail(NOT_JSON)
                value = container


def parse(data: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """Read strict JSON: numbers stay as written, lone surrogates stay, a repeated key is an error."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise JsonError(BYTE_ORDER_MARK, 0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError(NOT_UTF8, error.start) from None
    return _Reader(text, max_depth).document()


def _scalar_text(value: Any) -> str:
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    return {True: "true", False: "false", None: "null"}[value]


def pretty(value: Any) -> str:
    """Write the canonical form that is diffed (textdiff 6), with its final LF."""
    out: list[str] = []
    # Work still to be written: finished text, or a value with its level.
    work: list[str | tuple[Any, int]] = [(value, 0)]
    while work:
        item = work.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        inner, level = item
        if not isinstance(inner, dict | list):
            out.append(_scalar_text(inner))
            continue
        opening, closing = ("{", "}") if isinstance(inner, dict) else ("[", "]")
        if not inner:
            out.append(opening + closing)
            continue
        rows: list[tuple[str, Any]] = (
            [(quote(key) + ": ", inner[key]) for key in sorted(inner)]
            if isinstance(inner, dict)
            else [("", element) for element in inner]
        )
        parts: list[str | tuple[Any, int]] = []
        for number, (label, element) in enumerate(rows):
            comma = "," if number > 0 else ""
            parts += [comma + "\n" + "  " * (level + 1) + label, (element, level + 1)]
        work.extend(reversed([opening, *parts, "\n" + "  " * level + closing]))
    return "".join(out) + "\n"


def dump(value: Any) -> str:
    """Write the canonical form of run records (run-records 2): sorted, no white space."""
    out: list[str] = []
    work: list[Any] = [(value,)]
    while work:
        item = work.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        (inner,) = item
        if isinstance(inner, dict):
            parts: list[Any] = []
            for key in sorted(inner):
                parts += ["," if parts else "", quote(key) + ":", (inner[key],)]
            work.extend(reversed(["{", *parts, "}"]))
        elif isinstance(inner, list):
            parts = []
            for element in inner:
                parts += ["," if parts else "", (element,)]
            work.extend(reversed(["[", *parts, "]"]))
        else:
            out.append(_scalar_text(inner))
    return "".join(out)


def has_number(value: Any) -> bool:
    """Tell whether a number occurs anywhere."""
    work = [value]
    while work:
        item = work.pop()
        if isinstance(item, Number):
            return True
        work.extend(item.values() if isinstance(item, dict) else item if isinstance(item, list) else [])
    return False


def is_canonical(data: bytes, max_depth: int = MAX_DEPTH) -> bool:
    """Tell whether bytes are an object in exactly the form of run-records 2, rules 1 to 6."""
    try:
        value = parse(data, max_depth)
        return isinstance(value, dict) and not has_number(value) and dump(value).encode("utf-8") == data
    except (JsonError, UnicodeEncodeError):
        return False


def depth(data: bytes) -> int:
    """Count the deepest nesting by brackets outside strings; the text need not be JSON."""
    deepest = level = 0
    for match in re.finditer(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{}]', data, re.DOTALL):
        if match.group() in b"[{":
            level += 1
            deepest = max(deepest, level)
        elif match.group() in b"]}":
            level -= 1
    return deepest
