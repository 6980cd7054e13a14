"""``stratadiff diff``: input kinds, report folder, corpus trace without text, what goes where."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import stratadiff
from cli.command import run
from run_builder import RunBuilder
from runs.recording import Stage, digest, record, record_pair

Json = Any

GOLDEN = Path(__file__).parents[1] / "data" / "textdiff" / "cases"
TAKES = "stratadiff compares run folders, their MANIFEST.json, single receipt files, and agent traces"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Return a folder with a copy of the demonstration runs."""
    shutil.copytree(Path(stratadiff.demo_runs()[0]).parent, tmp_path / "demo")
    return tmp_path / "demo"


# What an input can be


def test_a_manifest_stands_for_its_folder(demo: Path) -> None:
    folder = run(["diff", "monday", "tuesday", "--text"], demo)
    manifest = run(["diff", "monday/MANIFEST.json", "./tuesday", "--text"], demo)
    assert manifest.code == folder.code == 1
    renamed = manifest.output.replace(b"monday/MANIFEST.json", b"monday").replace(b"./tuesday", b"tuesday")
    assert renamed == folder.output


def test_receipts_are_compared_without_text(tmp_path: Path) -> None:
    a, b = record_pair(tmp_path, b"1", b"2")
    receipts = [f"{path}/receipts/01-answer.json" for path in (a, b)]
    answer = run(["diff", *receipts, "--text"])
    assert answer.code == 1
    assert answer.output.startswith(
        b"receipt records: no text is shown; --text reads the outputs of run folders\n"
    )
    mixed = run(["diff", receipts[0], b])
    assert mixed.code == 2
    assert "diff: not comparable — input kinds differ: receipt and run\n" in mixed.output.decode()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bundle", f"a comparison bundle (comparison.json) is not supported; {TAKES}"),
        ("bundle/comparison.json", f"a comparison bundle (comparison.json) is not supported; {TAKES}"),
        ("empty", "neither MANIFEST.json (run) nor SUMMARY.json (summary) is present"),
        ("nothing", "no such file or directory"),
        (
            "summary",
            "the summary kind is read through a stage declaration (STAGES.json); none was given with "
            "--stages and none is beside the summary or its parent",
        ),
        (
            "declared",
            "the summary kind (SUMMARY.json) is not implemented; run folders (MANIFEST.json) and single "
            "receipts are supported",
        ),
    ],
)
def test_other_inputs_are_answered_by_name(demo: Path, name: str, reason: str) -> None:
    (demo / "bundle").mkdir()
    (demo / "bundle" / "comparison.json").write_bytes(b"{}")
    (demo / "empty").mkdir()
    for folder in ("summary", "declared"):
        (demo / folder).mkdir()
        (demo / folder / "SUMMARY.json").write_bytes(b"{}")
    (demo / "declared" / "STAGES.json").write_bytes(b"{}")
    for argv in (["diff", name, "monday"], ["diff", "monday", name]):
        answer = run(argv, demo)
        assert answer == (4, f"diff: could not check — {name}: {reason}\n".encode(), "")
    shown = run(["diff", "monday", name, "--text", "--json"], demo)
    assert json.loads(shown.output) == {
        "envelope": "could not check",
        "exit": "4",
        "format": "onetrace-textdiff/0.3",
        "reason": "could not check: no text is shown",
        "shown": False,
        "text_form": "escaped",
    }
    assert shown.error == f"stratadiff: could not check: {name}: {reason}\n"
    assert run(["diff", "monday", name, "--text", "--json", "--quiet"], demo).error == ""


def test_d12_a_declaration_given_for_a_summary_is_not_denied(demo: Path) -> None:
    (demo / "summary").mkdir()
    (demo / "summary" / "SUMMARY.json").write_bytes(b"{}")
    answer = run(["diff", "summary", "monday", "--stages", "s.json"], demo)
    assert answer.code == 4
    assert b"the summary kind (SUMMARY.json) is not implemented" in answer.output


# What is printed


def test_quiet_prints_nothing_and_json_wins_over_it(demo: Path) -> None:
    assert run(["diff", "monday", "tuesday", "--quiet"], demo) == (1, b"", "")
    loud = run(["diff", "monday", "tuesday", "--text", "--json"], demo)
    assert run(["diff", "monday", "tuesday", "--text", "--json", "--quiet"], demo) == loud
    assert loud.error == ""


def test_options_without_meaning_here_are_accepted(demo: Path) -> None:
    plain = run(["diff", "monday", "tuesday"], demo)
    assert run(["diff", "monday", "tuesday", "--verifier", "x", "--stages", "y"], demo) == plain


def test_envelope_does_not_depend_on_the_form(demo: Path) -> None:
    forms: list[list[str]] = [
        [],
        ["--text"],
        ["--text", "--json"],
        ["--text", "--all", "--algorithm", "gestalt"],
        ["--follow-corpus"],
        ["--text", "--stage", "nowhere"],
    ]
    assert {run(["diff", "monday", "tuesday", *form], demo).code for form in forms} == {1}
    assert {run(["diff", "monday", "monday", *form], demo).code for form in forms} == {0}


def test_large_numbers_are_fine(demo: Path) -> None:
    wide = run(["diff", "monday", "tuesday", "--text", "--context", "99999999999999999999"], demo)
    assert wide.code == 1
    assert run(["diff", "monday", "tuesday", "--text", "--max-lines", "99999999999999999999"], demo).code == 1


# The report folder


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


CALLS = [f"verifier-{side}-1.{kind}" for side in ("baseline", "candidate") for kind in ("json", "txt")]


def test_report_folder(demo: Path) -> None:
    printed = run(["diff", "monday", "tuesday", "--text", "--out", "new/report"], demo)
    folder = demo / "new" / "report"
    linked = [
        f"corpus/{side}/ingest-{day}/verifier-1.{kind}"
        for side, day in (("baseline", "monday"), ("candidate", "tuesday"))
        for kind in ("json", "txt")
    ]
    assert files(folder) == sorted(["diff.json", "diff.txt", *CALLS, *linked])
    assert (folder / "diff.txt").read_bytes() == printed.output
    report = (folder / "diff.json").read_bytes()
    assert not report.endswith(b"\n")
    document = run(["diff", "monday", "tuesday", "--text", "--json"], demo).output
    assert json.loads(report)["text"] == json.loads(document)
    call = json.loads((folder / "verifier-baseline-1.json").read_bytes())
    assert call["target"] == "monday/MANIFEST.json"
    assert {row["result"] for row in call["rows"]} == {"PASS", "NOT-RUN"}
    assert call["exit"] == "0"
    text = (folder / "verifier-baseline-1.txt").read_text(encoding="utf-8")
    passed = sum(row["result"] == "PASS" for row in call["rows"])
    assert text.endswith(f"\n\n{passed} pass, 0 fail, 4 not-run  ->  PASS\n")
    assert text.startswith("[PASS   ] receipts/01-question.json: receipt format\n")


def test_report_never_has_colour_and_is_the_same_for_every_form(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = run(["diff", "monday", "tuesday", "--text", "--out", "1"], demo, terminal=True)
    assert b"\x1b[31m" in shown.output
    run(["diff", "monday", "tuesday", "--text", "--json", "--out", "2"], demo)
    run(["diff", "monday", "tuesday", "--text", "--quiet", "--out", "3"], demo)
    for name in files(demo / "1"):
        assert (
            (demo / "1" / name).read_bytes()
            == (demo / "2" / name).read_bytes()
            == (demo / "3" / name).read_bytes()
        )
    assert b"\x1b" not in (demo / "1" / "diff.txt").read_bytes()


def test_report_folder_keeps_what_else_is_in_it(demo: Path) -> None:
    (demo / "report").mkdir()
    (demo / "report" / "notes.txt").write_bytes(b"mine")
    (demo / "report" / "diff.txt").write_bytes(b"old")
    assert run(["diff", "monday", "monday", "--out", "report"], demo).code == 0
    assert (demo / "report" / "notes.txt").read_bytes() == b"mine"
    assert b"diff: identical" in (demo / "report" / "diff.txt").read_bytes()


def test_load_failures_write_no_verifier_files_and_shape_mismatches_do(demo: Path) -> None:
    assert run(["diff", "monday", "nowhere", "--out", "1"], demo).code == 4
    assert files(demo / "1") == ["diff.json", "diff.txt"]
    assert json.loads((demo / "1" / "diff.json").read_bytes()) == {
        "envelope": "could not check",
        "exit": "4",
        "format": "onetrace-report/0.1",
        "inputs": ["monday", "nowhere"],
        "reason": "nowhere: no such file or directory",
        "verb": "diff",
    }
    shutil.copytree(GOLDEN / "dag" / "a", demo / "dag")
    assert run(["diff", "monday", "dag", "--out", "2"], demo).code == 2
    assert files(demo / "2") == sorted(["diff.json", "diff.txt", *CALLS])
    assert "reason" in json.loads((demo / "2" / "diff.json").read_bytes())


def test_nothing_of_a_linked_run_that_does_not_verify_gets_out(demo: Path) -> None:
    secret = demo / "ingest-tuesday" / "artifacts" / "01-load" / "help-centre.md"
    secret.write_bytes(secret.read_bytes() + b"SECRET")
    answer = run(["diff", "monday", "tuesday", "--text", "--json", "--out", "report"], demo)
    assert answer.code == 1
    call = json.loads(
        (demo / "report" / "corpus" / "candidate" / "ingest-tuesday" / "verifier-1.json").read_bytes()
    )
    assert call == {
        "command": {"kind": "run", "target": "ingest-tuesday/MANIFEST.json"},
        "exit": "1",
        "reason": "linked ingest run did not verify: ingest-tuesday",
    }
    assert files(demo / "report" / "corpus" / "candidate") == ["ingest-tuesday/verifier-1.json"]
    [trace] = json.loads(answer.output)["corpus_traces"]
    assert trace["candidate"] == {
        "chain_head": trace["candidate"]["chain_head"],
        "path": "ingest-tuesday",
        "run_id": None,
        "verified": False,
    }
    for path in [demo / "report" / name for name in files(demo / "report")]:
        assert b"SECRET" not in path.read_bytes()
        assert b"help/repairs.md#0001" not in path.read_bytes()


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_report_that_cannot_be_written_is_one_line(demo: Path, place: str) -> None:
    (demo / "file").write_bytes(b"mine")
    answer = run(["diff", "monday", "tuesday", "--text", "--out", place], demo)
    assert (answer.code, answer.output) == (74, b"")
    assert answer.error.count("\n") == 1
    assert answer.error.startswith(f"stratadiff: {place}: ")
    assert (demo / "file").read_bytes() == b"mine"


# The corpus trace without text


def test_follow_corpus(demo: Path) -> None:
    plain = run(["diff", "monday", "tuesday"], demo).output
    followed = run(["diff", "monday", "tuesday", "--follow-corpus"], demo).output
    pair = run(["diff", "ingest-monday", "ingest-tuesday"], demo).output
    heading = (
        "\ntraced into the linked ingest runs: ingest-monday -> ingest-tuesday\n"
        "started at: load — 2 of 4 documents changed (help/repairs.md, help/warranty.md); "
        "settings unchanged\n\n"
    )
    assert followed == plain + heading.encode() + pair


def test_follow_corpus_elsewhere(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "ingests").mkdir()
    for day in ("monday", "tuesday"):
        (demo / f"ingest-{day}").rename(tmp_path / "ingests" / day)
    lost = run(["diff", "monday", "tuesday", "--follow-corpus"], demo).output.decode()
    assert "trace from retrieve: COULD NOT CHECK — linked ingest run not found: sha256:" in lost
    found = run(
        ["diff", "monday", "tuesday", "--follow-corpus", "--runs-root", "../ingests"], demo
    ).output.decode()
    assert "\nbaseline   monday  ingest-monday  (run)\n" in found


@pytest.mark.parametrize(
    ("argv", "note"),
    [
        (["monday", "nowhere"], "trace: not made; the runs were not compared (could not check)"),
        (["monday", "ingest-monday"], "trace: not made; the runs were not compared (not comparable)"),
        (
            ["monday/receipts/01-question.json", "monday/receipts/01-question.json"],
            "trace: not made; the runs were not compared (could not check)",
        ),
    ],
)
def test_follow_corpus_says_why_there_is_no_trace(demo: Path, argv: list[str], note: str) -> None:
    assert run(["diff", *argv, "--follow-corpus"], demo).output.decode().endswith(f"\n\n{note}\n")


def test_follow_corpus_of_comparable_receipts(tmp_path: Path) -> None:
    a, b = record_pair(tmp_path, b"1", b"2")
    receipts = [f"{path}/receipts/01-answer.json" for path in (a, b)]
    note = "trace: not made; receipt records are not run folders, so no corpus link is followed"
    assert run(["diff", *receipts, "--follow-corpus"]).output.decode().endswith(f"\n\n{note}\n")


# Read once


def test_d14_what_is_shown_is_what_was_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = record_pair(tmp_path, b"1", b"2")
    from stratadiff import api

    real = api.show_nodes

    def tampered(*arguments: Json) -> Json:
        (tmp_path / "b" / "artifacts" / "01-answer" / "out.txt").write_bytes(b"SWAPPED")
        return real(*arguments)

    monkeypatch.setattr(api, "show_nodes", tampered)
    text = run(["diff", a, b, "--text"]).output.decode()
    assert "--- out.txt\n- 1\n+ 2\n" in text
    assert "SWAPPED" not in text
    assert text.startswith("first difference: answer — output text changed; settings unchanged\n")


def test_receipts_of_an_unknown_format_are_never_compared(tmp_path: Path) -> None:
    for name, data in (("a", b"1"), ("b", b"2")):
        odd = {"format": "stage-receipt/7.0"} if name == "b" else {}
        record(tmp_path / name, [Stage("load", {"x": data}, receipt=odd), Stage("answer", {"y": b"same"})])
    answer = run(["diff", "a", "b"], tmp_path)
    assert answer.code == 4
    assert (
        "COULD NOT CHECK  (receipt format 'stage-receipt/7.0' is not implemented)" in answer.output.decode()
    )
    assert digest(b"2")[7:19] in answer.output.decode()


@pytest.mark.parametrize("name", [{"a": "b"}, ["x"], None, 5, True])
def test_an_output_whose_name_is_no_string_refuses_the_run(name: Json, tmp_path: Path) -> None:
    good = RunBuilder()
    good.write(tmp_path / "a")
    # Both text forms plan what they will show before the outputs are checked.
    bad = RunBuilder().change(lambda receipt: receipt["outputs"][0].update(name=name, digest=digest(b"?")))
    bad.write(tmp_path / "b")
    for form in (["--text", "--json"], ["--text"], []):
        answer = run(["diff", "a", "b", *form], tmp_path)
        assert (answer.code, answer.error) == (
            3,
            "stratadiff: refused: does not verify: b\n" if "--json" in form else "",
        )


def test_two_plain_files_are_told_what_the_command_takes(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    for form in ([], ["--text"], ["--text", "--json"]):
        answer = run(["diff", "a.txt", "b.txt", *form], tmp_path)
        assert answer.code == 3
        assert answer.error.endswith(
            f"stratadiff: a.txt is not a receipt: {TAKES}. For two plain texts or JSON files there is "
            "text_diff in the Python library\n"
        )
    assert run(["diff", "a.txt", "b.txt", "--quiet"], tmp_path).error == ""
