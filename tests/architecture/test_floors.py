"""The floors: a module imports from lower floors only, and a room never from its sibling.

import-linter checks the same contract in CI; this test reads the same lines of pyproject.toml and needs no
extra, so that it runs wherever the tests do.
"""

from __future__ import annotations

from architecture.repository import SRC, TESTS, imported_modules, module_name, pyproject, python_files

ANYONE_MAY_IMPORT = {"errors", "limits"}
"""Modules beside the stairs; they import nothing of ours."""

FRONT_DOOR = {"", "__main__"}
"""The package itself and ``python -m stratadiff`` may open any floor."""


def _floors() -> dict[str, int]:
    contract = pyproject()["tool"]["importlinter"]["contracts"][0]  # type: ignore[index]
    floors: dict[str, int] = {}
    for height, layer in enumerate(reversed(contract["layers"])):
        for room in layer.split("|"):
            floors[room.strip()] = height
    return floors


FLOORS = _floors()


def _room(module: str) -> str:
    return module.split(".")[0]


def _own_imports(path) -> set[str]:  # type: ignore[no-untyped-def]
    own = {
        name.removeprefix("stratadiff.") for name in imported_modules(path) if name.startswith("stratadiff.")
    }
    return {name for name in own if _room(name) in FLOORS or _room(name) in ANYONE_MAY_IMPORT}


def test_every_module_has_a_floor() -> None:
    rooms = {_room(module_name(path)) for path in python_files(SRC)}
    assert rooms - set(FLOORS) - ANYONE_MAY_IMPORT - FRONT_DOOR == set()


def test_imports_go_down_only() -> None:
    wrong = []
    for path in python_files(SRC):
        here = _room(module_name(path))
        if here in FRONT_DOOR:
            continue
        for name in _own_imports(path):
            there = _room(name)
            if there == here or there in ANYONE_MAY_IMPORT:
                continue
            if here in ANYONE_MAY_IMPORT or FLOORS[there] >= FLOORS[here]:
                wrong.append(f"{module_name(path)} imports {name}")
    assert wrong == []


def test_kernels_package_holds_no_python_code() -> None:
    assert [path.name for path in python_files(SRC / "_kernels")] == ["__init__.py"]
    assert imported_modules(SRC / "_kernels" / "__init__.py") == set()


def test_source_never_imports_the_reference_implementation() -> None:
    wrong = [
        f"{module_name(path)} imports {name}"
        for path in python_files(SRC)
        for name in imported_modules(path)
        if name.split(".")[0] in {"tests", "reference", "strategies", "conftest"}
    ]
    assert wrong == []


def test_reference_implementation_never_imports_the_source() -> None:
    wrong = [
        f"{path.relative_to(TESTS)} imports {name}"
        for path in python_files(TESTS / "reference")
        for name in imported_modules(path)
        if name.split(".")[0] == "stratadiff"
    ]
    assert wrong == []
