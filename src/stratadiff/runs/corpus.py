"""A changed corpus link followed one hop, into the two ingest runs it names (textdiff §11, comparison §6).

A linked run is found by the chain head in its manifest and by nothing else, then read and verified like any
run. Nothing of a run that does not verify gets further than its path.
"""

from __future__ import annotations

import os
import stat

from stratadiff._kernels import json_scan
from stratadiff.core.digests import digest_bytes, is_digest
from stratadiff.core.files import read_file
from stratadiff.core.frozen import Frozen
from stratadiff.core.jsonvalue import parse
from stratadiff.errors import StratadiffError
from stratadiff.limits import MAX_JSON_DEPTH, MAX_LINKED_MANIFEST_BYTES, MAX_LINKED_MANIFEST_DEPTH
from stratadiff.runs.causes import corpus_link, settings_lines
from stratadiff.runs.compare import LINEAR, SHORT, UNCHECKED, compare_runs, declared_stages
from stratadiff.runs.outputs import JSON_MEDIA_TYPE, chunk_records
from stratadiff.runs.reader import read_input, read_output
from stratadiff.runs.section import Options, settings_clause, show_nodes
from stratadiff.runs.verify import verify_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stratadiff.runs.compare import Comparison
    from stratadiff.runs.model import Run
    from stratadiff.runs.section import ShownNode

TRACED = "traced"
NOT_FOLLOWED = "not followed"
COULD_NOT_CHECK = "could not check"

_CHUNK_INDEX_MAX_BYTES = 2**31 - 2


class LinkedRun(Frozen):
    """One side of a trace: the link, and the run that was found for it.

    Attributes
    ----------
    chain_head : str or None
        What the link names; None for a side without a link.
    path : str or None
        Of the run found, relative to the runs root. Hostile text.
    run_id : str or None
        Of a run that verifies.
    verified : bool or None
        None when no run was found or it could not be read.
    run : Run or None
        The run itself, only when it verifies.
    """

    __slots__ = ("chain_head", "path", "run", "run_id", "verified")
    chain_head: Any
    path: str | None
    run_id: str | None
    verified: bool | None
    run: Run | None

    def __init__(
        self,
        chain_head: Any,
        *,
        path: str | None = None,
        verified: bool | None = None,
        run: Run | None = None,
    ) -> None:
        self._fill(
            chain_head=chain_head,
            path=path,
            verified=verified,
            run=run,
            run_id=run.run_id if run is not None else None,
        )


class DocumentCount(Frozen):
    """How many documents of two chunk indexes differ, and which."""

    __slots__ = ("changed", "total")
    changed: tuple[str, ...]
    total: int

    def __init__(self, changed: Sequence[str], total: int) -> None:
        self._fill(changed=tuple(changed), total=total)


class SecondHop(Frozen):
    """The ingest runs' own changed link: named, never followed."""

    __slots__ = ("baseline", "candidate", "node")
    node: str
    baseline: Any
    candidate: Any

    def __init__(self, node: str, baseline: Any, candidate: Any) -> None:
        self._fill(node=node, baseline=baseline, candidate=candidate)


class CorpusTrace(Frozen):
    """One pair of linked ingest runs.

    Attributes
    ----------
    node : str
        The first-difference node the trace starts from; `also_at` are the others with the same pair.
    status : str
        `TRACED`, `NOT_FOLLOWED` or `COULD_NOT_CHECK`.
    baseline, candidate : LinkedRun
        The two sides.
    reason : str
        Why it could not be checked. Hostile text.
    comparison : Comparison or None
        Of the two ingest runs, when traced.
    nodes : tuple of ShownNode
        Of that comparison; outputs are rendered only when text is shown.
    documents : DocumentCount or None
        None when the runs have no chunk index of one stage.
    second_hop : SecondHop or None
        The first shown node whose own link changed.
    """

    __slots__ = (
        "also_at",
        "baseline",
        "candidate",
        "comparison",
        "documents",
        "node",
        "nodes",
        "reason",
        "second_hop",
        "status",
    )
    node: str
    also_at: tuple[str, ...]
    status: str
    baseline: LinkedRun
    candidate: LinkedRun
    reason: str
    comparison: Comparison | None
    nodes: tuple[ShownNode, ...]
    documents: DocumentCount | None
    second_hop: SecondHop | None

    def __init__(
        self,
        node: str,
        also_at: Sequence[str],
        status: str,
        baseline: LinkedRun,
        candidate: LinkedRun,
        *,
        reason: str = "",
        comparison: Comparison | None = None,
        nodes: Sequence[ShownNode] = (),
        documents: DocumentCount | None = None,
        second_hop: SecondHop | None = None,
    ) -> None:
        self._fill(
            node=node,
            also_at=tuple(also_at),
            status=status,
            baseline=baseline,
            candidate=candidate,
            reason=reason,
            comparison=comparison,
            nodes=tuple(nodes),
            documents=documents,
            second_hop=second_hop,
        )

    @property
    def heading(self) -> str:
        """Name the two ingest runs. Hostile text: escape before display."""
        sides = [_run_id(side) for side in (self.baseline, self.candidate)]
        return f"traced into the linked ingest runs: {sides[0]} -> {sides[1]}"

    @property
    def first_line(self) -> str:
        """Say where the ingest runs part and how many documents changed. Hostile text: escape it."""
        count = self.documents
        if count is None:
            documents = "documents not counted (no chunk index)"
        else:
            documents = f"{len(count.changed)} of {count.total} documents changed"
            if count.changed:
                documents += f" ({', '.join(count.changed)})"
        if not self.nodes:
            return f"started at: no node — {documents}"
        return f"started at: {self.nodes[0].node} — {documents}; {settings_clause(self.nodes[0])}"


def _run_id(side: LinkedRun) -> str:
    """Write the run id of a traced side."""
    return "(no run id)" if side.run_id is None else side.run_id


class RunsRoot:
    """Finds runs by chain head among the folders directly inside a runs root.

    Manifests are read in path order, each at most once, and only until the head that is looked for turns up.
    """

    __slots__ = ("_heads", "_names", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._heads: dict[str, str] = {}
        self._names: Iterator[str] | None = None

    def find(self, chain_head: object) -> str | None:
        """Return the name of the first folder whose manifest records `chain_head`, None if there is none."""
        if not is_digest(chain_head):
            return None
        if chain_head in self._heads:
            return self._heads[chain_head]
        if self._names is None:
            try:
                self._names = iter(sorted(os.listdir(self.path)))
            except OSError:
                self._names = iter(())
        for name in self._names:
            head = self._recorded_head(name)
            if head is not None:
                self._heads.setdefault(head, name)
                if head == chain_head:
                    return name
        return None

    def _recorded_head(self, name: str) -> str | None:
        path = os.path.join(self.path, name, "MANIFEST.json")
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_LINKED_MANIFEST_BYTES:
                return None
            data = read_file(path)
            if len(data) > MAX_LINKED_MANIFEST_BYTES or json_scan.depth(data) > MAX_LINKED_MANIFEST_DEPTH:
                return None
            head = parse(data.decode()).get("chain_head")
        except (OSError, ValueError, AttributeError, RecursionError, StratadiffError):
            return None  # a folder with any problem is passed over
        return head if is_digest(head) else None


def default_runs_root(given: str) -> str:
    """Return the folder that holds the baseline, taken from the path as typed (textdiff §1)."""
    separators = (os.sep, os.altsep) if os.altsep else (os.sep,)
    path = given
    for separator in separators[1:]:
        path = path.replace(separator, os.sep)
    drive, path = os.path.splitdrive(path)
    root = os.sep if path.startswith(os.sep) else ""
    parts = [part for part in path.split(os.sep) if part not in ("", ".")]
    if parts and parts[-1] == "MANIFEST.json":
        parts.pop()
    return drive + root + os.sep.join(parts[:-1]) or "."


def trace_links(
    nodes: Sequence[ShownNode],
    runs_root: RunsRoot,
    options: Options,
    *,
    follow: bool = True,
    strict: bool = False,
    collect_passes: bool = False,
) -> tuple[list[CorpusTrace], list[str]]:
    """Trace every changed corpus link of first-difference nodes.

    Parameters
    ----------
    nodes : sequence of ShownNode
        Where links are looked for, in the ladder's order.
    runs_root : RunsRoot
        Where the linked runs are.
    options : Options
        How to render the linked runs' outputs; their nodes are the default selection.
    follow : bool
        False names the links and reads nothing.
    strict, collect_passes : bool
        As the runs themselves were read and verified.

    Returns
    -------
    traces : list of CorpusTrace
        One per distinct pair of chain heads.
    notes : list of str
        One per node that records no link. Hostile text.
    """
    notes = []
    starts: dict[tuple[str, str], tuple[str, Any, Any, list[str]]] = {}
    for node in nodes:
        if not node.shows_causes:
            continue
        link = corpus_link(node.causes)
        if link is None:
            notes.append(
                f"trace: no corpus link recorded at {node.node}; only the recorded settings are compared"
            )
        elif link.changed:
            pair = (_key(link.baseline), _key(link.candidate))
            if pair in starts:
                starts[pair][3].append(node.node)
            else:
                starts[pair] = (node.node, link.baseline, link.candidate, [])
    traces = []
    for node_id, old, new, also_at in starts.values():
        if not follow:
            traces.append(CorpusTrace(node_id, also_at, NOT_FOLLOWED, LinkedRun(old), LinkedRun(new)))
            continue
        baseline, a_problem = _find("baseline", old, node_id, runs_root, strict, collect_passes)
        candidate, b_problem = _find("candidate", new, node_id, runs_root, strict, collect_passes)
        problem = a_problem or b_problem
        if problem or baseline.run is None or candidate.run is None:
            traces.append(CorpusTrace(node_id, also_at, COULD_NOT_CHECK, baseline, candidate, reason=problem))
        else:
            traces.append(_trace(node_id, also_at, baseline, candidate, options))
    return traces, notes


def with_run_ids(nodes: Sequence[ShownNode], traces: Sequence[CorpusTrace]) -> list[ShownNode]:
    """Name the run ids in the settings lines of the nodes a trace reached both runs from."""
    reached = {}
    for trace in traces:
        if trace.status == TRACED:
            for node_id in (trace.node, *trace.also_at):
                reached[node_id] = (trace.baseline.run_id, trace.candidate.run_id)
    return [
        node.with_settings(settings_lines(node.causes, reached[node.node])) if node.node in reached else node
        for node in nodes
    ]


def _key(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _find(
    side: str, chain_head: Any, node: str, runs_root: RunsRoot, strict: bool, collect_passes: bool
) -> tuple[LinkedRun, str]:
    if chain_head is None:
        return LinkedRun(None), f"the {side} records no corpus link at {node}"
    name = runs_root.find(chain_head)
    if name is None:
        return LinkedRun(chain_head), f"linked ingest run not found: {_key(chain_head)}; pass --runs-root"
    try:
        run = read_input(os.path.join(runs_root.path, name), strict=strict)
        run.given = name  # reports name it relative to the root
        verify_run(run, strict=strict, collect_passes=collect_passes)
    except StratadiffError as error:
        return LinkedRun(chain_head, path=name), f"linked ingest run cannot be read: {error.message}"
    # A manifest that changed since it was searched is another run than the link names.
    if not run.verifies or run.chain_head != chain_head:
        return LinkedRun(chain_head, path=name, verified=False), f"linked ingest run did not verify: {name}"
    return LinkedRun(chain_head, path=name, verified=True, run=run), ""


def _trace(
    node: str, also_at: Sequence[str], baseline: LinkedRun, candidate: LinkedRun, options: Options
) -> CorpusTrace:
    a, b = baseline.run, candidate.run
    assert a is not None
    assert b is not None
    comparison = compare_runs(a, b)
    if not comparison.was_compared:
        return CorpusTrace(node, also_at, COULD_NOT_CHECK, baseline, candidate, reason=_why_not(comparison))
    nodes = show_nodes(comparison, options.for_linked_runs())
    second_hop = None
    for shown in nodes:
        link = corpus_link(shown.causes)
        if link is not None and link.changed:
            second_hop = SecondHop(shown.node, link.baseline, link.candidate)
            break
    return CorpusTrace(
        node,
        also_at,
        TRACED,
        baseline,
        candidate,
        comparison=comparison,
        nodes=nodes,
        documents=count_documents(a, b),
        second_hop=second_hop,
    )


def _why_not(comparison: Comparison) -> str:
    if comparison.shape == SHORT:
        why = "one run records a topology and the other does not"
        return f"the linked ingest runs are not comparable: {why}"
    if comparison.envelope == COULD_NOT_CHECK:
        if comparison.shape == LINEAR:
            why = comparison.reason or ""
        else:
            unchecked = [row.node for row in comparison.rows if row.verdict == UNCHECKED]
            why = f"could not check {', '.join(unchecked)}"
        return f"the linked ingest runs could not be compared: {why}"
    return f"the linked ingest runs are not comparable: {comparison.reason}"


# -- documents
# ---------------------------------------------------------------------------------------------------------


def count_documents(baseline: Run, candidate: Run) -> DocumentCount | None:
    """Count the documents that differ between two ingest runs, by their chunk indexes.

    The first stage the baseline declares for which both runs have a chunk index is compared: a document
    differs when it is on one side only or its ordered list of chunk digests is another. None when there is
    no such stage.
    """
    finders = (_ChunkIndexes(baseline), _ChunkIndexes(candidate))
    for stage in declared_stages(baseline):
        old = finders[0].of_stage(stage)
        new = finders[1].of_stage(stage) if old is not None else None
        if old is not None and new is not None:
            names = {**old, **new}
            return DocumentCount(sorted(name for name in names if old.get(name) != new.get(name)), len(names))
    return None


class _ChunkIndexes:
    """The chunk indexes of one run: stage name → document → chunk digests, read when asked for."""

    __slots__ = ("_files", "_run")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._files: dict[int, list[str]] | None = None

    def of_stage(self, stage: str) -> dict[str, list[str]] | None:
        for receipt in self._run.chain_receipts():
            if receipt.name != stage:
                continue
            for output in receipt.outputs:
                if output.get("media_type") == JSON_MEDIA_TYPE:
                    found = _documents(self._stored(receipt.stem, output))
                    if found is not None:
                        return found
        return None

    def _stored(self, stem: str, output: dict[str, Any]) -> bytes | None:
        """Return the bytes an output records: where they belong, else anywhere under the artifacts."""
        digest = output.get("digest")
        data, _ = read_output(self._run, stem, output.get("name"), digest)
        size = output.get("bytes")
        if data is not None:
            return data if str(len(data)) == size else None
        if self._files is None:
            self._files = _files_by_size(os.path.join(self._run.folder, "artifacts"))
        if not isinstance(size, str) or not (size.isascii() and size.isdigit() and len(size) < 20):
            return None
        for path in self._files.get(int(size), ()):
            try:
                data = read_file(path, follow=False)
            except StratadiffError:
                continue
            if digest_bytes(data) == digest:
                return data
        return None


def _files_by_size(folder: str) -> dict[int, list[str]]:
    """List the regular files of a tree by size, links not followed: they may lead out of the run."""
    found: dict[int, list[str]] = {}
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        found.setdefault(entry.stat(follow_symlinks=False).st_size, []).append(entry.path)
        except OSError:
            continue
    return found


def _documents(data: bytes | None) -> dict[str, list[str]] | None:
    """Parse a chunk index as JSON usually is: the last of repeated members counts, numbers are no strings."""
    if data is None or len(data) > _CHUNK_INDEX_MAX_BYTES or (b"chunks" not in data and b"\\u" not in data):
        return None
    if json_scan.depth(data) > MAX_JSON_DEPTH:
        return None
    try:
        records = chunk_records(parse(data.decode()))
    except (ValueError, RecursionError):
        return None
    if records is None:
        return None
    documents: dict[str, list[str]] = {}
    for record in records:
        documents.setdefault(record["doc"], []).append(record["digest"])
    return documents
