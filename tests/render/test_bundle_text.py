"""The plain form of a comparison of bundles."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from bundles.samples import MARKDOWN, members, put, setting
from bundles.test_compare import FAST, bundle, failing
from stratadiff.bundle_api import diff_bundles, diff_profiles
from stratadiff.render.bundletext import draw_bundle

TWO = """\
first difference: careful — status succeeded -> failed; changed: promptHash, dataPackage.sha256, \
validPeriod, model

baseline : cmp-1, report daily, 2026-01-05T06:00:00Z, 2 of 3 profiles succeeded
candidate: cmp-2, report daily, 2026-01-05T06:00:01Z, 1 of 3 profiles succeeded

settings: 5 changed
  promptHash: 0123456789ab -> ffffffffffff
  dataPackage.sha256: 4aa3557ff6ab -> 612ff1fb73c3
  validPeriod: 2026-01-05T00:00:00+01:00 to 2026-01-06T00:00:00+01:00 -> \
2026-01-05T00:00:00+01:00 to 2026-01-07T00:00:00+01:00
  model of careful: large-2 -> large-3
  backend of Fast one: (none) -> remote

== careful (changed)
status: succeeded -> failed
error: c: m

== slow (changed)
- timeout: no answer after 30 s
+ http-error: 500

== Fast one (changed)
  # Wind
  ∅
- Windy.
+ Stormy.
~ [-Windy-]{+Stormy+}.

== data-package.yml (changed)
- wind: 3 Bft
- Größe: 2 m
+ wind: 4 Bft

diff: diverged
""".replace("∅", "")

ONE = """\
the other profile differs from careful; first: Fast one

bundle: cmp-1, report daily, 2026-01-05T06:00:00Z, 2 of 3 profiles succeeded

== Fast one (changed)
model: large-2 -> small-1
backend: local -> (none)
  # Wind
  ∅
- A light breeze.
+ Windy.
~ [-A light breeze-]{+Windy+}.

== slow (failed)
error: timeout: no answer after 30 s

diff: diverged
""".replace("∅", "")


def test_two_bundles(tmp_path: Path) -> None:
    bundle(tmp_path / "a")
    manifest = members()
    package = b"wind: 4 Bft\n"
    for change in (
        setting("comparisonId", "cmp-2"),
        setting("startedAt", "2026-01-05T06:00:01Z"),
        setting("promptHash", "f" * 64),
        setting("validPeriod.end", "2026-01-07T00:00:00+01:00"),
        setting("results.0.modelName", "large-3"),
        setting("results.2.backendId", "remote"),
        failing(1, category="http-error", message="500"),
        failing(0),
        setting("dataPackage.sha256", hashlib.sha256(package).hexdigest()),
    ):
        change(manifest)
    put(tmp_path / "b", manifest, files={FAST: b"# Wind\n\nStormy.\n"}, data_package=package)
    assert diff_bundles(tmp_path / "a", tmp_path / "b").text() == TWO


def test_profiles_of_one(tmp_path: Path) -> None:
    assert diff_profiles(bundle(tmp_path / "b")).text() == ONE


def test_the_same(tmp_path: Path) -> None:
    one = bundle(tmp_path / "b", files={FAST: MARKDOWN["01-careful.md"]})
    assert (
        diff_bundles(one, one).text()
        == """\
no difference: every profile is the same

baseline : cmp-1, report daily, 2026-01-05T06:00:00Z, 2 of 3 profiles succeeded
candidate: cmp-1, report daily, 2026-01-05T06:00:00Z, 2 of 3 profiles succeeded

settings: none changed

same: careful, slow, Fast one

diff: identical
"""
    )
    assert "\nsame: Fast one\n" in diff_profiles(one).text()


def test_what_is_not_shown(tmp_path: Path) -> None:
    put(tmp_path / "b", {**members(), "total": 9, "reportId": "a\nb"})
    assert diff_profiles(tmp_path / "b").text() == (
        f"diff: refused — {tmp_path}/b: counts: total is 9, and must be the number of results, 3\n"
    )


def test_one_side_only(tmp_path: Path) -> None:
    manifest = members()
    setting("results.1.profileId", "other")(manifest)
    put(tmp_path / "b", manifest)
    text = diff_bundles(bundle(tmp_path / "a"), tmp_path / "b").text()
    assert "\n== slow (only in the baseline)\n" in text
    assert "\n== other (only in the candidate)\n" in text


def test_one_bundle(tmp_path: Path) -> None:
    assert (
        draw_bundle(bundle(tmp_path / "b").to_dict())
        == """\
comparison: cmp-1
report    : daily
period    : 2026-01-05T00:00:00+01:00 to 2026-01-06T00:00:00+01:00
time zone : Europe/Berlin
prompt    : daily-report, version 1.10, 0123456789ab
started   : 2026-01-05T06:00:00Z
finished  : 2026-01-05T06:01:30.25Z
data      : 25 bytes, 4aa3557ff6ab
profiles  : 3: 2 succeeded, 1 failed

1  careful   succeeded  large-2 (local)  01-careful.md
2  slow      failed     large-2          timeout: no answer after 30 s
3  Fast one  succeeded  small-1          03-Fast-one.md
"""
    )


def test_u08_nothing_a_bundle_recorded_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    hostile = "\x1b]0;T\x07\r\x9b2J\n\u202e"
    changes = [
        setting(f"{place}", hostile + place)
        for place in ("comparisonId", "timezone", "promptId", "promptVersion")
    ]
    changes += [setting(f"results.{i}.modelName", f"{hostile}{i}") for i in range(3)]
    changes += [setting("results.0.backendId", hostile)]
    changes += [setting("results.1.error", {"category": hostile, "message": hostile})]
    changes += [setting("results.1.profileId", hostile)]
    a = bundle(tmp_path / "a", *changes, files={FAST: hostile.encode()})
    b = bundle(tmp_path / "b", files={"01-careful.md": hostile.encode()})
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", draw_bundle(a.to_dict()))
    for result in (diff_bundles(a, b), diff_bundles(b, a), diff_profiles(a), diff_profiles(b)):
        for colour in (False, True):
            text = re.sub(r"\x1b\[(?:31|32|0)m", "", result.text(colour=colour))
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
            assert "\\u001b]0;T\\u0007" in text


def test_colour(tmp_path: Path) -> None:
    text = diff_profiles(bundle(tmp_path / "b")).text(colour=True)
    assert "\x1b[31m- A light breeze.\x1b[0m\n\x1b[32m+ Windy.\x1b[0m\n" in text
