"""Renames that never overwrite, where the system has them and where it has not."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stratadiff.core import folders, renames
from stratadiff.core.folders import Folder, open_folder
from stratadiff.core.renames import NoExchangeError, exchange, move, rename_new

SYSTEMS = ["the system's", "by number", "no flags", "no ctypes", "by path", "other system"]
EXCHANGES = ("the system's", "by number")


class Nameless:
    """A C library that is older than the system call."""

    def __init__(self, real: Any) -> None:
        self.syscall = real.syscall


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "by number":
        if sys.platform != "linux" or os.uname().machine not in renames._NUMBERS:
            pytest.skip("the number of the system call is not known")
        real = ctypes.CDLL
        monkeypatch.setattr(ctypes, "CDLL", lambda *a, **k: Nameless(real(*a, **k)))
    elif name == "no flags":
        monkeypatch.setattr(renames, "_NEW_NAME", {sys.platform: 1 << 20})
        monkeypatch.setattr(renames, "_EXCHANGE", {sys.platform: 1 << 20})
    elif name == "no ctypes":
        monkeypatch.setitem(sys.modules, "ctypes", None)
    elif name == "by path":
        monkeypatch.setattr(folders, "FROM_DESCRIPTORS", False)
    elif name == "other system":
        monkeypatch.setattr(sys, "platform", "freebsd14")
    return name


@pytest.fixture
def pair(system: str, tmp_path: Path) -> Iterator[tuple[Folder, Folder, Path]]:
    for place in ("left", "right"):
        (tmp_path / place / "a").mkdir(parents=True)
        (tmp_path / place / "a" / place).write_bytes(b"")
    with open_folder(str(tmp_path / "left")) as left, open_folder(str(tmp_path / "right")) as right:
        yield left, right, tmp_path


Pair = tuple[Folder, Folder, Path]


def test_a_new_name(pair: Pair) -> None:
    left, right, root = pair
    rename_new(left, "a", right, "b")
    assert os.listdir(root / "right/b") == ["left"]
    assert os.listdir(root / "left") == []


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "link", "dangling link"])
def test_a_name_that_something_has(kind: str, pair: Pair) -> None:
    left, right, root = pair
    path = root / "right/b"
    if kind == "empty folder":
        path.mkdir()
    elif kind == "folder":
        (path / "x").mkdir(parents=True)
    elif kind == "file":
        path.write_bytes(b"x")
    else:
        path.symlink_to("a" if kind == "link" else "nowhere")
    before = os.lstat(path)
    with pytest.raises(FileExistsError):
        rename_new(left, "a", right, "b")
    assert os.path.samestat(os.lstat(path), before)
    assert os.listdir(root / "left/a") == ["left"]


def test_an_exchange(system: str, pair: Pair) -> None:
    left, right, root = pair
    if system in EXCHANGES:
        exchange(left, "a", right, "a")
        assert (os.listdir(root / "left/a"), os.listdir(root / "right/a")) == (["right"], ["left"])
        with pytest.raises(FileNotFoundError):
            exchange(left, "a", right, "nowhere")
    else:
        with pytest.raises(NoExchangeError):
            exchange(left, "a", right, "a")
    assert len(os.listdir(root / "left/a")) == 1


def test_nothing_to_rename(pair: Pair) -> None:
    left, right, _ = pair
    for function in (rename_new, move):
        with pytest.raises(FileNotFoundError):
            function(left, "nowhere", right, "b")


def test_a_plain_move(pair: Pair) -> None:
    left, right, root = pair
    move(left, "a", right, "b")
    assert sorted(os.listdir(root / "right")) == ["a", "b"]


def test_what_the_system_says_is_what_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EXDEV)
    with open_folder(str(tmp_path)) as folder, pytest.raises(OSError, match="cross-device") as caught:
        exchange(folder, "a", folder, "b")
    assert caught.value.errno == errno.EXDEV
