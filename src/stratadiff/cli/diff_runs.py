"""``stratadiff diff`` of recorded runs: options become one call, its result becomes bytes."""

from __future__ import annotations

import os
import sys

from stratadiff.api import ALGORITHMS, TAKES, run_diff
from stratadiff.cli.main import write_error, write_output
from stratadiff.cli.parser import usage_error
from stratadiff.core.escape import escape_name
from stratadiff.core.files import atomic_write
from stratadiff.errors import OutputError
from stratadiff.limits import DEFAULT_CONTEXT, DEFAULT_MAX_LINES
from stratadiff.render.terminal import wants_colour
from stratadiff.runs.section import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.api import DiffResult
    from stratadiff.cli.parser import Arguments
    from stratadiff.runs.corpus import LinkedRun
    from stratadiff.runs.model import Run

_NEEDS_TEXT = (
    "--stage",
    "--all",
    "--context",
    "--max-lines",
    "--no-color",
    "--json",
    "--no-follow",
    "--runs-root",
)

_PLAIN_TEXTS = "For two plain texts or JSON files there is text_diff in the Python library"


def run(args: Arguments) -> int:
    """Compare two runs and print what was asked for.

    Parameters
    ----------
    args : Arguments
        As the parser's table lists them.

    Returns
    -------
    int
        The envelope's exit code.
    """
    _check(args)
    as_json = bool(args.json)
    draws_text = bool(args.out) or not (as_json or args.quiet)
    result = run_diff(
        args.baseline,
        args.candidate,
        Options(
            stages=args.stage or (),
            show_all=args.all,
            context=DEFAULT_CONTEXT if args.context is None else args.context,
            max_lines=DEFAULT_MAX_LINES if args.max_lines is None else args.max_lines,
            algorithm=args.algorithm or ALGORITHMS[0],
            as_json=as_json or bool(args.out),
            as_lines=draws_text,
        ),
        text=args.text,
        follow_corpus=args.follow_corpus,
        follow=not args.no_follow,
        runs_root=args.runs_root,
        strict=args.strict,
        collect_passes=bool(args.out),
        stages_given=args.stages is not None,
    )
    if args.out:
        _write_report(args.out, result)
    if as_json:
        write_output(result.document().canonical() + b"\n")
        _explain(result, args.quiet)
    elif not args.quiet:
        colour = args.text and not args.no_color and wants_colour(sys.stdout)
        write_output(result.text(colour=colour).encode("utf-8", "backslashreplace"))
    if not args.quiet:
        _advise(result)
    return result.exit_code


def _check(args: Arguments) -> None:
    """Refuse options that contradict each other, in the order the format fixes (comparison §7)."""
    if args.follow_corpus and args.no_follow:
        raise usage_error("diff", "--follow-corpus and --no-follow can't be given together")
    if args.follow_corpus and args.text:
        message = "--follow-corpus is for diff without --text; --text follows a changed corpus link already"
        raise usage_error("diff", message)
    if not args.text:
        given = [flag for flag in _NEEDS_TEXT if _is_given(getattr(args, flag[2:].replace("-", "_")))]
        if args.follow_corpus:
            given = [flag for flag in given if flag != "--runs-root"]
        if given:
            raise usage_error("diff", f"{', '.join(given)} needs --text")
    if args.context is not None and args.context < 0:
        raise usage_error("diff", "--context must be 0 or more")
    if args.max_lines is not None and args.max_lines < 1:
        raise usage_error("diff", "--max-lines must be at least 1")


def _is_given(value: object) -> bool:
    return value is not None and value is not False  # --context 0 is given


def _explain(result: DiffResult, quiet: bool) -> None:
    """Say on standard error why a document shows no text: the document itself names the envelope alone."""
    if result.reason is not None and not quiet and result.section is not None and result.section.withheld:
        write_error(f"stratadiff: {result.envelope}: {escape_name(result.reason)}\n")


def _write_report(folder: str, result: DiffResult) -> None:
    """Write the report folder (comparison §8): files of these names are replaced, no other is touched."""
    from stratadiff.documents.runreport import refused_call_document

    comparison = result.comparison
    _make_folder(folder)
    atomic_write(os.path.join(folder, "diff.json"), result.report().canonical())
    atomic_write(os.path.join(folder, "diff.txt"), result.text().encode("utf-8", "backslashreplace"))
    for side, run in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        if run is not None:
            _write_call(folder, f"verifier-{side}-1", run)
    traces = result.traces if result.section is None else result.section.traces
    for trace in traces or ():
        for side, linked in (("baseline", trace.baseline), ("candidate", trace.candidate)):
            if linked.path is None:
                continue
            place = os.path.join(folder, "corpus", side, linked.path)
            if linked.run is not None:
                _make_folder(place)
                _write_call(place, "verifier-1", linked.run)
            elif linked.verified is False:
                _make_folder(place)
                document = refused_call_document("run", f"{linked.path}/MANIFEST.json", _refusal(linked))
                atomic_write(os.path.join(place, "verifier-1.json"), document.canonical())


def _refusal(linked: LinkedRun) -> str:
    return f"linked ingest run did not verify: {linked.path}"


def _write_call(folder: str, name: str, run: Run) -> None:
    from stratadiff.documents.runreport import call_document, call_text

    atomic_write(os.path.join(folder, f"{name}.json"), call_document(run, f"{name}.txt").canonical())
    atomic_write(os.path.join(folder, f"{name}.txt"), call_text(run).encode("utf-8", "backslashreplace"))


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise OutputError("exists and is not a folder; name another one with --out", where=path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot be made: {reason}", where=path) from None


def _advise(result: DiffResult) -> None:
    """Say what the command takes when a file was given that is no receipt at all."""
    comparison = result.comparison
    for given, run in zip(comparison.given, (comparison.baseline, comparison.candidate), strict=True):
        if run is not None and run.kind == "receipt" and run.unreadable:
            name = escape_name(given)
            write_error(f"stratadiff: {name} is not a receipt: {TAKES}. {_PLAIN_TEXTS}\n")
            return
