"""``stratadiff verify`` of agent traces: breaches with their lines, alone and among runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stratadiff
from cli.command import run
from cli.recorded import enveloped, write
from traces.records import response

Json = Any

TURNS = [response("hello"), response("bye")]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a good trace of three records."""
    path = tmp_path / "t.agentlog"
    write(path, TURNS)
    return path


def broken(path: Path, line: int, **members: Json) -> None:
    """Change members of one record, the id left alone."""
    records = enveloped(TURNS)
    records[line - 1].update(members)
    stratadiff.write_trace(path, records)


def test_a_good_trace(trace: Path) -> None:
    answer = run(["verify", "t.agentlog"], trace.parent)
    assert answer == (0, b"3 record(s), 0 breach(es), 0 note(s)  ->  PASS\n", "")
    assert json.loads(run(["verify", "t.agentlog", "--json"], trace.parent).output) == {
        "exit": "0",
        "format": "stratadiff-verify/0.1",
        "runs": [
            {
                "exit": "0",
                "kind": "trace",
                "path": "t.agentlog",
                "reason": None,
                "result": "PASS",
                "rows": [],
                "summary": {"fail": "0", "notes": "0", "records": "3"},
            }
        ],
    }


BREACHES: dict[str, tuple[int, dict[str, Json]]] = {
    "version": (2, {"version": "9"}),
    "id-form": (3, {"id": "sha256:0"}),
    "id-mismatch": (3, {"payload": {"content": "other"}}),
    "first-record": (1, {"kind": "chat_request"}),
    "parent": (3, {"parent": "sha256:" + "0" * 64}),
    "ts-form": (2, {"ts": "yesterday"}),
    "ts-order": (3, {"ts": "2026-05-04T08:00:00Z"}),
}


@pytest.mark.parametrize("code", BREACHES)
def test_each_breach(trace: Path, code: str) -> None:
    line, members = BREACHES[code]
    broken(trace, line, **members)
    answer = run(["verify", "t.agentlog"], trace.parent)
    lines = answer.output.decode().splitlines()
    assert (answer.code, answer.error) == (1, "")
    assert lines[0].startswith(f"[FAIL   ] line {line}: {code} -- ")
    assert lines[-2:] == ["", f"3 record(s), {len(lines) - 2} breach(es), 0 note(s)  ->  FAIL"]
    [entry] = json.loads(run(["verify", "t.agentlog", "--json"], trace.parent).output)["runs"]
    assert (entry["result"], entry["exit"]) == ("FAIL", "1")
    assert entry["rows"][0]["name"] == f"line {line}: {code}"


def test_lines_that_are_no_records_are_breaches(trace: Path) -> None:
    trace.write_bytes(b"\xef\xbb\xbf" + trace.read_bytes() + b"{")
    lines = run(["verify", "t.agentlog"], trace.parent).output.decode().splitlines()
    assert lines[0].startswith("[FAIL   ] line 4: json -- ")
    assert lines[1].startswith("[NOTE   ] line 1: bom -- ")
    assert lines[-1] == "3 record(s), 1 breach(es), 1 note(s)  ->  FAIL"


def test_among_runs(trace: Path) -> None:
    monday = stratadiff.demo_runs()[0]
    answer = run(["verify", monday, "t.agentlog", "nowhere.agentlog"], trace.parent)
    text = answer.output.decode()
    assert answer.code == 2
    assert answer.error.startswith("stratadiff: nowhere.agentlog: ")
    assert "\n== t.agentlog\n3 record(s), 0 breach(es), 0 note(s)  ->  PASS\n" in text
    assert "\n== nowhere.agentlog\nnot checked: " in text
    broken(trace, 2, version="9")
    assert run(["verify", monday, "t.agentlog", "nowhere.agentlog"], trace.parent).code == 1
    kinds = [
        entry["kind"]
        for entry in json.loads(
            run(["verify", monday, "t.agentlog", "nowhere", "--json"], trace.parent).output
        )["runs"]
    ]
    assert kinds == ["run", "trace", None]


def test_u08_text_of_records_does_not_drive_the_terminal(trace: Path) -> None:
    broken(trace, 2, ts="\x1b]0;T\x07\u202e")
    broken_kind = run(["verify", "t.agentlog"], trace.parent).output.decode()
    assert {character for character in broken_kind if not character.isprintable()} <= {"\n"}


def test_a_change_of_one_byte_is_found(trace: Path) -> None:
    data = trace.read_bytes()
    assert data.count(b"hello") == 1
    trace.write_bytes(data.replace(b"hello", b"Hello"))
    assert b"line 2: id-mismatch" in run(["verify", "t.agentlog"], trace.parent).output
    assert not stratadiff.verify(trace).verifies
    assert [breach.code for breach in stratadiff.verify_trace(trace).breaches] == ["id-mismatch"]
