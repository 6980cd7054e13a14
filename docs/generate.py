"""Write the reference pages that repeat what the code says: ``python docs/generate.py``.

The pages are kept in the repository, so that they can be read there; a test checks that they are up to date.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import re

from stratadiff import limits
from stratadiff.cli import commands, exit_codes

REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference")

GROUPS = {
    commands.RUNS: "option for recorded runs",
    commands.TRACES: "option for agent traces",
    commands.BOTH: "option for both",
}

NOTICE = "<!-- Written by docs/generate.py from the code. Do not edit. -->\n"


def cli_page() -> str:
    """Return the page of commands and options, from the tables in ``stratadiff.cli.commands``."""
    parts = [
        NOTICE,
        "# Command line\n",
        "`stratadiff COMMAND …`, or `python -m stratadiff COMMAND …`. `stratadiff --help` lists the "
        "commands, `stratadiff COMMAND --help` the options of one, `stratadiff --version` the version. "
        "The [exit codes](exit-codes.md) have a page of their own.\n",
        "Results go to standard output and messages to standard error. No file is written unless "
        "`--out` or `--output-json` asks for it (`demo` writes its examples).\n",
    ]
    for name, command in commands.COMMANDS.items():
        usage = f"stratadiff {name} [options] " + " ".join(map(_positional, command.positionals))
        parts += [f"## stratadiff {name}\n", f"```text\n{usage}\n```\n", command.description + "\n"]
        rows = [(_positional(item), item.help) for item in command.positionals]
        parts.append(_table(("argument", "meaning"), rows))
        for group, title in GROUPS.items():
            rows = [(_option(item), item.help) for item in command.options if item.group == group]
            if rows:
                parts.append(_table((title if _is_grouped(command) else "option", "meaning"), rows))
        examples = re.search(r"examples:\n((?:  .*\n)+)", command.epilog)
        if examples:
            lines = [line.strip() for line in examples[1].splitlines()]
            parts.append("Examples:\n\n```console\n" + "".join(f"$ {line}\n" for line in lines) + "```\n")
    return "\n".join(parts)


def _is_grouped(command: commands.Command) -> bool:
    return any(item.group != commands.BOTH for item in command.options)


def _positional(item: commands.Positional) -> str:
    name = item.metavar or item.name.upper()
    return {None: name, "?": f"[{name}]", "+": f"{name} [{name} ...]"}[item.count]


def _option(item: commands.Option) -> str:
    return item.flag if item.kind == commands.FLAG else f"{item.flag} {item.metavar}"


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [f"| `{left}` | {right.replace('|', chr(92) + '|')} |" for left, right in rows]
    return "\n".join(lines) + "\n"


def limits_page() -> str:
    """Return the page of limits: name, value and the sentence written below each in ``stratadiff.limits``."""
    body = ast.parse(inspect.getsource(limits)).body
    rows = []
    for statement, after in itertools.pairwise(body):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            assert isinstance(target, ast.Name)
            value = getattr(limits, target.id)
            rows.append(f"| `{target.id}` | {value:,} | {_sentence(ast.literal_eval(after.value))} |")
    return "\n".join(
        [
            NOTICE,
            "# Limits\n",
            "Every limit is a fixed number in `stratadiff.limits`. None depends on the machine, and a "
            "result that a limit changed says so in its notes or its error.\n",
            "| name | value | meaning |",
            "|---|---:|---|",
            *rows,
            "",
        ]
    )


def _sentence(text: str) -> str:
    """Turn a docstring into one Markdown line, without the marks that point into the specification."""
    text = re.sub(
        r" \((?:textdiff|comparison|verification|run-records|agentlog|levels|bundles) §[^)]*\)", "", text
    )
    return " ".join(text.replace("``", "`").split())


def exit_codes_page() -> str:
    """Return the page of exit codes, from the table in ``stratadiff.cli.exit_codes``."""
    text = inspect.getdoc(exit_codes) or ""
    first, second, *_ = text.split("\n\n")
    rows = re.findall(r"^(\d+) +(\S.*(?:\n {6}\S.*)*)$", text, re.MULTILINE)
    table = [f"| {code} | {_sentence(meaning).replace('|', chr(92) + '|')} |" for code, meaning in rows]
    return "\n".join(
        [
            NOTICE,
            "# Exit codes\n",
            _sentence(first) + " " + _sentence(second) + "\n",
            "| code | meaning |",
            "|---:|---|",
            *table,
            "",
            "An envelope and its exit code depend on the runs alone: `--text`, `--json`, `--algorithm` and "
            "the corpus trace never change them. `--fail-on` looks at the severities of the nine axes and of "
            "policy regressions, among the levels that were compared; sessions do not count.\n",
        ]
    )


PAGES = {"cli": cli_page, "limits": limits_page, "exit-codes": exit_codes_page}


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        with open(os.path.join(REFERENCE, f"{name}.md"), "w", encoding="utf-8", newline="\n") as file:
            file.write(page())


if __name__ == "__main__":
    main()
