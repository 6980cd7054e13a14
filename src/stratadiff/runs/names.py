"""How recorded values are named in lines for people: quoted names, short digests, setting values.

None of these escapes: the lines they go into are raw record text (textdiff §2), and whoever prints them
escapes them once.
"""

from __future__ import annotations

from stratadiff.core.digests import PREFIX, short_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# What a quoted name writes as an escape, besides the quote and the backslash: Unicode 15.0 Cc, Cf, Cs, Co,
# Zl, Zp, and Zs but the space. Unlike ``repr`` it does not know unassigned characters, so the interpreter's
# Unicode version has no say.
_ESCAPED_RANGES = (
    (0x00, 0x1F),
    (0x7F, 0xA0),
    (0xAD, 0xAD),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x1680, 0x1680),
    (0x180E, 0x180E),
    (0x2000, 0x200F),
    (0x2028, 0x202F),
    (0x205F, 0x2064),
    (0x2066, 0x206F),
    (0x3000, 0x3000),
    (0xD800, 0xF8FF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
    (0xF0000, 0xFFFFD),
    (0x100000, 0x10FFFD),
)
_SHORT_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def quoted(text: str) -> str:
    r"""Quote a name as Python's ``repr`` does, whatever the interpreter's Unicode version.

    Parameters
    ----------
    text : str
        Any text, lone surrogates included.

    Returns
    -------
    str
        In single quotes, or double ones when it holds a ``'`` and no ``"``.

    Examples
    --------
    >>> quoted("answer"), quoted("no'pe"), quoted("a\u202eb")
    ("'answer'", '"no\'pe"', "'a\\u202eb'")
    """
    quote = '"' if "'" in text and '"' not in text else "'"
    if text.isascii() and text.isprintable() and "\\" not in text:
        return quote + (text.replace("'", "\\'") if quote == "'" else text) + quote
    return quote + "".join(_quoted_character(character, quote) for character in text) + quote


def quoted_list(names: Iterable[str]) -> str:
    """Write names as Python writes a list of strings: ``['alpha', 'zeta']``."""
    return "[" + ", ".join(quoted(name) for name in names) + "]"


def quoted_value(value: Any) -> str:
    """Write a parsed JSON value as Python's ``repr`` does, strings as :func:`quoted` does, at any depth."""
    parts: list[str] = []
    # Values still to be written; a tuple, which JSON has not, is text between them.
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            parts.append(item[0])
        elif isinstance(item, str):
            parts.append(quoted(item))
        elif isinstance(item, list):
            parts.append("[")
            pending.append(("]",))
            for place in range(len(item) - 1, -1, -1):
                pending += [item[place], (", ",)] if place else [item[place]]
        elif isinstance(item, dict):
            parts.append("{")
            pending.append(("}",))
            for place, (name, member) in reversed(list(enumerate(item.items()))):
                pending += [member, (f"{', ' if place else ''}{quoted(name)}: ",)]
        else:
            parts.append(repr(item))
    return "".join(parts)


def _quoted_character(character: str, quote: str) -> str:
    if character in (quote, "\\"):
        return "\\" + character
    if " " <= character <= "~":
        return character
    code = ord(character)
    for low, high in _ESCAPED_RANGES:
        if low <= code <= high:
            if character in _SHORT_ESCAPES:
                return _SHORT_ESCAPES[character]
            if code <= 0xFF:
                return f"\\x{code:02x}"
            return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def short(value: Any) -> str:
    """Shorten a digest: 12 characters, after ``sha256:`` where that stands; ``(none)`` for nothing."""
    return short_form(value if isinstance(value, str) or not value else str(value))


def value_text(value: Any) -> str:
    """Write the value of a setting: a digest short, nothing as ``(none)``, anything else as recorded."""
    if value is None:
        return "(none)"
    if isinstance(value, str):
        return short(value) if value.startswith(PREFIX) else value
    return str(value)
