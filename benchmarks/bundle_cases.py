"""Cases of comparison bundles: verifying one, beside reading its files and hashing the data package."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from measure import OURS, Built, Case, Target, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FLOOR = "read, SHA-256"
_LINE = b"2026-01-05T06:00:00Z wind: 3.25\n"


def _bundle(folder: str, megabytes: int) -> str:
    root = os.path.join(folder, f"bundle-{megabytes}")
    if os.path.isdir(root):
        return root
    os.mkdir(root)
    digest = hashlib.sha256()
    piece = _LINE * 31_250  # a million bytes
    with open(os.path.join(root, "data-package.yml"), "wb") as file:
        for _ in range(megabytes):
            file.write(piece)
            digest.update(piece)
    results: list[dict[str, Any]] = []
    for position in (1, 2, 3):
        name = f"{position:02d}-p{position}.md"
        with open(os.path.join(root, name), "wb") as file:
            file.write(_LINE * 500)
        results.append(
            {
                "position": position,
                "profileId": f"p{position}",
                "modelName": "m",
                "status": "succeeded",
                "validationStatus": "passed",
                "reportPath": name,
            }
        )
    manifest = {
        "schemaVersion": "weatherreporter.comparison.v1",
        "comparisonId": "bench",
        "startedAt": "2026-01-05T06:00:00Z",
        "finishedAt": "2026-01-05T06:00:00Z",
        "reportId": "daily",
        "validPeriod": {"start": "2026-01-05T00:00:00Z", "end": "2026-01-06T00:00:00Z"},
        "timezone": "UTC",
        "promptId": "p",
        "promptVersion": "1",
        "promptHash": "0" * 64,
        "dataPackage": {"path": "data-package.yml", "sha256": digest.hexdigest()},
        "total": 3,
        "succeeded": 3,
        "failed": 0,
        "results": results,
    }
    with open(os.path.join(root, "comparison.json"), "w") as out:
        json.dump(manifest, out, indent=2)
        out.write("\n")
    return root


def _verify(megabytes: int) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        from stratadiff import is_bundle

        root = _bundle(folder, megabytes)

        def read_and_hash() -> None:
            for name in sorted(os.listdir(root)):
                with open(os.path.join(root, name), "rb", buffering=0) as file:
                    data = file.read()
                if name.endswith(".yml"):
                    hashlib.sha256(data).hexdigest()

        def check() -> Mapping[str, str]:
            assert is_bundle(root)
            return {}

        contenders = {OURS: timed(lambda: is_bundle(root)), _FLOOR: timed(read_and_hash)}
        return Built(contenders, check, megabytes * 1_000_000)

    return build


CASES: list[Case] = [
    Case("bundle verify", "1 MB", _verify(1), (Target("at most", 1.5, _FLOOR),), quick=True),
    Case("bundle verify", "100 MB", _verify(100), (Target("at most", 1.5, _FLOOR),)),
    Case("bundle verify", "1 GB", _verify(1000), (Target("at most", 1.5, _FLOOR),)),
]
"""Every case of this file."""

CONTENDERS: dict[str, tuple[str, ...]] = {"bundle verify": (OURS, _FLOOR)}
"""Who takes part in a group."""
