"""Canonical JSON of trace payloads and their ids (agentlog 4)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog
from stratadiff.core.contentid import canonical, content_id, number_text
from stratadiff.errors import LimitError

DATA = Path(__file__).parent.parent / "data" / "agentlog"
VECTORS = [json.loads(line) for line in (DATA / "canonical.jsonl").read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["json"][:30])
def test_golden(vector: dict[str, str]) -> None:
    value = json.loads(vector["json"])
    assert canonical(value).decode() == vector["canonical"]
    assert content_id(value) == vector["id"]


texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    "aé\u0065\u0301Å\u212b\u1100\u1161\n\x7f\u2028\ufb33😀"
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=15,
)


@given(values)
def test_as_the_reference(value: Any) -> None:
    assert canonical(value) == agentlog.canonical(value)
    assert content_id(value) == agentlog.content_id(value)


# Doubles near powers of two and of ten, where two digit strings can be equally near.
@given(
    st.floats(allow_nan=False, allow_infinity=False)
    | st.builds(math.ldexp, st.integers(2**52, 2**53), st.integers(-80, 20))
)
def test_numbers_as_the_reference(value: float) -> None:
    text = number_text(value)
    assert text.encode() == agentlog.canonical(value)
    assert "e" not in text
    assert float(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(96220036614340.125, "96220036614340.13"), (1e21, "1000000000000000000000"), (1e-7, "0.0000001"),
     (-0.0, "0"), (1.5, "1.5"), (123456.0, "123456"), (-2.5e-5, "-0.000025"),
     (2.0**64, "18446744073709552000")],
)  # fmt: skip
def test_numbers(value: float, text: str) -> None:
    assert number_text(value) == text


def test_u14_keys_sort_by_code_point_not_by_utf_16() -> None:
    assert canonical({"\U00010000": 1, "\uffff": 2, "\u00e9": 3, "e\u0301x": 4}).decode() == (
        '{"\u00e9":3,"\u00e9x":4,"\uffff":2,"\U00010000":1}'
    )


def test_keys_that_become_equal_are_both_kept_in_their_order() -> None:
    assert canonical({"e\u0301": 1, "\u00e9": 2}).decode() == '{"\u00e9":1,"\u00e9":2}'
    assert canonical({"\u00e9": 2, "e\u0301": 1}).decode() == '{"\u00e9":2,"\u00e9":1}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800", {"\udfff": 1}, 10**400])
def test_what_is_no_json(value: Any) -> None:
    with pytest.raises(ValueError):
        canonical([value])


@pytest.mark.parametrize("value", [{1: 2}, {None: 1}, b"x", {1}, object()])
def test_wrong_types(value: Any) -> None:
    with pytest.raises(TypeError):
        canonical(value)


def test_u15_depth() -> None:
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(LimitError, match="nested deeper"):
        canonical(deep)
    while isinstance(deep, list):
        deep = deep.pop()
