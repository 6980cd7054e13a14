"""Hypothesis strategies for pairs of small traces, ordinary and with odd values in every place."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

Record = dict[str, Any]

TEXTS = (
    "",
    " ",
    "Done.",
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumped over a lazy dog",
    "The  Quick\n\tbrown FOX \x1c jumps",
    "I won't do that.",
    "I can’t help with that, sorry.",
    "Please do not refuse today; iwon't do.",
    "İSTANBUL ΟΔΟΣ ὈΔΟΣ straße e\u0301 नमस्ते ﬁn 漢字 \u2028 x\u00b2",
    '{"a": 1}',
    '{"a": 1',
    "[1, 2]",
    "true",
    '```json\n{"a": [1]}\n```',
    "```[1]```",
    "```js x [1]\n```",
    "```",
    "\u0085 [1] \u00a0",
    "[1e999]",
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 1.0, -0.0, 2.5, 2**53 + 1, float(2**60), 2**60, 2**64, 1e21),
    *("", "x", "é", "e\u0301", [], [1], [1.0], [True], {}, {"a": 1}, {"a": 1.0}, {"b": 2, "a": 1}, {"é": 1}),
)
NAMES: tuple[Any, ...] = ("read", "read", "write", "search", "rm", "", "b(x", None, 3)
STOPS: tuple[Any, ...] = ("end_turn", "end_turn", "tool_use", "refusal", "content_filter", None, 5, "")
COUNTS: tuple[Any, ...] = (0, 1, 5, 5, 12, 400, 3.5, -2, None, True, "10", [])
MODELS: tuple[Any, ...] = ("m", "m-2026-05-01", "n", "n-20260501", "other", None, 7)
PRICES: dict[str, Any] = {
    "m": {"input": 1e-6, "output": 4e-6, "cached_input": 1e-7, "reasoning": 5e-6, "batch_discount": 0.5},
    "n": [3e-6, 1.5e-5],
}

values = st.sampled_from(VALUES)
inputs = st.one_of(values, st.dictionaries(st.sampled_from(("a", "b", "é", "e\u0301")), values, max_size=3))
texts = st.one_of(
    st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.text("ab \n'iwont{}[]`1,\u00e9", max_size=12)
)


@st.composite
def blocks(draw: st.DrawFn) -> Any:
    """Draw an entry of ``content``."""
    kind = draw(
        st.sampled_from(("text", "text", "text", "tool_use", "tool_use", "tool_use", "thinking", "odd"))
    )
    if kind == "text":
        return {"type": "text", "text": draw(st.one_of(texts, texts, texts, st.none()))}
    if kind == "tool_use":
        block = {"type": "tool_use", "id": "t", "name": draw(st.sampled_from(NAMES))}
        return block | {"input": draw(inputs)} if draw(st.integers(0, 9)) else block
    if kind == "thinking":
        return {"type": "thinking", "text": "hm"}
    return draw(
        st.sampled_from((None, "x", 1, {}, {"type": None}, {"type": "image"}, {"type": "tool_result"}))
    )


@st.composite
def payloads(draw: st.DrawFn) -> Any:
    """Draw the payload of a response."""
    if not draw(st.integers(0, 29)):
        return draw(st.sampled_from((None, [], "x", {})))
    content = draw(st.one_of(*[st.lists(blocks(), max_size=4)] * 8, texts, st.none()))
    payload = {"content": content, "stop_reason": draw(st.sampled_from(STOPS))}
    count = st.sampled_from(COUNTS)
    if draw(st.integers(0, 9)):
        names = (
            "input_tokens",
            "output_tokens",
            "thinking_tokens",
            "cached_input_tokens",
            "cached_write_5m_tokens",
        )
        payload["usage"] = {name: draw(count) for name in names if draw(st.integers(0, 4))}
    payload["latency_ms"] = draw(count)
    payload["model"] = draw(st.sampled_from(MODELS))
    payload["batch"] = draw(st.sampled_from((True, False, None, 1)))
    return payload


@st.composite
def trace_pairs(
    draw: st.DrawFn, max_turns: int = 6, max_sessions: int = 3
) -> tuple[list[Record], list[Record]]:
    """Draw the records of two traces; the candidate is an edited baseline, or another trace."""
    baseline = draw(st.lists(payloads(), max_size=max_turns))
    candidate = copy.deepcopy(baseline)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(candidate)))
        what = draw(st.sampled_from(("insert", "delete", "replace", "replace", "content", "repeat")))
        if what == "insert":
            candidate.insert(place, draw(payloads()))
        elif what == "delete":
            del candidate[place : place + 1]
        elif what == "replace":
            candidate[place : place + 1] = [draw(payloads())]
        elif what == "repeat":
            candidate[place:place] = copy.deepcopy(candidate[:1])
        elif place < len(candidate) and isinstance(candidate[place], dict):
            candidate[place] = candidate[place] | {"content": draw(st.lists(blocks(), max_size=3))}
    return draw(_records(baseline, max_sessions)), draw(_records(candidate, max_sessions))


@st.composite
def _records(draw: st.DrawFn, responses: list[Any], max_sessions: int) -> list[Record]:
    starts = set(draw(st.lists(st.integers(0, len(responses)), max_size=max_sessions)))
    made: list[Record] = []
    for turn in range(len(responses) + 1):
        if turn in starts:
            made.append({"kind": "metadata", "id": f"m{turn}", "payload": {}})
        if turn == len(responses):
            break
        if draw(st.booleans()):
            role = draw(st.sampled_from(("user", "tool", "system")))
            made.append({"kind": "chat_request", "id": f"q{turn}", "payload": {"messages": [{"role": role}]}})
        made.append({"kind": "chat_response", "id": f"r{turn}", "payload": responses[turn]})
        if not draw(st.integers(0, 5)):
            made[-1]["meta"] = {"trace_id": f"trace {turn}"}
    return made
