"""``stratadiff diff`` of traces that cannot be used: one line, exit code 2, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stratadiff
from cli.command import PROGRAM, run
from cli.recorded import enveloped, record_pair, write
from traces.records import response, use

GOOD = [response("hello", use("look", q=1)), response("bye")]

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and file names of POSIX systems")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two good traces and a recorded run."""
    record_pair(tmp_path, GOOD, GOOD)
    return tmp_path


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def refused(folder: Path, *arguments: str) -> str:
    """Expect exit code 2, no output, no file, and one line; return the line."""
    before = sorted(path.name for path in folder.iterdir())
    answer = run(["diff", *arguments, "--output-json", "report.json", "--json"], folder)
    assert (answer.code, answer.output) == (2, b"")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert answer.error.endswith("\n")
    assert answer.error.count("\n") == 1
    return answer.error.removeprefix("stratadiff: ").rstrip("\n")


BROKEN = {
    "json": (b'{"version":"0.1"\n', "json"),
    "text after": (b'{"version":"0.1"} x\n', "json"),
    "not a number": (b'{"version":"0.1","id":"","kind":"metadata","ts":"","payload":NaN}\n', "json"),
    "utf8": (b'"\xff"\n', "utf8"),
    "array": (b"[1]\n", "envelope"),
    "no payload": (b'{"version":"0.1","id":"x","kind":"metadata","ts":"y"}\n', "envelope"),
    "kind": (b'{"version":"0.1","id":"x","kind":1,"ts":"y","payload":1}\n', "envelope"),
    "twice": (b'{"version":"0.1","id":"x","kind":"m","kind":"m","ts":"y","payload":1}\n', "envelope"),
    "blanks": (b" \t\n", "json"),
    "deep": (b"[" * 200 + b"\n", "depth"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_that_is_no_record(folder: Path, name: str) -> None:
    line, code = BROKEN[name]
    first, *rest = lines_of(folder / "b.agentlog")
    (folder / "b.agentlog").write_bytes(b"".join([first, b"\n", line, *rest]))
    assert refused(folder, "a.agentlog", "b.agentlog").startswith("b.agentlog:3: ")
    answer = run(["diff", "a.agentlog", "b.agentlog", "--tolerant"], folder)
    assert answer.code == 0
    if name == "twice":  # such a line is kept
        assert [line.split(": ")[2] for line in answer.error.splitlines()] == [
            "duplicate-member",
            "unknown-kind",
        ]
    else:
        assert answer.error.startswith(f"stratadiff: b.agentlog:3: {code}: ")
        assert answer.error.count("\n") == 1
    assert answer.output == run(["diff", "a.agentlog", "a.agentlog"], folder).output


TORN = {
    "at the end": lambda lines: b"".join(lines) + b'{"version":"0.1","id":"sh',
    "inside a character": lambda lines: b"".join(lines) + '{"version":"é'.encode()[:-1],
    "with a record fused to it": lambda lines: b"".join([*lines[:1], b'{"version":"0.1","id":"sh', *lines]),
    "in the middle": lambda lines: b"".join([lines[0], lines[1][:40] + b"\n", *lines[1:]]),
}


@pytest.mark.parametrize("name", TORN)
def test_u16_a_torn_line(folder: Path, name: str) -> None:
    lines = lines_of(folder / "b.agentlog")
    (folder / "b.agentlog").write_bytes(TORN[name](lines))
    line = {"at the end": 4, "inside a character": 4}.get(name, 2)
    assert refused(folder, "a.agentlog", "b.agentlog").startswith(f"b.agentlog:{line}: ")
    answer = run(["diff", "a.agentlog", "b.agentlog", "--tolerant"], folder)
    assert answer.code == 0
    assert answer.error.startswith(f"stratadiff: b.agentlog:{line}: ")
    assert answer.error.count("\n") == 1
    assert b"Trace diff, 2 response pair(s)" in answer.output


def test_u17_a_byte_order_mark_is_named_and_hides_nothing(folder: Path) -> None:
    data = (folder / "b.agentlog").read_bytes()
    (folder / "b.agentlog").write_bytes(b"\xef\xbb\xbf" + data)
    answer = run(["diff", "a.agentlog", "b.agentlog"], folder)
    assert answer.code == 0
    assert answer.error.startswith("stratadiff: b.agentlog:1: bom: ")
    assert answer.output == run(["diff", "a.agentlog", "a.agentlog"], folder).output


def test_remarks_are_one_line_each_and_bounded(folder: Path) -> None:
    records = enveloped(GOOD)
    extra = [{**records[0], "kind": f"kind-{number}\x1b[2J", "parent": None} for number in range(60)]
    stratadiff.write_trace(folder / "b.agentlog", records + extra)
    answer = run(["diff", "a.agentlog", "b.agentlog"], folder)
    assert answer.code == 0
    lines = answer.error.splitlines()
    assert len(lines) == 21
    assert all(line.startswith("stratadiff: b.agentlog:") and "unknown-kind" in line for line in lines[:20])
    assert lines[20] == "stratadiff: b.agentlog: 40 more remarks"
    assert "\x1b" not in answer.error


def test_cache_fields_without_a_price_are_said_once(folder: Path) -> None:
    usage = {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 9}
    write(folder / "b.agentlog", [response("a", usage=usage), response("b", usage=usage)])
    answer = run(["diff", "a.agentlog", "b.agentlog"], folder)
    assert answer.error.startswith("stratadiff: b.agentlog:2: unpriced-cache-fields: ")
    assert answer.error.count("\n") == 1


def test_u20_counts_that_are_not_there_are_counted(folder: Path) -> None:
    whole = {"input_tokens": 10, "output_tokens": 5, "thinking_tokens": 0}
    odd = [whole, None, {}, {**whole, "output_tokens": "5"}, {**whole, "input_tokens": None}]
    write(folder / "a.agentlog", [response("x", usage=whole) for _ in odd])
    write(folder / "b.agentlog", [response("x", usage=usage) for usage in odd])
    answer = run(["diff", "a.agentlog", "b.agentlog", "--token-diff"], folder)
    assert answer.code == 0
    assert answer.error == (
        "stratadiff: b.agentlog: token counts that are not there count as 0: input_tokens in 3, "
        "output_tokens in 3, thinking_tokens in 2 of 5 responses\n"
    )
    assert run(["diff", "a.agentlog", "b.agentlog"], folder).error == ""
    assert "linear interpolation" in run(["diff", "--help"]).output.decode()


def test_missing_and_unreadable_traces(folder: Path) -> None:
    assert refused(folder, "a.agentlog", "nowhere.agentlog") == "nowhere.agentlog: no such file"
    assert refused(folder, "nowhere", "a.agentlog") == "nowhere: no such file"
    assert refused(folder, "nowhere", "nothing", "--align") == "nowhere: no such file"
    assert refused(folder, "a.agentlog", "") == "the path is empty"
    (folder / "damaged.agentlog.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    assert "damaged.agentlog.gz" in refused(folder, "a.agentlog", "damaged.agentlog.gz")


@posix
def test_what_is_no_regular_file(folder: Path) -> None:
    os.mkfifo(folder / "fifo.agentlog")
    (folder / "link.agentlog").symlink_to("nowhere")
    assert refused(folder, "a.agentlog", "fifo.agentlog") == "fifo.agentlog: is a fifo, not a file"
    assert refused(folder, "link.agentlog", "a.agentlog") == "link.agentlog: no such file"
    assert "not a file" in refused(folder, "a.agentlog", "b.agentlog", "--policy", "fifo.agentlog")
    assert "is an agent trace and . is not" in refused(folder, "a.agentlog", ".")


def test_empty_traces_are_traces(folder: Path) -> None:
    (folder / "a.agentlog").write_bytes(b"")
    (folder / "b.agentlog").write_bytes(b"\n\r\n")
    answer = run(["diff", "a.agentlog", "b.agentlog", "--hierarchical", "--token-diff", "--spans"], folder)
    assert answer.code == 0
    assert [line.split(":")[1] for line in answer.error.splitlines()] == [" a.agentlog", " b.agentlog"]
    assert answer.error.count("nothing of it can be compared") == 2
    assert answer.output.startswith(b"Trace diff, 0 response pair(s)\nbaseline : \ncandidate: \n\naxis ")
    assert answer.output.endswith(b"\n\ntoken-level diff: no paired chat_response records\n")


def test_a_run_and_a_trace_are_not_compared(folder: Path) -> None:
    monday = stratadiff.demo_runs()[0]
    for pair in ((monday, "a.agentlog"), ("a.agentlog", monday)):
        assert refused(folder, *pair) == (
            f"a.agentlog is an agent trace and {monday} is not; compare two traces, or two recorded runs"
        )


FOR_RUNS = "only for recorded runs, and these are agent traces"
LEVELS = "(choose from trace, session, turn, span, token, policy)"
USAGE = {
    "--text": f"--text: {FOR_RUNS}",
    "--stage x --strict --out o": f"--stage, --strict, --out: {FOR_RUNS}",
    "--context 0": f"--context: {FOR_RUNS}",
    "--algorithm myers": f"--algorithm: {FOR_RUNS}",
    "--only traces": f"argument --only: 'traces' is not a level {LEVELS}",
    "--only trace,": f"argument --only: '' is not a level {LEVELS}",
    "--only policy": "--only policy needs --policy FILE",
    "--seed x": "argument --seed: invalid int value: 'x' (see stratadiff diff --help)",
    "--seed": "argument --seed: expected one argument (see stratadiff diff --help)",
    "--pairs": "unrecognized arguments: --pairs (see stratadiff diff --help)",
    "--output-json b.agentlog": "--output-json would write over an input: b.agentlog",
    "--output-json ./p.json --policy p.json": "--output-json would write over an input: ./p.json",
}


@pytest.mark.parametrize("options", USAGE)
def test_wrong_usage_is_one_line(folder: Path, options: str) -> None:
    (folder / "p.json").write_text("[]")
    before = (folder / "b.agentlog").read_bytes()
    answer = run(["diff", "a.agentlog", "b.agentlog", *options.split()], folder)
    assert answer == (2, b"", f"stratadiff diff: error: {USAGE[options]}\n")
    assert (folder / "b.agentlog").read_bytes() == before


@pytest.mark.parametrize("option", ["--fail-on", "--refusals", "--split"])
def test_wrong_choices_name_the_choices(folder: Path, option: str) -> None:
    answer = run(["diff", "a.agentlog", "b.agentlog", option, "odd"], folder)
    assert (answer.code, answer.output, answer.error.count("\n")) == (2, b"", 1)
    assert f"argument {option}: invalid choice: 'odd' (choose from" in answer.error


TRACE_OPTIONS = (
    "--hierarchical", "--token-diff", "--policy p", "--spans", "--only trace", "--pricing p", "--seed 0",
    "--align", "--semantic-text-only", "--refusals strict", "--judge j", "--split requests", "--tolerant",
    "--fail-on never", "--output-json o",
)  # fmt: skip


@pytest.mark.parametrize("option", TRACE_OPTIONS)
def test_options_of_traces_are_refused_for_runs(tmp_path: Path, option: str) -> None:
    answer = run(["diff", *stratadiff.demo_runs(), *option.split()], tmp_path)
    flag = option.split()[0]
    message = f"{flag}: only for agent traces, and these are recorded runs"
    assert answer == (2, b"", f"stratadiff diff: error: {message}\n")
    assert list(tmp_path.iterdir()) == []


POLICIES = {
    "missing": (None, ": "),
    "not YAML": ("rules: [", ""),
    "no rules": ("a: 1", "`rules` is missing"),
    "kind": ("- {kind: must_fly, params: {}}", "rule #0: "),
    "severity": ("- {kind: no_call, params: {tool: x}, severity: bad}", "severity"),
    "param": ("- {id: few, kind: max_turns, params: {limit: true}}", "rule #0 ('few'): "),
    "repeated key": ("- kind: no_call\n  kind: no_call\n  params: {tool: x}", "line 2"),
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("only", [[], ["--only", "turn"]], ids=["shown", "not shown"])
def test_a_policy_that_cannot_be_used(folder: Path, name: str, only: list[str]) -> None:
    text, words = POLICIES[name]
    if text is not None:
        (folder / "policy.yaml").write_text(text)
    line = refused(folder, "a.agentlog", "b.agentlog", "--policy", "policy.yaml", *only)
    assert line.startswith("policy.yaml: ")
    assert words in line


def test_warnings_of_a_policy_are_said(folder: Path) -> None:
    (folder / "p.yaml").write_text("- {id: x, kind: no_call, params: {tool: y}, note: hm}\n")
    answer = run(["diff", "a.agentlog", "b.agentlog", "--policy", "p.yaml"], folder)
    assert answer.code == 0
    assert answer.error.startswith("stratadiff: p.yaml: rule #0 ('x'): ")
    assert answer.error.count("\n") == 1


PRICES = {
    "missing": None,
    "not JSON": "{",
    "list": "[1]",
    "negative": '{"m": [-1, 1]}',
    "three rates": '{"m": [1, 1, 1]}',
    "unknown rate": '{"m": {"input": 1, "inptu": 2}}',
    "infinite": '{"m": {"input": 1e999}}',
    "text": '{"m": {"input": "1"}}',
}


@pytest.mark.parametrize("name", PRICES)
def test_prices_that_cannot_be_used(folder: Path, name: str) -> None:
    text = PRICES[name]
    if text is not None:
        (folder / "prices.json").write_text(text)
    line = refused(folder, "a.agentlog", "b.agentlog", "--pricing", "prices.json")
    assert line.startswith("prices.json: ")


SCORES = {
    "missing": None,
    "object": '{"scores": [1, 1]}',
    "too high": "[0.5, 1.5]",
    "text": '[0.5, "1"]',
    "boolean": "[0.5, true]",
    "too few": "[0.5]",
    "too many": "[0.5, 0.5, 0.5]",
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_that_cannot_be_used(folder: Path, name: str) -> None:
    text = SCORES[name]
    if text is not None:
        (folder / "scores.json").write_text(text)
    assert refused(folder, "a.agentlog", "b.agentlog", "--judge", "scores.json").startswith("scores.json: ")


@posix
def test_a_report_that_cannot_be_written(folder: Path) -> None:
    answer = run(["diff", "a.agentlog", "b.agentlog", "--output-json", "no/such/place.json"], folder)
    assert (answer.code, answer.output) == (74, b"")
    assert answer.error.startswith("stratadiff: no/such/place.json: ")
    assert answer.error.count("\n") == 1


def test_the_report_replaces_an_old_one_whole(folder: Path) -> None:
    (folder / "report.json").write_text("old")
    assert run(["diff", "a.agentlog", "b.agentlog", "--output-json", "report.json"], folder).code == 0
    assert json.loads((folder / "report.json").read_bytes())["pair_count"] == 2
    assert sorted(path.name for path in folder.iterdir()) == ["a.agentlog", "b.agentlog", "report.json"]


HOSTILE = "\x1b]0;T\x07\r\n\x9b2J\u202e\u2028"
SHOWN = "\\x1b]0;T\\x07\\x0d\\x0a\\x9b2J\\u202e\\u2028"


def assert_safe(text: str) -> None:
    assert {character for character in text if not character.isprintable()} <= {"\n"}


def test_u08_text_of_traces_and_policies_does_not_drive_the_terminal(tmp_path: Path) -> None:
    """Tool names, argument names, ids, stop reasons, texts and rules, through every part."""
    old = [
        response(f"one {HOSTILE}", use(f"tool {HOSTILE}", HOSTILE, **{f"key {HOSTILE}": f"old {HOSTILE}"})),
        response("same", use(f"t {HOSTILE}")),
        response("end", stop=f"stop {HOSTILE}"),
    ]
    new = [
        response(f"two {HOSTILE}", use(f"tool {HOSTILE}", HOSTILE, **{f"key {HOSTILE}": f"new {HOSTILE}"})),
        response("same", use(f"u {HOSTILE}"), {"type": f"odd {HOSTILE}"}),
        response("end", stop="other"),
    ]
    write(tmp_path / "a.agentlog", old, f"trace {HOSTILE}")
    write(tmp_path / "b.agentlog", new, f"trace {HOSTILE} b")
    rules = [
        {"id": f"rule {HOSTILE}", "kind": "no_call", "params": {"tool": f"u {HOSTILE}"}, f"odd {HOSTILE}": 1},
        {"id": f"text {HOSTILE}", "kind": "forbidden_text", "params": {"text": f"two {HOSTILE}"}},
    ]
    (tmp_path / "policy.json").write_text(json.dumps(rules))
    options = ["--hierarchical", "--token-diff", "--spans", "--policy", "policy.json"]
    answer = run(["diff", "a.agentlog", "b.agentlog", *options], tmp_path, terminal=True)
    assert answer.code == 0
    text = answer.output.decode()
    for code in ("31", "32", "33", "0"):
        text = text.replace(f"\x1b[{code}m", "")
    assert_safe(text)
    assert_safe(answer.error)
    for shown in (f"trace {SHOWN}", f"tool {SHOWN}", f"rule {SHOWN}", f"odd {SHOWN}"):
        assert shown in text, shown
    data = json.loads(run(["diff", "a.agentlog", "b.agentlog", *options, "--json"], tmp_path).output)
    assert data["baseline_trace_id"] == f"trace {HOSTILE}"
    assert data["spans"][0]["changes"][0]["baseline"]["text"] == f"one {HOSTILE}"


@posix
def test_u08_paths_do_not_drive_the_terminal(tmp_path: Path) -> None:
    name = os.fsdecode(b"\x1b[2J \xff\n.agentlog")
    write(tmp_path / "good.agentlog", GOOD)
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (tmp_path / "good.agentlog").read_bytes())
    for argv in (
        ["diff", name, name],
        ["diff", name, f"no {name}"],
        ["diff", name, str(tmp_path)],
        ["diff", name, name, "--policy", name],
        ["diff", name, name, "--only", name],
        ["diff", name, name, "--output-json", f"{name}/x"],
        ["diff", name, name, "--output-json", name],
        ["verify", name, name, f"no {name}"],
    ):
        answer = run(argv, tmp_path)
        assert answer.code in (0, 2, 74), argv
        assert_safe(answer.output.decode())
        assert_safe(answer.error)
        assert "\\x1b[2J" in answer.error or "\\u001b[2J" in answer.error, argv


@posix
def test_u24_a_reader_that_went_away_is_no_news(folder: Path) -> None:
    command = f"'{sys.executable}' -c '{PROGRAM}' diff a.agentlog b.agentlog --token-diff | true"
    result = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], cwd=folder, capture_output=True, check=False
    )
    assert result.stdout in (b"141\n", b"0\n")
    assert b"Traceback" not in result.stderr


INTERRUPTED = """
import sys, time
from stratadiff.cli import diff_traces
from stratadiff.cli.main import main
started = sys.argv.pop()
def long(*arguments, **options):
    open(started, "w").close()
    time.sleep(60)
diff_traces.compare_traces = long
sys.exit(main())
"""


@posix
def test_u24_interrupted_in_the_middle(folder: Path) -> None:
    fifo = folder / "started"
    os.mkfifo(fifo)
    argv = ["diff", "a.agentlog", "b.agentlog", "--output-json", "report.json", str(fifo)]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *argv], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        with fifo.open("rb"):
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output, error) == (130, b"", b"")
    assert not (folder / "report.json").exists()


@posix
def test_u24_standard_output_closed(folder: Path) -> None:
    command = f"'{sys.executable}' -c '{PROGRAM}' diff a.agentlog b.agentlog"
    for options, code in (("", 74), ("--quiet", 0), ("--quiet --fail-on minor", 0)):
        result = subprocess.run(
            ["bash", "-c", f"{command} {options} >&-"], cwd=folder, capture_output=True, check=False
        )
        assert result.returncode == code, options
        assert result.stderr.count(b"\n") == (code != 0)


def test_remarks_about_one_file_given_twice_are_said_once(folder: Path) -> None:
    (folder / "a.agentlog").write_bytes(b"\xef\xbb\xbf" + (folder / "a.agentlog").read_bytes())
    answer = run(["diff", "a.agentlog", "a.agentlog", "--token-diff"], folder)
    assert [line.split(": ")[1:3] for line in answer.error.splitlines()] == [
        ["a.agentlog:1", "bom"],
        ["a.agentlog", "token counts that are not there count as 0"],
    ]


def test_a_file_without_a_record_is_no_trace_however_tolerant(folder: Path) -> None:
    (folder / "utf16.agentlog").write_bytes('{"version":"0.1"}\n'.encode("utf-16"))
    (folder / "good.agentlog").write_bytes(b"")
    answer = run(["diff", "good.agentlog", "utf16.agentlog", "--tolerant", "--output-json", "o.json"], folder)
    assert (answer.code, answer.output) == (2, b"")
    assert answer.error.startswith("stratadiff: utf16.agentlog: no line of it is a record; line 1: ")
    assert not (folder / "o.json").exists()


def test_remarks_about_a_policy_are_bounded(folder: Path) -> None:
    rule = {"id": "same", "kind": "no_call", "params": {"tool": "x"}}
    (folder / "many.json").write_text(json.dumps({"rules": [rule] * 200}))
    (folder / "a.agentlog").write_bytes(b"")
    answer = run(["diff", "a.agentlog", "a.agentlog", "--policy", "many.json"], folder)
    assert answer.code == 0
    assert len(answer.error.splitlines()) < 30
    assert "more remarks" in answer.error
