"""Every rule has what keeps it and what breaks it, and says what is wrong, where, and what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bundles.samples import (
    MARKDOWN,
    Change,
    Json,
    changed,
    members,
    put,
    removing,
    setting,
)
from stratadiff.bundles.model import BundleError
from stratadiff.bundles.reader import is_bundle, open_bundle, verify_bundle
from stratadiff.bundles.rules import MANIFEST_RULES, RULES, is_blank, moment_of

A_MESSAGE = "x" * 1024


def renamed(old: str, new: str) -> dict[str, bytes]:
    return {new if name == old else name: data for name, data in MARKDOWN.items()}


def both(*changes: Change) -> Change:
    def change(value: Json) -> None:
        for one in changes:
            one(value)

    return change


def all_failed(value: Json) -> None:
    for result in value["results"]:
        result["status"] = "failed"
        result.pop("reportPath", None)
        result.pop("validationStatus", None)
        result["error"] = {"category": "c", "message": "m"}
    value.update(succeeded=0, failed=3)


GOOD: dict[str, list[Change]] = {
    "manifest-fields": [
        setting("total", 3),
        setting("promptVersion", "1"),
        setting("comparisonId", "null"),
    ],
    "optional-absent": [
        removing("results.0.backendId"),
        setting("results.2.backendId", "local"),  # as another has
        setting("results.0.backendId", " "),
        removing("results.1.validationStatus"),
    ],
    "timestamps": [
        setting("startedAt", "2026-01-05T06:00:00+00:00"),
        setting("startedAt", "2026-01-05T06:01:30.250000000Z"),  # the same moment
        setting("startedAt", "0001-01-01T00:00:00.000000001Z"),
        setting("finishedAt", "9999-12-31T23:59:59.999999999Z"),
        setting("startedAt", "2024-02-29T00:00:00Z"),
    ],
    "valid-period": [
        setting("validPeriod.start", "2026-01-06T00:00:00.999999999+01:01"),
        setting("validPeriod", {"start": "0001-01-01T00:00:00+23:59", "end": "0001-01-01T00:00:00+23:58"}),
        setting("validPeriod", {"start": "9999-12-31T23:59:59Z", "end": "9999-12-31T23:59:59-23:59"}),
        setting("validPeriod.start", "2026-01-05T00:00:00+00:00"),
    ],
    "identity": [
        setting("timezone", "nowhere in particular"),
        setting("comparisonId", "\x1c"),  # white space to Python, not to Unicode
        setting("promptId", "\u200b"),
        setting("reportId", "\ufeff"),
    ],
    "digest-form": [setting("promptHash", "0" * 64), setting("promptHash", "f" * 64)],
    "data-package-path": [setting("dataPackage.path", "data-package.yml")],
    "counts": [setting("total", 3)],
    "positions": [setting("results.1.profileId", "CAREFUL"), setting("results.1.profileId", "e\u0301")],
    "result-success": [setting("results.0.validationStatus", "passed")],
    "result-failure": [
        removing("results.1.validationStatus"),
        setting("results.1.validationStatus", "failed"),
        setting("results.1.error.message", A_MESSAGE),
        setting("results.1.error.message", "é" * 512),
        setting("results.1.error.message", "\x00"),
    ],
    "report-path": [setting("results.0.reportPath", "01-careful.md")],
}

BAD: dict[str, list[tuple[Change, str]]] = {
    "schema-version": [
        (
            setting("schemaVersion", "weatherreporter.comparison.v2"),
            "schemaVersion 'weatherreporter.comparison.v2' is unsupported; "
            "weatherreporter.comparison.v1 is the one that is",
        ),
        (setting("schemaVersion", ""), "schemaVersion '' is unsupported"),
        (setting("schemaVersion", "Weatherreporter.comparison.v1"), "is unsupported"),
        (both(setting("schemaVersion", "v9"), removing("results"), setting("new", 1)), "'v9' is unsupported"),
    ],
    "manifest-fields": [
        (removing("schemaVersion"), "schemaVersion is missing; it must be a text"),
        (setting("schemaVersion", 1), "schemaVersion is the number 1, and must be a text"),
        (setting("schemaVersion", None), "schemaVersion is null, and must be a text"),
        (setting("note", "x"), "note is not a member of the format; remove it"),
        (setting("a b", "x"), "'a b' is not a member of the format; remove it"),
        (both(removing("reportId"), setting("reportid", "daily")), "reportId is missing"),
        (setting("promptVersion", 2), "promptVersion is the number 2, and must be a text"),
        (setting("total", True), "total is the boolean true, and must be an integer"),
        (setting("total", "3"), "total is the text '3', and must be an integer"),
        (setting("total", 3.0), "total is the number 3.0, and must be an integer"),
        (setting("total", 2**63), "total is the number 9223372036854775808, and must be an integer"),
        (setting("total", None), "total is null, and must be an integer"),
        (setting("validPeriod", "x"), "validPeriod is the text 'x', and must be an object"),
        (setting("validPeriod", []), "validPeriod is an array, and must be an object"),
        (removing("validPeriod.end"), "validPeriod.end is missing; it must be a text"),
        (setting("validPeriod.zone", "x"), "validPeriod.zone is not a member of the format; remove it"),
        (setting("dataPackage.sha256", None), "dataPackage.sha256 is null, and must be a text"),
        (removing("dataPackage.path"), "dataPackage.path is missing"),
        (setting("results", {}), "results is an object, and must be an array"),
        (setting("results.1", "x"), "results[1] is the text 'x', and must be an object"),
        (removing("results.1.modelName"), "results[1].modelName is missing; it must be a text"),
        (setting("results.1.status", "ok"), "results[1].status is 'ok', and must be succeeded or failed"),
        (setting("results.1.position", "2"), "results[1].position is the text '2', and must be an integer"),
        (setting("results.0.backendId", 1), "results[0].backendId is the number 1, and must be a text"),
        (setting("results.1.error", "x"), "results[1].error is the text 'x', and must be an object"),
        (removing("results.1.error.category"), "results[1].error.category is missing"),
        (setting("results.1.error.message", None), "results[1].error.message is null, and must be a text"),
        (setting("results.1.error.stack", "x"), "results[1].error.stack is not a member of the format"),
        (setting("results.0.score", 1), "results[0].score is not a member of the format; remove it"),
    ],
    "optional-absent": [
        (setting("results.0.backendId", None), "results[0].backendId is null; leave the member out"),
        (setting("results.0.backendId", ""), 'results[0].backendId is ""; leave the member out'),
        (setting("results.1.validationStatus", None), "results[1].validationStatus is null"),
        (setting("results.1.reportPath", None), "results[1].reportPath is null; leave the member out"),
        (setting("results.0.error", None), "results[0].error is null; leave the member out"),
        (setting("results.0.error", ""), 'results[0].error is ""; leave the member out'),
    ],
    "timestamps": [
        (
            setting("startedAt", "yesterday"),
            "startedAt is 'yesterday', and must be an RFC 3339 timestamp as 2026-01-02T03:04:05Z",
        ),
        (
            setting("startedAt", "2026-01-05T07:00:00+01:00"),
            "startedAt is '2026-01-05T07:00:00+01:00', and must be in UTC, with Z at its end",
        ),
        (
            setting("startedAt", "0001-01-01T00:00:00.000Z"),
            "startedAt is the zero time, '0001-01-01T00:00:00.000Z'; write the time at which it was",
        ),
        (setting("startedAt", "0001-01-01T00:00:00+00:00"), "startedAt is the zero time"),
        (
            setting("finishedAt", "2026-01-05T05:59:59.999999999Z"),
            "finishedAt '2026-01-05T05:59:59.999999999Z' is earlier than startedAt '2026-01-05T06:00:00Z'; "
            "it must be the same moment or a later one",
        ),
        (setting("finishedAt", "2026-01-05T06:00:00-00:00"), "finishedAt is"),
    ],
    "valid-period": [
        (
            setting("validPeriod.start", "2026-01-06T00:00:00+01:00"),
            "validPeriod is empty: its start '2026-01-06T00:00:00+01:00' must be earlier than its end "
            "'2026-01-06T00:00:00+01:00'",
        ),
        (setting("validPeriod.start", "2026-01-05T23:00:00Z"), "validPeriod is empty"),
        (
            setting("validPeriod.end", "2026-01-06"),
            "validPeriod.end is '2026-01-06', and must be an RFC 3339 timestamp as 2026-01-02T03:04:05Z, "
            "any offset",
        ),
        (setting("validPeriod.end", "2026-01-06T00:00:00-00:00"), "validPeriod.end is"),
    ],
    "identity": [
        (setting("comparisonId", ""), "comparisonId is blank: ''; it must say something"),
        (setting("reportId", "\u3000"), "reportId is blank: '\\u3000'; it must say something"),
        (setting("timezone", " \t"), "timezone is blank"),
        (setting("promptId", "\x85"), "promptId is blank"),
        (setting("promptVersion", "\u2028"), "promptVersion is blank"),
        (setting("results.1.profileId", " "), "results[1].profileId is blank: ' '; it must say something"),
        (setting("results.1.modelName", ""), "results[1].modelName is blank: ''; it must say something"),
    ],
    "digest-form": [
        (setting("promptHash", "A" * 64), "and must be 64 digits out of 0-9 and a-f"),
        (setting("promptHash", "0" * 63), f"promptHash is '{'0' * 59}…', and must be"),
        (setting("promptHash", "sha256:" + "0" * 64), "promptHash is"),
        (setting("dataPackage.sha256", "0" * 63 + "\n"), "dataPackage.sha256 is"),
        (setting("dataPackage.sha256", "٠" * 64), "dataPackage.sha256 is"),
    ],
    "data-package-path": [
        (
            setting("dataPackage.path", "./data-package.yml"),
            "dataPackage.path is './data-package.yml', and must be data-package.yml",
        ),
        (setting("dataPackage.path", ""), "dataPackage.path is ''"),
    ],
    "counts": [
        (setting("total", 4), "total is 4, and must be the number of results, 3"),
        (setting("total", -3), "total is -3, and must be at least 2"),
        (both(setting("results", []), setting("total", 0)), "total is 0, and must be at least 2"),
        (setting("succeeded", 3), "succeeded and failed add up to 4, and must to total, 3"),
        (
            both(setting("succeeded", 1), setting("failed", 2)),
            "succeeded is 1, and must be the number of results of that status, 2",
        ),
    ],
    "positions": [
        (
            setting("results.1.position", 3),
            "results[1].position is 3, and must be 2: results are in order",
        ),
        (
            setting("results.1.profileId", "careful"),
            "results[1].profileId is 'careful', as results[0].profileId is; a profile has one result",
        ),
    ],
    "result-success": [
        (
            removing("results.0.validationStatus"),
            "results[0].validationStatus is missing, and must be passed: the profile succeeded",
        ),
        (
            setting("results.0.validationStatus", "skipped"),
            "results[0].validationStatus is 'skipped', and must be passed: the profile succeeded",
        ),
        (removing("results.0.reportPath"), "results[0].reportPath is missing"),
        (
            setting("results.2.reportPath", "01-careful.md"),
            "results[2].reportPath is '01-careful.md', as results[0].reportPath is; each has its own",
        ),
        (setting("results.0.error", {"category": "c", "message": "m"}), "results[0].error is there"),
    ],
    "result-failure": [
        (setting("results.1.reportPath", "02-slow.md"), "results[1].reportPath is there"),
        (removing("results.1.error"), "results[1].error is missing"),
        (setting("results.1.error.category", " "), "results[1].error.category is blank: ' '"),
        (setting("results.1.error.message", "\u2003"), "results[1].error.message is blank"),
        (
            setting("results.1.error.message", A_MESSAGE + "x"),
            "results[1].error.message has 1,025 bytes; at most 1,024 are allowed, so shorten it",
        ),
        (setting("results.1.error.message", "é" * 513), "has 1,026 bytes"),
        (
            setting("results.1.validationStatus", "passed"),
            "results[1].validationStatus is 'passed', and must be failed or skipped or left out: "
            "the profile failed",
        ),
        (setting("results.1.validationStatus", "other"), "results[1].validationStatus is 'other'"),
    ],
    "report-path": [
        (
            setting("results.0.reportPath", "01-Careful.md"),
            "results[0].reportPath is '01-Careful.md', and must be 01-careful.md",
        ),
        (setting("results.0.reportPath", "../01-careful.md"), "and must be 01-careful.md"),
        (setting("results.0.reportPath", "a\\01-careful.md"), "and must be"),
        (setting("results.0.reportPath", ".."), "and must be"),
        (setting("results.0.reportPath", "001-careful.md"), "and must be"),
        (setting("results.0.reportPath", "1-careful.md"), "and must be"),
        (setting("results.0.reportPath", "01-careful.md\x00"), "and must be"),
        (setting("results.0.reportPath", "03-careful.md"), "and must be"),
        (setting("results.0.reportPath", "01-careful.MD"), "and must be"),
    ],
    "data-package-digest": [
        (
            setting("dataPackage.sha256", "0" * 64),
            "it is not the file the profiles were given",
        ),
    ],
}


def test_every_rule_is_tried_here_or_with_files() -> None:
    assert [rule for rule, _ in MANIFEST_RULES] == list(RULES[RULES.index("optional-absent") : -1])
    assert set(BAD) | {"directory", "entry-type", "entry-set", "manifest-json"} == set(RULES)
    assert set(GOOD) >= {rule for rule, _ in MANIFEST_RULES}


@pytest.mark.parametrize(
    "change",
    [pytest.param(change, id=f"{rule}-{i}") for rule in GOOD for i, change in enumerate(GOOD[rule])],
)
def test_what_keeps_every_rule(change: Change, tmp_path: Path) -> None:
    folder = changed(tmp_path / "b", change)
    assert [finding.message for finding in verify_bundle(folder).findings] == []
    assert is_bundle(folder)


@pytest.mark.parametrize(
    ("rule", "change", "words"),
    [pytest.param(rule, *case, id=f"{rule}-{i}") for rule in BAD for i, case in enumerate(BAD[rule])],
)
def test_what_breaks_a_rule(rule: str, change: Change, words: str, tmp_path: Path) -> None:
    folder = changed(tmp_path / "b", change)
    with pytest.raises(BundleError) as caught:
        open_bundle(folder)
    error = caught.value
    assert (error.rule, error.code, error.where) == (rule, rule, str(folder))
    assert words in error.detail
    assert str(error) == f"{folder}: {rule}: {error.detail}"
    assert not is_bundle(folder)


def test_all_may_have_failed(tmp_path: Path) -> None:
    manifest = members()
    all_failed(manifest)
    bundle = open_bundle(put(tmp_path / "b", manifest, files={}))
    assert (bundle.manifest.succeeded, bundle.manifest.failed) == (0, 3)


@pytest.mark.parametrize(
    ("literal", "read"),
    [
        (b"3.0", "the number 3.0"),
        (b"3e0", "the number 3.0"),
        (b"30E-1", "the number 3.0"),
        (b"1e999", "a number beyond a double"),
        (b"-1.5", "the number -1.5"),
        (b"99999999999999999999", "the number 99999999999999999999"),
        (b"3" * 5000, f"the number {'3' * 59}…"),
        (b"-" + b"3" * 600, f"the number -{'3' * 58}…"),
    ],
)
@pytest.mark.parametrize("digits", [None, 0, 640])
def test_numbers_that_are_no_integers(literal: bytes, read: str, digits: int | None, tmp_path: Path) -> None:
    data = json.dumps(members()).encode().replace(b'"total": 3', b'"total": ' + literal)
    folder = put(tmp_path / "b", data)
    before = sys.get_int_max_str_digits()
    try:
        if digits is not None:
            sys.set_int_max_str_digits(digits)
        with pytest.raises(BundleError) as caught:
            open_bundle(folder)
    finally:
        sys.set_int_max_str_digits(before)
    assert (caught.value.rule, caught.value.detail) == (
        "manifest-fields",
        f"total is {read}, and must be an integer",
    )


def test_findings_are_bounded(tmp_path: Path) -> None:
    found = verify_bundle(changed(tmp_path / "b", setting("results", [{}] * 5000)))
    assert (len(found.findings), found.is_complete) == (10_000, False)
    assert verify_bundle(changed(tmp_path / "c", setting("results", [{}] * 3))).is_complete


def test_minus_zero_is_zero(tmp_path: Path) -> None:
    manifest = members()
    for index in (0, 2):
        manifest["results"][index]["position"] = index + 1
    data = json.dumps(manifest).encode()
    data = data.replace(b'"failed": 1', b'"failed": -0')
    with pytest.raises(BundleError) as caught:
        open_bundle(put(tmp_path / "b", data))
    assert caught.value.rule == "counts"
    assert "failed add up to 2" in caught.value.detail


def test_order_and_spacing_are_the_writers_business(tmp_path: Path) -> None:
    manifest = dict(reversed(members().items()))
    manifest["results"] = [dict(reversed(result.items())) for result in manifest["results"]]
    data = b" \r\n\t" + json.dumps(manifest, separators=(",", ":")).encode() + b"\t\r\n "
    assert open_bundle(put(tmp_path / "b", data)).manifest.comparison_id == "cmp-1"


def test_rules_are_tried_one_after_the_other_each_over_everything(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "b",
        setting("results.2.reportPath", "x.md"),
        setting("results.0.validationStatus", "skipped"),
        setting("results.1.error.message", " "),
        setting("results.2.backendId", None),
        setting("startedAt", "x"),
        setting("promptHash", ""),
        setting("results.1.position", 9),
        setting("total", 9),
        setting("timezone", ""),
        setting("validPeriod.end", ""),
        setting("dataPackage.path", ""),
    )
    (folder / "data-package.yml").write_bytes(b"other")
    found = verify_bundle(folder)
    assert [finding.rule for finding in found.findings] == [
        "optional-absent",
        "timestamps",
        "valid-period",
        "identity",
        "digest-form",
        "data-package-path",
        "counts",
        "counts",
        "positions",
        "result-success",
        "result-failure",
        "report-path",
        "entry-set",
        "entry-set",
        "data-package-digest",
    ]
    assert not found.verifies
    assert found.bundle is None
    assert verify_bundle(folder, all_errors=False).findings == found.findings[:1]


def test_past_a_manifest_that_cannot_be_read_nothing_is_read_from_it(tmp_path: Path) -> None:
    for number, manifest in enumerate((b"{", b'{"schemaVersion": "v2"}', b"{}")):
        folder = put(tmp_path / str(number), manifest)
        (folder / "data-package.yml").write_bytes(b"other")
        rules = {finding.rule for finding in verify_bundle(folder).findings}
        assert rules == {("manifest-json", "schema-version", "manifest-fields")[number]}


@pytest.mark.parametrize("total", [99, 100, 101])
def test_names_are_padded_uniformly_or_to_two_digits_each_by_itself(total: int, tmp_path: Path) -> None:
    manifest = members()
    results = []
    files = {}
    for position in range(1, total + 1):
        width = 2 if position % 2 or total < 100 else 3
        name = f"{position:0{width}d}-p{position}.md"
        files[name] = b""
        results.append(
            {
                "position": position,
                "profileId": f"p{position}",
                "modelName": "m",
                "status": "succeeded",
                "validationStatus": "passed",
                "reportPath": name,
            }
        )
    manifest.update(total=total, succeeded=total, failed=0, results=results)
    assert is_bundle(put(tmp_path / "b", manifest, files=files))
    results[0]["reportPath"] = "001-p1.md" if total < 100 else "0001-p1.md"
    with pytest.raises(BundleError) as caught:
        open_bundle(put(tmp_path / "c", manifest, files=files))
    assert caught.value.rule == "report-path"
    assert caught.value.detail.endswith("01-p1.md" if total < 100 else "must be 001-p1.md or 01-p1.md")


WHITE_SPACE = [
    *range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
]  # fmt: skip


def test_blank_is_what_unicode_calls_white_space() -> None:
    assert [code for code in range(0x110000) if is_blank(chr(code))] == WHITE_SPACE
    assert is_blank("")
    assert is_blank("".join(map(chr, WHITE_SPACE)))
    assert not is_blank("\u3000.\u3000")


@pytest.mark.parametrize(
    "text",
    [
        "", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02t03:04:05Z", "2026-01-02T03:04:05z",
        "2026-01-02 03:04:05Z", "0000-01-02T03:04:05Z", "2026-02-29T03:04:05Z", "2026-04-31T03:04:05Z",
        "2026-01-02T24:00:00Z", "2026-01-02T03:60:05Z", "2026-12-31T23:59:60Z", "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.1234567890Z", "2026-01-02T03:04:05,1Z", "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+01:60", "2026-01-02T03:04:05+0100", "2026-01-02T03:04:05-00:00",
        "2026-01-02T03:04:05+01", " 2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z\n", "12026-01-02T03:04:05Z",
        "٢026-01-02T03:04:05Z", "2026-01-02T03:04:05.１Z", "2026-00-02T03:04:05Z", "2026-01-00T03:04:05Z",
        "2026-13-02T03:04:05Z", "2026-1-2T03:04:05Z", "+026-01-02T03:04:05Z", "1900-02-29T00:00:00Z",
    ],
)  # fmt: skip
def test_what_is_no_timestamp(text: str) -> None:
    assert moment_of(text) is None


def test_moments_are_compared_to_the_nanosecond_wherever_they_are() -> None:
    order = [
        "0001-01-01T00:00:00+23:59",  # in the year before
        "0001-01-01T00:00:00Z",
        "2000-02-29T12:00:00.000000001+12:00",
        "2000-02-29T00:00:00.00000001Z",
        "2000-02-28T14:00:01-10:00",
        "9999-12-31T23:59:59.999999999Z",
        "9999-12-31T23:59:59-23:59",  # in the year after
    ]
    moments = [moment_of(text) for text in order]
    assert None not in moments
    assert moments == sorted(moments, key=lambda moment: moment or (0, ""))
    assert len(set(moments)) == len(order)
    assert moment_of("2026-01-02T03:04:05.50Z") == moment_of("2026-01-02T04:04:05.5+01:00")
