"""One descriptor, one read; files published whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stratadiff.core import files
from stratadiff.core.files import atomic_write, hash_file, read_file, real_path_inside
from stratadiff.errors import NotFoundError, OutputError, UnreadableError

PIECE = 1 << 20
SIZES = [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 1]


@pytest.mark.parametrize("size", SIZES)
def test_reading_and_hashing(size: int, tmp_path: Path) -> None:
    data = bytes(range(251)) * (size // 251 + 1)
    path = tmp_path / "file"
    path.write_bytes(data[:size])
    assert read_file(str(path)) == data[:size]
    assert hash_file(str(path)) == "sha256:" + hashlib.sha256(data[:size]).hexdigest()


def test_a_file_is_opened_once_and_read_with_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000)
    calls: list[str] = []
    for name in ("open", "read", "close"):
        real = getattr(os, name)

        def counted(
            *args: object, name: str = name, real: Callable[..., object] = real, **options: object
        ) -> object:
            calls.append(name)
            return real(*args, **options)

        monkeypatch.setattr(os, name, counted)
    read_file(str(path))
    assert calls == ["open", "read", "close"]


@pytest.mark.parametrize("function", [read_file, hash_file])
def test_a_file_that_grows_or_shrinks_while_it_is_read(
    function: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    for size, lie in ((100, 10), (10, 100), (3 * PIECE, 5), (0, 7)):
        data = os.urandom(size)
        path.write_bytes(data)
        real = os.fstat

        def fstat(
            descriptor: int, lie: int = lie, real: Callable[..., os.stat_result] = real
        ) -> os.stat_result:
            values = list(real(descriptor))
            values[stat.ST_SIZE] = lie
            return os.stat_result(values)

        monkeypatch.setattr(os, "fstat", fstat)
        expected = data if function is read_file else "sha256:" + hashlib.sha256(data).hexdigest()
        assert function(str(path)) == expected
        monkeypatch.undo()


@pytest.mark.parametrize("function", [read_file, hash_file])
class TestRefusals:
    def test_nothing_there(self, function: Callable[[str], object], tmp_path: Path) -> None:
        with pytest.raises(NotFoundError) as caught:
            function(str(tmp_path / "nowhere"))
        assert (caught.value.message, caught.value.where) == ("missing", str(tmp_path / "nowhere"))

    def test_a_directory(self, function: Callable[[str], object], tmp_path: Path) -> None:
        with pytest.raises(UnreadableError, match="is a directory, not a file"):
            function(str(tmp_path))

    def test_a_fifo_without_a_writer_does_not_block(
        self, function: Callable[[str], object], tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(UnreadableError, match="is a fifo, not a file"):
            function(str(tmp_path / "fifo"))

    def test_a_socket(self, function: Callable[[str], object], tmp_path: Path) -> None:
        path = tmp_path / "s"
        with socket.socket(socket.AF_UNIX) as server:
            try:
                server.bind(str(path))
            except OSError:
                pytest.skip("the temporary folder's path is too long for a socket")
            with pytest.raises(UnreadableError, match="cannot be read: "):
                function(str(path))

    def test_a_device(self, function: Callable[[str], object]) -> None:
        with pytest.raises(UnreadableError, match="is a device, not a file"):
            function("/dev/zero")

    def test_a_path_no_system_call_takes(self, function: Callable[[str], object], tmp_path: Path) -> None:
        for path in (f"{tmp_path}/a\0b", f"{tmp_path}/\ud800", f"{tmp_path}/{'x' * 5000}"):
            with pytest.raises(UnreadableError, match="cannot be read: "):
                function(path)

    def test_errors_while_reading(
        self, function: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"x")

        def fails(*_: object) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "read", fails)
        before = _descriptors()
        with pytest.raises(UnreadableError, match="cannot be read: Input/output error"):
            function(str(path))
        assert _descriptors() == before


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0


def test_refusals_leave_no_descriptor_open(tmp_path: Path) -> None:
    before = _descriptors()
    for _ in range(20):
        with pytest.raises(UnreadableError):
            read_file(str(tmp_path))
    assert _descriptors() == before


def test_links_are_followed_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to("file")
    assert read_file(str(link)) == b"x"
    with pytest.raises(UnreadableError):
        read_file(str(link), follow=False)


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are Unicode there")
def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = f"{tmp_path}/\udcff\udc80"
    atomic_write(path, b"x")
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff\x80"]
    assert read_file(path) == b"x"


def test_real_paths(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path) + "/root"
    os.makedirs(f"{root}/a/b")
    os.makedirs(root + "-beside")
    for name in (f"{root}/a/file", f"{root}-beside/file"):
        Path(name).write_bytes(b"")
    assert real_path_inside(root, "a/file") == f"{root}/a/file"
    assert real_path_inside(root, "a/nowhere/x") == f"{root}/a/nowhere"
    os.symlink("a/b", f"{root}/inside")
    os.symlink(f"{root}-beside", f"{root}/outside")
    os.symlink("../file", f"{root}/a/b/link")
    os.symlink("../../../root-beside/file", f"{root}/a/b/escape")
    os.symlink("circle", f"{root}/circle")
    os.symlink(root, f"{root}/self")
    assert real_path_inside(root, "inside/link") == f"{root}/a/file"
    assert real_path_inside(root, "self/a/file") == f"{root}/a/file"
    for path in ("outside/file", "a/b/escape", "inside/escape", "circle", "self"):
        assert real_path_inside(root, path) is None


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    atomic_write(str(path), b"old")
    with path.open("rb") as old:
        atomic_write(str(path), b"new" * 100_000)
        assert old.read() == b"old"
    assert path.read_bytes() == b"new" * 100_000
    assert os.listdir(tmp_path) == ["out.json"]


def test_the_longest_name_and_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    atomic_write("n" * 255, b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_u22_failure_at_every_step_leaves_the_old_file_and_nothing_else(
    call: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, call, fails)
    expected = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        atomic_write(str(path), b"new")
    monkeypatch.undo()
    if expected is OutputError:
        assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_u22_the_file_is_flushed_before_it_is_renamed_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_fsync(descriptor)

    def replace(source: str, target: str) -> None:
        steps.append("rename")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    atomic_write(str(tmp_path / "out"), b"x")
    assert steps == ["file", "rename", "folder"]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:7])))
    atomic_write(str(tmp_path / "out"), b"0123456789" * 5)
    assert (tmp_path / "out").read_bytes() == b"0123456789" * 5


def test_folders_and_lost_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is a directory, not a file to write to"):
        atomic_write(str(tmp_path), b"x")
    with pytest.raises(OutputError, match="cannot be written: No such file or directory"):
        atomic_write(str(tmp_path / "nowhere/out"), b"x")
    with pytest.raises(OutputError, match="cannot be written: "):
        atomic_write(f"{tmp_path}/a\0b", b"x")


def test_a_device_is_written_to_as_it_is() -> None:
    atomic_write("/dev/null", b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_the_umask_decides_who_may_read(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic_write(str(tmp_path / "out"), b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "out").st_mode) == 0o640


def test_large_outputs_are_hashed_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(5 * PIECE))
    sizes: list[int] = []
    real = os.read

    def read(descriptor: int, size: int) -> bytes:
        sizes.append(size)
        return real(descriptor, size)

    monkeypatch.setattr(files.os, "read", read)
    hash_file(str(path))
    assert max(sizes) <= PIECE + 1
