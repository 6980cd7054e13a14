"""Run command lines one after another in one process: ``python driver.py < jobs.json > answers.json``.

Starting an interpreter costs more than most comparisons here, and there are hundreds. Each job still gets
what a process would give it: its working directory, its own standard output and error (real file
descriptors), its exit code. A job that ends in an exception is reported with the exception's type.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from typing import Any


def main() -> None:
    """Read jobs from standard input, run them, write the answers to what was standard output."""
    jobs = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        json.dump([run(job) for job in jobs], answers)


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run one job ``{entry, prog, argv, cwd}``, `entry` being ``module:function``."""
    module, _, function = job["entry"].partition(":")
    os.chdir(job["cwd"])
    sys.argv = [job["prog"], *job["argv"]]
    answer: dict[str, Any] = {"exit": 0, "raised": None}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        try:
            answer["exit"] = getattr(importlib.import_module(module), function)(job["argv"]) or 0
        except SystemExit as stop:
            answer["exit"] = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        except Exception as problem:  # what a console script would print as a traceback
            answer["exit"] = 1
            answer["raised"] = f"{type(problem).__name__}: {problem}"
        for stream in (sys.stdout, sys.stderr):
            stream.close()
        for name, file in (("out", out), ("err", err)):
            file.seek(0)
            answer[name] = file.read().decode("utf-8", "surrogateescape")
    return answer


if __name__ == "__main__":
    main()
