"""Files read once from one descriptor, and files written whole or not at all.

The bytes that are hashed must be the bytes that are parsed, compared and shown (decision D5b), so a path is
opened once, its type is looked at on the descriptor and nothing is asked of the path again. Opening never
blocks: a fifo somebody put in a file's place is refused, not waited for. Names that are not UTF-8 arrive
and leave as ``os.fsdecode`` writes them.
"""

from __future__ import annotations

import errno
import os
import stat

from stratadiff.core.digests import sha256
from stratadiff.errors import NotFoundError, OutputError, UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Windows has no O_NONBLOCK and no O_NOFOLLOW, and translates line ends without O_BINARY.
READ_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_OPENS_FROM_DESCRIPTORS = os.open in os.supports_dir_fd and NO_FOLLOW != 0
CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0)

_PIECE = 1 << 20
"""Bytes hashed at a time: large outputs never lie in memory as a whole."""

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a fifo"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symbolic link"),
)


def read_file(path: str, *, follow: bool = True, folder: int | None = None) -> bytes:
    """Read a regular file from one descriptor.

    Parameters
    ----------
    path : str
        May hold surrogate escapes for bytes that are not UTF-8.
    follow : bool
        False refuses a symbolic link as the last component.
    folder : int, optional
        Descriptor of the folder that a relative path starts from.

    Raises
    ------
    NotFoundError
        Message ``missing``.
    UnreadableError
        Message ``is a directory, not a file`` (or a fifo, a socket, a device) or ``cannot be read:
        <system's text>``.
    """
    descriptor, status = open_regular(path, follow=follow, folder=folder)
    size = status.st_size
    try:
        # One byte more than the size: a file that did not grow ends the read with one call.
        data = os.read(descriptor, size + 1)
        if len(data) == size:
            return data
        return _read_rest(descriptor, data)
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(descriptor)


def hash_file(path: str, *, follow: bool = True) -> str:
    """Return the ``sha256:`` digest of a regular file's bytes, in constant memory.

    Raises
    ------
    NotFoundError, UnreadableError
        As :func:`read_file`.
    """
    descriptor, status = open_regular(path, follow=follow)
    size = status.st_size
    try:
        data = os.read(descriptor, min(size, _PIECE) + 1)
        digest = sha256(data)
        if len(data) != size:
            while data:
                data = os.read(descriptor, _PIECE)
                digest.update(data)
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(descriptor)
    return "sha256:" + digest.hexdigest()


def open_regular(path: str, *, follow: bool = True, folder: int | None = None) -> tuple[int, os.stat_result]:
    """Open a regular file for reading, without waiting for anything that is none.

    Parameters
    ----------
    path, follow, folder
        As :func:`read_file`.

    Returns
    -------
    (int, os.stat_result)
        The descriptor, the caller's to close, and what the system says of it.

    Raises
    ------
    NotFoundError, UnreadableError
        As :func:`read_file`.
    """
    try:
        descriptor = os.open(path, READ_FLAGS if follow else READ_FLAGS | NO_FOLLOW, dir_fd=folder)
    except (OSError, ValueError) as error:
        if folder is not None and not follow and is_link_refusal(error):
            raise UnreadableError("is a symbolic link, not a file", where=path) from None
        raise _unreadable(path, error, folder) from None
    status = os.fstat(descriptor)
    kind = kind_of(status.st_mode)
    if not kind:
        return descriptor, status
    os.close(descriptor)
    raise UnreadableError(f"is {kind}, not a file", where=path)


def kind_of(mode: int) -> str:
    """Return what a mode is the mode of, ``"a fifo"`` for instance; ``""`` for a regular file."""
    if stat.S_ISREG(mode):
        return ""
    return next((name for test, name in _KINDS if test(mode)), "something else")


def is_link_refusal(error: OSError | ValueError) -> bool:
    """Tell whether a name was not opened because it is a symbolic link."""
    return isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.EMLINK)  # the latter on BSD


def read_pieces(path: str, size: int = _PIECE) -> Iterator[bytes]:
    """Read a regular file from one descriptor, a piece at a time, in constant memory.

    Parameters
    ----------
    path : str
        May hold surrogate escapes for bytes that are not UTF-8.
    size : int
        Bytes of a piece; the last one may be shorter.

    Raises
    ------
    NotFoundError, UnreadableError
        As :func:`read_file`; at the first piece if the file cannot be opened.
    """
    descriptor = open_regular(path)[0]
    try:
        while piece := os.read(descriptor, size):
            yield piece
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(descriptor)


def read_below(root: str, relative: str) -> bytes | None:
    """Read a regular file below a folder, and only there.

    Parameters
    ----------
    root : str
        The folder; it may be reached through links itself.
    relative : str
        Components separated by ``/``, none of them ``..``.

    Returns
    -------
    bytes or None
        None when a link leads outside the folder, or around in a circle.

    Raises
    ------
    NotFoundError, UnreadableError
        As :func:`read_file`.

    Notes
    -----
    Every component is opened without following it, from the descriptor of the one before: no swap of a
    folder for a link in between can lead elsewhere. Only where a link is met the path is resolved first.
    """
    if _OPENS_FROM_DESCRIPTORS:
        descriptor = -1
        try:
            for part in (root, *relative.split("/")[:-1]):
                parent = descriptor
                try:
                    descriptor = os.open(
                        part,
                        FOLDER_FLAGS if parent < 0 else FOLDER_FLAGS | NO_FOLLOW,
                        dir_fd=parent if parent >= 0 else None,
                    )
                finally:
                    if parent >= 0:
                        os.close(parent)
                        if descriptor == parent:
                            descriptor = -1
            return read_file(relative.rpartition("/")[2], follow=False, folder=descriptor)
        except FileNotFoundError:
            raise NotFoundError("missing", where=f"{root}/{relative}") from None
        except (OSError, ValueError, UnreadableError):
            pass  # a link, perhaps; the slow way finds out and words the error
        finally:
            if descriptor >= 0:
                os.close(descriptor)
    path = real_path_inside(os.path.realpath(root), relative)
    return None if path is None else read_file(path, follow=False)


def real_path_inside(root: str, relative: str) -> str | None:
    """Resolve `relative` below `root` and tell whether it stays there.

    Parameters
    ----------
    root : str
        A path that is its own real path.
    relative : str
        Components separated by ``/``, none of them ``..``.

    Returns
    -------
    str or None
        The real path, inside `root`; None when a link leads out of it or around in a circle. Read it with
        ``follow=False``: what was resolved is then what is opened.
    """
    path = root
    for part in relative.split("/"):
        path = f"{path}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(path).st_mode):
                break
        except (OSError, ValueError):
            return path  # nothing there: reading it says so
    else:
        return path
    real = os.path.realpath(f"{root}/{relative}")
    if os.path.islink(real):
        return None  # realpath leaves a circle of links as it is
    return real if real.startswith(root.rstrip("/") + "/") else None


def atomic_write(path: str, data: bytes) -> None:
    """Write `data` to `path` so that a reader, or a crash, finds the old file or the new one and nothing
    between.

    The bytes go to a temporary name in the same folder, are flushed to the disk, and take the place of
    `path` in one step; the folder is flushed too. A device or fifo (``/dev/null``, ``/dev/stdout``) is
    written to as it is.

    Raises
    ------
    OutputError
        Nothing was published and the temporary file is gone.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise OutputError("is a directory, not a file to write to", where=path)
    try:
        if stat.S_ISREG(mode):
            _publish(path, data)
        else:
            write_all(os.open(path, os.O_WRONLY), data)
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot be written: {reason_of(error)}", where=path) from None


def _read_rest(descriptor: int, data: bytes) -> bytes:
    # The file changed under us, lies in a file system without sizes, or is past the most one call reads.
    pieces = [data]
    while data:
        data = os.read(descriptor, _PIECE)
        pieces.append(data)
    return b"".join(pieces)


def _unreadable(
    path: str, error: OSError | ValueError, folder: int | None = None
) -> NotFoundError | UnreadableError:
    if isinstance(error, FileNotFoundError):
        return NotFoundError("missing", where=path)
    may_be_folder = isinstance(error, OSError) and error.errno in (errno.EISDIR, errno.EACCES)
    if may_be_folder and folder is None and os.path.isdir(path):
        return UnreadableError("is a directory, not a file", where=path)
    return UnreadableError(f"cannot be read: {reason_of(error)}", where=path)


def reason_of(error: OSError | ValueError) -> str:
    """Return the system's words without the path, which is named by whoever prints the error."""
    if isinstance(error, UnicodeEncodeError):
        return "the name has no form in this file system"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)


def _publish(path: str, data: bytes) -> None:
    folder, name = os.path.split(path)
    # Long names leave no room for a suffix; the temporary one need not resemble the final one.
    temporary = os.path.join(folder, f".{name[:40]}.{os.getpid()}-{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, CREATE_FLAGS, 0o666)
    try:
        write_all(descriptor, data, sync=True)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
    _sync_folder(folder or ".")


def write_all(descriptor: int, data: bytes | memoryview, *, sync: bool = False) -> None:
    """Write all of `data`, flush it to the disk if asked to, and close the descriptor in any case."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    # The rename is on the disk only after its folder is; where folders cannot be opened, the system orders
    # it itself.
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
