"""Every step a writer takes on the disk can fail, or be its last one."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stratadiff.core import renames

STEPS = ("mkdir", "open", "write", "fsync", "rename", "unlink", "rmdir")
"""Of ``os``; opening counts where it makes a file. The renames that never overwrite are ``_rename``."""

Action = Callable[[int, str, Callable[[], Any]], Any]


@contextlib.contextmanager
def steps(action: Action) -> Iterator[None]:
    """Have every step go through ``action(number, name, step)``, which takes it or does not."""
    taken = 0

    def through(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal taken
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **options)
            taken += 1
            return action(taken, name, lambda: real(*arguments, **options))

        return step

    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(os, name, through(name, getattr(os, name)))
        patch.setattr(renames, "_rename", through("_rename", renames._rename))
        yield


def count(function: Callable[[], object]) -> list[str]:
    """Return the names of the steps that a function takes."""
    names: list[str] = []

    def note(number: int, name: str, step: Callable[[], Any]) -> Any:
        names.append(name)
        return step()

    with steps(note):
        function()
    return names


def failing(at: int, error: BaseException, *, after: bool = False) -> Action:
    """Return an action that raises at one step: instead of it, or once it is taken."""

    def fail(number: int, name: str, step: Callable[[], Any]) -> Any:
        if number != at:
            return step()
        if after:
            step()
        raise error

    return fail


def no_space() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def killed(at: int, when: str, function: Callable[[], object]) -> None:
    """Run a function in a process of its own that is killed ``before``, ``after`` or ``during`` a step.

    During: half of what was to be written is written.
    """

    def kill(number: int, name: str, step: Callable[[], Any]) -> Any:
        if number == at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = step()
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    child = fork()
    if child == 0:
        try:
            if when == "during":
                real = os.write
                os.write = lambda descriptor, data: real(descriptor, data[: max(1, len(data) // 2)])  # type: ignore[assignment]
            with steps(kill):
                function()
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it came to its end"
    assert os.WTERMSIG(status) == signal.SIGKILL


def fork() -> int:
    """Fork, whatever threads a test before may have left behind: the child runs code of ours alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def in_processes(functions: list[Callable[[], object]]) -> list[int]:
    """Run functions at the same time, a process each; return 0 where one returned, 1 where it raised."""
    gate, starter = os.pipe()
    children = []
    for function in functions:
        child = fork()
        if child == 0:
            code = 98
            try:
                os.close(starter)
                os.read(gate, 1)  # nothing comes: it ends when the gate opens
                try:
                    function()
                    code = 0
                except Exception:
                    code = 1
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate)
    os.close(starter)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
