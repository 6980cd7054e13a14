"""The two readers of a command line.

A well-formed command line is read by :func:`_read_plain`, a few string comparisons: importing argparse (and
with it ``re``, ``enum`` and ``gettext``) costs more than comparing two small runs. Whatever that reader does
not understand at once (``--opt=value``, ``-h``, any mistake) goes to argparse, which knows the
same tables, so help, usage and every error message are argparse's own.
"""

from __future__ import annotations

from stratadiff.cli.commands import BOTH, COMMANDS, FLAG, NUMBER, REPEATED, RUNS, TRACES
from stratadiff.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from stratadiff.cli.commands import Command

PROG = "stratadiff"
UNICODE_VERSION = "15.0"
"""Of the tables in ``csrc``, whatever the interpreter's own are."""


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
    try:
        return _parsed(name, command, argv)
    except UsageError as error:
        from stratadiff.traces.kinds import SUFFIXES

        if any(word.endswith(SUFFIXES) for word in argv):  # of traces an error is one line (levels §7)
            raise UsageError(f"{error.message} (see {PROG} {name} --help)") from None
        raise


def _parsed(name: str, command: Command, argv: Sequence[str]) -> Arguments:
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
    groups: dict[str, argparse._ActionsContainer] = {BOTH: parser}
    if any(option.group != BOTH for option in command.options):
        groups = {
            RUNS: parser.add_argument_group("for recorded runs"),
            TRACES: parser.add_argument_group("for agent traces"),
            BOTH: parser.add_argument_group("for both"),
        }
    for option in command.options:
        group = groups[option.group]
        if option.kind == FLAG:
            group.add_argument(option.flag, action="store_true", help=option.help)
        else:
            group.add_argument(
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
        "Diffs of recorded AI pipeline runs (verified: what changed, where it started, what may be why)\n"
        "and of agent traces (at six levels, from the whole trace down to tokens and policy rules).\n",
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
        "  stratadiff diff monday.agentlog tuesday.agentlog --align",
        "  stratadiff verify runs/monday",
        "",
    ]
    return "\n".join(lines)


def _version() -> str:
    import sys
    from unicodedata import unidata_version

    from stratadiff import __version__

    python = ".".join(str(part) for part in sys.version_info[:3])
    tables = f"Unicode tables {UNICODE_VERSION}, for traces Python's {unidata_version}"
    return f"{PROG} {__version__} (Python {python}, {tables})\n"
