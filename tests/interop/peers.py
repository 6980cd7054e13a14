"""Start the command lines under test: the published tools and ours, as black boxes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

DRIVER = Path(__file__).with_name("driver.py")
ENTRIES = {
    "onetrace": "onetrace.cli:main",
    "onetrace-verify": "onetrace_verify.cli:main",
    "shadow": "shadow.cli.app:main",
    "stratadiff": "stratadiff.cli.main:main",
}


class Job(NamedTuple):
    """A command line: program, arguments, working directory."""

    program: str
    argv: tuple[str, ...]
    cwd: Path


class Answer(NamedTuple):
    """What a command line gave: exit code, both streams, and the exception if it ended in one."""

    exit: int
    out: str
    err: str
    raised: str | None


def run_all(*batches: Sequence[Job]) -> list[list[Answer]]:
    """Run each batch in a process of its own, all batches at the same time."""
    with ThreadPoolExecutor(max_workers=max(1, len(batches))) as pool:
        return list(pool.map(_run_batch, batches))


def run_alone(job: Job) -> Answer:
    """Run one job in an interpreter of its own, through the console script's own function."""
    module, _, function = ENTRIES[job.program].partition(":")
    code = (
        f"import sys; from {module} import {function}; sys.argv[0] = {job.program!r}; sys.exit({function}())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *job.argv],
        cwd=job.cwd,
        capture_output=True,
        check=False,
        env=_environment(),
    )
    out, err = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
    return Answer(done.returncode, out, err, None)


def _run_batch(jobs: Sequence[Job]) -> list[Answer]:
    asked = [
        {"entry": ENTRIES[job.program], "prog": job.program, "argv": job.argv, "cwd": os.fspath(job.cwd)}
        for job in jobs
    ]
    done = subprocess.run(
        [sys.executable, os.fspath(DRIVER)],
        input=json.dumps(asked).encode(),
        stdout=subprocess.PIPE,
        check=True,
        env=_environment(),
    )
    return [Answer(**answer) for answer in json.loads(done.stdout)]


def _environment() -> dict[str, str]:
    """Return the environment the tools run in: this one, less what changes their output."""
    left_out = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "ONETRACE_VERIFIER", "PYTHONWARNINGS"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in left_out and not name.startswith("STRATADIFF_")
    }
    return kept | {"COLUMNS": "80", "PYTHONUTF8": "1"}
