"""The reference for axes, turns, reports and texts agrees with the recorded traces and the examples."""

from __future__ import annotations

import functools
import glob
import json
import os
from typing import Any

import pytest

from reference import agentlog, trace_axes, trace_policy, trace_report, trace_text, trace_turns

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "agentlog")

Records = list[dict[str, Any]]


def load(*names: str) -> Any:
    with open(os.path.join(FOLDER, *names), encoding="utf-8") as stream:
        return json.load(stream)


def names(ending: str, *folder: str) -> list[str]:
    found = glob.glob(os.path.join(FOLDER, *folder, "*" + ending))
    return sorted(os.path.basename(path)[: -len(ending)] for path in found)


@functools.cache
def traces(name: str, *folder: str) -> tuple[Records, Records]:
    sides = []
    for side in ("baseline", "candidate"):
        with open(os.path.join(FOLDER, *folder, f"{name}.{side}.agentlog"), "rb") as stream:
            sides.append(agentlog.read(stream.read())[0])
    return sides[0], sides[1]


PRICING = trace_axes.pricing_of(load("pricing.json"))
RULES = load("policy.json")["rules"]
CASES = names(".expect.json")
WEAK = names(".baseline.agentlog", "weak")


@functools.cache
def document(name: str, *folder: str) -> dict[str, Any]:
    """Compare a recorded pair at every level, as its recorded answer was made."""
    options = {"levels": trace_report.LEVELS, "pricing": PRICING, "rules": RULES}
    return trace_report.document(*traces(name, *folder), options)


def same(value: Any, expected: Any) -> bool:
    """Tell equal values of equal types: `1` is not `1.0` here."""
    return json.dumps(value, ensure_ascii=False) == json.dumps(expected, ensure_ascii=False)


# The recorded pairs


@pytest.mark.parametrize("name", CASES)
def test_report(name: str) -> None:
    found, expected = document(name), load(f"{name}.expect.json")["report"]
    assert list(found)[: len(expected)] == list(expected)
    for member in expected:
        assert same(found[member], expected[member]), member


@pytest.mark.parametrize("name", CASES)
def test_sessions(name: str) -> None:
    found = [dict(one) for one in document(name)["sessions"]]
    for one in found:
        one["rows"] = one.pop("report")["rows"]
    assert same(found, load(f"{name}.expect.json")["sessions"])


@pytest.mark.parametrize("name", CASES)
def test_texts(name: str) -> None:
    found, expected = document(name), load(f"{name}.expect.json")["text"]
    assert trace_text.trace_text(found) == expected["trace"]
    assert trace_text.sessions_text(found["sessions"]) == expected["sessions"]
    assert [trace_text.span_text(pair) for pair in found["spans"]] == expected["spans"]
    blocks = [expected["trace"], expected["sessions"], expected["tokens"], expected["policy"]]
    blocks.append("\n".join(expected["spans"]))
    assert trace_text.standard_output(found) == "\n\n".join(filter(None, blocks)) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_other_levels_in_the_document(name: str) -> None:
    found, expected = document(name), load(f"{name}.expect.json")
    changes = {pair["pair_index"]: pair["changes"] for pair in found["spans"]}
    assert found["token_diff"] == expected["tokens"]
    assert found["policy_diff"] == expected["policy"]
    assert len(expected["spans"]) == found["pair_count"]
    for index, pair in enumerate(expected["spans"]):
        bare = [
            {key: value for key, value in change.items() if key not in ("baseline", "candidate")}
            for change in changes.get(index, [])
        ]
        assert bare == pair


def check_rows(found: list[dict[str, Any]], upstream: list[dict[str, Any]]) -> None:
    """Compare rows with upstream's: all but the interval and what hangs on it (levels §8)."""
    for ours, theirs in zip(found, upstream, strict=True):
        assert (ours["axis"], ours["n"]) == (theirs["axis"], theirs["n"])
        tolerance = 1e-9 if ours["axis"] == "semantic" else 0.0
        for member in ("baseline_median", "candidate_median", "delta"):
            assert abs(ours[member] - theirs[member]) <= tolerance
        assert set(ours["flags"]) ^ set(theirs["flags"]) <= {"ci_crosses_zero"}


@pytest.mark.parametrize("name", CASES)
def test_upstream_agrees(name: str) -> None:
    found, upstream = document(name), load(f"{name}.upstream.json")
    theirs = upstream["report"]
    check_rows(found["rows"], theirs["rows"])
    for member in theirs.keys() - {"rows"}:
        assert same(found[member], theirs[member]), member
    for ours, other in zip(found["sessions"], upstream["sessions"], strict=True):
        check_rows(ours["report"]["rows"], other["rows"])
        for member in ("session_index", "baseline_session_id", "candidate_session_id", "pair_count"):
            assert ours[member] == other[member]


@pytest.mark.parametrize("name", CASES)
def test_interval_is_one_upstream_might_give(name: str) -> None:
    envelopes = load(f"{name}.upstream.json")["ci_envelope"]["axes"]
    for row, envelope in zip(document(name)["rows"], envelopes, strict=True):
        assert row["axis"] == envelope["axis"]
        width = row["ci95_high"] - row["ci95_low"]
        for bound, seen in ((row["ci95_low"], envelope["low"]), (row["ci95_high"], envelope["high"])):
            slack = (max(seen) - min(seen)) / 2 + 0.02 * width + 1e-9
            assert min(seen) - slack <= bound <= max(seen) + slack


@pytest.mark.slow
def test_long_pair() -> None:
    expected = load("long", "long-shifted.expect.json")
    baseline, candidate = traces("long-shifted", "long")
    path = "".join({"M": "A"}.get(step, step) * length for step, length in expected["path_runs"])
    found = trace_report.report(baseline, candidate, {"pricing": PRICING})
    assert trace_turns.path(agentlog.turns(baseline), agentlog.turns(candidate)) == path
    assert same(found, expected["report"])


# The weaknesses of levels §9


def short_rows(found: list[dict[str, Any]], like: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    by_axis = {row["axis"]: row for row in found}
    return {axis: {member: by_axis[axis][member] for member in row} for axis, row in like.items()}


@pytest.mark.parametrize("name", WEAK)
def test_weakness(name: str) -> None:
    case = load("weak", f"{name}.json")
    expected = case["expect"]
    left, right = traces(name, "weak")
    levels = ("trace", "turn", "span", "policy")
    found = trace_report.document(left, right, {"levels": levels, "rules": case.get("policy", [])})
    assert found["extras"] == expected["extras"]
    rows = expected.get("rows", {})
    assert short_rows(found["rows"], rows) == rows
    if "spans" in expected:
        changes = {pair["pair_index"]: pair["changes"] for pair in found["spans"]}
        bare = [
            [{member: change[member] for member in ("kind", "block_index", "summary")} for change in pair]
            for pair in (changes.get(index, []) for index in range(found["pair_count"]))
        ]
        assert bare == expected["spans"]
    if "policy_text" in expected:
        assert trace_policy.text(found["policy_diff"]) == expected["policy_text"]


@pytest.mark.parametrize("name", WEAK)
def test_weakness_aligned(name: str) -> None:
    case = load("weak", f"{name}.json")
    left, right = traces(name, "weak")
    options = {"levels": ("trace", "turn", "policy"), "rules": case.get("policy", []), "align": True}
    found = trace_report.document(left, right, options)
    path = trace_turns.path(agentlog.turns(left), agentlog.turns(right))
    if "path" in case:
        assert path == "".join({"M": "A"}.get(step, step) for step, _, _ in case["path"])
        pairs = [(i, j) for step, i, j in case["path"] if step == "M"]
        assert trace_turns.pairs_along(path) == pairs
    if "align_pairs" in case:
        assert [list(pair) for pair in trace_turns.pairs_along(path)] == case["align_pairs"]["pairs"]
        rows = case["align_pairs"]["rows"]
        assert short_rows(found["rows"], rows) == rows
    if "align_policy" in case:
        parts = {member: found["policy_diff"][member] for member in case["align_policy"]}
        assert parts == case["align_policy"]
    assert found["extras"]["unpaired"] == {"baseline": path.count("D"), "candidate": path.count("I")}
    for row in found["drill_down"]:
        pair = trace_turns.pairs_along(path)[row["pair_index"]]
        assert (row["baseline_turn"], row["candidate_turn"]) == pair


@pytest.mark.parametrize(
    ("name", "trace_level", "turn_level"),
    [
        ("api-wont", (0.0, 0.0), 0.0),
        ("typographic-apostrophe", (0.0, 1.0), 1.0),
        ("two-refusal-lists", (0.0, 1.0), 1.0),
    ],
)
def test_strict_refusals(name: str, trace_level: tuple[float, float], turn_level: float) -> None:
    found = trace_report.report(*traces(name, "weak"), {"refusals": "strict"})
    row = found["rows"][2]
    assert (row["baseline_median"], row["candidate_median"]) == trace_level
    assert {row["axis_scores"][2]["candidate_value"] for row in found["drill_down"]} == {turn_level}


def test_semantic_of_pairs_with_text() -> None:
    found = trace_report.report(*traces("tool-only-turns", "weak"), {"semantic_text_only": True})
    semantic = found["rows"][0]
    assert (semantic["n"], semantic["severity"]) == (4, "severe")
    assert found["extras"]["text_pairs"] == 4
    assert found["extras"]["changed"]["semantic"] == 4
    assert found["rows"][1]["n"] == 10


# The levels asked for


def only(*levels: str) -> dict[str, Any]:
    options = {"levels": levels, "pricing": PRICING, "rules": RULES}
    return trace_report.document(*traces("coding-turn-inserted"), options)


def test_only_some_levels() -> None:
    whole = document("coding-turn-inserted")
    head = ["baseline_trace_id", "candidate_trace_id", "pair_count"]
    assert list(only("trace")) == ["rows", *head, "extras"]
    assert list(only("turn")) == [*head, "first_divergence", "divergences", "drill_down", "extras"]
    assert only("turn")["extras"] == {"unpaired": {"baseline": 0, "candidate": 1}}
    assert list(only("policy", "span", "token", "session")) == [
        *head,
        "extras",
        "sessions",
        "token_diff",
        "policy_diff",
        "spans",
    ]
    blocks = trace_text.trace_text(whole).split("\n\n")
    assert trace_text.trace_text(only("trace")) == "\n\n".join(blocks[:3])
    assert trace_text.trace_text(only("turn")) == "\n\n".join([blocks[0], *blocks[3:]])
    assert trace_text.standard_output(only("session")) == trace_text.sessions_text(whole["sessions"]) + "\n"
