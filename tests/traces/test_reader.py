"""Reading and writing traces, strict and tolerant (agentlog 5)."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog
from stratadiff.core.contentid import content_id
from stratadiff.core.jsonvalue import _ORJSON_FROM, wire_parser
from stratadiff.errors import InputError, NotFoundError, UnreadableError, UsageError
from stratadiff.traces import compression
from stratadiff.traces import remarks as remarks_module
from stratadiff.traces.kinds import is_trace_path
from stratadiff.traces.model import Trace
from stratadiff.traces.reader import (
    NEEDS,
    Reading,
    TraceError,
    as_trace,
    read_for,
    read_trace,
    record_bytes,
    trace_of,
    write_trace,
)

DATA = Path(__file__).parent.parent / "data" / "agentlog"
PARSER = [json.loads(line) for line in (DATA / "parser.jsonl").read_text("utf-8").split("\n") if line]
TRACES = sorted(DATA.rglob("*.agentlog"))
SOME_NEEDS = [
    frozenset(),
    frozenset({"responses"}),
    frozenset({"requests"}),
    frozenset({"tools"}),
    frozenset({"responses", "requests", "tools"}),
    NEEDS,
]


def record(kind: str = "metadata", payload: Any = None, **more: Any) -> dict[str, Any]:
    payload = {} if payload is None else payload
    made = {
        "version": "0.1",
        "id": content_id(payload),
        "kind": kind,
        "ts": "2026-05-01T10:00:00.000Z",
        "parent": None,
    }
    return {**made, **more, "payload": payload}


def response(**members: Any) -> dict[str, Any]:
    return record("chat_response", {"content": [], **members})


def file_of(folder: Path, *records: dict[str, Any] | bytes, name: str = "t.agentlog") -> str:
    data = b"".join(item if isinstance(item, bytes) else record_bytes(item) for item in records)
    path = folder / name
    path.write_bytes(data)
    return str(path)


def summary(trace: Trace) -> tuple[Any, ...]:
    sessions = [(s.session_id, s.first_turn, s.end_turn) for s in trace.sessions]
    columns = [list(column) for column in trace.tokens.columns]
    return trace.trace_id, trace.turn_count, sessions, columns, trace.tokens.absent


def remarks(trace: Trace) -> list[list[Any]]:
    return [[item.line, item.code] for item in trace.diagnostics]


class TestGolden:
    @pytest.mark.parametrize("case", PARSER, ids=lambda case: case["name"])
    @pytest.mark.parametrize("mode", ["strict", "tolerant"])
    @pytest.mark.parametrize("needs", SOME_NEEDS, ids=lambda needs: "+".join(sorted(needs)) or "tokens")
    def test_parser_vectors(self, case: Any, mode: str, needs: frozenset[str], tmp_path: Path) -> None:
        path = file_of(tmp_path, base64.b64decode(case["base64"]))
        expected = case[mode]
        if "error" in expected:
            with pytest.raises(TraceError) as caught:
                read_for(path, needs)
            assert (caught.value.code, caught.value.line) == (expected["error"], expected["line"])
            assert caught.value.where == f"{path}:{expected['line']}"
            return
        trace = read_for(path, needs, tolerant=mode == "tolerant")
        assert remarks(trace) == expected["diagnostics"]
        if trace.records is not None:
            assert len(trace) == expected["records"]

    @pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
    def test_every_way_of_reading_agrees(self, path: Path) -> None:
        whole = read_trace(path)
        assert list(whole) == [json.loads(line) for line in path.read_bytes().splitlines()]
        assert summary(trace_of(list(whole))) == summary(whole)
        for needs in SOME_NEEDS:
            part = read_for(str(path), needs)
            assert summary(part) == summary(whole)
            assert part.responses in (None, whole.responses)
            assert part.requests in (None, whole.requests)
            if part.tool_records is not None and whole.tool_records is not None:
                assert [vars_of(item) for item in part.tool_records] == [
                    vars_of(item) for item in whole.tool_records
                ]

    @pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
    def test_writing_what_was_read_gives_the_same_bytes(self, path: Path, tmp_path: Path) -> None:
        write_trace(tmp_path / "copy.agentlog", read_trace(path))
        assert (tmp_path / "copy.agentlog").read_bytes() == path.read_bytes()


def vars_of(item: Any) -> tuple[Any, ...]:
    return item.turn, item.call_id, item.name


# Lines that are nearly records, in every way the format speaks of.
odd_values = st.sampled_from(
    [
        "{}",
        "[]",
        "null",
        "true",
        "1",
        "-0",
        "1.5",
        "1e400",
        "1e308",
        "NaN",
        '""',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '{"a":1,"a":2}',
        '{"usage":{"input_tokens":3,"output_tokens":1e2}}',
        '{"usage":{"input_tokens":-7.9}}',
        '{"usage":{"input_tokens":12345678901234567890,"thinking_tokens":true}}',
        '{"us\\u0061ge":{"input_tokens":5},"usage":{"input_tokens":6},"usage":7}',
        '{"usage":{"input_tokens":4,"input_tokens":"9","cache_read_input_tokens":1}}',
        '{"usage":{"input_tokens":0.999999999999999999}}',
        '{"content":[{"usage":{"input_tokens":8}}]}',
        "[" * 126 + "]" * 126,
        "[" * 127 + "]" * 127,
        "[" * 200,
        "\x01",
        '"\xff"',
        "01",
        "--1",
        '"unclosed',
    ]
)
member_names = st.sampled_from(
    ["version", "id", "kind", "ts", "parent", "meta", "payload", "p\\u0061yload", "extra", "usage"]
)
plain_members = {
    "version": '"0.1"',
    "id": '"sha256:x"',
    "kind": '"chat_response"',
    "ts": '"2026-05-01T10:00:00Z"',
    "parent": "null",
    "meta": '{"trace_id":"t"}',
    "payload": '{"usage":{"input_tokens":1}}',
}
kinds = st.sampled_from(
    [
        '"metadata"',
        '"chat_request"',
        '"chat_response"',
        '"chat\\u005fresponse"',
        '"tool_call"',
        '"other"',
        "3",
    ]
)


@st.composite
def lines(draw: Any) -> bytes:
    form = draw(st.integers(0, 9))
    if form == 0:
        return draw(st.sampled_from([b"", b"\r", b" ", b"\t\r", b"\xef\xbb\xbf", b"{}", b"nul", b"[1]"]))
    members = dict(plain_members)
    members["kind"] = draw(kinds)
    pairs = list(members.items())
    if form > 3:
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(pairs)))
            action = draw(st.integers(0, 2))
            if action == 0 and place < len(pairs):
                del pairs[place]
            elif action == 1 and place < len(pairs):
                pairs[place] = (pairs[place][0], draw(odd_values))
            else:
                pairs.insert(place, (draw(member_names), draw(odd_values)))
    space = draw(st.sampled_from(["", " ", "\t "]))
    text = "{" + space + f",{space}".join(f'"{name}":{space}{value}' for name, value in pairs) + "}" + space
    data = text.encode("latin-1")
    if form == 9:
        data = data[: draw(st.integers(0, len(data)))]
    return data


@st.composite
def traces(draw: Any) -> bytes:
    body = draw(st.lists(lines(), max_size=8))
    ends = [draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"])) for _ in body]
    data = b"".join(line + end for line, end in zip(body, ends, strict=True))
    if draw(st.booleans()):
        data = data.removesuffix(b"\n")
    return (b"\xef\xbb\xbf" if draw(st.integers(0, 5)) == 0 else b"") + data


class TestAgainstReference:
    @given(data=traces(), needs=st.sampled_from(SOME_NEEDS), piece=st.integers(1, 400))
    def test_reads_as_the_reference(
        self, data: bytes, needs: frozenset[str], piece: int, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        path = file_of(tmp_path_factory.mktemp("t"), data)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compression, "read_pieces", lambda path: pieces_of(data, piece))
            try:
                expected = agentlog.read(data)
            except agentlog.ReadingError as error:
                with pytest.raises(TraceError) as caught:
                    read_for(path, needs)
                assert (caught.value.line, caught.value.code) == (error.line, error.code)
            else:
                self.compare(read_for(path, needs), *expected)
            self.compare(read_for(path, needs, tolerant=True), *agentlog.read(data, tolerant=True))

    def compare(self, trace: Trace, records: list[Any], diagnostics: list[tuple[int, str]]) -> None:
        assert sorted((item.line, item.code) for item in trace.diagnostics) == sorted(diagnostics)
        if trace.records is not None:
            assert trace.records == records
        assert summary(trace) == summary(trace_of(records))
        assert trace.trace_id == agentlog.trace_id(records)
        turns = agentlog.turns(records)
        assert trace.turn_count == len(turns)
        assert [session.session_id for session in trace.sessions] == [
            agentlog.session_id(session) for session in agentlog.sessions(records)
        ]


def pieces_of(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


class TestMemory:
    def test_records_without_envelope(self) -> None:
        records = [{"kind": "chat_response", "payload": {"usage": {"input_tokens": 3}}}, {"kind": "x"}, {}]
        trace = trace_of(records)
        assert (trace.trace_id, trace.turn_count, list(trace.tokens.columns[0])) == ("", 1, [3])
        assert [(s.session_id, s.first_turn, s.end_turn) for s in trace.sessions] == [("", 0, 1)]

    @pytest.mark.parametrize("path", TRACES[:6], ids=lambda path: path.name)
    def test_records_given_are_not_changed(self, path: Path) -> None:
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        before = copy.deepcopy(records)
        trace_of(records)
        assert records == before

    def test_counts_past_64_bits_are_exact(self) -> None:
        trace = trace_of([response(usage={"input_tokens": 10**25, "output_tokens": -(2**63)}), response()])
        assert list(trace.tokens.columns[0]) == [10**25, 0]
        assert list(trace.tokens.columns[1]) == [-(2**63), 0]

    def test_an_entry_that_is_no_dictionary(self) -> None:
        with pytest.raises(InputError, match="record 1 is list, not a dictionary"):
            trace_of([{}, []])  # type: ignore[list-item]

    def test_a_trace_read_for_less_says_so(self, tmp_path: Path) -> None:
        trace = read_for(file_of(tmp_path, record(), response()), frozenset())
        assert as_trace(trace, frozenset()) is trace
        with pytest.raises(UsageError, match="read without its records, responses"):
            as_trace(trace, frozenset({"responses", "records"}))
        with pytest.raises(TypeError, match="read without its records"):
            len(trace)

    def test_sources(self, tmp_path: Path) -> None:
        path = file_of(tmp_path, record(), response())
        for source in (path, path.encode(), Path(path), read_trace(path), list(read_trace(path))):
            assert as_trace(source, NEEDS).turn_count == 1


class TestSplit:
    def test_the_user_speaks_again(self, tmp_path: Path) -> None:
        def request(*roles: str) -> dict[str, Any]:
            return record("chat_request", {"messages": [{"role": role} for role in roles], "n": len(roles)})

        records = [
            record(),
            request("system", "user"),
            response(stop_reason="tool_use"),
            request("user", "assistant", "tool"),
            response(stop_reason="end_turn"),
            request("user", "assistant", "user", "system"),
            response(stop_reason="tool_use", n=2),
            request("assistant", "user"),
            response(stop_reason="tool_use", n=3),
        ]
        path = file_of(tmp_path, *records)
        trace = read_for(path, frozenset(), split="requests")
        assert [(s.first_turn, s.end_turn) for s in trace.sessions] == [(0, 2), (2, 3), (3, 4)]
        assert [s.session_id for s in trace.sessions[1:]] == [records[5]["id"], records[7]["id"]]
        assert len(read_for(path, frozenset()).sessions) == 1
        again = as_trace(read_trace(path), NEEDS, split="requests")
        assert (len(again.sessions), again.source) == (3, path)

    @pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
    def test_as_the_reference(self, path: Path) -> None:
        records = list(read_trace(path))
        trace = trace_of(records, split="requests")
        expected = agentlog.sessions(records, split="requests")
        assert [s.session_id for s in trace.sessions] == [agentlog.session_id(part) for part in expected]
        assert [s.end_turn - s.first_turn for s in trace.sessions] == [
            len(agentlog.turns(part)) for part in expected
        ]


class TestLimits:
    def test_line(self, tmp_path: Path) -> None:
        fits = record(payload={"x": "y" * 100})
        limit = len(record_bytes(fits))
        path = file_of(tmp_path, fits, record(payload={"x": "y" * 101}), fits)
        strict = Reading(path, max_line_bytes=limit)
        with pytest.raises(TraceError, match=rf"more than {limit:,} bytes") as caught:
            list(strict.pieces())
        assert (caught.value.code, caught.value.line) == ("line-too-large", 2)
        tolerant = Reading(path, tolerant=True, max_line_bytes=limit)
        assert sum(len(piece.records) // 6 for piece in tolerant.pieces()) == 1
        assert [(item.line, item.code) for item in tolerant.diagnostics] == [(2, "line-too-large")]

    @pytest.mark.parametrize("has_end", [True, False])
    def test_line_of_exactly_the_limit(self, has_end: bool, tmp_path: Path) -> None:
        data = record_bytes(record()) if has_end else record_bytes(record())[:-1]
        path = file_of(tmp_path, data)
        assert sum(len(p.records) for p in Reading(path, max_line_bytes=len(data)).pieces()) == 6
        with pytest.raises(TraceError):
            list(Reading(path, max_line_bytes=len(data) - 1).pieces())

    def test_trace(self, tmp_path: Path) -> None:
        line = record_bytes(record())
        path = file_of(tmp_path, line * 10)
        assert sum(len(p.records) for p in Reading(path, max_bytes=len(line) * 10).pieces()) == 60
        with pytest.raises(TraceError, match="the trace has more than") as caught:
            list(Reading(path, max_bytes=len(line) * 10 - 1).pieces())
        assert (caught.value.code, caught.value.line) == ("trace-too-large", 10)
        tolerant = Reading(path, tolerant=True, max_bytes=len(line) * 5 + 3)
        assert sum(len(p.records) // 6 for p in tolerant.pieces()) == 5
        assert [(item.line, item.code) for item in tolerant.diagnostics] == [(6, "trace-too-large")]

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
    def test_an_endless_line_is_given_up_in_bounded_memory(self, tmp_path: Path) -> None:
        path = str(tmp_path / "t.agentlog")
        with open(path, "wb") as file:
            file.write(b'{"version":"')
            file.truncate(600 << 20)
        script = (
            "import sys; from stratadiff.traces import reader\n"
            "try: reader.read_trace(sys.argv[1])\n"
            "except reader.TraceError as error: print(error.code, error.line)\n"
            # Of the process itself: ru_maxrss would count the one that started it.
            "peak = open('/proc/self/status').read().split('VmHWM:')[1].split()[0]\n"
            "print(int(peak) < 120_000)"
        )
        command = [sys.executable, "-c", script, path]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["line-too-large", "1", "True"]


class TestManyRemarks:
    def test_remarks_are_in_the_order_of_lines(self, tmp_path: Path) -> None:
        odd = record_bytes(record("strange"))
        trace = read_trace(file_of(tmp_path, odd + b"{\n" + odd + b"[]\n"), tolerant=True)
        expected = [[1, "unknown-kind"], [2, "json"], [3, "unknown-kind"], [4, "envelope"]]
        assert remarks(trace) == expected

    def test_remarks_without_end_are_counted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(remarks_module, "MAX_TRACE_DIAGNOSTICS", 5)
        odd = record_bytes(record("strange"))
        path = file_of(tmp_path, odd * 3 + b"{\n" * 40 + odd * 4 + b"[]\n" * 10 + record_bytes(record()))
        trace = read_trace(path, tolerant=True)
        assert len(trace) == 8
        # The records of a piece are looked at before its bad lines.
        listed = [[line, "unknown-kind"] for line in (1, 2, 3, 44, 45)]
        counted = [[46, "unknown-kind"], [4, "json"], [48, "envelope"]]
        assert remarks(trace) == listed + counted
        assert [item.message.split()[3] for item in trace.diagnostics[5:]] == ["2", "40", "10"]


class TestCompression:
    def test_gzip_by_content(self, tmp_path: Path) -> None:
        data = record_bytes(record()) + record_bytes(response())
        path = file_of(tmp_path, gzip.compress(data), name="t.log")
        assert is_trace_path(path)
        assert len(read_trace(path)) == 2
        # Members one after another are one stream.
        path = file_of(tmp_path, gzip.compress(data[:50]), gzip.compress(b""), gzip.compress(data[50:]))
        assert len(read_trace(path)) == 2

    def test_gzip_that_ends_early(self, tmp_path: Path) -> None:
        packed = gzip.compress(record_bytes(record()) + record_bytes(response()))
        path = file_of(tmp_path, packed[:-6])
        with pytest.raises(TraceError, match="ends too early") as caught:
            read_trace(path)
        assert caught.value.code == "compression"
        trace = read_trace(path, tolerant=True)
        assert (len(trace), remarks(trace)) == (2, [[3, "compression"]])

    def test_gzip_that_is_damaged(self, tmp_path: Path) -> None:
        packed = bytearray(gzip.compress(record_bytes(record())))
        packed[-6] ^= 1
        path = file_of(tmp_path, bytes(packed))
        with pytest.raises(TraceError, match="damaged"):
            read_trace(path)
        trace = read_trace(path, tolerant=True)
        assert (len(trace), remarks(trace)) == (1, [[2, "compression"]])
        with pytest.raises(TraceError, match="damaged"):
            read_trace(file_of(tmp_path, gzip.compress(record_bytes(record())) + b"trailing"))

    def test_a_bomb_stops_at_the_limits(self, tmp_path: Path) -> None:
        path = file_of(tmp_path, gzip.compress(b" " * (64 << 20)), name="bomb.agentlog.gz")
        with pytest.raises(TraceError) as caught:
            read_trace(path)
        assert caught.value.code == "line-too-large"

    @pytest.mark.parametrize("cut", range(30, 400, 37))
    def test_gzip_damaged_anywhere_keeps_the_lines_before(self, cut: int, tmp_path: Path) -> None:
        lines = [record_bytes(record(payload={"n": number})) for number in range(40)]
        packed = bytearray(gzip.compress(b"".join(lines)))
        packed[cut : cut + 9] = b"\xff" * 9
        # What zlib gives before it notices, a byte at a time; the damage may already show in it.
        unpack, before = zlib.decompressobj(wbits=31), b""
        with pytest.raises(zlib.error):
            for byte in bytes(packed):
                before += unpack.decompress(bytes([byte]))
        whole = file_of(tmp_path, before[: before.rfind(b"\n") + 1], name="before.agentlog")
        expected = read_trace(whole, tolerant=True)
        trace = read_trace(file_of(tmp_path, bytes(packed)), tolerant=True)
        assert list(trace) == list(expected)
        assert trace.diagnostics[:-1] == expected.diagnostics
        assert trace.diagnostics[-1].code == "compression"

    def test_zstd(self, tmp_path: Path) -> None:
        zstandard = pytest.importorskip("zstandard")
        pack = zstandard.ZstdCompressor().compress
        data = record_bytes(record()) + record_bytes(response())
        path = file_of(tmp_path, pack(data[:40]), pack(data[40:]), name="t.agentlog.zst")
        assert len(read_trace(path)) == 2
        with pytest.raises(TraceError, match="ends too early"):
            read_trace(file_of(tmp_path, pack(data)[:-4]))
        with pytest.raises(TraceError, match="damaged"):
            read_trace(file_of(tmp_path, pack(data)[:6] + b"\xff" * 30))

    def test_zstd_without_the_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "zstandard", None)
        with pytest.raises(InputError, match="pip install zstandard"):
            read_trace(file_of(tmp_path, b"\x28\xb5\x2f\xfd0000"))


class TestUserReports:
    GOOD = record_bytes(record())

    def test_u12_repeated_members(self, tmp_path: Path) -> None:
        twice = (
            b'{"version":"0.1","id":"x","kind":"metadata","ts":"t","p\\u0061yload":{},"payload":{"a":1}}\n'
        )
        with pytest.raises(TraceError, match="stands in it twice") as caught:
            read_trace(file_of(tmp_path, twice))
        assert (caught.value.code, caught.value.line) == ("envelope", 1)
        trace = read_trace(file_of(tmp_path, twice), tolerant=True)
        assert (trace[0]["payload"], remarks(trace)) == ({"a": 1}, [[1, "duplicate-member"]])
        inside = (
            b'{"version":"0.1","id":"x","kind":"metadata","ts":"t","payload":{"tot\\u0061l":2,"total":3}}\n'
        )
        trace = read_trace(file_of(tmp_path, inside))
        assert (trace[0]["payload"], remarks(trace)) == ({"total": 3}, [[1, "duplicate-member"]])

    @pytest.mark.parametrize(
        "payload", [b'{"k":"\\ud800"}', b'["\\ude00\\ud83d"]', b'"\xff"', b'"\xed\xa0\x80"']
    )
    def test_u14_half_a_surrogate_pair_is_never_repaired(self, payload: bytes, tmp_path: Path) -> None:
        line = b'{"version":"0.1","id":"x","kind":"metadata","ts":"t","payload":' + payload + b"}\n"
        with pytest.raises(TraceError) as caught:
            read_trace(file_of(tmp_path, line))
        assert caught.value.code == ("utf8" if b'"\\u' not in payload and b"\\ud" not in payload else "json")

    @pytest.mark.parametrize("depth", [126, 127, 200_000])
    def test_u15_nesting(self, depth: int, tmp_path: Path) -> None:
        for tail in (b"]" * depth + b"}\n", b"\n"):
            line = b'{"version":"0.1","id":"x","kind":"metadata","ts":"t","payload":' + b"[" * depth + tail
            path = file_of(tmp_path, self.GOOD, line)
            if depth == 126 and tail != b"\n":
                assert len(read_trace(path)) == 2
                continue
            with pytest.raises(TraceError) as caught:
                read_trace(path)
            assert (caught.value.code, caught.value.line) == ("json" if depth == 126 else "depth", 2)

    @pytest.mark.parametrize(
        "torn", [b'{"version":"0.1","id":"sh', '{"version":"0.1","id":"é'.encode()[:-1], GOOD[:60] + GOOD]
    )
    def test_u16_torn_lines(self, torn: bytes, tmp_path: Path) -> None:
        code = "utf8" if torn.endswith(b"\xc3") else "json"
        for data in (self.GOOD + torn, self.GOOD + torn.rstrip(b"\n") + b"\n" + self.GOOD):
            path = file_of(tmp_path, data)
            with pytest.raises(TraceError, match="--tolerant") as caught:
                read_trace(path)
            assert (caught.value.code, caught.value.line) == (code, 2)
            trace = read_trace(path, tolerant=True)
            assert (len(trace), remarks(trace)) == (data.count(b"\n" + self.GOOD) + 1, [[2, code]])

    def test_u17_byte_order_mark(self, tmp_path: Path) -> None:
        trace = read_trace(file_of(tmp_path, b"\xef\xbb\xbf" + self.GOOD * 4))
        assert (len(trace), remarks(trace)) == (4, [[1, "bom"]])
        with pytest.raises(TraceError):
            read_trace(file_of(tmp_path, self.GOOD + b"\xef\xbb\xbf" + self.GOOD))

    def test_u17_byte_order_mark_in_crumbs(self, tmp_path: Path) -> None:
        mark = [gzip.compress(bytes([byte])) for byte in b"\xef\xbb\xbf"]
        assert remarks(read_trace(file_of(tmp_path, *mark, gzip.compress(self.GOOD)))) == [[1, "bom"]]
        with pytest.raises(TraceError):
            read_trace(file_of(tmp_path, *mark, *mark, gzip.compress(self.GOOD)))

    def test_u20_odd_counts(self, tmp_path: Path) -> None:
        odd = [
            {},
            {"usage": {}},
            {"usage": None},
            {"usage": {"input_tokens": "10"}},
            {"usage": [1]},
            {"usage": {"input_tokens": True}},
            {"usage": {"input_tokens": None}},
        ]
        records = [record("chat_response", payload) for payload in odd]
        for trace in (read_trace(file_of(tmp_path, *records)), trace_of(records)):
            assert list(trace.tokens.columns[0]) == [0] * 7
            assert trace.tokens.absent == (7, 7, 7)

    def test_cache_fields_are_named_once(self, tmp_path: Path) -> None:
        cached = response(usage={"cache_read_input_tokens": 5})
        trace = read_trace(
            file_of(tmp_path, record(payload={"usage": {"cache_read_input_tokens": 1}}), cached, cached)
        )
        assert remarks(trace) == [[2, "unpriced-cache-fields"]]


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError):
            read_trace(tmp_path / "none.agentlog")

    def test_directory(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableError, match="is a directory"):
            read_trace(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no fifos here")
    def test_fifo(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "t.agentlog")
        with pytest.raises(UnreadableError, match="is a fifo"):
            read_trace(tmp_path / "t.agentlog")

    def test_kinds_of_files(self, tmp_path: Path) -> None:
        assert is_trace_path(file_of(tmp_path, record(), name="plain"))
        assert is_trace_path(file_of(tmp_path, b"\xef\xbb\xbf\r\n\n", record(), name="marked"))
        assert is_trace_path(file_of(tmp_path, b"", name="empty.agentlog"))
        assert is_trace_path(str(tmp_path / "none.agentlog"))
        assert not is_trace_path(file_of(tmp_path, b"", name="empty"))
        assert not is_trace_path(file_of(tmp_path, b'{"format":"x"}', name="MANIFEST.json"))
        assert not is_trace_path(str(tmp_path))
        assert not is_trace_path("\0")


class TestWriting:
    def test_member_order_and_text(self, tmp_path: Path) -> None:
        made = {
            "payload": {"z": "é\n", "a": 1.0},
            "extra": 1,
            "kind": "metadata",
            "ts": "t",
            "id": "i",
            "version": "0.1",
        }
        line = record_bytes(made)
        assert (
            line == b'{"version":"0.1","id":"i","kind":"metadata","ts":"t",'
            b'"payload":{"z":"\xc3\xa9\\n","a":1.0},"extra":1}\n'
        )

    @pytest.mark.parametrize("payload", [float("nan"), "\ud800", {1, 2}])
    def test_what_has_no_json_form(self, payload: Any, tmp_path: Path) -> None:
        path = tmp_path / "t.agentlog"
        path.write_bytes(b"before")
        with pytest.raises(InputError, match="no JSON form"):
            write_trace(path, [{"payload": payload}])
        assert path.read_bytes() == b"before"
        assert os.listdir(tmp_path) == ["t.agentlog"]

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ({"kind": "error", "payload": 1}, 'record 1: the record has no "version"'),
            (record(id=5), 'record 1: the record\'s "id" is not a string'),
            ([], "record 1 is list, not a dictionary"),
        ],
    )
    def test_what_could_not_be_read_is_not_written(self, bad: Any, message: str, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            write_trace(tmp_path / "t.agentlog", [record(), bad])
        assert str(caught.value) == message
        assert os.listdir(tmp_path) == []


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


class TestValues:
    @given(json_values)
    def test_small_and_large_files_give_the_same_values(self, value: Any) -> None:
        data = json.dumps(value, ensure_ascii=False).encode()
        small, large = wire_parser(0)(b" " + data), wire_parser(_ORJSON_FROM)(memoryview(data))
        assert repr(small) == repr(large)
