"""Every damaged, altered and intact golden run through ``diff``: envelope, document, report (comparison).

Where we decided otherwise than the peers, the case is listed in `EXPECTED` with the decision's number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.command import run

Json = Any

DATA = Path(__file__).parents[1] / "data" / "verification"
CASES = sorted(path.name for path in (DATA / "cases").iterdir())

EXPECTED: dict[str, tuple[str, int, str]] = {
    # case: decision, exit code, envelope
    "manifest-not-json": ("D1", 3, "refused"),
    "manifest-top-level-array": ("D1", 3, "refused"),
    "manifest-format-absent": ("D2", 4, "could not check"),
    "manifest-format-major-9": ("D2", 4, "could not check"),
    "manifest-format-major-9-tampered": ("D2", 4, "could not check"),
    "receipt-format-major-9": ("D2", 4, "could not check"),
    "receipt-format-major-9-changed": ("D2", 4, "could not check"),
    "receipt-format-preview": ("D2", 4, "could not check"),
    "path-escape-file": ("D5", 3, "refused"),
    "linear-truncated-baseline": ("D7", 1, "diverged"),
}

ANNOTATED = {"dag-outcome-class-ignored": ("D8", "outcome class differs: ok -> refused")}
"""Cases whose report says more than the peers'."""

REWORDED = {"path-absolute-file": "D5"}
"""Cases whose failed rows are the peers' with another detail: such a path is not even tried."""

SAME = [name for name in CASES if name not in EXPECTED]


def expected(name: str) -> Json:
    return json.loads((DATA / "cases" / name / "expected.json").read_text(encoding="utf-8"))["diff"]


def report(name: str, folder: Path, *options: str) -> Json:
    argv = expected(name)["argv"]
    run([*argv[:3], *options, "--quiet", "--out", str(folder)], DATA / "cases" / name)
    return json.loads((folder / "diff.json").read_bytes())


@pytest.mark.parametrize("name", SAME)
def test_document_and_exit_code(name: str) -> None:
    want = expected(name)
    answer = run([*want["argv"], "--algorithm", "gestalt"], DATA / "cases" / name)
    assert str(answer.code) == want["exit"]
    document = json.loads(answer.output)
    assert document["envelope"] == want["envelope"]
    assert document == want["document"]


@pytest.mark.parametrize("name", SAME)
def test_report(name: str, tmp_path: Path) -> None:
    want = expected(name)
    found = report(name, tmp_path / "report", "--text")
    for member, value in want["report"].items():
        if member == "ladder" and name in ANNOTATED:
            continue
        assert found[member] == value, member
    assert found["exit"] == want["exit"]
    assert found["envelope"] == want["envelope"]
    if want["notes"] is not None:
        assert {side: value["notes"] for side, value in found["inputs"].items()} == want["notes"]
    if "preflight" in want and "mode" in found:
        for side, value in want["preflight"].items():
            assert found["preflight"][side]["status"] == value["status"]
            assert names(found["preflight"][side]["failed_rows"]) == names(value["failed_rows"])
            for ours, theirs in zip(
                found["preflight"][side]["failed_rows"], value["failed_rows"], strict=True
            ):
                if not quotes_the_host(theirs["detail"]) and name not in REWORDED:
                    assert ours == theirs
    if "mode" in found:
        other = [line for line in found["carried"] if ": originality -- " not in line["line"]]
        assert other == want["carried_other"]
        assert str(len(found["carried"]) - len(other)) == want["carried_originality_lines"]


def names(rows: list[Json]) -> list[str]:
    return [row["name"] for row in rows]


def quotes_the_host(detail: str) -> bool:
    """Tell whether a detail quotes an error of the interpreter, whose words are no part of the contract."""
    return detail.startswith(("not valid JSON", "not valid UTF-8", "could not be checked", "'utf-8' codec"))


@pytest.mark.parametrize("name", EXPECTED)
def test_decisions(name: str) -> None:
    decision, code, envelope = EXPECTED[name]
    want = expected(name)
    assert want["crashed"] == "true" or (want["exit"], want["envelope"]) != (str(code), envelope), decision
    answer = run(want["argv"], DATA / "cases" / name)
    assert answer.code == code
    assert json.loads(answer.output)["envelope"] == envelope


@pytest.mark.parametrize("name", ANNOTATED)
def test_d8_says_that_the_outcome_class_differs(name: str, tmp_path: Path) -> None:
    _, line = ANNOTATED[name]
    found = report(name, tmp_path / "report")["ladder"]
    wanted = expected(name)["report"]["ladder"]
    extra = [
        set(ours["annotations"]) - set(theirs["annotations"])
        for ours, theirs in zip(found, wanted, strict=True)
    ]
    assert {line} in extra
    for ours, theirs in zip(found, wanted, strict=True):
        ours["annotations"] = [annotation for annotation in ours["annotations"] if annotation != line]
        assert ours == theirs


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("manifest-format-absent", "run: manifest format: format is not a string: None"),
        ("receipt-format-major-9", "receipt format 'stage-receipt/9.0' is not implemented"),
    ],
)
def test_d2_names_the_format(name: str, reason: str) -> None:
    argv = expected(name)["argv"]
    answer = run(argv, DATA / "cases" / name)
    assert reason in answer.error
    assert f"diff: could not check — {reason}".encode() in run(argv[:3], DATA / "cases" / name).output


def test_d1_has_one_failed_row(tmp_path: Path) -> None:
    rows = report("manifest-not-json", tmp_path / "report")["preflight"]["candidate"]["failed_rows"]
    assert names(rows) == ["manifest"]
    assert rows[0]["detail"].startswith("not valid JSON")


@pytest.mark.parametrize("name", ["symlinked-receipt", "symlinked-artifact-outside"])
def test_d5_strict_refuses_what_leads_out_of_the_run(name: str) -> None:
    assert run([*expected(name)["argv"], "--strict"], DATA / "cases" / name).code == 3


def test_d13_strict_checks_on_diff() -> None:
    argv = expected("ended-before-started")["argv"]
    assert run(argv, DATA / "cases" / "ended-before-started").code == 0
    assert run([*argv, "--strict"], DATA / "cases" / "ended-before-started").code == 3


def test_d10_no_file_is_written_without_out(tmp_path: Path) -> None:
    import shutil

    shutil.copytree(DATA / "good" / "linear", tmp_path / "a")
    before = sorted(path for path in tmp_path.rglob("*"))
    for options in ([], ["--text"], ["--text", "--json"], ["--quiet"]):
        assert run(["diff", "a", "a", *options], tmp_path).code == 0
    assert sorted(path for path in tmp_path.rglob("*")) == before
