"""The trace report as a document: its bytes, its schema, loading it back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stratadiff
from render.test_trace_text import NAMES, golden, members
from stratadiff.documents.tracereport import TraceDocument
from stratadiff.errors import InputError, LimitError

Json = Any

SCHEMAS = Path(stratadiff.__file__).parent / "documents" / "schemas"


def compact(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", NAMES)
def test_golden_members_have_these_bytes(name: str) -> None:
    found = members(golden(name))
    document = TraceDocument(found)
    assert document.canonical() == compact(found)
    assert document.to_dict() == found
    assert TraceDocument.load(document.canonical()) == document
    assert TraceDocument.load(document.canonical() + b"\n").canonical() == document.canonical()


HEAD = {"baseline_trace_id": "b", "candidate_trace_id": "c"}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, b"1.0"),
        (1, b"1"),
        (2**70, b"1180591620717411303424"),
        (1e22, b"1e+22"),
        (5e-324, b"5e-324"),
        (-0.0, b"-0.0"),
        (0.1 + 0.2, b"0.30000000000000004"),
        (math.inf, b'"+inf"'),
        (-math.inf, b'"-inf"'),
        (math.nan, b'"nan"'),
        (True, b"true"),
        (None, b"null"),
        ('é\u2028"\\\n\x1b\x7f', b'"\xc3\xa9\xe2\x80\xa8\\"\\\\\\n\\u001b\x7f"'),
        ("a\ud800b", b'"a\\ud800b"'),
        (("a", {"z": 1, "a": [math.inf]}), b'["a",{"z":1,"a":["+inf"]}]'),
    ],
)
def test_values_are_written_so(value: Json, written: bytes) -> None:
    document = TraceDocument({**HEAD, "value": value})
    assert (
        document.canonical() == b'{"baseline_trace_id":"b","candidate_trace_id":"c","value":' + written + b"}"
    )
    assert json.loads(document.canonical())


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_value_of_a_trace_comes_back(value: Json) -> None:
    document = TraceDocument({**HEAD, "value": value})
    assert document.canonical() == compact(document.members)
    assert json.loads(document.canonical())["value"] == value


def test_what_json_has_no_form_for_is_said() -> None:
    with pytest.raises(TypeError, match="a content block holds a bytes"):
        TraceDocument({**HEAD, "value": b"x"}).canonical()
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(LimitError, match="nested too deeply"):
        TraceDocument({**HEAD, "value": deep}).canonical()


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"format":"x"}', b"\xff", b'{"baseline_trace_id":', b"[" * 99]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="not a trace report"):
        TraceDocument.load(data)


def test_it_is_a_document() -> None:
    document = TraceDocument(HEAD)
    assert isinstance(document, stratadiff.Document)
    assert document.format == "trace-report/0.1"
    assert repr(document) == "<Document trace-report/0.1, 50 bytes>"
    with pytest.raises(AttributeError):
        document.anything = 1  # type: ignore[attr-defined]


def validator() -> Json:
    schema = json.loads((SCHEMAS / "trace-report-0.1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


SCHEMA = validator()


def whole(name: str) -> Json:
    """Return golden members as the report has them: sessions with reports, changes with blocks."""
    found = members(golden(name))
    for session in found["sessions"]:
        session["report"] = {**found, "rows": session.pop("rows")}
        for member in ("sessions", "token_diff", "policy_diff", "spans"):
            del session["report"][member]
    for pair in found["spans"]:
        for change in pair["changes"]:
            change.update(baseline={"type": "text"}, candidate=None)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_golden_reports_fit_the_schema(name: str) -> None:
    SCHEMA.validate(whole(name))


BROKEN: dict[str, Json] = {
    "unknown member": lambda found: found.update(extra=1),
    "no ids": lambda found: found.pop("baseline_trace_id"),
    "first divergence alone": lambda found: found.pop("divergences"),
    "rows without extras": lambda found: found["extras"].pop("changed"),
    "eight rows": lambda found: found["rows"].pop(),
    "rows out of order": lambda found: found["rows"].reverse(),
    "severity": lambda found: found["rows"][0].update(severity="bad"),
    "number as text": lambda found: found["rows"][0].update(delta="0.0"),
    "flag": lambda found: found["rows"][0].update(flags=["odd"]),
    "session": lambda found: found["sessions"][0].pop("report"),
    "dimension": lambda found: found["token_diff"]["baseline"].pop("input_tokens"),
    "rank": lambda found: found["policy_diff"]["regressions"][0].update(severity="severe"),
    "unchanged pair": lambda found: found["spans"].append({"pair_index": 1, "changes": []}),
    "block": lambda found: found["spans"][0]["changes"][0].update(baseline="text"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_schema_refuses(name: str) -> None:
    found = whole("devops-migration-order")
    BROKEN[name](found)
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate(found)
