"""The document of a comparison of bundles: its members, its schema, and back from a file."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import stratadiff
from bundles.samples import MARKDOWN, members, put, setting
from bundles.test_compare import FAST, bundle, failing
from stratadiff.bundle_api import diff_bundles, diff_profiles
from stratadiff.bundles.reader import open_bundle
from stratadiff.documents.document import Document
from stratadiff.render.bundletext import draw_bundles

Json = Any

SCHEMAS = Path(stratadiff.__file__).parent / "documents" / "schemas"
SCHEMA = json.loads((SCHEMAS / "stratadiff-bundlediff-0.1.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def checked(document: Document) -> Json:
    """Return a document's members; whatever it is, it fits the schema and loads again."""
    value = document.to_dict()
    VALIDATOR.validate(value)
    assert Document.load(document.canonical()) == document
    assert no_numbers(value)
    return value


def no_numbers(value: Json) -> bool:
    if isinstance(value, dict):
        return all(map(no_numbers, value.values()))
    if isinstance(value, list):
        return all(map(no_numbers, value))
    return value is None or isinstance(value, (str, bool))


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two bundles that differ in everything."""
    bundle(tmp_path / "a")
    manifest = members()
    for change in (
        setting("comparisonId", "cmp-2"),
        setting("promptVersion", "2"),
        setting("results.1.error.message", "no\x1b answer"),
        setting("results.0.profileId", "new"),
        setting("results.0.reportPath", "01-new.md"),
        setting("results.2.backendId", "remote"),
    ):
        change(manifest)
    package = b"wind: 4 Bft\n"
    import hashlib

    manifest["dataPackage"]["sha256"] = hashlib.sha256(package).hexdigest()
    files = {"01-new.md": b"", FAST: b"# Wind\n\nStor\x1bmy.\n"}
    put(tmp_path / "b", manifest, files=files, data_package=package)
    return tmp_path / "a", tmp_path / "b"


def test_two_bundles(pair: tuple[Path, Path]) -> None:
    value = checked(diff_bundles(*pair).document())
    assert {name: value[name] for name in ("format", "text_form", "mode", "envelope", "exit", "shown")} == {
        "format": "stratadiff-bundlediff/0.1",
        "text_form": "escaped",
        "mode": "bundles",
        "envelope": "diverged",
        "exit": "1",
        "shown": True,
    }
    assert value["first_line"] == (
        "first difference: careful — only in the baseline; changed: promptVersion, dataPackage.sha256"
    )
    assert value["baseline"] == {
        "comparison_id": "cmp-1",
        "report_id": "daily",
        "started_at": "2026-01-05T06:00:00Z",
        "finished_at": "2026-01-05T06:01:30.25Z",
        "total": "3",
        "succeeded": "2",
        "failed": "1",
    }
    assert value["candidate"]["comparison_id"] == "cmp-2"
    assert value["causes"][1] == {
        "kind": "prompt",
        "name": "promptVersion",
        "baseline": "1.10",
        "candidate": "2",
        "status": "changed",
    }
    assert value["causes"][4]["baseline"] == members()["validPeriod"]
    assert value["causes"][-2:] == [
        {"kind": "backend", "name": "Fast one", "baseline": None, "candidate": "remote", "status": "changed"},
        {
            "kind": "model",
            "name": "Fast one",
            "baseline": "small-1",
            "candidate": "small-1",
            "status": "same",
        },
    ]
    profiles = {entry["profile"]: entry for entry in value["profiles"]}
    assert list(profiles) == ["careful", "slow", "Fast one", "new"]
    assert profiles["careful"]["candidate"] is None
    assert profiles["new"]["verdict"] == "only in the candidate"
    assert profiles["slow"]["changes"] == ["error"]
    assert profiles["slow"]["candidate"]["error"] == {"category": "timeout", "message": "no\x1b answer"}
    fast = profiles["Fast one"]
    assert fast["baseline"] == {
        "profile": "Fast one",
        "position": "3",
        "backend_id": None,
        "model_name": "small-1",
        "status": "succeeded",
        "validation_status": "passed",
        "report_path": FAST,
        "error": None,
    }
    assert fast["text"]["kind"] == "text"
    assert fast["text"]["hunks"][0]["lines"][-1]["text"] == "Stor\\u001bmy."
    assert value["data_package"]["hunks"][0]["baseline"] == {"start": "1", "lines": "2"}
    assert "reason" not in value


def test_profiles_of_one(pair: tuple[Path, Path]) -> None:
    value = checked(diff_profiles(pair[0], max_lines=2).document())
    assert (value["mode"], value["envelope"], value["exit"]) == ("profiles", "diverged", "1")
    assert value["first_line"] == "the other profile differs from careful; first: Fast one"
    assert value["bundle"]["comparison_id"] == "cmp-1"
    assert value["baseline_profile"] == "careful"
    assert [entry["profile"] for entry in value["failed"]] == ["slow"]
    [entry] = value["profiles"]
    assert entry["baseline"]["profile"] == "careful"
    assert entry["candidate"]["profile"] == "Fast one"
    assert entry["text"]["truncated"] == {"more_lines": "3"}


def test_nothing_to_compare_is_a_document_with_no_comparisons(tmp_path: Path) -> None:
    manifest = members()
    failing(2)(manifest)
    put(tmp_path / "b", manifest, files={"01-careful.md": b""})
    value = checked(diff_profiles(tmp_path / "b").document())
    assert (value["envelope"], value["exit"], value["shown"]) == ("not comparable", "2", True)
    assert value["profiles"] == []
    assert (
        value["reason"]
        == value["first_line"]
        == ("fewer than two profiles succeeded; there is nothing to compare")
    )
    assert [entry["profile"] for entry in value["failed"]] == ["slow", "Fast one"]
    failing(0)(manifest)
    put(tmp_path / "c", manifest, files={})
    assert checked(diff_profiles(tmp_path / "c").document())["baseline_profile"] is None


@pytest.mark.parametrize(
    ("changes", "envelope", "code", "rule"),
    [
        ({"total": 9}, "refused", "3", "counts"),
        ({"schemaVersion": "v2"}, "could not check", "4", "schema-version"),
    ],
)
def test_what_is_not_shown_says_why_and_nothing_else(
    changes: Json, envelope: str, code: str, rule: str, tmp_path: Path
) -> None:
    put(tmp_path / "a")
    put(tmp_path / "b", {**members(), **changes})
    for document in (
        diff_bundles(tmp_path / "a", tmp_path / "b").document(),
        diff_profiles(tmp_path / "b").document(),
    ):
        value = checked(document)
        assert (value["envelope"], value["exit"], value["shown"]) == (envelope, code, False)
        assert value["reason"].startswith(f"{tmp_path}/b: {rule}: ")
        assert set(value) == {"format", "text_form", "mode", "envelope", "exit", "shown", "reason"}


def test_different_reports_are_not_shown(tmp_path: Path) -> None:
    put(tmp_path / "a")
    put(tmp_path / "b", {**members(), "reportId": "weekly"})
    value = checked(diff_bundles(tmp_path / "a", tmp_path / "b").document())
    assert (value["envelope"], value["shown"]) == ("not comparable", False)


FIRST_LINES: dict[str, tuple[list[Any], dict[str, bytes], str]] = {
    "the same": ([], {}, "no difference: every profile is the same"),
    "a cause only": (
        [
            setting("promptVersion", "2"),
            setting("results.0.modelName", "x"),
            setting("results.2.modelName", "x"),
        ],
        {},
        "no difference in any profile; changed: promptVersion, model",
    ),
    "a text": ([], {FAST: b""}, "first difference: Fast one — text changed; nothing recorded changed"),
    "a text and its model": (
        [setting("results.2.modelName", "x"), setting("results.0.backendId", "y")],
        {FAST: b""},
        "first difference: Fast one — text changed; changed: model",
    ),
    "a status": (
        [setting("results.1.validationStatus", "failed"), setting("results.1.error.category", "other")],
        {},
        "first difference: slow — error changed; nothing recorded changed",
    ),
}


@pytest.mark.parametrize("name", FIRST_LINES)
def test_first_lines(name: str, tmp_path: Path) -> None:
    changes, files, line = FIRST_LINES[name]
    a, b = bundle(tmp_path / "a"), bundle(tmp_path / "b", *changes, files=files)
    assert checked(diff_bundles(a, b).document())["first_line"] == line


def test_first_lines_of_a_status_and_of_profiles(tmp_path: Path) -> None:
    manifest = members()
    failing(0)(manifest)
    put(tmp_path / "b", manifest, files={FAST: MARKDOWN[FAST]})
    a = bundle(tmp_path / "a")
    assert checked(diff_bundles(a, tmp_path / "b").document())["first_line"] == (
        "first difference: careful — status succeeded -> failed; nothing recorded changed"
    )
    same = bundle(tmp_path / "c", files={FAST: MARKDOWN["01-careful.md"]})
    assert checked(diff_profiles(same).document())["first_line"] == (
        "no difference: every other profile has the text of careful"
    )
    manifest = members()
    manifest["results"][1].update(
        status="succeeded", validationStatus="passed", reportPath="02-slow.md", error=None
    )
    del manifest["results"][1]["error"]
    manifest.update(succeeded=3, failed=0)
    opened = open_bundle(put(tmp_path / "d", manifest, files={**MARKDOWN, "02-slow.md": b""}))
    assert checked(diff_profiles(opened).document())["first_line"] == (
        "2 of 2 other profiles differ from careful; first: slow"
    )


BROKEN: dict[str, Json] = {
    "a number": lambda value: value["profiles"][2]["text"]["hunks"][0]["baseline"].update(start=1),
    "unknown member": lambda value: value.update(extra="x"),
    "unknown member of a profile": lambda value: value["profiles"][0].update(extra="x"),
    "envelope and exit": lambda value: value.update(exit="0"),
    "a reason of what is shown": lambda value: value.update(reason="x"),
    "members of the other mode": lambda value: value.update(bundle=value["baseline"]),
    "mode": lambda value: value.update(mode="profiles"),
    "verdict": lambda value: value["profiles"][2].update(verdict="same"),
    "text missing": lambda value: value["profiles"][2].pop("text"),
    "text of nothing": lambda value: value["profiles"][1].update(text=value["profiles"][2]["text"]),
    "presence": lambda value: value["profiles"][0].update(candidate=value["profiles"][0]["baseline"]),
    "kind": lambda value: value["data_package"].update(kind="binary"),
    "cause": lambda value: value["causes"][0].update(name="startedAt"),
    "not shown": lambda value: value.update(shown=False),
}


@pytest.mark.parametrize("name", BROKEN)
def test_schema_refuses(name: str, pair: tuple[Path, Path]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    value = copy.deepcopy(checked(diff_bundles(*pair).document()))
    BROKEN[name](value)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(value)


def test_a_document_from_a_file_is_drawn_without_its_marks(pair: tuple[Path, Path]) -> None:
    for result in (diff_bundles(*pair), diff_profiles(pair[0])):
        document = result.document()
        drawn = draw_bundles(Document.load(document.canonical()))
        kept = [line for line in result.text().splitlines() if not line.startswith("~ ")]
        assert drawn.splitlines() == kept
