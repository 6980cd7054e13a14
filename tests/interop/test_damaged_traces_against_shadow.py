"""Damaged trace files: both tools refuse the same ones and read the others alike *(agentlog §5)*."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stratadiff
from interop import agentlogs, shadow_peer
from interop.agent_turns import Draw

pytestmark = pytest.mark.interop

Json = Any

FILES = 900

_STRUCTURE = b'{}[],:"\n'
_PIECES = (
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"/",
        b"\\",
        b"\x00",
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n",
    ),
    *(
        b"null",
        b"true",
        b"1e5",
        b"-0",
        b"0.1",
        b"1e400",
        b"NaN",
        b"01",
        b"1.",
        b".5",
        b"12345678901234567890123",
    ),
    *(b"\\u0000", b"\\ud800", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(b'"kind":"x",', b'"version":"0.1",', b'"meta":null,', b'"meta":5,', b'"parent":5,', b'"payload":1,'),
    *(b'"extra":1,', b"5\n", b'"x"\n', b"null\n", b"{}\n"),
)
_MEMBERS = ("version", "id", "kind", "ts", "parent", "meta", "payload")


def _damaged(seed: int) -> bytes:
    """Make a small trace and insert, drop, replace or repeat bytes, half of them where the structure is."""
    draw = Draw(f"damage {seed}")
    profile = draw.choice(("mixed", "odd", "unicode", "sessions"))
    data = agentlogs.file_bytes(
        agentlogs.trace_pair(draw.randrange(200), profile, draw.choice((1, 2))).baseline
    )
    for _ in range(draw.choice((1, 1, 2))):
        place = draw.randint(0, len(data))
        if draw.chance(0.5):
            place = draw.choice([k for k, byte in enumerate(data) if byte in _STRUCTURE]) + draw.choice(
                (0, 1)
            )
        kind = draw.randrange(6)
        if kind < 3:
            data = data[:place] + draw.choice(_PIECES) + data[place:]
        elif kind == 3:
            data = data[:place] + data[place + draw.choice((1, 1, 2, 10)) :]
        elif kind == 4:
            data = data[:place] + bytes([draw.choice(b'{}[]",:0123456789tfn\\ \x80')]) + data[place + 1 :]
        else:
            other = draw.randrange(len(data))
            data = data[:place] + data[other : other + draw.choice((5, 40))] + data[place:]
    return data


def _bare(record: Json) -> Json:
    """Leave out what the peer does not keep: unknown members, and the difference of absent and null."""
    return {
        name: record[name]
        for name in _MEMBERS
        if name in record and (record[name] is not None or name not in ("parent", "meta"))
    }


def test_damaged_files_are_read_or_refused_alike(tmp_path: Path) -> None:
    paths = []
    for seed in range(FILES):
        paths.append(tmp_path / f"{seed}.agentlog")
        paths[-1].write_bytes(_damaged(seed))
    [answer] = shadow_peer.ask([{"call": "parse", "paths": [str(path) for path in paths]}], processes=1)
    read = refused = 0
    for path, theirs in zip(paths, shadow_peer.value(answer), strict=True):
        try:
            trace = stratadiff.read_trace(path)
        except stratadiff.InputError:
            assert "raised" in theirs, path.read_bytes()
            refused += 1
            continue
        if "raised" in theirs:  # A4
            assert {"unknown-kind", "bom"} & {one.code for one in trace.diagnostics}, path.read_bytes()
            continue
        assert [_bare(one) for one in trace] == [_bare(one) for one in theirs["value"]], path.read_bytes()
        read += 1
    assert read > FILES // 8
    assert refused > FILES // 2
