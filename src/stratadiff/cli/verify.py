"""``stratadiff verify RUN...``: every row of the verification, for people or as one JSON document."""

from __future__ import annotations

from stratadiff.cli.main import write_error, write_output
from stratadiff.core import canonical
from stratadiff.core.escape import escape_name
from stratadiff.errors import InputError
from stratadiff.runs.model import FAIL, PASS
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from stratadiff.runs.model import Row, Run

    class Arguments(Protocol):
        """What the parser hands over."""

        runs: list[str]
        json: bool
        strict: bool


FORMAT = "stratadiff-verify/0.1"

VERIFIED = 0
FAILED = 1
NOT_CHECKED = 2


class _Result:
    """What there is to say about one path."""

    __slots__ = ("exit", "kind", "message", "path", "reason", "rows", "verdict")

    def __init__(self, path: str) -> None:
        self.path = path
        self.kind: str | None = None
        self.verdict = "UNREADABLE"
        self.exit = NOT_CHECKED
        self.reason = ""
        self.message = ""
        self.rows: list[Row] = []

    def count(self, *results: str) -> int:
        return sum(row.result in results for row in self.rows)


def run(args: Arguments) -> int:
    """Verify every path given and print the rows.

    Parameters
    ----------
    args : Arguments
        ``runs``, ``json`` and ``strict``.

    Returns
    -------
    int
        0 when every run verifies, 1 when a check failed in any, else 2 when any could not be checked.
    """
    strict = bool(args.strict)
    results = []
    codes = set()
    for number, path in enumerate(args.runs):
        result = _verify(path, strict)
        codes.add(result.exit)
        if args.json:
            results.append(_members(result))
        else:
            # One run at a time: what is known is printed, and only one run's rows are held.
            _print_text(result, len(args.runs) > 1, first=number == 0)
    code = next((code for code in (FAILED, NOT_CHECKED) if code in codes), VERIFIED)
    if args.json:
        document = {"exit": str(code), "format": FORMAT, "runs": results}
        write_output(canonical.dump(document) + b"\n")
    return code


def _verify(path: str, strict: bool) -> _Result:
    result = _Result(path)
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
    result.rows = rows
    if result.count(FAIL):
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


def _print_text(result: _Result, several: bool, *, first: bool) -> None:
    lines = []
    if several:
        lines += ([] if first else [""]) + [f"== {escape_name(result.path)}"]
    if result.message:
        write_error(f"stratadiff: {escape_name(result.message)}\n")
        if not several:
            return
        lines.append(f"not checked: {escape_name(result.reason)}")
    elif result.verdict == "REFUSED":
        lines.append(f"[REFUSED] {escape_name(result.reason)}")
    else:
        for row in result.rows:
            tail = f" -- {escape_name(row.detail)}" if row.detail else ""
            lines.append(f"[{row.result:<7}] {escape_name(row.name)}{tail}")
        reason = f" ({result.reason})" if result.reason else ""
        passed, failed, others = _counts(result)
        lines += ["", f"{passed} pass, {failed} fail, {others} not-run  ->  {result.verdict}{reason}"]
    write_output("".join(f"{line}\n" for line in lines).encode())


def _counts(result: _Result) -> tuple[int, int, int]:
    passed, failed = result.count(PASS), result.count(FAIL)
    return passed, failed, len(result.rows) - passed - failed


def _members(result: _Result) -> dict[str, Any]:
    passed, failed, others = _counts(result)
    return {
        "exit": str(result.exit),
        "kind": result.kind,
        "path": result.path,
        "reason": result.reason or None,
        "result": result.verdict,
        "rows": [{"detail": row.detail, "name": row.name, "result": row.result} for row in result.rows],
        "summary": {"fail": str(failed), "not_run": str(others), "pass": str(passed)},
    }
