"""What a command loads: start-up time is spent in imports, so heavy modules stay off the path.

Measured on CPython 3.11, importing ``dataclasses`` costs about 15 to 20 ms and ``numpy`` about 75 ms of a
command that should take 30 ms. The list names modules, not times, so that the test means the same everywhere.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stratadiff
from bundles.samples import put

HEAVY = {
    "asyncio",
    "concurrent.futures",
    "dataclasses",
    "difflib",
    "email",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "multiprocessing",
    "numpy",
    "orjson",
    "pathlib",
    "random",
    "rapidfuzz",
    "shutil",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "typing",
    "unittest",
    "urllib",
    "uuid",
    "xml",
    "yaml",
    "zipfile",
}

# What the interpreter itself loads at start-up does not count (an editable install hooks in there).
PROGRAM = """
import sys
before = set(sys.modules)
from stratadiff.cli.main import main
import io
sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
try:
    code = main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
sys.__stdout__.write("\\n".join([str(code or 0), *sorted(set(sys.modules) - before)]))
"""


def loaded_by(*arguments: str) -> tuple[int, set[str]]:
    """Run the command in a process of its own; return its exit code and the modules that it loaded."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    code, *modules = result.stdout.splitlines()
    return int(code), set(modules)


def heavy_among(modules: set[str]) -> list[str]:
    """Return the heavy modules among ``modules``, submodules counted."""
    return sorted(
        name for name in modules if any(name == heavy or name.startswith(heavy + ".") for heavy in HEAVY)
    )


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_nothing_heavy(option: str) -> None:
    code, modules = loaded_by(option)
    assert code == 0
    assert heavy_among(modules) == []
    # Neither reads a recording: no domain and no kernel is needed to print a few lines.
    domains = ("stratadiff.runs", "stratadiff.traces", "stratadiff._kernels.")
    assert sorted(name for name in modules if name.startswith(domains)) == []


@pytest.mark.parametrize("form", [["--text"], ["--text", "--json"], []])
def test_a_small_diff_loads_nothing_heavy(form: list[str]) -> None:
    code, modules = loaded_by("diff", *form, *stratadiff.demo_runs())
    assert code == 1
    assert heavy_among(modules) == []


def test_verify_loads_nothing_heavy() -> None:
    for recording in (stratadiff.demo_runs()[0], stratadiff.demo_traces()[0]):
        code, modules = loaded_by("verify", recording)
        assert code == 0
        assert heavy_among(modules) == []


PLAIN_TRACES = [
    [],
    ["--json", "--align"],
    ["--hierarchical", "--spans", "--token-diff", "--fail-on", "never"],
    ["--pricing", str(Path(stratadiff.demo_traces()[0]).with_name("pricing.json"))],
]


@pytest.mark.parametrize("options", PLAIN_TRACES, ids=" ".join)
def test_a_small_diff_of_traces_loads_nothing_heavy(options: list[str]) -> None:
    code, modules = loaded_by("diff", *stratadiff.demo_traces(), *options)
    assert code == 0
    assert heavy_among(modules) == []
    assert modules.isdisjoint({"json", "re", "enum", "unicodedata", "argparse"})


def test_each_kind_of_recording_loads_its_own_domain() -> None:
    for recordings, other in ((stratadiff.demo_runs(), "traces"), (stratadiff.demo_traces(), "runs")):
        for command in (["diff", *recordings], ["verify", recordings[0]]):
            result = subprocess.run(
                [sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, check=False
            )
            loaded = result.stdout.splitlines()
            assert not any(name.startswith(f"stratadiff.{other}") for name in loaded), command


def test_importing_the_package_loads_nothing() -> None:
    program = (
        "import sys; before = set(sys.modules); import stratadiff;"
        "print(sorted(name for name in set(sys.modules) - before if name != 'stratadiff'))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert heavy_among(set(eval(result.stdout))) == []


def test_bundles_load_nothing_heavy(tmp_path: Path) -> None:
    put(tmp_path / "a")
    put(tmp_path / "b", files={"01-careful.md": b"other\n", "03-Fast-one.md": b"other\n"})
    program = (
        "import sys; before = set(sys.modules); import stratadiff;"
        "result = stratadiff.diff_bundles(*sys.argv[1:3]); result.document().canonical(); result.text();"
        "assert stratadiff.verify_bundle(sys.argv[1]).verifies;"
        "print(sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a"), str(tmp_path / "b")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert heavy_among(set(eval(result.stdout))) == []
