"""Whole comparisons: golden traces, random ones against the definition, levels, options (levels 1-9)."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import agentlog, trace_axes, trace_report, trace_turns
from stratadiff.core.frozen import plain
from stratadiff.errors import InputError, LimitError, UsageError
from stratadiff.traces import turnpath
from stratadiff.traces.compare import LEVELS, LevelOptions, TraceComparison, compare_traces, needs_of
from stratadiff.traces.features import Features
from stratadiff.traces.policy import load_policy
from stratadiff.traces.pricing import load_pricing, pricing_of
from stratadiff.traces.reader import read_for, trace_of
from traces.random_traces import PRICES, trace_pairs
from traces.records import response, session, use

DATA = Path(__file__).parent.parent / "data" / "agentlog"
CASES = [case["name"] for case in json.loads((DATA / "cases.json").read_text())["cases"]]
WEAK = json.loads((DATA / "weak" / "index.json").read_text())
TABLE = trace_axes.pricing_of(PRICES)

Record = dict[str, Any]


def compared(name: str, **options: Any) -> TraceComparison:
    """Compare a recorded pair, reading only what is needed."""
    chosen = LevelOptions(**options)
    traces = [
        read_for(str(DATA / f"{name}.{side}.agentlog"), needs_of(chosen))
        for side in ("baseline", "candidate")
    ]
    return compare_traces(traces[0], traces[1], chosen)


def compared_records(old: list[Record], new: list[Record], **options: Any) -> TraceComparison:
    return compare_traces(trace_of(old), trace_of(new), LevelOptions(**options))


def members(found: TraceComparison, levels: frozenset[str]) -> dict[str, Any]:
    """Return the members of a report in their order (levels 7)."""
    of_turn = ("first_divergence", "divergences", "drill_down")
    level_of = {"rows": "trace", "sessions": "session", "token_diff": "token", "policy_diff": "policy"}
    level_of |= {"spans": "span"} | dict.fromkeys(of_turn, "turn")
    return {
        name: plain(getattr(found, name))
        for name in TraceComparison.__slots__
        if level_of.get(name) is None or level_of[name] in levels
    }


def same(found: Any, expected: Any) -> None:
    """Compare with the types of numbers and the order of members, and say where two values differ."""
    if json.dumps(found) != json.dumps(expected):
        assert found == expected
        assert json.dumps(found) == json.dumps(expected)


# Golden data


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    pricing = load_pricing(str(DATA / "pricing.json"))
    found = compared(name, levels=("trace", "session", "turn"), pricing=pricing)
    expected = json.loads((DATA / f"{name}.expect.json").read_text())
    report = members(found, frozenset(("trace", "turn")))
    same(report, expected["report"])
    assert found.sessions is not None
    sessions = []
    for one in plain(found.sessions):
        rows = one.pop("report")["rows"]
        sessions.append(one | {"rows": rows})
    same(sessions, expected["sessions"])


def test_golden_long_traces() -> None:
    # Past a thousand turns only a band of the table is computed.
    found = compared("long/long-shifted", align=True, levels=("trace", "turn"))
    plainly = compared("long/long-shifted")
    expected = json.loads((DATA / "long" / "long-shifted.expect.json").read_text())
    same(members(plainly, frozenset(("trace", "turn"))), expected["report"])
    assert found.first_divergence == plainly.first_divergence
    runs = dict.fromkeys("ADI", 0)
    for step, count in expected["path_runs"]:
        runs[{"M": "A"}.get(step, step)] += count
    assert found.pair_count == runs["A"]
    assert found.extras["unpaired"] == {"baseline": runs["D"], "candidate": runs["I"]}


def test_golden_long_path() -> None:
    traces = [
        read_for(str(DATA / f"long/long-shifted.{side}.agentlog"), frozenset(("responses",)))
        for side in ("baseline", "candidate")
    ]
    paths = turnpath.TurnPaths(Features(*traces))
    path = paths.between(range(traces[0].turn_count), range(traces[1].turn_count)).path.decode()
    runs = [[step, len(list(group))] for step, group in groupby(path)]
    expected = json.loads((DATA / "long" / "long-shifted.expect.json").read_text())["path_runs"]
    assert runs == [[{"M": "A"}.get(step, step), count] for step, count in expected]


@pytest.mark.parametrize("name", WEAK)
def test_golden_weaknesses(name: str) -> None:
    case = json.loads((DATA / "weak" / f"{name}.json").read_text())
    found = compared(f"weak/{name}")
    assert found.rows is not None
    assert found.extras == case["expect"]["extras"]
    rows = {row.axis: row.to_dict() for row in found.rows}
    for axis, expected in case["expect"].get("rows", {}).items():
        assert {key: rows[axis][key] for key in expected} == expected
    if "path" in case:
        pairs = [[b, c] for step, b, c in case["path"] if step == "M"]
        aligned = compared(f"weak/{name}", align=True, levels=("trace", "turn", "span"))
        assert aligned.pair_count == len(pairs)
        assert aligned.drill_down is not None
        shown = {row.pair_index: [row.baseline_turn, row.candidate_turn] for row in aligned.drill_down}
        assert all(pairs[index] == turns for index, turns in shown.items())
    if "align_pairs" in case:
        assert pairs == case["align_pairs"]["pairs"]
        assert aligned.rows is not None
        rows = {row.axis: row.to_dict() for row in aligned.rows}
        for axis, expected in case["align_pairs"]["rows"].items():
            assert {key: rows[axis][key] for key in expected} == expected
        assert aligned.spans == []


@pytest.mark.parametrize(
    "name", [name for name in WEAK if name.startswith("policy-") or name == "extra-turns-unseen"]
)
def test_golden_aligned_policies(name: str) -> None:
    case = json.loads((DATA / "weak" / f"{name}.json").read_text())
    found = compared(f"weak/{name}", align=True, levels=("policy",), rules=load_policy(case["policy"]))
    diff = plain(found.policy_diff)
    assert {key: diff[key] for key in case["align_policy"]} == case["align_policy"]


# Against the definition


def reference_of(old: list[Record], new: list[Record], **options: Any) -> dict[str, Any]:
    return trace_report.document(old, new, {"pricing": TABLE, **options})


@settings(max_examples=200)
@given(trace_pairs(), st.data())
def test_reports_are_those_of_the_definition(
    pair: tuple[list[Record], list[Record]], data: st.DataObject
) -> None:
    levels = frozenset(data.draw(st.sets(st.sampled_from(("trace", "session", "turn")), min_size=1)))
    options = {
        "align": data.draw(st.booleans()),
        "refusals": data.draw(st.sampled_from(("contract", "strict"))),
        "semantic_text_only": data.draw(st.booleans()),
        "seed": data.draw(st.sampled_from((42, 0, -1, 2**70))),
        "split": data.draw(st.sampled_from((None, "requests"))),
        "drill_down_rows": data.draw(st.sampled_from((5, 0, 1))),
    }
    old, new = pair
    before = copy.deepcopy(pair)
    chosen = LevelOptions(levels=levels, pricing=pricing_of(PRICES), **options)
    traces = [trace_of(side, split=options["split"]) for side in pair]
    found = compare_traces(traces[0], traces[1], chosen)
    same(members(found, levels), reference_of(old, new, levels=levels, **options))
    assert (old, new) == before


@settings(max_examples=30)
@given(trace_pairs(max_turns=3, max_sessions=1))
def test_all_levels_at_once(pair: tuple[list[Record], list[Record]]) -> None:
    rules = [{"id": "no-rm", "kind": "no_call", "params": {"tool": "rm"}, "severity": "error"}]
    for align in (False, True):
        found = compared_records(
            *pair, levels=LEVELS, pricing=pricing_of(PRICES), rules=load_policy(rules), align=align
        )
        expected = reference_of(*pair, levels=LEVELS, rules=rules, align=align)
        same(members(found, frozenset(LEVELS)), expected)


@settings(max_examples=200)
@given(trace_pairs(max_turns=12))
def test_alignment_is_that_of_the_definition(pair: tuple[list[Record], list[Record]]) -> None:
    traces = [trace_of(side) for side in pair]
    paths = turnpath.TurnPaths(Features(*traces))
    aligned = paths.between(range(traces[0].turn_count), range(traces[1].turn_count))
    payloads = [agentlog.turns(side) for side in pair]
    assert aligned.path.decode() == trace_turns.path(*payloads)
    turns = [[trace_turns.Turn(payload) for payload in side] for side in payloads]
    expected = [
        trace_turns.cost(turns[0][i], turns[1][j]) for i, j in trace_turns.pairs_along(aligned.path.decode())
    ]
    assert list(aligned.costs) == expected


# Levels


def small_pair() -> tuple[list[Record], list[Record]]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    old = session(*[response(f"answer {k} of many", usage=usage, latency_ms=100 + k) for k in range(6)])
    new = session(*[response(f"answer {k} of some", usage=usage, latency_ms=90 + k) for k in range(7)])
    return old, new


def test_a_level_that_was_not_asked_for_is_none_and_changes_nothing() -> None:
    rules = load_policy([{"kind": "max_turns", "params": {"limit": 6}}])
    whole = compared_records(*small_pair(), levels=LEVELS, rules=rules)
    fields = {
        "trace": ("rows",),
        "session": ("sessions",),
        "turn": ("first_divergence", "divergences", "drill_down"),
        "span": ("spans",),
        "token": ("token_diff",),
        "policy": ("policy_diff",),
    }
    for level in LEVELS:
        alone = compared_records(*small_pair(), levels=(level,), rules=rules)
        for other, names in fields.items():
            for name in names:
                assert getattr(alone, name) == (getattr(whole, name) if other == level else None), (
                    level,
                    name,
                )
        assert alone.extras["unpaired"] == {"baseline": 0, "candidate": 1}
        assert ("changed" in alone.extras) == (level == "trace")
        assert alone.pair_count == 6
    assert whole.worst_severity == "moderate"
    assert compared_records(*small_pair(), levels=("token",)).worst_severity == "none"


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        ({"levels": ("token",)}, set()),
        ({"levels": ("token",), "align": True}, {"responses"}),
        ({"levels": ("trace",)}, {"responses"}),
        ({"levels": ("turn", "span")}, {"responses"}),
        ({"levels": ("session",)}, {"responses"}),
    ],
)
def test_needs(options: dict[str, Any], needs: set[str]) -> None:
    assert needs_of(LevelOptions(**options)) == needs
    name = "support-three-sessions"
    assert compared(name, **options) == compare_traces(
        *(
            read_for(str(DATA / f"{name}.{side}.agentlog"), frozenset(("records",)))
            for side in ("baseline", "candidate")
        ),
        LevelOptions(**options),
    )


def test_needs_of_a_policy() -> None:
    rules = load_policy([{"kind": "no_call", "params": {"tool": "rm"}}])
    assert needs_of(LevelOptions(levels=("policy",), rules=rules)) >= {"tools"}


def test_without_its_responses_a_trace_is_refused() -> None:
    path = str(DATA / "support-identical.baseline.agentlog")
    bare = read_for(path, frozenset())
    with pytest.raises(TypeError, match="responses"):
        compare_traces(bare, bare, LevelOptions())
    with pytest.raises(TypeError, match="responses"):
        compare_traces(bare, bare, LevelOptions(levels=("span",)))
    with pytest.raises(TypeError, match="responses"):
        compare_traces(bare, bare, LevelOptions(levels=("session",)))


@pytest.mark.parametrize("align", [False, True])
def test_empty_traces(align: bool) -> None:
    for old, new in (
        ([], []),
        (session(), []),
        (session(), session(response("a"))),
        (session(response("a")), []),
    ):
        found = compared_records(old, new, levels=("trace", "session", "turn", "span", "token"), align=align)
        assert found.pair_count == 0
        assert found.rows is not None
        assert [(row.n, row.severity, row.flags, row.ci95_high) for row in found.rows] == [
            (0, "none", [], 0.0)
        ] * 9
        assert (found.first_divergence, found.divergences, found.drill_down, found.spans) == (
            None,
            [],
            [],
            [],
        )
        counts = {
            side: sum(record["kind"] == "chat_response" for record in side_records)
            for side, side_records in (("baseline", old), ("candidate", new))
        }
        assert found.extras["unpaired"] == counts


@pytest.mark.parametrize(
    ("levels", "align", "count"),
    [
        (("trace", "span", "token"), False, 0),
        (("token",), True, 1),
        (("trace", "session", "turn", "span", "token"), True, 1),  # the only session is the whole trace
    ],
)
def test_turns_are_aligned_once_and_only_where_that_is_needed(
    levels: tuple[str, ...], align: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    aligned = turnpath.align.turns

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return aligned(*arguments)

    monkeypatch.setattr(turnpath.align, "turns", counted)
    compared_records(*small_pair(), levels=levels, align=align)
    assert len(calls) == count


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"levels": ("turns",)},
            "a level must be one of trace, session, turn, span, token, policy, not 'turns'",
        ),
        ({"levels": ("policy",)}, "the level policy needs rules"),
        ({"refusals": "loose"}, "refusals must be contract or strict, not 'loose'"),
        ({"split": "turns"}, "split must be requests or None, not 'turns'"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"seed": True}, "seed must be a whole number, not True"),
        ({"top_k_pairs": None}, "top_k_pairs must be a whole number, not None"),
        ({"drill_down_rows": -1}, "drill_down_rows must be at least 0, not -1"),
        ({"abstentions": "i won't"}, "abstentions must be a sequence of phrases, not one text"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        LevelOptions(**options)
    assert str(caught.value) == message


def test_top_k_pairs() -> None:
    found = compared_records(*small_pair(), levels=("token",), top_k_pairs=2).token_diff
    assert found is not None
    assert len(found.worst_pairs) == 2


def test_the_seed_changes_intervals_only() -> None:
    old = session(*[response(usage={"output_tokens": k * k % 17}) for k in range(20)])
    new = session(*[response(usage={"output_tokens": k * k % 13}) for k in range(20)])
    found = [compared_records(old, new, seed=seed).rows or [] for seed in (1, 2, 1 + 2**64)]
    assert found[0] == found[2] != found[1]
    values = [[(row.baseline_median, row.candidate_median, row.n) for row in rows] for rows in found]
    assert values[0] == values[1]


# What users met


def abcd(*names: str) -> list[Record]:
    return session(*[response(use(name, path=f"/{name}"), stop="tool_use") for name in names])


def test_u19_inserted_turn_changes_no_other() -> None:
    old, new = abcd("a", "b", "c", "d"), abcd("a", "x", "b", "c", "d")
    levels = ("trace", "turn", "span", "session")
    found = compared_records(old, new, levels=levels, align=True)
    assert found.pair_count == 4
    assert found.worst_severity == "none"
    assert found.spans == []
    assert found.extras["unpaired"] == {"baseline": 0, "candidate": 1}
    assert set(found.extras["changed"].values()) == {0}
    first = found.first_divergence
    assert first is not None
    assert found.divergences == [first]
    assert (first.baseline_turn, first.candidate_turn, first.kind) == (1, 1, "structural_drift")
    assert first.explanation == (
        "candidate inserted an extra turn with 1 tool call between baseline turns #0 and #1"
    )
    assert found.sessions is not None
    assert [(one.pair_count, one.worst_severity) for one in found.sessions] == [(4, "none")]
    # Paired by number the same insertion changes everything after it.
    assert compared_records(old, new, levels=levels).worst_severity == "severe"


def test_u19_changed_argument_is_named() -> None:
    old, new = abcd("a", "b", "c", "d"), abcd("a", "b", "c", "d")
    new[2]["payload"]["content"][0]["input"]["path"] = "/é"
    found = compared_records(old, new)
    first = found.first_divergence
    assert first is not None
    assert found.divergences == [first]
    assert (first.baseline_turn, first.kind, first.primary_axis) == (1, "decision_drift", "trajectory")
    assert first.explanation == 'tool arg value changed: `b(path)`: `"/b"` → `"/é"`'


@pytest.mark.parametrize(
    "usage", [None, {}, [], "x", {"output_tokens": "10"}, {"output_tokens": float("nan")}]
)
def test_u20_absent_usage_is_no_number(usage: Any) -> None:
    old = session(
        *[response("a", usage={"output_tokens": 10, "input_tokens": 1}, model="m") for _ in range(10)]
    )
    new = copy.deepcopy(old)
    new[3]["payload"]["usage"] = usage
    found = compared_records(old, new, pricing=pricing_of({"m": [1, 2]}))
    assert found.rows is not None
    rows = {row.axis: row for row in found.rows}
    assert (rows["verbosity"].n, rows["verbosity"].candidate_median) == (9, 10.0)
    assert (rows["cost"].n, rows["cost"].candidate_median, rows["cost"].flags) == (9, 21.0, [])
    assert found.worst_severity == "none"


# Limits, and what only records in memory can hold


def test_too_many_turns_to_align(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnpath, "MAX_TURN_CELLS", 20)
    old, new = small_pair()
    with pytest.raises(LimitError, match=r"6 against 7 turns are more than can be aligned \(20 cells\)"):
        compared_records(old, new)
    assert compared_records(old, new, levels=("trace",)).pair_count == 6  # which does not align


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_u15_deep_inputs_are_refused() -> None:
    old = session(response(use("a", x=1)))
    for levels in (600, 5000):
        new = session(response(use("a", x=nested(levels))))
        with pytest.raises(LimitError, match="candidate turn 0: a value is nested"):
            compared_records(old, new, levels=("trace",))
    with pytest.raises(InputError, match="cannot be compared: a value is nested deeper than"):
        compared_records(old, new, levels=("turn",))


@pytest.mark.parametrize("value", [float("inf"), "\ud800", {1, 2}])
def test_inputs_without_a_json_form_are_refused(value: Any) -> None:
    old, new = session(response(use("a", x=1))), session(response(use("a", x=value)))
    with pytest.raises(InputError, match=r"^candidate turn 0: the input of a tool has no JSON form"):
        compared_records(old, new, levels=("trace",))
    if isinstance(value, set):
        with pytest.raises(InputError, match="cannot be compared: set is no JSON type"):
            compared_records(old, new, levels=("turn",))


def test_member_names_that_are_no_text_are_refused() -> None:
    block = {"type": "tool_use", "name": "a", "input": {1: 2, "x": 3}}
    with pytest.raises(
        InputError, match=r"^baseline turn 1: a tool's input has a member whose name is not text"
    ):
        compared_records(session(response("a"), response(block)), session(response("a")))


def test_u14_half_surrogates_in_texts_are_texts() -> None:
    old, new = session(response('["\ud800"]')), session(response('["\ud801 x"]'))
    found = compared_records(old, new, levels=("trace", "turn", "session", "span"))
    assert found.pair_count == 1
    rows = {row.axis: row for row in found.rows or ()}
    assert (rows["conformance"].n, rows["conformance"].baseline_median) == (1, 0.0)


# Start-up and speed

LOADED = """
import sys
from stratadiff.traces.compare import LevelOptions, compare_traces, needs_of
from stratadiff.traces.reader import read_for
options = LevelOptions(levels=("trace", "turn"))
before = set(sys.modules)
traces = [read_for(path, needs_of(options)) for path in sys.argv[1:]]
compare_traces(*traces, options)
print(*sorted(sys.modules))
"""


def test_small_plain_traces_load_nothing_heavy() -> None:
    paths = [str(DATA / f"support-wording.{side}.agentlog") for side in ("baseline", "candidate")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run(
        [sys.executable, "-S", "-E", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{LOADED}", *paths],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    ).stdout.split()
    heavy = {
        "numpy",
        "orjson",
        "rapidfuzz",
        "re",
        "json",
        "dataclasses",
        "typing",
        "pathlib",
        "yaml",
        "threading",
    }
    assert heavy.intersection(output) == set()
