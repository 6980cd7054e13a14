"""Damage run folders: change receipts and manifests, with or without making the chain fit again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

Json = Any


class RunFiles(NamedTuple):
    """A run's JSON as parsed: the manifest and the receipts by the path the manifest gives."""

    manifest: dict[str, Json]
    receipts: dict[str, dict[str, Json]]


def read(run: Path) -> RunFiles:
    """Parse an intact run."""
    manifest = json.loads((run / "MANIFEST.json").read_bytes())
    files = [entry["file"] for entry in manifest["chain"]]
    return RunFiles(manifest, {file: json.loads((run / file).read_bytes()) for file in files})


def write(run: Path, files: RunFiles, *, reseal: bool) -> None:
    """Write a run's JSON back.

    With `reseal` the chain is made to fit again: each receipt's ``prev``, the digests and lengths by which
    later receipts name it as an input, the manifest's digests and chain head. Parts that damage has made
    unusable for that are left as they are.
    """
    renamed: dict[str, tuple[str, str]] = {}
    last: str | None = None
    for position, (file, receipt) in enumerate(files.receipts.items()):
        if reseal and isinstance(receipt, dict):
            if "prev" in receipt:
                receipt["prev"] = last
            inputs = receipt.get("inputs")
            for item in inputs if isinstance(inputs, list) else []:
                if (
                    isinstance(item, dict)
                    and isinstance(item.get("digest"), str)
                    and item["digest"] in renamed
                ):
                    item["digest"], item["bytes"] = renamed[item["digest"]]
        content = canonical(receipt)
        old = digest((run / file).read_bytes())
        (run / file).write_bytes(content)
        last = digest(content)
        renamed[old] = (last, str(len(content)))
        if reseal:
            chain = files.manifest.get("chain")
            for entry in chain if isinstance(chain, list) else []:
                if isinstance(entry, dict) and entry.get("file") == file and "digest" in entry:
                    entry["digest"] = last
            if position == len(files.receipts) - 1 and "chain_head" in files.manifest:
                files.manifest["chain_head"] = last
    (run / "MANIFEST.json").write_bytes(canonical(files.manifest))


def change(run: Path, edit: Callable[[RunFiles], None], *, reseal: bool = True) -> None:
    """Apply `edit` to a run's JSON and write it back."""
    files = read(run)
    edit(files)
    write(run, files, reseal=reseal)


def flip(path: Path, offset: int) -> None:
    """Flip the lowest bit of one byte; negative offsets count from the end."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(bytes(content))


def damage_at_random(run: Path, seed: int) -> str:
    """Damage an intact run in one to three seeded places and return what was done, for failure messages."""
    random = Random(f"damage {seed}")
    if random.random() < 0.2:
        return _damage_bytes(run, random)
    files = read(run)
    done = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        name = random.choice(("MANIFEST.json", *files.receipts, *files.receipts))
        root = files.manifest if name == "MANIFEST.json" else files.receipts[name]
        done.append(f"{name}: {_damage_value(root, random)}")
    reseal = random.random() < 0.6
    write(run, files, reseal=reseal)
    return "; ".join(done) + ("; resealed" if reseal else "")


REPLACEMENTS: tuple[Json, ...] = (
    None,
    True,
    False,
    0,
    7,
    1.5,
    "",
    "x",
    "complete",
    "refused",
    "Z",
    "2026-01-02",
    "sha256:" + "0" * 64,
    "0" * 64,
    "receipt:load",
    "stage-receipt/0.0-preview",
    "stage-receipt/9.0",
    "stage-receipt/0.x",
    [],
    {},
    [None],
    ["load"],
    [["load"]],
    [{}],
    {"name": "load"},
    [{"name": "receipt:load", "digest": "x"}],
    "\ud800",
    "line\nbreak\u202e",
)


def _damage_value(root: Json, random: Random) -> str:
    places = list(_places(root, "$"))
    container, key, path = random.choice(places)
    kind = random.random()
    if kind < 0.25:
        del container[key]
        return f"delete {path}"
    if kind < 0.65:
        container[key] = random.choice(REPLACEMENTS)
        return f"{path} = {container[key]!r}"
    if kind < 0.75 and isinstance(container, dict):
        container[
            random.choice(("refused", "scope", "edges", "note", "receipt_digest", "optional_stages"))
        ] = random.choice(REPLACEMENTS)
        return f"new member beside {path}"
    if kind < 0.85 and isinstance(container, list):
        container.insert(random.randrange(len(container) + 1), container[key])
        return f"repeat {path}"
    other, other_key, other_path = random.choice(places)
    container[key], other[other_key] = json.loads(json.dumps([other[other_key], container[key]]))
    return f"swap {path} and {other_path}"


def _places(value: Json, path: str) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        here = f"{path}[{key!r}]"
        yield value, key, here
        yield from _places(inner, here)


def _damage_bytes(run: Path, random: Random) -> str:
    files = sorted(path for path in run.rglob("*") if path.is_file())
    path = random.choice(files)
    name = path.relative_to(run).as_posix()
    content = path.read_bytes()
    kind = random.choice(("flip", "cut", "append", "remove", "empty", "swap", "space"))
    if kind == "remove" and name != "MANIFEST.json":
        path.unlink()
    elif kind == "swap":
        other = random.choice(files)
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)
        name += f" with {other.relative_to(run).as_posix()}"
    elif kind == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "append":
        path.write_bytes(content + b"\n")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "space":
        path.write_bytes(b" " + content)
    elif content:
        flip(path, random.randrange(len(content)))
    return f"{kind} {name}"


def canonical(value: Json) -> bytes:
    """Return JSON in the records' canonical form; lone surrogates and numbers as plain JSON writes them."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def digest(content: bytes) -> str:
    """Return the digest of bytes as records write it."""
    return "sha256:" + hashlib.sha256(content).hexdigest()
