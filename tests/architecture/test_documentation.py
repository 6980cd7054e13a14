"""The documentation says what the code does: commands, options, limits, exit codes and names are there."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

from architecture.repository import DOCS, ROOT, SRC, module_name, python_files, read

REFERENCE = DOCS / "reference"

MAIN_JOB = "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/stratadiff demo"
RUN_TESTS = "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest"


def test_readme_gives_the_two_commands_first() -> None:
    blocks = re.findall(r"^```sh\n([^\n]+)\n```$", read(ROOT / "README.md"), re.MULTILINE)
    assert blocks[:2] == [MAIN_JOB, RUN_TESTS]


@pytest.mark.parametrize(("number", "command"), [("1", MAIN_JOB), ("2", RUN_TESTS)])
def test_ci_runs_the_commands_of_the_readme(number: str, command: str) -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "readme.py"), "command", number],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout == command + "\n"
    script = read(ROOT / ".ci" / "run")
    assert f"command=$(python3 .ci/readme.py command {number})" in script
    assert 'bash -c "$command"' in script


@pytest.mark.parametrize("page", ["cli", "limits", "exit-codes"])
def test_generated_pages_are_up_to_date(page: str) -> None:
    # `python docs/generate.py` writes them again.
    generate = _generator()
    assert read(REFERENCE / f"{page}.md") == generate.PAGES[page]()


def _generator():  # type: ignore[no-untyped-def]
    specification = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_limit_is_documented_with_its_value() -> None:
    limits = importlib.import_module("stratadiff.limits")
    page = read(REFERENCE / "limits.md")
    names = [name for name in vars(limits) if name.isupper()]
    assert names
    assert [name for name in names if f"`{name}`" not in page] == []


def test_every_public_name_is_documented() -> None:
    package = importlib.import_module("stratadiff")
    page = read(REFERENCE / "python-api.md")
    names = [name for name in package.__all__ if not name.startswith("__")]
    assert names
    assert [name for name in names if not re.search(rf"stratadiff\.(\w+\.)?{name}\b", page)] == []


def test_architecture_page_names_every_module_and_no_other() -> None:
    page = read(DOCS / "architecture.md")
    modules = {
        module_name(path).replace(".", "/") + ".py"
        for path in python_files(SRC)
        if path.name != "__init__.py"
    }
    named = {
        name for name in re.findall(r"`([a-z_/]+\.py)`", page) if not name.startswith(("tests/", "docs/"))
    }
    assert modules - named == set()
    assert {name for name in named if not (SRC / name).is_file()} == set()


def test_relative_links_lead_somewhere() -> None:
    links = [
        (path, target)
        for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
        for target in re.findall(r"\]\(([^)#\s]+)", read(path))
        if "_build" not in path.parts and not re.match(r"\w+:", target)
    ]
    assert links
    assert [f"{path.name}: {target}" for path, target in links if not (path.parent / target).exists()] == []
