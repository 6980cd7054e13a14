"""Files, their names and types, and bytes: the rules around the manifest; nothing is read by name twice."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bundles.samples import DATA_PACKAGE, MARKDOWN, MEMBERS, changed, content, members, put, setting
from stratadiff.bundles import reader
from stratadiff.bundles.model import BundleError
from stratadiff.bundles.reader import has_manifest, is_bundle, open_bundle, verify_bundle
from stratadiff.core import folders
from stratadiff.errors import InputError

LIMIT = 16 * 1024 * 1024
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def descriptors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a test on a system that opens from descriptors, and on one that does not."""
    monkeypatch.setattr(folders, "FROM_DESCRIPTORS", request.param)
    before = _open_descriptors()
    yield
    assert _open_descriptors() == before


def _open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0


def broken(folder: Path | str) -> tuple[str, str]:
    """Return the first rule a folder breaks, and what is said of it."""
    with pytest.raises(BundleError) as caught:
        open_bundle(folder)
    assert not is_bundle(folder)
    return caught.value.rule, caught.value.detail


def test_what_is_in_a_bundle(tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    bundle = open_bundle(str(folder))
    manifest = bundle.manifest
    assert manifest.schema_version == "weatherreporter.comparison.v1"
    assert (manifest.comparison_id, manifest.report_id) == ("cmp-1", "daily")
    assert (manifest.started_at, manifest.finished_at) == ("2026-01-05T06:00:00Z", "2026-01-05T06:01:30.25Z")
    assert manifest.valid_period.to_dict() == MEMBERS["validPeriod"]
    assert (manifest.prompt_version, manifest.prompt_hash) == ("1.10", "0123456789abcdef" * 4)
    assert manifest.data_package_digest == hashlib.sha256(DATA_PACKAGE).hexdigest()
    assert (manifest.total, manifest.succeeded, manifest.failed) == (3, 2, 1)
    first, second, third = bundle.results
    assert (first.position, first.backend_id, first.error) == (1, "local", None)
    assert second.error is not None
    assert second.error.to_dict() == {"category": "timeout", "message": "no answer after 30 s"}
    assert (second.validation_status, second.report_path, second.backend_id) == ("skipped", None, None)
    assert [result.succeeded for result in bundle.results] == [True, False, True]
    assert bundle.markdown("careful") == bundle.markdown(first) == MARKDOWN["01-careful.md"]
    assert bundle.markdown(third) == MARKDOWN["03-Fast-one.md"]
    assert bundle.data_package() == DATA_PACKAGE
    assert bundle.data_package_bytes == len(DATA_PACKAGE)
    assert bundle.digest_of("data-package.yml") == manifest.data_package_digest
    assert repr(bundle) == "<Bundle 'cmp-1' of 'daily': 2 of 3 profiles succeeded>"
    with pytest.raises(
        InputError, match="no profile has the id 'fast'; there are 'careful', 'slow', 'Fast one'"
    ):
        bundle.markdown("fast")
    with pytest.raises(InputError, match="the profile 'slow' failed; it has no Markdown"):
        bundle.markdown("slow")
    with pytest.raises(AttributeError):
        bundle.path = "x"  # type: ignore[misc]


def test_bundles_and_errors_cross_processes(tmp_path: Path) -> None:
    bundle = open_bundle(put(tmp_path / "b"))
    again = pickle.loads(pickle.dumps(bundle))
    assert (again.manifest, again.data_package()) == (bundle.manifest, DATA_PACKAGE)
    with pytest.raises(BundleError) as caught:
        open_bundle(tmp_path)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.rule, copy.where) == (str(caught.value), caught.value.rule, str(tmp_path))


@pytest.mark.usefixtures("descriptors")
class TestDirectory:
    def test_paths_of_all_kinds(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put(tmp_path / "b")
        (tmp_path / "above").symlink_to(tmp_path)
        monkeypatch.chdir(tmp_path)
        for path in (tmp_path / "b", b"b", "b", "b/", "b///", "./b", "above/b", "above/b/"):
            assert is_bundle(path)
        monkeypatch.chdir(tmp_path / "b")
        assert is_bundle(".")
        assert is_bundle("./")

    def test_nothing_there(self, tmp_path: Path) -> None:
        for path in ("nowhere", "nowhere/b", "nowhere/"):
            assert broken(f"{tmp_path}/{path}") == ("directory", "missing; give the bundle's directory")
        assert broken("") == ("directory", "the path is empty; give the bundle's directory")

    def test_a_path_no_system_call_takes(self, tmp_path: Path) -> None:
        for path in (f"{tmp_path}/a\0b", f"{tmp_path}/\ud800", f"{tmp_path}/{'x' * 5000}"):
            rule, message = broken(path)
            assert rule == "directory"
            assert message.startswith("cannot be opened: ")

    def test_u21_the_bundle_itself_a_link(self, tmp_path: Path) -> None:
        put(tmp_path / "b")
        (tmp_path / "link").symlink_to("b")
        (tmp_path / "dangling").symlink_to("nowhere")
        expected = ("directory", "is a symbolic link, not a directory; give the directory it leads to")
        for path in ("link", "link/", "link//", "dangling"):
            assert broken(f"{tmp_path}/{path}") == expected

    def test_other_things(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        os.mkfifo(tmp_path / "fifo")
        assert broken(tmp_path / "file") == (
            "directory",
            "is a file, not a directory; give the bundle's directory",
        )
        assert broken(tmp_path / "fifo")[1].startswith("is a fifo, not a directory")

    @pytest.mark.skipif(ROOT, reason="root may read everything")
    def test_a_directory_that_cannot_be_listed(self, tmp_path: Path) -> None:
        folder = put(tmp_path / "b")
        folder.chmod(0o300)
        try:
            assert broken(folder)[0] == "directory"
        finally:
            folder.chmod(0o700)


def test_a_directory_that_fails_to_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "b")

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "scandir", fails)
    assert broken(tmp_path / "b") == (
        "directory",
        "cannot be listed: Input/output error; make it readable",
    )


def _link(path: Path) -> None:
    path.symlink_to("01-careful.md")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(path))
        except OSError:
            pytest.skip("the temporary folder's path is too long for a socket")


KINDS: dict[str, Callable[[Path], object]] = {
    "a symbolic link": _link,
    "a directory": Path.mkdir,
    "a fifo": os.mkfifo,
    "a socket": _socket,
}


@pytest.mark.usefixtures("descriptors")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["comparison.json", "data-package.yml", "01-careful.md", "zz", "a.md"])
def test_entries_that_are_no_regular_files(kind: str, name: str, tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    if (folder / name).exists():
        (folder / name).unlink()
    KINDS[kind](folder / name)
    assert broken(folder) == (
        "entry-type",
        f"{name} is {kind}, not a regular file; a bundle holds nothing else",
    )


def test_hard_links_are_regular_files(tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    (tmp_path / "elsewhere").hardlink_to(folder / "01-careful.md")
    assert is_bundle(folder)


def test_entries_by_the_bytes_of_their_names(tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    for name in ("é", "z", "a.md", "Z"):
        (folder / name).mkdir()
    found = [finding.message.split()[0] for finding in verify_bundle(folder).findings]
    assert found[:4] == ["Z", "a.md", "z", "é"]


class TestEntrySet:
    @pytest.mark.parametrize("name", ["comparison.json", "data-package.yml"])
    def test_missing(self, name: str, tmp_path: Path) -> None:
        folder = put(tmp_path / "b")
        (folder / name).unlink()
        assert broken(folder) == (
            "entry-set",
            f"{name} is missing; this is no comparison bundle, or not all of one",
        )

    @pytest.mark.parametrize(
        "name",
        ["notes.txt", ".DS_Store", "01-careful.MD", "Comparison.json", "comparison.json~", "md", "é"],
    )
    def test_a_name_of_its_own(self, name: str, tmp_path: Path) -> None:
        folder = put(tmp_path / "b")
        (folder / name).write_bytes(b"")
        assert broken(folder) == ("entry-set", f"{name} does not belong in a bundle; move it elsewhere")

    def test_letter_case_counts(self, tmp_path: Path) -> None:
        folder = put(tmp_path / "b")
        (folder / "comparison.json").rename(folder / "COMPARISON.JSON")
        found = [finding.message for finding in verify_bundle(folder).findings]
        assert [message.split()[0] for message in found] == ["comparison.json", "COMPARISON.JSON"]

    def test_before_the_manifest_is_read(self, tmp_path: Path) -> None:
        folder = put(tmp_path / "b", b"{")
        (folder / "x").write_bytes(b"")
        assert broken(folder)[0] == "entry-set"

    def test_markdown_more_or_missing(self, tmp_path: Path) -> None:
        folder = put(tmp_path / "b", files={**MARKDOWN, "02-slow.md": b"", ".md": b""})
        (folder / "01-careful.md").unlink()
        found = verify_bundle(folder).findings
        assert {finding.rule for finding in found} == {"entry-set"}
        assert [finding.message for finding in found] == [
            "'01-careful.md', named by results[0], is missing; put it back",
            ".md is named by no result; move it elsewhere",
            "02-slow.md is named by no result; move it elsewhere",
        ]
        assert broken(folder)[0] == "entry-set"

    def test_letter_case_of_markdown_counts(self, tmp_path: Path) -> None:
        files = {"01-Careful.md": b"", "03-Fast-one.md": b""}
        assert broken(put(tmp_path / "b", files=files))[0] == "entry-set"

    @pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are Unicode there")
    def test_names_that_are_not_utf8(self, tmp_path: Path) -> None:
        folder = put(tmp_path / "b")
        (folder / "\udcff.md").write_bytes(b"")
        assert broken(folder) == ("entry-set", "\udcff.md is named by no result; move it elsewhere")


def text(**changes: object) -> bytes:
    return json.dumps({**members(), **changes}).encode()


MANIFESTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "comparison.json is empty; write the manifest"),
    "blank": (b" \n", "comparison.json is empty; write the manifest"),
    "array": (b"[]", "comparison.json holds JSON that is not an object; a manifest is one"),
    "text": (b'"x"', "holds JSON that is not an object"),
    "torn": (
        text()[:-1],
        f"comparison.json is not JSON: something is missing at its end, byte {len(text()) - 1}",
    ),
    "two values": (text() + b"{}", f"is not one JSON value: byte {len(text())} starts with '{{}}'"),
    "after it": (text() + b"\0", f"is not one JSON value: byte {len(text())}"),
    "form feed": (text() + b"\x0c", f"is not one JSON value: byte {len(text())}"),
    "comment": (b"// x\n" + text(), "is not one JSON value: byte 0 starts with '// x'"),
    "trailing comma": (b'{"a": 1,}', "is not one JSON value: byte 8 starts with '}'"),
    "NaN": (b'{"total": NaN}', "is not one JSON value: byte 10 starts with 'NaN}'"),
    "Infinity": (b'{"total": -Infinity}', "is not one JSON value: byte 11 starts with 'Infinity}'"),
    "not UTF-8": (b'{"a": "\xff"}', "comparison.json is not UTF-8: byte 7 is 0xff; save it as UTF-8"),
    "UTF-16": (text().decode().encode("utf-16"), "comparison.json is not UTF-8: byte 0 is 0xff"),
    "surrogate in UTF-8": (b'{"a": "\xed\xa0\x80"}', "is not UTF-8: byte 7"),
    "control character": (b'{"a": "\n"}', "is not one JSON value: byte 7"),
    "high half": (
        b'{"a": "x\\ud800"}',
        "escapes half a surrogate pair, \\ud800, at byte 8; write the character itself",
    ),
    "low half": (b'{"a": ["\\uDC00"]}', "escapes half a surrogate pair, \\uDC00, at byte 8"),
    "halves apart": (b'{"a": "\\ud800 \\udc00"}', "escapes half a surrogate pair, \\ud800, at byte 7"),
    "halves reversed": (b'{"a": "\\udc00\\ud800"}', "escapes half a surrogate pair, \\udc00, at byte 7"),
    "two high halves": (b'{"a": "\\ud83d\\ud83d\\ude00"}', "half a surrogate pair, \\ud83d, at byte 7"),
    "halves in two strings": (b'{"a": ["\\ud83d","\\ude00"]}', "half a surrogate pair, \\ud83d, at byte 8"),
    "half in a name": (b'{"\\ud83d": 1}', "half a surrogate pair, \\ud83d, at byte 2"),
    "half after an escape": (b'{"a": "\\n\\ud83d\\n"}', "half a surrogate pair, \\ud83d, at byte 9"),
    "depth": (b'{"a":' * 128 + b"1" + b"}" * 128, "more than 127 containers in each other at byte 635"),
    "far too deep": (b"[" * 1_000_000, "more than 127 containers in each other at byte 127"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_that_are_no_json_object(name: str, tmp_path: Path) -> None:
    data, words = MANIFESTS[name]
    rule, message = broken(put(tmp_path / "b", data))
    assert rule == "manifest-json"
    assert words in message


U12 = {
    "top": (b'"total": 3', b'"total":2,"total": 3', "total", 3),
    "escaped": (b'"total": 3', b'"total":2,"tot\\u0061l": 3', "total", 3),
    "nested": (
        b'"category": "timeout"',
        b'"category":"x","message":"x","category": "timeout"',
        "category",
        2,
    ),
    "in what is no member": (b'"total": 3', b'"total": 3, "x": [{"": 1, "": 2}]', "", 2),
    "a pair and its character": (
        b'"total": 3',
        b'"total": 3, "\xf0\x9f\x98\x80": 1, "\\ud83d\\ude00": 2',
        "😀",
        2,
    ),
}


@pytest.mark.parametrize("name", U12)
def test_u12_a_repeated_member_is_named_with_its_byte(name: str, tmp_path: Path) -> None:
    old, new, member, _ = U12[name]
    data = text()
    assert data.count(old) == 1
    data = data.replace(old, new)
    rule, message = broken(put(tmp_path / "b", data))
    assert rule == "manifest-json"
    byte = int(message.partition("at byte ")[2].partition(";")[0])
    assert message == (
        f"comparison.json has the member {member!r} twice in an object, again at byte {byte}; keep one"
    )
    again = data[byte:].partition(b":")[0]
    assert json.loads(again) == member
    assert byte > data.index(new)


def test_u12_a_name_in_two_objects_is_no_repetition(tmp_path: Path) -> None:
    assert is_bundle(put(tmp_path / "b"))  # every result has the same members


def test_u17_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    folder = put(tmp_path / "b", b"\xef\xbb\xbf" + text())
    assert broken(folder) == (
        "manifest-json",
        "comparison.json starts with a byte-order mark (EF BB BF); save it as UTF-8 without one",
    )


def test_a_member_past_the_depth_is_too_deep_and_one_at_it_is_unknown(tmp_path: Path) -> None:
    deep = text().replace(b'"total"', b'"x": ' + b"[" * 126 + b"]" * 126 + b', "total"')
    assert broken(put(tmp_path / "b", deep)) == (
        "manifest-fields",
        "x is not a member of the format; remove it",
    )
    deeper = deep.replace(b"[[", b"[[[", 1).replace(b"]]", b"]]]", 1)
    assert broken(put(tmp_path / "c", deeper))[0] == "manifest-json"


def test_pairs_of_surrogate_escapes_are_characters(tmp_path: Path) -> None:
    data = text().replace(b'"cmp-1"', b'"\\\\ud800 \\ud83d\\ude00\\uD83D\\uDE00"')
    assert open_bundle(put(tmp_path / "b", data)).manifest.comparison_id == "\\ud800 😀😀"


def test_size_of_a_manifest(tmp_path: Path) -> None:
    data = text()
    folder = put(tmp_path / "b", data + b" " * (LIMIT - len(data)))
    assert is_bundle(folder)
    with (folder / "comparison.json").open("ab") as file:
        file.write(b" ")
    assert broken(folder) == (
        "manifest-json",
        "comparison.json has 16,777,217 bytes, and at most 16,777,216 are read",
    )
    with (folder / "comparison.json").open("ab") as file:
        file.truncate(1 << 40)  # no bytes on the disk; none is read
    assert broken(folder)[1].startswith("comparison.json has 1,099,511,627,776 bytes")


def test_a_manifest_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "b", text() + b" " * LIMIT)
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        values = list(real(descriptor))
        values[stat.ST_SIZE] = min(values[stat.ST_SIZE], 100)
        return os.stat_result(values)

    monkeypatch.setattr(os, "fstat", fstat)
    assert broken(folder)[0] == "manifest-json"


def test_what_is_in_markdown_and_data_package_is_not_judged(tmp_path: Path) -> None:
    manifest = members()
    package = b"\xff\0: [" + bytes(range(256)) * 5000
    manifest["dataPackage"]["sha256"] = hashlib.sha256(package).hexdigest()
    folder = put(
        tmp_path / "b",
        manifest,
        data_package=package,
        files={"01-careful.md": b"", "03-Fast-one.md": b"\xff\0"},
    )
    bundle = open_bundle(folder)
    assert bundle.markdown("Fast one") == b"\xff\0"
    assert bundle.data_package() == package


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 3 * (1 << 18) + 7])
@pytest.mark.parametrize("has_readv", [True, False])
def test_the_data_package_is_hashed_in_pieces(
    size: int, has_readv: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = os.urandom(size)
    manifest = members()
    manifest["dataPackage"]["sha256"] = hashlib.sha256(package).hexdigest()
    folder = put(tmp_path / "b", manifest, data_package=package)
    sizes: list[int] = []
    real_read = os.read

    def read(descriptor: int, count: int) -> bytes:
        sizes.append(count)
        return real_read(descriptor, count)

    monkeypatch.setattr(os, "read", read)
    if has_readv:
        real_readv = os.readv

        def readv(descriptor: int, buffers: tuple[memoryview, ...]) -> int:
            sizes.append(sum(len(buffer) for buffer in buffers))
            return real_readv(descriptor, buffers)

        monkeypatch.setattr(os, "readv", readv)
    else:
        monkeypatch.delattr(os, "readv")
    assert is_bundle(folder)
    assert max(sizes) <= 1 << 18
    (folder / "data-package.yml").write_bytes(package + b"x")
    assert broken(folder)[0] == "data-package-digest"


def test_verifying_reads_no_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "b")
    with (folder / "01-careful.md").open("ab") as file:
        file.truncate(1 << 40)
    assert is_bundle(folder)


# Swapped between two steps (U21).


def swapped_after_listing(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, put_there: Callable[[Path], object]
) -> None:
    """Put something else in a file's place just after the folder was listed."""
    real = folders.Folder.entries

    def entries(self: folders.Folder) -> list[tuple[str, str]]:
        found = real(self)
        (folder / name).unlink()
        put_there(folder / name)
        monkeypatch.undo()
        return found

    monkeypatch.setattr(folders.Folder, "entries", entries)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["comparison.json", "data-package.yml", "01-careful.md", "03-Fast-one.md"])
def test_u21_a_file_swapped_between_listing_and_opening(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    (tmp_path / "secret").write_bytes(content(folder)[name])  # all that is missing is its being a link
    swap = (lambda path: path.symlink_to("../secret")) if kind == "a symbolic link" else KINDS[kind]
    swapped_after_listing(monkeypatch, folder, name, swap)
    with pytest.raises(BundleError) as caught:
        open_bundle(folder)
    assert caught.value.rule == "entry-type"
    if kind != "a socket":  # which cannot even be opened
        assert caught.value.detail == (
            f"{name} is {kind}, not a file; a bundle holds regular files that can be read"
        )


@pytest.mark.parametrize("name", ["comparison.json", "data-package.yml", "01-careful.md"])
def test_u21_a_file_that_goes_between_listing_and_opening(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    swapped_after_listing(monkeypatch, folder, name, lambda path: None)
    with pytest.raises(BundleError, match=f"entry-type: {name} has gone since the directory was listed"):
        open_bundle(folder)


@pytest.mark.parametrize("kind", ["a symbolic link", "a directory", "a fifo"])
def test_u21_a_file_swapped_where_paths_are_joined(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    real = folders.Folder.status
    swap = KINDS[kind]

    def status(self: folders.Folder, name: str) -> os.stat_result:
        found = real(self, name)
        if name == "03-Fast-one.md":
            (folder / name).unlink()
            swap(folder / name)
        return found

    monkeypatch.setattr(folders, "FROM_DESCRIPTORS", False)
    monkeypatch.setattr(folders.Folder, "status", status)
    with pytest.raises(BundleError, match=r"entry-type: 03-Fast-one\.md"):
        open_bundle(folder)


def test_u21_the_folder_swapped_for_a_link_after_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    other = put(tmp_path / "other", {**members(), "comparisonId": "other"})
    real = folders.Folder.entries

    def entries(self: folders.Folder) -> list[tuple[str, str]]:
        found = real(self)
        folder.rename(tmp_path / "moved")
        folder.symlink_to(other)
        monkeypatch.undo()
        return found

    monkeypatch.setattr(folders.Folder, "entries", entries)
    assert open_bundle(folder).manifest.comparison_id == "cmp-1"  # what was opened is what is read


def test_u21_a_fifo_never_blocks(tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    (folder / "data-package.yml").unlink()
    os.mkfifo(folder / "data-package.yml")
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(is_bundle(folder)), daemon=True)
    thread.start()
    thread.join(10)
    assert answers == [False]


def test_u21_every_file_is_opened_once_and_nothing_is_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    opened: list[str] = []
    real = os.open

    def counted(path: str, flags: int, *args: object, **options: int) -> int:
        opened.append(os.path.basename(path))
        assert flags & os.O_NOFOLLOW
        assert (options.get("dir_fd") is None) == (path == str(folder))
        return real(path, flags, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", counted)
    open_bundle(folder)
    assert opened == ["b", "comparison.json", "01-careful.md", "03-Fast-one.md", "data-package.yml"]


@pytest.mark.parametrize("name", ["01-careful.md", "data-package.yml"])
@pytest.mark.parametrize("how", ["link", "other file", "written to", "gone", "fifo"])
def test_u21_a_file_that_changes_after_it_was_validated_is_not_read(
    name: str, how: str, tmp_path: Path
) -> None:
    folder = put(tmp_path / "b")
    bundle = open_bundle(folder)
    path = folder / name
    data = path.read_bytes()
    if how == "written to":
        path.write_bytes(data[::-1])
        os.utime(path, ns=(0, 0))
    else:
        path.rename(tmp_path / "moved")
        if how == "link":
            path.symlink_to("../moved")
        elif how == "other file":
            path.write_bytes(data)
        elif how == "fifo":
            os.mkfifo(path)
    with pytest.raises(BundleError, match=f"entry-type: {name}"):
        bundle.data_package() if name == "data-package.yml" else bundle.markdown("careful")


def test_u21_a_bundle_that_was_replaced_is_not_read_under_the_old_manifest(tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    bundle = open_bundle(folder)
    folder.rename(tmp_path / "old")
    put(tmp_path / "b")
    with pytest.raises(BundleError, match="directory: the directory has changed since the bundle was opened"):
        bundle.markdown("careful")


def test_a_data_package_whose_state_looks_the_same_is_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    bundle = open_bundle(folder)
    monkeypatch.setattr(folders, "stamp_of", lambda status: bundle.stamps["data-package.yml"])
    (folder / "data-package.yml").write_bytes(DATA_PACKAGE[::-1])
    with pytest.raises(BundleError, match=r"data-package-digest: data-package\.yml has changed"):
        bundle.data_package()


def test_a_folder_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    real = folders.Folder.entries

    def entries(self: folders.Folder) -> list[tuple[str, str]]:
        found = real(self)
        monkeypatch.undo()
        folder.rename(tmp_path / "old")
        (tmp_path / "old/comparison.json").unlink()
        put(tmp_path / "b", {**members(), "comparisonId": "new"})
        return found

    monkeypatch.setattr(folders.Folder, "entries", entries)
    assert open_bundle(folder).manifest.comparison_id == "new"


def test_a_folder_replaced_again_and_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b").mkdir()
    monkeypatch.setattr(reader, "_was_replaced", lambda path, folder: True)
    assert not is_bundle(tmp_path / "b")


@pytest.mark.skipif(ROOT, reason="root may read everything")
@pytest.mark.parametrize("name", ["comparison.json", "01-careful.md", "data-package.yml"])
def test_files_that_may_not_be_read(name: str, tmp_path: Path) -> None:
    folder = put(tmp_path / "b")
    (folder / name).chmod(0)
    assert broken(folder) == (
        "entry-type",
        f"{name} cannot be read: Permission denied; a bundle holds regular files that can be read",
    )


@pytest.mark.parametrize("name", ["comparison.json", "01-careful.md", "data-package.yml"])
def test_files_that_fail_to_be_opened_or_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    real_open = os.open
    ours: set[int] = set()

    def fails(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    def opens(path: str, *args: object, **options: int) -> int:
        if path == name and name == "01-careful.md":
            fails()
        descriptor = real_open(path, *args, **options)  # type: ignore[arg-type]
        if path == name:
            ours.add(descriptor)
        return descriptor

    real_read, real_readv = os.read, os.readv
    monkeypatch.setattr(os, "open", opens)
    monkeypatch.setattr(os, "read", lambda fd, size: fails() if fd in ours else real_read(fd, size))
    monkeypatch.setattr(os, "readv", lambda fd, pieces: fails() if fd in ours else real_readv(fd, pieces))
    assert broken(folder) == (
        "entry-type",
        f"{name} cannot be read: Input/output error; a bundle holds regular files that can be read",
    )


def test_markdown_is_opened_in_result_order_then_the_data_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "b")
    real = os.open

    def opens(path: str, *args: object, **options: int) -> int:
        if path.endswith((".md", ".yml")):
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", opens)
    found = verify_bundle(folder).findings
    assert [finding.message.split()[0] for finding in found] == [
        "01-careful.md",
        "03-Fast-one.md",
        "data-package.yml",
    ]


def test_what_a_comparison_takes_for_a_bundle(tmp_path: Path) -> None:
    assert has_manifest(str(put(tmp_path / "b")))
    assert not has_manifest(str(tmp_path))
    assert not has_manifest(str(tmp_path / "b/comparison.json"))
    (tmp_path / "c").mkdir()
    (tmp_path / "c/comparison.json").symlink_to("nowhere")
    assert has_manifest(str(tmp_path / "c"))


def test_a_good_bundle_has_no_findings(tmp_path: Path) -> None:
    found = verify_bundle(changed(tmp_path / "b", setting("comparisonId", "other")))
    assert (found.verifies, found.findings) == (True, ())
    assert found.bundle is not None
    assert found.path == str(tmp_path / "b")
