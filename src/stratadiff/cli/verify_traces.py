"""``stratadiff verify`` of an agent trace: every breach of the format, with its line *(agentlog §5)*."""

from __future__ import annotations

from stratadiff.cli.verify import FAILED, VERIFIED, Result
from stratadiff.errors import InputError, NotFoundError
from stratadiff.traces.verify import verify_trace


def check(path: str) -> Result:
    """Verify one trace."""
    result = Result(path)
    try:
        found = verify_trace(path)
    except InputError as error:
        result.reason = "no such file" if isinstance(error, NotFoundError) else error.message
        result.message = f"{path}: {result.reason}"
        return result
    result.kind = "trace"
    result.verdict, result.exit = ("PASS", VERIFIED) if found.verifies else ("FAIL", FAILED)
    result.rows = [
        ("FAIL", f"line {breach.line}: {breach.code}", breach.message) for breach in found.breaches
    ]
    result.rows += [("NOTE", f"line {note.line}: {note.code}", note.message) for note in found.remarks]
    breaches, notes = len(found.breaches), len(found.remarks)
    result.summary = {"fail": str(breaches), "notes": str(notes), "records": str(found.record_count)}
    result.counts = f"{found.record_count} record(s), {breaches} breach(es), {notes} note(s)"
    return result
