"""The two renames that never overwrite: into a name nobody has, and two names exchanged in one step.

Linux has both in ``renameat2``, macOS in ``renameatx_np``; some of their file systems have neither. Windows
never overwrites a name and cannot exchange two.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.core.folders import Folder

_NEW_NAME = {"linux": 1, "darwin": 4}
_EXCHANGE = {"linux": 2, "darwin": 2}
_FUNCTIONS = {"linux": "renameat2", "darwin": "renameatx_np"}

# For C libraries that are older than the system call, by what uname says of the machine.
_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "ppc64le": 357, "s390x": 347, "i686": 353}

_WITHOUT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
"""How a system or a file system says that it has no such step."""


class NoExchangeError(OSError):
    """The system or the file system cannot exchange two names in one step."""


def rename_new(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Rename an entry to a name that nothing has.

    Raises
    ------
    FileExistsError
        Something has that name; it is untouched.
    OSError
        As ``os.rename`` raises it.

    Notes
    -----
    Where the system has no such step, the name is looked at first. What is renamed is a folder, so the most
    that could be lost is an empty folder somebody made in between.
    """
    if _rename(source, name, target, new_name, _NEW_NAME):
        return
    try:
        target.status(new_name)
    except FileNotFoundError:
        move(source, name, target, new_name)
        return
    raise FileExistsError(errno.EEXIST, "File exists")


def exchange(source: Folder, name: str, target: Folder, other_name: str) -> None:
    """Exchange two entries in one step: at no moment one of the names is missing.

    Raises
    ------
    NoExchangeError
        The system or the file system has no such step; nothing was done.
    OSError
        As ``os.rename`` raises it: ``FileNotFoundError`` if one of them is not there.
    """
    if not _rename(source, name, target, other_name, _EXCHANGE):
        raise NoExchangeError(errno.ENOTSUP, "two names cannot be exchanged in one step here")


def move(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Rename an entry as ``os.rename`` does."""
    from_folder, from_name = source.place_of(name)
    to_folder, to_name = target.place_of(new_name)
    if from_folder is None or to_folder is None:
        os.rename(from_name, to_name)
    else:
        os.rename(from_name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)


def _rename(source: Folder, name: str, target: Folder, new_name: str, flags: dict[str, int]) -> bool:
    """Make the system call; False if there is none."""
    system = sys.platform
    from_folder, from_name = source.place_of(name)
    to_folder, to_name = target.place_of(new_name)
    if system not in flags or from_folder is None or to_folder is None:
        return False
    try:
        import ctypes  # only for writers: start-up

        library = ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return False
    places = (
        ctypes.c_int(from_folder),
        ctypes.c_char_p(os.fsencode(from_name)),
        ctypes.c_int(to_folder),
        ctypes.c_char_p(os.fsencode(to_name)),
        ctypes.c_uint(flags[system]),
    )
    if hasattr(library, _FUNCTIONS[system]):
        failed = getattr(library, _FUNCTIONS[system])(*places)
    elif system == "linux" and os.uname().machine in _NUMBERS:
        failed = library.syscall(ctypes.c_long(_NUMBERS[os.uname().machine]), *places)
    else:
        return False
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _WITHOUT:
        return False
    raise OSError(code, os.strerror(code))
