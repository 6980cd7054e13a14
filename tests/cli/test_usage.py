"""Wrong usage: every message, the order of the checks, exit code 2, no output (comparison §7)."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path

import pytest

import stratadiff
from cli.command import run, run_process
from stratadiff.cli import parser
from stratadiff.cli.commands import COMMANDS
from stratadiff.cli.parser import ParserStop, parse
from stratadiff.errors import UsageError

FOLLOW_BOTH = "--follow-corpus and --no-follow can't be given together"
FOLLOW_TEXT = "--follow-corpus is for diff without --text; --text follows a changed corpus link already"

MESSAGES = {
    "--follow-corpus --no-follow": FOLLOW_BOTH,
    "--follow-corpus --text": FOLLOW_TEXT,
    "--stage x": "--stage needs --text",
    "--all": "--all needs --text",
    "--context 3": "--context needs --text",
    "--max-lines 9": "--max-lines needs --text",
    "--no-color": "--no-color needs --text",
    "--json": "--json needs --text",
    "--no-follow": "--no-follow needs --text",
    "--runs-root r": "--runs-root needs --text",
    "--runs-root r --no-follow --json --no-color --max-lines 1 --context 0 --all --stage x": (
        "--stage, --all, --context, --max-lines, --no-color, --json, --no-follow, --runs-root needs --text"
    ),
    "--follow-corpus --runs-root r --json": "--json needs --text",
    "--text --context -1": "--context must be 0 or more",
    "--text --context=-7": "--context must be 0 or more",
    "--text --max-lines 0": "--max-lines must be at least 1",
    "--text --context x": "argument --context: invalid int value: 'x'",
    "--text --max-lines 1.5": "argument --max-lines: invalid int value: '1.5'",
    "--text --context": "argument --context: expected one argument",
    "--text --stage": "argument --stage: expected one argument",
    "--text=yes": "argument --text: ignored explicit argument 'yes'",
    "--tex": "unrecognized arguments: --tex",
    "c": "unrecognized arguments: c",
    # the order of the checks
    "--follow-corpus --no-follow --text --context -1": FOLLOW_BOTH,
    "--follow-corpus --text --context -1": FOLLOW_TEXT,
    "--context -1 --max-lines 0": "--context, --max-lines needs --text",
    "--text --context -1 --max-lines 0": "--context must be 0 or more",
}


@pytest.mark.parametrize(("options", "message"), MESSAGES.items(), ids=MESSAGES)
def test_wrong_usage_of_diff(options: str, message: str) -> None:
    answer = run(["diff", "a", "b", *options.split()])
    assert answer.code == 2
    assert answer.output == b""
    lines = answer.error.splitlines()
    assert lines[0].startswith("usage: stratadiff diff [-h] [--text] ")
    assert lines[-1] == f"stratadiff diff: error: {message}"


def test_wrong_choice_names_the_choices() -> None:
    error = run(["diff", "a", "b", "--algorithm", "patience"]).error
    assert "argument --algorithm: invalid choice: 'patience' (choose from" in error


@pytest.mark.parametrize(
    ("argv", "missing"), [(["diff"], "baseline, candidate"), (["diff", "a"], "candidate")]
)
def test_missing_arguments(argv: list[str], missing: str) -> None:
    answer = run(argv)
    assert (answer.code, answer.output) == (2, b"")
    assert answer.error.endswith(f"stratadiff diff: error: the following arguments are required: {missing}\n")


def test_verify_needs_a_run() -> None:
    answer = run(["verify"])
    assert answer.code == 2
    assert answer.error.endswith("stratadiff verify: error: the following arguments are required: RUN\n")


def test_no_command_and_unknown_commands() -> None:
    answer = run([])
    assert (answer.code, answer.output) == (2, b"")
    assert answer.error.endswith("stratadiff: error: a command is needed: diff, verify, demo\n")
    assert "'dif' is not a stratadiff command (choose from diff, verify, demo)" in run(["dif", "a"]).error
    assert "'--text' is not a stratadiff option" in run(["--text"]).error


def test_u08_hostile_arguments_are_escaped_in_messages() -> None:
    hostile = "\x1b]0;T\x07\r\n\x9b2J\u202e"
    for argv in (["diff", "a", "b", hostile], [hostile], ["diff", "a", "b", "--text", "--context", hostile]):
        answer = run(argv)
        assert answer.code == 2
        assert not any(character in answer.error for character in "\x1b\x07\r\x9b\u202e")
        assert len([line for line in answer.error.splitlines() if "error:" in line]) == 1


def test_a_plain_command_line_is_read_without_argparse() -> None:
    program = (
        "import sys; from stratadiff.cli.parser import parse\n"
        "parse(sys.argv[1:]); print('argparse' in sys.modules)"
    )
    argv = ["diff", "a", "b", "--text", "--json", "--context", "2", "--stage", "x"]
    result = subprocess.run(
        [sys.executable, "-c", program, *argv], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"


PLAIN = (
    ["diff", "a", "b"],
    ["diff", "--text", "a", "--stage", "x", "b", "--stage", "y", "--context", "007", "--quiet"],
    [
        "diff",
        "a",
        "--algorithm",
        "gestalt",
        "b",
        "--strict",
        "--out",
        "o",
        "--runs-root",
        "r",
        "--max-lines",
        "5",
    ],
    ["verify", "a"],
    ["verify", "a", "--json", "b", "--strict", "c"],
    ["demo"],
    ["demo", "folder"],
)


@pytest.mark.parametrize("argv", PLAIN, ids=" ".join)
def test_both_readers_of_a_command_line_agree(argv: list[str]) -> None:
    name, rest = argv[0], argv[1:]
    plain = parser._read_plain(name, COMMANDS[name], rest)
    assert plain is not None
    assert plain.__dict__ == parser._read_argparse(name, COMMANDS[name], rest).__dict__


NOT_PLAIN = (
    ["diff", "a"],
    ["diff", "a", "b", "c"],
    ["diff", "a", "b", "--context", "-1"],
    ["diff", "a", "b", "--context", "٣"],
    ["diff", "a", "b", "--context", "12345678901"],
    ["diff", "a", "b", "--context"],
    ["diff", "a", "b", "--algorithm", "x"],
    ["diff", "a", "b", "--stage=x"],
    ["diff", "--", "-a", "b"],
    ["diff", "-h"],
    ["verify"],
)


@pytest.mark.parametrize("argv", NOT_PLAIN, ids=" ".join)
def test_anything_else_is_left_to_argparse(argv: list[str]) -> None:
    assert parser._read_plain(argv[0], COMMANDS[argv[0]], argv[1:]) is None


def test_double_dash_ends_the_options() -> None:
    parsed = parse(["diff", "--text", "--", "-a", "--text"])
    assert (parsed.baseline, parsed.candidate, parsed.text) == ("-a", "--text", True)


@pytest.mark.parametrize(
    "argv", [["-h"], ["--help"], ["help"], ["diff", "-h"], ["verify", "--help"], ["demo", "-h"]]
)
def test_help_is_a_result_and_has_examples(argv: list[str]) -> None:
    answer = run(argv)
    assert (answer.code, answer.error) == (0, "")
    text = answer.output.decode()
    assert text.startswith("usage: stratadiff")
    assert "\nexamples:\n" in text
    assert all(len(line) <= 96 for line in text.splitlines())


def test_help_of_diff_names_every_option() -> None:
    text = run(["diff", "--help"]).output.decode()
    assert [option.flag for option in COMMANDS["diff"].options if option.flag not in text] == []


def test_help_wins_over_missing_arguments_only_when_asked() -> None:
    with pytest.raises(ParserStop):
        parse(["diff", "--text", "-h"])
    with pytest.raises(UsageError):
        parse(["diff", "--text"])


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version_names_package_python_and_unicode(option: str) -> None:
    answer = run([option])
    python = ".".join(map(str, sys.version_info[:3]))
    assert answer == (
        0,
        f"stratadiff {stratadiff.__version__} (Python {python}, Unicode tables 15.0, "
        f"for traces Python's {unicodedata.unidata_version})\n".encode(),
        "",
    )


def test_version_is_the_projects() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert stratadiff.__version__ == project["project"]["version"]


def test_module_runs_as_the_command_does() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "stratadiff", "--version"], capture_output=True, check=True, timeout=60
    )
    assert result.stdout == run_process(["--version"]).output
