"""``stratadiff demo [DIR]``: recorded runs and traces to play with, compared, and what to try next."""

from __future__ import annotations

import os
import sys

from stratadiff.api import demo_runs, run_diff
from stratadiff.cli.main import write_output
from stratadiff.core.escape import escape_name
from stratadiff.core.files import atomic_write, read_file
from stratadiff.errors import OutputError, StratadiffError
from stratadiff.render.terminal import wants_colour
from stratadiff.render.tracetext import draw_trace
from stratadiff.runs.section import Options
from stratadiff.trace_api import compare_traces, demo_traces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from stratadiff.cli.parser import Arguments

DEFAULT_FOLDER = "stratadiff-demo"


def run(args: Arguments) -> int:
    """Write the bundled recordings to a folder, compare them there, and name the next commands.

    Parameters
    ----------
    args : Arguments
        ``folder``, None for the default.

    Returns
    -------
    int
        0 when the demonstration was written and shown.
    """
    folder = DEFAULT_FOLDER if args.folder is None else args.folder
    _write_recordings(os.path.dirname(demo_runs()[0]), folder)
    baseline, candidate = (os.path.join(folder, os.path.basename(path)) for path in demo_runs())
    result = run_diff(baseline, candidate, Options(as_json=False), text=True)
    colour = wants_colour(sys.stdout)
    text = result.text(colour=colour)
    runs = "stratadiff diff " + " ".join(_shell_word(path) for path in (baseline, candidate))
    agent = os.path.join(folder, "agent")
    monday, tuesday = (os.path.join(agent, os.path.basename(path)) for path in demo_traces())
    rules, prices = (os.path.join(agent, name) for name in ("policy.yaml", "pricing.json"))
    report = compare_traces(monday, tuesday, align=True, rules=rules).report()
    traces = f"stratadiff diff {_shell_word(monday)} {_shell_word(tuesday)}"
    policy, pricing = f"--policy {_shell_word(rules)}", f"--pricing {_shell_word(prices)}"
    parts = [
        f"A support assistant was recorded on two days; the runs are in {escape_name(folder)}.\n",
        f"$ {runs} --text\n",
        text,
        f"An agent that migrates a database was recorded too; its traces are in {escape_name(agent)}.\n",
        f"$ {traces} --align {policy}\n",
        draw_trace(report, colour=colour),
        "What to try next with the runs:\n",
        *_hints(
            (runs, "the verdicts alone"),
            (f"{runs} --text --stage answer", "one stage"),
            (f"{runs} --text --json", "the same as a document for programs"),
            (
                f"stratadiff verify {_shell_word(baseline)}",
                "every check of one run; change a byte below it and verify again",
            ),
        ),
        "\nAnd with the traces:\n",
        *_long_hints(
            (traces, "turns paired by number: what an inserted turn does to all that follow"),
            (f"{traces} --align --spans", "what changed in each turn"),
            (f"{traces} --hierarchical --token-diff {pricing}", "sessions, tokens, costs"),
            (f"{traces} --only policy {policy} --fail-on severe", "rules alone, with an exit code for CI"),
            (f"stratadiff verify {_shell_word(monday)}", "content ids, parents, order"),
        ),
        "",
    ]
    write_output("\n".join(parts).encode("utf-8", "backslashreplace"))
    return 0


def _hints(*hints: tuple[str, str]) -> list[str]:
    width = max(len(command) for command, _ in hints)
    return [f"  {command:<{width}}  # {meaning}" for command, meaning in hints]


def _long_hints(*hints: tuple[str, str]) -> list[str]:
    return [line for command, meaning in hints for line in (f"  # {meaning}", f"  {command}")]


def _write_recordings(source: str, folder: str) -> None:
    """Copy the bundled files; a folder that holds anything but exactly these files is left alone."""
    names = sorted(_files_below(source))
    if os.path.lexists(folder) and not _is_empty(folder):
        if not _holds_the_same(source, folder, names):
            message = (
                "exists and is not an unchanged stratadiff demo; name another folder: stratadiff demo DIR"
            )
            raise OutputError(message, where=folder)
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"cannot be made: {reason}", where=folder) from None
        atomic_write(path, read_file(os.path.join(source, name)))


def _files_below(folder: str, prefix: str = "") -> Iterator[str]:
    with os.scandir(os.path.join(folder, prefix)) as entries:
        for entry in entries:
            name = os.path.join(prefix, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files_below(folder, name)
            else:
                yield name


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except OSError:
        return False


def _holds_the_same(source: str, folder: str, names: list[str]) -> bool:
    try:
        return sorted(_files_below(folder)) == names and all(
            read_file(os.path.join(source, name)) == read_file(os.path.join(folder, name), follow=False)
            for name in names
        )
    except (OSError, StratadiffError):
        return False


def _shell_word(path: str) -> str:
    """Quote a path for a shell where it needs it."""
    if path and all(character.isalnum() or character in "._-/\\:" for character in path):
        return path
    return "'" + escape_name(path).replace("'", "'\\''") + "'"
