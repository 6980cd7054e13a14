"""``stratadiff verify`` of a recorded run: the checks of its receipts, chain and outputs, in words."""

from __future__ import annotations

from stratadiff.cli.verify import FAILED, VERIFIED, Result
from stratadiff.errors import InputError
from stratadiff.runs.model import FAIL, PASS
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.runs.model import Run


def check(path: str, strict: bool) -> Result:
    """Verify one run."""
    result = Result(path)
    try:
        run = read_input(path, strict=strict)
    except InputError as error:
        result.reason = error.message
        result.message = str(error)
        return result
    result.kind = run.kind
    rows = verify_run(run, collect_passes=True, strict=strict, beside_chain=True)
    result.reason = _refusal(run)
    if result.reason:
        result.verdict = "REFUSED"
        return result
    result.rows = [(row.result, row.name, row.detail) for row in rows]
    passed = sum(row.result == PASS for row in rows)
    failed = sum(row.result == FAIL for row in rows)
    others = len(rows) - passed - failed
    result.summary = {"fail": str(failed), "not_run": str(others), "pass": str(passed)}
    result.counts = f"{passed} pass, {failed} fail, {others} not-run"
    if failed:
        result.verdict, result.exit = "FAIL", FAILED
    elif run.manifest_unimplemented or any(receipt.unimplemented for receipt in run.chain_receipts()):
        result.verdict = "NOT VERIFIED"
        result.reason = _not_verified(run)
    else:
        result.verdict, result.exit = "PASS", VERIFIED
    return result


def _refusal(run: Run) -> str:
    """Return why nothing was checked, in the reference's words; ``""`` when there are rows."""
    if run.kind == "run":
        if run.unreadable:
            return f"manifest: MANIFEST.json -- {run.unreadable}"
        if run.unimplemented:
            return f"manifest: format -- {run.unimplemented.removeprefix('manifest format: ')}"
    return run.unimplemented


def _not_verified(run: Run) -> str:
    reasons = []
    if run.manifest_unimplemented:
        reasons.append("chain format not implemented")
    count = sum(bool(receipt.unimplemented) for receipt in run.chain_receipts())
    if count:
        reasons.append(f"receipt format not implemented: {count} receipt(s)")
    return "; ".join(reasons)
