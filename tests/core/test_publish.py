"""A folder published in one step, and everything others may do to the destination meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stratadiff.core import folders, publish
from stratadiff.core.folders import Folder, stamp_of
from stratadiff.core.publish import Occupant, Published, check_destination, destination_of, publish_folder
from stratadiff.core.renames import NoExchangeError
from stratadiff.errors import OutputError

FILES = [("a", b"new"), ("b", b"")]


def claim(parent: Folder, name: str) -> Occupant:
    """Return a folder whose files are all called by one letter."""
    with parent.open_folder(name) as folder:
        entries = folder.entries()
        if not entries or any(kind or len(entry) > 1 for entry, kind in entries):
            raise OutputError("is no folder of ours")
        return Occupant(folder.identity, {entry: stamp_of(folder.status(entry)) for entry, _ in entries})


def put(path: Path, **files: bytes) -> Path:
    path.mkdir()
    for name, data in files.items():
        (path / name).write_bytes(data)
    return path


def content(path: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in path.iterdir()}


NEW = dict(FILES)


def test_a_new_folder(tmp_path: Path) -> None:
    done = publish_folder(str(tmp_path / "x"), FILES)
    assert done == Published(str(tmp_path / "x"), False)
    assert content(tmp_path / "x") == NEW
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("path", ["x", "./x", "x/", "x//", "sub/../x", "link/../x"])
def test_paths_are_absolute_once_it_is_published(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere/sub").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/sub")
    done = publish_folder(path, FILES)
    place = tmp_path / ("elsewhere/x" if path.startswith("link") else "x")
    assert done.path == str(place)
    assert content(place) == NEW


def test_what_names_no_destination(tmp_path: Path) -> None:
    for path in ("", ".", "..", "/", "x/..", "x/.", f"{tmp_path}/.."):
        with pytest.raises(OutputError, match="does not end in a name") as caught:
            publish_folder(path, FILES)
        assert caught.value.where == path
    assert destination_of("x") == (".", "x")
    assert destination_of("/x/") == ("/", "x")


def test_the_longest_name(tmp_path: Path) -> None:
    names = ["n" * 255, "é" * 127]
    if sys.platform == "linux":  # elsewhere names are Unicode
        names.append("\udcff" * 255)
    for name in names:
        assert content(Path(publish_folder(f"{tmp_path}/{name}", FILES).path)) == NEW
    with pytest.raises(OutputError, match="cannot be written: File name too long"):
        publish_folder(f"{tmp_path}/{'n' * 256}", FILES)
    with pytest.raises(OutputError, match="cannot be written: "):
        publish_folder(f"{tmp_path}/a\0b", FILES)


def test_the_folder_above(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match=r"cannot be written: the folder above it is missing$"):
        publish_folder(f"{tmp_path}/nowhere/x", FILES)
    with pytest.raises(OutputError, match=r"the folder above it is a file, not a directory$"):
        publish_folder(f"{tmp_path}/file/x", FILES)
    (tmp_path / "link").symlink_to(put(tmp_path / "real"))
    publish_folder(f"{tmp_path}/link/x", FILES)
    assert content(tmp_path / "real/x") == NEW


def test_the_umask_decides_who_may_read(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        publish_folder(str(tmp_path / "x"), FILES)
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "x/a").stat().st_mode & 0o777 == 0o640


OTHERS: dict[str, Callable[[Path], object]] = {
    "an empty folder": put,
    "an ordinary folder": lambda path: put(path, a=b"1", notes=b"2"),
    "a file": lambda path: path.write_bytes(b"x"),
    "a link to one of ours": lambda path: path.symlink_to(put(path.parent / "ours", a=b"1")),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a fifo": os.mkfifo,
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("atomic", [True, False])
def test_what_is_no_folder_of_ours_is_untouched(kind: str, atomic: bool, tmp_path: Path) -> None:
    path = tmp_path / "x"
    OTHERS[kind](path)
    before, names = os.lstat(path), sorted(os.listdir(tmp_path))
    with pytest.raises(OutputError, match="is there already; nothing is replaced unless that is asked for"):
        publish_folder(str(path), FILES, atomic=atomic)
    with pytest.raises(OutputError):
        publish_folder(str(path), FILES, claim=claim, atomic=atomic)
    for claimed in (None, claim):
        with pytest.raises(OutputError):
            check_destination(str(path), claim=claimed)
    assert os.lstat(path) == before
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("has_exchange", [True, False])
@pytest.mark.parametrize("has_descriptors", [True, False])
def test_one_of_ours_is_replaced(
    has_exchange: bool, has_descriptors: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "FROM_DESCRIPTORS", has_descriptors)
    if not has_exchange:
        monkeypatch.setattr(publish, "exchange", no_exchange)
    put(tmp_path / "x", o=b"old")
    check_destination(str(tmp_path / "x"), claim=claim)
    if has_exchange and has_descriptors:
        done = publish_folder(str(tmp_path / "x"), FILES, claim=claim)
    else:
        with pytest.raises(OutputError, match="cannot be replaced in one step: this system or file system"):
            publish_folder(str(tmp_path / "x"), FILES, claim=claim)
        assert content(tmp_path / "x") == {"o": b"old"}
        assert os.listdir(tmp_path) == ["x"]
        done = publish_folder(str(tmp_path / "x"), FILES, claim=claim, atomic=False)
    assert done == Published(str(tmp_path / "x"), True)
    assert content(tmp_path / "x") == NEW
    assert os.listdir(tmp_path) == ["x"]


def no_exchange(*_: object) -> None:
    raise NoExchangeError(95, "Operation not supported")


def test_asked_to_replace_where_nothing_is(tmp_path: Path) -> None:
    assert not publish_folder(str(tmp_path / "x"), FILES, claim=claim).replaced
    check_destination(str(tmp_path / "y"), claim=claim)


# Others at work, just before the step.


def just_before_the_step(monkeypatch: pytest.MonkeyPatch, name: str, meanwhile: Callable[[], object]) -> None:
    real = getattr(publish, name)

    def step(*arguments: object) -> None:
        monkeypatch.setattr(publish, name, real)
        meanwhile()
        real(*arguments)

    monkeypatch.setattr(publish, name, step)


def test_somebody_is_faster_with_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    just_before_the_step(monkeypatch, "rename_new", lambda: put(path, t=b"theirs"))
    with pytest.raises(OutputError, match="is there already"):
        publish_folder(str(path), FILES)
    assert content(path) == {"t": b"theirs"}
    assert os.listdir(tmp_path) == ["x"]


def test_somebody_is_faster_with_a_new_one_and_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    just_before_the_step(monkeypatch, "rename_new", lambda: put(path, t=b"theirs"))
    assert publish_folder(str(path), FILES, claim=claim).replaced
    assert content(path) == NEW
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("kind", [*OTHERS, "the one that was looked at, changed"])
@pytest.mark.parametrize("has_exchange", [True, False])
def test_what_was_to_be_replaced_becomes_something_else(
    kind: str, has_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x", o=b"old")

    def meanwhile() -> None:
        if kind in OTHERS:
            path.rename(tmp_path / "moved")
            OTHERS[kind](path)
        else:
            (path / "notes").write_bytes(b"precious")
        seen.extend((os.lstat(path).st_ino, sorted(os.listdir(tmp_path))))

    seen: list[object] = []
    if has_exchange:
        just_before_the_step(monkeypatch, "exchange", meanwhile)
    else:
        monkeypatch.setattr(publish, "exchange", no_exchange)
        just_before_the_step(monkeypatch, "move", meanwhile)
    with pytest.raises(OutputError, match=r"was changed by somebody else while it was to be replaced$"):
        publish_folder(str(path), FILES, claim=claim, atomic=has_exchange)
    private = [name for name in os.listdir(tmp_path) if name.startswith(".")]
    assert private == []
    assert [os.lstat(path).st_ino, sorted(os.listdir(tmp_path))] == [
        seen[0],
        [name for name in seen[1] if not name.startswith(".")],  # type: ignore[attr-defined]
    ]
    if kind not in OTHERS:
        assert content(path) == {"o": b"old", "notes": b"precious"}


@pytest.mark.parametrize("has_exchange", [True, False])
def test_another_writer_replaces_it_first(
    has_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x", o=b"old")

    def meanwhile() -> None:
        path.rename(tmp_path / "theirs")
        put(path, t=b"theirs")

    if has_exchange:
        just_before_the_step(monkeypatch, "exchange", meanwhile)
    else:
        monkeypatch.setattr(publish, "exchange", no_exchange)
        just_before_the_step(monkeypatch, "move", meanwhile)
    assert publish_folder(str(path), FILES, claim=claim, atomic=has_exchange).replaced
    assert content(path) == NEW
    assert sorted(os.listdir(tmp_path)) == ["theirs", "x"]


@pytest.mark.parametrize("has_exchange", [True, False])
def test_what_was_to_be_replaced_goes(
    has_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x", o=b"old")

    def meanwhile() -> None:
        path.rename(tmp_path / "theirs")

    if has_exchange:
        just_before_the_step(monkeypatch, "exchange", meanwhile)
    else:
        monkeypatch.setattr(publish, "exchange", no_exchange)
        just_before_the_step(monkeypatch, "move", meanwhile)
    assert not publish_folder(str(path), FILES, claim=claim, atomic=has_exchange).replaced
    assert content(path) == NEW
    assert sorted(os.listdir(tmp_path)) == ["theirs", "x"]


def test_another_writer_takes_the_moment_without_a_destination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x", o=b"old")
    monkeypatch.setattr(publish, "exchange", no_exchange)
    just_before_the_step(monkeypatch, "rename_new", lambda: put(path, t=b"theirs"))
    assert publish_folder(str(path), FILES, claim=claim, atomic=False).replaced
    assert content(path) == NEW
    assert os.listdir(tmp_path) == ["x"]


def test_something_else_takes_the_moment_without_a_destination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x", o=b"old")
    monkeypatch.setattr(publish, "exchange", no_exchange)
    just_before_the_step(monkeypatch, "rename_new", lambda: path.write_bytes(b"precious"))
    with pytest.raises(OutputError, match=r"left behind: .*/\.x\.[0-9a-f]{12}\.tmp$"):
        publish_folder(str(path), FILES, claim=claim, atomic=False)
    assert path.read_bytes() == b"precious"
    [private] = tmp_path.glob(".x.*.tmp")
    assert [content(place) for place in private.iterdir()] == [{"o": b"old"}]  # whole, and named
    path.unlink()
    assert publish_folder(str(path), FILES).leftovers == (str(private),)


def test_after_the_exchange_nothing_is_there_to_exchange_back_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x", o=b"old")
    real = publish.exchange

    def once(*arguments: object) -> None:
        (path / "notes").write_bytes(b"precious")
        real(*arguments)  # type: ignore[arg-type]
        path.rename(tmp_path / "taken")  # ours, by somebody who does not ask
        monkeypatch.setattr(publish, "exchange", real)

    monkeypatch.setattr(publish, "exchange", once)
    with pytest.raises(OutputError, match="was changed by somebody else"):
        publish_folder(str(path), FILES, claim=claim)
    assert content(path) == {"o": b"old", "notes": b"precious"}
    assert content(tmp_path / "taken") == NEW
    assert sorted(os.listdir(tmp_path)) == ["taken", "x"]


def test_others_write_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"

    def never(*_: object) -> None:
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(publish, "rename_new", never)
    with pytest.raises(OutputError, match=r"cannot be written: others write to it all the time$"):
        publish_folder(str(path), FILES, claim=claim)
    assert os.listdir(tmp_path) == []


def test_what_appears_in_the_old_one_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "x", o=b"old")
    real = Occupant.is_at

    def is_at(self: Occupant, parent: Folder, name: str) -> bool:
        found = real(self, parent, name)
        [private] = tmp_path.glob(".x.*.tmp")
        (private / "new/late").write_bytes(b"precious")
        return found

    monkeypatch.setattr(Occupant, "is_at", is_at)
    done = publish_folder(str(path), FILES, claim=claim)
    assert content(path) == NEW
    [left] = done.leftovers
    assert content(Path(left) / "new") == {"late": b"precious"}


def test_names_of_private_folders_that_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter([b"\0" * 6, b"\0" * 6, b"\1" * 6])
    put(tmp_path / (".x." + "00" * 6 + ".tmp"), a=b"1")
    monkeypatch.setattr(os, "urandom", lambda size: next(names))
    done = publish_folder(str(tmp_path / "x"), FILES)
    assert done.leftovers == (f"{tmp_path}/.x.{'00' * 6}.tmp",)
    monkeypatch.setattr(os, "urandom", lambda size: b"\0" * 6)
    put(tmp_path / (".y." + "00" * 6 + ".tmp"))
    with pytest.raises(OutputError, match="no name is free for a temporary folder"):
        publish_folder(str(tmp_path / "y"), FILES)


def test_what_is_no_leftover(tmp_path: Path) -> None:
    put(tmp_path / ".x.0123456789ab.tmp")  # empty
    put(tmp_path / ".x.y.0123456789ab.tmp", a=b"1")  # of x.y
    put(tmp_path / ".x.0123.tmp", a=b"1")
    (tmp_path / ".x.0123456789ac.tmp").write_bytes(b"")
    (tmp_path / ".x.0123456789ad.tmp").symlink_to(put(tmp_path / "there", a=b"1"))
    assert publish_folder(str(tmp_path / "x"), FILES).leftovers == ()
    put(tmp_path / ".x.0123456789ae.tmp", a=b"1")
    assert publish_folder(str(tmp_path / "x"), FILES, claim=claim).leftovers == (
        f"{tmp_path}/.x.0123456789ae.tmp",
    )


def test_a_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    put(tmp_path / ".x.0123456789ab.tmp", a=b"1")
    assert len(publish_folder(str(tmp_path / "x"), FILES).leftovers) == 1


def test_an_occupant_that_cannot_be_looked_at(tmp_path: Path) -> None:
    put(tmp_path / "x", o=b"old")
    with folders.open_folder(str(tmp_path)) as parent:
        occupant = claim(parent, "x")
        assert occupant.is_at(parent, "x")
        assert not occupant.is_at(parent, "y")
        (tmp_path / "x/o").write_bytes(b"other")
        assert not occupant.is_at(parent, "x")
