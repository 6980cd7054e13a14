"""Draw the output of the demonstration: ``python docs/picture.py``.

Runs ``stratadiff diff --text`` on the demo's runs, writes what it prints as docs/picture.svg, and puts the
same text into the block of README.md marked ``<!-- picture -->``. A test checks that both are true.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from html import escape

DOCS = os.path.dirname(os.path.abspath(__file__))
PICTURE = os.path.join(DOCS, "picture.svg")
README = os.path.join(os.path.dirname(DOCS), "README.md")

COMMAND = ["diff", "stratadiff-demo/monday", "stratadiff-demo/tuesday", "--text"]
BLOCK = re.compile(r"(?<=<!-- picture -->\n)```text\n.*?```\n", re.DOTALL)

LAST = "started at: "
"""How the last line shown begins; the corpus trace, the ladder and the verification's notes follow it."""

WIDTH = 112
COLUMN, ROW, MARGIN, BAR = 8.4, 19, 16, 30
COLOURS = {"- ": "#ff7b72", "+ ": "#7ee787", "$ ": "#8b949e"}
"""What the command itself colours on a terminal, and the prompt."""


def output() -> str:
    """Return the command and what it prints, as a terminal shows them, cut after the line LAST names."""
    with tempfile.TemporaryDirectory() as folder:
        stratadiff = [sys.executable, "-m", "stratadiff"]
        subprocess.run([*stratadiff, "demo"], cwd=folder, check=True, capture_output=True)
        result = subprocess.run([*stratadiff, *COMMAND], cwd=folder, check=False, capture_output=True)
    assert result.returncode == 1, result.stderr.decode()
    lines = result.stdout.decode().splitlines()
    end = next(number for number, line in enumerate(lines) if line.startswith(LAST))
    return "\n".join([f"$ stratadiff {' '.join(COMMAND)}", *lines[: end + 1], "…", ""])


def drawn(text: str) -> str:
    """Return ``text`` as an SVG picture of a terminal of WIDTH columns."""
    pieces = [
        (line[start : start + WIDTH], COLOURS.get(line[:2], "#e6edf3"))
        for line in text.splitlines()
        for start in range(0, len(line) or 1, WIDTH)
    ]
    width = round(WIDTH * COLUMN + 2 * MARGIN)
    height = BAR + len(pieces) * ROW + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>Output of {escape(pieces[0][0].removeprefix('$ '))}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{18 + 18 * place}" cy="16" r="5" fill="#484f58"/>' for place in range(3)),
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    ]
    for number, (piece, colour) in enumerate(pieces):
        if piece.strip():
            parts.append(
                f'<text x="{MARGIN}" y="{BAR + (number + 1) * ROW - 5}" fill="{colour}" xml:space="preserve" '
                f'textLength="{round(len(piece) * COLUMN, 1)}">{escape(piece)}</text>'
            )
    return "\n".join([*parts, "</g>", "</svg>", ""])


def block(text: str) -> str:
    """Return ``text`` as the block that stands in the README."""
    return f"```text\n{text}```\n"


def main() -> None:
    """Write the picture and the block."""
    text = output()
    with open(PICTURE, "w", encoding="utf-8", newline="\n") as file:
        file.write(drawn(text))
    with open(README, encoding="utf-8") as file:
        readme = file.read()
    with open(README, "w", encoding="utf-8", newline="\n") as file:
        file.write(BLOCK.sub(lambda _: block(text), readme))


if __name__ == "__main__":
    main()
