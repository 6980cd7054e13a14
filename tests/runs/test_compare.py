"""Ladders of linear runs and of topologies (comparison §§1-3)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from runs.recording import Stage, record
from stratadiff.runs.compare import Comparison, compare_runs
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run


def compare(folder: Path, a: Sequence[Stage], b: Sequence[Stage], **options: object) -> Comparison:
    runs = []
    for name, stages in (("a", a), ("b", b)):
        record(folder / name, stages, **options)  # type: ignore[arg-type]
        run = read_input(str(folder / name))
        run.given = name
        verify_run(run)
        runs.append(run)
    return compare_runs(*runs)


def verdicts(comparison: Comparison) -> list[str]:
    return [f"{row.node}: {row.verdict}" for row in comparison.rows]


def stages(**outputs: bytes) -> list[Stage]:
    return [Stage(name, {"x": data}) for name, data in outputs.items()]


# Linear


def test_verdicts_before_and_after_the_first_difference(tmp_path: Path) -> None:
    found = compare(tmp_path, stages(a=b"1", b=b"1", c=b"1", d=b"1"), stages(a=b"1", b=b"2", c=b"1", d=b"2"))
    assert verdicts(found) == ["a: same", "b: FIRST DIFFERENCE", "c: reconverged", "d: downstream"]
    assert (found.envelope, found.exit_code, found.reason) == ("diverged", 1, None)


def test_what_enters_the_comparison(tmp_path: Path) -> None:
    # By position, not by name (D9); the outcome class enters, inputs and instruments do not.
    renamed = compare(
        tmp_path / "1", [Stage("a", {"x": b"1"})], [Stage("a", {"y": b"1"}, constants={"n": "2"})]
    )
    assert verdicts(renamed) == ["a: same"]
    assert renamed.rows[0].differs == {
        "assertions.constants.k": ("v", None),
        "assertions.constants.n": (None, "2"),
    }
    swapped = compare(
        tmp_path / "2", [Stage("a", {"x": b"1", "y": b"2"})], [Stage("a", {"x": b"2", "y": b"1"})]
    )
    assert verdicts(swapped) == ["a: FIRST DIFFERENCE"]
    failed = compare(tmp_path / "3", [Stage("a", {})], [Stage("a", {}, outcome="refused")])
    assert verdicts(failed) == ["a: FIRST DIFFERENCE"]


def test_annotations_in_their_order(tmp_path: Path) -> None:
    instrument = {"version": "2", "id": "other", "rederivable": "false"}
    found = compare(
        tmp_path, [Stage("a", {})], [Stage("a", {}, instrument=instrument, corpus="sha256:" + "0" * 64)]
    )
    assert list(found.rows[0].differs) == [
        "instrument.id",
        "instrument.version",
        "instrument.rederivable",
        "assertions.corpus_manifest",
    ]
    assert found.envelope == "identical"


def test_a_boundary_cuts_the_ladder(tmp_path: Path) -> None:
    b = stages(a=b"1", b=b"2", c=b"3")
    b[0].boundaries = [{"kind": "external", "name": "c"}, {"kind": "other", "name": "b"}]
    found = compare(tmp_path, stages(a=b"1", b=b"1", c=b"3"), b)
    assert verdicts(found) == ["a: same", "b: COULD NOT CHECK", "c: COULD NOT CHECK"]
    assert found.reason == "declared boundary 'b' ('other')"
    assert found.boundary is not None
    assert (found.boundary[0], found.boundary[1].name) == (1, "b")
    assert (found.envelope, found.exit_code) == ("could not check", 4)


def test_the_baselines_boundary_wins_a_tie(tmp_path: Path) -> None:
    a, b = stages(a=b"1"), stages(a=b"1")
    a[0].boundaries = [{"kind": "one", "name": "a"}]
    b[0].boundaries = [{"kind": "two", "name": "a"}]
    assert compare(tmp_path, a, b).reason == "declared boundary 'a' ('one')"


def test_a_boundary_without_a_place_hides_everything(tmp_path: Path) -> None:
    b = stages(a=b"1", b=b"2")
    b[1].boundaries = [{"kind": "external", "name": "a"}, {"kind": "external", "name": "it's"}]
    found = compare(tmp_path, stages(a=b"1", b=b"1"), b)
    assert verdicts(found) == ["a: COULD NOT CHECK", "b: COULD NOT CHECK"]
    assert found.reason == "boundary 'it's' cannot be placed against the declared stages"
    assert found.boundary is None


def test_missing_records_are_named_by_path(tmp_path: Path) -> None:
    found = compare(tmp_path, stages(a=b"1"), stages(a=b"1"), declared=["a", "b"])
    assert found.rows[1].reason == "no record of stage 'b' at position 2 in a and b"
    assert found.rows[1].node == "b"  # decision D7
    other = compare(tmp_path / "x", stages(a=b"1", b=b"2"), stages(a=b"1"), declared=["a", "b"])
    assert other.rows[1].reason == "no record of stage 'b' at position 2 in b"


def test_a_stage_out_of_place_is_no_record(tmp_path: Path) -> None:
    found = compare(tmp_path, stages(a=b"1", b=b"1"), stages(b=b"1"), declared=["a", "b"])
    assert [row.reason for row in found.rows] == [
        "no record of stage 'a' at position 1 in b",
        "no record of stage 'b' at position 2 in b",
    ]


def test_a_difference_outweighs_what_could_not_be_checked(tmp_path: Path) -> None:
    found = compare(tmp_path, stages(a=b"1", b=b"1"), stages(a=b"2"), declared=["a", "b"])
    assert (found.envelope, found.reason) == ("diverged", None)


def test_two_empty_chains_are_identical(tmp_path: Path) -> None:
    found = compare(tmp_path, [], [])
    assert (found.envelope, found.rows) == ("identical", ())


# What keeps runs from being compared


def test_declared_lists_differ(tmp_path: Path) -> None:
    found = compare(tmp_path, stages(a=b"1"), stages(b=b"1"))
    assert (found.envelope, found.reason, found.rows) == ("not comparable", "declared stage lists differ", ())
    assert found.declared_lists == (["a"], ["b"])


def test_a_refused_side_comes_before_every_other_reason(tmp_path: Path) -> None:
    record(tmp_path / "a", stages(a=b"1"))
    record(tmp_path / "b", stages(b=b"1"), edges=True)
    for name in ("a", "b"):
        (tmp_path / name / "artifacts" / f"01-{name}" / "x").write_bytes(b"other")
    runs = [read_input(str(tmp_path / name)) for name in ("a", "b")]
    for run, name in zip(runs, ("a", "b"), strict=True):
        run.given = name
        verify_run(run)
    assert compare_runs(*runs).reason == "does not verify: a and b"
    assert compare_runs(runs[0], runs[0]).envelope == "refused"


def test_topology_against_linear_names_the_linear_one(tmp_path: Path) -> None:
    record(tmp_path / "a", stages(a=b"1"))
    record(tmp_path / "b", stages(a=b"1"), edges=True)
    runs = [read_input(str(tmp_path / name)) for name in ("a", "b")]
    for run, name in zip(runs, ("a", "b"), strict=True):
        run.given = name
        verify_run(run)
    reason = "one run records a topology and the other does not: a carries no `edges` and is read as linear"
    for pair in (runs, runs[::-1]):
        found = compare_runs(*pair)
        assert (found.envelope, found.reason, found.shape) == ("not comparable", reason, "short")


# Topologies


def fan(left: bytes, right: bytes, end: bytes, **options: object) -> list[Stage]:
    return [
        Stage("start", {"x": b"1"}),
        Stage("work", {"x": left}, instance="l", upstream=["start"]),
        Stage("work", {"x": right}, instance="r", upstream=["start"]),
        Stage("end", {"x": end}, upstream=["work#l", "work#r"], **options),  # type: ignore[arg-type]
    ]


def test_each_changed_branch_is_a_first_difference(tmp_path: Path) -> None:
    found = compare(tmp_path, fan(b"1", b"1", b"1"), fan(b"2", b"2", b"2"), edges=True)
    assert verdicts(found) == [
        "start: same",
        "work#l: FIRST DIFFERENCE",
        "work#r: FIRST DIFFERENCE",
        "end: downstream",
    ]
    assert found.rows[1].annotations == ("output x differs",)
    again = compare(tmp_path / "2", fan(b"1", b"1", b"1"), fan(b"1", b"2", b"1"), edges=True)
    assert verdicts(again)[1:] == ["work#l: same", "work#r: FIRST DIFFERENCE", "end: reconverged"]


def test_nothing_below_a_difference_is_same(tmp_path: Path) -> None:
    def chain(data: bytes) -> list[Stage]:
        return [
            Stage("a", {"x": data}),
            Stage("b", {"x": b"1"}, upstream=["a"]),
            Stage("c", {"x": b"1"}, upstream=["b"]),
        ]

    found = compare(tmp_path, chain(b"1"), chain(b"2"), edges=True)
    assert verdicts(found) == ["a: FIRST DIFFERENCE", "b: reconverged", "c: reconverged"]


def test_a_node_in_one_run_only(tmp_path: Path) -> None:
    short = [Stage("a", {"x": b"1"}), Stage("c", {"x": b"1"}, upstream=["a"])]
    long = [short[0], Stage("b", {"x": b"1"}, upstream=["a"]), Stage("c", {"x": b"1"}, upstream=["a", "b"])]
    found = compare(tmp_path, short, long, edges=True)
    assert verdicts(found) == ["a: same", "b: FIRST DIFFERENCE", "c: downstream"]
    assert found.rows[1].annotations == ("present in B only",)
    assert found.rows[2].annotations == ("upstream differs: ['a'] vs ['a', 'b']",)
    assert compare(tmp_path / "2", long, short, edges=True).rows[1].annotations == ("present in A only",)


def test_boundaries_of_a_topology_hide_what_lies_beyond(tmp_path: Path) -> None:
    b = fan(b"1", b"2", b"3")
    b[0].boundaries = [{"kind": "external", "name": "work"}, {"kind": "external", "name": "unknown"}]
    found = compare(tmp_path, fan(b"1", b"1", b"1"), b, edges=True)
    assert verdicts(found)[1:] == [
        "work#l: COULD NOT CHECK",
        "work#r: COULD NOT CHECK",
        "end: COULD NOT CHECK",
    ]
    assert [row.annotations for row in found.rows[1:]] == [
        ("declared boundary",),
        ("declared boundary",),
        ("downstream of a declared boundary",),
    ]
    assert (found.envelope, found.reason) == ("could not check", "work#l: declared boundary")


def test_upstream_of_what_could_not_be_checked(tmp_path: Path) -> None:
    b = fan(b"1", b"1", b"1")
    b[1].receipt = {"format": "stage-receipt/3.1"}
    found = compare(tmp_path, fan(b"1", b"1", b"1"), b, edges=True)
    assert verdicts(found)[1:] == ["work#l: COULD NOT CHECK", "work#r: same", "end: COULD NOT CHECK"]
    assert found.rows[1].annotations == ("receipt format 'stage-receipt/3.1' is not implemented",)
    assert found.rows[3].annotations == ("upstream is COULD NOT CHECK",)


def test_d8_outcome_class_is_said_and_does_not_decide(tmp_path: Path) -> None:
    found = compare(tmp_path, fan(b"1", b"1", b"1"), fan(b"1", b"1", b"1", outcome="error"), edges=True)
    assert found.envelope == "identical"
    assert found.rows[3].annotations == ("outcome class differs: ok -> error",)


def test_d6_a_repeated_edge_is_a_difference(tmp_path: Path) -> None:
    record(tmp_path / "a", fan(b"1", b"1", b"1"), edges=True)
    edges = [{"from": start, "to": end} for start, end in (
        ("start", "work#l"), ("start", "work#r"), ("start", "work#r"), ("work#l", "end"), ("work#r", "end"),
    )]  # fmt: skip
    record(tmp_path / "b", fan(b"1", b"1", b"1"), edges=True, manifest={"edges": edges})
    runs = [read_input(str(tmp_path / name)) for name in ("a", "b")]
    for run in runs:
        verify_run(run)
    assert compare_runs(*runs).rows[2].verdict == "FIRST DIFFERENCE"


# Speed


@pytest.mark.parametrize("edges", [False, True])
def test_two_hundred_stages_compare_in_milliseconds(tmp_path: Path, edges: bool) -> None:
    def many(last: bytes) -> list[Stage]:
        return [
            Stage(
                f"s{number}",
                {"x": last if number == 150 else b"1"},
                upstream=[f"s{number - 1}"] if number else [],
            )
            for number in range(200)
        ]

    found = compare(tmp_path, many(b"1"), many(b"2"), edges=edges)
    assert found.baseline is not None
    assert found.candidate is not None
    times = []
    for _ in range(5):
        started = time.process_time()
        compare_runs(found.baseline, found.candidate)
        times.append(time.process_time() - started)
    assert min(times) < 0.05  # about 3 ms alone; the machine may be busy
