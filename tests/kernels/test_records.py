"""Records that are Python dictionaries: turns, and what stands in them (agentlog 3, 6)."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict, UserString
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import agentlog
from stratadiff._kernels import records as kernel
from stratadiff._kernels.records import (
    CHAT_REQUEST,
    CHAT_RESPONSE,
    METADATA,
    OTHER,
    TOOL_CALL,
    contents,
    split,
)
from strategies import in_four_threads, shares_memory

DATA = Path(__file__).parent.parent / "data" / "agentlog"

Record = dict[str, Any]

KINDS = {
    "metadata": METADATA,
    "chat_request": CHAT_REQUEST,
    "chat_response": CHAT_RESPONSE,
    "tool_call": TOOL_CALL,
}


class Text(str):
    """A string that is more than a string."""

    __slots__ = ()


def turns(*payloads: Any) -> list[Record]:
    return [{"kind": "chat_response", "payload": payload} for payload in payloads]


# Records


@pytest.mark.parametrize(
    "kind", [*KINDS, "tool_result", "chat_responses", "", "ſ", None, 5, True, b"metadata", []]
)
def test_kinds(kind: Any) -> None:
    expected = KINDS.get(kind, OTHER) if isinstance(kind, str) else OTHER
    assert split([{"kind": kind}])[0] == bytes([expected])
    if isinstance(kind, str):
        # Not the interned one, and not exactly a string.
        assert split([{"kind": "".join(list(kind))}, {"kind": Text(kind)}])[0] == bytes([expected] * 2)
        assert split([{"kind": UserString(kind)}])[0] == bytes([OTHER])


def test_turns_and_their_requests() -> None:
    asked, answered = {"n": 1}, {"n": 2}
    records = [
        {"kind": "chat_request", "payload": {"n": 0}},
        {"kind": "chat_request", "payload": asked},
        {"kind": "metadata"},
        {"kind": "chat_response", "payload": answered},
        {"kind": "chat_response", "payload": 5},
        {"kind": "chat_request", "payload": None},
        {"kind": "chat_response"},
        {"kind": "chat_request", "payload": {}},
    ]
    kinds, responses, requests, named = split(records)
    assert kinds == bytes([1, 1, 0, 2, 2, 1, 2, 1])
    assert responses == [answered, {}, {}]
    assert responses[0] is answered
    assert requests == [asked, None, {}]
    assert requests[0] is asked
    assert named == -1


@pytest.mark.parametrize("meta", [None, 5, {}, {"trace_id": None}, {"trace_id": 5}, [("trace_id", "x")]])
def test_the_record_that_names_the_trace(meta: Any) -> None:
    named = {"kind": "x", "meta": {"trace_id": ""}}
    assert split([{"meta": meta}, {}, named, {"meta": {"trace_id": "later"}}])[3] == 2
    assert split([{"meta": meta}])[3] == -1
    assert split([named, named])[3] == 0


def test_nothing() -> None:
    assert split([]) == (b"", [], [], -1)
    assert [list(part) if part is not None else None for part in contents([], False)] == [[], [], [], None]
    assert contents([], True)[3] == []


@pytest.mark.parametrize("odd", [None, 5, "x", [("kind", "metadata")]])
def test_a_record_that_is_no_dictionary(odd: Any) -> None:
    with pytest.raises(ValueError) as caught:
        split([{}, {}, odd, odd])
    assert caught.value.args == (2,)
    with pytest.raises(ValueError, match="responses must be dictionaries"):
        contents([{}, odd], False)


@pytest.mark.parametrize("records", [None, (), {}, iter([])])
def test_what_is_no_list_is_refused(records: Any) -> None:
    with pytest.raises(TypeError):
        split(records)
    with pytest.raises(TypeError):
        contents(records, False)


def test_dictionaries_of_other_types() -> None:
    payload = OrderedDict(content=[OrderedDict(type="text", text="a")])
    assert contents([payload], False)[0] == ["a"]
    assert split([OrderedDict(kind="chat_response", payload=payload)])[1] == [payload]


# Contents


def test_texts() -> None:
    def text(*texts: Any) -> Any:
        return contents([{"content": [{"type": "text", "text": text} for text in texts]}], False)[0]

    assert text() == [""]
    assert text("a") == ["a"]
    assert text("a", "", "é") == ["a\n\né"]
    assert text(None, 5, b"x") == ["\n\n"]
    assert text(Text("a"), Text("b")) == ["a\nb"]
    assert text("\ud800", "\0") == ["\ud800\n\0"]


@pytest.mark.parametrize("content", [None, 5, {}, True, ("x",), b"x"])
def test_content_that_is_neither_list_nor_text(content: Any) -> None:
    assert contents([{"content": content}, {}], False)[0] == ["", ""]


def test_content_that_is_a_text() -> None:
    assert contents([{"content": "whole"}, {"content": ""}], False)[0] == ["whole", ""]


def test_calls() -> None:
    use = {"type": "tool_use", "name": "a", "id": "1", "input": {}}
    responses = [
        {"content": [use, {"type": "text", "text": "x"}, {**use, "name": None, "id": 5}]},
        {
            "content": [
                5,
                None,
                "tool_use",
                [],
                {},
                {"type": None},
                {"type": ["tool_use"]},
                {"type": "tool_uses"},
            ]
        },
        {"content": "tool_use"},
        {"content": [{"type": "tool_use"}, {**use, "name": "b", "id": ""}]},
    ]
    texts, at, names, ids = contents(responses, True)
    assert texts == ["x", "", "tool_use", ""]
    assert list(at) == [0, 0, 3, 3]
    assert names == ["a", "", "", "b"]
    assert ids == ["1", "", "", ""]
    assert contents(responses, False)[3] is None
    assert shares_memory(at)


# Against the reference

PATHS = sorted(DATA.rglob("*.agentlog"))


@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_golden_traces(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    check(records)


def check(records: list[Record]) -> None:
    before = json.dumps(records)
    kinds, responses, requests, _ = split(records)
    assert list(kinds) == [KINDS.get(record.get("kind", ""), OTHER) for record in records]
    assert responses == agentlog.turns(records)
    assert requests == agentlog.requests(records)
    texts, at, names, _ = contents(responses, False)
    assert texts == ["\n".join(agentlog.texts(payload)) for payload in responses]
    blocks = [record for record in records if record.get("kind") != "tool_call"]
    assert list(zip(at, names, strict=True)) == agentlog.tool_calls(blocks)
    assert json.dumps(records) == before


scalars = st.sampled_from([None, True, 5, "", "a", "text", "tool_use"])
block = st.one_of(
    st.dictionaries(st.sampled_from(["type", "text", "name", "id"]), scalars),
    scalars,
    st.lists(scalars, max_size=2),
)
payload = st.dictionaries(st.sampled_from(["content", "x"]), st.lists(block, max_size=4) | scalars) | scalars
record = st.fixed_dictionaries({"kind": st.sampled_from([*KINDS, "error"])}, optional={"payload": payload})


@given(st.lists(record, max_size=8))
def test_the_reference_agrees(records: list[Record]) -> None:
    check(records)


# What a hostile object can do


class Loud:
    """A key that hashes like a member's name and does something when it is compared."""

    def __init__(self, name: str, act: Any) -> None:
        self.name = name
        self.act = act

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        self.act()
        return False


def raising() -> None:
    raise RuntimeError("comparison")


@pytest.mark.parametrize("name", ["kind", "payload", "meta"])
def test_an_error_of_a_comparison_passes_through(name: str) -> None:
    hostile: dict[Any, Any] = {Loud(name, raising): 1}
    if name != "kind":
        hostile["kind"] = "chat_response"
    with pytest.raises(RuntimeError, match="comparison"):
        split([hostile])


@pytest.mark.parametrize("name", ["content", "type", "text", "name", "id"])
def test_an_error_of_a_comparison_within_a_response_passes_through(name: str) -> None:
    kinds = {"text": "text", "name": "tool_use", "id": "tool_use"}
    members: dict[Any, Any] = {Loud(name, raising): 1}
    if name in kinds:
        members["type"] = kinds[name]
    with pytest.raises(RuntimeError, match="comparison"):
        contents([members if name == "content" else {"content": [members]}], True)


def test_lists_that_change_while_they_are_read() -> None:
    grown: list[Any] = []
    grown += [{Loud("kind", lambda: grown.append({"kind": "metadata"})): 1}, {}]
    kinds, *_ = split(grown)
    assert len(kinds) == 2
    shrunk: list[Any] = []
    shrunk += [{Loud("kind", shrunk.clear): 1}, {}, {}]
    assert split(shrunk)[0] == bytes([OTHER])
    responses: list[Any] = []
    responses += [{Loud("content", responses.clear): 1}, {}, {}]
    assert contents(responses, True)[0] == [""]
    blocks: list[Any] = []
    blocks += [{Loud("type", blocks.clear): 1}, {"type": "text", "text": "x"}]
    assert contents([{"content": blocks}], True)[0] == [""]


def test_no_reference_is_lost_or_kept() -> None:
    text, name, call_id = "text of a turn " * 3, "a long name " * 3, "an id " * 5
    blocks = [{"type": "text", "text": text}, {"type": "tool_use", "name": name, "id": call_id}]
    records = turns({"content": blocks}, {"content": text}, {"content": [blocks[0], blocks[0]]})
    kept = [text, name, call_id, blocks, records[0]["payload"], records]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(50):
        contents(split(records)[1], True)
    assert [sys.getrefcount(one) for one in kept] == before


def test_four_threads() -> None:
    records = [json.loads(line) for line in PATHS[0].read_text("utf-8").splitlines()]
    expected = split(records), contents(split(records)[1], True)
    for found in in_four_threads(lambda: (split(records), contents(split(records)[1], True))):
        assert found == expected


def test_constants() -> None:
    assert (kernel.METADATA, kernel.CHAT_REQUEST, kernel.CHAT_RESPONSE, kernel.TOOL_CALL) == (0, 1, 2, 3)
