"""The nodes whose text is shown, each with its settings, inputs and rendered outputs (textdiff §§3, 5.1).

Outputs are read and rendered one by one; what stays of an output is its lines, never its bytes, so the most
that lies in memory is the two sides of one output.
"""

from __future__ import annotations

from stratadiff.core.frozen import Frozen
from stratadiff.runs.causes import (
    INPUT,
    candidate_causes,
    corpus_link,
    input_lines,
    settings_changed,
    settings_lines,
)
from stratadiff.runs.compare import (
    DOWNSTREAM,
    FIRST_DIFFERENCE,
    RECONVERGED,
    SAME,
    UNCHECKED,
    output_name,
)
from stratadiff.runs.graph import nodes_by_id, stage_of
from stratadiff.runs.outputs import CHUNK_INDEX, HITS, render_output
from stratadiff.runs.reader import read_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stratadiff.runs.causes import Cause
    from stratadiff.runs.compare import Comparison, LadderRow
    from stratadiff.runs.corpus import CorpusTrace
    from stratadiff.runs.model import Receipt, Run
    from stratadiff.runs.outputs import Entry
    from stratadiff.runs.verify import Checking

NOT_SHOWN = "not shown"
TEXT = "text"

_NO_SETTINGS = "settings: none changed"
_SHOWN_BY_DEFAULT = (FIRST_DIFFERENCE, DOWNSTREAM, RECONVERGED)


class Options(Frozen):
    """What to show and how.

    Attributes
    ----------
    stages : tuple of str
        Show exactly the nodes of these ids or stage names; empty shows what differs.
    show_all : bool
        Also nodes that differ without a verdict saying so.
    context, max_lines, algorithm
        As :func:`~stratadiff.runs.outputs.render_output` takes them.
    as_json, as_lines : bool
        Which forms of an output's lines to keep.
    with_outputs : bool
        False shows nodes without reading any output.
    """

    __slots__ = (
        "algorithm",
        "as_json",
        "as_lines",
        "context",
        "max_lines",
        "show_all",
        "stages",
        "with_outputs",
    )
    stages: tuple[str, ...]
    show_all: bool
    context: int
    max_lines: int
    algorithm: str
    as_json: bool
    as_lines: bool
    with_outputs: bool

    def __init__(
        self,
        *,
        stages: Sequence[str] = (),
        show_all: bool = False,
        context: int = 3,
        max_lines: int = 200,
        algorithm: str = "myers",
        as_json: bool = True,
        as_lines: bool = True,
        with_outputs: bool = True,
    ) -> None:
        self._fill(
            stages=tuple(stages),
            show_all=show_all,
            context=context,
            max_lines=max_lines,
            algorithm=algorithm,
            as_json=as_json,
            as_lines=as_lines,
            with_outputs=with_outputs,
        )

    def for_linked_runs(self) -> Options:
        """Return the options for a traced pair: the same forms and limits, the default selection of nodes."""
        return Options(
            context=self.context,
            max_lines=self.max_lines,
            algorithm=self.algorithm,
            as_json=self.as_json,
            as_lines=self.as_lines,
            with_outputs=self.with_outputs,
        )


class ShownOutput(Frozen):
    """One output whose digests differ, as it is shown.

    Attributes
    ----------
    name, media_type : str
        As recorded. Hostile text.
    kind : str
        A rendered output's kind, or `NOT_SHOWN`.
    problems : tuple of str
        Why the bytes of a side are not shown, baseline first; empty when both were verified. Hostile text.
    side : str
        ``baseline`` or ``candidate`` for an output on one side only, else ``""``.
    notes : tuple of str
        Lines that go with the output; for `NOT_SHOWN` the problems.
    hunks : bytes
        Canonical JSON of the hunks; ``b"[]"`` unless asked for.
    lines : tuple of str
        The lines of the plain form, empty unless asked for.
    more_lines : int or None
        Lines left out by the cut.
    entries : tuple of Entry or None
        For chunk indexes and hits.
    """

    __slots__ = (
        "entries",
        "hunks",
        "kind",
        "lines",
        "media_type",
        "more_lines",
        "name",
        "notes",
        "problems",
        "side",
    )
    name: str
    media_type: str
    kind: str
    problems: tuple[str, ...]
    side: str
    notes: tuple[str, ...]
    hunks: bytes
    lines: tuple[str, ...]
    more_lines: int | None
    entries: tuple[Entry, ...] | None

    def __init__(
        self,
        name: str,
        media_type: str,
        kind: str,
        *,
        problems: Sequence[str] = (),
        side: str = "",
        notes: Sequence[str] = (),
        hunks: bytes = b"[]",
        lines: Sequence[str] = (),
        more_lines: int | None = None,
        entries: tuple[Entry, ...] | None = None,
    ) -> None:
        self._fill(
            name=name,
            media_type=media_type,
            kind=kind,
            problems=tuple(problems),
            side=side,
            notes=tuple(notes),
            hunks=hunks,
            lines=tuple(lines),
            more_lines=more_lines,
            entries=entries,
        )


class ShownNode(Frozen):
    """One node of the section.

    Attributes
    ----------
    node, verdict : str
        The node's id (hostile text) and its ladder verdict.
    side : str
        ``baseline`` or ``candidate`` for a node in one run only, else ``""``.
    settings, inputs : tuple of str
        Lines for people. Hostile text.
    outputs : tuple of ShownOutput
        The outputs whose digests differ.
    causes : tuple of Cause
        Every cause compared; empty for a one-sided node.
    """

    __slots__ = ("causes", "inputs", "node", "outputs", "settings", "side", "verdict")
    node: str
    verdict: str
    side: str
    settings: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[ShownOutput, ...]
    causes: tuple[Cause, ...]

    def __init__(
        self,
        node: str,
        verdict: str,
        *,
        side: str = "",
        settings: Sequence[str] = (),
        inputs: Sequence[str] = (),
        outputs: Sequence[ShownOutput] = (),
        causes: Sequence[Cause] = (),
    ) -> None:
        self._fill(
            node=node,
            verdict=verdict,
            side=side,
            settings=tuple(settings),
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            causes=tuple(causes),
        )

    @property
    def shows_causes(self) -> bool:
        """Tell whether the causes belong to what is shown: on a first difference that both runs have."""
        return self.verdict == FIRST_DIFFERENCE and not self.side

    def with_settings(self, settings: Sequence[str]) -> ShownNode:
        """Return the same node with other settings lines."""
        return ShownNode(
            self.node,
            self.verdict,
            side=self.side,
            settings=settings,
            inputs=self.inputs,
            outputs=self.outputs,
            causes=self.causes,
        )


class TextSection(Frozen):
    """Everything ``--text`` shows of a comparison.

    Attributes
    ----------
    withheld : str
        Why no text is shown, else ``""``; then everything else is empty.
    first_line : str
        The sentence that comes first. Hostile text.
    unknown_stages : tuple of str
        Asked for and not found. Hostile text.
    nodes : tuple of ShownNode
        In the ladder's order.
    traces : tuple of CorpusTrace
        The one-hop traces of changed corpus links.
    trace_notes : tuple of str
        Lines about first differences that record no link. Hostile text.
    """

    __slots__ = ("first_line", "nodes", "trace_notes", "traces", "unknown_stages", "withheld")
    withheld: str
    first_line: str
    unknown_stages: tuple[str, ...]
    nodes: tuple[ShownNode, ...]
    traces: tuple[CorpusTrace, ...]
    trace_notes: tuple[str, ...]

    def __init__(
        self,
        *,
        withheld: str = "",
        first_line: str = "",
        unknown_stages: Sequence[str] = (),
        nodes: Sequence[ShownNode] = (),
        traces: Sequence[CorpusTrace] = (),
        trace_notes: Sequence[str] = (),
    ) -> None:
        self._fill(
            withheld=withheld,
            first_line=first_line,
            unknown_stages=tuple(unknown_stages),
            nodes=tuple(nodes),
            traces=tuple(traces),
            trace_notes=tuple(trace_notes),
        )


def withheld_reason(comparison: Comparison) -> str:
    """Say why a comparison shows no text, ``""`` when it does (textdiff §2)."""
    if not comparison.was_compared:
        return f"{comparison.envelope}: no text is shown"
    for run in (comparison.baseline, comparison.candidate):
        if run is not None and run.kind != "run":
            return f"{run.kind} records: no text is shown; --text reads the outputs of run folders"
    return ""


def show_nodes(
    comparison: Comparison, options: Options, ready: Mapping[tuple[str, str], ShownOutput] | None = None
) -> list[ShownNode]:
    """Select the nodes to show and render their outputs, one after another (textdiff §3.1).

    Parameters
    ----------
    comparison : Comparison
        Of two run folders, *identical* or *diverged*.
    options : Options
        What to select, and how to render.
    ready : mapping of (node id, output name) to ShownOutput, optional
        Outputs rendered while the runs were verified; the others are read, and hashed again.

    Returns
    -------
    list of ShownNode
        In the ladder's order.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    if baseline is None or candidate is None:
        return []
    return [
        _show_node(row, a, b, baseline, candidate, options, {} if ready is None else ready)
        for row, a, b in _selected(comparison, baseline, candidate, options)
    ]


def render_while_verifying(
    comparison: Comparison, options: Options, baseline: Checking, candidate: Checking
) -> dict[tuple[str, str], ShownOutput]:
    """Render the outputs that :func:`show_nodes` will want from the bytes their verification reads.

    Parameters
    ----------
    comparison : Comparison
        Of what the receipts say; the outputs' bytes are not checked yet.
    options : Options
    baseline, candidate : Checking
        The verifications of the two runs, outputs still to come.

    Returns
    -------
    dict of (node id, output name) to ShownOutput
        Nothing of it may be shown unless both runs turn out to verify.
    """
    ready: dict[tuple[str, str], ShownOutput] = {}
    a_run, b_run = comparison.baseline, comparison.candidate
    if a_run is None or b_run is None or not options.with_outputs:
        return ready
    for row, a, b in _selected(comparison, a_run, b_run, options):
        if a is None or b is None or row.verdict == RECONVERGED:
            continue
        for name, old, new in _changed_outputs(a, b):
            data: list[bytes] = []
            for checking, receipt, record in ((baseline, a, old), (candidate, b, new)):
                content: bytes | None = b""
                if record is not None:
                    content = checking.read_output(receipt.stem, record.get("name"))
                if content is not None:
                    data.append(content)
            content = None
            if len(data) == 2:
                ready[row.node, name] = _render(name, old, new, data, options)
    return ready


def _selected(
    comparison: Comparison, baseline: Run, candidate: Run, options: Options
) -> Iterator[tuple[LadderRow, Receipt | None, Receipt | None]]:
    a_nodes, b_nodes = nodes_by_id(baseline), nodes_by_id(candidate)
    for row in comparison.rows:
        a, b = a_nodes.get(row.node), b_nodes.get(row.node)
        if _is_selected(row, a, b, options):
            yield row, a, b


def unknown_stages(comparison: Comparison, stages: Sequence[str]) -> list[str]:
    """Return the names asked for that are neither a row's node id nor its stage part, in the order given."""
    known = {row.node for row in comparison.rows} | {stage_of(row.node) for row in comparison.rows}
    return [stage for stage in stages if stage not in known]


def _is_selected(row: LadderRow, a: Receipt | None, b: Receipt | None, options: Options) -> bool:
    if options.stages:
        return row.node in options.stages or stage_of(row.node) in options.stages
    if row.verdict in _SHOWN_BY_DEFAULT:
        return True
    if not options.show_all or row.verdict == UNCHECKED:
        return False
    if a is None or b is None:
        return True
    return _outputs_by_name(a) != _outputs_by_name(b) or any(
        cause.changed for cause in candidate_causes(a, b)
    )


def _outputs_by_name(receipt: Receipt) -> dict[str, dict[str, Any]]:
    return {output_name(output): output for output in receipt.outputs}


def _show_node(
    row: LadderRow,
    a: Receipt | None,
    b: Receipt | None,
    baseline: Run,
    candidate: Run,
    options: Options,
    ready: Mapping[tuple[str, str], ShownOutput],
) -> ShownNode:
    if a is None or b is None:
        side = "baseline" if a is not None else "candidate" if b is not None else ""
        return ShownNode(row.node, row.verdict, side=side)
    causes = candidate_causes(a, b)
    settings = settings_lines(causes)
    if row.verdict == RECONVERGED:
        settings = [line for line in settings if line != _NO_SETTINGS]
        return ShownNode(row.node, row.verdict, settings=settings, causes=causes)
    outputs = []
    if options.with_outputs:
        for name, old, new in _changed_outputs(a, b):
            shown = ready.get((row.node, name))
            if shown is None:
                shown = _show_output(name, (baseline, a, old), (candidate, b, new), options)
            outputs.append(shown)
    return ShownNode(
        row.node,
        row.verdict,
        settings=settings,
        inputs=input_lines(causes),
        outputs=outputs,
        causes=causes,
    )


def _changed_outputs(
    a: Receipt, b: Receipt
) -> Iterator[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    """Yield the outputs whose digests differ, baseline's order first, with the record of each side."""
    old, new = _outputs_by_name(a), _outputs_by_name(b)
    for name in (*old, *(name for name in new if name not in old)):
        x, y = old.get(name), new.get(name)
        if x is None or y is None or x.get("digest") != y.get("digest"):
            yield name, x, y


def _show_output(
    name: str,
    old: tuple[Run, Receipt, dict[str, Any] | None],
    new: tuple[Run, Receipt, dict[str, Any] | None],
    options: Options,
) -> ShownOutput:
    data: list[bytes] = []
    problems = []
    for run, receipt, record in (old, new):
        if record is None:
            data.append(b"")  # an absent side is the empty byte string
            continue
        content, problem = read_output(run, receipt.stem, record.get("name"), record.get("digest"))
        if content is None:
            problems.append(problem)
        else:
            data.append(content)
    if problems:
        media_type = _media_type(old[2], new[2])
        return ShownOutput(name, media_type, NOT_SHOWN, problems=problems, notes=problems)
    return _render(name, old[2], new[2], data, options)


def _media_type(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    record = new if new is not None else old
    media_type = None if record is None else record.get("media_type")
    return media_type if isinstance(media_type, str) else ""


def _render(
    name: str,
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
    data: list[bytes],
    options: Options,
) -> ShownOutput:
    # Takes the bytes out of `data`: they can go as soon as the renderer no longer needs them.
    media_type = _media_type(old, new)
    rendered = render_output(
        data.pop(0),
        data.pop(0),
        media_type,
        algorithm=options.algorithm,
        context=options.context,
        max_lines=options.max_lines,
    )
    return ShownOutput(
        name,
        media_type,
        rendered.kind,
        side="candidate" if old is None else "baseline" if new is None else "",
        notes=rendered.notes,
        hunks=rendered.hunks_json() if options.as_json else b"[]",
        lines=rendered.plain_lines() if options.as_lines else (),
        more_lines=rendered.more_lines,
        entries=rendered.entries,
    )


def presence_text(node: ShownNode) -> str:
    """Say in which run a one-sided node is."""
    return f"present in the {node.side} only"


def first_line(comparison: Comparison, nodes: Sequence[ShownNode], unknown: Sequence[str]) -> str:
    """Write the sentence that comes first (textdiff §3.3). Hostile text: escape before display."""
    if not nodes:
        if all(row.verdict == SAME for row in comparison.rows):
            return "no difference: every stage is the same"
        return "no node shown" + (f": no node named {', '.join(unknown)}" if unknown else "")
    node = nodes[0]
    head = "first difference" if node.verdict == FIRST_DIFFERENCE else "shown first"
    if node.side:
        return f"{head}: {node.node} — {presence_text(node)}"
    if any(output.kind in (TEXT, CHUNK_INDEX, HITS) for output in node.outputs):
        output = "output text changed"
    else:
        output = "output changed; no text shown" if node.outputs else "output unchanged"
    line = f"{head}: {node.node} — {output}; {settings_clause(node)}"
    names = [cause.name for cause in node.causes if cause.kind == INPUT and cause.changed]
    if names and node.verdict != RECONVERGED:
        line += f"; input{'s' if len(names) > 1 else ''} {', '.join(names)} changed"
    return line


def settings_clause(node: ShownNode) -> str:
    """Say whether a node's settings changed, and its corpus link where it did."""
    clause = "settings changed" if settings_changed(node.causes) else "settings unchanged"
    link = corpus_link(node.causes)
    return clause + ("; corpus link changed" if link is not None and link.changed else "")
