"""Write ``unicode15.json``: the word characters and decimal digits of Unicode 15.0, as ranges.

Run it with an interpreter whose ``unicodedata`` is exactly version 15.0.0 (CPython 3.12)::

    python3.12 tests/reference/make_unicode15.py
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Callable

WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"})


def ranges(belongs: Callable[[str], bool]) -> list[list[int]]:
    """List the inclusive ranges of code points for which `belongs` holds."""
    found: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if not belongs(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def main() -> None:
    """Write the table beside this file."""
    if unicodedata.unidata_version != "15.0.0":
        raise SystemExit(f"needs Unicode 15.0.0, this interpreter has {unicodedata.unidata_version}")
    table = {
        "unicode": unicodedata.unidata_version,
        "word": ranges(lambda char: unicodedata.category(char) in WORD_CATEGORIES or char == "_"),
        "zeros": [code for code in range(sys.maxunicode + 1) if unicodedata.decimal(chr(code), None) == 0],
        "decimal": ranges(lambda char: unicodedata.decimal(char, None) is not None),
        "escaped": ranges(lambda char: unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}),
    }
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unicode15.json")
    with open(path, "w", encoding="ascii", newline="\n") as stream:
        rows = (f' "{name}": {json.dumps(value, separators=(",", ":"))}' for name, value in table.items())
        stream.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
