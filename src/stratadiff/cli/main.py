"""The entry point, and the one place where an exception becomes a line on standard error and an exit code.

Nothing of ours is printed as a traceback: not for a full disk, a closed pipe, Ctrl-C or a defect. Standard
output carries the result as UTF-8 bytes whatever the locale, so the same runs give the same bytes
everywhere.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

from stratadiff.cli import exit_codes
from stratadiff.cli.commands import COMMANDS
from stratadiff.cli.parser import PROG, ParserStop, parse
from stratadiff.errors import OutputError, StratadiffError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        The exit code (see :mod:`stratadiff.cli.exit_codes`). No exception leaves this function.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    if argv is None:
        # A process for one comparison makes many objects and no cycles: looking for those is 4 % of its time.
        gc.disable()
    if argv is None and sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  closed by the caller: there is nobody to tell
    code, silenced = _guarded(arguments)
    if silenced and argv is None:
        _forget_output()
    return code


def _guarded(arguments: Sequence[str]) -> tuple[int, bool]:
    """Run, and tell besides the exit code whether what is left in the output's buffer must not be seen."""
    try:
        return _run(arguments), False
    except UsageError as error:
        prog = f"{PROG} {arguments[0]}" if arguments and arguments[0] in COMMANDS else PROG
        write_error(f"{error.where}{prog}: error: {error.message}\n")
        return exit_codes.USAGE, False
    except BrokenPipeError:
        return exit_codes.PIPE_CLOSED, True
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED, True
    except StratadiffError as error:
        _say(str(error))
        not_written = isinstance(error, OutputError)
        return (exit_codes.NOT_WRITTEN if not_written else exit_codes.COULD_NOT_CHECK), not_written
    except OSError as error:  # what reads or writes files turns their errors into ours; this is a stream's
        _say(f"cannot write the result: {error.strerror or error}")
        return exit_codes.NOT_WRITTEN, True
    except MemoryError:
        _say("not enough memory")
        return exit_codes.INTERNAL, True
    except Exception as error:
        _say(f"internal error: {_origin(error)}; please report this line")
        return exit_codes.INTERNAL, True


def write_output(data: bytes) -> None:
    """Write a result to standard output, completely.

    Raises
    ------
    BrokenPipeError
        Whoever read it went away.
    OutputError
        It is closed, or the system cannot write to it.
    """
    stream = sys.stdout
    if stream is None:
        raise OutputError("standard output is closed; nothing could be written")
    try:
        stream.flush()
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(data.decode())
            stream.flush()
        else:
            _write_all(raw, data)
            raw.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno == errno.EPIPE or (os.name == "nt" and error.errno == errno.EINVAL):
            raise BrokenPipeError from None  # Windows says EINVAL
        raise OutputError(f"standard output cannot be written: {error.strerror or error}") from None
    except ValueError:
        raise OutputError("standard output is closed; nothing could be written") from None


def write_error(text: str) -> None:
    """Write a message to standard error; where that is closed or broken there is nobody to tell."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        data = text.encode("utf-8", "backslashreplace")
        raw = getattr(stream, "buffer", None)
        if raw is None:
            stream.write(data.decode())
        else:
            stream.flush()
            _write_all(raw, data)
        stream.flush()
    except (OSError, ValueError):
        pass


def _write_all(raw: BinaryIO, data: bytes) -> None:
    # Unbuffered (python -u), the stream is the file itself, and one call writes what fits into a pipe.
    view = memoryview(data)
    while view:
        count = raw.write(view)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        view = view[count:]


def _run(arguments: Sequence[str]) -> int:
    try:
        parsed = parse(arguments)
    except ParserStop as stop:
        write_output(stop.text.encode())
        return exit_codes.IDENTICAL
    if (
        sys.stdout is None and parsed.command != "diff"
    ):  # a diff may be asked for its exit code or report alone
        raise OutputError("standard output is closed; nothing could be written")
    # Not importlib.import_module: importing importlib itself is part of start-up.
    module = __import__(COMMANDS[parsed.command].module, fromlist=["run"])
    code: int = module.run(parsed)
    return code


def _say(message: str) -> None:
    from stratadiff.core.escape import escape_name

    write_error(f"{PROG}: {escape_name(message)}\n")


def _origin(error: BaseException) -> str:
    """Describe an unexpected exception in one line: type, text, and the place in our code."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f" at {os.path.basename(code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' + text if text else ''}{place}"


def _forget_output() -> None:
    """Let the interpreter's flush at exit go nowhere: it would print what is kept quiet about here."""
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, 1)
        os.close(descriptor)
    except (OSError, ValueError):
        pass
