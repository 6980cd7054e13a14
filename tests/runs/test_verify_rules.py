"""A negative for every row of the verification: one change to a good run, and exactly the rows it costs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from run_builder import RunBuilder, canonical, digest
from stratadiff.runs.model import FAIL, NOT_RUN, PASS, Row
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import verify_run

SPLIT = "receipts/02-split.json: "
NODE = "receipts/02-normalise_a.json: "
DIGEST = "sha256:" + "0" * 64
Change = Callable[[Any], object]


def verified(folder: Path, **options: bool) -> list[Row]:
    return verify_run(read_input(str(folder)), **options)


def failures(folder: Path) -> list[tuple[str, str]]:
    """Return the FAIL rows of the run; whether PASS rows are made must not matter to them."""
    rows = verified(folder, collect_passes=True)
    assert [row for row in rows if row.result != PASS] == verified(folder)
    return [(row.name, row.detail) for row in rows if row.result == FAIL]


def setting(path: str, value: object) -> Change:
    """Return a change that sets a member; ``a.0.b`` walks through lists too."""

    def change(receipt: Any) -> None:
        *parents, last = path.split(".")
        for part in parents:
            receipt = receipt[int(part)] if part.isdigit() else receipt[part]
        receipt[last] = value

    return change


def removing(path: str) -> Change:
    def change(receipt: Any) -> None:
        *parents, last = path.split(".")
        for part in parents:
            receipt = receipt[int(part)] if part.isdigit() else receipt[part]
        del receipt[last]

    return change


NO_CONSTANTS = "a relation that holds only under an unstated constant tests the constant"
NO_INSTRUMENT = "a record whose instrument cannot be named is invalid"
NOT_HELD = "refused.attempted on a receipt whose outcome is not refused, or not a list of receipt: links"
PREFIXED = "digest is sha256: and 64 lower-case hex"
BARE = "digest is 64 lower-case hex, no prefix"
ONE_FAILURE: dict[str, tuple[Change, str, str]] = {
    "05 format not a string": (setting("format", None), "receipt format", "format is not a string: None"),
    "05 format of nothing": (
        setting("format", "x/0.1"),
        "receipt format",
        "'x/0.1': no digit major with a minor part",
    ),
    "08 required field": (removing("emission"), "required field 'emission'", ""),
    "08 run_id": (removing("run_id"), "required field 'run_id'", ""),
    "09 started": (
        setting("time.started", "2026-01-02T03:04:05"),
        "time.started carries its zone",
        "'2026-01-02T03:04:05'",
    ),
    "09 ended": (setting("time.ended", []), "time.ended carries its zone", "[]"),
    "10 instrument id": (setting("instrument.id", ""), "instrument is named and pinned", NO_INSTRUMENT),
    "11 input": (
        setting("inputs.0.trust_class", "secret"),
        "inputs/docs.txt declares a trust class",
        "'secret'",
    ),
    "11 output": (
        setting("outputs.0.trust_class", None),
        "outputs/chunks.json declares a trust class",
        "None",
    ),
    "12 assertions": (setting("assertions", {"a": "b"}), "assertions name their constants", NO_CONSTANTS),
    "13 outcome": (
        setting("outcome.class", "done"),
        "outcome class is one of ['error', 'ok', 'refused']",
        "'done'",
    ),
    "14 error": (
        setting("outcome", {"class": "error", "status": "500", "origin": "x"}),
        "error carries status, body and origin",
        "an HTTP error without its body is a status code wearing an explanation",
    ),
    "15 completeness": (
        setting("coverage.completeness", "partly"),
        "coverage declares completeness",
        "'partly'",
    ),
    "17 step held": (setting("refused", {"attempted": []}), "step held before running", NOT_HELD),
    "19 anchor state": (
        setting("anchor.state", "afloat"),
        "anchor state is declared, not absent",
        "'afloat'",
    ),
    "21 manifest_digest": (
        setting("instrument.manifest_digest", "x"),
        PREFIXED,
        "instrument.manifest_digest: 'x'",
    ),
    "21 config_digest": (
        setting("instrument.config_digest", None),
        PREFIXED,
        "instrument.config_digest: None",
    ),
    "21 input": (
        setting("inputs.0.digest", DIGEST.upper()),
        PREFIXED,
        f"inputs[0].digest: '{DIGEST.upper()}'",
    ),
    "21 newline": (setting("inputs.0.digest", DIGEST + "\n"), PREFIXED, f"inputs[0].digest: '{DIGEST}\\n'"),
    "21 corpus link": (
        setting("assertions", {"corpus_manifest": "x"}),
        PREFIXED,
        "assertions.corpus_manifest: 'x'",
    ),
    "21 subject": (setting("anchor.subject", "x"), PREFIXED, "anchor.subject: 'x'"),
    "21 outputs_root": (
        setting("assertions.outputs_root", DIGEST),
        BARE,
        f"assertions.outputs_root: '{DIGEST}'",
    ),
    "21 receipts_root": (setting("assertions.receipts_root", None), BARE, "assertions.receipts_root: None"),
    "22 emitting early": (
        setting("coverage.emitting_stages", ["load", "split", "answer"]),
        "emitting_stages is as known at emission",
        "receipt 2 ('split') lists ['answer'] as emitting, which had not happened yet at this point"
        " in the chain",
    ),
    "22 undeclared stage, by place": (
        setting(
            "coverage",
            {"declared_stages": ["a", "b", "c"], "emitting_stages": ["a", "c"], "completeness": "incomplete"},
        ),
        "emitting_stages is as known at emission",
        "receipt 2 ('split') lists ['c'] as emitting, which had not happened yet at this point in the chain",
    ),
    "26 missing": (
        setting("outputs.0.name", "nowhere.txt"),
        "output artifact 'nowhere.txt'",
        "missing from artifacts/",
    ),
}


@pytest.mark.parametrize("which", ONE_FAILURE)
def test_one_change_costs_one_row(which: str, tmp_path: Path) -> None:
    change, name, detail = ONE_FAILURE[which]
    run = RunBuilder().change(change).write(tmp_path / "run")
    assert failures(run) == [(SPLIT + name, detail)]


IMPOSSIBLE: dict[str, Change] = {
    **{
        f"{name} null": setting(name, None)
        for name in ("time", "instrument", "outcome", "coverage", "anchor")
    },
    **{f"{name} list": setting(name, []) for name in ("time", "instrument", "outcome", "coverage", "anchor")},
    **{f"{name} null": setting(name, None) for name in ("inputs", "outputs")},
    **{f"{name} item": setting(name, ["x"]) for name in ("inputs", "outputs")},
    "inputs true": setting("inputs", True),
    "trust_class list": setting("inputs.0.trust_class", []),
    "class object": setting("outcome.class", {}),
    "completeness list": setting("coverage.completeness", []),
    "state object": setting("anchor.state", {}),
    "short time": setting("time.started", "12345"),
    "no time": removing("time.started"),
    "assertions true": setting("assertions", True),
    "complete with objects": setting(
        "coverage", {"completeness": "complete", "declared_stages": [{}], "emitting_stages": []}
    ),
}


@pytest.mark.parametrize("which", IMPOSSIBLE)
def test_row_27_an_impossible_shape_stops_this_receipt_and_breaks_the_next_link(
    which: str, tmp_path: Path
) -> None:
    run = RunBuilder().change(IMPOSSIBLE[which]).write(tmp_path / "run")
    found = [row for row in failures(run) if "outputs_kept" not in row[0]]
    assert [name for name, _ in found] == [SPLIT + "receipt", "receipts/03-retrieve.json: chain link"]
    assert found[0][1].startswith("could not be checked: ")


HARMLESS: dict[str, Change] = {
    "D3 inputs {}": setting("inputs", {}),
    "D3 inputs ''": setting("inputs", ""),
    "D4 assertions null": setting("assertions", None),
    "D4 assertions ''": setting("assertions", ""),
    "D4 assertions []": setting("assertions", []),
    "bare date": setting("time.started", "2026-01-02"),
    "unknown member": setting("zz", {"deep": [True, None]}),
    "empty constants": setting("assertions.constants", {}),
    "unimplemented minor": setting("format", "stage-receipt/00.73"),
    "anchored": setting("anchor", {"state": "anchored", "subject": "0" * 64, "proof": "x"}),
    "link with a proof": setting("assertions", {"corpus_manifest": {"digest": "x"}}),
    "nested reserved name": setting("assertions.constants.receipt_digest", "x"),
    "odd stage lists": setting(
        "coverage", {"completeness": "incomplete", "declared_stages": [[]], "emitting_stages": [{}]}
    ),
    "held": lambda receipt: receipt.update(outcome={"class": "refused", "reason": "r"}),
}


@pytest.mark.parametrize("which", HARMLESS)
def test_what_the_reference_lets_pass_passes(which: str, tmp_path: Path) -> None:
    assert failures(RunBuilder().change(HARMLESS[which]).write(tmp_path / "run")) == []


def test_row_1_outputs_kept_value(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["outputs_kept"] = ["all"]
    assert failures(builder.write(tmp_path / "run")) == [
        ("manifest: outputs_kept is 'all' or 'none'", "['all']")
    ]


def test_row_2_outputs_kept_agreement(tmp_path: Path) -> None:
    builder = RunBuilder()
    for receipt in builder.receipts[2:]:
        receipt["coverage"]["outputs_kept"] = "none"
    assert failures(builder.seal().write(tmp_path / "run")) == [
        (
            "manifest: outputs_kept agrees with every receipt",
            "the manifest says 'all', receipts/03-retrieve.json says 'none' (and 1 more)",
        )
    ]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not valid JSON: "),
        (b"{}x", "not valid JSON: "),
        (b"\xff{}", "not valid UTF-8: "),
        (b'{"a":"\x01"}', "not valid JSON: "),
        (b"[]", "top-level JSON value is a list, not an object"),
        (b"null", "top-level JSON value is a NoneType, not an object"),
        (b"3", "top-level JSON value is a int, not an object"),
        (b'{"a":' + b"1" * 5000 + b"}", "not valid JSON: "),
    ],
)
def test_row_3_a_receipt_that_is_no_object(data: bytes, why: str, tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.receipts[1] = data
    found = failures(builder.seal().write(tmp_path / "run"))
    assert [name for name, _ in found] == [
        SPLIT + "receipt file",
        "receipts/03-retrieve.json: chain link",
    ]
    assert found[0][1].startswith(why)


def test_row_3_leaves_the_link_to_the_last_readable_receipt(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.receipts[1] = b"[]"
    builder.seal()
    builder.receipts[2]["prev"] = builder.manifest["chain"][0]["digest"]
    builder.receipts[3]["prev"] = builder.manifest["chain"][2]["digest"] = digest(
        canonical(builder.receipts[2])
    )
    last = digest(canonical(builder.receipts[3]))
    builder.manifest["chain"][3]["digest"] = builder.manifest["chain_head"] = last
    assert [name for name, _ in failures(builder.write(tmp_path / "run"))] == [SPLIT + "receipt file"]


@pytest.mark.parametrize("depth", [1000, 200_000])
def test_u15_a_receipt_nested_too_deeply_is_a_failed_row(depth: int, tmp_path: Path) -> None:
    builder = RunBuilder()
    deep = b'{"zz":' + b"[" * depth
    builder.receipts[1] = deep + (b"]" * depth + b"}" if depth == 1000 else b"")
    found = failures(builder.seal().write(tmp_path / "run"))
    assert found[0] == (SPLIT + "receipt file", "nested too deeply to read")


def test_u15_a_receipt_of_500_levels_is_read(tmp_path: Path) -> None:
    nested: object = []
    for _ in range(500):
        nested = [nested]
    assert failures(RunBuilder().change(setting("zz", nested)).write(tmp_path / "run")) == []


def test_u17_a_byte_order_mark_before_a_receipt_is_named(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.receipts[1] = b"\xef\xbb\xbf" + canonical(builder.receipts[1])
    name, detail = failures(builder.seal().write(tmp_path / "run"))[0]
    assert name == SPLIT + "receipt file"
    assert "BOM" in detail


def test_row_4_optional_stages_agree(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.receipts[0]["coverage"]["optional_stages"] = ["load"]
    found = failures(builder.seal().write(tmp_path / "run"))
    assert found[0] == (
        SPLIT + "optional stages agree across receipts",
        "None here, ['load'] on the first receipt",
    )
    assert len(found) == 3


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("stage-receipt/9.0", "major version 9 is not implemented (this verifier implements major 0)"),
        ("stage-receipt/009.x", "major version 9 is not implemented (this verifier implements major 0)"),
        ("stage-receipt/0.x", "minor part is not a decimal number"),
        ("stage-receipt/0.\u0663", "minor part is not a decimal number"),
        ("stage-receipt/0.1\n", "minor part is not a decimal number"),
        ("stage-receipt/0.0-preview", "the pre-standard preview literal, which draft-00 section 14 reads as"),
    ],
)
def test_row_5_an_unimplemented_receipt_is_not_run_and_its_content_not_looked_at(
    label: str, why: str, tmp_path: Path
) -> None:
    builder = RunBuilder().change(
        lambda receipt: (receipt.clear(), receipt.update(format=label, prev="x", outputs=5))
    )
    rows = verified(builder.write(tmp_path / "run"))
    assert [row.name for row in rows if row.result == FAIL] == []
    row = next(row for row in rows if row.name == SPLIT + "receipt format")
    assert row.result == NOT_RUN
    assert row.detail.startswith(f"{label!r}: {why}")
    assert row.detail.endswith("; content not checked")


@pytest.mark.parametrize(
    ("member", "value", "detail"),
    [
        ("zz", {"b": 1, "a": 2}, "JSON number at $.zz.a: use a decimal string"),
        ("zz", {"a": [True, [{}, {"b": -0.0}]]}, "JSON number at $.zz.a[1][1].b: use a decimal string"),
        ("zz", float("nan"), "JSON number at $.zz: use a decimal string"),
        ("receipt_digest", "x", "a receipt may not carry its own digest"),
        ("receipt_id", None, "a receipt may not carry its own digest"),
    ],
)
def test_row_6_no_canonical_form(member: str, value: object, detail: str, tmp_path: Path) -> None:
    found = failures(RunBuilder().change(setting(member, value)).write(tmp_path / "run"))
    assert found[0] == (SPLIT + "canonical form", detail)
    assert found[1][0] == "receipts/03-retrieve.json: chain link"
    assert len(found) == 2


def test_row_6_a_lone_surrogate_has_no_canonical_form(tmp_path: Path) -> None:
    found = failures(RunBuilder().change(setting("zz", "\ud800")).write(tmp_path / "run"))
    assert found[0][0] == SPLIT + "canonical form"
    assert "surrogates not allowed" in found[0][1]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data + b"\n",
        lambda data: data.replace(b'":', b'": ', 1),
        lambda data: data.replace(b"load", b"l\\u006fad", 1),
        lambda data: data.replace(b'{"anchor"', b'{"zz":"1","anchor"', 1),
        lambda data: data.replace(b'{"anchor":', b'{"anchor":{},"anchor":', 1),
    ],
)
def test_row_7_bytes_that_are_not_canonical(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    builder = RunBuilder()
    # The last receipt: nothing links to it.
    builder.receipts[3] = damage(canonical(builder.receipts[3]))
    builder.manifest["chain"][3]["digest"] = builder.manifest["chain_head"] = digest(builder.receipts[3])
    assert failures(builder.write(tmp_path / "run")) == [
        ("receipts/04-answer.json: bytes are canonical", "file bytes differ from the canonical serialization")
    ]


def test_row_16_complete_with_a_silent_stage(tmp_path: Path) -> None:
    run = (
        RunBuilder()
        .change(setting("coverage.emitting_stages", ["load", "answer"]), 3)
        .write(tmp_path / "run")
    )
    assert failures(run) == [
        (
            "receipts/04-answer.json: 'complete' is consistent with the stage lists",
            "declared but not emitting: ['retrieve', 'split']",
        )
    ]


def test_row_17_passes_with_the_nodes_in_its_detail_and_row_25_with_their_digests(tmp_path: Path) -> None:
    builder = RunBuilder()
    digests = [entry["digest"] for entry in builder.manifest["chain"]]
    links = [{"name": "receipt:load", "digest": digests[0]}, {"name": "receipt:split", "digest": digests[1]}]

    def hold(receipt: Any) -> None:
        receipt.update(outcome={"class": "refused", "reason": "r"}, refused={"attempted": links})

    run = builder.change(hold, 2).write(tmp_path / "run")
    rows = verified(run, collect_passes=True)
    held = [row for row in rows if row.name.endswith("step held before running")]
    assert held == [
        Row(PASS, "receipts/03-retrieve.json: step held before running", "attempted: load -> split")
    ]
    assert failures(run) == []


def test_row_25_attempted_links(tmp_path: Path) -> None:
    first = RunBuilder().manifest["chain"][0]["digest"]
    attempted = [
        {"name": "receipt:load", "digest": "x"},
        {"name": "receipt:answer", "digest": DIGEST},
        {"name": "receipt:load", "digest": first},
    ]

    def hold(receipt: Any) -> None:
        receipt.update(outcome={"class": "refused", "reason": "r"}, refused={"attempted": attempted})

    name = SPLIT + "attempted links name earlier receipts"
    assert failures(RunBuilder().change(hold).write(tmp_path / "run")) == [
        (name, f"receipt:load: digest 'x', the receipt's is {first}"),
        (name, "receipt:answer: no earlier receipt in this chain"),
    ]


@pytest.mark.parametrize("value", [None, "split", {}, ["split", "split"], ["nope"], [None], [["a"]], True])
def test_row_18_optional_stages(value: object, tmp_path: Path) -> None:
    builder = RunBuilder()
    for receipt in builder.receipts:
        receipt["coverage"]["optional_stages"] = value
    found = failures(builder.seal().write(tmp_path / "run"))
    assert found[0] == ("receipts/01-load.json: optional stages are declared stages", repr(value))
    assert len(found) == 4


def test_row_20_an_unanchored_receipt_is_not_run_and_an_anchored_one_silent(tmp_path: Path) -> None:
    anchored = RunBuilder().change(setting("anchor", {"state": "anchored", "subject": DIGEST}))
    rows = [row for row in verified(anchored.write(tmp_path / "run")) if row.name.endswith("originality")]
    assert [row.name.partition(":")[0] for row in rows] == [
        "receipts/01-load.json",
        "receipts/03-retrieve.json",
        "receipts/04-answer.json",
    ]
    assert all(row.result == NOT_RUN for row in rows)


def test_row_22_complete_before_the_last_declared_stage(tmp_path: Path) -> None:
    stages = {
        "declared_stages": ["split", "load"],
        "emitting_stages": ["split", "load"],
        "completeness": "complete",
    }
    found = failures(RunBuilder().change(setting("coverage", stages)).write(tmp_path / "run"))
    assert [name for name, _ in found] == [
        SPLIT + "emitting_stages is as known at emission",
        SPLIT + "'complete' only on the last declared stage",
    ]
    assert found[1][1] == "receipt 2 ('split') asserts 'complete' before the last declared stage ('load')"


def test_row_22_in_a_graph_looks_at_what_has_emitted(tmp_path: Path) -> None:
    run = RunBuilder("dag").change(setting("coverage.emitting_stages", ["start", "normalise", "merge"]))
    assert failures(run.write(tmp_path / "run")) == [
        (
            NODE + "emitting_stages is as known at emission",
            "receipt 2 ('normalise') lists ['merge'] as emitting, which had not happened yet at this point"
            " in the chain",
        )
    ]


def test_row_22b_a_stage_that_is_a_list_cannot_be_looked_up(tmp_path: Path) -> None:
    stages = {"declared_stages": ["start", ["a"]], "emitting_stages": [["a"]], "completeness": "incomplete"}
    found = failures(RunBuilder("dag").change(setting("coverage", stages)).write(tmp_path / "run"))
    assert [name for name, _ in found] == [NODE + "stage order"]


def test_row_23_and_24_digest_and_link(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["chain"][1]["digest"] = DIGEST
    builder.receipts[2]["prev"] = DIGEST
    second = digest(canonical(builder.receipts[1]))
    third = builder.manifest["chain"][2]["digest"] = digest(canonical(builder.receipts[2]))
    builder.receipts[3]["prev"] = third
    builder.manifest["chain"][3]["digest"] = digest(canonical(builder.receipts[3]))
    builder.manifest["chain_head"] = builder.manifest["chain"][3]["digest"]
    assert failures(builder.write(tmp_path / "run")) == [
        (SPLIT + "digest matches the manifest", ""),
        ("receipts/03-retrieve.json: chain link", f"expected {second}, found {DIGEST}"),
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (None, "it is not a string"),
        ("", "it is empty"),
        (".", "'.' names a folder, not a file"),
        ("..", "'..' names a folder, not a file"),
        ("a/b", "it contains a path separator"),
        ("a\\b", "it contains a path separator"),
        ("a\0b", "it contains NUL"),
        ("C:x", "it names a Windows drive"),
        ("a<b", "it contains '<', refused in a file name"),
        ("a\x01", "it contains '\\x01', refused in a file name"),
        ("1:x", "it contains ':', refused in a file name"),
        ("a.", "it ends with a space or a dot, which Windows drops from a file name"),
        ("con ", "it ends with a space or a dot, which Windows drops from a file name"),
        ("com1.x", "'com1' is a device name Windows reserves"),
        ("é" * 128, "it is longer than 255 bytes"),
        ("nul", "'nul' is a device name Windows reserves"),
    ],
)
def test_row_26_output_names(name: object, why: str, tmp_path: Path) -> None:
    run = RunBuilder().change(setting("outputs.0.name", name)).write(tmp_path / "run")
    detail = f"not one file name in artifacts/02-split/ ({why}); not read"
    assert failures(run) == [(f"{SPLIT}output artifact '{name}'", detail)]


@pytest.mark.parametrize("name", ["COM0", "conx", "~", ".con", "a\x7fb", "é" * 127, "ab.c:"[:4]])
def test_row_26_names_that_are_fine_and_not_there(name: str, tmp_path: Path) -> None:
    run = RunBuilder().change(setting("outputs.0.name", name)).write(tmp_path / "run")
    assert failures(run) == [(f"{SPLIT}output artifact '{name}'", "missing from artifacts/")]


def test_row_26_changed_bytes(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    path = run / "artifacts/02-split/chunks.json"
    before = digest(path.read_bytes())
    path.write_bytes(b"x")
    assert failures(run) == [
        (SPLIT + "output artifact 'chunks.json' matches", f"expected {before}, found {digest(b'x')}")
    ]


def test_row_26_outputs_larger_than_one_piece_are_hashed_whole(tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000
    run = RunBuilder().change(setting("outputs.0.digest", digest(data))).write(tmp_path / "run")
    path = run / "artifacts/02-split/chunks.json"
    path.write_bytes(data)
    assert failures(run) == []
    path.write_bytes(data[:-1] + b"x")
    assert len(failures(run)) == 1


def test_row_28_artifact_layouts(tmp_path: Path) -> None:
    def last_not_run(folder: Path) -> str:
        return next(row.detail for row in verified(folder) if row.name == "run: artifacts")

    run = RunBuilder().write(tmp_path / "absent")
    shutil.rmtree(run / "artifacts")
    assert last_not_run(run) == "artifacts not present; output files not checked"
    run = RunBuilder().write(tmp_path / "flat")
    shutil.rmtree(run / "artifacts")
    (run / "artifacts").mkdir()
    assert last_not_run(run).startswith(
        "artifact layout not recognised (expected artifacts/<receipt stem>/<name>)"
    )
    builder = RunBuilder()
    for record in (builder.manifest, *(receipt["coverage"] for receipt in builder.receipts)):
        record["outputs_kept"] = "none"
    run = builder.seal().write(tmp_path / "none")
    shutil.rmtree(run / "artifacts/02-split")
    assert last_not_run(run).startswith("the run declares it keeps no output files (outputs_kept: none)")
    assert failures(run) == []


def test_row_29_chain_head(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["chain_head"] = DIGEST
    assert failures(builder.write(tmp_path / "run")) == [
        ("manifest: chain head matches the last receipt", "")
    ]


def test_an_empty_chain_has_a_null_head(tmp_path: Path) -> None:
    for number, chain in enumerate(([], {}, "")):
        builder = RunBuilder()
        builder.receipts, builder.files = [], []
        builder.manifest.update(chain=chain, chain_head=None)
        assert failures(builder.write(tmp_path / str(number))) == []


@pytest.mark.parametrize(
    "chain", [None, 5, True, "x", {"a": "b"}, [5], [{}], [{"file": 5}], [{"file": "x"}, {}]]
)
def test_a_chain_that_cannot_be_walked_is_one_failed_row(chain: object, tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["chain"] = chain
    builder.files, builder.receipts = [], []
    found = failures(builder.write(tmp_path / "run"))
    assert [name for name, _ in found] == ["verifier raised"]
    assert found[0][1].startswith(("KeyError: ", "TypeError: "))


def test_a_single_receipt_is_judged_alone(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    receipt = RunBuilder().receipts[2]
    receipt["coverage"]["emitting_stages"] = ["answer"]  # wrong in a run, no matter here
    path.write_bytes(canonical(receipt))
    assert failures(path) == []
    path.write_bytes(canonical(receipt | {"outcome": {}}))
    assert failures(path) == [(f"{path}: outcome class is one of ['error', 'ok', 'refused']", "None")]
    path.write_bytes(b"{")
    found = failures(path)
    assert found[0][0] == f"{path}: receipt file"
    assert found[0][1].startswith("not valid JSON: ")
