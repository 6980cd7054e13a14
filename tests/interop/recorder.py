"""Record runs with the published SDK, from a short description of what each stage read and wrote.

The SDK does all the writing; this module only spares the scenarios its ceremony. Clock and run ids are
fixed, so a scenario gives the same bytes every time and a disagreement can be reproduced from its name.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from onetrace import emit

Json = Any
Output = bytes | str | tuple[bytes | str, str]
"""What a stage writes: content, or content and media type (otherwise told from the name's ending)."""

MEDIA_TYPES = {"txt": "text/plain", "md": "text/markdown", "json": "application/json", "csv": "text/csv"}


class Instrument(NamedTuple):
    """What ran a stage; `config` only enters the record through its digest."""

    id: str = "tool"
    kind: str = "tool"
    version: str = "1.0.0"
    config: Mapping[str, Json] = types.MappingProxyType({})


TOOL = Instrument()


@dataclass(frozen=True)
class Step:
    """One stage of a run.

    Attributes
    ----------
    name, instance : str
        The node; `instance` only in a run with a topology.
    outputs : mapping of str to Output
        What it writes, in order.
    inputs : mapping of str to (content, trust class)
        What it reads from outside the run.
    reads : sequence of str
        Node ids whose receipts it reads: the edges.
    constants : mapping
        Declared constants.
    link : str or callable
        Chain head of the ingest run it used, or how to record it on the stage's context.
    outcome : str
        ``ok``, ``refused`` or ``error``.
    gap : str
        Instead of running: record that the receipt is known to be missing, for this reason.
    boundary : tuple of str
        Declare a boundary (name, kind, note) before this stage.
    """

    name: str
    outputs: Mapping[str, Output] = field(default_factory=dict)
    instance: str | None = None
    inputs: Mapping[str, tuple[bytes, str]] = field(default_factory=dict)
    reads: Sequence[str] = ()
    instrument: Instrument = TOOL
    constants: Mapping[str, Json] = field(default_factory=dict)
    link: str | Callable[[Any], None] | None = None
    outcome: str = "ok"
    gap: str | None = None
    boundary: tuple[str, ...] | None = None
    output_trust: str = "operator-authored"


def record(
    folder: Path,
    steps: Sequence[Step],
    *,
    declared: Sequence[str] | None = None,
    edges: Sequence[tuple[str, str] | tuple[str, str, str]] | None = None,
    topology: bool = False,
    boundaries: Sequence[Mapping[str, str]] | None = None,
    policy: str = "fail-closed",
    pipeline: str = "pipeline",
) -> str:
    """Record a run folder and return its chain head.

    `declared` defaults to the steps' names, each once. `edges` (the approved plan; a third member
    ``"repeats"`` allows a loop) or `topology` make the run topological. `pipeline` is the content of the
    pipeline file, of which only the digest is recorded.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    manifest = folder.parent / f".{folder.name}-pipeline"
    manifest.write_text(pipeline)
    plan = None
    if edges is not None:
        plan = [{"from": e[0], "to": e[1], **({"repeats": "true"} if len(e) == 3 else {})} for e in edges]
    with _fixed_clock():
        recorder = emit.Recorder(
            folder,
            declared_stages=list(declared if declared is not None else dict.fromkeys(s.name for s in steps)),
            manifest=manifest,
            policy=policy,
            anchor_reason="interop test",
            run_id=f"{folder.parent.name}-{folder.name}",
            topology=topology or plan is not None,
            declared_edges=plan,
            boundaries=[dict(b) for b in boundaries] if boundaries else None,
        )
        for step in steps:
            _play(recorder, step)
        recorder.close()
    manifest.unlink()
    head = json.loads((folder / "MANIFEST.json").read_bytes())["chain_head"]
    assert isinstance(head, str)
    return head


def _play(recorder: Any, step: Step) -> None:
    if step.boundary is not None:
        recorder.boundary(*step.boundary)
    if step.gap is not None:
        recorder.gap(step.name, step.gap)
        return

    def stage(context: Any) -> None:
        for node in step.reads:
            context.read_receipt(node)
        for name, (content, trust) in step.inputs.items():
            context.read_memory(content, media_type(name), name, trust)
        for key, value in step.constants.items():
            context.constant(key, value)
        if callable(step.link):
            step.link(context)
        elif step.link is not None:
            context.corpus_manifest(step.link)
        for name, output in step.outputs.items():
            content, media = _content(name, output)
            context.write(name, content, media, step.output_trust)
        if step.outcome == "refused":
            raise emit.Refusal("not answerable", "no passage fits")
        if step.outcome == "error":
            raise RuntimeError("the tool stopped")

    block = step.instrument
    instrument = emit.Instrument(block.id, block.kind, block.version, dict(block.config))
    expected = contextlib.suppress(RuntimeError, emit.Refusal)
    with expected:
        if step.instance is None:
            recorder.run_stage(step.name, instrument, stage)
        else:
            recorder.run_node(step.name, step.instance, instrument, stage)


@contextlib.contextmanager
def _fixed_clock() -> Iterator[None]:
    """Let the SDK see a clock that starts at a fixed time and advances 100 ms per look."""
    ticks = iter(range(10**9))

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
            start = datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC)
            return (start + datetime.timedelta(milliseconds=100 * next(ticks))).astimezone(tz)

    stand_in = types.ModuleType("datetime")
    stand_in.__dict__.update(vars(datetime))
    stand_in.__dict__["datetime"] = Clock
    with mock.patch.object(emit, "datetime", stand_in):
        yield


def _content(name: str, output: Output) -> tuple[bytes, str]:
    content: bytes | str
    if isinstance(output, tuple):
        content, media = output
    else:
        content, media = output, media_type(name)
    return (content.encode() if isinstance(content, str) else content), media


def media_type(name: str) -> str:
    """Return the media type a name's ending stands for."""
    return MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")


def digest(content: bytes) -> str:
    """Return the digest of bytes as records write it."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def compact(value: Json) -> str:
    """Return a JSON value as text in the records' own style, keys in the order given."""
    return str(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def chunk(doc: str, text: str, number: int = 0, *, keep: bool = True, **members: Json) -> dict[str, Json]:
    """Return a chunk-index entry."""
    entry: dict[str, Json] = {
        "id": f"{doc}#{number:04d}",
        "doc": doc,
        "digest": digest(text.encode("utf-8", "surrogatepass")),
        "chars": str(len(text)),
    }
    if keep:
        entry["text"] = text
    return entry | members


def hit(name: str, text: str | None = None, rank: int | None = None, **members: Json) -> dict[str, Json]:
    """Return a hits entry."""
    entry: dict[str, Json] = {"id": name}
    if rank is not None:
        entry["rank"] = str(rank)
    if text is not None:
        entry["digest"] = digest(text.encode())
        entry["text"] = text
    return entry | members
