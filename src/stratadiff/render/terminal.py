"""What a stream can show: whether lines get colour."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

RED = "\x1b[31m"
GREEN = "\x1b[32m"
YELLOW = "\x1b[33m"
RESET = "\x1b[0m"


def wants_colour(stream: TextIO | None, environ: Mapping[str, str] | None = None) -> bool:
    """Tell whether lines written to a stream may carry colour.

    Parameters
    ----------
    stream : text stream or None
        Only a terminal gets colour; None is a closed stream.
    environ : mapping, optional
        The environment: a non-empty ``NO_COLOR``, or ``TERM=dumb``, forbids it.
    """
    environ = os.environ if environ is None else environ
    if stream is None or environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False


def coloured(line: str) -> str:
    """Colour a line of an output: removed red, added green, anything else as it is (textdiff §10.4)."""
    if line.startswith("- "):
        return f"{RED}{line}{RESET}"
    if line.startswith("+ "):
        return f"{GREEN}{line}{RESET}"
    return line
