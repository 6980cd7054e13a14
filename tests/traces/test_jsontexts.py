"""Texts that are JSON, with and without fences (levels 1.5, 3.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_axes, trace_turns
from stratadiff.traces.jsontexts import holds_json, is_json, means_json, unfenced

PARTS = ("```", "```json", "`", "\n", "js", " ", "\x85", "\x1f", "{", "}", "[1]", '{"a":1}', "é", "1", "json")
texts = st.lists(st.sampled_from(PARTS), max_size=7).map("".join)


@given(texts)
def test_fences_are_taken_off_as_defined(text: str) -> None:
    payload = {"content": text}
    assert unfenced(text) == trace_axes.unfenced(payload)
    assert holds_json(text) == trace_turns.holds_json(payload)
    assert is_json(text) == trace_axes.is_json(text)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("\u2028 x \xa0", "x"),
        ("```json\n[1]\n```", "[1]"),
        ("```json [1]```", "[1]"),
        ("```[1]", "[1]"),
        ("```\n```\n```", "```"),
        ("```x\n[1] ``` ```", "[1] ```"),
        ("[1]```", "[1]```"),
        ("\x1c[1]", "\x1c[1]"),  # white space to Python, not to Unicode
    ],
)
def test_unfenced(text: str, bare: str) -> None:
    assert unfenced(text) == bare


@pytest.mark.parametrize(
    "text", ["", " ", "nan", "NaN", "[Infinity]", "[1e999]", r'"\ud800"', "[1] x", "\x1c1", '"\ud800"']
)
def test_not_json(text: str) -> None:
    assert not is_json(text)
    assert not holds_json(text)


def test_depth() -> None:
    assert is_json("[" * 127 + "]" * 127)
    assert not is_json("[" * 128 + "]" * 128)
    assert not is_json("[" * 1_000_000)


@pytest.mark.parametrize("text", ["1", "true", "```json\n1```", "``` \n{}\n``````", "[1]```", " null\u3000"])
def test_whole_texts_that_are_json(text: str) -> None:
    assert holds_json(text)


def test_intent() -> None:
    assert [means_json(text) for text in ("{", "[x", "1", "", "a{")] == [True, True, False, False, False]


def test_many_backticks() -> None:
    assert not holds_json("x" + "`" * 3_000_000)
