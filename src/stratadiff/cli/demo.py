"""``stratadiff demo [DIR]``: two recorded runs to play with, compared, and what to try next."""

from __future__ import annotations

import os
import sys

from stratadiff.api import demo_runs, run_diff
from stratadiff.cli.main import write_output
from stratadiff.core.escape import escape_name
from stratadiff.core.files import atomic_write, read_file
from stratadiff.errors import OutputError, StratadiffError
from stratadiff.render.terminal import wants_colour
from stratadiff.runs.section import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from stratadiff.cli.parser import Arguments

DEFAULT_FOLDER = "stratadiff-demo"


def run(args: Arguments) -> int:
    """Write the bundled runs to a folder, compare them there, and name the next commands.

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
    _write_runs(os.path.dirname(demo_runs()[0]), folder)
    baseline, candidate = (os.path.join(folder, os.path.basename(path)) for path in demo_runs())
    result = run_diff(baseline, candidate, Options(as_json=False), text=True)
    text = result.text(colour=wants_colour(sys.stdout))
    names = [_shell_word(path) for path in (baseline, candidate)]
    command = f"stratadiff diff {names[0]} {names[1]}"
    hints = (
        (command, "the verdicts alone"),
        (f"{command} --text --stage answer", "one stage"),
        (f"{command} --text --json", "the same as a document for programs"),
        (f"stratadiff verify {names[0]}", "every check of one run; change a byte below it and verify again"),
    )
    width = max(len(hint[0]) for hint in hints)
    parts = [
        f"A support assistant was recorded on two days; the runs are in {escape_name(folder)}.\n",
        f"$ {command} --text\n",
        text,
        "What to try next:\n",
        *(f"  {hint:<{width}}  # {meaning}" for hint, meaning in hints),
        "",
    ]
    write_output("\n".join(parts).encode("utf-8", "backslashreplace"))
    return 0


def _write_runs(source: str, folder: str) -> None:
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
