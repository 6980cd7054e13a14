"""The one door through which text from records becomes visible text *(textdiff §8.1, §8.2; levels §7)*."""

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


def escape_terminal(text: str) -> str:
    r"""Return text of a trace as it is shown in text output *(levels §7)*.

    Control and format characters (general categories Cc and Cf, but for the joiners U+200C and U+200D) and
    the separators U+2028 and U+2029 become ``\xNN`` below U+0100, ``\uNNNN`` above, a UTF-16 pair of those
    above U+FFFF. A backslash stands as itself, and so does everything else.

    Examples
    --------
    >>> print(escape_terminal("a\tb\\c\u202e"))
    a\x09b\c\u202e
    """
    if text.isprintable():  # then there is nothing of those categories in it
        return text
    if text.isascii():
        return text.translate(_ASCII_CONTROLS)
    from unicodedata import category  # only for text that needs it: start-up

    parts = []
    for character in text:
        if character.isprintable() or (
            character not in "\u2028\u2029"
            and (category(character) not in ("Cc", "Cf") or character in "\u200c\u200d")
        ):
            parts.append(character)
            continue
        code = ord(character)
        if code > 0xFFFF:
            code -= 0x10000
            parts.append(f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}")
        else:
            parts.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
    return "".join(parts)


_ASCII_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F)}
