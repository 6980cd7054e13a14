"""Canonical JSON (run-records §2): writing it, and explaining why a receipt's bytes are not it.

The usual question, *are these bytes canonical*, is answered by the kernel ``json_scan``. What is here
writes documents and runs only when the kernel said no, to find the words for it.
"""

from __future__ import annotations

from _json import encode_basestring  # escapes exactly what rule 4 says; json itself costs start-up time

from stratadiff.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RESERVED = ("receipt_digest", "receipt_id")


class NotCanonicalError(InputError):
    """A value has no canonical form; the message is the detail of the row ``canonical form``."""

    default_code = "not-canonical"


class Fragment:
    """Canonical bytes made elsewhere, put into a document as they are.

    Parameters
    ----------
    data : bytes
        Canonical JSON of one value.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


def dump(value: Any) -> bytes:
    """Return the canonical bytes of a document.

    Parameters
    ----------
    value : str, bool, None, list, tuple, dict with str keys, or Fragment
        Numbers are written by their owners, as decimal strings.

    Returns
    -------
    bytes
        Without a final newline. A lone surrogate, which has no UTF-8 form, is written as its JSON escape,
        so that a path of undecodable bytes can still be named; everything else follows run-records §2.

    Raises
    ------
    TypeError
        A number, or any other type.
    """
    parts: list[bytes] = []
    text: list[str] = []
    _write(value, text, parts)
    _flush(text, parts)
    return b"".join(parts)


def can_carry(value: Any) -> bool:
    """Tell whether `value` has a canonical form: no number, no lone surrogate, at any depth."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if not (item.isascii() or _encodes(item)):
                return False
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif item is not None and not isinstance(item, bool):
            return False
    return True


def describe(value: Any) -> str:
    """Return a one-line JSON text of any parsed value, for places that show what they did not expect."""
    import json  # only for what was not expected: start-up

    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def receipt_bytes(value: dict[str, Any]) -> bytes:
    """Return the canonical bytes of a receipt.

    Raises
    ------
    NotCanonicalError
        The first problem in the reference's order: a number (in document order), a reserved member, a lone
        surrogate.
    """
    path = _first_number(value)
    if path is not None:
        raise NotCanonicalError(f"JSON number at {path}: use a decimal string")
    if any(name in value for name in _RESERVED):
        raise NotCanonicalError("a receipt may not carry its own digest")
    try:
        return describe(value).encode()
    except UnicodeEncodeError as error:
        raise NotCanonicalError(str(error)) from None


def _first_number(value: Any) -> str | None:
    # Depth first in document order, without recursion: the path names the number a reader meets first.
    pending: list[tuple[str, Any]] = [("$", value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, dict):
            pending.extend([(f"{path}.{key}", member) for key, member in item.items()][::-1])
        elif isinstance(item, list):
            pending.extend([(f"{path}[{i}]", member) for i, member in enumerate(item)][::-1])
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            return path
    return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _flush(text: list[str], parts: list[bytes]) -> None:
    # The escape backslashreplace writes for a lone surrogate is the JSON escape of it.
    parts.append("".join(text).encode("utf-8", "backslashreplace"))
    text.clear()


def _write(value: Any, text: list[str], parts: list[bytes]) -> None:
    if isinstance(value, str):
        text.append(encode_basestring(value))
    elif value is None:
        text.append("null")
    elif value is True:
        text.append("true")
    elif value is False:
        text.append("false")
    elif isinstance(value, dict):
        lead = "{"
        for key in sorted(value):
            if not isinstance(key, str):
                raise TypeError(f"a member's name is {type(key).__name__}, not str")
            text.append(f"{lead}{encode_basestring(key)}:")
            _write(value[key], text, parts)
            lead = ","
        text.append("}" if lead == "," else "{}")
    elif isinstance(value, (list, tuple)):
        lead = "["
        for item in value:
            text.append(lead)
            _write(item, text, parts)
            lead = ","
        text.append("]" if lead == "," else "[]")
    elif isinstance(value, Fragment):
        _flush(text, parts)
        parts.append(value.data)
    else:
        raise TypeError(f"{type(value).__name__} has no form in a document; numbers are decimal strings")
