"""The whole argument tree, as tables, and the two readers of it.

A well-formed command line is read by :func:`_read_plain`, a few string comparisons: importing argparse (and
with it ``re``, ``enum`` and ``gettext``) costs more than comparing two small runs. Whatever that reader does
not understand at once (``--opt=value``, ``-h``, any mistake) goes to argparse, which knows the
same tables, so help, usage and every error message are argparse's own.
"""

from __future__ import annotations

from stratadiff.errors import UsageError
from stratadiff.limits import DEFAULT_CONTEXT, DEFAULT_MAX_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, Final

PROG = "stratadiff"
UNICODE_VERSION = "15.0"
"""Of the tables in ``csrc``, whatever the interpreter's own are."""
ALGORITHMS = ("myers", "gestalt")

FLAG = "flag"
TEXT = "text"
NUMBER = "number"
REPEATED = "repeated"


class Option:
    """One option of one command: its spelling, what it takes and what it is without it."""

    __slots__ = ("choices", "default", "flag", "help", "kind", "metavar", "name")

    def __init__(
        self,
        flag: str,
        kind: str,
        help: str,
        *,
        metavar: str | None = None,
        default: object = None,
        choices: tuple[str, ...] | None = None,
    ) -> None:
        self.flag = flag
        self.name = flag[2:].replace("-", "_")
        self.kind = kind
        self.help = help
        self.metavar = metavar
        self.default = False if kind == FLAG else default
        self.choices = choices


class Positional:
    """One positional argument; ``count`` is None (exactly one), ``"?"`` or ``"+"``, argparse's words."""

    __slots__ = ("count", "help", "metavar", "name")

    def __init__(self, name: str, help: str, *, metavar: str | None = None, count: str | None = None) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.count = count


class Command:
    """One command: a sentence, its arguments, examples, and the module that runs it."""

    __slots__ = ("description", "epilog", "module", "options", "positionals", "summary")

    def __init__(
        self,
        module: str,
        summary: str,
        description: str,
        epilog: str,
        positionals: tuple[Positional, ...],
        options: tuple[Option, ...],
    ) -> None:
        self.module = module
        self.summary = summary
        self.description = description
        self.epilog = epilog
        self.positionals = positionals
        self.options = options


class Arguments:
    """Parsed arguments as attributes, the command's name included."""

    command: str

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class ParserStop(Exception):  # noqa: N818  not an error: help was asked for
    """The command line asked for help or the version: print ``text`` and stop."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


_DIFF = Command(
    "stratadiff.cli.diff",
    "compare two recorded runs",
    "Compare two recorded runs: verify both, find the first stage that differs, and with --text show the "
    "text that changed. BASELINE and CANDIDATE are run folders, their MANIFEST.json, or two single receipt "
    "files. Files that are no recordings are compared from Python, with stratadiff.text_diff.",
    """\
examples:
  stratadiff diff runs/monday runs/tuesday
  stratadiff diff runs/monday runs/tuesday --text
  stratadiff diff runs/monday runs/tuesday --text --stage answer --context 1
  stratadiff diff runs/monday runs/tuesday --text --json > changes.json
  stratadiff diff runs/monday runs/tuesday --text --quiet --out report/

exit codes:
  0 identical   1 diverged   2 not comparable, or wrong usage   3 refused: a run does not verify
  4 could not check   74 the result could not be written   130 interrupted   141 output closed
""",
    (
        Positional("baseline", "the run to compare against"),
        Positional("candidate", "the run that may differ"),
    ),
    (
        Option("--text", FLAG, "show the text of the outputs that changed"),
        Option("--stage", REPEATED, "with --text: only the named nodes (repeatable)", metavar="NAME"),
        Option("--all", FLAG, "with --text: every node that differs"),
        Option(
            "--context",
            NUMBER,
            f"with --text: unchanged lines around each change (default {DEFAULT_CONTEXT})",
            metavar="N",
        ),
        Option(
            "--max-lines",
            NUMBER,
            f"with --text: lines shown per output (default {DEFAULT_MAX_LINES})",
            metavar="N",
        ),
        Option("--no-color", FLAG, "with --text: no colour, even on a terminal (as NO_COLOR does)"),
        Option(
            "--no-follow",
            FLAG,
            "with --text: name a changed corpus link, do not follow it into the linked ingest runs",
        ),
        Option(
            "--follow-corpus",
            FLAG,
            "without --text: follow a changed corpus link one hop and compare the linked ingest runs",
        ),
        Option(
            "--runs-root",
            TEXT,
            "with --text or --follow-corpus: where the linked ingest runs are, one level down "
            "(default: the folder holding the baseline)",
            metavar="DIR",
        ),
        Option(
            "--json", FLAG, "with --text: print the onetrace-textdiff/0.3 document instead of the plain text"
        ),
        Option(
            "--algorithm",
            TEXT,
            "line diff: myers (default, minimal) or gestalt (byte for byte what onetrace shows)",
            metavar="NAME",
            default=ALGORITHMS[0],
            choices=ALGORITHMS,
        ),
        Option(
            "--strict",
            FLAG,
            "refuse a run also for what the format asks and the reference verifier lets pass",
        ),
        Option(
            "--stages", TEXT, "stage declaration of a summary (accepted for compatibility)", metavar="FILE"
        ),
        Option(
            "--verifier",
            TEXT,
            "another verifier's folder (accepted for compatibility; stratadiff verifies by itself)",
            metavar="DIR",
        ),
        Option("--out", TEXT, "also write the report into DIR: diff.json, diff.txt and more", metavar="DIR"),
        Option("--quiet", FLAG, "do not print the text report"),
    ),
)

_VERIFY = Command(
    "stratadiff.cli.verify",
    "check that recorded runs are intact",
    "Check the receipt chain, the receipts, the stored outputs and the topology of each run.",
    """\
examples:
  stratadiff verify runs/monday
  stratadiff verify runs/* --json
  stratadiff verify runs/monday --strict
""",
    (Positional("runs", "a run folder, its MANIFEST.json, or a receipt file", metavar="RUN", count="+"),),
    (
        Option("--json", FLAG, "print the result as JSON"),
        Option(
            "--strict", FLAG, "fail a run also for what the format asks and the reference verifier lets pass"
        ),
    ),
)

_DEMO = Command(
    "stratadiff.cli.demo",
    "write two recorded runs to play with, and compare them",
    "Write a bundled pair of recorded runs of a small support assistant, compare them, and print what to "
    "try next.",
    """\
examples:
  stratadiff demo
  stratadiff demo /tmp/try-stratadiff
""",
    (Positional("folder", "where to write the runs (default ./stratadiff-demo)", metavar="DIR", count="?"),),
    (),
)

COMMANDS: Final[dict[str, Command]] = {"diff": _DIFF, "verify": _VERIFY, "demo": _DEMO}


def parse(argv: Sequence[str]) -> Arguments:
    """Read a command line.

    Parameters
    ----------
    argv : sequence of str
        The arguments after the program's name.

    Returns
    -------
    Arguments
        ``command`` and one attribute per argument of that command.

    Raises
    ------
    UsageError
        The command line is wrong. ``where`` is the usage to print before the message.
    ParserStop
        Help or the version was asked for.
    """
    if not argv:
        raise UsageError("a command is needed: " + ", ".join(COMMANDS), where=_top_usage())
    first, rest = argv[0], argv[1:]
    command = COMMANDS.get(first)
    if command is not None:
        return _read_plain(first, command, rest) or _read_argparse(first, command, rest)
    if first in ("-h", "--help", "help"):
        raise ParserStop(_top_help())
    if first in ("-V", "--version"):
        raise ParserStop(_version())
    from stratadiff.core.escape import escape_name

    kind = "option" if first.startswith("-") else "command"
    raise UsageError(
        f"'{escape_name(first)}' is not a stratadiff {kind} (choose from {', '.join(COMMANDS)})",
        where=_top_usage(),
    )


def usage_error(command: str, message: str) -> UsageError:
    """Make the error for arguments that contradict each other, with the command's usage."""
    return UsageError(message, where=_argparser(command, COMMANDS[command]).format_usage())


def _read_plain(name: str, command: Command, argv: Sequence[str]) -> Arguments | None:
    """Read a well-formed command line; None when anything in it is not the plain case."""
    result = Arguments()
    result.command = name
    values = result.__dict__
    options = {}
    for option in command.options:
        options[option.flag] = option
        values[option.name] = option.default
    plain: list[str] = []
    words = iter(argv)
    for word in words:
        if not word.startswith("-"):
            plain.append(word)
            continue
        found = options.get(word)
        if found is None:
            return None
        if found.kind == FLAG:
            values[found.name] = True
            continue
        value = next(words, "-")
        if value.startswith("-") or (found.choices is not None and value not in found.choices):
            return None
        if found.kind == NUMBER:
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                return None
            values[found.name] = int(value)
        elif found.kind == REPEATED:
            values[found.name] = [*(values[found.name] or ()), value]
        else:
            values[found.name] = value
    for positional in command.positionals:
        if positional.count == "+":
            if not plain:
                return None
            values[positional.name], plain = plain, []
        elif plain:
            values[positional.name] = plain.pop(0)
        elif positional.count == "?":
            values[positional.name] = None
        else:
            return None
    return None if plain else result


def _read_argparse(name: str, command: Command, argv: Sequence[str]) -> Arguments:
    parser = _argparser(name, command)
    result = Arguments()
    result.command = name
    read = parser.parse_known_args if "--" in argv else parser.parse_known_intermixed_args
    namespace, extras = read(list(argv))  # the latter would drop a "--"
    if extras:
        from stratadiff.core.escape import escape_name

        parser.error("unrecognized arguments: " + " ".join(escape_name(extra) for extra in extras))
    result.__dict__.update(namespace.__dict__)
    return result


def _argparser(name: str, command: Command) -> argparse.ArgumentParser:
    import argparse

    class Formatter(argparse.RawDescriptionHelpFormatter):
        """Examples as written; one fixed width, so help is the same on every terminal and in the docs."""

        def __init__(self, prog: str) -> None:
            super().__init__(prog, width=96, max_help_position=26)

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> None:  # type: ignore[override]
            raise UsageError(message, where=self.format_usage())

        def print_help(self, file: object = None) -> None:
            raise ParserStop(self.format_help())

    parser = Parser(
        prog=f"{PROG} {name}",
        description=_wrapped(command.description),
        epilog=command.epilog,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    for positional in command.positionals:
        if positional.count is None:
            parser.add_argument(positional.name, help=positional.help)
        else:
            parser.add_argument(
                positional.name, help=positional.help, metavar=positional.metavar, nargs=positional.count
            )
    for option in command.options:
        if option.kind == FLAG:
            parser.add_argument(option.flag, action="store_true", help=option.help)
        else:
            parser.add_argument(
                option.flag,
                action="append" if option.kind == REPEATED else "store",
                type=int if option.kind == NUMBER else str,
                default=option.default,
                choices=option.choices,
                metavar=option.metavar,
                help=option.help,
            )
    return parser


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 96)


def _top_usage() -> str:
    return f"usage: {PROG} [-h] [--version] {{{','.join(COMMANDS)}}} ...\n"


def _top_help() -> str:
    lines = [
        _top_usage(),
        "Verified diffs of recorded AI pipeline runs: what changed, where it started, what may be why.\n",
        "commands:",
    ]
    lines += [f"  {name:<8} {command.summary}" for name, command in COMMANDS.items()]
    lines += [
        "",
        "options:",
        "  -h, --help     show this help; `stratadiff COMMAND --help` shows a command's",
        "  -V, --version  show the versions of stratadiff, Python and the Unicode tables",
        "",
        "examples:",
        "  stratadiff demo",
        "  stratadiff diff runs/monday runs/tuesday --text",
        "  stratadiff verify runs/monday",
        "",
    ]
    return "\n".join(lines)


def _version() -> str:
    import sys

    from stratadiff import __version__

    python = ".".join(str(part) for part in sys.version_info[:3])
    return f"{PROG} {__version__} (Python {python}, Unicode tables {UNICODE_VERSION})\n"
