"""Every golden case gives the reference verifier's rows: names, results, details and their number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run_builder import VERIFICATION
from stratadiff.runs.model import FAIL, NOT_RUN, PASS, Row
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run

CASES = [entry["case"] for entry in json.loads((VERIFICATION / "index.json").read_bytes())["cases"]]

HOST_WORDS = ("not valid JSON: ", "not valid UTF-8: ", "could not be checked: ", "'utf-8' codec")

# Decision D5: what leaves the run as written is not read, whatever is there.
LEXICAL_ESCAPES = {
    "path-absolute-file": "not a path inside the run (it is absolute); not read",
    "path-escape-file": "not a path inside the run (it climbs with '..'); not read",
}


def _read(case: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    folder = VERIFICATION / "cases" / case
    monkeypatch.chdir(folder)
    expected: dict[str, object] = json.loads(Path("expected.json").read_bytes())
    return expected


def _comparable(name: str, detail: str) -> tuple[str, str]:
    for words in HOST_WORDS:
        if detail.startswith(words):
            return name, words
    return name, detail


def _pairs(rows: list[Row], result: str) -> list[tuple[str, str]]:
    return [_comparable(row.name, row.detail) for row in rows if row.result == result]


def _listed(rows: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [_comparable(row["name"], row["detail"]) for row in rows]


@pytest.mark.parametrize("case", CASES)
def test_the_rows_are_the_reference_verifiers(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _read(case, monkeypatch)["verify"]
    run = read_input("run")
    rows = verify_run(run, collect_passes=True, beside_chain=True)
    assert isinstance(expected, dict)
    if expected["crashed"] == "true":
        name, _, detail = str(expected["raised"]).partition(": ")
        assert rows == [Row(FAIL, "verifier raised", f"{name}: {detail}")]
        return
    summary = expected["summary"]
    if summary["result"] == "REFUSED":
        _, _, why = summary["reason"].partition(" -- ")
        unread = run.unreadable or run.unimplemented.removeprefix("manifest format: ")
        assert _comparable("", unread) == _comparable("", why)
        return
    failed, not_run = _pairs(rows, FAIL), _pairs(rows, NOT_RUN)
    if case in LEXICAL_ESCAPES:
        file = json.loads(Path("run/MANIFEST.json").read_bytes())["chain"][1]["file"]
        assert failed[0] == (f"{file}: receipt file", LEXICAL_ESCAPES[case])
        assert [name for name, _ in failed[1:]] == ["receipts/03-retrieve.json: chain link"]
        return
    assert failed == _listed(expected["failed"])
    assert [pair for pair in not_run if not pair[0].endswith(": originality")] == _listed(expected["not_run"])
    counts = {"fail": len(failed), "not_run": len(not_run), "pass": len(_pairs(rows, PASS))}
    assert counts == {name: int(summary[name]) for name in counts}


@pytest.mark.parametrize("case", CASES)
def test_diff_refuses_what_the_peer_refuses(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    diff = _read(case, monkeypatch)["diff"]
    assert isinstance(diff, dict)
    run = read_input("run")
    rows = verify_run(run)
    assert not _pairs(rows, PASS)
    if diff["crashed"] == "true" or case in LEXICAL_ESCAPES:
        if case != "linear-truncated-baseline":  # the peer crashes over its text section, not over the run
            assert run.failed_rows
        return
    if run.unimplemented:  # decision D2: the peer compares it unverified
        assert not rows
        return
    preflight = diff["preflight"] or {"candidate": {"failed_rows": []}}
    assert _pairs(rows, FAIL) == _listed(preflight["candidate"]["failed_rows"])


@pytest.mark.parametrize("case", CASES)
def test_rows_without_passes_are_the_rows_with_them(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _read(case, monkeypatch)
    run = read_input("run")
    with_passes = list(verify_run(run, collect_passes=True))
    assert verify_run(run) == [row for row in with_passes if row.result != PASS]


def test_the_strict_checks_let_every_good_run_pass() -> None:
    for name in ("linear", "dag", "ingest-1", "ingest-2", "query-1"):
        run = read_input(str(VERIFICATION / "good" / name), strict=True)
        verify_run(run, beside_chain=True)
        assert run.failed_rows == []
