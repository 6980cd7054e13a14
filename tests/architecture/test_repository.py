"""Rules about the files themselves: length, names, what may be written in them, and what must be used."""

from __future__ import annotations

import re
import subprocess

import pytest

from architecture.repository import CSRC, DOCS, ROOT, SRC, TESTS, all_files, python_files, read

MAX_LINES = 600
"""Past this a file is two things with two names."""

KERNELS = sorted(path.stem for path in CSRC.glob("*.pyx"))


LONG_KERNELS: dict[str, int] = {}
"""Kernels past it, and what they may not pass. Nothing joins this list; a kernel that was split leaves it."""


def test_no_source_file_is_too_long() -> None:
    files = [*python_files(SRC), *CSRC.glob("*.pyx")]
    lengths = {path.relative_to(ROOT).as_posix(): read(path).count("\n") for path in files}
    long = {name: length for name, length in lengths.items() if length > MAX_LINES}
