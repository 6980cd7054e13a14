"""Seeded agent traces for the benchmarks: the same call gives the same bytes everywhere.

========================  =====================================================================
``trace_pair(turns)``     records of two traces, the candidate an edited baseline; about 1.4 KB a turn
``write_trace_pair``      the same as files
``long_turns(blocks)``    two response payloads of many blocks
``POLICY``, ``PRICING``   eight rules, one of each kind; rates of the models used
========================  =====================================================================

Run it to lay out a pair for a look by hand: ``python benchmarks/trace_workloads.py DIR 1000``.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import sys
from typing import Any

from workloads import NOUNS, VERBS, Draw, sentence

Json = Any
Records = list[dict[str, Json]]

PRICING: dict[str, Json] = {
    "claude-opus-4-7": {"input": 1.5e-05, "output": 7.5e-05, "cached_input": 1.5e-06, "reasoning": 7.5e-05},
    "claude-haiku-4-5": [8e-07, 4e-06],
}
"""USD per token, made up."""

POLICY: dict[str, Json] = {
    "rules": [
        {"id": "a", "kind": "must_call_before", "params": {"first": "read_record", "then": "drop_table"}},
        {"id": "b", "kind": "must_call_once", "params": {"tool": "send_report"}},
        {"id": "c", "kind": "no_call", "params": {"tool": "drop_table"}, "severity": "critical"},
        {"id": "d", "kind": "max_turns", "params": {"limit": 100}, "severity": "warning"},
        {"id": "e", "kind": "required_stop_reason", "params": {"allowed": ["end_turn", "tool_use"]}},
        {"id": "f", "kind": "max_total_tokens", "params": {"limit": 1_000_000}},
        {"id": "g", "kind": "must_include_text", "params": {"text": "the whole ledger is closed"}},
        {"id": "h", "kind": "forbidden_text", "params": {"text": "SSN:"}, "severity": "critical"},
    ]
}
"""A policy with one rule of each kind."""

_TOOLS = ("read_record", "search_records", "write_record", "send_report", "run_check", "drop_table")
_FIELDS = ("record_id", "query", "limit", "target", "dry_run")
_START = 1_777_593_600_000  # 2026-05-01


def _time(milliseconds: int) -> str:
    seconds, part = divmod(milliseconds, 1000)
    days, rest = divmod(seconds - _START // 1000, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"2026-05-{days + 1:02d}T{clock}.{part:03d}Z"


def _content_id(payload: Json) -> str:
    # Payloads are ASCII with integers only, where the canonical form is this one.
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _tool_use(draw: Draw, number: int) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for field in _FIELDS[: 1 + draw.below(4)]:
        values[field] = draw.below(5000) if draw.unit() < 0.5 else f"{draw.pick(NOUNS)}-{draw.below(300)}"
    # drop_table is rare, or a rule that forbids it would say nothing but that
    name = _TOOLS[draw.below(5)] if draw.unit() < 0.995 else _TOOLS[5]
    return {"type": "tool_use", "id": f"toolu_{number:08x}", "name": name, "input": values}


def _response(draw: Draw, number: int) -> dict[str, Json]:
    content: list[Json] = []
    if draw.unit() < 0.8:
        content.append({"type": "text", "text": sentence(draw, 20 + draw.below(40))})
    calls = (0, 1, 1, 2)[draw.below(4)] if content else 1
    content += [_tool_use(draw, number * 4 + k) for k in range(calls)]
    if draw.unit() < 0.1:
        content.insert(0, {"type": "thinking", "text": sentence(draw, 20)})
    return {
        "model": "claude-opus-4-7" if draw.unit() < 0.7 else "claude-haiku-4-5",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "latency_ms": 200 + draw.below(9000),
        "usage": {
            "input_tokens": 500 + draw.below(8000),
            "output_tokens": 20 + draw.below(900),
            "thinking_tokens": draw.below(400) if draw.unit() < 0.3 else 0,
            "cached_input_tokens": draw.below(4000) if draw.unit() < 0.3 else 0,
        },
    }


def _request(draw: Draw, response: dict[str, Json]) -> dict[str, Json]:
    return {
        "model": response["model"],
        "messages": [
            {"role": "system", "content": "You are a careful agent that keeps records."},
            {"role": "user" if draw.unit() < 0.4 else "tool", "content": sentence(draw, 30 + draw.below(40))},
        ],
        "params": {"max_tokens": 1024},
    }


def _edit(draw: Draw, response: dict[str, Json], number: int) -> None:
    """Change a response as a new version of an agent would."""
    content = response["content"]
    usage = response["usage"]
    usage["output_tokens"] = usage["output_tokens"] * (80 + draw.below(60)) // 100
    response["latency_ms"] = response["latency_ms"] * (80 + draw.below(60)) // 100
    uses = [block for block in content if block["type"] == "tool_use"]
    kind = draw.unit()
    if kind < 0.6:
        for block in content:
            if block["type"] == "text":
                words = block["text"].split(" ")
                for _ in range(1 + draw.below(8)):
                    words[draw.below(len(words))] = f"{draw.pick(VERBS)}{draw.below(50)}"
                block["text"] = " ".join(words)
    elif kind < 0.75 and uses:
        use = uses[draw.below(len(uses))]
        use["input"][_FIELDS[draw.below(5)]] = draw.below(5000)
    elif kind < 0.85:
        content.append(_tool_use(draw, number * 4 + 3))
        response["stop_reason"] = "tool_use"
    elif kind < 0.92 and len(content) > 1:
        del content[draw.below(len(content))]
    elif kind < 0.96:
        response["content"] = [{"type": "text", "text": f"I cannot help with that: {sentence(draw, 12)}"}]
        response["stop_reason"] = "end_turn"
    else:
        content.append({"type": "text", "text": f"SSN: {draw.below(10**9):09d}"})


def _trace(turns: list[tuple[Json, Json]], side: str, session_turns: int, draw: Draw) -> Records:
    records: Records = []
    now = _START

    def add(kind: str, payload: Json) -> None:
        nonlocal now
        now += 1 + draw.below(900)
        records.append(
            {
                "version": "0.1",
                "id": _content_id(payload),
                "kind": kind,
                "ts": _time(now),
                "parent": records[-1]["id"] if records else None,
                "payload": payload,
            }
        )

    for number, (request, response) in enumerate(turns):
        if number % session_turns == 0:
            add("metadata", {"sdk": {"name": "agentkit", "version": "2.1.0"}, "tags": {"side": side}})
        add("chat_request", request)
        add("chat_response", response)
    return records


def trace_pair(
    turns: int, seed: int = 1, edit_rate: float = 0.3, session_turns: int = 500
) -> tuple[Records, Records]:
    """Make the records of two traces.

    Parameters
    ----------
    turns : int
        Turns of either; about 1.4 KB each as a file.
    seed : int
        Another seed gives another pair.
    edit_rate : float
        Share of the candidate's turns that differ: 60 % in words, the others in tool calls, arguments,
        a refusal or a leak; token counts and latency with them.
    session_turns : int
        Turns of a session; each begins with a ``metadata`` record.

    Returns
    -------
    tuple of list of dict
        Baseline and candidate.
    """
    draw = Draw("trace", turns, seed)
    made = []
    for number in range(turns):
        response = _response(draw, number)
        made.append((_request(draw, response), response))
    edits = Draw("trace edits", turns, seed, edit_rate)
    other = []
    for number, (request, response) in enumerate(made):
        changed = copy.deepcopy(response)
        if edits.unit() < edit_rate:
            _edit(edits, changed, number)
        other.append((request, changed))
    return (
        _trace(made, "baseline", session_turns, Draw("trace times", seed)),
        _trace(other, "candidate", session_turns, Draw("trace times", seed + 1)),
    )


def file_bytes(records: Records) -> bytes:
    """Return records as the bytes of a file."""
    return "".join([json.dumps(record, separators=(",", ":")) + "\n" for record in records]).encode()


def write_trace_pair(
    root: str | os.PathLike[str], turns: int, seed: int = 1, **shape: Any
) -> tuple[str, str]:
    """Write the two traces of `trace_pair` and return their paths."""
    os.makedirs(root, exist_ok=True)
    paths = []
    for side, records in zip(("baseline", "candidate"), trace_pair(turns, seed, **shape), strict=True):
        paths.append(os.path.join(os.fspath(root), side + ".agentlog"))
        with open(paths[-1], "wb") as out:
            out.write(file_bytes(records))
    return paths[0], paths[1]


def long_turns(blocks: int, seed: int = 1, edit_rate: float = 0.1) -> tuple[dict[str, Json], dict[str, Json]]:
    """Make two response payloads of `blocks` blocks: tool calls, results and texts.

    In the candidate one block in ten (by default) is changed, dropped or preceded by a new one.
    """
    draw = Draw("long turn", blocks, seed)

    def block(number: int) -> dict[str, Json]:
        kind = draw.unit()
        if kind < 0.6:
            return _tool_use(draw, number)
        if kind < 0.8:
            return {"type": "text", "text": sentence(draw, 12)}
        return {"type": "tool_result", "tool_use_id": f"toolu_{number:08x}", "content": sentence(draw, 12)}

    baseline = [block(number) for number in range(blocks)]
    candidate: list[Json] = []
    for number, one in enumerate(baseline):
        if draw.unit() >= edit_rate:
            candidate.append(copy.deepcopy(one))
            continue
        kind = draw.below(3)
        if kind == 0:
            candidate += [block(blocks + number), copy.deepcopy(one)]
        elif kind == 1 and one["type"] == "tool_use":
            candidate.append({**one, "input": {**one["input"], "limit": draw.below(10**6)}})
        elif kind == 1:
            candidate.append(block(blocks + number))
    answer = {"model": "claude-opus-4-7", "stop_reason": "tool_use", "usage": {}}
    return {**answer, "content": baseline}, {**answer, "content": candidate}


def _main(argv: list[str]) -> int:
    if len(argv) != 2 or not argv[1].isdigit():
        print("usage: trace_workloads.py DIR TURNS", file=sys.stderr)
        return 2
    print(*write_trace_pair(argv[0], int(argv[1])))
    return 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
