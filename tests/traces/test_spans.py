"""Level span: changes between two responses, block by block (levels 4)."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_spans
from stratadiff.errors import LimitError
from stratadiff.traces.model import pair_by_position
from stratadiff.traces.reader import read_trace
from stratadiff.traces.spans import SpanDiff, span_diff
from traces.records import response, use

DATA = Path(__file__).parent.parent / "data" / "agentlog"
CASES = [case["name"] for case in json.loads((DATA / "cases.json").read_text())["cases"]]
PAIRS = [json.loads(line) for line in (DATA / "spans.jsonl").read_text().splitlines()]
WEAK = ["other-tool", "type-mismatch-long", "true-is-one", "string-content", "anagrams"]


def payload(*blocks: Any, stop: Any = "end_turn") -> dict[str, Any]:
    made: dict[str, Any] = response(*blocks, stop=stop)["payload"]
    return made


def changes(baseline: Any, candidate: Any) -> list[tuple[str, int, str]]:
    found = span_diff(baseline, candidate)
    assert [one.to_dict() for one in found] == trace_spans.span_diff(baseline, candidate)
    return [(one.kind, one.block_index, one.summary) for one in found]


def one_change(old: Any, new: Any) -> str:
    """Compare two responses of one block each; the only change."""
    ((_, index, summary),) = changes(payload(old), payload(new))
    assert index == 0
    return summary


# Golden data


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_golden_pairs(number: int) -> None:
    pair = PAIRS[number]
    found = span_diff(pair["baseline"], pair["candidate"])
    assert [
        {"kind": one.kind, "block_index": one.block_index, "summary": one.summary} for one in found
    ] == pair["expect"]


@pytest.mark.parametrize("name", CASES)
def test_golden_traces(name: str) -> None:
    expected = json.loads((DATA / f"{name}.expect.json").read_text())["spans"]
    old, new = (read_trace(str(DATA / f"{name}.{side}.agentlog")) for side in ("baseline", "candidate"))
    assert old.responses is not None
    assert new.responses is not None
    pairing = pair_by_position(old.turn_count, new.turn_count)
    found = []
    for i, j in zip(pairing.baseline, pairing.candidate, strict=True):
        full = span_diff(old.responses[i], new.responses[j])
        found.append([{"kind": d.kind, "block_index": d.block_index, "summary": d.summary} for d in full])
    assert found == expected


@pytest.mark.parametrize("name", WEAK)
def test_known_weaknesses(name: str) -> None:
    expected = json.loads((DATA / "weak" / f"{name}.json").read_text())["expect"]
    paths = [str(DATA / "weak" / f"{name}.{side}.agentlog") for side in ("baseline", "candidate")]
    old, new = map(read_trace, paths)
    assert old.responses is not None
    assert new.responses is not None
    found = [changes(a, b) for a, b in zip(old.responses, new.responses, strict=True)]
    if "spans" in expected:
        names = ("kind", "block_index", "summary")
        assert [[dict(zip(names, one, strict=True)) for one in turn] for turn in found] == expected["spans"]


# The contract


def test_one_block_dropped_of_twenty() -> None:
    blocks = [use("search", f"t{i}", query=i) for i in range(20)]
    assert changes(payload(*blocks), payload(*blocks[:10], *blocks[11:])) == [
        ("tool_use_removed", 10, "tool_use `search` removed")
    ]


def test_u19_one_inserted_block_changes_nothing_else() -> None:
    blocks = [use(name) for name in "abcdefg"]
    assert changes(payload(*blocks), payload(*blocks[:1], use("x"), *blocks[1:])) == [
        ("tool_use_added", 1, "tool_use `x` added")
    ]
    changed = [*blocks[:1], use("b", path="p"), *blocks[2:]]
    assert changes(payload(*blocks), payload(*changed)) == [
        ("tool_use_args_changed", 1, "tool_use `b`: arg added `path`")
    ]


# One pair


def test_nothing_changed() -> None:
    blocks = ["text", use("a", x=1), {"type": "image", "data": [1.0, None]}, {}]
    assert changes(payload(*blocks), copy.deepcopy(payload(*blocks))) == []
    # Ids are never compared, nor are numbers of one value.
    assert changes(payload(use("a", "1", x=1)), payload(use("a", "2", x=1.0))) == []


def test_text() -> None:
    assert one_change("refund approved", "approved refund") == (
        "text block: similarity 0.62  baseline='refund approved'  candidate='approved refund'"
    )
    long = "é" * 61
    assert one_change(long, "it's") == (
        f"text block: similarity 0.00  baseline='{'é' * 60}…'  candidate=\"it's\""
    )
    assert one_change("", "\x1b\n") == ("text block: similarity 0.00  baseline=''  candidate='\\x1b\\n'")


@pytest.mark.parametrize("value", [None, 5, ["x"], {"a": 1}])
def test_a_text_that_is_no_string_is_empty(value: Any) -> None:
    assert changes(payload({"type": "text", "text": value}), payload("")) == []
    assert changes(payload({"type": "text"}), payload({"type": "text", "text": value})) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"b": 1, "a": 2}, {"c": 1, "a": 3}, "arg removed `b`, arg added `c`, arg `a` value changed"),
        ({}, {"z": 1, "é": 1, "a": 1}, "arg added `a`, arg added `z`, arg added `é`"),
        ({"dry_run": True}, {"dry_run": 1}, "arg `dry_run` value changed"),
        ({"x": {"a": [1, 2]}}, {"x": {"a": [2, 1]}}, "arg `x` value changed"),
        (None, {"a": 1}, "arg added `a`"),
        ({"a": None}, None, "arg removed `a`"),
        ("x", {}, "input (non-dict) differs"),
        ("x", None, "input (non-dict) differs"),
        ([1], [2], "input (non-dict) differs"),
        (True, 1, "input (non-dict) differs"),
    ],
)
def test_arguments(old: Any, new: Any, expected: str) -> None:
    blocks = [{"type": "tool_use", "name": "t", "input": value} for value in (old, new)]
    assert one_change(*blocks) == f"tool_use `t`: {expected}"


@pytest.mark.parametrize(
    ("old", "new"), [(None, {}), ({"x": 1}, {"x": 1.0}), ("x", "x"), ([1, None], [1.0, None])]
)
def test_equal_arguments(old: Any, new: Any) -> None:
    blocks = [{"type": "tool_use", "name": "t", "input": value} for value in (old, new)]
    assert changes(payload(blocks[0]), payload(blocks[1])) == []
    del blocks[0]["input"]
    if old is None:
        assert changes(payload(blocks[0]), payload(blocks[1])) == []


def test_another_tool_is_one_removed_and_one_added() -> None:
    assert changes(payload("x", use("delete_user")), payload("x", use("list_users"))) == [
        ("tool_use_removed", 1, "tool_use `delete_user` removed"),
        ("tool_use_added", 1, "tool_use `list_users` added"),
    ]


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({}, "?"),
        ({"name": None}, "None"),
        ({"name": 1.0}, "1.0"),
        ({"name": True}, "True"),
        ({"name": ["a"]}, "['a']"),
    ],
)
def test_names(block: dict[str, Any], shown: str) -> None:
    block = {"type": "tool_use", **block}
    assert changes(payload(), payload(block)) == [("tool_use_added", 0, f"tool_use `{shown}` added")]
    changed = {**block, "input": {"a": 1}}
    assert changes(payload(block), payload(changed)) == [
        ("tool_use_args_changed", 0, f"tool_use `{shown}`: arg added `a`")
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"content": "a"}, {"content": "b"}, "is_error False → False"),
        ({}, {"is_error": True}, "is_error False → True"),
        ({}, {"is_error": None}, "is_error False → None"),
        ({"is_error": 1}, {"is_error": True}, "is_error 1 → True"),
        ({"content": [{"type": "text"}]}, {"content": None}, "is_error False → False"),
        ({"content": "a"}, {}, "is_error False → False"),
    ],
)
def test_tool_results(old: dict[str, Any], new: dict[str, Any], expected: str) -> None:
    kind = {"type": "tool_result"}
    blocks = [{**kind, "tool_use_id": "t1", **old}, {**kind, "tool_use_id": "t2", **new}]
    assert one_change(*blocks) == f"tool_result for t1: {expected}"


def test_equal_tool_results() -> None:
    old = {"type": "tool_result", "tool_use_id": "a", "content": [1]}
    assert (
        changes(payload(old), payload({**old, "tool_use_id": "b", "is_error": False, "content": [1.0]})) == []
    )
    assert changes(payload({**old, "content": None}), payload({"type": "tool_result"})) == []


@pytest.mark.parametrize("kind", ["image", None, 5, True, ["text"], {"a": 1}])
def test_other_blocks(kind: Any) -> None:
    old, new = {"type": kind, "data": 1}, {"type": kind, "data": 2}
    assert one_change(old, new) == f"content block of type {kind!r} differs"
    assert changes(payload(old), payload({**old, "data": 1.0})) == []
    assert changes(payload(), payload(old)) == [("block_added", 0, f"{kind} block added")]


def test_types() -> None:
    assert one_change("x", use("a")) == "block type: 'text' → 'tool_use'"
    assert one_change({"type": None}, {"type": 1}) == "block type: None → 1"
    assert one_change({"type": 1}, {"type": True}) == "block type: 1 → True"
    # Absent is null, 1 is 1.0.
    assert changes(payload({}), payload({"type": 1})) == [("block_type_changed", 0, "block type: None → 1")]
    assert one_change({"type": 1}, {"type": 1.0, "a": 1}) == "content block of type 1 differs"
    assert one_change({}, {"type": None}) == "content block of type None differs"


# Alone, and the stop reason


def test_added_and_removed_blocks() -> None:
    blocks: list[Any] = [
        "x" * 70, use("t"), {"type": "tool_result", "tool_use_id": "id"}, {"type": "tool_result"}, 5,
    ]  # fmt: skip
    expected = [
        ("text_block", f"text block {{}}: '{'x' * 60}'"),
        ("tool_use", "tool_use `t` {}"),
        ("tool_result", "tool_result for id {}"),
        ("tool_result", "tool_result for ? {}"),
        ("block", "None block {}"),
    ]
    for what, sides in (("added", (payload(), payload(*blocks))), ("removed", (payload(*blocks), payload()))):
        assert changes(*sides) == [
            (f"{kind}_{what}", index, text.format(what)) for index, (kind, text) in enumerate(expected)
        ]


def test_sides_carry_the_blocks() -> None:
    old, new = payload("a", use("x"), use("y"), stop=None), payload("b", use("z"))
    found = span_diff(old, new)
    assert [(one.kind, one.baseline, one.candidate) for one in found] == [
        ("text_block_changed", old["content"][0], new["content"][0]),
        ("tool_use_removed", old["content"][1], None),
        ("tool_use_added", None, new["content"][1]),
        ("tool_use_removed", old["content"][2], None),
        ("stop_reason_changed", {"stop_reason": None}, {"stop_reason": "end_turn"}),
    ]
    assert found[0].baseline is old["content"][0]
    assert list(found[0].to_dict()) == ["kind", "block_index", "baseline", "candidate", "summary"]
    assert [field.name for field in dataclasses.fields(found[0])] == list(found[0].to_dict())
    assert found[1] == SpanDiff("tool_use_removed", 1, use("x"), None, "tool_use `x` removed")


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("tool_use", "it's", "'tool_use' -> \"it's\""),
        ("a", None, "'a' -> None"),
        (True, 1, "True -> 1"),
        ([1], {}, "[1] -> {}"),
    ],
)
def test_stop_reasons(old: Any, new: Any, shown: str) -> None:
    assert changes(payload(stop=old), payload(stop=new)) == [
        ("stop_reason_changed", -1, f"stop_reason: {shown}")
    ]


def test_absent_stop_reasons() -> None:
    assert changes({}, {"stop_reason": None}) == []
    assert changes({"stop_reason": 1}, {"stop_reason": 1.0}) == []
    assert changes({}, {"stop_reason": "x"})[0][2] == "stop_reason: None -> 'x'"


# Odd payloads
@pytest.mark.parametrize(
    "odd", [None, 5, "text", [], {}, {"content": None}, {"content": {}}, {"content": ""}]
)
def test_payloads_that_are_no_responses(odd: Any) -> None:
    assert changes(odd, odd) == []
    assert changes(odd, {"content": "text"}) == [("text_block_added", 0, "text block added: 'text'")]


def test_entries_that_are_no_objects_are_empty_blocks() -> None:
    assert changes({"content": [5, "x", None]}, {"content": [{}, {}, {}]}) == []
    assert changes({"content": [5]}, {"content": []}) == [("block_removed", 0, "None block removed")]
    assert changes({"content": "ab"}, {"content": "cd"})[0][0] == "text_block_changed"


def test_nesting_made_in_memory_is_refused_in_one_sentence() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for old, new in (({"a": deep}, {"a": [deep]}), (deep, [deep])):
        with pytest.raises(LimitError):
            span_diff(payload({"type": "x", "input": old}), payload({"type": "x", "input": new}))
    with pytest.raises(LimitError):
        span_diff(payload(stop=deep), payload(stop=1))
    with pytest.raises(LimitError):
        span_diff(payload(), payload({"type": deep}))


def test_payloads_are_not_modified() -> None:
    for pair in PAIRS[:50]:
        before = json.dumps(pair)
        span_diff(pair["baseline"], pair["candidate"])
        assert json.dumps(pair) == before


# Against the reference

scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, "", "a", "ab", "abc", "abd"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
blocks = st.one_of(
    st.sampled_from(["", "a", "abcd", "abce", "b" * 61]).map(lambda text: {"type": "text", "text": text}),
    st.builds(
        lambda name, given: {"type": "tool_use", "name": name, "input": given}, st.sampled_from("ab"), values
    ),
    st.builds(lambda a, b: {"type": "tool_result", "content": a, "is_error": b}, values, scalars),
    st.dictionaries(st.sampled_from(["type", "name", "text", "input", "x"]), scalars, max_size=3),
    scalars,
)
contents = st.lists(blocks, max_size=9)


@st.composite
def content_pairs(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """Draw two contents, the second unrelated or a few edits away."""
    old = draw(contents)
    if draw(st.booleans()):
        return old, draw(contents)
    new = list(old)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(new)))
        new[at : at + draw(st.integers(0, 1))] = draw(st.lists(blocks, max_size=1))
    return old, new


@given(content_pairs(), scalars, scalars)
def test_changes_are_the_references(pair: tuple[list[Any], list[Any]], before: Any, after: Any) -> None:
    old = {"content": pair[0], "stop_reason": before}
    new = {"content": pair[1], "stop_reason": after}
    assert [one.to_dict() for one in span_diff(old, new)] == trace_spans.span_diff(old, new)


@given(content_pairs())
def test_no_change_means_equal(pair: tuple[list[Any], list[Any]]) -> None:
    old = {"content": pair[0]}
    assert span_diff(old, copy.deepcopy(old)) == []


@pytest.mark.slow
def test_two_blocks_of_a_long_turn() -> None:
    blocks = [use(f"tool{i % 7}", x=i) for i in range(2000)]
    found = span_diff(payload(*blocks), payload(*blocks[:1000], "new", *blocks[1001:]))
    assert len(found) == 2
