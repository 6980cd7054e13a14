"""The file that says what a bundle is to hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bundles.samples import DATA_PACKAGE, MARKDOWN, content, members, put
from stratadiff.bundles import spec
from stratadiff.bundles.model import BundleError
from stratadiff.bundles.reader import open_bundle
from stratadiff.bundles.spec import create_bundle, read_spec
from stratadiff.errors import ConfigurationError, InputError, LimitError, OutputError

YAML = """\
# What the morning's run gave.
comparisonId: cmp-1
startedAt: 2026-01-05T06:00:00Z
finishedAt: 2026-01-05T06:01:30.250Z
reportId: daily
validPeriod:
  start: 2026-01-05T00:00:00+01:00
  end: 2026-01-06T00:00:00+01:00
timezone: Europe/Berlin
promptId: daily-report
promptVersion: 1.10
promptHash: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
dataPackage: in/package.yml
results:
  - profileId: careful
    backendId: local
    modelName: large-2
    markdown: in/careful.md
  - profileId: slow
    modelName: large-2
    validationStatus: skipped
    error: {category: timeout, message: no answer after 30 s}
  - {profileId: Fast one, modelName: small-1, markdown: in/fast.md}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/package.yml").write_bytes(DATA_PACKAGE)
    (tmp_path / "in/careful.md").write_bytes(MARKDOWN["01-careful.md"])
    (tmp_path / "in/fast.md").write_bytes(MARKDOWN["03-Fast-one.md"])
    return tmp_path


def written(folder: Path, text: str, name: str = "spec.yml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_bundle_from_yaml(folder: Path) -> None:
    done = create_bundle(folder / "b", written(folder, YAML))
    assert content(folder / "b") == content(put(folder / "expected"))
    assert done.path == str(folder / "b")
    with pytest.raises(OutputError, match="is there already"):
        create_bundle(folder / "b", folder / "spec.yml")
    assert create_bundle(folder / "b", folder / "spec.yml", replace=True).replaced


def test_the_example_of_the_docstring_is_a_spec(folder: Path) -> None:
    lines = (spec.__doc__ or "").split("::\n", 1)[1].split("\nEvery value")[0]
    for name in ("monday.yml", "careful.md"):
        (folder / name).write_bytes(b"x")
    create_bundle(folder / "b", written(folder, lines))
    assert open_bundle(folder / "b").manifest.prompt_version == "1.10"


def test_a_bundle_from_json(folder: Path) -> None:
    value = members()
    put(folder / "x")
    value["dataPackage"] = "in/package.yml"
    for name in ("schemaVersion", "total", "succeeded", "failed"):
        del value[name]
    for result in value["results"]:
        for name in ("position", "status", "reportPath"):
            result.pop(name, None)
        if result.get("validationStatus") == "passed":
            del result["validationStatus"]
    value["results"][0]["markdown"] = "in/careful.md"
    value["results"][2]["markdown"] = str(folder / "in/fast.md")  # an absolute path
    create_bundle(folder / "b", written(folder, json.dumps(value), "spec.json"))
    assert content(folder / "b") == content(folder / "x")
    # In a file not called so, too.
    assert read_spec(written(folder, json.dumps(value), "spec")) == read_spec(folder / "spec.json")


def test_paths_start_from_the_spec_and_may_be_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder, YAML)
    (folder / "in/careful.md").rename(folder / "in/real.md")
    (folder / "in/careful.md").symlink_to("real.md")
    monkeypatch.chdir(folder / "in")
    create_bundle("../b", "../spec.yml")
    assert open_bundle(folder / "b").markdown("careful") == MARKDOWN["01-careful.md"]
    monkeypatch.chdir(folder)
    assert read_spec("spec.yml").data_package == DATA_PACKAGE


@pytest.mark.parametrize(
    ("member", "text", "read"),
    [
        ("promptVersion: 1.10", "promptVersion: 1.10", "1.10"),
        ("promptVersion: 1.10", "promptVersion: no", "no"),
        ("promptVersion: 1.10", "promptVersion: on", "on"),
        ("promptVersion: 1.10", "promptVersion: 010", "010"),
        ("promptVersion: 1.10", "promptVersion: 12:30:45", "12:30:45"),
        ("promptVersion: 1.10", "promptVersion: 0x1F", "0x1F"),
        ("promptVersion: 1.10", "promptVersion: 2026-01-05", "2026-01-05"),
        ("promptVersion: 1.10", "promptVersion: 'null'", "null"),
        ("promptVersion: 1.10", "promptVersion: !!str 1.0", "1.0"),
        ("promptVersion: 1.10", 'promptVersion: "1.\\u0031"', "1.1"),
    ],
)
def test_u25_text_stays_text(member: str, text: str, read: str, folder: Path) -> None:
    create_bundle(folder / "b", written(folder, YAML.replace(member, text)))
    assert open_bundle(folder / "b").manifest.prompt_version == read


def test_u25_profile_ids_that_yaml_takes_for_something_else(folder: Path) -> None:
    text = YAML.replace("profileId: careful", "profileId: no").replace("profileId: slow", "profileId: 1e3")
    create_bundle(folder / "b", written(folder, text))
    assert [result.profile_id for result in open_bundle(folder / "b").results] == ["no", "1e3", "Fast one"]


WRONG: dict[str, tuple[str, str, str]] = {
    "repeated": (
        "reportId: daily",
        "reportId: daily\nreportId: weekly",
        "line 6: the key 'reportId' is there twice, on line 5 already; keep one",
    ),
    "repeated in a result": (
        "    modelName: large-2\n    markdown",
        "    modelName: large-2\n    modelName: small-1\n    markdown",
        "line 18: the key 'modelName' is there twice",
    ),
    "null": ("promptVersion: 1.10", "promptVersion: null", "line 11: promptVersion must be text; found null"),
    "nothing": (
        "promptVersion: 1.10",
        "promptVersion:",
        "line 11: promptVersion must be text; found nothing",
    ),
    "a list": (
        "promptVersion: 1.10",
        "promptVersion: [1]",
        "line 11: promptVersion must be text; found a list",
    ),
    "another tag": ("promptVersion: 1.10", "promptVersion: !!python/name:x y", "line 11: the tag"),
    "missing": ("promptVersion: 1.10\n", "", "line 2: promptVersion is missing"),
    "missing in the period": ("  end: 2026-01-06T00:00:00+01:00\n", "", "line 7: validPeriod.end is missing"),
    "missing in a result": (
        "    modelName: large-2\n    markdown",
        "    markdown",
        "line 15: results[0].modelName is missing",
    ),
    "unknown": (
        "reportId: daily",
        "reportID: daily",
        "line 5: the spec has no member 'reportID'; its members are",
    ),
    "unknown in a result": (
        "backendId: local",
        "backend: local",
        "line 16: results[0] has no member 'backend'; its members are profileId, modelName, backendId, "
        "validationStatus, markdown, error",
    ),
    "made by the writer": ("backendId: local", "position: 1", "line 16: results[0] has no member 'position'"),
    "neither": ("    markdown: in/careful.md\n", "", "line 15: results[0] must have either markdown"),
    "both": (
        "    markdown: in/careful.md",
        "    markdown: in/careful.md\n    error: {category: c, message: m}",
        "line 15: results[0] must have either markdown",
    ),
    "no such file": (
        "in/careful.md",
        "in/nowhere.md",
        "line 18: results[0].markdown names the file 'in/nowhere.md', which is missing",
    ),
    "a directory": (
        "in/package.yml",
        "in",
        "line 13: dataPackage names the file 'in', which is a directory, not a file",
    ),
    "results of a wrong type": ("results:\n", "results: none\nmore:\n", "the spec has no member 'more'"),
    "a result of a wrong type": (
        "  - {profileId: Fast one, modelName: small-1, markdown: in/fast.md}",
        "  - fast",
        "line 23: results[2] must be a mapping; found 'fast'",
    ),
    "an error of a wrong type": (
        "{category: timeout, message: no answer after 30 s}",
        "timeout",
        "line 22: results[1].error must be a mapping; found 'timeout'",
    ),
    "half an error": (", message: no answer after 30 s", "", "line 22: results[1].error.message is missing"),
    "tab": ("  start:", "\tstart:", "line 7: indented with a tab"),
    "alias bomb": (
        "reportId: daily",
        "reportId: daily\nx: &a [y, y]\n" + "".join(f"x{i}: &a{i} [*a, *a]\n" for i in range(2)),
        "has no member 'x'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_u25_a_spec_that_does_not_say_what_it_must_names_the_line(name: str, folder: Path) -> None:
    old, new, words = WRONG[name]
    assert old in YAML
    path = written(folder, YAML.replace(old, new, 1))
    with pytest.raises(ConfigurationError) as caught:
        create_bundle(folder / "b", path)
    assert words in caught.value.message
    assert caught.value.where == str(path)
    if words.startswith("line "):
        assert caught.value.line == int(words.split()[1].rstrip(":"))
    assert sorted(os.listdir(folder)) == ["in", "spec.yml"]


def test_u25_aliases_are_bounded(folder: Path) -> None:
    levels = "\n".join(f"x{i}: &x{i} [{', '.join(f'*x{i - 1}' for _ in range(10))}]" for i in range(1, 9))
    with pytest.raises(LimitError):
        read_spec(written(folder, f"x0: &x0 [y]\n{levels}\n{YAML}"))


def test_specs_in_json_that_do_not_say_what_they_must(folder: Path) -> None:
    for value, words in (([], "the spec must be a mapping; found a list"), ({}, "comparisonId is missing")):
        with pytest.raises(ConfigurationError, match=words):
            read_spec(written(folder, json.dumps(value), "spec.json"))


def test_u12_a_member_twice_in_a_spec_in_json(folder: Path) -> None:
    path = written(folder, '{"reportId": "a",\n"report\\u0049d": "b"}', "spec.json")
    with pytest.raises(ConfigurationError, match="line 2: the member 'reportId' is there twice; keep one"):
        read_spec(path)


def test_a_number_in_json_is_no_text(folder: Path) -> None:
    value = read_spec(written(folder, YAML)).fields
    given = {**value, "promptVersion": 2, "dataPackage": "in/package.yml", "results": []}
    with pytest.raises(
        ConfigurationError, match="promptVersion must be text; found the number 2; put it in quotes"
    ):
        read_spec(written(folder, json.dumps(given), "spec.json"))


def test_what_the_rules_refuse_is_refused_by_rule(folder: Path) -> None:
    with pytest.raises(BundleError, match="timestamps: startedAt is '2026-01-05'"):
        create_bundle(folder / "b", written(folder, YAML.replace("2026-01-05T06:00:00Z", "2026-01-05")))


def test_a_spec_that_cannot_be_read(folder: Path) -> None:
    for name in ("nowhere.yml", "in"):
        with pytest.raises(InputError):
            read_spec(folder / name)
