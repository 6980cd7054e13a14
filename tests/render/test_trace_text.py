"""The plain form of a trace report, drawn from golden members: byte for byte, fresh or from a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from stratadiff.documents.tracereport import TraceDocument
from stratadiff.render.tracetext import draw_trace

Json = Any

DATA = Path(__file__).parents[1] / "data" / "agentlog"
NAMES = [case["name"] for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]]
PARTS = ("trace", "sessions", "tokens", "policy", "spans")
COLOUR = re.compile("\x1b\\[(?:3[123]|0)m")


def golden(name: str) -> Json:
    return json.loads((DATA / f"{name}.expect.json").read_text(encoding="utf-8"))


def members(expect: Json) -> dict[str, Any]:
    """Put a golden result together as the report has it."""
    spans = [{"pair_index": i, "changes": changes} for i, changes in enumerate(expect["spans"]) if changes]
    return {
        **expect["report"],
        "sessions": expect["sessions"],
        "token_diff": expect["tokens"],
        "policy_diff": expect["policy"],
        "spans": spans,
    }


def text_of(expect: Json, *parts: str) -> str:
    """Return the golden text of some parts as the command prints them."""
    texts = {**expect["text"], "spans": "\n".join(expect["text"]["spans"])}
    return "\n".join(f"{texts[part]}\n" for part in parts if texts[part])


@pytest.mark.parametrize("name", NAMES)
def test_golden_text(name: str) -> None:
    expect = golden(name)
    document = TraceDocument(members(expect))
    assert draw_trace(document) == text_of(expect, *PARTS)
    assert draw_trace(TraceDocument.load(document.canonical())) == text_of(expect, *PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_each_part_alone(part: str) -> None:
    expect = golden("devops-migration-order")
    every = members(expect)
    head = {"baseline_trace_id", "candidate_trace_id", "pair_count", "extras"}
    own = {
        "trace": set(expect["report"]),
        "sessions": {"sessions"},
        "tokens": {"token_diff"},
        "policy": {"policy_diff"},
        "spans": {"spans"},
    }[part]
    chosen = TraceDocument({name: every[name] for name in every if name in head | own})
    assert draw_trace(chosen) == text_of(expect, part)


def test_trace_and_turn_share_the_head_lines() -> None:
    expect = golden("coding-turn-inserted")
    report = expect["report"]
    trace = {
        name: report[name] for name in report if name not in ("first_divergence", "divergences", "drill_down")
    }
    turn = {name: report[name] for name in report if name != "rows"}
    whole = expect["text"]["trace"].split("\n\n")
    assert draw_trace(TraceDocument(trace)) == "\n\n".join(whole[:3]) + "\n"
    assert draw_trace(TraceDocument(turn)) == "\n\n".join([whole[0], *whole[3:]]) + "\n"


def test_nothing_to_show_is_no_text() -> None:
    head = {"baseline_trace_id": "", "candidate_trace_id": "", "pair_count": 0, "extras": {}}
    assert draw_trace(TraceDocument({**head, "spans": [], "sessions": []})) == ""


@pytest.mark.parametrize("name", ["devops-migration-order", "coding-turn-inserted", "support-three-sessions"])
def test_colour_touches_severities_only(name: str) -> None:
    document = TraceDocument(members(golden(name)))
    plain, coloured = draw_trace(document), draw_trace(document, colour=True)
    assert COLOUR.sub("", coloured) == plain
    painted = re.findall("\x1b\\[3[123]m(.*?)\x1b\\[0m", coloured)
    assert painted
    assert {text.strip() for text in painted} <= {
        "minor", "moderate", "severe", "·", "!", "✗", "✓", "~", "[warning]", "[error]", "[critical]"
    }  # fmt: skip


def test_changed_violations_come_last() -> None:
    violation = {"rule_id": "few", "kind": "max_turns", "severity": "error", "pair_index": None}
    old = {**violation, "detail": "trace has 4 turns; max is 2"}
    new = {**violation, "detail": "trace has 5 turns; max is 2"}
    diff = {"baseline_violations": [old], "candidate_violations": [new], "regressions": [], "fixes": []}
    head = {"baseline_trace_id": "", "candidate_trace_id": "", "pair_count": 0, "extras": {}}
    diff["changed"] = [{"baseline": old, "candidate": new}]
    assert draw_trace(TraceDocument({**head, "policy_diff": diff})) == (
        "Policy diff, 1 baseline violation(s), 1 candidate violation(s)\n"
        "  changed (1):\n"
        "    ~ [error] few @ trace: trace has 5 turns; max is 2\n"
    )
    diff["changed"] = []
    assert draw_trace(TraceDocument({**head, "policy_diff": diff})).endswith(
        "  (no change in policy outcomes)\n"
    )


NUMBERS = {
    -0.0: ("0.000", "+0.000"),
    -0.0004: ("0.000", "+0.000"),
    -0.0006: ("-0.001", "-0.001"),
    0.0004: ("0.000", "+0.000"),
    12345678.9: ("12345678.900", "+12345678.900"),
    "+inf": ("inf", "+inf"),
    "-inf": ("-inf", "-inf"),
}


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_that_round_to_zero_have_no_minus(value: float | str) -> None:
    row = {"axis": "semantic", "severity": "none", "n": 1, "flags": []}
    row |= dict.fromkeys(["baseline_median", "candidate_median", "delta", "ci95_low", "ci95_high"], value)
    head = {"baseline_trace_id": "", "candidate_trace_id": "", "pair_count": 0}
    extras = {"unpaired": {"baseline": 0, "candidate": 0}}
    line = draw_trace(TraceDocument({"rows": [row], **head, "extras": extras})).splitlines()[5]
    plain, signed = NUMBERS[value]
    cells = f"{plain:>12}{plain:>12}{signed:>12}  [{signed}, {signed}] none 1"
    assert line.replace("]", "] ").split() == ["semantic", *cells.split()]


def hostile(value: Json, text: str) -> Json:
    """Return a copy with the text at the end of every string that may come from a trace or a policy."""
    named = {"baseline_trace_id", "candidate_trace_id", "explanation", "summary", "rule_id", "detail"}
    if isinstance(value, dict):
        return {
            key: item + text if key in named and isinstance(item, str) else hostile(item, text)
            for key, item in value.items()
        }
    return [hostile(item, text) for item in value] if isinstance(value, list) else value


def test_u08_nothing_of_a_trace_drives_the_terminal() -> None:
    text = "\x1b]0;T\x07\r\n\x9b2J\u202e\u2028\U000e0001\\é"
    expect = golden("devops-migration-order")
    drawn = draw_trace(TraceDocument(hostile(members(expect), text)))
    shown = "\\x1b]0;T\\x07\\x0d\\x0a\\x9b2J\\u202e\\u2028\\udb40\\udc01\\é"
    assert drawn.count(shown) > 10
    assert drawn.replace(shown, "") == text_of(expect, *PARTS)
