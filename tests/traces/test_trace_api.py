"""The library's calls about traces: what they take, what they return, what they leave alone."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

import stratadiff
from traces.records import response, session, use

MONDAY, TUESDAY = stratadiff.demo_traces()
POLICY = str(Path(MONDAY).parent / "policy.yaml")
PRICING = str(Path(MONDAY).parent / "pricing.json")


def forms(path: str) -> list[Any]:
    """Return everything that one trace can be given as."""
    trace = stratadiff.read_trace(path)
    return [path, path.encode(), Path(path), trace, list(trace), tuple(trace)]


def test_every_form_of_a_trace_is_taken() -> None:
    reports = {
        stratadiff.compare_traces(a, b, levels=stratadiff.LEVELS, rules=POLICY).report().canonical()
        for a, b in zip(forms(MONDAY), forms(TUESDAY), strict=True)
    }
    assert len(reports) == 1
    tokens = [stratadiff.token_diff(a, b) for a, b in zip(forms(MONDAY), forms(TUESDAY), strict=True)]
    assert all(difference == tokens[0] for difference in tokens)


def test_every_form_of_a_policy_and_of_prices_is_taken() -> None:
    policy = stratadiff.load_policy(POLICY)
    rules = [POLICY, POLICY.encode(), Path(POLICY), policy, list(policy)]
    differences = [stratadiff.policy_diff(MONDAY, TUESDAY, form) for form in rules]
    assert all(difference == differences[0] for difference in differences)
    assert len(differences[0].regressions) == 2
    table = json.loads(Path(PRICING).read_bytes())
    prices = [PRICING, Path(PRICING), table, stratadiff.load_pricing(PRICING)]
    rows = [stratadiff.trace_diff(MONDAY, TUESDAY, pricing=form).rows for form in prices]
    assert all(found == rows[0] for found in rows)


def test_records_are_not_modified() -> None:
    old = [
        *session(response("a", use("x", "1", k=[1, {"z": 1.0}]), usage={"output_tokens": 3})),
        response("b"),
    ]
    new = [*session(response("c", use("y", "1", k=[])), response("b"))]
    before = copy.deepcopy((old, new))
    result = stratadiff.compare_traces(old, new, levels=stratadiff.LEVELS, rules=[], align=True)
    result.report().canonical()
    result.text()
    stratadiff.token_diff(old, new)
    stratadiff.span_diff(old[1]["payload"], new[1]["payload"])
    assert (old, new) == before


def test_each_level_alone_is_the_same_as_in_the_whole() -> None:
    whole = stratadiff.compare_traces(MONDAY, TUESDAY, levels=stratadiff.LEVELS, rules=POLICY, align=True)
    found = whole.comparison
    report = stratadiff.trace_diff(MONDAY, TUESDAY, align=True)
    assert (report.rows, report.extras) == (found.rows, found.extras)
    assert report.first_divergence == found.first_divergence
    turns = stratadiff.turn_diff(MONDAY, TUESDAY, align=True)
    assert (turns.first_divergence, turns.divergences, turns.drill_down) == (
        found.first_divergence,
        found.divergences,
        found.drill_down,
    )
    assert stratadiff.session_diff(MONDAY, TUESDAY, align=True) == found.sessions
    assert stratadiff.token_diff(MONDAY, TUESDAY, align=True) == found.token_diff
    assert stratadiff.policy_diff(MONDAY, TUESDAY, POLICY, align=True) == found.policy_diff
    assert found.spans is not None
    assert [pair.pair_index for pair in found.spans] == [4, 7, 10]


def test_levels_by_default() -> None:
    plain = stratadiff.compare_traces(MONDAY, TUESDAY).comparison
    assert plain.rows is not None
    assert plain.divergences is not None
    assert (plain.sessions, plain.token_diff, plain.policy_diff, plain.spans) == (None,) * 4
    ruled = stratadiff.compare_traces(MONDAY, TUESDAY, rules=POLICY).comparison
    assert ruled.policy_diff is not None
    assert stratadiff.compare_traces(MONDAY, TUESDAY, levels="token").comparison.rows is None


def test_exit_code_heeds_fail_on() -> None:
    codes = {
        fail_on: stratadiff.compare_traces(MONDAY, TUESDAY, align=True, fail_on=fail_on).exit_code
        for fail_on in ("never", "minor", "moderate", "severe")
    }
    assert codes == {"never": 0, "minor": 1, "moderate": 0, "severe": 0}
    assert (
        stratadiff.compare_traces(MONDAY, TUESDAY, rules=POLICY, align=True, fail_on="severe").exit_code == 1
    )


@pytest.mark.parametrize(
    "options",
    [
        {"levels": ["traces"]},
        {"levels": ["policy"]},
        {"fail_on": "bad"},
        {"refusals": "lenient"},
        {"split": "turns"},
        {"seed": 1.5},
        {"judge": [1.0]},
    ],
    ids=str,
)
def test_arguments_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(stratadiff.UsageError):
        stratadiff.compare_traces(MONDAY, TUESDAY, **options)


def test_front_door_takes_traces() -> None:
    result = stratadiff.diff(MONDAY, TUESDAY)
    assert isinstance(result, stratadiff.TraceResult)
    assert repr(result) == "<TraceResult of 12 pairs, worst severity severe>"
    assert result.exit_code == 0
    assert result.text().startswith("Trace diff, 12 response pair(s)\n")
    assert result.report().format == "trace-report/0.1"
    assert stratadiff.open(MONDAY).trace_id == "orders-migration-monday"
    assert stratadiff.verify(MONDAY).verifies
    with pytest.raises(stratadiff.UsageError, match="max_lines is for recorded runs"):
        stratadiff.diff(MONDAY, TUESDAY, max_lines=5)
    with pytest.raises(stratadiff.UnknownKindError, match="is an agent trace and"):
        stratadiff.diff(MONDAY, stratadiff.demo_runs()[0])
    with pytest.raises(stratadiff.NotFoundError):
        stratadiff.diff(MONDAY, "nowhere.agentlog")
    assert stratadiff.diff("nowhere", "nothing").envelope == "could not check"


def test_text_can_have_colour() -> None:
    result = stratadiff.compare_traces(MONDAY, TUESDAY)
    assert "\x1b[31msevere" in result.text(colour=True)
    assert "\x1b" not in result.text()


def test_results_are_closed_and_open_to_dataclasses() -> None:
    result = stratadiff.compare_traces(MONDAY, TUESDAY, levels=["trace", "token"])
    with pytest.raises(AttributeError):
        result.fail_on = "minor"
    assert result.comparison.rows is not None
    row = result.comparison.rows[0]
    assert dataclasses.asdict(row)["axis"] == "semantic"
    assert dataclasses.replace(row, n=0).n == 0
    assert row == dataclasses.replace(row)


def test_tolerant_reading_names_what_it_left_out(tmp_path: Path) -> None:
    data = Path(TUESDAY).read_bytes()
    (tmp_path / "torn.agentlog").write_bytes(data[:-100])
    torn = tmp_path / "torn.agentlog"
    with pytest.raises(stratadiff.TraceError) as caught:
        stratadiff.compare_traces(MONDAY, torn)
    assert (caught.value.line, caught.value.code) == (46, "json")
    result = stratadiff.compare_traces(MONDAY, torn, tolerant=True)
    assert [(note.line, note.code) for note in result.candidate.diagnostics] == [(46, "json")]
    assert result.candidate.turn_count == 11


def test_undecodable_names(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.agentlog")
    try:
        (tmp_path / name).write_bytes(Path(MONDAY).read_bytes())
    except OSError:
        pytest.skip("this file system has no such names")
    result = stratadiff.compare_traces(tmp_path / name, TUESDAY)
    assert result.baseline.source.endswith(name)
    assert stratadiff.verify_trace(os.fsencode(tmp_path / name)).verifies
