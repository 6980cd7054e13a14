"""A folder of files published whole or not at all, also in place of another one.

The files are written in a private folder beside the destination, flushed, and take their place in one step.
Killed at any moment, the process leaves the old folder or the new one under the destination's name, complete,
and perhaps its private folder, whose name starts with a dot and whose contents are one level down.

Nothing is ever overwritten or removed by its name alone. What is to be replaced is looked at by the caller,
comes out of the exchange, and must be what was looked at; otherwise it goes back. Whatever else writes to the
same destination at the same time finds the same care.
"""

from __future__ import annotations

import os

from stratadiff.core.files import reason_of
from stratadiff.core.folders import Folder, open_folder, stamp_of
from stratadiff.core.frozen import Frozen, Struct
from stratadiff.core.renames import NoExchangeError, exchange, move, rename_new
from stratadiff.errors import InputError, OutputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from stratadiff.core.folders import Stamp

    Claim: TypeAlias = Callable[[Folder, str], "Occupant"]

_NEW = "new"
_SUFFIX = ".tmp"
_RANDOM_BYTES = 6
_TRIES = 100
"""Times others may take or free the destination while it is being taken."""


class Published(Struct):
    """What was published.

    Attributes
    ----------
    path : str
        Where it is now, absolute.
    replaced : bool
        Whether something was there before.
    leftovers : tuple of str
        Private folders, absolute, that runs which were killed have left beside it, and what of the one before
        could not be removed. A run that had to be non-atomic leaves both bundles whole in there.
    """

    __slots__ = ("leftovers", "path", "replaced")
    path: str
    replaced: bool
    leftovers: tuple[str, ...]

    def __init__(self, path: str, replaced: bool, leftovers: Iterable[str] = ()) -> None:
        self._fill(path=path, replaced=replaced, leftovers=tuple(leftovers))


class Occupant(Frozen):
    """A flat folder at the destination that may be replaced, in the state in which that was decided.

    Attributes
    ----------
    identity : (int, int)
        Of the folder: device and inode.
    stamps : dict of str to tuple
        Every entry, by name, as :func:`~stratadiff.core.folders.stamp_of` has it.
    """

    __slots__ = ("identity", "stamps")
    identity: tuple[int, int]
    stamps: Mapping[str, Stamp]

    def __init__(self, identity: tuple[int, int], stamps: Mapping[str, Stamp]) -> None:
        self._fill(identity=identity, stamps=stamps)

    def is_at(self, parent: Folder, name: str) -> bool:
        """Tell whether that entry is this folder and nothing in it has changed."""
        try:
            with parent.open_folder(name) as folder:
                names = {entry for entry, _ in folder.entries()}
                return (
                    folder.identity == self.identity
                    and names == set(self.stamps)
                    and all(stamp_of(folder.status(entry)) == stamp for entry, stamp in self.stamps.items())
                )
        except (OSError, InputError):
            return False


def destination_of(path: str) -> tuple[str, str]:
    """Return the folder above and the name of a destination.

    Raises
    ------
    OutputError
        The path ends in no name: ``""``, ``.``, ``..``, ``/``.
    """
    ends = os.sep + (os.altsep or "")
    above, name = os.path.split(path.rstrip(ends))
    if name in ("", os.curdir, os.pardir):
        raise OutputError("does not end in a name; give the folder to be written by its name", where=path)
    return above or os.curdir, name


def publish_folder(
    path: str, files: Sequence[tuple[str, bytes]], *, claim: Claim | None = None, atomic: bool = True
) -> Published:
    """Publish a flat folder of files.

    Parameters
    ----------
    path : str
        The destination; the folder above it must be there.
    files : sequence of (str, bytes)
        Name and content, written in this order.
    claim : callable, optional
        Given the folder above and the name of what is at the destination, returns it as an
        :class:`Occupant` that may be replaced, or raises an OutputError that says why not. By default
        nothing is replaced.
    atomic : bool
        False accepts, where names cannot be exchanged in one step, a moment without a destination: what was
        there is put aside in the private folder before the new one is put in place, and removed afterwards.

    Raises
    ------
    OutputError
        Nothing was published, what was at the destination is untouched, and no private folder is left; if one
        had to be left, the message names it.

    Notes
    -----
    Every file, their folder, and the folder above are flushed to the disk, the latter after the rename.
    """
    parent, name, absolute = _opened(path)
    with parent:
        work = _Publication(parent, name, absolute, claim, atomic)
        try:
            return work.run(files)
        except (OSError, ValueError) as error:
            raise OutputError(f"cannot be written: {reason_of(error)}{work.remark()}", where=path) from None
        except OutputError as error:
            raise OutputError(error.message + work.remark(), where=path) from None


def check_destination(path: str, *, claim: Claim | None = None) -> None:
    """Raise now what :func:`publish_folder` would raise of the destination, before there is work to lose."""
    parent, name, _ = _opened(path)
    with parent:
        try:
            _look(parent, name, claim)
        except (OSError, ValueError) as error:
            raise OutputError(f"cannot be written: {reason_of(error)}", where=path) from None
        except OutputError as error:
            raise OutputError(error.message, where=path) from None


def _opened(path: str) -> tuple[Folder, str, str]:
    """Return the folder above a destination, its name, and its absolute path."""
    above, name = destination_of(path)
    try:
        absolute = _absolute(above, name)
        return open_folder(above, follow=True), name, absolute
    except InputError as error:
        said = "is missing" if error.message == "missing" else error.message
        raise OutputError(f"cannot be written: the folder above it {said}", where=path) from None
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot be written: {reason_of(error)}", where=path) from None


def _look(parent: Folder, name: str, claim: Claim | None) -> Occupant | None:
    try:
        parent.status(name)
    except FileNotFoundError:
        return None
    if claim is None:
        raise OutputError("is there already; nothing is replaced unless that is asked for")
    try:
        return claim(parent, name)
    except FileNotFoundError:
        return None


class _Publication:
    def __init__(self, parent: Folder, name: str, absolute: str, claim: Claim | None, atomic: bool) -> None:
        self.parent = parent
        self.name = name
        self.absolute = absolute
        self.claim = claim
        self.atomic = atomic
        self.private_name = ""
        self.private: Folder
        self.identity: tuple[int, int] | None = None  # of the new folder
        self.names: list[str] = []  # of its files
        self.replaced: dict[str, Occupant] = {}  # by their names in the private folder
        self.is_kept = False  # the private folder could not be removed

    def run(self, files: Sequence[tuple[str, bytes]]) -> Published:
        occupant = _look(self.parent, self.name, self.claim)
        self._make_private()
        try:
            try:
                self._write(files)
                self._take_place(occupant)
            except BaseException:
                self._withdraw()
                raise
            try:
                self._sync_above()
            finally:
                self._clear()
        finally:
            self.private.close()
        was_there = bool(self.replaced)
        leftovers = leftovers_of(self.parent, self.name, os.path.dirname(self.absolute))
        return Published(self.absolute, was_there, leftovers)

    def remark(self) -> str:
        """Return the end of a message: what is left behind."""
        if not self.is_kept:
            return ""
        return f"; left behind: {os.path.join(os.path.dirname(self.absolute), self.private_name)}"

    def _make_private(self) -> None:
        for _ in range(_TRIES):
            self.private_name = f"{_prefix(self.name)}{os.urandom(_RANDOM_BYTES).hex()}{_SUFFIX}"
            try:
                self.private = self.parent.make_folder(self.private_name, 0o700)
            except FileExistsError:
                continue
            _lock(self.private)
            return
        raise OutputError("cannot be written: no name is free for a temporary folder")

    def _write(self, files: Sequence[tuple[str, bytes]]) -> None:
        with self.private.make_folder(_NEW) as new:
            self.identity = new.identity
            for name, data in files:
                self.names.append(name)
                new.write_file(name, data)
            new.sync()

    def _take_place(self, occupant: Occupant | None) -> None:
        for _ in range(_TRIES):
            try:
                if occupant is None:
                    rename_new(self.private, _NEW, self.parent, self.name)
                    return
                self.replaced[_NEW] = occupant
                exchange(self.private, _NEW, self.parent, self.name)
            except FileExistsError:  # somebody was faster
                occupant = _look(self.parent, self.name, self.claim)
            except FileNotFoundError:  # what was there has gone
                self.replaced.pop(_NEW, None)
                if self._stands_at(self.private, _NEW) is False:
                    raise
                occupant = None
            except NoExchangeError:
                del self.replaced[_NEW]
                if self.atomic:
                    raise OutputError(
                        "cannot be replaced in one step: this system or file system cannot exchange two "
                        "names; accept a moment without a destination (non-atomic), or remove it first"
                    ) from None
                assert occupant is not None
                self._put_aside(occupant)
                occupant = None
            else:
                self._check_out(_NEW, occupant)
                return
        raise OutputError("cannot be written: others write to it all the time")

    def _put_aside(self, occupant: Occupant) -> None:
        place = f"old{len(self.replaced)}"
        self.replaced[place] = occupant
        try:
            move(self.parent, self.name, self.private, place)
        except FileNotFoundError:
            del self.replaced[place]
        else:
            self._check_out(place, occupant)

    def _check_out(self, place: str, occupant: Occupant) -> None:
        """Make sure that what came out is what may be replaced; otherwise put it back."""
        if occupant.is_at(self.private, place):
            return
        assert self.claim is not None
        try:
            self.replaced[place] = self.claim(self.private, place)
        except (OutputError, OSError):
            del self.replaced[place]
            self._put_back(place)
            raise OutputError("was changed by somebody else while it was to be replaced") from None

    def _put_back(self, place: str) -> None:
        if place == _NEW:
            try:
                exchange(self.private, place, self.parent, self.name)
                return
            except FileNotFoundError:
                pass  # there is nothing to exchange it for any more
        rename_new(self.private, place, self.parent, self.name)

    def _sync_above(self) -> None:
        try:
            self.parent.sync()
        except OSError as error:
            self.is_kept = bool(self.replaced)  # what was there before is worth something now
            raise OutputError(
                f"was published, but may not survive a power failure: {reason_of(error)}"
            ) from None

    def _clear(self) -> None:
        """Remove what was replaced, and the private folder."""
        if self.is_kept:
            return
        try:
            self._remove_replaced()
        except BaseException:  # interrupted: once more
            self._remove_replaced()
            raise

    def _remove_replaced(self) -> None:
        for place, occupant in self.replaced.items():
            self._remove(place, occupant.stamps)
        self._remove_private()

    def _withdraw(self) -> None:
        """Leave everything as it was, as far as it is known to be ours."""
        if self.identity is not None and self._stands_at(self.parent, self.name):
            # Interrupted just after the step: it is published.
            for place, occupant in self.replaced.items():
                if occupant.is_at(self.private, place):
                    self._remove(place, occupant.stamps)
        else:
            if self.identity is None or self._stands_at(self.private, _NEW):
                self._remove(_NEW, self.names)
            for place in reversed(self.replaced):
                if place != _NEW:
                    try:
                        rename_new(self.private, place, self.parent, self.name)
                    except OSError:
                        pass  # it stays where it is, whole, and the message names it
        self._remove_private()

    def _stands_at(self, folder: Folder, name: str) -> bool:
        try:
            status = folder.status(name)
        except (OSError, ValueError):
            return False
        return (status.st_dev, status.st_ino) == self.identity

    def _remove(self, place: str, names: Iterable[str]) -> None:
        try:
            with self.private.open_folder(place) as folder:
                for name in names:
                    try:
                        folder.remove_file(name)
                    except FileNotFoundError:
                        pass
            self.private.remove_folder(place)
        except OSError:
            pass  # then the private folder cannot be removed, which is what is reported

    def _remove_private(self) -> None:
        try:
            self.parent.remove_folder(self.private_name)
        except OSError:
            self.is_kept = True


def leftovers_of(parent: Folder, name: str, absolute: str) -> list[str]:
    """Return the private folders of a destination that no running process holds.

    Parameters
    ----------
    parent : Folder
        The folder above the destination.
    name : str
        The destination's name. Of longer ones than 40 characters only those are looked at.
    absolute : str
        The path of `parent`, put before each name.
    """
    prefix = _prefix(name)
    size = len(prefix) + 2 * _RANDOM_BYTES + len(_SUFFIX)
    found = []
    try:
        entries = parent.entries()
    except InputError:
        return []  # it is published; a remark that cannot be made is no error
    for entry, kind in entries:
        if kind and len(entry) == size and entry.startswith(prefix) and entry.endswith(_SUFFIX):
            try:
                with parent.open_folder(entry) as folder:
                    if not _is_locked(folder) and folder.entries():
                        found.append(os.path.join(absolute, entry))
            except (OSError, InputError):
                pass
    return found


def _prefix(name: str) -> str:
    return f".{name[:40]}."  # a long name leaves no room for more


def _absolute(above: str, name: str) -> str:
    if os.pardir in above.split(os.sep):
        return os.path.join(os.path.realpath(above), name)
    return os.path.join(os.path.abspath(above), name)


def _lock(folder: Folder) -> None:
    """Hold the folder, so that it is not taken for a leftover; the system lets go when the process ends."""
    try:
        import fcntl  # only for writers: start-up

        fcntl.flock(folder.descriptor, fcntl.LOCK_SH)
    except (ImportError, OSError, ValueError):
        pass


def _is_locked(folder: Folder) -> bool:
    try:
        import fcntl

        fcntl.flock(folder.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError, ValueError):
        pass
    return False
