"""Every document we write, and every golden one, fits the JSON Schema shipped with the package."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import stratadiff
from cli.command import inside
from runs.recording import Stage, record
from stratadiff.runs.section import Options

Json = Any

SCHEMAS = Path(stratadiff.__file__).parent / "documents" / "schemas"
DATA = Path(__file__).parents[1] / "data" / "textdiff"
CASES = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]


def validator(name: str) -> Json:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


TEXTDIFF = validator("onetrace-textdiff-0.3")
REPORT = validator("onetrace-report-0.1")


@pytest.mark.parametrize("path", sorted((DATA / "expected").glob("*.json")), ids=lambda path: path.stem)
def test_golden_documents_fit(path: Path) -> None:
    TEXTDIFF.validate(json.loads(path.read_bytes()))


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.get("generated")], ids=lambda case: case["id"]
)
def test_our_documents_fit(case: Json) -> None:
    from stratadiff.api import run_diff

    argv = case["argv"]
    stages = [argv[i + 1] for i, word in enumerate(argv) if word == "--stage"]
    with inside(DATA / case["folder"]):
        result = run_diff(
            argv[1],
            argv[2],
            Options(stages=stages, show_all="--all" in argv),
            text=True,
            follow="--no-follow" not in argv,
        )
        TEXTDIFF.validate(result.document().to_dict())
        REPORT.validate(result.report().to_dict())
        followed = run_diff(argv[1], argv[2], Options(), follow_corpus=True)
    REPORT.validate(followed.report().to_dict())


def test_short_reports_fit(tmp_path: Path) -> None:
    record(tmp_path / "a", [Stage("load", {"x": b"1"})])
    result = stratadiff.diff(tmp_path / "a", tmp_path / "nowhere")
    REPORT.validate(result.report().to_dict())
    TEXTDIFF.validate(result.document().to_dict())


BROKEN: dict[str, Json] = {
    "number": lambda document: document["nodes"][0]["outputs"][0]["hunks"][0]["baseline"].update(start=1),
    "unknown member": lambda document: document.update(extra=True),
    "unknown line member": lambda document: document["nodes"][0]["outputs"][0]["hunks"][0]["lines"][0].update(
        x="y"
    ),
    "verdict": lambda document: document["nodes"][0].update(verdict="different"),
    "exit": lambda document: document.update(exit="0"),
    "reason of a shown document": lambda document: document.update(reason="none"),
    "missing entries": lambda document: document["nodes"][0]["outputs"][0].update(kind="hits", hunks=[]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_schema_refuses(name: str) -> None:
    document = copy.deepcopy(json.loads((DATA / "expected" / "text-edit.json").read_bytes()))
    TEXTDIFF.validate(document)
    BROKEN[name](document)
    with pytest.raises(jsonschema.ValidationError):
        TEXTDIFF.validate(document)
