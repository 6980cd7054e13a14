"""Each stricter check of the format, off by default, on with ``strict``."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from run_builder import RunBuilder, canonical
from stratadiff.core import digests
from stratadiff.core.moments import instant
from stratadiff.runs.model import FAIL
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run

SPLIT = "receipts/02-split.json: "
OUTSIDE = "leads outside the run through a symbolic link; not read"
Change = Callable[[Any], object]


def failures(folder: Path, *, strict: bool) -> list[tuple[str, str]]:
    run = read_input(str(folder), strict=strict)
    return [(row.name, row.detail) for row in verify_run(run) if row.result == FAIL]


def constants(value: object) -> Change:
    return lambda receipt: receipt["assertions"].update(constants=value)


CONSTANTS = "assertions name their constants with string values"
BOUNDARY = {"name": "nowhere", "kind": "k"}
PROOF = {
    "digest": "sha256:" + digests.merkle_leaf(b"x").hex(),
    "member": "m",
    "preimage_hex": "78",
    "proof": [],
}
RECEIPT_CHECKS: dict[str, tuple[Change, str, str]] = {
    "constants empty": (
        lambda r: r.update(assertions={"constants": {}}),
        CONSTANTS,
        "constants is empty",
    ),
    "constants list": (constants(["a"]), CONSTANTS, "constants is not an object"),
    "constant without name": (constants({"": "x"}), CONSTANTS, "a constant has an empty name"),
    "constant no string": (constants({"a": None}), CONSTANTS, "the value of constant 'a' is not a string"),
    "started": (
        lambda r: r["time"].update(started="2026-01-02"),
        "time.started is an RFC 3339 timestamp with Z or an offset",
        "'2026-01-02'",
    ),
    "ended": (
        lambda r: r["time"].update(ended="2026-02-30T00:00:00Z"),
        "time.ended is an RFC 3339 timestamp with Z or an offset",
        "'2026-02-30T00:00:00Z'",
    ),
    "ended first": (
        lambda r: r["time"].update(started="2026-01-02T01:00:00.5+01:00", ended="2026-01-02T00:00:00.49Z"),
        "time.ended is not before time.started",
        "started 2026-01-02T01:00:00.5+01:00, ended 2026-01-02T00:00:00.49Z",
    ),
    "boundary undeclared": (
        lambda r: r["coverage"].update(boundaries=[BOUNDARY]),
        "boundaries name declared stages",
        "boundary 1 names 'nowhere', which is not declared",
    ),
    "boundaries no list": (
        lambda r: r["coverage"].update(boundaries={}),
        "boundaries name declared stages",
        "boundaries is not a list",
    ),
    "rederivable": (
        lambda r: r["instrument"].update(rederivable=True),
        "instrument.rederivable is 'true' or 'false'",
        "True",
    ),
    "run_id": (
        lambda r: r.update(run_id="other"),
        "run_id is the manifest's",
        "the manifest says 'run-good', the receipt 'other'",
    ),
    "effects no list": (
        lambda r: r.update(effects={}),
        "effects name a target and a known state",
        "effects is not a list",
    ),
    "effect state": (
        lambda r: r.update(effects=[{"target": "t", "state": "attempted"}, {"target": "t", "state": "x"}]),
        "effects name a target and a known state",
        "effect 2 has the state 'x'",
    ),
    "effect target": (
        lambda r: r.update(effects=[{"state": "attempted"}]),
        "effects name a target and a known state",
        "effect 1 names no target",
    ),
    "inclusion proof": (
        lambda r: r["assertions"].update(corpus_manifest=PROOF | {"preimage_hex": "79"}),
        "corpus_manifest proof leads to its digest",
        f"it leads to {digests.merkle_leaf(b'y').hex()}",
    ),
    "inclusion proof step": (
        lambda r: r["assertions"].update(corpus_manifest=PROOF | {"proof": [{"sibling": "0"}]}),
        "corpus_manifest proof leads to its digest",
        "a step of the proof is malformed",
    ),
}


@pytest.mark.parametrize("which", RECEIPT_CHECKS)
def test_one_receipt_check_at_a_time(which: str, tmp_path: Path) -> None:
    change, name, detail = RECEIPT_CHECKS[which]
    run = RunBuilder().change(change).write(tmp_path / "run")
    assert failures(run, strict=False) == []
    assert failures(run, strict=True) == [(SPLIT + name, detail)]


def test_fine_values_pass_strictly(tmp_path: Path) -> None:
    def change(receipt: Any) -> None:
        receipt["assertions"]["corpus_manifest"] = PROOF
        receipt["effects"] = [{"target": "t", "state": "returned-a-response", "evidence": "e"}]
        receipt["time"] = {"started": "2026-01-02T01:00:00+01:00", "ended": "2026-01-02T00:00:00Z"}

    assert failures(RunBuilder().change(change).write(tmp_path / "run"), strict=True) == []


def test_complete_with_a_boundary_standing(tmp_path: Path) -> None:
    boundary = {"kind": "k", "name": "load"}
    builder = RunBuilder().change(lambda receipt: receipt["coverage"].update(boundaries=[boundary]), 3)
    run = builder.write(tmp_path / "run")
    assert failures(run, strict=False) == []
    assert failures(run, strict=True) == [
        ("receipts/04-answer.json: 'complete' has no boundary standing", repr([boundary]))
    ]


def test_prev_is_null_exactly_on_the_first_receipt(tmp_path: Path) -> None:
    def renumber(builder: RunBuilder) -> None:
        for number, (entry, receipt) in enumerate(
            zip(builder.manifest["chain"], builder.receipts, strict=True), 2
        ):
            entry["index"] = receipt["stage"]["index"] = str(number)

    builder = RunBuilder()
    renumber(builder)
    run = builder.seal().write(tmp_path / "run")
    assert failures(run, strict=False) == []
    assert failures(run, strict=True) == [
        (
            "receipts/01-load.json: prev is null on the first receipt and nowhere else",
            "stage.index '2', prev None",
        )
    ]


@pytest.mark.parametrize(
    ("change", "name", "detail"),
    [
        (
            lambda m: m["chain"][1].update(index="1"),
            "indexes count up and are the receipts'",
            "chain entry 2 has the index '1' after '1'",
        ),
        (
            lambda m: m["chain"][1].update(index="3"),
            "indexes count up and are the receipts'",
            "chain entry 2 has the index '3', its receipt '2'",
        ),
        (
            lambda m: m["chain"][1].pop("index"),
            "indexes count up and are the receipts'",
            "chain entry 2 has the index None",
        ),
        (
            lambda m: m["chain"][1].update(stage="zz"),
            "stage labels are the receipts'",
            "chain entry 2 is labelled 'zz', its receipt is 'split'",
        ),
        (
            lambda m: m.update(boundaries=[BOUNDARY]),
            "boundaries name declared stages",
            "boundary 1 names 'nowhere', which is not declared",
        ),
    ],
)
def test_one_manifest_check_at_a_time(change: Change, name: str, detail: str, tmp_path: Path) -> None:
    builder = RunBuilder()
    change(builder.manifest)
    run = builder.write(tmp_path / "run")
    assert failures(run, strict=False) == []
    assert failures(run, strict=True) == [(f"manifest: {name}", detail)]


def test_the_manifests_bytes_are_canonical(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest = canonical(builder.manifest) + b"\n"
    run = builder.write(tmp_path / "run")
    assert failures(run, strict=False) == []
    name = "manifest: bytes are canonical"
    assert failures(run, strict=True) == [(name, "file bytes differ from the canonical serialization")]
    (run / "MANIFEST.json").write_bytes(builder.manifest.replace(b'"run_id"', b'"n":1,"run_id"', 1))
    assert failures(run, strict=True) == [(name, "JSON number at $.n: use a decimal string")]


def test_a_single_receipt_has_the_receipt_checks_without_the_manifests(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    receipt = RunBuilder().receipts[1]
    path.write_bytes(canonical(receipt | {"run_id": "any", "effects": {}}))
    assert failures(path, strict=False) == []
    assert failures(path, strict=True) == [
        (f"{path}: effects name a target and a known state", "effects is not a list")
    ]


def outside(path: Path, tmp_path: Path) -> None:
    """Move a file out of the run and leave a link in its place."""
    target = tmp_path / f"outside-{path.name}"
    path.rename(target)
    path.symlink_to(target)


def test_a_receipt_behind_a_link_out_of_the_run(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    outside(run / "receipts/04-answer.json", tmp_path)
    assert failures(run, strict=False) == []
    found = failures(run, strict=True)
    assert found[0] == ("receipts/04-answer.json: receipt file", OUTSIDE)
    assert found[1][0] == "manifest: chain head matches the last receipt"


def test_an_output_behind_a_link_out_of_the_run(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    outside(run / "artifacts/02-split", tmp_path)
    assert failures(run, strict=False) == []
    assert failures(run, strict=True) == [(SPLIT + "output artifact 'chunks.json'", OUTSIDE)]


def test_a_manifest_behind_a_link_out_of_the_run(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    outside(run / "MANIFEST.json", tmp_path)
    assert failures(run, strict=False) == []
    assert failures(run, strict=True) == [("manifest", OUTSIDE)]


def test_links_that_stay_inside_and_a_linked_run_folder_are_fine(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    (run / "receipts").rename(run / "kept")
    (run / "receipts").symlink_to("kept")
    link = tmp_path / "link"
    link.symlink_to(run)
    assert failures(link, strict=True) == []


def test_a_circle_of_links_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    path = run / "receipts/04-answer.json"
    path.unlink()
    os.symlink(path.name, path)
    for strict in (False, True):
        assert failures(run, strict=strict)[0][0] == "receipts/04-answer.json: receipt file"


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05z",
        "2024-02-29T23:59:59.000-23:59",
        "0001-01-01T00:00:00+00:00",
        "1970-01-01T00:00:00Z",
        "2000-03-01T00:00:00.1234567890123456789Z",
    ],
)
def test_timestamps_are_what_datetime_says(text: str) -> None:
    from datetime import datetime, timedelta

    moment = instant(text)
    assert moment is not None
    head, _, fraction = text.upper().partition(".")
    plain = head if not fraction else head + fraction.lstrip("0123456789")
    zone = UTC
    expected = datetime.fromisoformat(plain.replace("Z", "+00:00"))
    assert moment[0] == (expected - datetime(1970, 1, 1, tzinfo=zone)) // timedelta(seconds=1)


@pytest.mark.parametrize(
    "text",
    [
        None, "", "2026-01-02", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z",
        "2026-02-29T03:04:05Z", "2026-01-02T24:00:00Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+0100",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+01:60", "2026-01-02T03:04:05Z ", "\u0662026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.",
        "+026-01-02T03:04:05Z", "2026-01-02T03:04:05Zx",
    ],
)  # fmt: skip
def test_texts_that_are_no_timestamps(text: object) -> None:
    assert instant(text) is None


def test_moments_order_by_every_digit() -> None:
    earlier, later = instant("2026-01-02T03:04:05.25Z"), instant("2026-01-02T03:04:05.3Z")
    assert earlier is not None
    assert later is not None
    assert earlier < later
    assert instant("2026-01-02T03:04:05.500Z") == instant("2026-01-02T02:04:05.5-01:00")
