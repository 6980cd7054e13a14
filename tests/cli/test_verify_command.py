"""``stratadiff verify``: rows, summary, exit codes, the document, and nothing hostile on the terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from run_builder import GOOD, VERIFICATION, RunBuilder, canonical
from stratadiff.cli.main import main

CASES = [entry["case"] for entry in json.loads((VERIFICATION / "index.json").read_bytes())["cases"]]
# The peer crashes (a failed row here), or reads what leaves the run as written (decision D5).
OTHERWISE = {"manifest-entry-no-file": 1, "manifest-no-chain": 1, "path-escape-file": 1}


def verify(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["verify", *(str(argument) for argument in arguments)])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def document(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code, out, err = verify(capfd, *arguments, "--json")
    assert err == ""
    value = json.loads(out)
    assert canonical(value) + b"\n" == out.encode("utf-8", "surrogateescape")
    assert value["format"] == "stratadiff-verify/0.1"
    assert value["exit"] == str(code)
    return code, value


@pytest.mark.parametrize("case", CASES)
def test_golden_exits_and_results(
    case: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(VERIFICATION / "cases" / case)
    expected = json.loads(Path("expected.json").read_bytes())["verify"]
    code, value = document(capfd, "run")
    assert code == OTHERWISE.get(case, int(expected["exit"]))
    if case not in OTHERWISE:
        assert value["runs"][0]["result"] == expected["summary"]["result"]
        if "reason" in expected["summary"] and "not valid JSON" not in expected["summary"]["reason"]:
            assert value["runs"][0]["reason"] == expected["summary"]["reason"]


def test_a_good_run(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = verify(capfd, GOOD / "linear")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "[PASS   ] receipts/01-load.json: receipt format"
    assert lines[23].startswith(
        "[NOT-RUN] receipts/01-load.json: originality -- record is declared unanchored"
    )
    assert lines[-2:] == ["", "109 pass, 0 fail, 4 not-run  ->  PASS"]


def test_a_damaged_run(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capfd, VERIFICATION / "cases/modified-artifact/run")
    assert code == 1
    assert (
        "[FAIL   ] receipts/04-answer.json: output artifact 'answer.txt' matches -- expected sha256:" in out
    )
    assert out.endswith("\n\n108 pass, 1 fail, 4 not-run  ->  FAIL\n")


def test_runs_nobody_could_check(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = verify(capfd, VERIFICATION / "cases/receipt-format-major-9/run")
    assert code == 2
    assert out.endswith("->  NOT VERIFIED (receipt format not implemented: 1 receipt(s))\n")
    code, out, _ = verify(capfd, VERIFICATION / "cases/manifest-format-preview/run")
    assert (code, out.rpartition("->  ")[2]) == (2, "NOT VERIFIED (chain format not implemented)\n")
    code, out, _ = verify(capfd, VERIFICATION / "cases/manifest-format-absent/run")
    assert (code, out) == (2, "[REFUSED] manifest: format -- format is not a string: None\n")
    code, out, _ = verify(capfd, VERIFICATION / "cases/manifest-top-level-array/run")
    expected = "[REFUSED] manifest: MANIFEST.json -- top-level JSON value is a list, not an object\n"
    assert (code, out) == (2, expected)
    code, out, err = verify(capfd, tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert err == f"stratadiff: {tmp_path}/nowhere: no such file or directory\n"


def test_a_summary_is_refused_by_its_kind(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("SUMMARY.json", "STAGES.json"):
        (tmp_path / name).write_bytes(b"{}")
    code, out, _ = verify(capfd, tmp_path)
    assert code == 2
    assert out.startswith("[REFUSED] the summary kind (SUMMARY.json) is not implemented; ")


def test_several_runs_are_named_and_the_worst_decides(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bad = VERIFICATION / "cases/wrong-chain-head/run"
    code, out, err = verify(capfd, GOOD / "dag", tmp_path / "nowhere", bad)
    assert code == 1
    heads = [line for line in out.splitlines() if line.startswith("== ")]
    assert heads == [f"== {GOOD}/dag", f"== {tmp_path}/nowhere", f"== {bad}"]
    assert "not checked: no such file or directory\n" in out
    assert err.count("\n") == 1
    assert verify(capfd, GOOD / "dag", tmp_path / "nowhere")[0] == 2
    assert verify(capfd, GOOD / "dag", GOOD / "linear")[0] == 0


def test_the_document(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bad = VERIFICATION / "cases/wrong-chain-head/run"
    code, value = document(capfd, GOOD / "linear/receipts/01-load.json", bad, tmp_path / "nowhere")
    assert code == 1
    receipt, run, nothing = value["runs"]
    assert (receipt["kind"], receipt["result"], receipt["exit"], receipt["reason"]) == (
        "receipt",
        "PASS",
        "0",
        None,
    )
    assert run["path"] == str(bad)
    assert run["summary"] == {"fail": "1", "not_run": "4", "pass": "108"}
    assert run["rows"][-1] == {
        "detail": "",
        "name": "manifest: chain head matches the last receipt",
        "result": "FAIL",
    }
    assert nothing == {
        "exit": "2",
        "kind": None,
        "path": f"{tmp_path}/nowhere",
        "reason": "no such file or directory",
        "result": "UNREADABLE",
        "rows": [],
        "summary": {"fail": "0", "not_run": "0", "pass": "0"},
    }


def test_strict(capfd: pytest.CaptureFixture[str]) -> None:
    case = VERIFICATION / "cases/constants-empty/run"
    assert verify(capfd, case)[0] == 0
    code, out, _ = verify(capfd, case, "--strict")
    assert code == 1
    assert "assertions name their constants with string values -- constants is empty\n" in out


def test_records_beside_the_chain_fail_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capfd, VERIFICATION / "cases/anchors-bad-record/run")
    assert code == 1
    assert "[FAIL   ] anchors/1.json: originality -- malformed anchor record: asserted_time: missing;" in out


def test_u08_hostile_names_reach_the_terminal_escaped(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hostile = "\x1b]0;T\x07\r\x9b2J\nx\u202e"
    builder = RunBuilder().change(
        lambda receipt: receipt["inputs"][0].update(name=hostile, trust_class=hostile)
    )
    builder.manifest["chain"][2]["file"] = hostile
    folder = builder.write(tmp_path / f"run{hostile}")
    for path in (folder, tmp_path / f"nowhere{hostile}"):
        for several in ([], [GOOD / "dag"]):
            code, out, err = verify(capfd, path, *several)
            assert code in (1, 2)
            text = (out + err).replace("\n", "")
            assert not any(character in text for character in "\x1b\x07\r\x9b\u202e")
    _, out, _ = verify(capfd, folder)
    assert "inputs/\\u001b]0;T\\u0007\\u000d\\u009b2J\\u000ax\\u202e declares a trust class" in out
    _, value = document(capfd, folder)
    assert value["runs"][0]["path"] == str(folder)


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_path_that_is_not_utf8(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    odd = os.fsencode(RunBuilder().write(tmp_path / "run")) + b"-\xff"
    os.rename(tmp_path / "run", odd)
    given = os.fsdecode(odd)
    assert verify(capfd, given, GOOD / "dag")[0] == 0
    code, out, _ = verify(capfd, given, "--json")
    assert code == 0
    assert json.loads(out)["runs"][0]["path"] == given
