"""The two rows of a run that records its graph, one problem at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from run_builder import RunBuilder, canonical, digest
from stratadiff.runs.model import FAIL, NOT_RUN, PASS
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run

PLAN = "edges conform to declared_edges"
DERIVED = "edges equal the edges derived from the receipts"
Found = list[tuple[str, str, str]]


def topology_rows(folder: Path) -> Found:
    rows = verify_run(read_input(str(folder)), collect_passes=True)
    return [(row.result, row.name, row.detail) for row in rows if row.name in (PLAN, DERIVED)]


def judged(builder: RunBuilder, tmp_path: Path) -> Found:
    return topology_rows(builder.write(tmp_path / "run"))


def with_manifest(**members: object) -> RunBuilder:
    builder = RunBuilder("dag")
    builder.manifest.update(members)
    return builder


def test_a_good_graph_passes_both(tmp_path: Path) -> None:
    assert judged(RunBuilder("dag"), tmp_path) == [(PASS, PLAN, ""), (PASS, DERIVED, "")]


def test_a_linear_run_has_neither_row(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["declared_edges"] = "x"
    assert judged(builder, tmp_path) == []


@pytest.mark.parametrize("edges", [None, {}, ""])
def test_edges_that_are_nothing_fail_the_second_row_alone(edges: object, tmp_path: Path) -> None:
    assert judged(with_manifest(edges=edges), tmp_path) == [(FAIL, DERIVED, "`edges` is not a list")]


def test_no_edge_at_all(tmp_path: Path) -> None:
    rows = judged(with_manifest(edges=[]), tmp_path)
    assert rows[0][:2] == (NOT_RUN, PLAN)
    assert rows[0][2].startswith("no edges observed: the run declares an approved plan")
    assert rows[1][2].startswith("manifest-only: []; receipts-only: [('merge', 'check'), ")
    builder = RunBuilder()
    builder.manifest["edges"] = []
    assert topology_rows(builder.write(tmp_path / "other")) == [(PASS, DERIVED, "")]


def test_no_plan(tmp_path: Path) -> None:
    detail = "manifest carries `edges` but no `declared_edges`; there is no approved plan to check against"
    assert judged(with_manifest(declared_edges=None), tmp_path)[0] == (NOT_RUN, PLAN, detail)


@pytest.mark.parametrize("entry", [5, "x", {}, {"from": "a"}, {"from": "a", "to": None}])
@pytest.mark.parametrize("member", ["edges", "declared_edges"])
def test_malformed_lists(member: str, entry: object, tmp_path: Path) -> None:
    good = {"from": "start", "to": "normalise"}
    rows = judged(with_manifest(**{member: [good, entry]}), tmp_path)
    detail = f"`{member}` entry 2 is not an object with string `from` and `to`"
    assert (FAIL, PLAN, detail) in rows
    assert ((FAIL, DERIVED, detail) in rows) == (member == "edges")


@pytest.mark.parametrize("member", ["edges", "declared_edges"])
def test_lists_that_are_none(member: str, tmp_path: Path) -> None:
    assert judged(with_manifest(**{member: "x"}), tmp_path)[0] == (FAIL, PLAN, f"`{member}` is not a list")


def test_an_empty_plan_allows_nothing(tmp_path: Path) -> None:
    detail = "'start' -> 'normalise#a' projects onto 'start' -> 'normalise', which is not declared"
    assert judged(with_manifest(declared_edges=[]), tmp_path)[0] == (FAIL, PLAN, detail)


@pytest.mark.parametrize(
    ("repeats", "fine"), [("true", True), (True, False), ("false", False), (None, False)]
)
def test_loops_need_the_string_true(repeats: object, fine: bool, tmp_path: Path) -> None:
    builder = RunBuilder("dag")
    builder.manifest["declared_edges"].append({"from": "normalise", "to": "normalise", "repeats": repeats})
    builder.manifest["edges"].append({"from": "normalise#a", "to": "normalise#b"})
    rows = judged(builder, tmp_path)
    assert (rows[0][0] == PASS) == fine
    if not fine:
        assert rows[0][2].endswith('a loop on a pair not declared repeats "true"')
    assert rows[1] == (FAIL, DERIVED, "manifest-only: [('normalise#a', 'normalise#b')]; receipts-only: []")


def entry_changes(builder: RunBuilder, **members: object) -> RunBuilder:
    builder.manifest["chain"][1].update(members)
    return builder


@pytest.mark.parametrize(
    ("members", "detail"),
    [
        ({"stage": None}, "`chain` entry 2 is not an object with string `file` and `stage`"),
        ({"stage": "zz"}, "`chain` entry 2 labels 'zz#a', but its receipt is 'normalise#a'"),
        ({"instance": None}, "`chain` entry 2 labels 'normalise#None', but its receipt is 'normalise#a'"),
        (
            {"instance": "\u00e9"},
            "`chain` entry 2 labels 'normalise#\u00e9', but its receipt is 'normalise#a'"
            " (escaped: 'normalise#\\xe9' and 'normalise#a')",
        ),
        ({"index": "02"}, "`chain` entry 2's `index` '02' is not its receipt's `stage.index` '2'"),
        ({"index": None}, "`chain` entry 2's `index` None is not its receipt's `stage.index` '2'"),
    ],
)
def test_labels_of_the_manifest(members: dict[str, object], detail: str, tmp_path: Path) -> None:
    assert judged(entry_changes(RunBuilder("dag"), **members), tmp_path)[1] == (FAIL, DERIVED, detail)


def test_an_entry_without_index_is_fine(tmp_path: Path) -> None:
    builder = RunBuilder("dag")
    del builder.manifest["chain"][1]["index"]
    assert judged(builder, tmp_path)[1] == (PASS, DERIVED, "")


NODE = "receipts/02-normalise_a.json"


def test_receipts_that_cannot_be_relied_on_leave_the_row_not_run(tmp_path: Path) -> None:
    builder = entry_changes(RunBuilder("dag"), digest="x")
    assert judged(builder, tmp_path)[1] == (
        NOT_RUN,
        DERIVED,
        f"{NODE}: the receipt does not hash to the chain's digest, so the edges it carries are not the ones"
        " the chain sealed",
    )
    (tmp_path / "run" / NODE).unlink()
    assert topology_rows(tmp_path / "run")[1] == (
        NOT_RUN,
        DERIVED,
        f"{NODE}: the receipt was not read, so the edges it carries are unknown",
    )


@pytest.mark.parametrize("label", ["stage-receipt/9.0", "junk", "stage-receipt/0.0-preview"])
def test_a_receipt_of_another_format_leaves_the_row_not_run(label: str, tmp_path: Path) -> None:
    builder = RunBuilder("dag").change(lambda receipt: receipt.update(format=label))
    detail = f"{NODE}: the receipt's `format` is not one this verifier implements, so its edges are not read"
    assert judged(builder, tmp_path)[1] == (NOT_RUN, DERIVED, detail)


def stage_changes(number: int, **members: object) -> RunBuilder:
    """Change a receipt's stage and its label in the manifest alike."""
    builder = RunBuilder("dag")
    builder.receipts[number]["stage"].update(members)
    labels = {"stage" if name == "name" else name: value for name, value in members.items()}
    builder.manifest["chain"][number].update(labels)
    return builder.seal()


@pytest.mark.parametrize(
    ("members", "detail"),
    [
        ({"name": ""}, f"{NODE}: `stage.name` is not a non-empty string"),
        (
            {"name": "a#b"},
            f"{NODE}: `stage.name` contains '#', so its node id cannot be read back as its name",
        ),
        ({"instance": ""}, f"{NODE}: `stage.instance` is not a non-empty string"),
        ({"instance": None}, f"{NODE}: `stage.instance` is not a non-empty string"),
        ({"index": "\u0663"}, f"{NODE}: `stage.index` is not a decimal string"),
        ({"index": ""}, f"{NODE}: `stage.index` is not a decimal string"),
        ({"instance": "b"}, "node ids are not unique: ['normalise#b']"),
        (
            {"index": "007"},
            "receipts/04-merge.json: the edge from 'normalise#a' (`stage.index` 7) to 'merge'"
            " (`stage.index` 4) does not point backward",
        ),
        (
            {"index": "2" * 5000},
            f"receipts/04-merge.json: the edge from 'normalise#a' (`stage.index` {'2' * 5000}) to 'merge'"
            " (`stage.index` 4) does not point backward",
        ),
    ],
)
def test_nodes(members: dict[str, object], detail: str, tmp_path: Path) -> None:
    assert judged(stage_changes(1, **members), tmp_path)[-1] == (FAIL, DERIVED, detail)


def test_indexes_compare_as_digit_strings(tmp_path: Path) -> None:
    assert judged(stage_changes(4, index="0005"), tmp_path)[-1][0] == PASS
    assert topology_rows(stage_changes(4, index="0004").write(tmp_path / "same"))[-1][0] == FAIL


def test_names_that_differ_by_normalisation_alone(tmp_path: Path) -> None:
    builder = stage_changes(1, instance="\u00e9")
    builder.receipts[2]["stage"]["instance"] = builder.manifest["chain"][2]["instance"] = "e\u0301"
    detail = "node ids 'normalise#\\xe9' and 'normalise#e\\u0301' differ only in Unicode normalisation"
    assert judged(builder.seal(), tmp_path)[-1] == (FAIL, DERIVED, detail)
    builder = stage_changes(1, name="\u00e9")
    builder.receipts[4]["stage"]["name"] = builder.manifest["chain"][4]["stage"] = "e\u0301"
    detail = "stage names '\\xe9' and 'e\\u0301' differ only in Unicode normalisation"
    assert topology_rows(builder.seal().write(tmp_path / "names"))[-1] == (FAIL, DERIVED, detail)


@pytest.mark.parametrize(
    ("inputs", "detail"),
    [
        ({}, f"{NODE}: `inputs` is not a list"),
        ([None], f"{NODE}: `inputs` entry 1 is not an object"),
        ([{"name": None}], f"{NODE}: `inputs` entry 1 has a `name` that is not a string"),
        ([{"name": "receipt:"}], f"{NODE}: input 'receipt:' names no node of the run"),
        ([{"name": "receipt:check"}], f"{NODE}: input 'receipt:check' does not carry that receipt's digest"),
        ([{}], "manifest-only: [('start', 'normalise#a')]; receipts-only: []"),
    ],
)
def test_inputs(inputs: object, detail: str, tmp_path: Path) -> None:
    builder = RunBuilder("dag").change(lambda receipt: receipt.update(inputs=inputs))
    assert judged(builder, tmp_path)[-1] == (FAIL, DERIVED, detail)


def test_a_receipt_without_inputs_has_no_edges(tmp_path: Path) -> None:
    builder = RunBuilder("dag").change(lambda receipt: receipt.pop("inputs"))
    detail = "manifest-only: [('start', 'normalise#a')]; receipts-only: []"
    assert judged(builder, tmp_path)[-1] == (FAIL, DERIVED, detail)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda link: link.update(digest="x"), "does not carry that receipt's digest"),
        (lambda link: link.update(bytes="1"), "does not carry that receipt's length in `bytes` ("),
        (lambda link: link.pop("bytes"), "does not carry that receipt's length in `bytes` ("),
    ],
)
def test_links_carry_digest_and_length(change: Callable[[Any], object], words: str, tmp_path: Path) -> None:
    builder = RunBuilder("dag")
    change(builder.receipts[4]["inputs"][0])
    last = digest(canonical(builder.receipts[4]))
    builder.manifest["chain"][4]["digest"] = builder.manifest["chain_head"] = last
    rows = judged(builder, tmp_path)
    assert rows[-1][2].startswith(f"receipts/05-check.json: input 'receipt:merge' {words}")


def test_order_and_repeats_of_the_manifests_edges_do_not_matter(tmp_path: Path) -> None:
    builder = RunBuilder("dag")
    edges = builder.manifest["edges"]
    builder.manifest["edges"] = edges[::-1] + edges[:2]
    assert [row[0] for row in judged(builder, tmp_path)] == [PASS, PASS]
