"""Where things stand in the repository, and how the architecture tests read them."""

from __future__ import annotations

import ast
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "stratadiff"
CSRC = ROOT / "csrc"
TESTS = ROOT / "tests"
DOCS = ROOT / "docs"


def read(path: Path) -> str:
    """Return the text of ``path``."""
    return path.read_text(encoding="utf-8")


def pyproject() -> dict[str, object]:
    """Return pyproject.toml."""
    return tomllib.loads(read(ROOT / "pyproject.toml"))


def python_files(folder: Path) -> list[Path]:
    """Return the Python files of ``folder``, sorted."""
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def all_files(folder: Path) -> Iterator[Path]:
    """Yield every file under ``folder``, links not followed, caches left out."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in {"__pycache__", "_build"})
        for name in sorted(names):
            yield Path(place) / name


def module_name(path: Path) -> str:
    """Return the dotted name of a source file, without the package's own name: ``core.textdiff``."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path) -> set[str]:
    """Return what a source file imports, absolute and dotted, imports inside functions included."""
    package = ["stratadiff", *path.relative_to(SRC).parent.parts] if path.is_relative_to(SRC) else []
    found: set[str] = set()
    for node in ast.walk(ast.parse(read(path), filename=str(path))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found.add(source)
            found.update(f"{source}.{alias.name}" for alias in node.names)
    return found
