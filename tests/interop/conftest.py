"""Leave the folder out, with a word why, unless the peers of the extra ``interop`` are installed."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any


def _missing() -> list[str]:
    """Return what the extra asks for and this environment lacks."""
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    extra = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["optional-dependencies"][
        "interop"
    ]
    lacking = []
    for requirement in extra:
        name, _, version = re.sub(r"\s", "", requirement).partition("==")
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            lacking.append(f"{requirement} is not installed")
        else:
            if found != version:
                lacking.append(f"{requirement} is needed, {found} is installed")
    return lacking


MISSING = _missing()
collect_ignore_glob = ["test_*.py"] if MISSING else []


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say that the folder was left out, and what to install."""
    if MISSING:
        terminalreporter.write_line(
            f"interop tests left out: {'; '.join(MISSING)} (pip install 'stratadiff[interop]')"
        )
