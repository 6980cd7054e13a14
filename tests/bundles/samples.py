"""Comparison bundles for tests, written with nothing of the package: what a foreign writer leaves behind."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Json = Any
Change = Callable[[Json], object]

DATA_PACKAGE = "wind: 3 Bft\nGröße: 2 m\n".encode()
MARKDOWN = {"01-careful.md": b"# Wind\n\nA light breeze.\n", "03-Fast-one.md": b"# Wind\n\nWindy.\n"}

MEMBERS: Json = {
    "schemaVersion": "weatherreporter.comparison.v1",
    "comparisonId": "cmp-1",
    "startedAt": "2026-01-05T06:00:00Z",
    "finishedAt": "2026-01-05T06:01:30.25Z",
    "reportId": "daily",
    "validPeriod": {"start": "2026-01-05T00:00:00+01:00", "end": "2026-01-06T00:00:00+01:00"},
    "timezone": "Europe/Berlin",
    "promptId": "daily-report",
    "promptVersion": "1.10",
    "promptHash": "0123456789abcdef" * 4,
    "dataPackage": {"path": "data-package.yml", "sha256": hashlib.sha256(DATA_PACKAGE).hexdigest()},
    "total": 3,
    "succeeded": 2,
    "failed": 1,
    "results": [
        {
            "position": 1,
            "profileId": "careful",
            "backendId": "local",
            "modelName": "large-2",
            "status": "succeeded",
            "validationStatus": "passed",
            "reportPath": "01-careful.md",
        },
        {
            "position": 2,
            "profileId": "slow",
            "modelName": "large-2",
            "status": "failed",
            "validationStatus": "skipped",
            "error": {"category": "timeout", "message": "no answer after 30 s"},
        },
        {
            "position": 3,
            "profileId": "Fast one",
            "modelName": "small-1",
            "status": "succeeded",
            "validationStatus": "passed",
            "reportPath": "03-Fast-one.md",
        },
    ],
}


def members() -> Json:
    """Return the members of a manifest that keeps every rule, to be changed."""
    return copy.deepcopy(MEMBERS)


def put(
    folder: Path,
    manifest: Json | bytes = None,
    *,
    data_package: bytes = DATA_PACKAGE,
    files: Mapping[str, bytes] = MARKDOWN,
) -> Path:
    """Write a bundle: by default a good one."""
    folder.mkdir()
    manifest = MEMBERS if manifest is None else manifest
    if not isinstance(manifest, bytes):
        manifest = json.dumps(manifest, indent=2, ensure_ascii=False).encode() + b"\n"
    (folder / "comparison.json").write_bytes(manifest)
    (folder / "data-package.yml").write_bytes(data_package)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def changed(folder: Path, *changes: Change) -> Path:
    """Write a bundle whose manifest has been changed."""
    manifest = members()
    for change in changes:
        change(manifest)
    return put(folder, manifest)


def setting(path: str, value: Json) -> Change:
    """Return a change that sets a member; ``a.0.b`` walks through lists too."""

    def change(value_: Json) -> None:
        *parents, last = path.split(".")
        for part in parents:
            value_ = value_[int(part)] if part.isdigit() else value_[part]
        value_[int(last) if last.isdigit() else last] = value

    return change


def removing(path: str) -> Change:
    """Return a change that removes a member."""

    def change(value: Json) -> None:
        *parents, last = path.split(".")
        for part in parents:
            value = value[int(part)] if part.isdigit() else value[part]
        del value[int(last) if last.isdigit() else last]

    return change


def content(folder: Path) -> dict[str, bytes]:
    """Return every file of a flat folder."""
    return {entry.name: Path(entry.path).read_bytes() for entry in os.scandir(folder)}
