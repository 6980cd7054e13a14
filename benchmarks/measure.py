"""How everything here is measured: CPU time, interleaved rounds, one process per repeat.

A *case* is one input and the *contenders* that work on it: ours, peers, floors. Its rounds sample every
contender once, so that a change of the machine's speed meets all of them; a ratio is the median of the
ratios within rounds. Each repeat runs in a forked child of its own, because what a process did before
changes its allocator's state, and with it the times of the fastest kernels by up to 1.7.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OURS = "stratadiff"
"""Name of our contender in every case."""


class Timed:
    """A call in this process, sampled as CPU seconds per call.

    Parameters
    ----------
    call : callable
        Takes nothing; its result is dropped.
    cpu_limit : int, optional
        Given for a call that may take very long: it is tried once in a child that the system ends after so
        many CPU seconds, and left out of the rounds if it was ended.
    """

    unit = "s"

    def __init__(self, call: Callable[[], object], cpu_limit: int | None = None) -> None:
        self.call = call
        self.cpu_limit = cpu_limit
        self._loops = 1

    def prepare(self, shortest: float) -> None:
        """Warm up and choose how many calls one sample takes to last `shortest` seconds."""
        self.call()
        start = time.process_time()
        self.call()
        spent = max(time.process_time() - start, 1e-7)
        self._loops = max(1, min(1_000_000, int(shortest / spent) + 1))

    def sample(self) -> float:
        """Return the CPU seconds of one call."""
        call, loops = self.call, range(self._loops)
        start = time.process_time()
        for _ in loops:
            call()
        return (time.process_time() - start) / self._loops


def timed(call: Callable[[], object] | None, cpu_limit: int | None = None) -> Timed | None:
    """Return a contender for a call, None where there is none because its library is missing."""
    return None if call is None else Timed(call, cpu_limit)


class Elapsed(Timed):
    """A call in this process, sampled as seconds of wall-clock time: for calls that use several threads."""

    def prepare(self, shortest: float) -> None:
        """Warm up; every sample is one call."""
        self.call()

    def sample(self) -> float:
        """Return the seconds one call took."""
        start = time.perf_counter()
        self.call()
        return time.perf_counter() - start


class Command:
    """A whole command, sampled as the CPU seconds (user and system) of it and its children.

    Parameters
    ----------
    *argv : str
        The command line.
    cpu_limit : int, optional
        As for `Timed`.
    """

    unit = "s"

    def __init__(self, *argv: str, cpu_limit: int | None = None) -> None:
        self.argv = argv
        self.cpu_limit = cpu_limit

    def prepare(self, shortest: float) -> None:
        """Run it once, so that its files are in memory and its bytecode is written."""
        self.sample()

    def sample(self) -> float:
        """Return the CPU seconds of one run."""
        usage = _run(self.argv)
        return usage.ru_utime + usage.ru_stime


class PeakMemory:
    """A whole command, sampled as its peak resident memory in MB (10^6 bytes).

    The command is started by a small process: a child's peak begins at what its parent held.
    """

    unit = "MB"
    cpu_limit = None
    _LAUNCHER = (
        "import os,sys;p=os.posix_spawn(sys.argv[1],sys.argv[1:],os.environ,"
        "file_actions=[(os.POSIX_SPAWN_OPEN,n,os.devnull,os.O_WRONLY,0)for n in(1,2)]);"
        "print(os.wait4(p,0)[2].ru_maxrss)"
    )

    def __init__(self, *argv: str) -> None:
        self.argv = argv

    def prepare(self, shortest: float) -> None:
        """Do nothing: peak memory needs no warm-up."""

    def sample(self) -> float:
        """Return the peak of one run."""
        launch = [sys.executable, "-I", "-S", "-c", self._LAUNCHER, *self.argv]
        peak = subprocess.run(launch, stdout=subprocess.PIPE, check=True).stdout
        return int(peak) * (1 if sys.platform == "darwin" else 1024) / 1e6


Contender = Timed | Command | PeakMemory


class Target(NamedTuple):
    """What is asked of our contender in a case.

    Attributes
    ----------
    kind : str
        ``at most``: our value over the other's is at most `bound`. ``faster``: the other's over ours is at
        least `bound`. ``below``: our value itself is at most `bound`. ``rate``: the case's bytes over our
        seconds are at least `bound`.
    bound : float
        A ratio, seconds, MB, or bytes per second.
    other : str
        Name of the contender compared with; empty for ``below`` and ``rate``.
    """

    kind: str
    bound: float
    other: str = ""


@dataclass
class Built:
    """A case made ready.

    Attributes
    ----------
    contenders : mapping of str to contender or None
        In the order of the table's columns; None is a peer that is not installed.
    check : callable
        Raises ``AssertionError`` if the contenders' results do not agree in kind; returns what to print
        beside a time (edits, for instance) by contender.
    size : int
        Bytes of input, for rates.
    """

    contenders: Mapping[str, Contender | None]
    check: Callable[[], Mapping[str, str]]
    size: int = 0


class Case(NamedTuple):
    """A case by name.

    Attributes
    ----------
    group : str
        Table it stands in.
    name : str
        Row it is.
    build : callable
        Makes the input; takes a folder for files that is removed later.
    targets : tuple of Target
    quick : bool
        Whether ``--quick`` runs it.
    """

    group: str
    name: str
    build: Callable[[str], Built]
    targets: tuple[Target, ...] = ()
    quick: bool = False


@dataclass
class Measurement:
    """What was measured of a case.

    Attributes
    ----------
    samples : dict of str to list of float
        By contender, one per round; repeats follow one another.
    notes : dict of str to str
        What the check returned.
    over : dict of str to float
        CPU limit of each contender that was ended by it.
    missing : list of str
        Contenders that are not installed.
    unit : str
        ``s`` or ``MB``.
    size : int
        Bytes of input.
    error : str
        Why nothing was measured: the check failed.
    """

    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    over: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unit: str = "s"
    size: int = 0
    error: str = ""

    def median(self, name: str) -> float:
        """Return the median of a contender's samples."""
        return statistics.median(self.samples[name])

    def ratio(self, name: str, other: str) -> float:
        """Return the median over rounds of one contender's sample by another's."""
        return statistics.median(
            [x / max(y, 1e-9) for x, y in zip(self.samples[name], self.samples[other], strict=False)]
        )


class Outcome(NamedTuple):
    """A target and what became of it: ``met``, ``missed``, ``not installed`` or ``not measured``."""

    target: Target
    value: float | None
    verdict: str
    is_bound: bool = False  # the other was ended at its limit, so the value is at least this good


def measure(case: Case, folder: str, rounds: int, shortest: float, repeats: int) -> Measurement:
    """Measure a case in children of this process.

    Parameters
    ----------
    case : Case
    folder : str
        For the case's files.
    rounds : int
        Samples of each contender per repeat.
    shortest : float
        CPU seconds a sample of a call lasts at least, by repetition.
    repeats : int
        Processes; contenders with a CPU limit take part in the first only.

    Returns
    -------
    Measurement
    """

    def in_case_process() -> dict[str, Any]:
        built = case.build(folder)
        result = Measurement(size=built.size)
        result.missing = [name for name, c in built.contenders.items() if c is None]
        present = {name: c for name, c in built.contenders.items() if c is not None}
        result.unit = next(iter(present.values())).unit
        checked = in_child(lambda: _checked(built))
        if checked is None or "error" in checked:
            result.error = checked["error"] if checked else "the check was ended by a signal"
            return vars(result)
        result.notes = checked["notes"]
        for name, contender in list(present.items()):
            if contender.cpu_limit is None:
                continue
            spent = in_child(partial(_tried, contender), contender.cpu_limit)
            if spent is None:
                result.over[name] = contender.cpu_limit
                del present[name]
            elif spent * rounds > contender.cpu_limit:
                result.samples[name] = [spent]  # one sample says enough
                del present[name]
        for repeat in range(repeats):
            running = {name: c for name, c in present.items() if repeat == 0 or c.cpu_limit is None}
            part = in_child(partial(_rounds, running, rounds, shortest))
            if part is None:
                result.error = "a contender was ended by a signal"
                break
            for name, values in part.items():
                result.samples.setdefault(name, []).extend(values)
        return vars(result)

    found = in_child(in_case_process)
    return Measurement(**found) if found else Measurement(error="the case was ended by a signal")


def judge(case: Case, found: Measurement) -> list[Outcome]:
    """Hold a measurement against its case's targets."""
    return [_judge(target, found) for target in case.targets]


def _judge(target: Target, found: Measurement) -> Outcome:
    other = target.other
    if other in found.missing:
        return Outcome(target, None, "not installed")
    if OURS not in found.samples or (other and other not in found.samples and other not in found.over):
        return Outcome(target, None, "not measured")
    if target.kind == "below":
        value = found.median(OURS)
    elif target.kind == "rate":
        value = found.size / found.median(OURS)
    elif other in found.over:  # only ever a peer that should be slower
        value = found.over[other] / found.median(OURS)
        if target.kind == "at most":
            value = 1 / value
        good = value <= target.bound if target.kind == "at most" else value >= target.bound
        return Outcome(target, value, "met" if good else "not measured", is_bound=True)
    elif target.kind == "at most":
        value = found.ratio(OURS, other)
    else:
        value = found.ratio(other, OURS)
    good = value <= target.bound if target.kind in ("at most", "below") else value >= target.bound
    return Outcome(target, value, "met" if good else "missed")


def in_child(work: Callable[[], Any], cpu_limit: int | None = None) -> Any:
    """Run `work` in a forked child and return its result, which must be a JSON value.

    Returns None if the child was ended by a signal, its CPU limit for instance.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    receiving, sending = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(receiving)
            if cpu_limit is not None:
                signal.signal(signal.SIGXCPU, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit))
            with os.fdopen(sending, "w") as out:
                json.dump(work(), out)
            status = 0
        except BaseException as error:
            import traceback

            if not isinstance(error, KeyboardInterrupt):
                traceback.print_exc()
        finally:
            os._exit(status)
    os.close(sending)
    with os.fdopen(receiving) as result:
        text = result.read()
    _, code = os.waitpid(pid, 0)
    if os.WIFSIGNALED(code):
        return None
    if code != 0:
        raise RuntimeError("a benchmark's process failed; see above")
    return json.loads(text)


def _checked(built: Built) -> dict[str, Any]:
    try:
        return {"notes": dict(built.check())}
    except AssertionError as error:
        return {"error": str(error) or "the results do not agree"}


def _tried(contender: Contender) -> float | None:
    """Return the CPU seconds of a first call, None if it was a command that was ended at its limit."""
    try:
        return contender.sample()
    except ChildProcessError:
        return None


def _rounds(contenders: Mapping[str, Contender], rounds: int, shortest: float) -> dict[str, list[float]]:
    for contender in contenders.values():
        contender.prepare(shortest)
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders.items())
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for name, contender in order:
            samples[name].append(contender.sample())
        order.reverse()  # whoever ran after whom changes every round
    return samples


def _run(argv: tuple[str, ...]) -> resource.struct_rusage:
    nowhere = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=nowhere)
    _, status, usage = os.wait4(pid, 0)
    if os.WIFSIGNALED(status):
        raise ChildProcessError(f"{argv[0]} was ended by signal {os.WTERMSIG(status)}")
    return usage


def output_of(argv: Sequence[str]) -> tuple[int, bytes]:
    """Return exit code and standard output of a command."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout


def limit_threads() -> None:
    """Keep libraries from starting threads of their own, whose CPU time would count."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
