"""What a path is read as, and the paths, names and files that must not lead anywhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from run_builder import VERIFICATION, RunBuilder, canonical, digest
from stratadiff.core import files
from stratadiff.errors import InputError, NotFoundError, UnknownKindError, UnreadableError
from stratadiff.runs.model import FAIL, Receipt, Row, Run
from stratadiff.runs.names import quoted_value
from stratadiff.runs.paths import escape_problem, stem_of
from stratadiff.runs.reader import judge_format, parse_object, read_input, read_output
from stratadiff.runs.verify import verify_run

NEEDS_BYTES_NAMES = pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are Unicode there")


def good(folder: Path, name: str = "linear") -> Path:
    return RunBuilder(name).write(folder / "run")


def failed(run: Run) -> list[Row]:
    return [row for row in verify_run(run) if row.result == FAIL]


def test_a_run_folder_and_its_manifest_are_the_same_run(tmp_path: Path) -> None:
    folder = good(tmp_path)
    for given in (str(folder), str(folder / "MANIFEST.json"), f"{folder}/"):
        run = read_input(given)
        assert (run.kind, run.given, run.run_id, run.topological) == ("run", given, "run-good", False)
        assert os.path.samefile(run.folder, folder)
        assert len(run.receipts) == 4
        assert failed(run) == []
        assert run.verifies


def test_a_manifest_given_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(good(tmp_path))
    for given in ("MANIFEST.json", "."):
        assert failed(read_input(given)) == []


def test_a_file_of_another_name_is_a_receipt(tmp_path: Path) -> None:
    folder = good(tmp_path)
    run = read_input(str(folder / "receipts/02-split.json"))
    assert (run.kind, run.run_id, run.manifest) == ("receipt", "run-good", {})
    receipt = run.receipts[0]
    assert receipt is not None
    assert (receipt.node_id, receipt.digest) == ("split", run.manifest_digest)
    assert verify_run(run)[0].name == f"{folder}/receipts/02-split.json: originality"


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for given in (str(tmp_path / "nowhere"), str(tmp_path / "file/below"), "a\0b"):
        with pytest.raises(NotFoundError) as caught:
            read_input(given)
        assert str(caught.value) == f"{given}: no such file or directory"


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "MANIFEST.json").mkdir()
    with pytest.raises(UnknownKindError) as caught:
        read_input(str(tmp_path))
    expected = f"{tmp_path}: neither MANIFEST.json (run) nor SUMMARY.json (summary) is present"
    assert str(caught.value) == expected


def test_a_summary_names_its_kind(tmp_path: Path) -> None:
    folder = tmp_path / "summary"
    folder.mkdir()
    (folder / "SUMMARY.json").write_bytes(b"{}")
    for given in (str(folder), str(folder / "SUMMARY.json")):
        with pytest.raises(UnknownKindError) as caught:
            read_input(given)
        assert str(caught.value) == (
            f"{given}: the summary kind is read through a stage declaration (STAGES.json); none was given"
            " with --stages and none is beside the summary or its parent"
        )
    (tmp_path / "STAGES.json").write_bytes(b"{}")
    run = read_input(str(folder))
    assert run.kind == "summary"
    assert "summary" in run.obstacle
    assert run.obstacle.startswith(f"{folder}: ")
    assert verify_run(run) == []


def test_an_unreadable_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = good(tmp_path)
    real = os.stat

    def stat(path: object, *args: object, **options: object) -> os.stat_result:
        if str(path).endswith("MANIFEST.json"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", stat)
    with pytest.raises(UnreadableError) as caught:
        read_input(str(folder))
    assert str(caught.value) == f"{folder}: cannot be read: Permission denied"


MANIFESTS = [
    (b"", "not valid JSON: "),
    (b"\xff{}", "not valid UTF-8: "),
    (b"[]", "top-level JSON value is a list, not an object"),
    (b"1.5", "top-level JSON value is a float, not an object"),
    (b"[" * 200_000, "nested too deeply to read"),
    (b'{"a":' * 600 + b"1" + b"}" * 600, "nested too deeply to read"),
    (b'{"a":' + b"1" * 5000 + b"}", "not valid JSON: "),
]


@pytest.mark.parametrize(("data", "why"), MANIFESTS)
def test_d1_an_unreadable_manifest_is_one_failed_row(data: bytes, why: str, tmp_path: Path) -> None:
    folder = good(tmp_path)
    (folder / "MANIFEST.json").write_bytes(data)
    run = read_input(str(folder))
    assert run.unreadable.startswith(why)
    assert not run.verifies
    rows = verify_run(run)
    assert [(row.result, row.name, row.detail) for row in rows] == [(FAIL, "manifest", run.unreadable)]


def test_d1_u15_deep_manifests_have_the_same_reason(tmp_path: Path) -> None:
    folder = good(tmp_path)
    for depth in (513, 1000, 200_000):
        (folder / "MANIFEST.json").write_bytes(b"[" * depth + b"]" * depth)
        assert read_input(str(folder)).unreadable == "nested too deeply to read"


def test_u17_a_byte_order_mark_before_the_manifest_is_named(tmp_path: Path) -> None:
    folder = good(tmp_path)
    manifest = folder / "MANIFEST.json"
    manifest.write_bytes(b"\xef\xbb\xbf" + manifest.read_bytes())
    run = read_input(str(folder))
    assert "BOM" in run.unreadable
    assert failed(run)[0].name == "manifest"


def test_u12_a_repeated_member_of_the_manifest_is_accepted_and_the_last_one_counts(tmp_path: Path) -> None:
    folder = good(tmp_path)
    manifest = folder / "MANIFEST.json"
    data = manifest.read_bytes()
    manifest.write_bytes(data.replace(b"{", b' {"run_id": 5, "chain": [], "n": 1e3,', 1))
    run = read_input(str(folder))
    assert (run.run_id, failed(run)) == ("run-good", [])
    manifest.write_bytes(data[:-1] + b',"run_id":"other"}')
    assert read_input(str(folder)).run_id == "other"


@pytest.mark.parametrize(
    ("label", "why"),
    [
        (None, "format is not a string: None"),
        (["x"], "format is not a string: ['x']"),
        ("stage-receipt/0.2", "'stage-receipt/0.2': not a stage-receipt-chain/<major>.<minor> label"),
        (
            "stage-receipt-chain/0.",
            "'stage-receipt-chain/0.': not a stage-receipt-chain/<major>.<minor> label",
        ),
        (
            "stage-receipt-chain/12.x",
            "'stage-receipt-chain/12.x': major version 12 is not implemented"
            " (this verifier implements major 0)",
        ),
        ("stage-receipt-chain/0.x", "'stage-receipt-chain/0.x': minor part is not a decimal number"),
    ],
)
def test_d2_a_manifest_of_another_format_is_not_looked_at(label: object, why: str, tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["format"] = label
    folder = builder.write(tmp_path / "run")
    run = read_input(str(folder))
    assert run.obstacle == f"{folder}: manifest format: {why}"
    assert verify_run(run) == []
    assert run.receipts == []
    assert not run.verifies


@pytest.mark.parametrize("label", ["stage-receipt-chain/0.987", "stage-receipt-chain/00.73"])
def test_any_decimal_minor_is_implemented(label: str, tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["format"] = label
    assert failed(read_input(str(builder.write(tmp_path / "run")))) == []


def test_the_preview_literal_of_the_manifest_is_checked_and_not_verified(tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["format"] = "stage-receipt-chain/0.0-preview"
    run = read_input(str(builder.write(tmp_path / "run")))
    assert run.manifest_unimplemented
    assert verify_run(run)[0].name == "manifest: chain format"


def test_d2_a_receipt_of_another_format_says_so(tmp_path: Path) -> None:
    builder = RunBuilder().change(lambda receipt: receipt.update(format="stage-receipt/9.0"))
    receipts = list(read_input(str(builder.write(tmp_path / "run"))).chain_receipts())
    assert [bool(receipt.unimplemented) for receipt in receipts] == [False, True, False, False]
    assert receipts[1].unimplemented.startswith("'stage-receipt/9.0': major version 9")


@pytest.mark.parametrize("run_id", [5, True, [], "\ud800", {"a": 1}])
def test_d11_a_run_id_no_document_can_hold_is_absent(run_id: object, tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["run_id"] = run_id
    builder.manifest["boundaries"] = [{"name": "load", "kind": 5, "note": "n"}, "x", {"a\udc00": "x"}]
    run = read_input(str(builder.write(tmp_path / "run")))
    assert run.run_id is None
    assert run.manifest_boundaries == [{"name": "load", "note": "n"}, {}]
    assert len(run.notes) == 2
    assert failed(run) == []


def test_different_stage_lists_leave_a_note(tmp_path: Path) -> None:
    # Also in a run with a topology, whose lists are not compared: the published tool prints it there too.
    for name in ("linear", "dag"):
        builder = RunBuilder(name).change(lambda receipt: receipt["coverage"]["declared_stages"].append("zz"))
        run = read_input(str(builder.write(tmp_path / name)))
        assert len(run.notes) == 1
        assert read_input(str(VERIFICATION / "good" / name)).notes == []


def test_a_file_named_twice_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = RunBuilder()
    builder.manifest["chain"] = [builder.manifest["chain"][0]] * 50
    builder.files, builder.receipts = builder.files[:1], builder.receipts[:1]
    folder = builder.write(tmp_path / "run")
    read: list[str] = []
    for name in ("read_file", "hash_file"):
        monkeypatch.setattr(files, name, _counting(getattr(files, name), read))
    run = read_input(str(folder))
    verify_run(run, collect_passes=True)
    assert len(run.receipts) == 50
    assert sorted(read) == sorted(set(read))
    assert len(read) == 3  # manifest, receipt, output


def _counting(function: object, read: list[str]) -> object:
    def counted(path: str, **options: object) -> object:
        read.append(path)
        return function(path, **options)  # type: ignore[operator]

    return counted


ESCAPES = {
    "../outside.json": "it climbs with '..'",
    "receipts/../../outside.json": "it climbs with '..'",
    "receipts/../receipts/02-split.json": "it climbs with '..'",
    "/etc/passwd": "it is absolute",
    "//x": "it is absolute",
    "C:\\x": "it contains a backslash",
    "receipts\\02-split.json": "it contains a backslash",
    "c:x.json": "it names a Windows drive",
    "a\0b": "it contains NUL",
}


@pytest.mark.parametrize("file", ESCAPES)
def test_d5_a_file_that_leaves_the_run_as_written_is_not_read(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = RunBuilder()
    (tmp_path / "outside.json").write_bytes(canonical(builder.receipts[1]))
    builder.manifest["chain"][1]["file"] = file
    folder = builder.write(tmp_path / "run")
    read: list[str] = []
    monkeypatch.setattr(files, "read_file", _counting(files.read_file, read))
    rows = failed(read_input(str(folder)))
    assert rows[0] == Row(
        FAIL, f"{file}: receipt file", f"not a path inside the run ({ESCAPES[file]}); not read"
    )
    assert len(read) == 4


@pytest.mark.parametrize("file", ["a..b/c", "..a", "a/...", "1:x", "receipts//x", "./x", "\u00e9:x", ""])
def test_paths_that_stay_are_no_escapes(file: str) -> None:
    assert escape_problem(file) == ""


@pytest.mark.parametrize("file", ["receipts//02-split.json", "./receipts/./02-split.json"])
def test_other_spellings_are_read(file: str, tmp_path: Path) -> None:
    builder = RunBuilder()
    builder.manifest["chain"][1]["file"] = file
    for strict in (False, True):
        folder = builder.write(tmp_path / str(strict))
        assert failed(read_input(str(folder), strict=strict)) == []


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        ("receipts/04-answer.json", "04-answer"),
        ("a.b.json", "a.b"),
        (".json", ".json"),
        ("a.", "a."),
        ("x/y", "y"),
        ("x/y.json/", "y"),
        ("x/y.json/.", "y"),
        ("", ""),
        (".", ""),
    ],
)
def test_stems_are_the_last_component_without_its_last_suffix(file: str, stem: str) -> None:
    assert stem_of(file) == stem
    if file not in ("x/y.json/.",) and sys.version_info < (3, 14):
        from pathlib import PurePosixPath

        assert PurePosixPath(file).stem == stem


@pytest.mark.parametrize("what", ["fifo", "directory", "device", "missing", "dangling link", "below a file"])
def test_receipts_that_are_no_files_fail_at_once(what: str, tmp_path: Path) -> None:
    folder = good(tmp_path)
    path = folder / "receipts/02-split.json"
    path.unlink()
    expected = f"is a {what}, not a file"
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "below a file":
        for name in ("receipts/01-load.json", "receipts/03-retrieve.json", "receipts/04-answer.json"):
            (folder / name).unlink()
        path.parent.rmdir()
        path.parent.write_bytes(b"")
        expected = "cannot be read: Not a directory"
    else:
        expected = "missing"
        if what == "dangling link":
            path.symlink_to("nowhere")
    rows = failed(read_input(str(folder)))
    assert Row(FAIL, "receipts/02-split.json: receipt file", expected) in rows


@pytest.mark.parametrize("what", ["fifo", "directory", "device"])
def test_outputs_that_are_no_files_are_missing(what: str, tmp_path: Path) -> None:
    folder = good(tmp_path)
    path = folder / "artifacts/02-split/chunks.json"
    path.unlink()
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    assert failed(read_input(str(folder))) == [
        Row(FAIL, "receipts/02-split.json: output artifact 'chunks.json'", "missing from artifacts/")
    ]


def test_a_fifo_as_the_input_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    run = read_input(str(path))
    assert run.unreadable == "is a fifo, not a file"
    assert verify_run(run) == [Row(FAIL, f"{path}: receipt file", "is a fifo, not a file")]


def test_links_are_followed_by_default(tmp_path: Path) -> None:
    folder = good(tmp_path)
    store = tmp_path / "store"
    (folder / "artifacts").rename(store)
    (folder / "artifacts").symlink_to(store)
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert failed(read_input(str(link))) == []


@NEEDS_BYTES_NAMES
def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(good(tmp_path))
    odd = os.fsencode(tmp_path) + b"/run-\xff\xfe"
    os.rename(folder, odd)
    given = os.fsdecode(odd)
    for path in (given, given + "/MANIFEST.json", given + "/receipts/01-load.json"):
        run = read_input(path)
        assert run.given == path
        assert failed(run) == []
    with pytest.raises(InputError) as caught:
        read_input(given + "-not")
    assert "\udcff" in str(caught.value)


@NEEDS_BYTES_NAMES
def test_a_receipt_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    builder = RunBuilder()
    folder = builder.write(tmp_path / "run")
    for old, new in (
        (b"receipts/02-split.json", b"receipts/\xff.json"),
        (b"artifacts/02-split", b"artifacts/\xff"),
    ):
        os.rename(os.fsencode(folder) + b"/" + old, os.fsencode(folder) + b"/" + new)
    builder.manifest["chain"][1]["file"] = "receipts/\udcff.json"
    (folder / "MANIFEST.json").write_bytes(canonical(builder.manifest))
    assert failed(read_input(str(folder))) == []
    builder.manifest["chain"][1]["file"] = "receipts/\ud800.json"
    (folder / "MANIFEST.json").write_bytes(canonical(builder.manifest))
    rows = failed(read_input(str(folder)))
    assert rows[0].detail == "cannot be read: the name has no form in this file system"


def _answer(run: Run) -> tuple[str, object, object]:
    receipt = run.receipts[3]
    assert receipt is not None
    output = receipt.outputs[0]
    return receipt.stem, output["name"], output["digest"]


def test_an_output_to_be_shown_is_hashed_again(tmp_path: Path) -> None:
    folder = good(tmp_path)
    run = read_input(str(folder))
    stem, name, expected = _answer(run)
    data, problem = read_output(run, stem, name, expected)
    assert data is not None
    assert (digest(data), problem) == (expected, "")
    (folder / "artifacts" / stem / str(name)).write_bytes(b"swapped")
    assert read_output(run, stem, name, expected) == (
        None,
        "not shown: answer.txt does not match its receipt",
    )


def test_an_output_behind_a_link_out_of_the_run_is_not_shown(tmp_path: Path) -> None:
    folder = good(tmp_path)
    run = read_input(str(folder))
    stem, name, expected = _answer(run)
    path = folder / "artifacts" / stem / str(name)
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    assert read_output(run, stem, name, expected) == (None, "not shown: answer.txt is outside the run")
    outside.rename(path.with_name("kept"))
    path.unlink()
    path.symlink_to("kept")
    assert read_output(run, stem, name, expected)[1] == ""


@pytest.mark.parametrize("name", [None, "", "..", "../x", "a/b", "nowhere.txt", 5, ["a"]])
def test_outputs_that_are_not_there_are_not_shown(name: object, tmp_path: Path) -> None:
    run = read_input(str(good(tmp_path)))
    assert read_output(run, "04-answer", name, "x") == (None, f"not shown: {name} is missing")


def test_a_fifo_or_a_folder_in_an_outputs_place_is_missing(tmp_path: Path) -> None:
    folder = good(tmp_path)
    run = read_input(str(folder))
    os.mkfifo(folder / "artifacts/04-answer/pipe")
    (folder / "artifacts/04-answer/folder").mkdir()
    for name in ("pipe", "folder"):
        assert read_output(run, "04-answer", name, "x") == (None, f"not shown: {name} is missing")


def test_tolerant_accessors_read_wrong_types_as_empty() -> None:
    for value in (
        {},
        dict.fromkeys(("stage", "inputs", "outputs", "assertions", "coverage", "outcome"), None),
    ):
        receipt = Receipt("r/a.json", "a", 2, "sha256:0", value)
        assert (receipt.name, receipt.instance, receipt.node_id, receipt.index) == ("", None, "", "")
        assert (receipt.inputs, receipt.outputs, receipt.boundaries) == ([], [], [])
        assert (receipt.declared_stages, receipt.emitting_stages) == ([], [])
        assert (receipt.instrument, receipt.constants, receipt.corpus_link) == ({}, {}, None)
        assert (receipt.outcome_class, receipt.format) == (None, "")
    odd = Receipt(
        "r/a.json",
        "a",
        2,
        "sha256:0",
        {
            "stage": {"name": "n", "instance": "i", "index": "7"},
            "inputs": [1, {"name": "x"}, None],
            "assertions": {"corpus_manifest": {"digest": "d"}, "constants": ["a"]},
            "coverage": {"declared_stages": ["a", None, ["b"]]},
        },
    )
    assert (odd.node_id, odd.inputs, odd.constants, odd.corpus_link) == ("n#i", [{"name": "x"}], {}, "d")
    assert odd.declared_stages == ["a", "null", '["b"]']


def test_parse_object_keeps_pythons_words() -> None:
    assert parse_object(b' \n{"a":NaN,"a":[1]}\t') == ({"a": [1]}, "")
    assert parse_object(b"{} {}")[1] == "not valid JSON: Extra data: line 1 column 4 (char 3)"


def test_judge_format_never_makes_a_number_of_digits() -> None:
    label = "stage-receipt/" + "0" * 5000 + "." + "9" * 5000
    assert judge_format(label, "stage-receipt") == ("implemented", "")
    assert judge_format("stage-receipt/" + "9" * 5000 + ".1", "stage-receipt")[0] == "unimplemented"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        5,
        -1.5,
        "it's",
        "a\n\x7f\u202e",
        [],
        {},
        ["a", [None], {}],
        {"a": [1, "b"], "b": {"c": False}},
    ],
)
def test_quoted_values_are_what_repr_says(value: object) -> None:
    assert quoted_value(value) == repr(value)


def test_quoted_values_of_any_depth() -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = [{"a": deep}]
    assert quoted_value(deep) == "[{'a': " * 5000 + "'x'" + "}]" * 5000


@pytest.mark.parametrize(
    "member", ["time", "outcome", "coverage", "stage", "assertions", "prev", "zz", "inputs"]
)
def test_values_as_deep_as_a_receipt_may_be_crash_nothing(member: str, tmp_path: Path) -> None:
    deep: object = []
    for _ in range(508):
        deep = [deep]
    for number, value in enumerate(
        (deep, {"started": deep, "class": deep, "optional_stages": deep, "name": deep})
    ):
        builder = RunBuilder("dag").change(lambda receipt, value=value: receipt.update({member: value}))
        for strict in (False, True):
            run = read_input(str(builder.write(tmp_path / f"{number}{strict}")), strict=strict)
            assert verify_run(run, collect_passes=True)
