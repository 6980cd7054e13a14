"""Seeded pairs of agent traces, realistic and odd, on which a peer and we should agree.

What one tool refuses, or reads otherwise on purpose, is not in here: those inputs stand one by one in
``test_deviations_from_shadow.py``. Every record's ``id`` is the content id of its payload, by the slow
reference of ``tests/reference``.
"""

from __future__ import annotations

import copy
import json
from typing import Any, NamedTuple

from interop.agent_turns import (
    DOCUMENTS,
    MODELS,
    OTHER_MODELS,
    REFUSALS,
    STOPS,
    TOOLS,
    WORDS,
    Draw,
    answer_of,
    response_payload,
    turn_entries,
)
from reference import agentlog

Json = Any
Records = list[dict[str, Json]]

PRICING: dict[str, Json] = {
    "claude-opus-4-7": {
        "input": 1.5e-05,
        "output": 7.5e-05,
        "cached_input": 1.5e-06,
        "cached_write_5m": 1.875e-05,
        "cached_write_1h": 3e-05,
        "reasoning": 7.5e-05,
        "batch_discount": 0.5,
    },
    "claude-sonnet-4-6": {"input": 3e-06, "output": 1.5e-05, "cached_input": 3e-07},
    "claude-haiku-4-5": [8e-07, 4e-06],
    "gpt-5": {"input": 1e-05, "output": 4e-05, "reasoning": 5e-05},
    "free": {"input": 0.0, "output": 0.0},
}
"""Made-up rates, as the file given to ``--pricing``."""


class TracePair(NamedTuple):
    """Two traces, and what they are compared with.

    Attributes
    ----------
    name : str
        Profile and seed.
    baseline, candidate : list of dict
        Records.
    rules : list of dict
        A policy.
    """

    name: str
    baseline: Records
    candidate: Records
    rules: list[dict[str, Json]]

    @property
    def payloads(self) -> tuple[list[Json], list[Json]]:
        """The payloads of either side's responses."""
        return responses(self.baseline), responses(self.candidate)


def responses(records: Records) -> list[Json]:
    """List the payloads of the responses."""
    return [record["payload"] for record in records if record["kind"] == "chat_response"]


def file_bytes(records: Records) -> bytes:
    """Write records as a file: one compact line each."""
    lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records]
    return "".join(lines).encode()


# Changes of the candidate


def _reword(draw: Draw, response: dict[str, Json]) -> None:
    for block in response["content"]:
        if block["type"] == "text" and block["text"]:
            words = block["text"].split(" ")
            for _ in range(draw.choice((1, 1, 2, len(words)))):
                words[draw.randrange(len(words))] = draw.choice(WORDS)
            block["text"] = " ".join(words)


def _change_tools(draw: Draw, response: dict[str, Json]) -> None:
    content = response["content"]
    uses = [k for k, block in enumerate(content) if block["type"] == "tool_use"]
    kind = draw.randrange(7)
    if kind == 0 or not uses:
        content.insert(draw.randint(0, len(content)), draw.tool_use())
        return
    k = draw.choice(uses)
    arguments = content[k]["input"]
    if kind == 1:
        del content[k]
    elif kind == 2:
        content.insert(k, copy.deepcopy(content[k]))  # a repeat
    elif kind == 3:
        arguments[draw.choice((*arguments, "extra"))] = draw.argument()
    elif kind == 4 and arguments:
        del arguments[draw.choice(tuple(arguments))]
    elif kind == 5:
        content[k]["input"] = {key: arguments[key] for key in reversed(arguments)}  # no change
    else:
        other = draw.choice(uses)
        content[k], content[other] = content[other], content[k]


def _change_numbers(draw: Draw, response: dict[str, Json]) -> None:
    factor = draw.choice((0.5, 0.96, 1.0, 1.04, 1.2, 1.5, 3))
    usage = response["usage"]
    for name in usage:
        if draw.chance(0.7):
            usage[name] = int(usage[name] * factor) + draw.choice((0, 0, 1))
    response["latency_ms"] = round(response["latency_ms"] * draw.choice((0.9, 1, 1.1, 2)), 2)
    if draw.chance(0.2):
        response["model"] = draw.choice((*MODELS, *OTHER_MODELS))
    if draw.chance(0.1):
        response["batch"] = draw.choice((True, False, 1, "true", None))


def _refuse(draw: Draw, response: dict[str, Json]) -> None:
    response["content"] = [{"type": "text", "text": draw.choice(REFUSALS)}]
    response["stop_reason"] = draw.choice(("end_turn", "end_turn", "content_filter", "refusal"))


def _change_stop(draw: Draw, response: dict[str, Json]) -> None:
    response["stop_reason"] = draw.choice(STOPS)


def _change_blocks(draw: Draw, response: dict[str, Json]) -> None:
    content = response["content"]
    for _ in range(draw.choice((1, 1, 2, 4))):
        place = draw.randint(0, len(content))
        if draw.chance(0.5) or place == len(content):
            content.insert(place, draw.block())
        elif draw.chance(0.3):
            del content[place]
        elif content[place]["type"] == "tool_result":
            key, values = draw.choice(
                (("is_error", (True, False)), ("content", ("", [], None)), ("note", (1,)))
            )
            content[place][key] = draw.choice(values)
        elif content[place]["type"] in ("image", "thinking"):
            content[place]["note"] = draw.argument()
        else:
            _change_tools(draw, response)
    if draw.chance(0.3):
        _reword(draw, response)


def _change_document(draw: Draw, response: dict[str, Json]) -> None:
    response["content"] = [{"type": "text", "text": draw.choice(DOCUMENTS)}]


def _make_odd(draw: Draw, response: dict[str, Json]) -> None:
    """Take away, empty or retype members: only what both tools read alike."""
    for _ in range(draw.choice((1, 2, 3))):
        kind = draw.randrange(12)
        usage = response.get("usage")
        content = response.get("content")
        if kind == 0:
            response.pop(draw.choice(("model", "stop_reason", "latency_ms", "usage", "content")), None)
        elif kind == 1:
            response[draw.choice(("model", "stop_reason", "latency_ms", "usage", "content"))] = None
        elif kind == 2:
            response["latency_ms"] = draw.choice((0, -5, 1.5, 1e300, "120", True, [], 2**53 + 1, 1e-9))
        elif kind == 3:
            response["stop_reason"] = draw.choice((None, 7, "", "END_TURN", ["end_turn"], {"a": 1}))
        elif kind == 4 and isinstance(usage, dict) and usage:
            usage[draw.choice(tuple(usage))] = draw.choice((None, 0, 12.75, 1e6, 2**40))
        elif kind == 5 and isinstance(usage, dict) and usage:
            del usage[draw.choice(tuple(usage))]
        elif kind == 6:
            response["model"] = draw.choice(OTHER_MODELS)
        elif kind == 7:
            response["content"] = draw.choice(([], None, {}))
        elif kind == 8 and isinstance(content, list):
            odd = draw.choice(
                ({}, {"type": None}, {"type": "text", "text": ""}, {"type": 3}, {"type": "audio"})
            )
            content.append(copy.deepcopy(odd))
        elif kind == 9 and isinstance(content, list):
            for block in content:
                if block.get("type") == "tool_use":
                    block["name"] = draw.choice((block.get("name"), "", "naïve(tool)", "a`b"))
                    if draw.chance(0.4):
                        block["input"] = draw.choice((None, {}))
                    elif draw.chance(0.2):
                        block.pop("input", None)
        elif kind == 10:
            response["note"] = draw.argument()
        elif kind == 11 and isinstance(content, list):
            content.append(
                {"type": "tool_result", "tool_use_id": draw.choice((None, 3, "t1")), "is_error": None}
            )


def _restructure(draw: Draw, turns: list[Any], profile: str) -> None:
    for _ in range(draw.choice((1, 1, 2, 3))):
        place = draw.randint(0, len(turns))
        kind = draw.random()
        if kind < 0.4 or not turns:
            turns[place:place] = [turn_entries(draw, profile) for _ in range(draw.choice((1, 1, 3)))]
        elif kind < 0.7:
            del turns[place : place + draw.choice((1, 1, 2))]
        elif kind < 0.85:
            turns[place:place] = copy.deepcopy(turns[: draw.choice((1, 2))])
        else:
            turns.insert(place, turns.pop(draw.randrange(len(turns))))


_CHANGES = {
    "wording": (_reword,),
    "tools": (_change_tools,),
    "numbers": (_change_numbers,),
    "refusals": (_refuse,),
    "documents": (_change_document,),
    "unicode": (_reword, _change_tools),
    "long": (_change_blocks,),
    "structure": (_reword, _change_tools),
    "sessions": (_reword, _change_numbers, _refuse),
    "odd": (_make_odd, _change_tools, _change_numbers),
    "mixed": (_reword, _change_tools, _change_numbers, _refuse, _change_stop),
}
PROFILES = (*_CHANGES, "identical", "unrelated", "one side empty")
"""What the sides differ in."""


# Traces


def records_of(entries: list[tuple[str, Json]], draw: Draw | None = None, side: str = "") -> Records:
    """Make records of (kind, payload) entries, each the child of the one before.

    Parameters
    ----------
    entries : list of tuple
        In file order.
    draw : Draw, optional
        Makes times uneven and names a trace now and then.
    side : str
        Part of such a name.
    """
    found: Records = []
    milliseconds = 0
    for kind, payload in entries:
        milliseconds += 100 if draw is None else draw.randint(1, 900)
        seconds, part = divmod(milliseconds, 1000)
        record: dict[str, Json] = {
            "version": "0.1",
            "id": agentlog.content_id(payload),
            "kind": kind,
            "ts": f"2026-05-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{part:03d}Z",
            "parent": found[-1]["id"] if found else None,
        }
        if draw is not None and draw.chance(0.03):
            record["meta"] = {"trace_id": f"{side}-{draw.randint(1, 9)}", "other": [1]}
        record["payload"] = payload
        found.append(record)
    return found


def _without_strays(turn: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    # A call whose block was changed away would stand alone, on a turn of its own (A3).
    content = answer_of(turn).get("content")
    known = [b.get("id") for b in content if b.get("type") == "tool_use"] if isinstance(content, list) else []
    return [
        (kind, payload)
        for kind, payload in turn
        if kind not in ("tool_call", "tool_result") or payload["tool_call_id"] in known
    ]


def _records(draw: Draw, sessions: list[list[Any]], side: str) -> Records:
    entries: list[tuple[str, Json]] = []
    for number, turns in enumerate(sessions):
        about = {"sdk": {"name": "agentkit", "version": "2.1.0"}, "tags": {"side": side, "session": number}}
        entries += [("metadata", about), *(entry for turn in turns for entry in _without_strays(turn))]
    return records_of(entries, draw, side)


def _cut(draw: Draw, turns: list[Any], parts: int) -> list[list[Any]]:
    places = sorted(draw.randint(0, len(turns)) for _ in range(parts - 1))
    return [turns[start:end] for start, end in zip([0, *places], [*places, len(turns)], strict=True)]


def _condition(draw: Draw) -> dict[str, Json]:
    path = draw.choice(
        (
            *("stop_reason", "model", "response.stop_reason", "response.usage.output_tokens"),
            *("request.params.temperature", "response.content.0.type", "response.content.1.name"),
            *("request.messages.1.role", "response.latency_ms", "response.content", "nothing.here"),
        )
    )
    operator = draw.choice(("==", "!=", ">", ">=", "<", "<=", "in", "not_in", "contains", "not_contains"))
    values: tuple[Json, ...] = ("end_turn", "text", "claude-opus-4-7", 300, 0.2, None, [])
    if operator in ("in", "not_in"):
        values = (["end_turn", "max_tokens"], ["user"], [300, 0.2], [])
    elif "contains" in operator:
        values = ("o", "", "end_turn")
    elif operator[0] in "<>":
        values = (300, 0, 0.2)
    return {"path": path, "op": operator, "value": draw.choice(values)}


def rules(draw: Draw) -> list[dict[str, Json]]:
    """Make a policy of all eight kinds and a ninth, some rules under conditions, in random order."""
    names = tuple(TOOLS)
    text = lambda: draw.choice((*WORDS[:12], "I ", ".", "", "refund parcel", "Straße", "{", 'it\'s "q" \\'))  # noqa: E731
    made: list[tuple[str, dict[str, Json]]] = [
        ("must_call_before", {"first": draw.choice(names), "then": draw.choice(names)}),
        ("must_call_before", {"first": "backup_database", "then": "run_migration"}),
        ("must_call_once", {"tool": draw.choice(names)}),
        ("no_call", {"tool": draw.choice(names)}),
        ("no_call", {"tool": draw.choice((*names, ""))}),
        ("max_turns", {"limit": draw.randint(0, 14)}),
        ("required_stop_reason", {"allowed": draw.sample(STOPS, draw.randint(0, 3))}),
        ("max_total_tokens", {"limit": draw.choice((0, 5000, 20_000, 10**12))}),
        ("must_include_text", {"text": text()}),
        ("forbidden_text", {"text": text()}),
        ("forbidden_text", {"text": text()}),
        ("must_include_text_each", {"text": text()}),
    ]
    draw.shuffle(made)
    found = []
    for k, (kind, params) in enumerate(made):
        rule: dict[str, Json] = {"id": f"{kind}-{k}", "kind": kind, "params": params}
        if draw.chance(0.7):
            rule["severity"] = draw.choice(("info", "warning", "error", "critical"))
        if draw.chance(0.3):
            rule["description"] = "why"
        if draw.chance(0.2):
            conditions = [_condition(draw) for _ in range(draw.choice((1, 1, 2)))]
            rule["when"] = conditions if draw.chance(0.7) else conditions[0]
        found.append(rule)
    return found


def trace_pair(seed: int, profile: str | None = None, turns: int | None = None) -> TracePair:
    """Make a pair of traces.

    Parameters
    ----------
    seed : int
        Another seed, another pair.
    profile : str, optional
        One of `PROFILES`; by default they take turns.
    turns : int, optional
        Of the baseline; by default 1 to 24, fewer where turns are long.
    """
    profile = PROFILES[seed % len(PROFILES)] if profile is None else profile
    draw = Draw(f"agent traces {profile} {seed}")
    count = draw.choice((1, 2, 3, 4, 5, 7, 9, 12, 16, 24)) if turns is None else turns
    if turns is None and profile == "long":
        count = min(count, 7)
    baseline = [turn_entries(draw, profile) for _ in range(count)]
    if profile == "odd":
        for turn in baseline:
            if draw.chance(0.3):
                _make_odd(draw, answer_of(turn))
    if profile == "unrelated":
        candidate = [turn_entries(draw, profile) for _ in range(draw.randint(0, 12))]
    else:
        candidate = copy.deepcopy(baseline)
    share = draw.choice((0.1, 0.3, 0.6, 1.0))
    changes = _CHANGES.get(profile, ())
    for turn in candidate:
        if changes and draw.chance(share):
            answer = answer_of(turn)
            change = draw.choice(changes)
            if profile == "odd" and not _is_plain(answer):
                change = _make_odd
            change(draw, answer)
    if profile in ("structure", "mixed") or (profile in ("odd", "sessions") and draw.chance(0.3)):
        _restructure(draw, candidate, profile)
    if profile == "one side empty":
        if draw.chance(0.7):
            candidate = []
        if draw.chance(0.5):
            baseline, candidate = candidate, baseline
    parts = [draw.randint(2, 4), draw.randint(2, 4)] if profile == "sessions" else [1, 1]
    if profile == "sessions" and draw.chance(0.7):
        parts[1] = parts[0]
    return TracePair(
        f"{profile} {seed}",
        _records(draw, _cut(draw, baseline, parts[0]), "baseline"),
        _records(draw, _cut(draw, candidate, parts[1]), "candidate"),
        rules(draw),
    )


def payload_pair(seed: int) -> tuple[dict[str, Json], dict[str, Json]]:
    """Make two response payloads, mostly one and its changed self, of up to 24 blocks."""
    draw = Draw(f"payloads {seed}")
    baseline = response_payload(draw, "long")
    del baseline["content"][draw.choice((0, 1, 3, 5, 24)) :]
    candidate = copy.deepcopy(baseline) if draw.chance(0.9) else response_payload(draw, "long")
    _change_blocks(draw, candidate)
    if draw.chance(0.3):
        _change_stop(draw, candidate)
    if draw.chance(0.2):
        for response in (baseline, candidate):
            _make_odd(draw, response)
    return baseline, candidate


def _is_plain(answer: dict[str, Json]) -> bool:
    return (
        isinstance(answer.get("content"), list)
        and isinstance(answer.get("usage"), dict)
        and all(isinstance(count, int) for count in answer["usage"].values())
        and isinstance(answer.get("latency_ms"), int | float)
        and all("type" in block for block in answer["content"])
        and all(isinstance(b.get("input"), dict) for b in answer["content"] if b["type"] == "tool_use")
    )
