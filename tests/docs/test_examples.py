"""The examples in the documentation, run: Python sessions, commands with output, the README's picture."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]


def blocks(path: Path, language: str) -> list[tuple[int, str]]:
    """Return line number and text of the fenced blocks of one language."""
    text = path.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in found]


def pages_with(language: str, pattern: str) -> list[Path]:
    """Return the pages that have a block of this language in which ``pattern`` occurs."""
    return [page for page in PAGES if any(re.search(pattern, text) for _, text in blocks(page, language))]


def page_id(path: Path) -> str:
    """Return the name of a page in the test's id."""
    return str(path.relative_to(ROOT))


@pytest.fixture
def demo_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder in which ``stratadiff demo`` was run."""
    subprocess.run(
        [sys.executable, "-m", "stratadiff", "demo"], cwd=tmp_path, check=True, capture_output=True
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", pages_with("pycon", ">>> "), ids=page_id)
def test_python_sessions_give_what_the_page_shows(page: Path, demo_folder: Path) -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names: dict[str, object] = {}
    for line, text in blocks(page, "pycon"):
        session = parser.get_doctest(text, names, page_id(page), str(page), line - 1)
        session.globs = names
        runner.run(session, clear_globs=False)
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize("page", pages_with("console", r"\$ stratadiff .*\n[^$\n]"), ids=page_id)
def test_commands_print_what_the_page_shows(page: Path, demo_folder: Path) -> None:
    compared = 0
    for line, text in blocks(page, "console"):
        for match in re.finditer(r"^\$ stratadiff (.*)\n((?:[^$].*\n|\n)*)", text, re.MULTILINE):
            arguments, shown = match[1], match[2]
            if not shown or re.search(r"[|>&;$]", arguments):
                continue
            result = subprocess.run(
                [sys.executable, "-m", "stratadiff", *shlex.split(arguments)],
                capture_output=True, text=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            # A line `...` in the page stands for any lines.
            pattern = r"(?:.*\n)*".join(map(re.escape, re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)))
            printed = result.stdout + result.stderr
            assert re.fullmatch(pattern, printed) is not None, (
                f"{page_id(page)}:{line}: {arguments}\n{printed}"
            )
            compared += 1
    assert compared > 0


def test_the_picture_is_what_the_command_prints() -> None:
    specification = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert specification is not None
    assert specification.loader is not None
    picture = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(picture)
    text = picture.output()
    # `python docs/picture.py` writes both again.
    assert Path(picture.PICTURE).read_text(encoding="utf-8") == picture.drawn(text)
    assert picture.BLOCK.search(Path(picture.README).read_text(encoding="utf-8"))[0] == picture.block(text)


def module_names() -> list[str]:
    """Return the modules of the package that have a Python session in a docstring."""
    source = ROOT / "src"
    files = [path for path in sorted(source.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for path in files
    ]


@pytest.mark.parametrize("name", module_names())
def test_sessions_in_docstrings_give_what_they_show(name: str, demo_folder: Path) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
