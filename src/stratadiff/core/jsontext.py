"""JSON outputs: strict parsing, and the lines a JSON value is shown as *(textdiff §6)*."""

from __future__ import annotations

from stratadiff._kernels.json_scan import pretty
from stratadiff.core.jsonvalue import parse_as_written
from stratadiff.limits import MAX_JSON_DEPTH, MAX_JSON_LINES_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def canonical_lines(data: bytes) -> bytes | None:
    """Return the canonical pretty form of a JSON text, or None if it does not parse strictly.

    Strict is RFC 8259 in UTF-8 without a byte-order mark, no member twice in an object, at most 512 open
    containers. Numbers stay as written. A lone surrogate that an escape decodes to stands as its three-byte
    form. Lines of more than 64 MiB, which take deep nesting to make from a text that may be diffed, count as
    not parsing.
    """
    return pretty(data, MAX_JSON_DEPTH, MAX_JSON_LINES_BYTES)[2]


def canonical_pair(a: bytes, b: bytes) -> tuple[bytes, bytes] | None:
    """Return the canonical pretty forms of two JSON texts, or None if either does not parse strictly."""
    left = canonical_lines(a)
    right = None if left is None else canonical_lines(b)
    return None if left is None or right is None else (left, right)


def has_member_list(lines: bytes, name: str) -> bool:
    """Say whether a canonical pretty form is an object with a list member of that name, without making any
    object.
    """
    # In that form only a top-level member is indented by two, and no string holds a line break.
    return f'\n  "{name}": ['.encode() in lines


def parse_lines(lines: bytes) -> Any:
    """Return the value of a canonical pretty form; numbers are strings that keep their spelling."""
    return parse_as_written(lines.decode("utf-8", "surrogatepass"))
