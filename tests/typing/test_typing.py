"""What a type checker says about code that uses the package: what it must accept and what it must reject.

Snippets stand beside this file. In ``rejected.py`` every line that must be an error ends in ``# E: code``;
mypy has to report exactly those lines with exactly those codes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ERROR = re.compile(r"^.*?:(\d+):(?:\d+:)? error: .*\[([\w-]+)\]$", re.MULTILINE)


def check(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, set[tuple[int, str]]]:
    """Run mypy on one file; return its report and the set of (line, code)."""
    # The installed package may be elsewhere: what is checked is the source beside this test.
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    report, trouble, _ = api.run(
        [
            "--strict",
            "--config-file=",
            "--no-incremental",
            "--no-error-summary",
            "--hide-error-context",
            str(path),
        ]
    )
    assert trouble == ""
    return report, {(int(line), code) for line, code in ERROR.findall(report)}


@pytest.mark.slow
def test_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    report, errors = check(HERE / "accepted.py", monkeypatch)
    assert errors == set(), report


@pytest.mark.slow
def test_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    path = HERE / "rejected.py"
    expected = {
        (number, code)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for code in re.findall(r"# E: ([\w-]+)", line)
    }
    assert expected
    report, errors = check(path, monkeypatch)
    assert errors == expected, report
