"""Canonical bytes against the standard library, words for what has none, and JSON read as json reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from run_builder import GOOD
from stratadiff._kernels import json_scan
from stratadiff.core import jsonvalue
from stratadiff.core.canonical import Fragment, NotCanonicalError, can_carry, describe, dump, receipt_bytes

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def test_the_worked_escapes() -> None:
    value = {"k": 'é / " \\ \t \x01 \x7f \u2028 \U0001f600'}
    assert dump(value).hex() == (
        "7b226b223a22c3a9202f205c22205c5c205c74205c7530303031207f20e280a820f09f9880227d"
    )


def test_keys_sort_by_code_point_and_not_by_utf16_unit() -> None:
    assert dump({"\U0001f600": "", "\ue000": "", "\ufb33": "", "B": "", "a": ""}) == (
        '{"B":"","a":"","\ue000":"","\ufb33":"","\U0001f600":""}'.encode()
    )


@settings(max_examples=300)
@given(VALUES)
def test_dump_is_the_standard_librarys_sorted_compact_form(value: Any) -> None:
    expected = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    assert dump(value) == expected
    assert json.loads(dump(value)) == value
    assert can_carry(value)
    if isinstance(value, dict):
        assert receipt_bytes(value) == expected
        assert json_scan.is_canonical(expected)


def test_tuples_are_arrays_and_fragments_are_put_in_as_they_are() -> None:
    value = {"b": (Fragment(b'{"x":[]}'), "é", Fragment(b"[]")), "a": {}, "c": [], "d": ()}
    assert dump(value) == '{"a":{},"b":[{"x":[]},"é",[]],"c":[],"d":[]}'.encode()
    assert dump(Fragment(b'"x"')) == b'"x"'


def test_a_lone_surrogate_is_written_as_its_escape_and_read_back_as_itself() -> None:
    value = {"pa\udcffth": ["\ud800", "\ude00\ud83d"]}
    data = dump(value)
    assert data == rb'{"pa\udcffth":["\ud800","\ude00\ud83d"]}'
    assert json.loads(data) == value


@pytest.mark.parametrize("value", [1, 1.5, [0], {"a": {"b": -1}}, b"x", {1: "a"}, object()])
def test_numbers_and_strangers_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dump(value)


@pytest.mark.parametrize(
    "value", [1, 1.5, float("nan"), [0], {"a": [1]}, "\ud800", {"\udc00": ""}, [{"a": "x\udfff"}]]
)
def test_what_canonical_json_cannot_carry(value: object) -> None:
    assert not can_carry(value)


def test_deep_values_do_not_recurse() -> None:
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    assert not can_carry(deep)
    with pytest.raises(NotCanonicalError, match="JSON number at "):
        receipt_bytes({"a": deep})


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"a":{"b":[1]}}', "JSON number at $.a.b[0]: use a decimal string"),
        ('{"z":{"b":1,"a":2},"a":3}', "JSON number at $.z.b: use a decimal string"),
        ('{"a b":[[],[true,-0]]}', "JSON number at $.a b[1][1]: use a decimal string"),
        ('{"a":NaN}', "JSON number at $.a: use a decimal string"),
        ('{"receipt_id":"x","a":1e3}', "JSON number at $.a: use a decimal string"),
        ('{"receipt_id":"\\ud800"}', "a receipt may not carry its own digest"),
        ('{"receipt_digest":null}', "a receipt may not carry its own digest"),
    ],
)
def test_the_first_problem_of_a_receipt(text: str, detail: str) -> None:
    with pytest.raises(NotCanonicalError) as caught:
        receipt_bytes(json.loads(text))
    assert caught.value.message == detail


def test_the_golden_receipts_are_their_own_canonical_form() -> None:
    for path in GOOD.glob("*/receipts/*.json"):
        data = path.read_bytes()
        value = jsonvalue.parse(data.decode())
        assert receipt_bytes(value) == dump(value) == data
        assert json_scan.is_canonical(data)


def test_describing_what_was_not_expected() -> None:
    assert describe([None, {"b": 1, "a": "é"}]) == '[null,{"a":"é","b":1}]'


@settings(max_examples=300)
@given(VALUES | st.floats() | st.integers())
def test_parse_reads_what_json_reads(value: Any) -> None:
    text = json.dumps(value, indent=1)
    assert repr(jsonvalue.parse(text)) == repr(json.loads(text))


@given(st.text(st.sampled_from('{}[]",:0123456789.eE+-tfnNaInity\\u \n\t\r\x00\ufeff\u00a0'), max_size=12))
def test_parse_fails_as_json_fails(text: str) -> None:
    try:
        expected = repr(json.loads(text))
    except ValueError as error:
        with pytest.raises(ValueError) as caught:
            jsonvalue.parse(text)
        assert (type(caught.value), str(caught.value)) == (type(error), str(error))
    else:
        assert repr(jsonvalue.parse(text)) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "\ufeff{}", "{} {}", '{"a":1,"a":2}', "NaN", "-Infinity", "1" * 5000, '"\x00"', "[1,]", "\xa01",
     "nul", "{'a':1}", '{"a" 1}', "-", '"\\ud800"', "1e999"],
)  # fmt: skip
def test_parse_on_odd_texts(text: str) -> None:
    try:
        expected = repr(json.loads(text))
    except ValueError as error:
        with pytest.raises(type(error)) as caught:
            jsonvalue.parse(text)
        assert str(caught.value) == str(error)
    else:
        assert repr(jsonvalue.parse(text)) == expected
