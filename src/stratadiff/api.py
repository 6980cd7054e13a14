"""*Diff these two*: the whole comparison of runs in one call, for programs and for the command line.

Paths of agent traces are handed on to :mod:`stratadiff.trace_api`.
"""

from __future__ import annotations

import os

from stratadiff.core.frozen import Frozen
from stratadiff.documents.textdiff import textdiff_document
from stratadiff.errors import InputError, NotFoundError, UnknownKindError, UsageError
from stratadiff.limits import DEFAULT_CONTEXT, DEFAULT_MAX_LINES
from stratadiff.runs import section as sections
from stratadiff.runs.compare import compare_runs, load_failure
from stratadiff.runs.corpus import RunsRoot, default_runs_root, trace_links, with_run_ids
from stratadiff.runs.reader import read_input
from stratadiff.runs.section import Options, TextSection, show_nodes, withheld_reason
from stratadiff.runs.verify import Checking, beside_rows, verify_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from stratadiff.documents.document import Document
    from stratadiff.documents.runreport import Beside
    from stratadiff.runs.compare import Comparison, LadderRow
    from stratadiff.runs.corpus import CorpusTrace
    from stratadiff.runs.model import Row, Run
    from stratadiff.runs.section import ShownOutput

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

ALGORITHMS = ("myers", "gestalt")

TAKES = "stratadiff compares run folders, their MANIFEST.json, single receipt files, and agent traces"
"""What the inputs of a comparison can be, as a sentence for messages."""


class DiffResult(Frozen):
    """What :func:`diff` found. Everything was read when it was made; nothing is read again.

    Attributes
    ----------
    comparison : Comparison
        The ladder and what decided the envelope.
    section : TextSection or None
        The text that changed, if it was asked for.
    traces : tuple of CorpusTrace or None
        Of a comparison that follows corpus links without showing text; `trace_notes` go with them.
    """

    __slots__ = ("comparison", "section", "trace_notes", "traces")
    comparison: Comparison
    section: TextSection | None
    traces: tuple[CorpusTrace, ...] | None
    trace_notes: tuple[str, ...]

    def __init__(
        self,
        comparison: Comparison,
        section: TextSection | None,
        traces: Sequence[CorpusTrace] | None = None,
        trace_notes: Sequence[str] = (),
    ) -> None:
        self._fill(
            comparison=comparison,
            section=section,
            traces=None if traces is None else tuple(traces),
            trace_notes=tuple(trace_notes),
        )

    def __repr__(self) -> str:
        return f"<DiffResult {self.envelope}{'' if self.reason is None else f': {self.reason}'}>"

    @property
    def envelope(self) -> str:
        """``identical``, ``diverged``, ``not comparable``, ``refused`` or ``could not check``."""
        return self.comparison.envelope

    @property
    def exit_code(self) -> int:
        """The envelope as the command's exit code, 0 to 4."""
        return self.comparison.exit_code

    @property
    def reason(self) -> str | None:
        """Why nothing or not enough was compared; None for a verdict. May hold record text: escape it."""
        return self.comparison.reason

    @property
    def ladder(self) -> tuple[LadderRow, ...]:
        """One row per stage or node: ``.node``, ``.verdict`` and the receipts of both sides."""
        return self.comparison.rows

    def document(self) -> Document:
        """Return the ``onetrace-textdiff/0.3`` document.

        Raises
        ------
        UsageError
            The comparison was made without text.

        Examples
        --------
        >>> import stratadiff
        >>> document = stratadiff.diff(*stratadiff.demo_runs()).document()
        >>> document.format
        'onetrace-textdiff/0.3'
        >>> document.to_dict()["exit"]
        '1'
        """
        if self.section is None:
            raise UsageError("this comparison was made without text; there is no text document")
        return textdiff_document(self.comparison, self.section)

    def report(self) -> Document:
        """Return the ``onetrace-report/0.1`` document: ladder, verification, and the text if there is one."""
        from stratadiff.documents.runreport import report_document

        comparison = self.comparison
        return report_document(
            comparison,
            (_beside(comparison.baseline), _beside(comparison.candidate)),
            text=None if self.section is None else self.document(),
            traces=self.traces,
            trace_notes=self.trace_notes,
        )

    def text(self, *, colour: bool = False) -> str:
        """Return the plain form: what ``stratadiff diff --text`` prints.

        Parameters
        ----------
        colour : bool
            Colour removed and added lines for a terminal.

        Examples
        --------
        >>> import stratadiff
        >>> print(stratadiff.diff(*stratadiff.demo_runs()).text().splitlines()[0])
        first difference: retrieve — output text changed; settings unchanged; corpus link changed
        """
        from stratadiff import (
            draw_text,  # the front door may open any floor; rendering stands beside this one
        )

        return draw_text(self.report(), None if self.section is None else self.document(), colour=colour)


class Verification(Frozen):
    """What :func:`verify` found.

    Attributes
    ----------
    run : Run
        The run that was read.
    rows : tuple of Row
        Every check in the reference order: ``.result``, ``.name``, ``.detail``.
    """

    __slots__ = ("rows", "run")
    run: Run
    rows: tuple[Row, ...]

    def __init__(self, run: Run, rows: Iterable[Row]) -> None:
        self._fill(run=run, rows=tuple(rows))

    def __repr__(self) -> str:
        return f"<Verification of {self.run.given!r}: {'verifies' if self.verifies else 'does not verify'}>"

    @property
    def verifies(self) -> bool:
        """Tell whether the run was checked and no check failed."""
        return self.run.verifies

    @property
    def failed_rows(self) -> tuple[Row, ...]:
        """The checks that failed."""
        return tuple(self.run.failed_rows)


def open(path: Path, *, strict: bool = False) -> Run | Any:
    """Read a recording without judging it: a run folder, its ``MANIFEST.json``, a single receipt, or a trace.

    Parameters
    ----------
    path : path-like
        Where the recording is.
    strict : bool
        Of a run: refuse files whose real path leaves it.

    Returns
    -------
    Run or Trace
        Of a run its manifest and receipts; outputs are not read. An agent trace is what
        :func:`~stratadiff.read_trace` returns, which has the type to go with it.

    Raises
    ------
    InputError
        Nothing is there, it cannot be read, or it is no kind of input stratadiff takes.

    Examples
    --------
    >>> import stratadiff
    >>> run = stratadiff.open(stratadiff.demo_runs()[0])
    >>> run.run_id, [receipt.name for receipt in run.chain_receipts()]
    ('support-monday', ['question', 'retrieve', 'answer', 'check'])
    """
    given = os.fsdecode(path)
    if _is_trace(given):
        from stratadiff.traces.reader import read_trace  # only for traces: start-up

        return read_trace(given)
    return _open_run(given, strict)


def _open_run(given: str, strict: bool) -> Run:
    if not given:
        raise NotFoundError("the path is empty")
    unsupported = _unsupported_kind(given)
    if unsupported:
        raise UnknownKindError(unsupported, where=given)
    return read_input(given, strict=strict)


def verify(path: Path, *, strict: bool = False) -> Verification | Any:
    """Check that a recording is intact.

    Parameters
    ----------
    path : path-like
        A run folder, its ``MANIFEST.json``, a single receipt, or a trace.
    strict : bool
        Fail a run also for what the format asks and the reference verifier lets pass.

    Returns
    -------
    Verification or TraceVerification
        Either says whether it ``verifies``. A failed check is a result, not an exception. An agent trace
        gives what :func:`~stratadiff.verify_trace` returns, which has the type to go with it.

    Raises
    ------
    InputError
        The path cannot be read at all.

    Notes
    -----
    Every stored output is hashed: cost is that of reading the run once.

    Examples
    --------
    >>> import stratadiff
    >>> stratadiff.verify(stratadiff.demo_runs()[0]).verifies
    True
    """
    given = os.fsdecode(path)
    if _is_trace(given):
        from stratadiff.trace_api import verify_trace

        return verify_trace(given)
    run = _open_run(given, strict)
    return Verification(run, verify_run(run, collect_passes=True, strict=strict, beside_chain=True))


def diff(
    baseline: Path,
    candidate: Path,
    *,
    algorithm: str = "myers",
    context: int = DEFAULT_CONTEXT,
    max_lines: int = DEFAULT_MAX_LINES,
    stages: Sequence[str] = (),
    all: bool = False,
    follow: bool = True,
    runs_root: Path | None = None,
    strict: bool = False,
) -> DiffResult | Any:
    """Compare two recorded runs and render the text that changed, or two agent traces.

    Parameters
    ----------
    baseline, candidate : path-like
        Run folders, their ``MANIFEST.json``, two single receipts, or two traces. The options are those of
        runs; :func:`~stratadiff.compare_traces` has the options of traces, and takes records in memory too.
    algorithm : str
        ``"myers"`` (minimal) or ``"gestalt"`` (byte for byte what onetrace shows).
    context : int
        Unchanged lines around each change, 0 or more.
    max_lines : int
        Lines shown per output, at least 1.
    stages : sequence of str
        Show exactly the nodes of these ids or stage names.
    all : bool
        Show every node that differs, also off the path of the first difference.
    follow : bool
        Follow a changed corpus link into the linked ingest runs.
    runs_root : path-like, optional
        Where those are, one level down; the folder holding the baseline by default.
    strict : bool
        Refuse a run also for what the format asks and the reference verifier lets pass.

    Returns
    -------
    DiffResult or TraceResult
        Both have ``text()``, ``report()`` and ``exit_code``. Of runs a DiffResult, also for inputs that
        cannot be loaded: a verdict is a result, not an exception. Of traces what
        :func:`~stratadiff.compare_traces` returns, with the levels trace and turn.

    Raises
    ------
    InputError
        A trace cannot be read, or one path is a trace and the other is not.
    UsageError
        An argument is out of range, or is for runs and these are traces.

    Notes
    -----
    Both runs are read and hashed once; what is shown is rendered from the bytes that were hashed. At most the
    two sides of one output lie in memory at a time.

    Examples
    --------
    >>> import stratadiff
    >>> result = stratadiff.diff(*stratadiff.demo_runs(), stages=["answer"])
    >>> result.envelope, result.exit_code
    ('diverged', 1)
    >>> for row in result.ladder:
    ...     print(row.node, row.verdict)
    question same
    retrieve FIRST DIFFERENCE
    answer downstream
    check reconverged
    """
    if algorithm not in ALGORITHMS:
        raise UsageError(f"algorithm must be one of {', '.join(ALGORITHMS)}, not {algorithm!r}")
    if context < 0:
        raise UsageError("context must be 0 or more")
    if max_lines < 1:
        raise UsageError("max_lines must be at least 1")
    given = os.fsdecode(baseline), os.fsdecode(candidate)
    if _are_traces(*given):
        changed = (
            ("algorithm", algorithm != ALGORITHMS[0]),
            ("context", context != DEFAULT_CONTEXT),
            ("max_lines", max_lines != DEFAULT_MAX_LINES),
            ("stages", bool(stages)),
            ("all", all),
            ("follow", not follow),
            ("runs_root", runs_root is not None),
            ("strict", strict),
        )
        for name, is_given in changed:
            if is_given:
                raise UsageError(
                    f"{name} is for recorded runs, and these are agent traces: use compare_traces"
                )
        from stratadiff.trace_api import compare_traces

        return compare_traces(*given)
    options = Options(
        stages=(stages,) if isinstance(stages, str) else stages,
        show_all=all,
        context=context,
        max_lines=max_lines,
        algorithm=algorithm,
    )
    return run_diff(
        *given,
        options,
        text=True,
        follow=follow,
        runs_root=None if runs_root is None else os.fsdecode(runs_root),
        strict=strict,
    )


def run_diff(
    baseline: str,
    candidate: str,
    options: Options,
    *,
    text: bool = False,
    follow_corpus: bool = False,
    follow: bool = True,
    runs_root: str | None = None,
    strict: bool = False,
    collect_passes: bool = False,
    stages_given: bool = False,
) -> DiffResult:
    """Do what the command's options say; :func:`diff` is the form for programs.

    Parameters
    ----------
    baseline, candidate : str
        Paths as typed.
    options : Options
        What to show and how.
    text, follow_corpus : bool
        Show text, or trace without text; at most one of them.
    follow, runs_root, strict
        As in :func:`diff`.
    collect_passes : bool
        Keep the passed checks too, for a report folder.
    stages_given : bool
        A stage declaration was given, so its absence is not what keeps a summary from being read.
    """
    comparison, ready = _compare(
        baseline, candidate, strict, collect_passes, stages_given, options if text else None
    )
    root = RunsRoot(default_runs_root(baseline) if runs_root is None else runs_root)
    if follow_corpus:
        note = _why_not_traced(comparison)
        if note:
            return DiffResult(comparison, None, (), (note,))
        options = Options(with_outputs=False)
        traces, notes = trace_links(
            show_nodes(comparison, options), root, options, strict=strict, collect_passes=collect_passes
        )
        return DiffResult(comparison, None, traces, notes)
    if not text:
        return DiffResult(comparison, None)
    withheld = withheld_reason(comparison)
    if withheld:
        return DiffResult(comparison, TextSection(withheld=withheld))
    nodes = show_nodes(comparison, options, ready)
    unknown = sections.unknown_stages(comparison, options.stages)
    traces, notes = trace_links(
        nodes, root, options, follow=follow, strict=strict, collect_passes=collect_passes
    )
    section = TextSection(
        first_line=sections.first_line(comparison, nodes, unknown),
        unknown_stages=unknown,
        nodes=with_run_ids(nodes, traces),
        traces=traces,
        trace_notes=notes,
    )
    return DiffResult(comparison, section)


def demo_runs() -> tuple[str, str]:
    """Return the folders of two recorded runs of a small support assistant that come with the package.

    Returns
    -------
    (str, str)
        Baseline and candidate. Beside them lie the two ingest runs they link to. Read, never write there;
        ``stratadiff demo`` makes a copy to play with.
    """
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo")
    return os.path.join(folder, "monday"), os.path.join(folder, "tuesday")


def _compare(
    baseline: str,
    candidate: str,
    strict: bool,
    collect_passes: bool,
    stages_given: bool,
    options: Options | None,
) -> tuple[Comparison, dict[tuple[str, str], ShownOutput]]:
    """Read, verify and compare; with `options` also render what will be shown, from the same reading."""
    ready: dict[tuple[str, str], ShownOutput] = {}
    runs = []
    checks = []
    try:
        for given in (baseline, candidate):
            if stages_given and _is_summary(given):
                raise UnknownKindError(
                    f"the summary kind (SUMMARY.json) is not implemented; {TAKES}", where=given
                )
            run = _open_run(given, strict)
            runs.append(run)
            if not run.obstacle:
                checks.append(Checking(run, strict=strict, collect_passes=collect_passes))
    except InputError as error:
        return load_failure((baseline, candidate), str(error)), ready
    comparison = None
    if len(checks) == 2 and not any(check.has_failed for check in checks):
        comparison = compare_runs(*runs)
        if options is not None and not withheld_reason(comparison):
            ready = sections.render_while_verifying(comparison, options, *checks)
    for check in checks:
        check.finish()
    if comparison is None or any(check.has_failed for check in checks):
        return compare_runs(*runs), {}
    return comparison, ready


def _why_not_traced(comparison: Comparison) -> str:
    if not comparison.was_compared:
        return f"trace: not made; the runs were not compared ({comparison.envelope})"
    for run in (comparison.baseline, comparison.candidate):
        if run is not None and run.kind != "run":
            return f"trace: not made; {run.kind} records are not run folders, so no corpus link is followed"
    return ""


def _is_trace(given: str) -> bool:
    if not given or os.path.isdir(given):
        return False  # nothing of traces need be loaded to know that
    from stratadiff.traces.kinds import is_trace_path

    return is_trace_path(given)


def _are_traces(baseline: str, candidate: str) -> bool:
    if os.path.isdir(baseline) and os.path.isdir(candidate):
        return False
    from stratadiff.traces.kinds import are_traces

    return are_traces(baseline, candidate)


def _unsupported_kind(given: str) -> str:
    """Name the kind of an input that stratadiff knows of and does not take, ``""`` for all others."""
    if os.path.isfile(os.path.join(given, "comparison.json")) and not os.path.isfile(
        os.path.join(given, "MANIFEST.json")
    ):
        return f"a comparison bundle (comparison.json) is not supported; {TAKES}"
    if os.path.basename(given) == "comparison.json" and os.path.isfile(given):
        return f"a comparison bundle (comparison.json) is not supported; {TAKES}"
    return ""


def _is_summary(given: str) -> bool:
    return not os.path.isfile(os.path.join(given, "MANIFEST.json")) and os.path.isfile(
        os.path.join(given, "SUMMARY.json")
    )


def _beside(run: Run | None) -> Beside:
    if run is None or not run.verifies:
        return ((), ())
    return beside_rows(run)
