"""The one door through which text from records becomes visible text *(textdiff §8.1, §8.2)*."""

from __future__ import annotations

from array import array

from stratadiff._kernels.escape import escape_text, show_rows

_NONE = array("i", [0])
_EMPTY = array("i")


def escape_name(text: str) -> str:
    r"""Return a name, path, setting or message as it is shown.

    A backslash is doubled; control and format characters, line and paragraph separators and surrogates become
    ``\uXXXX``, beyond U+FFFF a pair of them.

    Examples
    --------
    >>> print(escape_name("a\tb\\c\u202e"))
    a\u0009b\\c\u202e
    """
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return escape_text(text.encode("utf-8", "surrogatepass"), True, True).decode("utf-8")


def shown_text(text: str) -> str:
    """Return a whole text as one displayed string: escaped, and windowed from its start if it is long."""
    data = text.encode("utf-8", "surrogatepass")
    rows = array("i", [0, 0, 0, -1, 0, len(data)])
    shown = show_rows(
        data,
        b"",
        rows,
        _EMPTY,
        _EMPTY,
        _NONE,
        _EMPTY,
        _NONE,
        _EMPTY,
        _NONE,
        backslash=True,
        surrogates=True,
        marks=False,
    )
    return shown[0].decode("utf-8")
