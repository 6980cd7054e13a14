"""Verification of traces (agentlog 1, 5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog
from stratadiff.core.contentid import content_id
from stratadiff.errors import NotFoundError
from stratadiff.traces.reader import record_bytes
from stratadiff.traces.verify import TraceVerification, moment_of, verify_trace

DATA = Path(__file__).parent.parent / "data" / "agentlog"
GOOD_ID = content_id({})


def chain(*kinds: str) -> list[dict[str, Any]]:
    """Return a trace that breaks no rule."""
    records: list[dict[str, Any]] = []
    for number, kind in enumerate(("metadata", *kinds)):
        payload = {"n": number}
        records.append(
            {
                "version": "0.1",
                "id": content_id(payload),
                "kind": kind,
                "ts": f"2026-05-01T10:00:{number:02}.000Z",
                "parent": records[-1]["id"] if records else None,
                "payload": payload,
            }
        )
    return records


def verified(folder: Path, records: list[dict[str, Any]] | bytes) -> TraceVerification:
    path = folder / "t.agentlog"
    path.write_bytes(records if isinstance(records, bytes) else b"".join(map(record_bytes, records)))
    return verify_trace(str(path))


def breaches(result: TraceVerification) -> list[tuple[int, str]]:
    return [(breach.line, breach.code) for breach in result.breaches]


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.agentlog")), ids=lambda path: path.name)
def test_golden_traces_verify(path: Path) -> None:
    result = verify_trace(str(path))
    assert result.verifies, result.breaches[:3]
    assert result.record_count == path.read_bytes().count(b"\n")


def test_a_sound_trace(tmp_path: Path) -> None:
    result = verified(tmp_path, chain("chat_request", "chat_response", "metadata"))
    assert (result.breaches, result.remarks, result.record_count) == ([], [], 4)


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("version", "0.2", "version"),
        ("id", "sha256:" + "A" * 64, "id-form"),
        ("id", "sha256:" + "a" * 63, "id-form"),
        ("id", "md5:" + "a" * 64, "id-form"),
        ("id", "sha256:" + "0" * 64, "id-mismatch"),
        ("parent", None, "parent"),
        ("parent", "sha256:" + "0" * 64, "parent"),
        ("ts", "2026-05-01T10:00:00", "ts-form"),
        ("ts", "2026-05-01T10:00:00+00:00", "ts-form"),
        ("ts", "2026-13-01T10:00:00Z", "ts-form"),
        ("ts", "2026-05-01T10:00:00.Z", "ts-form"),
        ("ts", "2026-05-01T09:59:59.999Z", "ts-order"),
    ],
)
def test_each_rule(member: str, value: Any, code: str, tmp_path: Path) -> None:
    records = chain("chat_request", "chat_response")
    records[1][member] = value
    found = breaches(verified(tmp_path, records))
    assert (2, code) in found
    # Its own id gone, the next record's parent is nowhere.
    assert [entry for entry in found if entry != (2, code)] == ([(3, "parent")] if member == "id" else [])


@pytest.mark.parametrize(("member", "value"), [("kind", "error"), ("parent", GOOD_ID)])
def test_first_record(member: str, value: str, tmp_path: Path) -> None:
    records = chain("chat_request")
    records[0][member] = value
    assert breaches(verified(tmp_path, records)) == [(1, "first-record")]


def test_instants_are_compared_not_strings(tmp_path: Path) -> None:
    records = chain("error", "error", "error", "error")
    for record, ts in zip(
        records,
        [
            "2026-05-01T10:00:00Z",
            "2026-05-01T10:00:00.000Z",
            "no time",
            "2026-05-01T10:00:00.1Z",
            "2026-05-01T10:00:00.09Z",
        ],
        strict=True,
    ):
        record["ts"] = ts
    assert breaches(verified(tmp_path, records)) == [(3, "ts-form"), (5, "ts-order")]


def test_lines_that_are_no_records_are_breaches_too(tmp_path: Path) -> None:
    lines = [record_bytes(record) for record in chain("chat_request", "error")]
    lines[1:1] = [b"nul\n", b'{"a":"\xff"}\n', b"[]\n"]
    result = verified(tmp_path, b"\xef\xbb\xbf" + b"".join(lines))
    assert breaches(result) == [(2, "json"), (3, "utf8"), (4, "envelope")]
    assert [remark.code for remark in result.remarks] == ["bom"]
    assert result.record_count == 3


def test_rounding_is_named_as_a_possible_cause(tmp_path: Path) -> None:
    records = chain("error")
    records[1]["payload"] = {"x": [0.12345678901234567]}
    (breach,) = verified(tmp_path, records).breaches
    assert breach.code == "id-mismatch"
    assert "16 and more digits" in breach.message


def test_empty_and_missing(tmp_path: Path) -> None:
    assert verified(tmp_path, b"").verifies
    with pytest.raises(NotFoundError):
        verify_trace(str(tmp_path / "none.agentlog"))


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00Z",
        "2026-05-01 10:00:00Z",
        "2026-05-01T24:00:00Z",
        "2026-05-01T10:60:00Z",
        "2026-00-01T10:00:00Z",
        "2026-05-01T10:00:60Z",
        "2026-05-01T10:00:00z",
        "٢٠٢٦-05-01T10:00:00Z",
        "2026-05-01T10:00:00.1.2Z",
        "Z",
        "",
        "2026-5-01T10:00:00.0Z",
    ],
)
def test_no_times(text: str) -> None:
    assert moment_of(text) is None


def test_times() -> None:
    leap = [f"2024-02-29T23:59:{rest}Z" for rest in ("59.999", "60", "60.500")] + ["2024-03-01T00:00:00Z"]
    moments = [moment_of(text) for text in leap]
    assert None not in moments
    assert moments == sorted(moments) and len(set(moments)) == 4


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    records = chain("chat_request", "chat_response", "metadata", "error")
    for _ in range(draw(st.integers(0, 3))):
        record = draw(st.sampled_from(records))
        member = draw(st.sampled_from(["version", "id", "kind", "ts", "parent", "payload"]))
        record[member] = draw(
            st.sampled_from(
                [
                    "0.1",
                    "metadata",
                    "error",
                    None,
                    {"a": 1.5},
                    GOOD_ID,
                    records[0]["id"],
                    "2026-05-01T10:00:01.0Z",
                    "2026-05-01T10:00:01Z",
                    "2026-05-01T10:00:60Z",
                    "2026-04-31T10:00:00Z",
                    "sha256:",
                    5,
                ]
            )
        )
    lines = [record_bytes(record) for record in records]
    if draw(st.booleans()):
        order = draw(st.permutations(range(len(lines))))
        lines = [lines[k] for k in order[: draw(st.integers(0, 5))]]
    return b"".join(lines)


@given(data=damaged())
def test_finds_what_the_reference_finds(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    found = verified(tmp_path_factory.mktemp("v"), data)
    try:
        expected = sorted(agentlog.verify(data))
    except agentlog.ReadingError as error:
        assert (error.line, error.code) in breaches(found)
    else:
        assert sorted(breaches(found)) == expected


def test_to_dict(tmp_path: Path) -> None:
    result = verified(tmp_path, b"[]\n")
    assert json.loads(json.dumps(result.to_dict()))["breaches"] == [
        {"code": "envelope", "line": 1, "message": "the line is JSON, but not an object and so no record"}
    ]
