"""Token counts of records that are dictionaries (agentlog §3, levels §5)."""

from __future__ import annotations

import copy
import enum
import gc
import json
import math
import sys
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog, trace_tokens
from stratadiff._kernels import usage
from strategies import in_four_threads, shares_memory

DATA = Path(__file__).parent.parent / "data" / "agentlog" / "tokens.jsonl"
NAMES = trace_tokens.DIMENSIONS
LOW, HIGH = -(2**63), 2**63 - 1


def read(found: Any) -> tuple[list[tuple[int, ...]], tuple[int, int, int]]:
    """Put the columns and what is odd together again: the counts of every response, and the absences."""
    columns = [column.tolist() for column in found[:3]]
    for turn, dimension, value in found[4]:
        assert type(value) is int
        assert not LOW <= value <= HIGH
        assert columns[dimension][turn] == 0
        columns[dimension][turn] = value
    assert found[4] == sorted(found[4])
    return list(zip(*columns, strict=True)), found[3]


def is_count(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def expected(payloads: list[Any]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    absent = [0, 0, 0]
    for payload in payloads:
        found = agentlog.members(agentlog.members(payload).get("usage"))
        for at, name in enumerate(NAMES):
            absent[at] += not is_count(found.get(name))
    return [trace_tokens.counts(payload) for payload in payloads], tuple(absent)


anything = st.sampled_from((None, True, False, "12", "", [], {}, [1], {"a": 1}, 0, 7))
counts = st.one_of(
    st.integers(0, 5000),
    anything,
    st.integers(-3, 3),
    st.sampled_from((LOW, HIGH, LOW - 1, HIGH + 1, 2**64, 2**53 + 1, 10**308, 10**309, -(10**400))),
    st.floats(),
    st.sampled_from((12.7, -12.7, -0.5, 9.2e18, 9223372036854775807.0, -9223372036854775808.0, 1e300, -1e19)),
)
usages = st.one_of(
    st.fixed_dictionaries({}, optional=dict.fromkeys((*NAMES, "cached_input_tokens"), counts)), anything
)
payloads = st.one_of(st.fixed_dictionaries({}, optional={"usage": usages, "content": anything}), anything)
kinds = st.sampled_from(
    ("chat_response", "chat_response", "chat_request", "chat_responses", "", "metadata", 3, None)
)
records = st.lists(
    st.one_of(
        st.fixed_dictionaries({"kind": kinds}, optional={"payload": payloads, "id": anything}),
        st.fixed_dictionaries({"kind": st.just("chat_response"), "payload": payloads}),
    ),
    max_size=12,
)


@given(records)
def test_columns(given_records: list[Any]) -> None:
    before = repr(given_records)
    found = read(usage.columns(given_records))
    assert repr(given_records) == before
    assert found == expected(agentlog.turns(given_records))


@given(st.lists(payloads, max_size=12))
def test_payloads(given_payloads: list[Any]) -> None:
    assert read(usage.of_payloads(given_payloads)) == expected(given_payloads)


def test_recorded_token_diffs() -> None:
    for line in DATA.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for side in ("baseline", "candidate"):
            rows = [{} if found is None else {"usage": found} for found in case[side]]
            assert read(usage.of_payloads(rows)) == expected(rows)


def response(count: Any) -> dict[str, Any]:
    return {"kind": "chat_response", "payload": {"usage": dict.fromkeys(NAMES, count)}}


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [
        (12, 12),
        (12.9, 12),
        (-12.9, -12),
        (-0.0, 0),
        (HIGH, HIGH),
        (LOW, LOW),
        (HIGH + 1, HIGH + 1),
        (LOW - 1, LOW - 1),
        (9223372036854775808.0, 2**63),
        (-9223372036854775808.0, LOW),
        (9223372036854774784.0, 9223372036854774784),
        (1e300, int(1e300)),
        (10**308, 10**308),
        (10**309, None),
        (-(10**309), None),
        (math.inf, None),
        (-math.inf, None),
        (math.nan, None),
        (True, None),
        (None, None),
        ("12", None),
        (12 + 0j, None),
        (b"12", None),
        (np.float64(3.5), 3),
        (np.int64(3), None),
        (enum.IntEnum("Size", {"LARGE": 2**70}).LARGE, 2**70),
        (enum.IntEnum("Size", {"SMALL": 2}).SMALL, 2),
    ],
)
def test_what_is_a_count(given_value: Any, wanted: int | None) -> None:
    rows, absent = read(usage.columns([response(1), response(given_value)]))
    assert rows == [(1, 1, 1), (wanted or 0,) * 3]
    assert absent == ((0, 0, 0) if wanted is not None else (1, 1, 1))


def test_other_mappings_and_sequences() -> None:
    counted = OrderedDict.fromkeys(NAMES, 4)
    row = {"kind": "chat_response", "payload": defaultdict(list, {"usage": counted})}
    wanted = ([(4, 4, 4)], (0, 0, 0))
    assert read(usage.columns([row])) == wanted
    assert read(usage.columns((row,))) == wanted
    assert read(usage.columns(iter([row]))) == wanted
    # Nothing springs into being.
    empty: defaultdict[str, Any] = defaultdict(dict)
    assert read(usage.of_payloads([empty])) == ([(0, 0, 0)], (1, 1, 1))
    assert not empty


def test_strings_that_are_not_the_interned_ones() -> None:
    for text in (
        json.loads('"chat_response"'),
        "".join(["chat_", "response"]),
        type("Text", (str,), {})("chat_response"),
    ):
        found = json.loads(json.dumps(response(5)))
        found["kind"] = text
        assert read(usage.columns([found])) == ([(5, 5, 5)], (0, 0, 0))
    assert read(usage.columns([{"kind": "chat_responsé"}, {"kind": "chat_respons\0"}])) == ([], (0, 0, 0))


@pytest.mark.parametrize("wrong", [None, 1, "chat_response", [], ("kind",), object()])
def test_what_is_no_record_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        usage.columns([response(1), wrong])


def test_no_records() -> None:
    assert read(usage.columns([])) == ([], (0, 0, 0))
    assert read(usage.columns([{"kind": "metadata"}, {}, {"payload": {}}])) == ([], (0, 0, 0))
    assert read(usage.of_payloads([])) == ([], (0, 0, 0))


def test_many_records() -> None:
    given_records = [response(k) if k % 3 else {"kind": "chat_request"} for k in range(100_000)]
    rows, absent = read(usage.columns(given_records))
    assert rows == [(k, k, k) for k in range(100_000) if k % 3]
    assert absent == (0, 0, 0)
    assert shares_memory(usage.columns(given_records)[1], np.int64)


class Key:
    """A key that meets every string, and does something on being compared."""

    def __init__(self, text: str, act: Any) -> None:
        self.number = hash(text)
        self.act = act

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        self.act()
        return False


@pytest.mark.parametrize("name", ["kind", "payload", "usage", "input_tokens"])
def test_keys_that_pull_the_rug(name: str) -> None:
    """A comparison of keys may run code; whatever that takes away, nothing is read after it was freed."""
    given_records: list[Any] = []

    def act() -> None:
        if given_records:
            first = given_records[0]
            given_records.clear()
            payload = first.get("payload", {})
            payload.get("usage", {}).clear()
            payload.clear()
            first.clear()
            gc.collect()

    record: dict[Any, Any] = {}
    payload: dict[Any, Any] = {}
    counted: dict[Any, Any] = {}
    {"kind": record, "payload": record, "usage": payload, "input_tokens": counted}[name][Key(name, act)] = 1
    counted.update({found: float(at + 1) for at, found in enumerate(NAMES)})
    payload["usage"] = counted
    record.update(kind="chat_response", payload=payload)
    given_records += [record, response(3)]
    del record, payload, counted
    columns = usage.columns(given_records)
    assert len(columns[0]) <= 1


def test_an_error_of_a_key_is_passed_on() -> None:
    def act() -> None:
        raise RuntimeError("not comparable")

    for name in NAMES:
        with pytest.raises(RuntimeError):
            usage.of_payloads([{"usage": {Key(name, act): 1}}])
    with pytest.raises(RuntimeError):
        usage.of_payloads([{Key("usage", act): 1}])
    for name in ("kind", "payload"):
        with pytest.raises(RuntimeError):
            usage.columns([{Key(name, act): 1} | ({"kind": "chat_response"} if name == "payload" else {})])


def test_nothing_is_kept_or_lost() -> None:
    number, big = float(123456), 2**100
    given_records = [copy.deepcopy(response(number)), response(big)]
    before = [sys.getrefcount(found) for found in (given_records, given_records[0], number, big)]
    for _ in range(50):
        usage.columns(given_records)
        usage.of_payloads([found["payload"] for found in given_records])
    assert [sys.getrefcount(found) for found in (given_records, given_records[0], number, big)] == before


def test_threads_get_the_same() -> None:
    given_records = [response(k if k % 5 else 2**65) for k in range(5_000)]
    wanted = read(usage.columns(given_records))
    assert all(read(found) == wanted for found in in_four_threads(lambda: usage.columns(given_records)))
