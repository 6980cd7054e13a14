"""The verification of a run, row by row (verification §§3-7)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.runs.model import Row, Run


def verify_run(
    run: Run, *, collect_passes: bool = False, strict: bool = False, beside_chain: bool = False
) -> list[Row]:
    """Check a run and keep the rows as ``run.verification``.

    Parameters
    ----------
    run : Run
        As :func:`stratadiff.runs.reader.read_input` returned it.
    collect_passes : bool
        Also make the PASS rows. `diff` does not need them, and they are most of the cost.
    strict : bool
        Add the stricter checks of verification §8.
    beside_chain : bool
        Add the rows of ``anchors/`` and ``signatures/`` (verification §7), whose FAIL fails a run for `verify` alone. `diff`
        asks :func:`beside_rows` for its annotations instead.

    Returns
    -------
    list of Row
        In the reference order. A run that is unreadable has one FAIL row ``manifest``; one of an unimplemented manifest
        format has none. Any FAIL row refuses the run.
    """
    raise NotImplementedError


def beside_rows(run: Run) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``anchors/`` and of ``signatures/``: the report's `anchoring` and `signing` annotations."""
    raise NotImplementedError
