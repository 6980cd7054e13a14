"""Runs made by changing a golden one: damaged in memory by a test, sealed again, written to a folder."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

VERIFICATION = Path(__file__).parent / "data" / "verification"
GOOD = VERIFICATION / "good"


def canonical(value: Any) -> bytes:
    """Return what the tests take for canonical JSON, numbers and lone surrogates (as escapes) included."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def digest(data: bytes) -> str:
    """Return the prefixed digest of some bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


class RunBuilder:
    """One run: ``manifest``, ``receipts`` (dicts, or bytes as they are), a seal that makes the chain fit."""

    def __init__(self, name: str = "linear") -> None:
        self.source = GOOD / name
        self.manifest: Any = json.loads((self.source / "MANIFEST.json").read_bytes())
        self.files = [entry["file"] for entry in self.manifest["chain"]]
        self.receipts: list[Any] = [json.loads((self.source / file).read_bytes()) for file in self.files]

    def change(self, change: Callable[[Any], object], receipt: int = 1) -> RunBuilder:
        """Apply `change` to one receipt, then seal."""
        change(self.receipts[receipt])
        return self.seal()

    def seal(self) -> RunBuilder:
        """Make digests, links, edges and the chain head those of the receipts as they are now."""
        before: str | None = None
        sealed: dict[str, tuple[str, str]] = {}
        for entry, receipt in zip(self.manifest["chain"], self.receipts, strict=True):
            if isinstance(receipt, dict):
                if "prev" in receipt:
                    receipt["prev"] = before
                inputs = receipt.get("inputs")
                for item in inputs if isinstance(inputs, list) else []:
                    name = item.get("name") if isinstance(item, dict) else None
                    if isinstance(name, str) and name[8:] in sealed:
                        item["digest"], item["bytes"] = sealed[name[8:]]
            data = receipt if isinstance(receipt, bytes) else canonical(receipt)
            before = entry["digest"] = digest(data)
            stage = receipt.get("stage") if isinstance(receipt, dict) else None
            if isinstance(stage, dict) and isinstance(stage.get("name"), str):
                node = stage["name"] + (f"#{stage['instance']}" if "instance" in stage else "")
                sealed[node] = (before, str(len(data)))
        self.manifest["chain_head"] = before
        return self

    def write(self, folder: Path) -> Path:
        """Write the run into a new folder and return it."""
        shutil.copytree(self.source / "artifacts", folder / "artifacts")
        for file, receipt in zip(self.files, self.receipts, strict=True):
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(receipt if isinstance(receipt, bytes) else canonical(receipt))
        manifest = self.manifest
        data = manifest if isinstance(manifest, bytes) else canonical(manifest)
        (folder / "MANIFEST.json").write_bytes(data)
        return folder

    def copy(self) -> RunBuilder:
        """Return an independent copy."""
        return copy.deepcopy(self)
