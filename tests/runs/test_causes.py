"""Candidate causes and the lines written of them (textdiff §4)."""

from __future__ import annotations

from typing import Any

import pytest

from runs.recording import digest
from stratadiff.runs import causes
from stratadiff.runs.causes import Cause, InputState, candidate_causes
from stratadiff.runs.model import Receipt
from stratadiff.runs.names import quoted, short, value_text

Json = Any
A, B = digest(b"a"), digest(b"b")


def receipt(**members: Json) -> Receipt:
    return Receipt("f.json", "f", 0, "", {"stage": {"name": "s"}, **members})


def item(name: Json, value: str, trust: str = "operator-authored") -> Json:
    return {"digest": value, "name": name, "trust_class": trust}


def described(old: Receipt, new: Receipt) -> list[tuple[str, str, bool]]:
    return [(cause.kind, cause.name, cause.changed) for cause in candidate_causes(old, new)]


INSTRUMENT = [
    ("tool", "instrument.id", False),
    ("tool", "instrument.kind", False),
    ("tool", "instrument.version", False),
    ("setting", "instrument.config_digest", False),
    ("setting", "instrument.manifest_digest", False),
]


def test_order_and_kinds() -> None:
    old = receipt(
        inputs=[item("q", A), item("receipt:up", A), item("gone", A)],
        assertions={"constants": {"b": "1", "é": "2"}, "corpus_manifest": A},
    )
    new = receipt(inputs=[item("new", A), item("q", A)], assertions={"constants": {"Z": "1", "b": "2"}})
    assert described(old, new) == [
        ("input", "q", False),
        ("input", "gone", True),
        ("input", "new", True),
        *INSTRUMENT,
        ("setting", "constants.Z", True),
        ("setting", "constants.b", True),
        ("setting", "constants.é", True),
        ("corpus link", "assertions.corpus_manifest", True),
    ]


def test_a_repeated_input_keeps_its_first_place_and_its_last_value() -> None:
    old = receipt(inputs=[item("x", A), item("y", A), item("x", B)])
    new = receipt(inputs=[item("x", B), item("y", A)])
    assert described(old, new)[:2] == [("input", "x", False), ("input", "y", False)]


def test_link_forms_of_one_digest_are_no_difference() -> None:
    bare = receipt(assertions={"corpus_manifest": A})
    proof = receipt(assertions={"corpus_manifest": {"digest": A, "member": "m", "proof": []}})
    link = candidate_causes(bare, proof)[-1]
    assert (link.kind, link.changed, link.candidate) == ("corpus link", False, A)
    assert candidate_causes(receipt(), receipt(assertions=[]))[-1].kind == "setting"


@pytest.mark.parametrize("wrong", [None, [], "text", True])
def test_members_of_a_wrong_type_read_as_empty(wrong: Json) -> None:
    odd = receipt(inputs=wrong, instrument=wrong, assertions=wrong)
    assert described(odd, receipt()) == INSTRUMENT


def test_settings_lines() -> None:
    old = receipt(
        instrument={"id": "t", "version": "1", "config_digest": A}, assertions={"constants": {"k": "v"}}
    )
    new = receipt(
        instrument={"id": "t", "version": "2", "config_digest": B}, assertions={"constants": {"n": True}}
    )
    assert causes.settings_lines(candidate_causes(old, new)) == [
        "settings: 4 changed",
        "  instrument.version: 1 -> 2",
        f"  instrument.config_digest: {A[7:19]} -> {B[7:19]}",
        "  constants.k: v -> (none)",
        "  constants.n: (none) -> True",
    ]
    assert causes.settings_lines(candidate_causes(old, old)) == ["settings: none changed"]


def test_the_link_is_a_line_of_its_own_and_not_counted() -> None:
    found = candidate_causes(
        receipt(assertions={"corpus_manifest": A}), receipt(assertions={"corpus_manifest": B})
    )
    link = f"corpus link changed: {A[7:19]} -> {B[7:19]}"
    assert causes.settings_lines(found) == ["settings: none changed", link]
    assert not causes.settings_changed(found)
    named = f"corpus link changed: {A[7:19]} (run 1) -> {B[7:19]} (no run id)"
    assert causes.settings_lines(found, ("run 1", None))[-1] == named
    gone = candidate_causes(receipt(assertions={"corpus_manifest": A}), receipt())
    assert causes.settings_lines(gone)[-1] == f"corpus link changed: {A[7:19]} -> (none)"


def test_input_lines() -> None:
    other = "externally-sourced"
    old = receipt(inputs=[item("d", A), item("t", A), item("both", A), item("gone", A), item("same", A)])
    new = receipt(
        inputs=[item("d", B), item("t", A, other), item("both", B, other), item("new", B), item("same", A)]
    )
    assert causes.input_lines(candidate_causes(old, new)) == [
        f"input d (operator-authored) changed: {A[7:19]} -> {B[7:19]}; content not stored",
        "input t (operator-authored -> externally-sourced) changed: trust class only; content not stored",
        "input both (operator-authored -> externally-sourced) changed: "
        f"{A[7:19]} -> {B[7:19]}; content not stored",
        f"input gone (operator-authored) removed: {A[7:19]}; content not stored",
        f"input new (operator-authored) added: {B[7:19]}; content not stored",
    ]


def test_an_input_without_a_digest_is_not_an_absent_one() -> None:
    old, new = receipt(inputs=[{"name": "x"}]), receipt(inputs=[])
    [cause] = [cause for cause in candidate_causes(old, new) if cause.kind == "input"]
    assert (cause.baseline, cause.candidate, cause.changed) == (InputState(None, None), None, True)


def test_results_are_closed() -> None:
    cause = Cause("tool", "instrument.id", "a", "b")
    with pytest.raises(AttributeError):
        cause.name = "other"
    with pytest.raises(AttributeError):
        del cause.name
    assert "instrument.id" in repr(cause)


def test_short_values() -> None:
    assert [short(value) for value in (None, "", A, "0123456789abcdef", "sha256:")] == [
        "(none)",
        "(none)",
        A[7:19],
        "0123456789ab",
        "",
    ]
    assert [value_text(value) for value in (None, A, "plain-digest-value", "", True, ["a"])] == [
        "(none)",
        A[7:19],
        "plain-digest-value",
        "",
        "True",
        "['a']",
    ]


@pytest.mark.parametrize(
    "text",
    ["", "plain", "it's", 'say "x"', "both ' and \"", "back\\slash", "tab\tlf\ncr\r\x00\x1b\x7f\x85\xa0\xad",
     "é漢👩", "\u200b\u202e\u2028\u3000\ufeff", "\ud800x", "\ue000", "\U000e0001\U000f0000"],
)  # fmt: skip
def test_quoted_is_repr(text: str) -> None:
    assert quoted(text) == repr(text)
