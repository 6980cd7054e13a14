"""Whatever happens to a writer, at whatever step: the destination is the old bundle or the new one, whole."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bundles.faults import STEPS, count, failing, in_processes, killed, no_space, steps
from bundles.samples import members, put
from stratadiff.bundles.model import BundleError
from stratadiff.bundles.reader import is_bundle, open_bundle, verify_bundle
from stratadiff.bundles.writer import NewResult, write_bundle
from stratadiff.core import renames
from stratadiff.core.publish import Published
from stratadiff.errors import OutputError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")

FIELDS = {
    name: value
    for name, value in members().items()
    if name not in ("schemaVersion", "dataPackage", "total", "succeeded", "failed", "results")
}
RESULTS = [NewResult(f"p{i}", "m", f"# {i}\n" * 50) for i in range(4)]
OLD, NEW = "old", "new"


def write(dest: Path, comparison_id: str = NEW, *, replace: bool = False, atomic: bool = True) -> Published:
    fields = {**FIELDS, "comparisonId": comparison_id}
    return write_bundle(dest, fields, comparison_id.encode() * 100, RESULTS, replace=replace, atomic=atomic)


def found(dest: Path) -> str | None:
    """Return which bundle stands at a destination, whole; None if nothing does."""
    if not os.path.lexists(dest):
        return None
    bundle = open_bundle(dest)
    assert bundle.data_package() == bundle.manifest.comparison_id.encode() * 100
    for i, result in enumerate(bundle.results):
        assert bundle.markdown(result) == f"# {i}\n".encode() * 50
    return bundle.manifest.comparison_id


def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be on a file system that cannot exchange two names."""
    real = renames._rename

    def rename(*arguments: Any) -> bool:
        return False if arguments[-1] is renames._EXCHANGE else real(*arguments)

    monkeypatch.setattr(renames, "_rename", rename)


def beside(dest: Path) -> list[Path]:
    """Return what else is in the folder of a destination."""
    return sorted(path for path in dest.parent.iterdir() if path != dest)


def in_memory() -> Path | None:
    """Return a folder on another file system than the root's, where a flush takes no time."""
    shared = Path("/dev/shm")
    if shared.is_dir() and os.access(shared, os.W_OK) and shared.stat().st_dev != Path("/").stat().st_dev:
        return shared
    return None


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """Return a folder for tests that flush thousands of times."""
    there = in_memory()
    if there is None:
        yield tmp_path
    else:
        with tempfile.TemporaryDirectory(dir=there) as folder:
            yield Path(folder)


class TestKilled:
    """At every step: before it, after it, and in the middle of every write (U22)."""

    KILLS = 0

    def kill_everywhere(
        self, folder: Path, function: Callable[[Path], object], check: Callable[[Path], None]
    ) -> None:
        rehearsal = folder / "rehearsal"
        rehearsal.mkdir()
        put_old(rehearsal / "b", check is not TestKilled.fresh)
        names = count(lambda: function(rehearsal / "b"))
        assert set(names) >= {"mkdir", "open", "write", "fsync", "_rename", "rmdir"}
        for at, name in enumerate(names, 1):
            for when in ("before", "after", *(("during",) if name == "write" else ())):
                place = folder / f"{at}-{when}"
                place.mkdir()
                put_old(place / "b", check is not TestKilled.fresh)
                killed(at, when, lambda place=place: function(place / "b"))  # type: ignore[misc]
                TestKilled.KILLS += 1
                check(place / "b")
                for path in beside(place / "b"):
                    assert path.name.startswith(".b.")
                    assert path.name.endswith(".tmp")
                    assert path.stat().st_mode & 0o777 == 0o700
                    assert not is_bundle(path)
                    if any(path.iterdir()):
                        assert verify_bundle(path).findings[0].rule == "entry-type"
                self.next_run(place / "b")

    def next_run(self, dest: Path) -> None:
        """The next run works, and names what is left if there is anything in it."""
        left = [str(path) for path in beside(dest) if any(path.iterdir())]
        done = write(dest, "next", replace=True, atomic=False)
        assert found(dest) == "next"
        assert sorted(done.leftovers) == left
        assert [str(path) for path in beside(dest) if any(path.iterdir())] == left

    @staticmethod
    def fresh(dest: Path) -> None:
        assert found(dest) in (None, NEW)

    @staticmethod
    def replaced(dest: Path) -> None:
        assert found(dest) in (OLD, NEW)

    @staticmethod
    def put_aside(dest: Path) -> None:
        if found(dest) is None:  # both are whole where the next run finds them
            [place] = beside(dest)
            assert {found(path) for path in place.iterdir()} == {OLD, NEW}

    def test_u22_a_new_bundle(self, quick_path: Path) -> None:
        self.kill_everywhere(quick_path, write, TestKilled.fresh)

    def test_u22_a_replaced_bundle(self, quick_path: Path) -> None:
        self.kill_everywhere(quick_path, lambda dest: write(dest, replace=True), TestKilled.replaced)

    def test_u22_a_bundle_replaced_in_two_steps(
        self, quick_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        no_exchange(monkeypatch)
        self.kill_everywhere(
            quick_path, lambda dest: write(dest, replace=True, atomic=False), TestKilled.put_aside
        )


def put_old(dest: Path, is_wanted: bool) -> None:
    if is_wanted:
        write(dest, OLD)


WRITING = [
    pytest.param(False, False, id="new"),
    pytest.param(True, False, id="replaced"),
    pytest.param(True, True, id="replaced in two steps"),
]


@pytest.mark.parametrize(("replaces", "in_two_steps"), WRITING)
class TestFailing:
    """An error, or Ctrl-C, at every step."""

    def writer(
        self, replaces: bool, in_two_steps: bool, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[[Path], Published]:
        if in_two_steps:
            no_exchange(monkeypatch)
        return lambda dest: write(dest, replace=replaces, atomic=not in_two_steps)

    def test_u22_a_full_disk_at_every_step(
        self, replaces: bool, in_two_steps: bool, quick_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        writer = self.writer(replaces, in_two_steps, monkeypatch)
        before = OLD if replaces else None
        (quick_path / "0").mkdir()
        put_old(quick_path / "0/b", replaces)
        names = count(lambda: writer(quick_path / "0/b"))
        for at, name in enumerate(names, 1):
            place = quick_path / str(at)
            place.mkdir()
            put_old(place / "b", replaces)
            done = None
            try:
                with steps(failing(at, no_space())):
                    done = writer(place / "b")
            except OutputError as error:
                assert error.where == str(place / "b")
                assert "No space left on device" in error.message
                if found(place / "b") == NEW:  # the flush of the folder above it
                    assert error.message.startswith("was published, but may not survive a power failure: ")
                    left = beside(place / "b")
                    assert len(left) == replaces  # and the old one is kept
                    assert not left or f"left behind: {left[0]}" in error.message
                else:
                    assert error.message == "cannot be written: No space left on device"
                    assert found(place / "b") == before
                    assert beside(place / "b") == []
            else:  # only what is removed at the end may stay
                assert name in ("unlink", "rmdir")
                assert found(place / "b") == NEW
                left = [path for path in beside(place / "b") if any(path.iterdir())]
                assert done.leftovers == tuple(map(str, left))

    @pytest.mark.parametrize("after", [False, True])
    def test_u22_ctrl_c_at_every_step(
        self,
        replaces: bool,
        in_two_steps: bool,
        after: bool,
        quick_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        writer = self.writer(replaces, in_two_steps, monkeypatch)
        before = OLD if replaces else None
        (quick_path / "0").mkdir()
        put_old(quick_path / "0/b", replaces)
        names = count(lambda: writer(quick_path / "0/b"))
        for at, name in enumerate(names, 1):
            place = quick_path / str(at)
            place.mkdir()
            put_old(place / "b", replaces)
            with steps(failing(at, KeyboardInterrupt(), after=after)), pytest.raises(KeyboardInterrupt):
                writer(place / "b")
            assert found(place / "b") in (before, NEW)
            if not (name == "mkdir" and after):  # which nobody has heard of yet
                assert beside(place / "b") == []


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors have no names")
def test_u22_files_are_flushed_before_they_are_published_and_the_folder_above_after(tmp_path: Path) -> None:
    flushed: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        flushed.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        real(descriptor)

    def note(number: int, name: str, step: Callable[[], Any]) -> Any:
        if name == "_rename":
            flushed.append("publish")
        return step()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with steps(note):
            write(tmp_path / "b")
    files = ["data-package.yml", *(f"0{i + 1}-p{i}.md" for i in range(4)), "comparison.json"]
    assert flushed == [*files, "new", "publish", tmp_path.name]


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors have no names")
def test_a_system_that_cannot_flush_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write(tmp_path / "b")
    assert found(tmp_path / "b") == NEW


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    write(tmp_path / "b")
    assert found(tmp_path / "b") == NEW


@pytest.mark.parametrize("error", [errno.EXDEV, errno.EROFS, errno.EACCES, errno.EBUSY])
def test_u22_a_destination_that_cannot_be_renamed_to(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename(*_: object) -> bool:
        raise OSError(error, os.strerror(error))

    put_old(tmp_path / "b", True)
    monkeypatch.setattr(renames, "_rename", rename)
    for dest, replace in ((tmp_path / "b", True), (tmp_path / "c", False)):
        with pytest.raises(OutputError, match=f"cannot be written: {os.strerror(error)}$"):
            write(dest, replace=replace)
    monkeypatch.undo()
    assert found(tmp_path / "b") == OLD
    assert beside(tmp_path / "b") == []


@pytest.mark.skipif(in_memory() is None, reason="there is no other file system to write to")
def test_u22_a_destination_on_another_file_system(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=in_memory()) as there:
        (tmp_path / "link").symlink_to(there)
        for dest in (Path(there) / "b", tmp_path / "link/c"):
            write(dest, OLD)
            assert write(dest, replace=True).replaced
            assert found(dest) == NEW
        assert sorted(os.listdir(there)) == ["b", "c"]


ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
@pytest.mark.parametrize("replace", [False, True])
def test_u22_a_folder_that_may_not_be_written_to(replace: bool, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    put_old(place / "b", replace)
    place.chmod(0o500)
    try:
        with pytest.raises(OutputError, match=r"cannot be written: Permission denied$"):
            write(place / "b", replace=replace)
    finally:
        place.chmod(0o700)
    assert found(place / "b") == (OLD if replace else None)
    assert beside(place / "b") == []


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_an_old_bundle_that_may_not_be_changed_stays_or_is_named(tmp_path: Path) -> None:
    put_old(tmp_path / "b", True)
    (tmp_path / "b").chmod(0o500)
    try:
        try:
            done = write(tmp_path / "b", replace=True)
        except OutputError:
            assert found(tmp_path / "b") == OLD
            assert beside(tmp_path / "b") == []
        else:
            assert found(tmp_path / "b") == NEW
            assert [str(path) for path in beside(tmp_path / "b")] == list(done.leftovers)
    finally:
        for path in (tmp_path / "b", *tmp_path.glob(".b.*/new")):
            path.chmod(0o700)


class TestConcurrent:
    @pytest.mark.parametrize("round_", range(3))
    def test_u22_of_many_writers_of_a_new_bundle_one_wins(self, round_: int, quick_path: Path) -> None:
        dest = quick_path / "b"
        writers = [lambda i=i: write(dest, f"w{i}") for i in range(6)]  # type: ignore[misc]
        codes = in_processes(writers)
        assert sorted(codes) == [0, 1, 1, 1, 1, 1]
        assert found(dest) == f"w{codes.index(0)}"
        assert beside(dest) == []

    @pytest.mark.parametrize("in_two_steps", [False, True])
    def test_u22_of_many_replacing_writers_one_is_the_last(
        self, in_two_steps: bool, quick_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if in_two_steps:
            no_exchange(monkeypatch)
        dest = quick_path / "b"
        put_old(dest, True)

        def replace_often(name: str) -> None:
            for _ in range(5):
                write(dest, name, replace=True, atomic=not in_two_steps)

        def read_often() -> None:
            for _ in range(100):
                try:
                    open_bundle(dest)
                except BundleError as error:
                    # There is a moment without a destination, and never one with half of it.
                    if not (in_two_steps and "missing" in error.detail):
                        raise

        names = [f"w{i}" for i in range(4)]
        work: list[Callable[[], object]] = [lambda name=name: replace_often(name) for name in names]  # type: ignore[misc]
        assert in_processes([*work, read_often]) == [0] * 5
        assert found(dest) in names
        assert beside(dest) == []

    def test_a_writer_of_a_new_bundle_among_replacing_ones_overwrites_nothing(self, quick_path: Path) -> None:
        dest = quick_path / "b"
        put(dest)
        work: list[Callable[[], object]] = [
            lambda: write(dest, "replacing", replace=True),
            lambda: write(dest, "new"),
            lambda: write(dest, "new"),
        ]
        assert in_processes(work) == [0, 1, 1]
        assert found(dest) == "replacing"


def test_a_writer_that_is_at_work_is_no_leftover(tmp_path: Path) -> None:
    done: list[Published] = []

    def meanwhile(number: int, name: str, step: Callable[[], Any]) -> Any:
        if number == 5:
            done.append(write(tmp_path / "b", "other"))
        return step()

    with steps(meanwhile), pytest.raises(OutputError, match="is there already"):
        write(tmp_path / "b")
    assert done[0].leftovers == ()
    assert found(tmp_path / "b") == "other"
    assert beside(tmp_path / "b") == []


def test_every_step_is_one_that_can_fail() -> None:
    assert all(hasattr(os, name) for name in STEPS)


def test_about_two_hundred_kills() -> None:
    if TestKilled.KILLS:  # the tests above have run in this process
        assert TestKilled.KILLS >= 190
