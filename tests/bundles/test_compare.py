"""The profiles of a bundle compared, and two bundles."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bundles.samples import DATA_PACKAGE, MARKDOWN, Change, members, put, setting
from stratadiff import bundle_api
from stratadiff.bundles import compare
from stratadiff.bundles.compare import diff_bundles, diff_profiles, refused_comparison
from stratadiff.bundles.comparison import BundleComparison, TextOptions
from stratadiff.bundles.model import Bundle, BundleError
from stratadiff.bundles.reader import open_bundle
from stratadiff.core.textdiff import text_diff
from stratadiff.errors import InputError, UsageError

CAREFUL, FAST = "01-careful.md", "03-Fast-one.md"


def bundle(
    folder: Path, *changes: Change, files: dict[str, bytes] | None = None, package: bytes = DATA_PACKAGE
) -> Bundle:
    manifest = members()
    for change in changes:
        change(manifest)
    manifest["dataPackage"]["sha256"] = hashlib.sha256(package).hexdigest()
    return open_bundle(put(folder, manifest, files={**MARKDOWN, **(files or {})}, data_package=package))


def failing(index: int, **error: str) -> Change:
    def change(manifest: Any) -> None:
        result = manifest["results"][index]
        if result["status"] == "succeeded":
            manifest["succeeded"] -= 1
            manifest["failed"] += 1
        result.update(status="failed", error={"category": "c", "message": "m", **error})
        result.pop("reportPath", None)
        result.pop("validationStatus", None)

    return change


def changes(comparison: BundleComparison) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {profile.profile_id: (profile.verdict, profile.changes) for profile in comparison.profiles}


class TestProfiles:
    def test_every_other_success_against_the_first(self, tmp_path: Path) -> None:
        found = diff_profiles(bundle(tmp_path / "b"))
        assert (found.mode, found.envelope, found.exit_code) == ("profiles", "diverged", 1)
        assert found.baseline_profile == "careful"
        [profile] = found.profiles
        assert (profile.profile_id, profile.verdict, profile.changes) == ("Fast one", "changed", ("text",))
        assert profile.baseline is not None
        assert profile.candidate is not None
        assert (profile.baseline.profile_id, profile.candidate.profile_id) == ("careful", "Fast one")
        expected = text_diff(MARKDOWN[CAREFUL], MARKDOWN[FAST], media_type="text/markdown")
        assert profile.text is not None
        assert list(profile.text.lines) == expected.plain_lines()
        assert profile.text.hunks == expected.hunks_json()
        assert found.causes == ()

    def test_the_same_text(self, tmp_path: Path) -> None:
        found = diff_profiles(bundle(tmp_path / "b", files={FAST: MARKDOWN[CAREFUL]}))
        assert (found.envelope, found.exit_code) == ("identical", 0)
        assert changes(found) == {"Fast one": ("same", ())}

    def test_a_baseline_by_name(self, tmp_path: Path) -> None:
        opened = bundle(tmp_path / "b")
        found = diff_profiles(opened, "Fast one")
        assert found.baseline_profile == "Fast one"
        assert changes(found) == {"careful": ("changed", ("text",))}
        with pytest.raises(InputError, match="no profile has the id 'fast one'; there are 'careful', 'slow'"):
            diff_profiles(opened, "fast one")
        with pytest.raises(InputError, match="the profile slow failed, so nothing can be compared to it"):
            diff_profiles(opened, "slow")

    def test_fewer_than_two_successes(self, tmp_path: Path) -> None:
        manifest = members()
        failing(2)(manifest)
        single = open_bundle(put(tmp_path / "b", manifest, files={CAREFUL: b"x"}))
        found = diff_profiles(single)
        assert (found.envelope, found.exit_code, found.profiles) == ("not comparable", 2, ())
        assert found.baseline_profile == "careful"
        assert found.reason == "fewer than two profiles succeeded; there is nothing to compare"
        failing(0)(manifest)
        none = open_bundle(put(tmp_path / "c", manifest, files={}))
        assert diff_profiles(none).baseline_profile is None
        with pytest.raises(InputError):
            diff_profiles(none, "careful")

    def test_options(self, tmp_path: Path) -> None:
        opened = bundle(tmp_path / "b", files={FAST: b"a\n" * 50})
        [profile] = diff_profiles(opened, options=TextOptions(max_lines=2, context=0)).profiles
        assert profile.text is not None
        assert len(profile.text.lines) == 3
        assert profile.text.more_lines
        for wrong in ({"algorithm": "other"}, {"context": -1}, {"max_lines": 0}):
            with pytest.raises(UsageError):
                TextOptions(**wrong)  # type: ignore[arg-type]


class TestBundles:
    def test_the_same(self, tmp_path: Path) -> None:
        other = bundle(
            tmp_path / "b",
            setting("comparisonId", "other"),
            setting("startedAt", "2026-01-04T00:00:00Z"),
            setting("finishedAt", "2026-01-07T00:00:00Z"),
        )
        found = diff_bundles(bundle(tmp_path / "a"), other)
        assert (found.mode, found.envelope, found.exit_code) == ("bundles", "identical", 0)
        assert set(changes(found).values()) == {("same", ())}
        assert found.data_package is None
        assert not any(cause.changed for cause in found.causes)

    def test_causes_in_their_order(self, tmp_path: Path) -> None:
        other = bundle(
            tmp_path / "b",
            setting("promptVersion", "1.1"),
            setting("validPeriod.end", "2026-01-05T23:00:00Z"),  # the same moment, written otherwise
            setting("results.1.backendId", "remote"),
            setting("results.2.modelName", "small-2"),
        )
        found = diff_bundles(bundle(tmp_path / "a"), other)
        assert [(cause.kind, cause.name) for cause in found.causes] == [
            ("prompt", "promptId"),
            ("prompt", "promptVersion"),
            ("prompt", "promptHash"),
            ("input", "dataPackage.sha256"),
            ("setting", "validPeriod"),
            ("setting", "timezone"),
            ("backend", "careful"),
            ("model", "careful"),
            ("backend", "slow"),
            ("model", "slow"),
            ("backend", "Fast one"),
            ("model", "Fast one"),
        ]
        changed = {
            (cause.kind, cause.name): (cause.baseline, cause.candidate)
            for cause in found.causes
            if cause.changed
        }
        assert changed == {
            ("prompt", "promptVersion"): ("1.10", "1.1"),
            ("setting", "validPeriod"): (
                members()["validPeriod"],
                {"start": "2026-01-05T00:00:00+01:00", "end": "2026-01-05T23:00:00Z"},
            ),
            ("backend", "slow"): (None, "remote"),
            ("model", "Fast one"): ("small-1", "small-2"),
        }
        assert found.envelope == "diverged"  # though no text changed

    def test_what_changes_in_a_profile(self, tmp_path: Path) -> None:
        def candidate(manifest: Any) -> None:
            failing(0)(manifest)
            failing(1, category="timeout", message="no answer after 60 s")(manifest)

        files = {FAST: b"# Wind\n\nStormy.\n"}
        manifest = members()
        candidate(manifest)
        other = open_bundle(put(tmp_path / "b", manifest, files=files))
        found = diff_bundles(bundle(tmp_path / "a"), other)
        assert changes(found) == {
            "careful": ("changed", ("status",)),
            "slow": ("changed", ("error",)),
            "Fast one": ("changed", ("text",)),
        }
        assert [profile.text is not None for profile in found.profiles] == [False, False, True]

    def test_profiles_are_paired_by_id_wherever_they_are(self, tmp_path: Path) -> None:
        def turned(manifest: Any) -> None:
            results = manifest["results"][::-1]
            manifest["results"] = results
            for position, result in enumerate(results, 1):
                result["position"] = position
                if "reportPath" in result:
                    result["reportPath"] = f"{position:02d}{result['reportPath'][2:]}"
            results[2].update(profileId="new", reportPath="03-new.md")

        manifest = members()
        turned(manifest)
        files = {"01-Fast-one.md": MARKDOWN[FAST], "03-new.md": b""}
        other = open_bundle(put(tmp_path / "b", manifest, files=files))
        found = diff_bundles(bundle(tmp_path / "a"), other)
        assert changes(found) == {
            "careful": ("only in the baseline", ()),
            "slow": ("same", ()),
            "Fast one": ("same", ()),
            "new": ("only in the candidate", ()),
        }
        assert found.envelope == "diverged"
        assert {cause.name for cause in found.causes if cause.kind == "model"} == {"slow", "Fast one"}

    def test_the_data_package(self, tmp_path: Path) -> None:
        other = bundle(tmp_path / "b", package=b"wind: 4 Bft\n")
        found = diff_bundles(bundle(tmp_path / "a"), other)
        assert found.data_package is not None
        assert "- wind: 3 Bft" in found.data_package.lines
        assert found.envelope == "diverged"

    def test_different_reports(self, tmp_path: Path) -> None:
        found = diff_bundles(bundle(tmp_path / "a"), bundle(tmp_path / "b", setting("reportId", "weekly")))
        assert (found.envelope, found.exit_code) == ("not comparable", 2)
        assert found.reason == "the bundles are of different reports: daily and weekly"


class TestLarge:
    """Texts too large to be shown do not lie in memory, and differ or not all the same."""

    @pytest.fixture(autouse=True)
    def limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from stratadiff.core import textdiff

        monkeypatch.setattr(textdiff, "MAX_DIFF_BYTES", 100)
        monkeypatch.setattr(compare, "MAX_DIFF_BYTES", 100)

        def read(self: Bundle, name: str) -> bytes:
            raise AssertionError(f"{name} was read")

        monkeypatch.setattr(Bundle, "_read", read)

    @pytest.mark.parametrize(
        ("a", "b", "is_same"),
        [(b"x" * 101, b"x" * 101, True), (b"x" * 101, b"x" * 100 + b"y", False), (b"", b"x" * 101, False)],
    )
    def test_markdown(self, a: bytes, b: bytes, is_same: bool, tmp_path: Path) -> None:
        found = diff_profiles(bundle(tmp_path / "b", files={CAREFUL: a, FAST: b}))
        [profile] = found.profiles
        assert profile.verdict == ("same" if is_same else "changed")
        if not is_same:
            assert profile.text is not None
            assert profile.text.kind == "not diffed"
            assert profile.text.lines[0].startswith("too large to diff (0.0 MB)")

    def test_data_package(self, tmp_path: Path) -> None:
        large = {CAREFUL: b"x" * 101, FAST: b"x" * 101}
        sides = [bundle(tmp_path / name, files=large, package=name.encode() * 101) for name in "ab"]
        found = diff_bundles(*sides)
        assert found.data_package is not None
        assert found.data_package.kind == "not diffed"


def changed_meanwhile(folder: Path) -> None:
    (folder / CAREFUL).write_bytes(b"other")


@pytest.mark.parametrize("function", [lambda one: diff_profiles(one), lambda one: diff_bundles(one, one)])
def test_u21_text_is_never_of_a_file_that_changed_since_it_was_validated(
    function: Callable[[Bundle], object], tmp_path: Path
) -> None:
    opened = bundle(tmp_path / "b")
    changed_meanwhile(tmp_path / "b")
    with pytest.raises(BundleError, match=r"entry-type: 01-careful\.md has changed since"):
        function(opened)


def test_what_is_refused_and_what_could_not_be_checked() -> None:
    bad = BundleError("counts", "total is 9", where="a")
    later = BundleError("schema-version", "schemaVersion 'v2' is unsupported", where="b")
    for errors, envelope, code, reason in (
        ([bad], "refused", 3, "a: counts: total is 9"),
        ([later], "could not check", 4, "b: schema-version: schemaVersion 'v2' is unsupported"),
        (
            [bad, later],
            "refused",
            3,
            "a: counts: total is 9; b: schema-version: schemaVersion 'v2' is unsupported",
        ),
    ):
        found = refused_comparison("bundles", errors)
        assert (found.envelope, found.exit_code, found.reason) == (envelope, code, reason)


class TestInOneCall:
    def test_paths_and_bundles(self, tmp_path: Path) -> None:
        opened = bundle(tmp_path / "a")
        bundle(tmp_path / "b", setting("promptVersion", "2"))
        for source in (opened, tmp_path / "a", str(tmp_path / "a")):
            result = bundle_api.diff_bundles(source, tmp_path / "b")
            assert (result.envelope, result.exit_code, result.reason) == ("diverged", 1, None)
            assert repr(result) == "<BundleDiff diverged>"
            assert bundle_api.diff_profiles(source, "careful").exit_code == 1

    def test_folders_that_are_no_bundles_are_a_verdict(self, tmp_path: Path) -> None:
        opened = bundle(tmp_path / "a")
        put(tmp_path / "b", {**members(), "schemaVersion": "weatherreporter.comparison.v2"})
        put(tmp_path / "c", {**members(), "total": 9})
        result = bundle_api.diff_bundles(opened, tmp_path / "b")
        assert (result.envelope, result.exit_code) == ("could not check", 4)
        assert result.reason is not None
        assert result.reason.startswith(f"{tmp_path}/b: schema-version: ")
        result = bundle_api.diff_bundles(tmp_path / "b", tmp_path / "c")
        assert (result.envelope, result.exit_code) == ("refused", 3)
        assert bundle_api.diff_profiles(tmp_path / "c").exit_code == 3
        changed_meanwhile(tmp_path / "a")
        result = bundle_api.diff_profiles(opened)
        assert (result.exit_code, "entry-type" in str(result.reason)) == (3, True)
        assert repr(result).startswith("<BundleDiff refused: ")

    def test_options_are_checked_first(self) -> None:
        with pytest.raises(UsageError):
            bundle_api.diff_bundles("nowhere", "nowhere", context=-1)
        with pytest.raises(UsageError):
            bundle_api.diff_profiles("nowhere", algorithm="other")
