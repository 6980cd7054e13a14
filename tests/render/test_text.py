"""The plain form drawn from documents: fresh ones, and ones that come from a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import stratadiff
from cli.command import inside
from stratadiff.documents.document import Document
from stratadiff.render import terminal
from stratadiff.render.text import draw_text, report_lines, section_lines, shown_path

Json = Any

DATA = Path(__file__).parents[1] / "data" / "textdiff"
CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]
STORED = [case for case in CASES if not case.get("generated")]


def section_of(text: str) -> list[str]:
    """Return the section of a plain output: what stands before the ladder report."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(("baseline   ", "diff: ")):
            return lines[: number - 1]
    return lines


@pytest.mark.parametrize("case", STORED, ids=lambda case: case["id"])
def test_a_golden_document_from_its_file_draws_all_but_marked_words(case: Json) -> None:
    document = Document.load((DATA / case["expected_json"]).read_bytes())
    expected = section_of((DATA / case["expected_text"]).read_text(encoding="utf-8"))
    # Not in a document: lines of marked words, and notes about traces. A cut counts the former too.
    if any("more lines (use --max-lines)" in line for line in expected):
        return
    kept = []
    for line in expected:
        if line.startswith("~ ") and not line.startswith(("~ chunk ", "~ hit ")):
            continue
        if line.startswith("trace: no corpus link recorded at"):
            kept.pop()
            continue
        kept.append(line)
    assert section_lines(document) == kept


def test_a_report_from_its_file_draws_exactly() -> None:
    result = stratadiff.diff(*stratadiff.demo_runs())
    report = result.report()
    loaded = Document.load(report.canonical())
    assert report_lines(loaded.members) == report_lines(report.members)
    text = result.text()
    assert text == draw_text(report, result.document())
    assert text.endswith("\n".join(report_lines(loaded.members)) + "\n")


def test_text_of_a_topology_from_its_file() -> None:
    with inside(DATA / "cases" / "dag"):
        report = stratadiff.diff("a", "b").report()
    assert report_lines(Document.load(report.canonical()).members) == report_lines(report.members)


def test_public_names_draw(tmp_path: Path) -> None:
    result = stratadiff.diff(tmp_path / "nowhere", tmp_path)
    reason = f"{tmp_path / 'nowhere'}: no such file or directory"
    assert result.text() == f"could not check: no text is shown\n\ndiff: could not check — {reason}\n"
    assert stratadiff.draw_text(result.report()) == result.text().partition("\n\n")[2]


def test_colour_touches_output_lines_only() -> None:
    result = stratadiff.diff(*stratadiff.demo_runs())
    coloured = result.text(colour=True)
    assert coloured.replace("\x1b[31m", "").replace("\x1b[32m", "").replace("\x1b[0m", "") == result.text()
    lines = [line for line in coloured.splitlines() if "\x1b" in line]
    assert lines
    for line in lines:
        assert line.startswith(("\x1b[31m- ", "\x1b[32m+ "))
        assert line.endswith("\x1b[0m")
        assert line.count("\x1b") == 2


def test_paths_are_escaped_as_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_path("a/b\\c\x1b\udcff") == "a/b\\\\c\\u001b\\udcff"
    import os

    monkeypatch.setattr(os, "sep", "\\")
    assert shown_path("C:\\runs\\a\x1b") == "C:\\runs\\a\\u001b"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, True),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "0"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm"}, True),
    ],
)
def test_what_wants_colour(environ: dict[str, str], wanted: bool) -> None:
    assert terminal.wants_colour(Terminal(), environ) is wanted
    assert not terminal.wants_colour(io.StringIO(), environ)
    assert not terminal.wants_colour(None, environ)
    closed = Terminal()
    closed.isatty = io.StringIO.isatty.__get__(closed)  # type: ignore[method-assign]
    closed.close()
    assert not terminal.wants_colour(closed, environ)
