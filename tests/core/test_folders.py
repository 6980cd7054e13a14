"""Folders held open, by descriptor and where paths are joined."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stratadiff.core import folders
from stratadiff.core.folders import Folder, open_folder, without_trailing
from stratadiff.errors import NotFoundError, UnreadableError


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Folder]:
    monkeypatch.setattr(folders, "FROM_DESCRIPTORS", request.param)
    with open_folder(str(tmp_path)) as opened:
        yield opened


def test_entries_and_what_they_are(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "é").write_bytes(b"")
    (tmp_path / "a").symlink_to("é")
    os.mkfifo(tmp_path / "c")
    assert folder.entries() == [("a", "a symbolic link"), ("b", "a directory"), ("c", "a fifo"), ("é", "")]
    assert folder.entries() == folder.entries()  # from the start every time


def test_a_file_is_read_within_its_limit(folder: Folder, tmp_path: Path) -> None:
    data = os.urandom(600_000)
    (tmp_path / "x").write_bytes(data)
    for limit in (0, 1, 599_999, 600_000, 600_001, 1 << 30):
        with folder.open_file("x") as file:
            assert file.size == 600_000
            assert file.read(limit) == data[:limit]
    with folder.open_file("x") as file:
        assert file.digest() == hashlib.sha256(data).hexdigest()
        assert file.is_unchanged()
        (tmp_path / "x").write_bytes(b"")
        assert not file.is_unchanged()


def test_a_file_that_grows_is_read_to_its_limit(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_bytes(b"0123456789")
    with folder.open_file("x") as file:
        file.size = 4
        assert file.read(8) == b"01234567"
    with folder.open_file("x") as file:
        file.size = 4
        assert file.read(100) == b"0123456789"
        assert file.read(100) == b""


def test_what_is_not_opened_as_a_file(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    for name, words in (
        ("folder", "is a directory, not a file"),
        ("link", "is a symbolic link, not a file"),
        ("fifo", "is a fifo, not a file"),
        ("a\0b", "cannot be read: "),
    ):
        with pytest.raises(UnreadableError, match=words):
            folder.open_file(name)
    with pytest.raises(NotFoundError, match="missing"):
        folder.open_file("nowhere")


def test_making_and_removing(folder: Folder, tmp_path: Path) -> None:
    with folder.make_folder("new", 0o700) as new:
        new.write_file("x", b"data" * 1000)
        with pytest.raises(FileExistsError):
            new.write_file("x", b"")
        new.sync()
        assert (tmp_path / "new/x").read_bytes() == b"data" * 1000
        assert new.entries() == [("x", "")]
        with pytest.raises(OSError, match="not empty"):
            folder.remove_folder("new")
        new.remove_file("x")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileExistsError):
        folder.make_folder("new")
    folder.remove_folder("new")
    assert folder.entries() == []


def test_a_folder_in_a_folder_is_no_link(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with folder.open_folder("real") as found:
        assert found.identity == ((tmp_path / "real").stat().st_dev, (tmp_path / "real").stat().st_ino)
    with pytest.raises(OSError):
        folder.open_folder("link")
    with pytest.raises(FileNotFoundError):
        folder.open_folder("nowhere")


def test_a_folder_made_and_not_opened_is_removed(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Folder, name: str) -> Folder:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Folder, "open_folder", fails)
    with pytest.raises(OSError, match="Too many open files"):
        folder.make_folder("new")
    assert os.listdir(tmp_path) == []


def test_flushing_fails_where_it_fails_and_not_where_it_cannot_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = errno.EINVAL

    def fsync(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fsync)
    with open_folder(str(tmp_path)) as folder:
        folder.sync()
        code = errno.EIO
        with pytest.raises(OSError, match="Input/output error"):
            folder.sync()


def test_paths_without_their_last_separators() -> None:
    assert [without_trailing(path) for path in ("a", "a/", "a//", "/", "//", "", "/a/")] == [
        "a", "a", "a", "/", "/", "", "/a",
    ]  # fmt: skip
