"""Trace files for tests of the command: a few records, with everything that verification asks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import stratadiff

Record = dict[str, Any]


def enveloped(records: Sequence[Record], trace_id: str | None = None) -> list[Record]:
    """Give records of kind and payload the rest of the envelope, below a metadata record."""
    if not records or records[0]["kind"] != "metadata":
        records = [{"kind": "metadata", "payload": {"sdk": {"name": "test"}}}, *records]
    whole: list[Record] = []
    for number, record in enumerate(records):
        whole.append(
            {
                "version": "0.1",
                "id": stratadiff.content_id(record["payload"]),
                "kind": record["kind"],
                "ts": f"2026-05-04T09:{number // 60:02d}:{number % 60:02d}.000Z",
                "parent": whole[-1]["id"] if whole else None,
                "payload": record["payload"],
            }
        )
    if trace_id is not None:
        whole[0]["meta"] = {"trace_id": trace_id}
    return whole


def write(path: Path, records: Sequence[Record], trace_id: str | None = None) -> None:
    """Write a trace."""
    stratadiff.write_trace(path, enveloped(records, trace_id))


def record_pair(folder: Path, baseline: Sequence[Record], candidate: Sequence[Record]) -> tuple[str, str]:
    """Write two traces, ``a.agentlog`` and ``b.agentlog``."""
    write(folder / "a.agentlog", baseline)
    write(folder / "b.agentlog", candidate)
    return "a.agentlog", "b.agentlog"
