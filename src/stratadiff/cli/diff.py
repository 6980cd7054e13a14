"""``stratadiff diff BASELINE CANDIDATE``: which kind the two inputs are, and who compares that kind."""

from __future__ import annotations

import os

from stratadiff.cli import exit_codes
from stratadiff.cli.commands import COMMANDS, RUNS, TRACES
from stratadiff.cli.main import write_error
from stratadiff.core.escape import escape_name
from stratadiff.errors import UnknownKindError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.cli.parser import Arguments


def run(args: Arguments) -> int:
    """Compare two recorded runs, or two agent traces, and print what was asked for.

    Parameters
    ----------
    args : Arguments
        As the parser's table lists them.

    Returns
    -------
    int
        Of runs the envelope's exit code; of traces 0, or 1 when ``--fail-on`` is met, or 2.
    """
    given = {kind: _options_given(args, kind) for kind in (RUNS, TRACES)}
    try:
        kind = TRACES if _are_traces(args, bool(given[TRACES])) else RUNS
    except UnknownKindError as error:
        write_error(f"stratadiff: {escape_name(str(error))}\n")
        return exit_codes.USAGE
    other = TRACES if kind == RUNS else RUNS
    if given[other]:
        raise UsageError(f"{', '.join(given[other])}: only for {other}, and these are {kind}")
    # Each side of the house is loaded for its own kind only: start-up.
    if kind == TRACES:
        from stratadiff.cli import diff_traces

        return diff_traces.run(args)
    from stratadiff.cli import diff_runs

    return diff_runs.run(args)


def _are_traces(args: Arguments, wants_traces: bool) -> bool:
    paths = (args.baseline, args.candidate)
    if all(os.path.isdir(path) or os.path.basename(path) == "MANIFEST.json" for path in paths):
        return False  # nothing of traces need be loaded to know that
    from stratadiff.traces.kinds import are_traces

    return are_traces(*paths, if_missing=wants_traces)


def _options_given(args: Arguments, group: str) -> list[str]:
    options = [option for option in COMMANDS["diff"].options if option.group == group]
    values = [getattr(args, option.name) for option in options]
    return [
        option.flag
        for option, value in zip(options, values, strict=True)
        if value is not None and value is not False  # --seed 0 is given
    ]
