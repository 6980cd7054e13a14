"""Refusals, by phrases and by stop reasons (levels 1.3, 3.1, 9 item 7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_axes, trace_turns
from stratadiff.traces.refusals import ABSTENTIONS, CONTRACT, REFUSALS, STRICT, rules_of

PARTS = (*ABSTENTIONS, *REFUSALS, "i", "wont", " ", "’", "ʼ", "é", "\u0301", "²", "_", "I WON'T", "İ")
texts = st.lists(st.sampled_from(PARTS), max_size=5).map("".join)


@given(texts, st.sampled_from((None, "refusal", "content_filter", "end_turn", 5)), st.booleans())
def test_refusals_are_those_of_the_definition(text: str, stop: Any, is_strict: bool) -> None:
    refusals = STRICT if is_strict else CONTRACT
    payload = {"content": text, "stop_reason": stop}
    trace_rule, turn_rule = rules_of(refusals)
    expected = trace_axes.abstains(payload, refusals), trace_turns.refuses(payload, refusals)
    assert tuple(rule.stops(stop) or rule.speaks(text) for rule in (trace_rule, turn_rule)) == expected


def test_phrases() -> None:
    assert (ABSTENTIONS, REFUSALS) == (trace_axes.ABSTENTIONS, trace_axes.REFUSALS)


@pytest.mark.parametrize(
    ("text", "contract", "strict"),
    [
        ("The API won't be affected", True, False),
        ("I can’t help with that.", False, True),
        ("Iʼm unable to", False, True),
        ("I refuse tomatoes", True, False),
        ("éi won't", True, False),
        ("\u0301i won't", True, True),  # a mark is no letter
        ("i won't² i won't", True, True),  # the second occurrence stands alone
        ("i won'ts", True, False),
        ("_i won't_", True, True),
        ("i will not", False, True),  # a phrase of the turn level
    ],
)
def test_strict_is_whole_words_and_any_apostrophe(text: str, contract: bool, strict: bool) -> None:
    assert rules_of(CONTRACT)[0].speaks(text) is contract
    assert [rule.speaks(text) for rule in rules_of(STRICT)] == [strict, strict]


def test_own_phrases_replace_those_of_the_trace_level() -> None:
    trace_rule, turn_rule = rules_of(CONTRACT, ["Nope"])
    assert trace_rule.speaks("NOPE!")
    assert not trace_rule.speaks("I won't")
    assert not turn_rule.speaks("nope")
    assert rules_of(STRICT, ["nope"])[1].speaks("nope")
