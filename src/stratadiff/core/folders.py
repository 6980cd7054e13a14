"""Folders held by a descriptor: what is in one is listed, opened and made from there, not by its path again.

Somebody who swaps the folder, or an entry of it, for a link between two steps leads nowhere else: names are
opened without following links, and what a name is is decided on the descriptor. Where the system opens
nothing from descriptors (Windows), paths are joined, and what was opened must be what was looked at.
"""

from __future__ import annotations

import errno
import os
import stat

from stratadiff.core.digests import sha256
from stratadiff.core.files import (
    CREATE_FLAGS,
    FOLDER_FLAGS,
    NO_FOLLOW,
    kind_of,
    open_regular,
    reason_of,
    write_all,
)
from stratadiff.errors import NotFoundError, UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    Stamp: TypeAlias = tuple[int, int, int, int, int]

FROM_DESCRIPTORS = (
    {os.open, os.stat, os.mkdir, os.unlink, os.rmdir, os.rename} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
    and NO_FOLLOW != 0
)
"""Whether names are taken from the folder's descriptor."""

_PIECE = 1 << 18
"""Bytes read at a time: small enough to stay in the cache while they are hashed."""

_NOT_ABLE = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF)
"""What a system says that cannot flush folders, not that a flush failed."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what tells a file, and a state of it, from others: device, inode, size, times of change."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class OpenFile:
    """A regular file, open for reading.

    Attributes
    ----------
    size : int
        Bytes, when it was opened.
    stamp : tuple of int
        :func:`stamp_of` it, when it was opened.
    """

    __slots__ = ("_descriptor", "size", "stamp")

    def __init__(self, descriptor: int, status: os.stat_result) -> None:
        self._descriptor = descriptor
        self.size = status.st_size
        self.stamp = stamp_of(status)

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        _close(self._descriptor)

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Read it from where it stands, a piece at a time; a piece is good until the next one is asked for.

        Raises
        ------
        UnreadableError
            Message ``cannot be read: <system's text>``.
        """
        if not hasattr(os, "readv"):
            while data := self._read(_PIECE):
                yield data
            return
        piece = memoryview(bytearray(min(self.size + 1, _PIECE)))  # filled again and again: no new memory
        while True:
            try:
                count = os.readv(self._descriptor, (piece,))
            except OSError as error:
                raise UnreadableError(f"cannot be read: {reason_of(error)}") from None
            if not count:
                return
            yield piece[:count]

    def read(self, limit: int) -> bytes:
        """Return its bytes, at most `limit`; as :meth:`pieces`."""
        data = self._read(min(self.size, limit) + 1)
        if len(data) == self.size <= limit:
            return data  # one byte more than the size was asked for: the file has not grown
        parts = []
        while data and limit > 0:
            parts.append(data[:limit])
            limit -= len(data)
            data = self._read(_PIECE)
        return b"".join(parts)

    def digest(self) -> str:
        """Return the SHA-256 of its bytes as 64 hexadecimal digits, in constant memory; as :meth:`pieces`."""
        digest = sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.hexdigest()

    def is_unchanged(self) -> bool:
        """Tell whether it is still what it was when it was opened."""
        return stamp_of(os.fstat(self._descriptor)) == self.stamp

    def _read(self, size: int) -> bytes:
        try:
            return os.read(self._descriptor, size)
        except OSError as error:
            raise UnreadableError(f"cannot be read: {reason_of(error)}") from None


class Folder:
    """A folder, held open.

    Attributes
    ----------
    path : str
        Where it was; for messages.
    descriptor : int
        Negative where names are not taken from it.
    identity : (int, int)
        Device and inode: the folder itself, wherever it is moved.
    """

    __slots__ = ("descriptor", "identity", "path")

    def __init__(self, path: str, descriptor: int, status: os.stat_result) -> None:
        self.path = path
        self.descriptor = descriptor
        self.identity = (status.st_dev, status.st_ino)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it; it may be closed twice."""
        if self.descriptor >= 0:
            _close(self.descriptor)
            self.descriptor = -1

    # Reading: raises the package's errors.

    def entries(self) -> list[tuple[str, str]]:
        """Return the name and :func:`~stratadiff.core.files.kind_of` of every entry, by the bytes of names.

        Raises
        ------
        UnreadableError
            Message ``cannot be listed: <system's text>``.
        """
        try:
            with os.scandir(self.descriptor if self.descriptor >= 0 else self.path) as entries:
                found = [(entry.name, self._kind(entry)) for entry in entries]
        except OSError as error:
            raise UnreadableError(f"cannot be listed: {reason_of(error)}", where=self.path) from None
        found.sort(key=lambda entry: os.fsencode(entry[0]))
        return found

    def _kind(self, entry: os.DirEntry[str]) -> str:
        try:
            if entry.is_file(follow_symlinks=False):  # the system said so when it listed: no call
                return ""
            return kind_of(entry.stat(follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return "gone"
        except OSError as error:
            return f"of unknown type ({reason_of(error)})"

    def open_file(self, name: str) -> OpenFile:
        """Open a regular file of the folder; no link is followed, and nothing is waited for.

        Raises
        ------
        NotFoundError, UnreadableError
            As :func:`~stratadiff.core.files.read_file`.
        """
        if self.descriptor >= 0:
            return OpenFile(*open_regular(name, follow=False, folder=self.descriptor))
        try:
            seen = self.status(name)
        except FileNotFoundError:
            raise NotFoundError("missing", where=name) from None
        except (OSError, ValueError) as error:
            raise UnreadableError(f"cannot be read: {reason_of(error)}", where=name) from None
        if kind_of(seen.st_mode):
            raise UnreadableError(f"is {kind_of(seen.st_mode)}, not a file", where=name)
        descriptor, status = open_regular(self._joined(name))
        if (status.st_dev, status.st_ino) == (seen.st_dev, seen.st_ino):
            return OpenFile(descriptor, status)
        os.close(descriptor)
        raise UnreadableError("cannot be read: it was exchanged for another", where=name)

    # Everything else: raises OSError.

    def status(self, name: str) -> os.stat_result:
        """Return what the system says of an entry, a link not followed."""
        return os.stat(self._joined(name), follow_symlinks=False, **self._from_here())

    def open_folder(self, name: str) -> Folder:
        """Open a folder in this one, a link not followed."""
        return _opened(self._joined(name), os.path.join(self.path, name), False, self._from_here())

    def make_folder(self, name: str, mode: int = 0o777) -> Folder:
        """Make a folder in this one, and open it.

        Raises
        ------
        OSError
            ``FileExistsError`` if something has that name.
        """
        os.mkdir(self._joined(name), mode, **self._from_here())
        try:
            return self.open_folder(name)
        except BaseException:
            self.remove_folder(name)
            raise

    def write_file(self, name: str, data: bytes | memoryview) -> None:
        """Make a file in the folder, write all of `data` to it and flush it to the disk."""
        descriptor = os.open(self._joined(name), CREATE_FLAGS, 0o666, **self._from_here())
        write_all(descriptor, data, sync=True)

    def remove_file(self, name: str) -> None:
        """Remove an entry that is no folder."""
        os.unlink(self._joined(name), **self._from_here())

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder in this one."""
        os.rmdir(self._joined(name), **self._from_here())

    def sync(self) -> None:
        """Flush the names in the folder to the disk, where the system can."""
        try:
            if self.descriptor >= 0:
                os.fsync(self.descriptor)
        except OSError as error:
            if error.errno not in _NOT_ABLE:
                raise

    def place_of(self, name: str) -> tuple[int | None, str]:
        """Return a descriptor, or None, and the name or path that goes with it in a system call."""
        return (self.descriptor if self.descriptor >= 0 else None), self._joined(name)

    def _joined(self, name: str) -> str:
        return name if self.descriptor >= 0 else os.path.join(self.path, name)

    def _from_here(self) -> dict[str, Any]:
        return {"dir_fd": self.descriptor} if self.descriptor >= 0 else {}


def without_trailing(path: str) -> str:
    """Return a path without the separators it ends in, which would follow a link; ``/`` stays."""
    bare = path.rstrip(os.sep + (os.altsep or ""))
    return bare or path[:1]


def open_folder(path: str, *, follow: bool = False) -> Folder:
    """Open a folder.

    Parameters
    ----------
    path : str
        May hold surrogate escapes for bytes that are not UTF-8.
    follow : bool
        True follows a symbolic link as the last component; those before it are followed always.

    Raises
    ------
    NotFoundError
        Message ``missing``.
    UnreadableError
        Message ``is a symbolic link, not a directory`` (or a file, a fifo, …) or ``cannot be opened:
        <system's text>``.
    """
    try:
        return _opened(path, path, follow, {})
    except FileNotFoundError:
        raise NotFoundError("missing", where=path) from None
    except (OSError, ValueError) as error:
        try:
            mode = os.stat(path, follow_symlinks=follow).st_mode
        except (OSError, ValueError):
            mode = stat.S_IFDIR
        if stat.S_ISDIR(mode):
            raise UnreadableError(f"cannot be opened: {reason_of(error)}", where=path) from None
        raise UnreadableError(f"is {kind_of(mode) or 'a file'}, not a directory", where=path) from None


def _close(descriptor: int) -> None:
    # Only read from: whatever the system has to say now, it has given what was asked for.
    try:
        os.close(descriptor)
    except OSError:
        pass


def _opened(name: str, path: str, follow: bool, start: dict[str, Any]) -> Folder:
    if FROM_DESCRIPTORS:
        descriptor = os.open(name, FOLDER_FLAGS if follow else FOLDER_FLAGS | NO_FOLLOW, **start)
        return Folder(path, descriptor, os.fstat(descriptor))
    status = os.stat(name, follow_symlinks=follow)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory")
    return Folder(path, -1, status)
