"""Shown text: escapes, the window of a long line, offsets carried through (textdiff 8.1 to 8.3)."""

from __future__ import annotations

TEXT = "text"
JSON = "json"

WINDOW = 2000
LEAD = 40

# As the contract writes them: Cc, Cf, Zl and Zp of Unicode 15.0.
ESCAPED_RANGES = (
    "0000–001F 007F–009F 00AD 0600–0605 061C 06DD 070F 0890–0891 08E2 180E 200B–200F 2028–202E 2060–2064 "
    "2066–206F FEFF FFF9–FFFB 110BD 110CD 13430–1343F 1BCA0–1BCA3 1D173–1D17A E0001 E0020–E007F"
)


def _spelt_out(ranges: str) -> frozenset[int]:
    found: set[int] = set()
    for part in ranges.split():
        first, _, last = part.partition("–")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)


ESCAPED = _spelt_out(ESCAPED_RANGES)


def escape_char(char: str, mode: str) -> str:
    """Escape one character; in text mode a surrogate stands for an undecodable byte."""
    code = ord(char)
    if char == "\\" and mode == TEXT:
        return "\\\\"
    if 0xD800 <= code <= 0xDFFF:
        return f"\\x{code - 0xDC00:02x}" if mode == TEXT else f"\\u{code:04x}"
    if code in ESCAPED:
        if code <= 0xFFFF:
            return f"\\u{code:04x}"
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return char


def escape(text: str, mode: str) -> str:
    """Escape a decoded line character by character."""
    return "".join(escape_char(char, mode) for char in text)


def escape_name(text: str) -> str:
    """Escape a name, a setting or a note: rules 1 and 2 of 8.1, a surrogate is ``u`` and four digits."""
    return "".join("\\\\" if char == "\\" else escape_char(char, JSON) for char in text)


def window(length: int, point: int) -> tuple[int, int]:
    """Give the shown part ``[start, end)`` of a line of `length` characters (textdiff 8.2)."""
    start = max(0, min(point - LEAD, length - WINDOW))
    return start, min(start + WINDOW, length)


def shown(line: str, mode: str, point: int = 0) -> str:
    """Show a line through its window."""
    start, end = window(len(line), point)
    before = f"… {start} characters … " if start > 0 else ""
    after = f" … {len(line) - end} more characters" if end < len(line) else ""
    return before + escape(line[start:end], mode) + after


def shown_spans(line: str, mode: str, point: int, spans: list[tuple[int, int]]) -> list[list[str]]:
    """Carry raw spans of a line over to offsets into its shown text."""
    start, end = window(len(line), point)
    lead = len(f"… {start} characters … ") if start > 0 else 0
    found = []
    for span_start, span_end in spans:
        x, y = max(span_start, start), min(span_end, end)
        if x < y:
            offset = lead + len(escape(line[start:x], mode))
            found.append([str(offset), str(offset + len(escape(line[x:y], mode)))])
    return found
