"""Level token: summaries of the counts, shifts, and the pairs that differ most (levels 5)."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_tokens
from stratadiff.errors import InputError
from stratadiff.traces.model import DIMENSIONS, TokenColumns, pair_along, pair_by_position
from stratadiff.traces.reader import read_for, read_trace, trace_of
from stratadiff.traces.tokens import TokenDiff, TokenDistSummary, token_diff, token_diff_of_records
from traces.records import request, response, session

DATA = Path(__file__).parent.parent / "data" / "agentlog"
CASES = [case["name"] for case in json.loads((DATA / "cases.json").read_text())["cases"]]
LISTS = [json.loads(line) for line in (DATA / "tokens.jsonl").read_text().splitlines()]

Record = dict[str, Any]


def records_of(usages: list[Any]) -> list[Record]:
    """Make a trace of these usages; None is a response without one."""
    turns = [response() if usage is None else response(usage=usage) for usage in usages]
    return session(*[[request(), turn] for turn in turns])


def of_inputs(*counts: Any) -> list[Record]:
    return records_of([{"input_tokens": count} for count in counts])


def both(old: list[Record], new: list[Record], top_k: int = 10) -> TokenDiff:
    """Compare records, with and without making traces of them."""
    found = token_diff_of_records(old, new, top_k)
    before, after = trace_of(old), trace_of(new)
    assert token_diff(before, after, pair_by_position(before.turn_count, after.turn_count), top_k) == found
    return found


# Golden data


@pytest.mark.parametrize("number", range(len(LISTS)))
def test_golden_lists(number: int) -> None:
    case = LISTS[number]
    found = both(records_of(case["baseline"]), records_of(case["candidate"]), case["top_k"]).to_dict()
    expected = case["expect"]
    assert json.dumps(found) == json.dumps(expected)
    assert trace_tokens.text(found) == case["text"]


@pytest.mark.parametrize("name", CASES)
def test_golden_traces(name: str) -> None:
    expected = json.loads((DATA / f"{name}.expect.json").read_text())
    old, new = (
        read_for(str(DATA / f"{name}.{side}.agentlog"), frozenset()) for side in ("baseline", "candidate")
    )
    found = token_diff(old, new, pair_by_position(old.turn_count, new.turn_count)).to_dict()
    assert json.dumps(found) == json.dumps(expected["tokens"])
    assert trace_tokens.text(found) == expected["text"]["tokens"]
    records = [list(read_trace(str(DATA / f"{name}.{side}.agentlog"))) for side in ("baseline", "candidate")]
    assert token_diff_of_records(*records).to_dict() == found


# Summaries


def test_u20_percentiles_interpolate() -> None:
    found = both(of_inputs(*range(1, 11)), [])
    # By nearest rank it would be 10; the last digits are those of the formula.
    assert found.baseline["input_tokens"] == TokenDistSummary(5.5, 3.25, 7.75, 9.549999999999999, 10, 55)


@pytest.mark.parametrize("odd", [{}, None, "usage", [1], {"input_tokens": None}, {"input_tokens": "10"},
                                 {"input_tokens": float("nan")}, {"input_tokens": True}])  # fmt: skip
def test_u20_what_is_absent_is_counted_and_said(odd: Any) -> None:
    usages = [{"input_tokens": 10, "output_tokens": 1, "thinking_tokens": 0} for _ in range(10)]
    found = both(records_of(usages), records_of([*usages[:4], odd, *usages[5:]]))
    assert found.absent_baseline == {"input_tokens": 0, "output_tokens": 0, "thinking_tokens": 0}
    assert found.absent_candidate == {"input_tokens": 1, "output_tokens": 1, "thinking_tokens": 1}
    assert found.candidate["input_tokens"].total == 90
    assert not {"absent_baseline", "absent_candidate"} & set(found.to_dict())


def test_a_record_that_is_no_dictionary() -> None:
    with pytest.raises(InputError, match="record 1 is int, not a dictionary"):
        token_diff_of_records([{}, 5], [])  # type: ignore[list-item]


def test_no_responses() -> None:
    found = both([], [])
    assert (
        found.baseline
        == found.candidate
        == dict.fromkeys(DIMENSIONS, TokenDistSummary(0.0, 0.0, 0.0, 0.0, 0, 0))
    )
    assert (found.pair_count, found.worst_pairs) == (0, [])
    assert found.normalised_shift == dict.fromkeys(DIMENSIONS, 0.0)
    assert json.dumps(found.baseline["input_tokens"].to_dict()) == json.dumps(trace_tokens.EMPTY)


def test_sides_of_unequal_length() -> None:
    found = both(of_inputs(1, 2, 3), of_inputs(5))
    assert found.pair_count == 1
    assert found.baseline["input_tokens"].total == 6
    assert [pair.delta["input_tokens"] for pair in found.worst_pairs] == [4]


@pytest.mark.parametrize(
    ("old", "new", "shift"),
    [(0, 0, 0.0), (0, 5, math.inf), (0, -5, 0.0), (4, 5, 0.25), (4, 0, -1.0), (-4, 4, -2.0)],
)
def test_shifts(old: int, new: int, shift: float) -> None:
    found = both(of_inputs(old), of_inputs(new))
    assert found.normalised_shift["input_tokens"] == shift
    shown = "+inf" if shift == math.inf else shift
    assert found.to_dict()["normalised_shift"]["input_tokens"] == shown


# The worst pairs


def test_worst_pairs_are_ranked_by_all_deltas_and_stably() -> None:
    old = records_of([{"input_tokens": 10, "output_tokens": 10, "thinking_tokens": 10}] * 5)
    new = records_of(
        [
            {"input_tokens": 10, "output_tokens": 10, "thinking_tokens": 10},
            {"input_tokens": 9, "output_tokens": 12, "thinking_tokens": 11},
            {"input_tokens": 14, "output_tokens": 10, "thinking_tokens": 10},
            {"input_tokens": 10, "output_tokens": 10, "thinking_tokens": 5},
            {"input_tokens": 10, "output_tokens": 10, "thinking_tokens": 10},
        ]
    )
    assert [pair.pair_index for pair in both(old, new).worst_pairs] == [3, 1, 2, 0, 4]
    assert [pair.pair_index for pair in both(old, new, 2).worst_pairs] == [3, 1]
    assert both(old, new, 0).worst_pairs == both(old, new, -3).worst_pairs == []
    worst = both(old, new).worst_pairs[1]
    assert worst.to_dict() == {
        "pair_index": 1,
        "baseline": {"input_tokens": 10, "output_tokens": 10, "thinking_tokens": 10},
        "candidate": {"input_tokens": 9, "output_tokens": 12, "thinking_tokens": 11},
        "delta": {"input_tokens": -1, "output_tokens": 2, "thinking_tokens": 1},
    }


def test_aligned_pairs() -> None:
    old, new = trace_of(of_inputs(1, 2, 30)), trace_of(of_inputs(100, 1, 2, 31, 7))
    found = token_diff(old, new, pair_along(b"IAAAI"))
    assert found.pair_count == 3
    assert [(pair.pair_index, pair.delta["input_tokens"]) for pair in found.worst_pairs] == [
        (2, 1), (0, 0), (1, 0),
    ]  # fmt: skip
    assert found.candidate["input_tokens"].total == 141


# Exact beyond 64 bits
@pytest.mark.parametrize(
    "huge", [2**63 - 1, 2**63, 2**64 - 1, -(2**63), -(2**63) - 1, 1e300, -1.5e19, 10**300, 10**400]
)
def test_counts_of_any_size_are_exact(huge: Any) -> None:
    old, new = of_inputs(huge, 5, 7, 0), of_inputs(5, huge, huge, huge)
    found = both(old, new).to_dict()
    assert json.dumps(found) == json.dumps(trace_tokens.token_diff(old, new))
    aligned = token_diff(trace_of(old), trace_of(new), pair_along(b"IADAAD")).to_dict()
    pairs = [(0, 1), (2, 2), (3, 3)]
    assert json.dumps(aligned) == json.dumps(trace_tokens.token_diff(old, new, pairs=pairs))


def test_totals_beyond_64_bits() -> None:
    counts = [2**62] * 9
    assert both(of_inputs(*counts), []).baseline["input_tokens"].total == 9 * 2**62


def test_fields() -> None:
    found = both(of_inputs(1), of_inputs(2))
    names = [field.name for field in dataclasses.fields(found)]
    assert names[:-2] == list(found.to_dict())
    assert list(found.to_dict()) == list(LISTS_KEYS)
    assert dataclasses.replace(found, pair_count=9).pair_count == 9
    assert isinstance(trace_of([]).tokens, TokenColumns)


LISTS_KEYS = ("dimensions", "baseline", "candidate", "pair_count", "normalised_shift", "worst_pairs")

# Against the reference

counts = st.one_of(
    st.integers(0, 5),
    st.integers(-(2**65), 2**65),
    st.sampled_from([None, True, "5", 2.5, -2.5, 1e18, 1e19, 1e308, float("nan"), float("inf"), [1]]),
)
usages = (
    st.none()
    | st.fixed_dictionaries({}, optional=dict.fromkeys(DIMENSIONS, counts))
    | st.sampled_from([5, "x", []])
)
sides = st.lists(usages, max_size=12).map(records_of)


@given(sides, sides, st.integers(-1, 14))
def test_the_reference_agrees(old: list[Record], new: list[Record], top_k: int) -> None:
    found = both(old, new, top_k).to_dict()
    expected = trace_tokens.token_diff(old, new, top_k)
    assert json.dumps(found) == json.dumps(expected)


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=200), st.lists(st.integers(0, 9), max_size=200))
def test_longer_columns(old: list[int], new: list[int]) -> None:
    before, after = of_inputs(*old), of_inputs(*new)
    assert json.dumps(both(before, after).to_dict()) == json.dumps(trace_tokens.token_diff(before, after))
