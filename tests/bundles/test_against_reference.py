"""Bundles mutated in fields, types, files and bytes: the first broken rule is the reference's."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bundles.samples import DATA_PACKAGE, MARKDOWN, members
from bundles.test_writer import bundles as legal_bundles
from reference.bundles import first_broken_rule
from stratadiff.bundles.model import BundleError
from stratadiff.bundles.reader import is_bundle, open_bundle, verify_bundle
from stratadiff.bundles.rules import RULES
from stratadiff.bundles.writer import bundle_files

Json = Any

SEEN: Counter[str | None] = Counter()

VALUES: list[Json] = [
    None,
    True,
    False,
    0,
    1,
    2,
    3,
    -1,
    2.0,
    1e3,
    2**63 - 1,
    2**63,
    -(2**63),
    "",
    " ",
    "\u3000",
    "\x1c",
    "\u200b",
    "x",
    "2",
    "null",
    [],
    {},
    [[]],
    {"": 1},
    "succeeded",
    "failed",
    "passed",
    "skipped",
    "Passed",
    "2026-01-05T06:00:00Z",
    "2026-01-05T06:00:00+00:00",
    "2026-01-05T06:00:00.0Z",
    "2026-01-05T05:00:00+00:00",
    "2026-01-05T06:00:00.123456789Z",
    "2026-01-05T06:00:00.1234567890Z",
    "2026-01-05T06:01:30.250000001Z",
    "2026-01-05T06:00:00-00:00",
    "2026-01-05T06:00:00+01:00",
    "2026-01-05t06:00:00Z",
    "2026-02-29T06:00:00Z",
    "2024-02-29T06:00:00Z",
    "2026-01-05T06:00:60Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00.000+00:00",
    "0001-01-01T00:00:00.000000001Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2026-01-05T24:00:00Z",
    "2026-01-05",
    "2026-01-05T00:00:00+24:00",
    "0" * 64,
    "0" * 63,
    "0" * 63 + "g",
    "F" * 64,
    "0" * 64 + "\n",
    "sha256:" + "0" * 64,
    "data-package.yml",
    "./data-package.yml",
    "data-package.yaml",
    "comparison.json",
    "01-careful.md",
    "1-careful.md",
    "001-careful.md",
    "01-careful.MD",
    "01-Careful.md",
    "02-slow.md",
    "03-Fast-one.md",
    "03-Fast one.md",
    "a/01-careful.md",
    "a\\01-careful.md",
    "..",
    ".",
    "01-careful.md\0",
    "careful",
    "Careful",
    "Fast one",
    "slow",
    "e\u0301",
    "é",
    "x" * 1024,
    "x" * 1025,
    "é" * 512,
    "é" * 513,
    {"category": "c", "message": "m"},
    {"category": "c"},
    {"category": "c", "message": "m", "x": 1},
    {"category": " ", "message": "m"},
    {"category": "c", "message": "\u2003"},
    {"category": "c", "message": None},
    {"start": "2026-01-05T00:00:00Z", "end": "2026-01-05T00:00:00Z"},
    "weatherreporter.comparison.v2",
]

INSERTS = [
    b"\xef\xbb\xbf",
    b"\xff",
    b"\\ud800",
    b"\\udc00",
    b"\\ud83d\\ude00",
    b"\\\\ud800",
    b"NaN",
    b"-Infinity",
    b",",
    b"}",
    b"{",
    b"[",
    b'"',
    b"\\",
    b"\0",
    b"\n",
    b" ",
    b"0",
    b"-0",
    b"e1",
    b".0",
    b'"total": 3,',
    b'"tot\\u0061l": 3,',
    b'"position": 1,',
    b"\xed\xa0\x80",
    b"\xc3\xa9",
    b"null",
    b"[" * 130,
    b'{"a":' * 130,
]

NAMES = [
    "02-slow.md",
    "x.md",
    ".md",
    "x",
    "x.MD",
    "Comparison.json",
    "README.md",
    "01-careful.md",
    "é.md",
    "03-fast-one.md",
    "data-package.yml",
    "comparison.json",
    "02-Fast-one.md",
]


def places(value: Json, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value in a value."""
    found = [place] if place else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*place, key))
    return found


def parent_of(value: Json, place: tuple[Any, ...]) -> Json:
    for key in place[:-1]:
        value = value[key]
    return value


Mutation = Callable[[Json, Path], None]


@st.composite
def field_mutations(draw: st.DrawFn) -> Callable[[Json], None]:
    number, source = draw(st.integers(0, 999)), draw(st.integers(0, 999))
    what = draw(st.sampled_from(["set", "set", "set", "copy", "remove", "rename", "add", "swap"]))
    given_value = draw(st.sampled_from(VALUES))

    def mutate(manifest: Json) -> None:
        ways = places(manifest)
        if not ways:
            return
        place = ways[number % len(ways)]
        holder, key = parent_of(manifest, place), place[-1]
        other = ways[source % len(ways)]
        if what == "set":
            holder[key] = copy.deepcopy(given_value)
        elif what == "copy":
            holder[key] = copy.deepcopy(parent_of(manifest, other)[other[-1]])
        elif what == "remove":
            del holder[key]
        elif what == "rename" and isinstance(holder, dict):
            holder[key.lower() if source % 2 else key + " "] = holder.pop(key)
        elif what == "add" and isinstance(holder, dict):
            holder[draw_name(source)] = copy.deepcopy(given_value)
        elif what == "swap" and isinstance(holder, list):
            holder.reverse()

    return mutate


def draw_name(number: int) -> str:
    names = ["backendId", "error", "reportPath", "validationStatus", "status", "note", "", "total", "message"]
    return names[number % len(names)]


@st.composite
def byte_mutations(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    at = draw(st.integers(0, 10_000))
    insert = draw(st.sampled_from(INSERTS) | st.binary(min_size=1, max_size=3))
    cut = draw(st.sampled_from([0, 0, 1, 2, 30]))
    where = draw(st.sampled_from(["inside", "inside", "start", "end"]))

    def mutate(data: bytes) -> bytes:
        if where == "start":
            return insert + data[cut:]
        if where == "end":
            return data[: len(data) - cut] + insert
        place = at % (len(data) + 1)
        return data[:place] + insert + data[place + cut :]

    return mutate


@st.composite
def file_mutations(draw: st.DrawFn) -> Callable[[Path], None]:
    what = draw(
        st.sampled_from(
            ["add", "remove", "rename", "link", "directory", "fifo", "hard link", "write", "package"]
        )
    )
    name, number = draw(st.sampled_from(NAMES)), draw(st.integers(0, 99))

    def mutate(folder: Path) -> None:
        present = sorted(folder.iterdir())
        victim = present[number % len(present)] if present else folder / name
        target = folder / name
        if what == "add" and not os.path.lexists(target):
            target.write_bytes(b"")
        elif what == "remove" and present:
            remove(victim)
        elif what == "rename" and present and not os.path.lexists(target):
            victim.rename(target)
        elif what in ("link", "directory", "fifo", "hard link"):
            moved = folder.parent / f"moved{len(os.listdir(folder.parent))}"
            if os.path.lexists(victim):
                victim.rename(moved)
            if what == "link":
                victim.symlink_to(f"../{moved.name}")
            elif what == "directory":
                victim.mkdir()
            elif what == "fifo":
                os.mkfifo(victim)
            elif moved.is_file() and not moved.is_symlink():
                victim.hardlink_to(moved)
        elif what == "write" and victim.suffix == ".md" and victim.is_file():
            victim.write_bytes(os.urandom(5))
        elif what == "package" and (folder / "data-package.yml").is_file():
            (folder / "data-package.yml").write_bytes(b"other")

    return mutate


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink()


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


def agree(folder: Path) -> None:
    """Both say the same of a folder."""
    expected = first_broken_rule(str(folder))
    found, message = None, ""
    try:
        open_bundle(folder)
    except BundleError as error:
        found, message = error.rule, error.detail
    assert found == expected, message
    assert is_bundle(folder) == (expected is None)
    findings = verify_bundle(folder).findings
    assert [finding.rule for finding in findings[:1]] == ([] if expected is None else [expected])
    assert all(finding.rule in RULES and finding.message for finding in findings)
    positions = [
        RULES.index(finding.rule) for finding in findings if finding.rule not in ("entry-type", "entry-set")
    ]
    assert positions == sorted(positions)
    SEEN[expected] += 1


def put(root: Path, manifest: bytes, files: dict[str, bytes]) -> Path:
    shutil.rmtree(root / "case", ignore_errors=True)
    folder = root / "case" / "b"
    folder.mkdir(parents=True)
    for name, data in {"comparison.json": manifest, **files}.items():
        (folder / name).write_bytes(data)
    return folder


FILES = {"data-package.yml": DATA_PACKAGE, **MARKDOWN}


def removed(*place: Any) -> Callable[[Json], None]:
    def mutate(manifest: Json) -> None:
        del parent_of(manifest, place)[place[-1]]

    return mutate


@given(
    st.lists(field_mutations(), min_size=1, max_size=2),
    st.lists(byte_mutations(), max_size=1) | st.just([]),
    st.lists(file_mutations(), max_size=1) | st.just([]),
)
@example([removed("results", 0, "reportPath")], [], [])
def test_a_mutated_bundle_breaks_the_reference_s_rule(
    root: Path,
    fields: list[Callable[[Json], None]],
    octets: list[Callable[[bytes], bytes]],
    files: list[Callable[[Path], None]],
) -> None:
    manifest = members()
    for mutate in fields:
        mutate(manifest)
    data = json.dumps(manifest, ensure_ascii=False).encode("utf-8", "surrogatepass")
    for mutate_bytes in octets:
        data = mutate_bytes(data)
    folder = put(root, data, FILES)
    for mutate_files in files:
        mutate_files(folder)
    agree(folder)


@given(st.lists(file_mutations(), min_size=1, max_size=3))
def test_mutated_files_break_the_reference_s_rule(root: Path, files: list[Callable[[Path], None]]) -> None:
    folder = put(root, json.dumps(members()).encode(), FILES)
    for mutate in files:
        mutate(folder)
    agree(folder)


@given(st.lists(byte_mutations(), min_size=1, max_size=2))
def test_mutated_bytes_break_the_reference_s_rule(root: Path, octets: list[Callable[[bytes], bytes]]) -> None:
    data = json.dumps(members(), indent=2).encode()
    for mutate in octets:
        data = mutate(data)
    agree(put(root, data, FILES))


@given(legal_bundles(), st.lists(field_mutations(), max_size=1))
def test_other_bundles_and_one_mutation(
    root: Path,
    bundle: tuple[dict[str, Any], bytes, list[dict[str, Any]]],
    fields: list[Callable[[Json], None]],
) -> None:
    given_fields, package, results = bundle
    files = dict(bundle_files("", given_fields, package, results))
    manifest = json.loads(files.pop("comparison.json"))
    for mutate in fields:
        mutate(manifest)
    agree(put(root, json.dumps(manifest).encode(), files))


def every_single_mutation() -> Iterator[Json]:
    ways = places(members())
    for place in ways:
        for value in VALUES:
            manifest = members()
            parent_of(manifest, place)[place[-1]] = copy.deepcopy(value)
            yield manifest
        for other in ways:
            manifest = members()
            value = copy.deepcopy(parent_of(manifest, other)[other[-1]])
            parent_of(manifest, place)[place[-1]] = value
            yield manifest
        manifest = members()
        del parent_of(manifest, place)[place[-1]]
        yield manifest
        for name in ("note", *sorted({str(key) for way in ways for key in way})):
            manifest = members()
            holder = parent_of(manifest, place)
            if isinstance(holder, dict) and name not in holder:
                holder[name] = "x"
                yield manifest
                holder[name] = None
                yield manifest


@pytest.mark.slow
def test_every_member_set_to_every_value(root: Path) -> None:
    folder = put(root, b"", FILES)
    count = 0
    for manifest in every_single_mutation():
        (folder / "comparison.json").write_bytes(json.dumps(manifest, ensure_ascii=False).encode())
        expected = first_broken_rule(str(folder))
        found = verify_bundle(folder, all_errors=False).findings
        assert [finding.rule for finding in found] == ([] if expected is None else [expected]), manifest
        SEEN[expected] += 1
        count += 1
    assert count > 5000


@pytest.mark.skipif(sys.platform == "win32", reason="no such paths")
def test_paths_that_are_no_directories(root: Path) -> None:
    folder = put(root, json.dumps(members()).encode(), FILES)
    (root / "case/link").symlink_to("b")
    (root / "case/dangling").symlink_to("nowhere")
    for path in ("", "/", ".", f"{folder}", f"{folder}/", f"{folder}/.", f"{folder}/comparison.json"):
        agree(Path(path) if not path.endswith(("/", ".")) else path)  # type: ignore[arg-type]
    for name in ("link", "link/", "dangling", "nowhere", "nowhere/x", "b\0", "link/.", "b/../b"):
        agree(f"{root}/case/{name}")  # type: ignore[arg-type]


def test_every_rule_was_reached() -> None:
    if sum(SEEN.values()) > 5000:  # the tests above have run in this process
        assert set(SEEN) == {None, *RULES}
