"""``stratadiff diff`` of agent traces: options become one call, its result becomes bytes *(levels §7)*.

Nothing is written before everything is known: a trace, pricing or policy that cannot be used leaves no output
and no file behind.
"""

from __future__ import annotations

import os
import sys

from stratadiff.cli import exit_codes
from stratadiff.cli.commands import LEVELS
from stratadiff.cli.main import write_error, write_output
from stratadiff.core.escape import escape_terminal
from stratadiff.core.files import atomic_write
from stratadiff.errors import ConfigurationError, InputError, LimitError, NotFoundError, UsageError
from stratadiff.render.terminal import wants_colour
from stratadiff.render.tracetext import draw_trace
from stratadiff.trace_api import compare_traces
from stratadiff.traces.model import DIMENSIONS
from stratadiff.traces.options import SEED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from stratadiff.cli.parser import Arguments
    from stratadiff.trace_api import TraceResult
    from stratadiff.traces.model import Trace

SHOWN_REMARKS = 20
"""Remarks about one file that are printed one by one."""


def run(args: Arguments) -> int:
    """Compare two traces and print what was asked for.

    Parameters
    ----------
    args : Arguments
        As the parser's table lists them.

    Returns
    -------
    int
        0; 1 when ``--fail-on`` is met; 2 when a trace, the pricing, the policy or the scores cannot be used.
    """
    levels = _levels(args)
    _check_output(args)
    try:
        result = compare_traces(
            args.baseline,
            args.candidate,
            levels=levels,
            rules=args.policy,
            pricing=args.pricing,
            seed=SEED if args.seed is None else args.seed,
            align=args.align,
            refusals=args.refusals or "contract",
            semantic_text_only=args.semantic_text_only,
            judge=None if args.judge is None else _scores(args.judge),
            split=args.split,
            tolerant=args.tolerant,
            fail_on=args.fail_on or "never",
        )
        report = result.report()
        document = report.canonical() + b"\n" if args.json or args.output_json is not None else b""
    except NotFoundError as error:
        _say(f"{error.where}: no such file" if error.where else "the path is empty")
        return exit_codes.USAGE
    except (InputError, LimitError) as error:
        _say(str(error))
        return exit_codes.USAGE
    except UsageError as error:  # all else was looked at before: the scores do not fit the pairs
        _say(f"{args.judge}: {error.message}" if args.judge is not None else error.message)
        return exit_codes.USAGE
    unread = _unread(result)
    if unread is not None:
        _say(unread)
        return exit_codes.USAGE
    if args.output_json is not None:
        atomic_write(args.output_json, document)
    for line in _remarks(args, levels, result):
        _say(line)
    if args.json:
        write_output(document)
    elif not args.quiet:
        colour = not args.no_color and wants_colour(sys.stdout)
        write_output(draw_trace(report, colour=colour).encode("utf-8", "backslashreplace"))
    return result.exit_code


def _levels(args: Arguments) -> list[str]:
    """Return the levels that the options ask for."""
    if args.only is None:
        asked = {
            "trace": True,
            "session": args.hierarchical,
            "turn": True,
            "span": args.spans,
            "token": args.token_diff,
            "policy": args.policy is not None,
        }
        return [level for level in LEVELS if asked[level]]
    names = [name.strip() for name in args.only.split(",")]
    for name in names:
        if name not in LEVELS:
            shown = escape_terminal(name)
            raise UsageError(f"argument --only: '{shown}' is not a level (choose from {', '.join(LEVELS)})")
    if "policy" in names and args.policy is None:
        raise UsageError("--only policy needs --policy FILE")
    return names


def _check_output(args: Arguments) -> None:
    """Refuse to write the report over what it is made from."""
    if args.output_json is None:
        return
    for path in (args.baseline, args.candidate, args.policy, args.pricing, args.judge):
        try:
            same = path is not None and os.path.samefile(path, args.output_json)
        except (OSError, ValueError):
            continue  # one of them is not there
        if same:
            shown = escape_terminal(args.output_json)
            raise UsageError(f"--output-json would write over an input: {shown}")


def _scores(path: str) -> list[float]:
    """Read the scores of a judge: a list of numbers, JSON or YAML."""
    from stratadiff.core.configuration import described, read_configuration, value_of

    scores = read_configuration(path)
    if not isinstance(scores, list):
        raise ConfigurationError(
            f"the scores must be a list of numbers; found {described(scores)}", where=path
        )
    found = []
    for index, score in enumerate(scores):
        try:
            value = value_of(score, f"score {index}")
        except ConfigurationError as error:
            raise ConfigurationError(error.message, where=path) from None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            message = f"score {index} must be a number from 0 to 1; found {described(score)}"
            raise ConfigurationError(message, where=path)
        found.append(float(value))
    return found


def _unread(result: TraceResult) -> str | None:
    """Return why a file that was read tolerantly cannot be used: no line of it is a record."""
    for trace in (result.baseline, result.candidate):
        if not trace.sessions:
            for remark in trace.diagnostics:
                if remark.code != "bom":
                    return f"{trace.source}: no line of it is a record; line {remark.line}: {remark.message}"
    return None


def _remarks(args: Arguments, levels: list[str], result: TraceResult) -> Iterator[str]:
    """Yield what standard error says besides: about the files, the policy, and what is not there."""
    traces = [result.baseline]
    if args.candidate != args.baseline:  # of the same file everything is said once
        traces.append(result.candidate)
    for trace in traces:
        yield from _first(
            trace.source, [f":{found.line}: {found.code}: {found.message}" for found in trace.diagnostics]
        )
    for trace in traces:
        if not trace.turn_count:
            yield f"{trace.source}: there is no chat_response record in it, so nothing of it can be compared"
    yield from _first(args.policy, [f": {warning}" for warning in result.warnings])
    if args.policy is not None and "policy" not in levels:
        yield "--policy: its rules are not applied, as --only leaves the level policy out"
    if "token" in levels:
        for trace in traces:
            absent = _absent_counts(trace)
            if absent:
                yield (
                    f"{trace.source}: token counts that are not there count as 0: {absent} "
                    f"of {trace.turn_count} responses"
                )
    if args.fail_on not in (None, "never") and not {"trace", "policy"}.intersection(levels):
        yield "--fail-on looks at the levels trace and policy, and --only leaves both out"


def _first(path: str, remarks: list[str]) -> Iterator[str]:
    """Yield the first remarks about a file, and how many there are besides."""
    yield from (path + remark for remark in remarks[:SHOWN_REMARKS])
    if len(remarks) > SHOWN_REMARKS:
        yield f"{path}: {len(remarks) - SHOWN_REMARKS} more remarks"


def _absent_counts(trace: Trace) -> str:
    counts = zip(DIMENSIONS, trace.tokens.absent, strict=True)
    return ", ".join(f"{name} in {count}" for name, count in counts if count)


def _say(message: str) -> None:
    write_error(f"stratadiff: {escape_terminal(message)}\n")
