"""What is written: its bytes, what is repaired, what is refused before anything is made."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bundles.samples import DATA_PACKAGE, MARKDOWN, MEMBERS, Json, content, members, put
from stratadiff.bundles.manifest import MEMBERS as ORDER
from stratadiff.bundles.manifest import RESULT_MEMBERS, cut, manifest_bytes, repaired, utc_text
from stratadiff.bundles.model import BundleError, Failure
from stratadiff.bundles.reader import open_bundle
from stratadiff.bundles.rules import is_blank, moment_of
from stratadiff.bundles.writer import NewResult, bundle_files, write_bundle
from stratadiff.errors import InputError, OutputError

GIVEN = (
    "comparisonId",
    "startedAt",
    "finishedAt",
    "reportId",
    "validPeriod",
    "timezone",
    "promptId",
    "promptVersion",
    "promptHash",
)


def fields(**changes: object) -> dict[str, Any]:
    return {**{name: members()[name] for name in GIVEN}, **changes}


RESULTS = [
    NewResult("careful", "large-2", MARKDOWN["01-careful.md"], backend_id="local"),
    NewResult(
        "slow", "large-2", error=Failure("timeout", "no answer after 30 s"), validation_status="skipped"
    ),
    NewResult("Fast one", "small-1", MARKDOWN["03-Fast-one.md"].decode()),
]


def test_a_bundle_is_written_as_a_foreign_writer_writes_it(tmp_path: Path) -> None:
    expected = content(put(tmp_path / "a"))
    done = write_bundle(tmp_path / "b", fields(), DATA_PACKAGE, RESULTS)
    assert content(tmp_path / "b") == expected
    assert (done.path, done.replaced, done.leftovers) == (str(tmp_path / "b"), False, ())
    assert open_bundle(done.path).manifest == open_bundle(tmp_path / "a").manifest


def test_results_as_mappings(tmp_path: Path) -> None:
    results: list[dict[str, Any]] = [
        {**{name: value for name, value in result.items() if name != "error"}, "error": result.get("error")}
        for result in members()["results"]
    ]
    results[0]["markdown"] = bytearray(MARKDOWN["01-careful.md"])
    results[2]["markdown"] = memoryview(MARKDOWN["03-Fast-one.md"])
    write_bundle(tmp_path / "b", fields(), memoryview(DATA_PACKAGE), results)  # type: ignore[arg-type]
    assert content(tmp_path / "b") == content(put(tmp_path / "a"))
    minimal = [{"profileId": result["profileId"], "modelName": result["modelName"]} for result in results]
    for one, whole in zip(minimal, results, strict=True):
        one["markdown" if "markdown" in whole else "error"] = whole.get("markdown", whole["error"])
    files = dict(bundle_files("", fields(), DATA_PACKAGE, minimal))
    assert [result["status"] for result in json.loads(files["comparison.json"])["results"]] == [
        "succeeded",
        "failed",
        "succeeded",
    ]


def test_made_members_may_be_given_and_must_be_right() -> None:
    bundle_files("", {**MEMBERS, "results": members()["results"]}, DATA_PACKAGE, RESULTS)
    for name, value, rule in (
        ("schemaVersion", "v2", "schema-version"),
        ("total", 4, "counts"),
        ("dataPackage", {"path": "data-package.yml", "sha256": "0" * 64}, "data-package-digest"),
        ("dataPackage", {"path": "x.yml", "sha256": "0" * 64}, "data-package-path"),
        ("extra", "x", "manifest-fields"),
    ):
        with pytest.raises(BundleError) as caught:
            bundle_files("here", fields(**{name: value}), DATA_PACKAGE, RESULTS)
        assert (caught.value.rule, caught.value.where) == (rule, "here")


REFUSED: dict[str, tuple[Json, Json, str]] = {
    "no results": ({}, [], "counts"),
    "one result": ({}, RESULTS[:1], "counts"),
    "one id twice": ({}, [RESULTS[0], RESULTS[0]], "positions"),
    "blank id": ({}, [RESULTS[0], NewResult(" ", "m", b"")], "identity"),
    "no id": ({}, [RESULTS[0], {"modelName": "m", "markdown": b""}], "manifest-fields"),
    "id of a wrong type": (
        {},
        [RESULTS[0], {"profileId": 1, "modelName": "m", "markdown": b""}],
        "manifest-fields",
    ),
    "no model": ({}, [RESULTS[0], {"profileId": "p", "markdown": b""}], "manifest-fields"),
    "neither text nor error": ({}, [RESULTS[0], NewResult("p", "m")], "result-failure"),
    "text and error": ({}, [RESULTS[0], NewResult("p", "m", b"", Failure("c", "m"))], "result-success"),
    "a failure that passed": (
        {},
        [RESULTS[0], NewResult("p", "m", None, Failure("c", "m"), validation_status="passed")],
        "result-failure",
    ),
    "blank message": ({}, [RESULTS[0], NewResult("p", "m", None, Failure("c", " "))], "result-failure"),
    "blank once cut": (
        {},
        [RESULTS[0], NewResult("p", "m", None, Failure("c", " " * 1024 + "x"))],
        "result-failure",
    ),
    "empty backend": ({}, [RESULTS[0], NewResult("p", "m", b"", backend_id="")], "optional-absent"),
    "a name of one's own": (
        {},
        [RESULTS[0], {"profileId": "p", "modelName": "m", "markdown": b"", "reportPath": "02-q.md"}],
        "report-path",
    ),
    "a name elsewhere": (
        {},
        [RESULTS[0], {"profileId": "p", "modelName": "m", "markdown": b"", "reportPath": "../02-p.md"}],
        "report-path",
    ),
    "a position of one's own": (
        {},
        [RESULTS[0], {"profileId": "p", "modelName": "m", "markdown": b"", "position": 3}],
        "positions",
    ),
    "a success without text": (
        {},
        [
            RESULTS[0],
            {"profileId": "p", "modelName": "m", "status": "succeeded", "validationStatus": "passed"},
        ],
        "result-success",
    ),
    "text of a failure": (
        {},
        [RESULTS[0], {"profileId": "p", "modelName": "m", "status": "failed", "markdown": b""}],
        "result-failure",
    ),
    "unknown member": (
        {},
        [RESULTS[0], {"profileId": "p", "modelName": "m", "markdown": b"", "x": 1}],
        "manifest-fields",
    ),
    "no comparison id": ({"comparisonId": None}, RESULTS, "manifest-fields"),
    "a number for a text": ({"promptVersion": 1.1}, RESULTS, "manifest-fields"),
    "an object of ours": ({"promptVersion": object()}, RESULTS, "manifest-fields"),
    "bytes": ({"promptId": b"x"}, RESULTS, "manifest-fields"),
    "not a number": ({"promptId": float("nan")}, RESULTS, "manifest-json"),
    "a name that is no text": ({"validPeriod": {1: "x"}}, RESULTS, "manifest-fields"),
    "an endless number": ({"total": 10**5000}, RESULTS, "manifest-fields"),
    "lone surrogate": ({"timezone": "x\ud800"}, RESULTS, "manifest-json"),
    "two halves of Python's": ({"timezone": "\ud83d\ude00"}, RESULTS, "manifest-json"),
    "lone surrogate in an id": ({}, [RESULTS[0], NewResult("\udc80", "m", b"")], "manifest-json"),
    "lone surrogate in a name": ({"x\ud800": "y"}, RESULTS, "manifest-json"),
    "too long": ({"comparisonId": "x" * (16 * 1024 * 1024)}, RESULTS, "manifest-json"),
    "end before start": ({"finishedAt": "2026-01-05T05:00:00Z"}, RESULTS, "timestamps"),
    "local time": ({"startedAt": "2026-01-05T06:00:00+01:00"}, RESULTS, "timestamps"),
    "a time without zone": ({"startedAt": datetime(2026, 1, 5, 5)}, RESULTS, "timestamps"),
    "the zero time": ({"startedAt": datetime(1, 1, 1, tzinfo=UTC)}, RESULTS, "timestamps"),
    "a time before all time": (
        {"startedAt": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))},
        RESULTS,
        "timestamps",
    ),
    "empty period": (
        {"validPeriod": {"start": "2026-01-05T00:00:00Z", "end": "2026-01-05T00:00:00Z"}},
        RESULTS,
        "valid-period",
    ),
    "upper-case digest": ({"promptHash": "A" * 64}, RESULTS, "digest-form"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_breaks_a_rule_is_not_written(name: str, tmp_path: Path) -> None:
    changes, results, rule = REFUSED[name]
    with pytest.raises(BundleError) as caught:
        write_bundle(tmp_path / "b", fields(**changes), DATA_PACKAGE, results)
    assert caught.value.rule == rule
    assert caught.value.where == str(tmp_path / "b")
    assert os.listdir(tmp_path) == []
    put(tmp_path / "b")
    before = content(tmp_path / "b")
    with pytest.raises(BundleError):
        write_bundle(tmp_path / "b", fields(**changes), DATA_PACKAGE, results, replace=True)
    assert content(tmp_path / "b") == before
    assert os.listdir(tmp_path) == ["b"]


def test_values_in_a_circle() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(BundleError, match=r"manifest-json: promptId.* is nested too deeply"):
        bundle_files("", fields(promptId=circle), DATA_PACKAGE, RESULTS)


def test_markdown_that_has_no_form_in_utf8() -> None:
    with pytest.raises(InputError, match=r"results\[1\]\.markdown holds half a surrogate pair; remove it"):
        bundle_files("", fields(), DATA_PACKAGE, [RESULTS[0], NewResult("p", "m", "\ud800")])


def test_results_are_gone_through_once() -> None:
    assert bundle_files("", fields(), DATA_PACKAGE, iter(RESULTS)) == bundle_files(
        "", fields(), DATA_PACKAGE, RESULTS
    )


def test_a_hundred_profiles_have_three_digits(tmp_path: Path) -> None:
    results = [NewResult(f"p{i}", "m", b"") for i in range(100)]
    write_bundle(tmp_path / "b", fields(), b"", results)
    paths = [result.report_path for result in open_bundle(tmp_path / "b").results]
    assert (paths[0], paths[99]) == ("001-p0.md", "100-p99.md")


def test_only_a_bundle_is_replaced_and_only_when_asked(tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    with pytest.raises(OutputError, match="is there already; nothing is replaced unless that is asked for"):
        write_bundle(folder, fields(), DATA_PACKAGE, RESULTS)
    done = write_bundle(folder, fields(comparisonId="new"), DATA_PACKAGE, RESULTS, replace=True)
    assert done.replaced
    assert open_bundle(folder).manifest.comparison_id == "new"
    (folder / "notes.txt").write_bytes(b"precious")
    before = content(folder)
    for atomic in (True, False):
        with pytest.raises(OutputError) as caught:
            write_bundle(folder, fields(), DATA_PACKAGE, RESULTS, replace=True, atomic=atomic)
        assert caught.value.message == (
            "is there already and is no bundle (entry-set: notes.txt does not belong in a bundle; move it "
            "elsewhere); only a bundle is replaced"
        )
    assert content(folder) == before
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for name in ("link", "empty", "file"):
        with pytest.raises(OutputError, match="is there already and is no "):
            write_bundle(tmp_path / name, fields(), DATA_PACKAGE, RESULTS, replace=True)
    assert sorted(os.listdir(tmp_path)) == ["b", "empty", "file", "link"]


def test_a_bundle_whose_data_package_does_not_match_is_no_bundle(tmp_path: Path) -> None:
    folder = put(tmp_path / "b", data_package=b"other")
    with pytest.raises(OutputError, match="data-package-digest"):
        write_bundle(folder, fields(), DATA_PACKAGE, RESULTS, replace=True)


# Messages and categories are repaired, and nothing else.


@pytest.mark.parametrize("size", [1023, 1024, 1025, 1026])
@pytest.mark.parametrize("last", ["x", "é", "€", "😀", "e\u0301"])
@pytest.mark.parametrize("more", ["", "é" * 3])
def test_messages_around_the_limit(size: int, last: str, more: str) -> None:
    filling = "x" * (size - len(last.encode()))
    message = filling + last + more
    kept = cut(message)
    assert message.startswith(kept)
    assert len(kept.encode()) <= 1024
    rest = message[len(kept) :]
    assert not rest or len((kept + rest[0]).encode()) > 1024
    [failed] = [
        result
        for result in json.loads(
            dict(
                bundle_files(
                    "", fields(), b"", [RESULTS[0], NewResult("p", "m", None, Failure("c", message))]
                )
            )["comparison.json"]
        )["results"]
        if result["status"] == "failed"
    ]
    assert failed["error"]["message"] == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("\ud800", "\ufffd"),
        ("a\udc80b", "a\ufffdb"),
        ("\ud83d\ude00", "\ufffd\ufffd"),
        ("😀\ud83d", "😀\ufffd"),
        ("x" * 1022 + "\ud800", "x" * 1022),  # three bytes once it is repaired
        ("x" * 1021 + "\ud800", "x" * 1021 + "\ufffd"),
    ],
)
def test_lone_surrogates_of_an_error(given: str, kept: str) -> None:
    failure = Failure(given[-3:], given)
    files = dict(bundle_files("", fields(), b"", [RESULTS[0], NewResult("p", "m", None, failure)]))
    error = json.loads(files["comparison.json"])["results"][1]["error"]
    assert error["message"] == kept
    assert "\ufffd" in error["category"]
    assert repaired("é") == "é"
    assert repaired(1) == 1


# Times.


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("2026-01-05T06:00:00Z", "2026-01-05T06:00:00Z"),
        ("2026-01-05T06:00:00+00:00", "2026-01-05T06:00:00Z"),
        ("2026-01-05T06:00:00.500Z", "2026-01-05T06:00:00.5Z"),
        ("2026-01-05T06:00:00.000+00:00", "2026-01-05T06:00:00Z"),
        ("2026-01-05T06:00:00.000000001Z", "2026-01-05T06:00:00.000000001Z"),
        ("2026-01-05T06:00:00+01:00", "2026-01-05T06:00:00+01:00"),  # the rules will say so
        ("2026-01-05T06:00:00-00:00", "2026-01-05T06:00:00-00:00"),
        ("2026-01-05", "2026-01-05"),
        (datetime(2026, 1, 5, 6, tzinfo=UTC), "2026-01-05T06:00:00Z"),
        (datetime(2026, 1, 5, 6, 0, 0, 120, tzinfo=UTC), "2026-01-05T06:00:00.00012Z"),
        (datetime(2026, 1, 5, 6, tzinfo=timezone(timedelta(hours=-3, minutes=-30))), "2026-01-05T09:30:00Z"),
        (datetime(2026, 1, 5, 6), "2026-01-05T06:00:00"),
        (5, 5),
        (None, None),
    ],
)
def test_moments_are_written_in_utc_with_the_digits_they_need(given: object, written: object) -> None:
    assert utc_text(given) == written


def test_a_period_keeps_its_offsets(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=5, minutes=45))
    period = {"end": "2026-01-06T00:00:00.50+01:00", "start": datetime(2026, 1, 5, tzinfo=zone)}
    write_bundle(tmp_path / "b", fields(validPeriod=period), DATA_PACKAGE, RESULTS)
    assert open_bundle(tmp_path / "b").manifest.valid_period.to_dict() == {
        "start": "2026-01-05T00:00:00+05:45",
        "end": "2026-01-06T00:00:00.50+01:00",
    }


# Bytes.


def test_the_bytes_of_a_manifest() -> None:
    expected = json.dumps(MEMBERS, indent=2, ensure_ascii=False).encode() + b"\n"
    assert manifest_bytes(MEMBERS) == expected
    shuffled = dict(sorted(MEMBERS.items()))
    shuffled["results"] = [dict(sorted(result.items())) for result in MEMBERS["results"]]
    shuffled["validPeriod"] = dict(sorted(MEMBERS["validPeriod"].items()))
    assert manifest_bytes(shuffled) == expected
    assert manifest_bytes({}) == b"{}\n"
    assert manifest_bytes({"results": [{}, []]}) == b'{\n  "results": [\n    {},\n    []\n  ]\n}\n'


def test_strings_have_the_escapes_they_must_have_and_no_more() -> None:
    text = "".join(map(chr, range(0x20))) + '"\\/<>&\x7f\x80\u2028é\ufeff😀'
    assert manifest_bytes({"reportId": text}).decode() == (
        '{\n  "reportId": "\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r'
        "\\u000e\\u000f\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b"
        '\\u001c\\u001d\\u001e\\u001f\\"\\\\/<>&\x7f\x80\u2028é\ufeff😀"\n}\n'
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FILLED = TEXT.filter(lambda text: not is_blank(text))
DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64)


@st.composite
def moments(draw: st.DrawFn, offsets: st.SearchStrategy[str]) -> str:
    moment = draw(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))
    digits = draw(st.text("0123456789", max_size=9))
    return f"{moment.isoformat()[:19]}{'.' + digits if digits else ''}{draw(offsets)}"


OFFSETS = st.just("Z") | st.builds(
    "{}{:02d}:{:02d}".format, st.sampled_from("+-"), st.integers(0, 23), st.integers(0, 59)
).filter(lambda offset: offset != "-00:00")


@st.composite
def new_results(draw: st.DrawFn, profile_id: str) -> dict[str, Any]:
    result: dict[str, Any] = {"profileId": profile_id, "modelName": draw(FILLED)}
    if draw(st.booleans()):
        result["backendId"] = draw(TEXT.filter(bool))
    if draw(st.booleans()):
        result["markdown"] = draw(st.binary(max_size=20) | TEXT)
        return result
    result["error"] = {"category": draw(FILLED), "message": draw(FILLED)}
    if draw(st.booleans()):
        result["validationStatus"] = draw(st.sampled_from(["failed", "skipped"]))
    return result


@st.composite
def bundles(draw: st.DrawFn) -> tuple[dict[str, Any], bytes, list[dict[str, Any]]]:
    """Draw whatever a bundle may hold."""
    times = sorted(
        draw(st.lists(moments(st.sampled_from(["Z", "+00:00"])), min_size=2, max_size=2)),
        key=lambda text: moment_of(text) or (0, ""),
    )
    period = draw(
        st.lists(moments(OFFSETS), min_size=2, max_size=2, unique_by=lambda text: moment_of(text) or (0, ""))
    )
    period.sort(key=lambda text: moment_of(text) or (0, ""))
    given_fields: dict[str, Any] = {
        name: draw(FILLED) for name in ("comparisonId", "reportId", "timezone", "promptId", "promptVersion")
    }
    given_fields.update(
        startedAt=times[0],
        finishedAt=times[1],
        validPeriod={"start": period[0], "end": period[1]},
        promptHash=draw(DIGEST),
    )
    ids = draw(st.lists(FILLED, min_size=2, max_size=5, unique=True))
    return given_fields, draw(st.binary(max_size=50)), [draw(new_results(one)) for one in ids]


@given(bundles())
def test_everything_legal_is_written_and_read_back(
    tmp_path_factory: pytest.TempPathFactory, bundle: tuple[dict[str, Any], bytes, list[dict[str, Any]]]
) -> None:
    given_fields, package, results = bundle
    files = dict(bundle_files("", given_fields, package, results))
    data = files["comparison.json"]
    value = json.loads(data)
    assert data == json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"
    assert tuple(value) == ORDER
    for result in value["results"]:
        assert tuple(result) == tuple(name for name in RESULT_MEMBERS if name in result)
    assert tuple(value["validPeriod"]) == ("start", "end")
    assert tuple(value["dataPackage"]) == ("path", "sha256")
    folder = tmp_path_factory.mktemp("bundle") / "b"
    folder.mkdir()
    for name, content_ in files.items():
        (folder / name).write_bytes(content_)
    read = open_bundle(folder)
    manifest = read.manifest
    for name, attribute in (
        ("comparisonId", "comparison_id"),
        ("reportId", "report_id"),
        ("timezone", "timezone"),
        ("promptId", "prompt_id"),
        ("promptVersion", "prompt_version"),
        ("promptHash", "prompt_hash"),
    ):
        assert getattr(manifest, attribute) == given_fields[name]
    for name, text in (("startedAt", manifest.started_at), ("finishedAt", manifest.finished_at)):
        assert text.endswith("Z")
        assert not text.endswith("0Z") or "." not in text
        assert moment_of(text) == moment_of(given_fields[name])
    assert manifest.valid_period.to_dict() == given_fields["validPeriod"]
    assert read.data_package() == package
    for found, given_ in zip(read.results, results, strict=True):
        assert (found.profile_id, found.model_name) == (given_["profileId"], given_["modelName"])
        assert found.backend_id == given_.get("backendId")
        if "markdown" in given_:
            text_ = given_["markdown"]
            assert read.markdown(found) == (text_.encode() if isinstance(text_, str) else text_)
        else:
            assert found.error is not None
            assert found.error.to_dict() == given_["error"]
            assert found.validation_status == given_.get("validationStatus")
    # What was read is written in the same bytes again.
    again = [dict(result) for result in value["results"]]
    for result in again:
        if "reportPath" in result:
            result["markdown"] = files[result["reportPath"]]
    assert dict(bundle_files("", value | {"results": value["results"]}, package, again)) == files
