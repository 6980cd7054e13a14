"""Run the command line in this process, as fast as a function call, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stratadiff.cli.main import main

PROGRAM = "import sys; from stratadiff.cli.main import main; sys.exit(main())"


class Answer(NamedTuple):
    """What a command said."""

    code: int
    output: bytes
    error: str


class _Stream(io.TextIOWrapper):
    def __init__(self, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="ascii")  # whatever it is: the command writes bytes
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def written(self) -> bytes:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue()


@contextlib.contextmanager
def inside(folder: Path | str) -> Iterator[None]:
    """Work in a folder for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(argv: Sequence[str], folder: Path | str = ".", *, terminal: bool = False) -> Answer:
    """Run a command in this process."""
    output, error = _Stream(terminal), _Stream(terminal)
    before = sys.stdout, sys.stderr
    with inside(folder):
        sys.stdout, sys.stderr = output, error
        try:
            code = main(argv)
        finally:
            sys.stdout, sys.stderr = before
    return Answer(code, output.written(), error.written().decode())


def run_process(
    argv: Sequence[str | bytes], folder: Path | str = ".", *, environ: Mapping[str, str] | None = None
) -> Answer:
    """Run a command in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *argv],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, **(environ or {})},
    )
    return Answer(result.returncode, result.stdout, result.stderr.decode())
