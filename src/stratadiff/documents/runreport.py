"""A comparison → ``onetrace-report/0.1``, a report's ``diff.json`` and files beside it *(comparison §8)*."""

from __future__ import annotations

from stratadiff.core.escape import escape_name
from stratadiff.documents.document import Document, PlainForm
from stratadiff.documents.textdiff import trace_members
from stratadiff.runs.compare import (
    FIRST_DIFFERENCE,
    LINEAR,
    RECONVERGED,
    SAME,
    SHORT,
    UNCHECKED,
    VERDICTS,
    output_digests,
)
from stratadiff.runs.corpus import TRACED
from stratadiff.runs.model import FAIL, NOT_RUN, PASS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stratadiff.runs.compare import Comparison, LadderRow
    from stratadiff.runs.corpus import CorpusTrace
    from stratadiff.runs.model import Receipt, Row, Run

FORMAT = "onetrace-report/0.1"
CALL_FORMAT = "onetrace-verifier-call/0.1"

_PREVIEW = (
    "COULD NOT CHECK — draft-00 checks not performed: record format is stage-receipt/0.0-preview (Appendix C)"
)

Beside = tuple["Sequence[Row]", "Sequence[Row]"]
"""Rows of the records beside a chain: anchors, signatures."""


def report_document(
    comparison: Comparison,
    beside: tuple[Beside, Beside] = (((), ()), ((), ())),
    *,
    text: Document | None = None,
    traces: Sequence[CorpusTrace] | None = None,
    trace_notes: Sequence[str] = (),
    with_calls: bool = True,
) -> Document:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Any outcome: the two shapes and the short form of comparison §8.
    beside : pair of (anchor rows, signature rows)
        Of baseline and candidate.
    text : Document, optional
        The text diff, for a report of ``--text``.
    traces : sequence of CorpusTrace, optional
        For a report of ``--follow-corpus``, with `trace_notes`.
    with_calls : bool
        False leaves out the names of the verifier files, for a report inside a trace.
    """
    members: dict[str, Any] = {
        "format": FORMAT,
        "verb": "diff",
        "envelope": comparison.envelope,
        "exit": str(comparison.exit_code),
        "reason": comparison.reason,
    }
    if comparison.shape == SHORT:
        members["inputs"] = list(comparison.given)
    else:
        members |= _long_members(comparison, beside, with_calls)
    if text is not None:
        members["text"] = dict(text.members)
    if traces is not None:
        members["corpus_trace"] = {
            "notes": list(trace_notes),
            "traces": [_trace_members(trace) for trace in traces],
        }
    return Document(members, text.plain if text is not None else PlainForm())


def _trace_members(trace: CorpusTrace) -> dict[str, Any]:
    members = trace_members(trace)
    if trace.status == TRACED and trace.comparison is not None:
        members["report"] = dict(report_document(trace.comparison, with_calls=False).members)
    return members


def _long_members(comparison: Comparison, beside: tuple[Beside, Beside], with_calls: bool) -> dict[str, Any]:
    baseline, candidate = comparison.baseline, comparison.candidate
    assert baseline is not None
    assert candidate is not None
    sides = (("baseline", baseline), ("candidate", candidate))
    members: dict[str, Any] = {
        "mode": "two-run",
        "inputs": {side: _input_members(run, rows) for (side, run), rows in zip(sides, beside, strict=True)},
        "preflight": {side: _preflight_members(side, run, with_calls) for side, run in sides},
        "carried": [line for side, run in sides for line in _carried_lines(side, run)],
    }
    if comparison.shape == LINEAR:
        return members | _linear_members(comparison)
    return members | _topology_members(comparison, baseline, candidate)


def _input_members(run: Run, beside: Beside) -> dict[str, Any]:
    verifies = run.verifies
    if run.kind == "receipt":
        digests = {run.given.replace("\\", "/").rpartition("/")[2]: run.manifest_digest}
    else:
        digests = {"MANIFEST.json": run.manifest_digest}
        if verifies and run.chain_head is not None:
            digests["chain_head"] = run.chain_head
    members: dict[str, Any] = {
        "kind": run.kind,
        "path": run.given,
        "run_id": run.run_id if verifies else None,
        "record_digests": digests,
        "notes": list(run.notes) if verifies else [],
    }
    for name, rows in zip(("anchoring", "signing"), beside, strict=True):
        if rows:
            members[name] = [{"check": row.name, "outcome": row.result, "detail": row.detail} for row in rows]
    return members


def _preflight_members(side: str, run: Run, with_calls: bool) -> dict[str, Any]:
    failed = run.failed_rows
    members: dict[str, Any] = {
        "status": "refused" if failed else "proceeded",
        "failed_rows": [_row_members(row) for row in failed],
    }
    if with_calls:
        members["calls"] = [f"verifier-{side}-1"]
    return members


def _row_members(row: Row) -> dict[str, str]:
    check = "raised" if row.name == "verifier raised" else row.check
    return {"result": row.result, "name": row.name, "detail": row.detail, "check": check}


def _carried_lines(side: str, run: Run) -> Iterable[dict[str, Any]]:
    """Return what the verifier could not say, line by line as printed, for the reader of the comparison."""
    lines = [escape_name(row.line) for row in run.verification if row.result == NOT_RUN]
    if run.verifies and any(receipt.is_preview for receipt in run.chain_receipts()):
        lines.append(_PREVIEW)
    name = run.run_id if run.verifies and run.run_id is not None else run.given
    return [{"side": side, "run": name, "line": line} for line in lines]


def _linear_members(comparison: Comparison) -> dict[str, Any]:
    rows = comparison.rows
    first = next((index for index, row in enumerate(rows) if row.verdict == FIRST_DIFFERENCE), None)
    boundary = comparison.boundary
    lists = comparison.declared_lists
    return {
        "ladder": [_linear_row(index, row) for index, row in enumerate(rows)],
        "first_difference": None if first is None else {"index": str(first + 1), "stage": rows[first].stage},
        "stages_identical_before_first_difference": str(comparison.count(SAME)),
        "reconverged_stages": [row.stage for row in rows if row.verdict == RECONVERGED],
        "could_not_check_stages": [row.stage for row in rows if row.verdict == UNCHECKED],
        "comparisons_performed": str(len(rows) - comparison.count(UNCHECKED)),
        "annotations": [
            {
                "index": str(index + 1),
                "stage": row.stage,
                "differs": {name: list(pair) for name, pair in row.differs.items()},
            }
            for index, row in enumerate(rows)
            if row.differs
        ],
        "boundary": boundary
        and {
            "index": str(boundary[0] + 1),
            "stage": rows[boundary[0]].stage,
            "name": boundary[1].name,
            "kind": boundary[1].kind,
        },
        "declared_stages": lists and {"baseline": lists[0], "candidate": lists[1]},
    }


def _linear_row(index: int, row: LadderRow) -> dict[str, Any]:
    return {
        "index": str(index + 1),
        "stage": row.stage,
        "verdict": row.verdict,
        "reason": row.reason,
        "baseline": _linear_side(row.baseline),
        "candidate": _linear_side(row.candidate),
    }


def _linear_side(receipt: Receipt | None) -> dict[str, Any] | None:
    if receipt is None:
        return None
    return {"outputs": output_digests(receipt), "outcome_class": receipt.outcome_class}


def _topology_members(comparison: Comparison, baseline: Run, candidate: Run) -> dict[str, Any]:
    rows = comparison.rows
    return {
        "shape": "dag",
        "ladder": [
            {
                "node": row.node,
                "verdict": row.verdict,
                "index_baseline": None if row.baseline is None else row.baseline.index,
                "index_candidate": None if row.candidate is None else row.candidate.index,
                "annotations": list(row.annotations),
            }
            for row in rows
        ],
        "first_difference_frontier": [row.node for row in rows if row.verdict == FIRST_DIFFERENCE],
        "could_not_check_nodes": [row.node for row in rows if row.verdict == UNCHECKED],
        "counts": {verdict: str(comparison.count(verdict)) for verdict in VERDICTS},
        "nodes": {
            "baseline": str(sum(1 for _ in baseline.chain_receipts())),
            "candidate": str(sum(1 for _ in candidate.chain_receipts())),
        },
        "frontier_causes": [],
        "comparisons_performed": str(len(rows) - comparison.count(UNCHECKED)),
    }


def call_document(run: Run, text_file: str) -> Document:
    """Write the rows of one verification: a ``verifier-*.json`` of a report folder."""
    failed = bool(run.failed_rows)
    unchecked = run.manifest_unimplemented or any(receipt.unimplemented for receipt in run.chain_receipts())
    return Document(
        {
            "format": CALL_FORMAT,
            "kind": run.kind,
            "target": target_of(run),
            "exit": "1" if failed else "2" if unchecked else "0",
            "refused": "true" if failed else "false",
            "raised": run.raised or None,
            "notes": list(run.notes),
            "rows": [_row_members(row) for row in run.verification],
            "text_file": text_file,
        }
    )


def refused_call_document(kind: str, target: str, reason: str) -> Document:
    """Write the little that is said of a linked run that does not verify: nothing from the run itself."""
    return Document({"command": {"kind": kind, "target": target}, "exit": "1", "reason": reason})


def target_of(run: Run) -> str:
    """Return the file a verification started from, as the path was typed."""
    if run.kind != "run" or run.given.endswith("MANIFEST.json"):
        return run.given
    return run.given.rstrip("/") + "/MANIFEST.json"


def call_text(run: Run) -> str:
    """Write the rows of one verification for people: a ``verifier-*.txt`` of a report folder."""
    rows = run.verification
    lines = [f"[{row.result:<7}] {escape_name(row.line.partition('] ')[2])}" for row in rows]
    counts = [sum(row.result == result for row in rows) for result in (PASS, FAIL, NOT_RUN)]
    outcome = "FAIL" if counts[1] else "PASS"
    lines += ["", f"{counts[0]} pass, {counts[1]} fail, {counts[2]} not-run  ->  {outcome}", ""]
    return "\n".join(lines)
