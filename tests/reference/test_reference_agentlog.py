"""The reference for reading, ids, turns and tool calls, beyond the recorded answers (agentlog)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog
from reference.records import record, response, said, tool_use

# Ids and equality, beyond the recorded vectors (agentlog §4)


@pytest.mark.parametrize(
    ("literal", "written"),
    [
        ("96220036614340.125", "96220036614340.13"),
        ("-96220036614340.125", "-96220036614340.13"),
        ("9007199254740993", "9007199254740993"),
        ("9007199254740993.0", "9007199254740992"),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "18446744073709552000"),
        ("-9223372036854775809", "-9223372036854776000"),
        ("1e23", "100000000000000000000000"),
        ("123.456e-5", "0.00123456"),
        ("1.5", "1.5"),
        ("-0", "0"),
        ('"e\\u0301"', '"é"'),
        ('"\\u007f\\u2028/\\u001f"', '"\x7f\u2028/\\u001f"'),
        ('{"\\ud800\\udc00":1,"\\uffff":2,"b":3,"a":4}', '{"a":4,"b":3,"\uffff":2,"\U00010000":1}'),
        ('{"e\\u0301":1,"\\u00e9":2}', '{"é":1,"é":2}'),
    ],
)
def test_canonical_form(literal: str, written: str) -> None:
    assert agentlog.canonical(agentlog.parse(literal)[0]).decode() == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_numbers_read_back(value: float) -> None:
    written = agentlog.canonical(value).decode()
    assert float(written) == value
    assert "e" not in written
    shortest = len(repr(value).partition("e")[0].replace("-", "").replace(".", "").strip("0"))
    assert len(written.replace("-", "").replace(".", "").strip("0")) == shortest


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 0.5])
    | st.text("aé", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values)
def test_equal_values_have_equal_ids(a: Any, b: Any) -> None:
    assert agentlog.json_equal(a, b) == (agentlog.canonical(a) == agentlog.canonical(b))


def test_equality_of_numbers_is_exact() -> None:
    assert not agentlog.json_equal(2**53 + 1, float(2**53))
    assert agentlog.json_equal([{"a": 1, "b": -0.0}], [{"b": 0, "a": 1.0}])
    assert not agentlog.json_equal(True, 1)
    assert not agentlog.json_equal("\u00e9", "e\u0301")


def test_no_nesting_is_too_deep_for_ids() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert len(agentlog.canonical(deep)) == 200_002
    assert agentlog.json_equal(deep, deep)


# Reading (agentlog §5)

GOOD = {
    "version": "0.1",
    "id": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "kind": "metadata",
    "ts": "2026-05-01T10:00:00.000Z",
    "parent": None,
    "payload": {},
}


def line(**changed: Any) -> bytes:
    return json.dumps(GOOD | changed).encode() + b"\n"


def refusal(data: bytes, **limits: int) -> tuple[int, str]:
    with pytest.raises(agentlog.ReadingError) as caught:
        agentlog.read(data, **limits)
    return caught.value.line, caught.value.code


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[" * 200, "depth"),
        (b"[" * 200 + b"\xff", "utf8"),
        (b'"' + b"[" * 200 + b'"', "envelope"),
        (b'"\\"' + b"[" * 200 + b'"', "envelope"),
        (b"{" * 128 + b"x" * 2000, "line-too-large"),
        (b"9" * 300, "envelope"),
        (b"9" * 400, "json"),
        (b"-1e309", "json"),
        (b"1e-999", "envelope"),
        (b'{"\\udc00":1}', "json"),
        (b'"\\ude00\\ud83d"', "json"),
        (b"\xc0\x80", "utf8"),
        (b"\xed\xa0\x80", "utf8"),
        (b'"\x01"', "json"),
        (b"\xef\xbb\xbf{}", "json"),
        (b"\x0b", "json"),
        (b"01", "json"),
        (b'{"version":"0.1"}', "envelope"),
        (line(meta=[]), "envelope"),
    ],
)
def test_first_of_several_errors(data: bytes, code: str) -> None:
    assert refusal(b"\n" + line() + data, max_line=2000) == (3, code)
    kept, diagnostics = agentlog.read(b"\n" + line() + data + b"\n" + line(), True, max_line=2000)
    assert len(kept) == (1 if code == "line-too-large" else 2)
    assert diagnostics == [(3, code)]


def test_limits_count_terminators() -> None:
    one = line()
    assert len(agentlog.read(one * 2, max_line=len(one), max_trace=2 * len(one))[0]) == 2
    assert refusal(one * 2, max_line=len(one) - 1) == (1, "line-too-large")
    assert refusal(one * 2, max_trace=2 * len(one) - 1) == (2, "trace-too-large")
    assert agentlog.read(one * 2, True, max_trace=2 * len(one) - 1)[1] == [(2, "trace-too-large")]


def test_kept_line_gives_each_code_once() -> None:
    usage = {"usage": {"cache_read_input_tokens": 1, "cache_creation_input_tokens": 2}}
    cached = line(kind="chat_response", payload=usage)
    odd = line(kind="new", version="9", payload={"a": [{"b": 1}, {"c": 2}]})
    odd = odd.replace(b'"b": 1', b'"b": 1, "b": 1').replace(b'"c": 2', b'"c": 2, "c": 2')
    assert agentlog.read(b"\xef\xbb\xbf" + odd + cached + cached)[1] == [
        (1, "bom"),
        (1, "duplicate-member"),
        (1, "unknown-kind"),
        (1, "version"),
        (2, "unpriced-cache-fields"),
    ]


def test_repeated_envelope_member_spelt_with_an_escape() -> None:
    twice = line().replace(b'"id"', b'"\\u0069d": 5, "id"')
    assert refusal(twice) == (1, "envelope")
    assert agentlog.read(twice, True) == ([GOOD], [(1, "duplicate-member")])


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({}, ["parent"]),
        ({"parent": "x"}, ["parent"]),
        ({"parent": GOOD["id"]}, []),
        ({"parent": GOOD["id"], "version": "0.2"}, ["version"]),
        ({"parent": GOOD["id"], "id": "SHA256:" + GOOD["id"][7:]}, ["id-form"]),
        ({"parent": GOOD["id"], "payload": {"a": 1}}, ["id-mismatch"]),
        ({"parent": GOOD["id"], "ts": "2026-05-01T10:00:00Z"}, []),
        ({"parent": GOOD["id"], "ts": "2026-05-01T09:59:59.9999Z"}, ["ts-order"]),
        ({"parent": GOOD["id"], "ts": "2026-05-01T10:00:00.000000000001Z"}, []),
        ({"parent": GOOD["id"], "ts": "2026-05-01T10:00:00"}, ["ts-form"]),
        ({"parent": GOOD["id"], "ts": "2026-05-01T10:00:00+00:00"}, ["ts-form"]),
        ({"parent": GOOD["id"], "ts": "2026-05-01T10:00:00.Z"}, ["ts-form"]),
        ({"parent": GOOD["id"], "ts": "2026-02-29T10:00:00Z"}, ["ts-form"]),
        ({"parent": GOOD["id"], "ts": "2028-02-29T24:00:00Z"}, ["ts-form"]),
        ({"parent": GOOD["id"], "ts": "2026-06-30T23:59:60Z"}, []),
    ],
)
def test_verification(changed: dict[str, Any], codes: list[str]) -> None:
    assert agentlog.verify(line() + b"\n" + line(**changed)) == [(3, code) for code in codes]


def test_verification_of_the_first_record_and_of_times() -> None:
    assert agentlog.verify(line(parent=GOOD["id"])) == [(1, "first-record")]
    assert agentlog.verify(line(kind="error")) == [(1, "first-record")]
    later = {"parent": GOOD["id"]}
    times = ["2026-05-01T09:00:00Z", "soon", "2026-05-01T09:30:00Z"]
    found = agentlog.verify(line() + b"".join(line(ts=ts, **later) for ts in times))
    assert found == [(2, "ts-order"), (3, "ts-form")]


# Turns, sessions, tool calls (agentlog §6, §7)


def test_tolerant_access() -> None:
    assert agentlog.texts({"content": "hello"}) == ["hello"]
    assert agentlog.texts({"content": ""}) == agentlog.texts({"content": 5}) == agentlog.texts([1]) == []
    mixed = {"content": [5, {"type": "text", "text": 5}, {"type": "image"}, said("b")]}
    assert agentlog.texts(mixed) == ["", "b"]
    assert agentlog.blocks(mixed)[0] == {}


def test_requests_of_turns() -> None:
    asked = [record("chat_request", {"model": str(i)}) for i in range(3)]
    records = [response(), asked[0], asked[1], record("error"), response(), response(), asked[2]]
    assert agentlog.requests(records) == [None, {"model": "1"}, None]


def test_records_above_the_first_metadata_are_a_session() -> None:
    mark = record("metadata", id="m")
    assert agentlog.sessions([]) == []
    assert agentlog.sessions([response(), mark, response()]) == [[response()], [mark, response()]]
    assert agentlog.session_id([response()]) == "" == agentlog.session_id([])
    assert (
        agentlog.trace_id([record("metadata", id="x", meta=None), record("error", meta={"trace_id": "t"})])
        == "t"
    )
    assert agentlog.trace_id([mark]) == "m"


def asks(*roles: str) -> dict[str, Any]:
    return record("chat_request", {"messages": [{"role": role} for role in roles]})


def test_sessions_by_requests() -> None:
    mark = record("metadata")
    going, done = response(stop_reason="tool_use"), response(stop_reason="end_turn")
    kept = [mark, asks("user", "system"), going, asks("user", "tool"), done]
    assert agentlog.sessions(kept, "requests") == [kept]
    begun = [asks("tool"), record("tool_result"), going]
    assert agentlog.sessions([*kept, *begun], "requests") == [kept, begun]
    assert agentlog.sessions([*kept, asks("tool"), asks("user")], "requests")[1:] == [
        [asks("tool")],
        [asks("user")],
    ]
    assert len(agentlog.sessions([going, asks()], "requests")) == 2
    assert len(agentlog.sessions([mark, *kept], "requests")) == 2


def test_tool_calls() -> None:
    def called(name: Any, call_id: Any) -> dict[str, Any]:
        return record("tool_call", {"tool_name": name, "tool_call_id": call_id})

    records = [
        called("early", "e"),
        response(tool_use("a", "1"), tool_use(5, "2")),
        called("a", "1"),
        called("b", "3"),
        called("b", "3"),
        called("c", ""),
        called("c", None),
        response(),
        called(None, ["x"]),
        record("tool_call", 7),
    ]
    expected = [(0, "early"), (0, "a"), (0, ""), (0, "b"), (0, "c"), (0, "c"), (1, ""), (1, "")]
    assert agentlog.tool_calls(records) == expected
