"""Rules about the files themselves: length, names, what may be written in them, and what must be used."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from architecture.repository import CSRC, DOCS, ROOT, SRC, TESTS, all_files, python_files, read

MAX_LINES = 600
"""Past this a file is two things with two names."""

KERNELS = sorted(path.stem for path in CSRC.glob("*.pyx"))


def test_no_source_file_is_too_long() -> None:
    files = [*python_files(SRC), *CSRC.glob("*.pyx"), *CSRC.glob("*.pxd")]
    lengths = {path.relative_to(ROOT).as_posix(): read(path).count("\n") for path in files}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_kernels_are_listed_built_typed_and_documented_alike() -> None:
    [listed] = re.findall(r"set\(KERNELS ([^)]*)\)", read(ROOT / "CMakeLists.txt"))
    assert sorted(listed.split()) == KERNELS
    stubs = sorted(path.stem for path in (SRC / "_kernels").glob("*.pyi") if not path.stem.startswith("_"))
    assert stubs == KERNELS
    table = re.findall(r"^(\w+) {2,}\S", read(SRC / "_kernels" / "__init__.py"), re.MULTILINE)
    assert sorted(set(table) - {"module"}) == KERNELS
    page = read(DOCS / "architecture.md")
    assert [name for name in KERNELS if f"`{name}`" not in page] == []


@pytest.mark.parametrize("path", sorted(CSRC.glob("*.p[yx][xd]")), ids=lambda path: path.name)
def test_no_kernel_is_bound_to_numpy(path) -> None:  # type: ignore[no-untyped-def]
    # Importing an extension that cimports numpy costs about 75 ms, one over plain memory views 3 ms.
    assert re.search(r"^\s*(cimport|from)\s+numpy\b", read(path), re.MULTILINE) is None


def test_unicode_version_of_the_tables_is_named() -> None:
    tables = [*CSRC.glob("*_ranges.h"), *CSRC.glob("*_table.h")]
    assert len(tables) >= 2
    assert [path.name for path in tables if "15.0" not in read(path)] == []
    assert "Unicode 15.0" in read(DOCS / "explanation" / "escaping.md")


def listed_cases(folder: Path) -> set[str]:
    """Return the names in a folder's index of cases, which the tests go through whole."""
    index = folder / "cases.json"
    return {case["name"] for case in json.loads(read(index))["cases"]} if index.is_file() else set()


def test_every_golden_file_is_referenced_by_a_test() -> None:
    # A folder of cases is referenced through an index that a test reads; its name is what must appear.
    tests = "\n".join(read(path) for path in python_files(TESTS) if not path.is_relative_to(TESTS / "data"))
    entries = sorted(
        entry for folder in (TESTS / "data").iterdir() if folder.is_dir() for entry in folder.iterdir()
    )
    assert entries, "no golden data"
    unused = [
        str(entry.relative_to(ROOT))
        for entry in entries
        if entry.suffix in {".json", ".jsonl", ""} and not entry.name.startswith(".")
        if entry.name not in tests and f'"{entry.stem}"' not in tests
        if entry.name.split(".")[0] not in listed_cases(entry.parent)
    ]
    assert unused == []


def test_every_folder_of_golden_data_says_where_it_came_from() -> None:
    folders = sorted(folder for folder in (TESTS / "data").iterdir() if folder.is_dir())
    assert [folder.name for folder in folders if not (folder / "README.md").is_file()] == []


REPORTS = (
    "U01",
    "U02",
    "U05",
    "U06",
    "U07",
    "U08",
    "U09",
    "U11",
    "U12",
    "U14",
    "U15",
    "U16",
    "U17",
    "U19",
    "U20",
    "U24",
    "U25",
)


@pytest.mark.parametrize("report", REPORTS)
def test_every_user_report_has_a_test_of_its_name(report: str) -> None:
    names = {
        name.lower() for path in python_files(TESTS) for name in re.findall(r"def (test_\w+)", read(path))
    }
    assert [name for name in names if re.search(rf"(^|_){report.lower()}(_|$)", name)], report


def _tracked_texts() -> list[tuple[str, str]]:
    """Return name and text of what git tracks, or of every file where there is no git."""
    result = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode == 0 and result.stdout:
        paths = [ROOT / name for name in result.stdout.split("\0") if name]
    else:
        paths = [
            path for folder in (SRC, CSRC, TESTS, DOCS, ROOT / "benchmarks") for path in all_files(folder)
        ]
    texts = []
    for path in paths:
        if path.is_relative_to(TESTS / "data") or path.is_symlink() or not path.is_file():
            continue
        try:
            texts.append((str(path.relative_to(ROOT)), path.read_bytes().decode()))
        except UnicodeDecodeError:
            continue
    return texts


def test_nothing_names_a_machine_or_stands_unfinished() -> None:
    # The words are put together here so that this file does not find itself.
    folders = "|".join(["work", "root", "home/[a-z]", "Users/[A-Z]"])
    machine = re.compile(rf"(?:^|[^\w.])/(?:{folders})/")
    unfinished = re.compile(
        "|".join(["NotImplemented" + "Error", "TO" + "DO", "FIX" + "ME", r"\bX" + r"XX\b"])
    )
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in _tracked_texts()
        for number, line in enumerate(text.splitlines(), 1)
        if machine.search(line) or unfinished.search(line)
    ]
    assert found == []
