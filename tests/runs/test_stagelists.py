"""Receipts parsed with their stage lists taken out and put back are what json makes of the whole text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from run_builder import GOOD, canonical
from stratadiff.core import jsonvalue
from stratadiff.runs.stagelists import StageLists

NAMES = st.sampled_from(
    ["a", "b", "]", '"', "\\", "a,b", '","', '"declared_stages":', '"emitting_stages":[', "é", ""]
)
LISTS = st.lists(NAMES, max_size=4) | st.lists(NAMES | st.none() | st.just([]), max_size=3)
MEMBERS = st.sampled_from(
    ["declared_stages", "emitting_stages", 'x"declared_stages', 'x"emitting_stages', "zz", "boundaries"]
)
OBJECTS = st.dictionaries(MEMBERS, LISTS | NAMES | st.none(), max_size=4)


@st.composite
def runs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw receipts whose lists are often the first one's, or the start of it."""
    declared = draw(LISTS)
    receipts: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(2, 4))):
        coverage = draw(OBJECTS)
        coverage.setdefault("declared_stages", declared)
        coverage.setdefault("emitting_stages", declared[: draw(st.integers(0, 4))])
        receipt: dict[str, Any] = {"coverage": draw(st.sampled_from([coverage, coverage, coverage, None]))}
        receipt.update(draw(st.dictionaries(MEMBERS, OBJECTS | LISTS | NAMES, max_size=2)))
        receipts.append(receipt)
    return receipts


@settings(max_examples=1500)
@given(runs())
def test_the_values_are_jsons(receipts: list[dict[str, Any]]) -> None:
    lists = StageLists()
    for receipt in receipts:
        text = canonical(receipt).decode()
        assert lists.parse(text) == json.loads(text)


def test_the_lists_are_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_text() for path in sorted(GOOD.glob("linear/receipts/*.json"))]
    expected = [json.loads(text) for text in texts]
    lengths: list[int] = []
    real = jsonvalue.parse

    def parse(text: str) -> Any:
        lengths.append(len(text))
        return real(text)

    monkeypatch.setattr(jsonvalue, "parse", parse)
    lists = StageLists()
    values = [lists.parse(text) for text in texts]
    assert values == expected
    assert lengths[0] == len(texts[0])
    assert all(length < len(text) - 40 for length, text in zip(lengths[1:], texts[1:], strict=True))
    first = values[0]["coverage"]["declared_stages"]
    assert all(value["coverage"]["declared_stages"] is first for value in values)
