"""Lines of a trace: records, spans, counts (agentlog 1, 3, 5)."""

from __future__ import annotations

import json
import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog
from stratadiff._kernels import trace_scan
from strategies import bad_byte_buffers, byte_buffers, in_four_threads

LINE = b'{"version":"0.1","id":"i","kind":"chat_response","ts":"t","payload":%s}\n'


def response(usage: bytes) -> bytes:
    return LINE % (b'{"usage":' + usage + b"}")


def counts(usage: bytes) -> tuple[list[int], tuple[int, int, int], list[bytes]]:
    data = response(usage)
    code, *_, found, absent, odd = trace_scan.scan(data)
    assert code == 0
    return list(found), absent, [data[a:b] for a, b in zip(odd[2::4], odd[3::4], strict=True)]


@pytest.mark.parametrize(
    ("usage", "expected", "absent", "careful"),
    [
        (b"{}", [0, 0, 0], (1, 1, 1), []),
        (b"null", [0, 0, 0], (1, 1, 1), []),
        (b'[{"input_tokens":1}]', [0, 0, 0], (1, 1, 1), []),
        (b'{"input_tokens":12,"output_tokens":-3,"thinking_tokens":0}', [12, -3, 0], (0, 0, 0), []),
        (b'{"thinking_tokens" : 1.999 , "output_tokens": -0.5, "input_tokens":-0}', [0, 0, 1], (0, 0, 0), []),
        (
            b'{"input_tokens":true,"output_tokens":"7","thinking_tokens":{"input_tokens":1}}',
            [0, 0, 0],
            (1, 1, 1),
            [],
        ),
        (b'{"input_tokens":999999999999999999}', [999999999999999999, 0, 0], (0, 1, 1), []),
        (b'{"input_tokens":1000000000000000000}', [0, 0, 0], (0, 1, 1), [b"1000000000000000000"]),
        (b'{"input_tokens":12.999999999999999}', [0, 0, 0], (0, 1, 1), [b"12.999999999999999"]),
        (b'{"input_tokens":1e2}', [0, 0, 0], (0, 1, 1), [b"1e2"]),
        (
            b'{"input_tokens":5,"input_tokens":[],"output_tokens":"x","output_tokens":8}',
            [0, 8, 0],
            (1, 0, 1),
            [],
        ),
        (b'{"in\\u0070ut_tokens":4}', [4, 0, 0], (0, 1, 1), []),
        (b'{"input_tokens":4,"x":{"input_tokens":5,"usage":{"input_tokens":6}}}', [4, 0, 0], (0, 1, 1), []),
    ],
)
def test_counts(usage: bytes, expected: list[int], absent: tuple[int, ...], careful: list[bytes]) -> None:
    assert counts(usage) == (expected, absent, careful)


def test_only_the_usage_of_the_last_payload_counts() -> None:
    second = b'{"usage":{"output_tokens":2},"usage":{"thinking_tokens":3}}'
    data = LINE % (b'{"usage":{"input_tokens":1}},"payload":' + second)
    code, *_, records, found, absent, _odd = trace_scan.scan(data)
    assert (code, list(found), absent, records[5]) == (0, [0, 0, 3], (1, 1, 0), 1 | 2)


def test_spans_and_flags() -> None:
    data = (
        b'\r\n { "payload" : [1, 2] , "kind":"x", "id":"", "ts":"", '
        b'"version":"0.2", "meta":{"trace_id":"t"}} \r\n'
        + LINE
        % b'{"usage":{"cache_creation_input_tokens":null}}'
    )
    code, at, number, _, _, records, _, _, _ = trace_scan.scan(data)
    assert (code, at, number) == (0, len(data), 3)
    first, second = records[:6], records[6:]
    assert data[first[1] : first[2]] == b"[1, 2]"
    assert (first[0], first[3], first[4], first[5]) == (10, 2, 2, 4 | 8 | 32)
    assert (second[0], second[4], second[5]) == (2, 3, 16)


@pytest.mark.parametrize(
    ("meta", "flag"),
    [
        (b'{"trace_id":"a"}', 32),
        (b'{"trace_id":1}', 0),
        (b'{"trace_id":"a","trace_id":null}', 1),
        (b"null", 0),
        (b'{"trace_id":"a"},"meta":{}', 3),
        (b'{"x":{"trace_id":"a"}}', 0),
    ],
)
def test_trace_id(meta: bytes, flag: int) -> None:
    data = b'{"version":"0.1","id":"i","kind":"error","ts":"t","meta":' + meta + b',"payload":1}'
    assert trace_scan.scan(data)[5][5] == flag


def test_pieces() -> None:
    data = LINE % b"1" * 3
    half = data[: len(data) // 2]
    code, at, number, *_, records, _, _, _ = trace_scan.scan(half, is_last=False)
    assert (code, at, number, len(records)) == (0, len(data) // 3, 1, 6)
    code, at, number, *_, records, _, _, _ = trace_scan.scan(data, at, number)
    assert (code, at, number, list(records[4::6])) == (0, len(data), 3, [2, 3])


def test_stops_at_the_first_bad_line_and_goes_on_after_it() -> None:
    data = LINE % b"1" + b"{]\n" + LINE % b"2"
    code, at, number, bad, detail, records, *_ = trace_scan.scan(data)
    assert (code, number, list(bad), detail, len(records)) == (4, 2, [], 1, 6)
    assert trace_scan.scan(data, at, number)[2] == 3


def test_reads_over_bad_lines() -> None:
    data = b"\n{]\n" + LINE % b"1" + b"[]\n\xff\n" + b"[" * 200 + b"\n" + LINE % b"2" + b'{"version":1}\n'
    code, at, number, bad, _, records, *_ = trace_scan.scan(data, goes_on=True)
    assert (code, at, number, list(records[4::6])) == (0, len(data), 8, [3, 7])
    assert list(bad) == [4, 2, 1, 5, 4, 128, 2, 5, 0, 3, 6, 127, 5, 8, 64]
    code, at, number, bad, *_ = trace_scan.scan(data + b"x" * 300 + b"\n{}\n", max_line=250, goes_on=True)
    assert (code, at, number, len(bad)) == (1, len(data), 9, 15)


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"1", 128),
        (b"[{}]", 128),
        (b"{}", 0),
        (b'{"version":1}', 64),
        (b'{"version":"0.1","id":"","kind":null}', 66),
    ],
)
def test_envelope_details(line: bytes, detail: int) -> None:
    assert trace_scan.scan(line)[0::4][:2] == (5, detail)


# Literals around the end of the double range, in many spellings.
digits = st.text("0123456789", min_size=1, max_size=330)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    edge = str(2**1024 - 2**970)
    kind = draw(st.integers(0, 3))
    if kind == 0:
        base = str(int(edge) + draw(st.integers(-1, 1)))
    elif kind == 1:
        base = edge[: draw(st.integers(1, 309))] + draw(st.text("0123456789", max_size=5))
    else:
        base = draw(digits).lstrip("0") or "0"
    zeros = draw(st.integers(0, 400))
    shift = draw(st.integers(-340, 340))
    if draw(st.booleans()):
        place = draw(st.integers(1, len(base)))
        base = base[:place] + ("." + base[place:] if base[place:] else "")
    elif draw(st.booleans()):
        base = "0." + "0" * zeros + base
    sign = draw(st.sampled_from(["", "-"]))
    exponent = draw(
        st.sampled_from(["", f"e{shift}", f"E+{abs(shift)}", f"e-{abs(shift)}", f"e{308 - len(base)}"])
    )
    return sign + base + exponent


@given(numbers())
def test_range_of_doubles(text: str) -> None:
    assert trace_scan.is_json(text.encode()) == math.isfinite(float(text))


def test_the_edge_of_the_range() -> None:
    edge = 2**1024 - 2**970
    for text, fits in (
        (str(edge), False),
        (str(edge - 1), True),
        (f"{edge - 1}.9999", True),
        (f"{edge}e0", False),
        (f"0.{edge - 1}e309", True),
        (f"0.{edge}e309", False),
        ("1e" + "9" * 400, False),
        ("0e" + "9" * 400, True),
        ("1e-" + "9" * 400, True),
        ("0." + "0" * 1000 + "1e1310", False),
        ("0." + "0" * 1000 + "1e1309", True),
    ):
        assert trace_scan.is_json(text.encode()) is fits, text


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (b"", False),
        (b" ", False),
        (b" {} ", True),
        (b"{}{}", False),
        (b"\xef\xbb\xbf{}", False),
        (b'{"a":1,"a":2}', True),
        (b"[" * 127 + b"]" * 127, True),
        (b"[" * 128 + b"]" * 128, False),
        (b'"\\ud83d\\ude00"', True),
        (b'"\\ud83d"', False),
        (b'"\\udE00"', False),
        (b"NaN", False),
        (b"-Infinity", False),
        (b"nul", False),
        (b"tru\xff", False),
        (b"'a'", False),
        (b"[1,]", False),
        (b"\x0c1", False),
        ('"\u2028é😀"'.encode(), True),
    ],
)
def test_is_json(text: bytes, fits: bool) -> None:
    assert trace_scan.is_json(text) is fits


@given(st.binary(max_size=80) | st.text('[]{},:"\\u0d8ae1.-+ntrufalse \n', max_size=40).map(str.encode))
def test_any_bytes(data: bytes) -> None:
    try:
        expected: object = agentlog.read(data)
    except agentlog.ReadingError as error:
        expected = error
    code, _, number, *_ = trace_scan.scan(data.removeprefix(b"\xef\xbb\xbf"))
    names = ["", "line-too-large", "utf8", "depth", "json", "envelope"]
    if isinstance(expected, agentlog.ReadingError):
        assert (names[code], number) == (expected.code, expected.line)
    else:
        assert code == 0


def test_buffers() -> None:
    data = LINE % b'{"usage":{"input_tokens":3}}'
    expected = trace_scan.scan(data)
    for buffer in byte_buffers(data).values():
        assert trace_scan.scan(buffer) == expected
    for bad in bad_byte_buffers().values():
        with pytest.raises((TypeError, ValueError)):
            trace_scan.scan(bad)


@pytest.mark.parametrize(
    "arguments", [{"start": -1}, {"start": 4}, {"number": -1}, {"max_line": 0}, {"max_depth": 0}]
)
def test_arguments(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        trace_scan.scan(b"abc", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        trace_scan.is_json(b"1", 0)


def test_threads() -> None:
    data = (LINE % b'{"usage":{"input_tokens":3},"text":"abc"}') * 500
    expected = trace_scan.scan(data)
    assert all(result == expected for result in in_four_threads(lambda: trace_scan.scan(data)))


def test_many_members() -> None:
    names = [f"m{number * 7919 % 10007}" for number in range(5000)]
    payload = json.dumps(dict.fromkeys(names, 0)).encode()
    assert trace_scan.scan(LINE % payload)[5][5] == 0
    assert trace_scan.scan(LINE % (payload[:-1] + b',"m0":1}'))[5][5] == (1 if "m0" in names else 0)


def test_results_are_arrays_of_int64() -> None:
    *_, records, found, _, odd = trace_scan.scan(b"")
    for result in (records, found, odd):
        assert isinstance(result, array)
        assert result.typecode == "q"
