"""What a script sees when something breaks: distinct codes, one line, never a traceback (user report U24)."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import stratadiff
from cli.command import PROGRAM, run, run_process
from runs.recording import Stage, record, record_pair
from stratadiff.cli import exit_codes

DIFF = ["diff", *stratadiff.demo_runs(), "--text"]

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and closed descriptors of POSIX systems")
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


def shell(redirection: str, argv: list[str]) -> tuple[int, str]:
    """Run a command behind a shell's redirection; return its code and what it said on standard error."""
    script = f'"$0" -c "$1" "${{@:2}}" {redirection}'
    result = subprocess.run(
        ["bash", "-c", script, sys.executable, PROGRAM, *argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return result.returncode, result.stderr


def test_u24_each_outcome_has_its_own_code(tmp_path: Path) -> None:
    same, changed = record_pair(tmp_path, b"a\n", b"b\n")
    damaged = tmp_path / "damaged"
    record(damaged, [Stage("answer", {"out.txt": b"x"})])
    (damaged / "receipts" / "01-answer.json").write_bytes(b"{}")
    record(tmp_path / "other", [Stage("load", {"out.txt": b"x"})])
    missing = str(tmp_path / "missing")
    assert run(["diff", same, same]).code == exit_codes.IDENTICAL == 0
    assert run(["diff", same, changed]).code == exit_codes.DIVERGED == 1
    assert run(["diff", same, str(tmp_path / "other")]).code == exit_codes.NOT_COMPARABLE == 2
    assert run(["diff", same, str(damaged)]).code == exit_codes.REFUSED == 3
    assert run(["diff", same, missing]).code == exit_codes.COULD_NOT_CHECK == 4
    assert run(["diff", same]).code == exit_codes.USAGE == 2
    documented = exit_codes.__doc__ or ""
    for name, code in vars(exit_codes).items():
        if name.isupper():
            assert f"\n{code} " in documented, name


@posix
def test_u24_a_reader_that_goes_away_ends_it_silently(tmp_path: Path) -> None:
    lines = b"".join(b"line %d\n" % number for number in range(30_000))
    a, b = record_pair(tmp_path, b"", lines)
    argv = ["diff", a, b, "--text", "--max-lines", "100000"]
    for more in ([], ["--json"]):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *argv, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(1)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == exit_codes.PIPE_CLOSED


@posix
def test_u24_standard_output_closed() -> None:
    for argv in (DIFF, [*DIFF, "--json"], ["verify", DIFF[1]], ["--version"], ["demo"]):
        code, error = shell(">&-", argv)
        assert code == exit_codes.NOT_WRITTEN, argv
        assert error == "stratadiff: standard output is closed; nothing could be written\n"


@posix
def test_a_quiet_diff_needs_no_standard_output(tmp_path: Path) -> None:
    assert shell(">&-", ["diff", *DIFF[1:3], "--quiet"]) == (1, "")
    report = tmp_path / "report"
    assert shell(">&-", [*DIFF, "--quiet", "--out", str(report)]) == (1, "")
    assert (report / "diff.json").is_file()


@posix
def test_u24_standard_error_closed() -> None:
    assert shell("2>&-", DIFF)[0] == 1
    assert shell("2>&-", ["diff", "only-one"])[0] == 2
    assert shell("2>&-", ["verify", "no-such-run"])[0] == 2
    assert shell(">&- 2>&-", DIFF)[0] == exit_codes.NOT_WRITTEN


@needs_full
def test_u24_full_disk_is_one_line() -> None:
    for argv in (DIFF, [*DIFF, "--json"], ["verify", DIFF[1]], ["diff", "--help"]):
        code, error = shell(">/dev/full", argv)
        assert code == exit_codes.NOT_WRITTEN, argv
        assert error.count("\n") == 1
        assert error.startswith("stratadiff: ")
        assert os.strerror(errno.ENOSPC) in error
    assert shell("2>/dev/full", ["diff", "only-one"])[0] == 2


@posix
def test_u24_interrupt_is_quiet(tmp_path: Path) -> None:
    fifo = tmp_path / "ready"
    os.mkfifo(fifo)
    # The command says that it has begun, then works for a long time: it is stopped in the middle of work.
    program = (
        "import signal, sys, time\n"
        # A shell that starts the tests in the background has it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from stratadiff.cli import main as module\n"
        "def work(arguments):\n"
        f"    open({str(fifo)!r}, 'w').close()\n"
        "    time.sleep(60)\n"
        "module._run = work\n"
        "sys.exit(module.main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        with fifo.open("rb"):
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output, error) == (exit_codes.INTERRUPTED, b"", b"")


def test_u24_missing_and_unreadable_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = record_pair(tmp_path, b"a\n", b"b\n")
    answer = run(["diff", a, "missing"], tmp_path)
    assert answer == (4, b"diff: could not check \xe2\x80\x94 missing: no such file or directory\n", "")
    assert b"could not check" in run(["diff", "", b]).output
    real = os.stat

    def denied(path: str, *arguments: object, **more: object) -> os.stat_result:
        if str(path) == b:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", denied)
    answer = run(["diff", a, b])
    assert answer.code == 4
    assert f"{b}: cannot be read: {os.strerror(errno.EACCES)}".encode() in answer.output


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Make a folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.name == "nt", reason="permissions bind nobody there")
def test_u24_unreadable_folder(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(open_folder)
    a, b = record_pair(open_folder, b"a\n", b"b\n")
    assert run(["diff", a, b]).code == 1
    Path(b).chmod(0)
    # Permissions do not bind the superuser: as that, be somebody else for a moment.
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        answer = run(["diff", a, b])
    finally:
        os.seteuid(user)
        Path(b).chmod(0o755)
    assert answer.code == 4
    assert f"{b}: cannot be read: {os.strerror(errno.EACCES)}".encode() in answer.output


def test_a_defect_is_one_line_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    from stratadiff.cli import main as module

    def broken(arguments: object) -> int:
        raise RuntimeError("surprise\x1b[2J\nsecond line")

    monkeypatch.setattr(module, "_run", broken)
    answer = run(["diff"])
    assert answer.code == exit_codes.INTERNAL
    assert answer.error.startswith(
        "stratadiff: internal error: RuntimeError: surprise\\u001b[2J second line at "
    )
    assert answer.error.count("\n") == 1
    assert "Traceback" not in answer.error


def test_output_is_the_same_bytes_in_every_locale(tmp_path: Path) -> None:
    a, b = record_pair(tmp_path, "Zürich — a\n".encode(), "Zürich — b\n".encode())
    argv = ["diff", a, b, "--text"]
    here = run(argv).output
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    assert run_process(argv, environ=plain).output == here
    assert run_process(argv, environ={"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}).output == here
