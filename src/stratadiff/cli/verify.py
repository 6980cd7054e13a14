"""``stratadiff verify RUN...``: every row of the verification, for people or as one JSON document."""

from __future__ import annotations

import os

from stratadiff.cli.main import write_error, write_output
from stratadiff.core import canonical
from stratadiff.core.escape import escape_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Arguments(Protocol):
        """What the parser hands over."""

        runs: list[str]
        json: bool
        strict: bool


FORMAT = "stratadiff-verify/0.1"

VERIFIED = 0
FAILED = 1
NOT_CHECKED = 2


class Result:
    """What there is to say about one path.

    Attributes
    ----------
    path : str
        As given.
    kind : str or None
        ``run``, ``receipt``, ``summary`` or ``trace``; None for what cannot be read.
    verdict : str
        ``PASS``, ``FAIL``, ``NOT VERIFIED``, ``REFUSED`` or ``UNREADABLE``.
    exit : int
        The exit code of this path alone.
    reason, message : str
        Why there is no verdict, and the same with the path for standard error.
    rows : list of (result, name, detail)
        Hostile text: escape before display.
    summary : dict of str
        Counts, as decimal strings.
    counts : str
        The same as a phrase.
    """

    __slots__ = ("counts", "exit", "kind", "message", "path", "reason", "rows", "summary", "verdict")

    def __init__(self, path: str) -> None:
        self.path = path
        self.kind: str | None = None
        self.verdict = "UNREADABLE"
        self.exit = NOT_CHECKED
        self.reason = ""
        self.message = ""
        self.rows: list[tuple[str, str, str]] = []
        self.summary: dict[str, str] = {"fail": "0", "not_run": "0", "pass": "0"}
        self.counts = ""


def run(args: Arguments) -> int:
    """Verify every path given and print the rows.

    Parameters
    ----------
    args : Arguments
        ``runs``, ``json`` and ``strict``.

    Returns
    -------
    int
        0 when everything verifies, 1 when a check failed anywhere, else 2 when anything could not be checked.
    """
    results = []
    codes = set()
    for number, path in enumerate(args.runs):
        result = _check(path, bool(args.strict))
        codes.add(result.exit)
        if args.json:
            results.append(_members(result))
        else:
            # One at a time: what is known is printed, and only one path's rows are held.
            _print_text(result, len(args.runs) > 1, first=number == 0)
    code = next((code for code in (FAILED, NOT_CHECKED) if code in codes), VERIFIED)
    if args.json:
        document = {"exit": str(code), "format": FORMAT, "runs": results}
        write_output(canonical.dump(document) + b"\n")
    return code


def _check(path: str, strict: bool) -> Result:
    # Each side of the house is loaded for its own kind only: start-up.
    if path and not os.path.isdir(path):
        from stratadiff.traces.kinds import is_trace_path

        if is_trace_path(path):
            from stratadiff.cli import verify_traces

            return verify_traces.check(path)
    from stratadiff.cli import verify_runs

    return verify_runs.check(path, strict)


def _print_text(result: Result, several: bool, *, first: bool) -> None:
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
        for outcome, name, detail in result.rows:
            tail = f" -- {escape_name(detail)}" if detail else ""
            lines.append(f"[{outcome:<7}] {escape_name(name)}{tail}")
        reason = f" ({result.reason})" if result.reason else ""
        lines += [*([""] if result.rows else []), f"{result.counts}  ->  {result.verdict}{reason}"]
    write_output("".join(f"{line}\n" for line in lines).encode())


def _members(result: Result) -> dict[str, Any]:
    return {
        "exit": str(result.exit),
        "kind": result.kind,
        "path": result.path,
        "reason": result.reason or None,
        "result": result.verdict,
        "rows": [
            {"detail": detail, "name": name, "result": outcome} for outcome, name, detail in result.rows
        ],
        "summary": result.summary,
    }
