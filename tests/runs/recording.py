"""Recorded runs for tests, written from a few words: real receipts, a real chain, real digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Json = Any


def canonical(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def reference(
    name: Json, data: bytes, media_type: str = "text/plain", trust: str = "operator-authored"
) -> Json:
    """Make an artifact reference."""
    return {
        "bytes": str(len(data)),
        "digest": digest(data),
        "media_type": media_type,
        "name": name,
        "trust_class": trust,
    }


class Stage:
    """One stage to record.

    ``outputs`` maps names to bytes, or to (media type, bytes); ``upstream`` names the nodes it read from.
    """

    def __init__(
        self,
        name: str,
        outputs: Mapping[str, bytes | tuple[str, bytes]],
        *,
        inputs: Sequence[Json] = (),
        constants: Mapping[str, str] | None = None,
        corpus: Json = None,
        instance: str | None = None,
        upstream: Sequence[str] = (),
        outcome: str = "ok",
        boundaries: Sequence[Json] = (),
        instrument: Mapping[str, str] | None = None,
        receipt: Mapping[str, Json] | None = None,
    ) -> None:
        self.name = name
        self.outputs = {
            name: ("text/plain", value) if isinstance(value, bytes) else value
            for name, value in outputs.items()
        }
        self.inputs = list(inputs)
        self.constants = {"k": "v"} if constants is None else dict(constants)
        self.corpus = corpus
        self.instance = instance
        self.upstream = list(upstream)
        self.outcome = outcome
        self.boundaries = list(boundaries)
        self.instrument = dict(instrument or {})
        self.receipt = dict(receipt or {})

    @property
    def node(self) -> str:
        return self.name if self.instance is None else f"{self.name}#{self.instance}"


def record(
    folder: Path,
    stages: Sequence[Stage],
    *,
    declared: Sequence[str] | None = None,
    run_id: str | None = None,
    edges: bool = False,
    manifest: Mapping[str, Json] | None = None,
) -> str:
    """Write a run and return its chain head.

    ``edges`` records the topology that the stages' ``upstream`` describes; ``manifest`` replaces members.
    """
    run_id = folder.name if run_id is None else run_id
    names = list(dict.fromkeys(stage.name for stage in stages))
    declared = names if declared is None else list(declared)
    chain: list[Json] = []
    links: dict[str, tuple[str, int]] = {}
    previous = None
    for number, stage in enumerate(stages, start=1):
        stem = f"{number:02d}-{_slug(stage.name)}" + (f"_{_slug(stage.instance)}" if stage.instance else "")
        for name, (_, data) in stage.outputs.items():
            path = folder / "artifacts" / stem / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        emitted = list(dict.fromkeys(other.name for other in stages[:number]))
        place = {"index": str(number), "name": stage.name}
        if stage.instance is not None:
            place["instance"] = stage.instance
        assertions: Json = {"constants": stage.constants}
        if stage.corpus is not None:
            assertions["corpus_manifest"] = stage.corpus
        outcome: Json = {"class": stage.outcome}
        if stage.outcome == "error":
            outcome |= {"body": "", "origin": "test", "status": "500"}
        value = {
            "anchor": {"reason": "test", "state": "unanchored"},
            "assertions": assertions,
            "coverage": {
                "boundaries": stage.boundaries,
                "completeness": "complete"
                if set(declared) <= set(emitted) and number == len(stages)
                else "incomplete",
                "declared_stages": list(declared),
                "emitting_stages": emitted,
            },
            "digest_source": "emitter",
            "emission": {"gaps": [], "policy": "fail-closed"},
            "format": "stage-receipt/0.2",
            "inputs": [
                *(
                    {
                        "bytes": str(links[node][1]),
                        "digest": links[node][0],
                        "media_type": "application/json",
                        "name": f"receipt:{node}",
                        "trust_class": "operator-authored",
                    }
                    for node in stage.upstream
                ),
                *stage.inputs,
            ],
            "instrument": {
                "config_digest": digest(b"config"),
                "id": "tool",
                "kind": "stage",
                "manifest_digest": digest(b"pipeline"),
                "rederivable": "true",
                "version": "1",
                **stage.instrument,
            },
            "outcome": outcome,
            "outputs": [reference(name, data, media) for name, (media, data) in stage.outputs.items()],
            "prev": previous,
            "run_id": run_id,
            "stage": place,
            "time": {"ended": "2026-01-02T03:04:05.000+00:00", "started": "2026-01-02T03:04:04.000+00:00"},
            **stage.receipt,
        }
        data = canonical(value)
        path = folder / "receipts" / f"{stem}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        previous = digest(data)
        links[stage.node] = (previous, len(data))
        entry = {
            "digest": previous,
            "file": f"receipts/{stem}.json",
            "index": str(number),
            "stage": stage.name,
        }
        if stage.instance is not None:
            entry["instance"] = stage.instance
        chain.append(entry)
    members: Json = {
        "anchor": {"reason": "test", "state": "unanchored"},
        "chain": chain,
        "chain_head": previous,
        "format": "stage-receipt-chain/0.2",
        "run_id": run_id,
        "run_id_source": "caller",
    }
    if edges:
        pairs = [(node, stage.node) for stage in stages for node in stage.upstream]
        members["edges"] = [{"from": start, "to": end} for start, end in pairs]
        plan = dict.fromkeys((start.partition("#")[0], end.partition("#")[0]) for start, end in pairs)
        members["declared_edges"] = [{"from": start, "to": end} for start, end in plan]
    members |= manifest or {}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MANIFEST.json").write_bytes(canonical(members))
    return previous or ""


def record_pair(folder: Path, old: bytes, new: bytes, *, media_type: str = "text/plain") -> tuple[str, str]:
    """Record two runs of one stage with one output each; return their paths."""
    for name, data in (("a", old), ("b", new)):
        record(folder / name, [Stage("answer", {"out.txt": (media_type, data)})])
    return str(folder / "a"), str(folder / "b")


def _slug(text: str) -> str:
    kept = "".join(
        character if character in "abcdefghijklmnopqrstuvwxyz0123456789" else "-"
        for character in text.lower()
    )
    return "-".join(part for part in kept.split("-") if part) or "stage"
