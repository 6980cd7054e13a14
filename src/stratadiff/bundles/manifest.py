"""The bytes of a manifest, and what becomes of values on the way there *(bundles §4)*."""

from __future__ import annotations

from _json import encode_basestring  # escapes exactly what JSON must have escaped; json: start-up

from stratadiff.bundles.model import BundleError
from stratadiff.bundles.rules import moment_of
from stratadiff.limits import MAX_BUNDLE_MANIFEST_DEPTH, MAX_BUNDLE_MESSAGE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

MEMBERS = (
    "schemaVersion",
    "comparisonId",
    "startedAt",
    "finishedAt",
    "reportId",
    "validPeriod",
    "timezone",
    "promptId",
    "promptVersion",
    "promptHash",
    "dataPackage",
    "total",
    "succeeded",
    "failed",
    "results",
)
"""The manifest's members, in the contract's order."""

RESULT_MEMBERS = (
    "position",
    "profileId",
    "backendId",
    "modelName",
    "status",
    "validationStatus",
    "reportPath",
    "error",
)
_PERIOD_MEMBERS = ("start", "end")
_PACKAGE_MEMBERS = ("path", "sha256")
_ERROR_MEMBERS = ("category", "message")
_ORDERS = {"validPeriod": _PERIOD_MEMBERS, "dataPackage": _PACKAGE_MEMBERS, "error": _ERROR_MEMBERS}

_REPLACEMENT = "\ufffd"


def manifest_bytes(members: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest: the contract's member order, two-space indent, a final newline.

    Parameters
    ----------
    members : mapping
        By their names in the format; nothing is checked here but that they have a form in JSON. ``datetime``
        objects become RFC 3339 texts.

    Raises
    ------
    BundleError
        A value has no form in JSON (``manifest-fields``, ``manifest-json``).
    """
    parts: list[str] = []
    _write(members, MEMBERS, "", 0, parts)
    parts.append("\n")
    return "".join(parts).encode()


def utc_text(value: Any) -> Any:
    """Write a moment in UTC as the format wants it; anything else is left for the rules to refuse."""
    text = value
    if not isinstance(value, str):
        from datetime import UTC, datetime  # only for callers that have such objects: start-up

        if not isinstance(value, datetime):
            return value
        try:
            text = (value if value.utcoffset() is None else value.astimezone(UTC)).isoformat()
        except OverflowError:
            text = value.isoformat()
    moment = moment_of(text)
    if moment is None or not text.endswith(("Z", "+00:00")):
        return text
    return f"{text[:19]}.{moment[1]}Z" if moment[1] else f"{text[:19]}Z"


def repaired(value: Any) -> Any:
    """Return a text with U+FFFD for every lone surrogate; anything else as it is."""
    if not isinstance(value, str) or encodes(value):
        return value
    return "".join(_REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in value)


def cut(message: str) -> str:
    """Return as much of a message as the format allows, cut at the end of a character."""
    data = message.encode()
    if len(data) <= MAX_BUNDLE_MESSAGE_BYTES:
        return message
    return data[:MAX_BUNDLE_MESSAGE_BYTES].decode("utf-8", "ignore")


def _write(value: Any, order: tuple[str, ...], place: str, level: int, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(_quoted(value, place))
    elif value is None or isinstance(value, bool):
        parts.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, int):
        parts.append(_digits(value, place))
    elif isinstance(value, float):
        parts.append(float.__repr__(value))
    elif level > MAX_BUNDLE_MANIFEST_DEPTH:
        raise BundleError("manifest-json", f"{place} is nested too deeply; the format has three levels")
    elif is_mapping(value):
        _write_items(_ordered(value, order, place), "{}", level, parts)
    elif isinstance(value, (list, tuple)):
        nested = RESULT_MEMBERS if place == "results" else ()
        items = [(None, item, f"{place}[{index}]", nested) for index, item in enumerate(value)]
        _write_items(iter(items), "[]", level, parts)
    elif hasattr(value, "isoformat"):
        parts.append(encode_basestring(value.isoformat()))
    else:
        raise BundleError(
            "manifest-fields", f"{place} is a Python {type(value).__name__}, which has no form in JSON"
        )


def _ordered(
    members: Mapping[str, Any], order: tuple[str, ...], place: str
) -> Iterator[tuple[str | None, Any, str, tuple[str, ...]]]:
    for name in members:
        if not isinstance(name, str):
            raise BundleError(
                "manifest-fields", f"{place or 'the manifest'} has a member that is not called by a text"
            )
    names = [name for name in order if name in members]
    names += [name for name in members if name not in order]
    for name in names:
        yield name, members[name], f"{place}.{name}" if place else name, _ORDERS.get(name, ())


def _write_items(
    items: Iterator[tuple[str | None, Any, str, tuple[str, ...]]],
    brackets: str,
    level: int,
    parts: list[str],
) -> None:
    indent = "\n" + "  " * (level + 1)
    lead = brackets[0] + indent
    for name, value, place, order in items:
        parts.append(lead)
        if name is not None:
            parts.append(f"{_quoted(name, place)}: ")
        _write(value, order, place, level + 1, parts)
        lead = "," + indent
    parts.append("\n" + "  " * level + brackets[1] if lead[0] == "," else brackets)


def _digits(value: int, place: str) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # more digits than the interpreter writes
        raise BundleError("manifest-fields", f"{place} must be an integer of 64 bits") from None


def is_mapping(value: Any) -> bool:
    """Tell whether a value has members; ``collections.abc`` has a name for it and costs start-up time."""
    return hasattr(value, "keys") and hasattr(value, "__getitem__")


def encodes(text: str) -> bool:
    """Tell whether a text has a form in UTF-8: no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _quoted(text: str, place: str) -> str:
    if not encodes(text):
        raise BundleError(
            "manifest-json", f"{place} holds half a surrogate pair, which has no form in UTF-8; remove it"
        )
    return encode_basestring(text)
