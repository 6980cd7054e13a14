"""The curve behind each cost claim: sizes double, time and peak memory are printed.

``python benchmarks/scaling.py`` runs every curve, hostile inputs included. Each point is measured in a
process of its own that only reads its two input files: the time is CPU time (median), the memory what the
peak grew by during the first call. A linear cost doubles from one line to the next; one that bends is marked.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import trace_workloads
import workloads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Texts = tuple[bytes, bytes]

BENT = 2.8  # growth from one doubling to the next that is marked
LONG_ENOUGH = 0.01  # seconds from which a growth says anything


class Curve(NamedTuple):
    """What is measured, on what, for which sizes.

    Attributes
    ----------
    name : str
    kernel : str
        A key of `KERNELS` or `LEVELS`.
    make : callable
        Two texts of a size.
    sizes : tuple of int
        Each double the one before.
    unit : str
        What a size counts.
    """

    name: str
    kernel: str
    make: Callable[[int], Texts]
    sizes: tuple[int, ...]
    unit: str = "lines"


# What a child runs. Imports are inside: a child loads what it measures and nothing else.


def _intern(a: bytes, b: bytes) -> object:
    from line_cases import interned

    return interned(a, b)


def _script(a: bytes, b: bytes) -> object:
    from line_cases import script_of

    return script_of(a, b)


def _gestalt(a: bytes, b: bytes) -> object:
    from line_cases import interned
    from stratadiff._kernels import gestalt

    a_ids, b_ids, _ = interned(a, b)
    return gestalt.edit_script(a_ids, b_ids)


def _words(a: bytes, b: bytes) -> object:
    from array import array

    from stratadiff._kernels.myers import walk_many
    from stratadiff._kernels.word_split import split_pairs

    pairs = array("i", [0, len(a), 0, len(b)])
    _, a_ids, a_bounds, _, b_ids, b_bounds = split_pairs(a, b, pairs, False, 1 << 30, 1 << 30)
    return walk_many(a_ids, a_bounds, b_ids, b_bounds)


def _escape(a: bytes, b: bytes) -> object:
    from stratadiff._kernels.escape import escape_text

    return escape_text(a)


def _pretty(a: bytes, b: bytes) -> object:
    from stratadiff._kernels.json_scan import pretty

    return pretty(a)


def _text_diff(a: bytes, b: bytes) -> object:
    from stratadiff import text_diff

    return text_diff(a, b, max_lines=None).hunks_json()


KERNELS: dict[str, Callable[[bytes, bytes], object]] = {
    "index and intern": _intern,
    "edit script": _script,
    "gestalt script": _gestalt,
    "word script": _words,
    "escape": _escape,
    "JSON pretty form": _pretty,
    "text_diff and hunks": _text_diff,
}


# The same for agent traces: read and warmed up first, then called.


def _warm() -> tuple[object, object]:
    baseline, candidate = trace_workloads.trace_pair(3)
    return baseline, candidate


def _token_files(path_a: str, path_b: str) -> Callable[[], object]:
    from stratadiff import token_diff

    token_diff(*_warm())
    return lambda: token_diff(path_a, path_b)


def _all_levels(path_a: str, path_b: str) -> Callable[[], object]:
    from stratadiff import compare_traces

    given: dict[str, Any] = {"rules": trace_workloads.POLICY, "pricing": trace_workloads.PRICING}
    given["levels"] = ("trace", "session", "turn", "span", "token", "policy")
    compare_traces(*_warm(), **given)
    return lambda: compare_traces(path_a, path_b, **given).report().canonical()


def _turn_alignment(path_a: str, path_b: str) -> Callable[[], object]:
    from stratadiff import compare_traces, read_trace

    compare_traces(*_warm(), levels=["turn"])
    a, b = read_trace(path_a), read_trace(path_b)
    return lambda: compare_traces(a, b, levels=["turn"])


def _span_alignment(path_a: str, path_b: str) -> Callable[[], object]:
    from stratadiff import span_diff

    payloads = []
    for path in (path_a, path_b):
        with open(path) as file:
            payloads.append(json.load(file))
    span_diff(*trace_workloads.long_turns(8))
    return lambda: span_diff(*payloads)


LEVELS: dict[str, Callable[[str, str], Callable[[], object]]] = {
    "traces: token level from files": _token_files,
    "traces: all levels from files": _all_levels,
    "traces: turn level": _turn_alignment,
    "traces: span level": _span_alignment,
}


# Inputs


def _pair(kind: str, rate: float, count: int) -> Texts:
    _, a, b = workloads.line_pair(kind, count, rate)
    return a, b


def _symbols_apart(count: int) -> Texts:
    from line_cases import two_symbols_apart

    _, a, b = two_symbols_apart(count)
    return a, b


def _one_line(words: int) -> Texts:
    a, b = workloads.word_line_pair(words, 0.1)
    return a.encode(), b.encode()


def _all_words_differ(words: int) -> Texts:
    a, b = workloads.word_line_pair(words, 1.0)
    return a.encode(), b.encode()


def _escapes(kind: str, size: int) -> Texts:
    return workloads.escape_text(kind, size).encode(), b""


def _document(size: int) -> Texts:
    return workloads.json_document(size), b""


def _many_keys(count: int) -> Texts:
    # One object, keys in falling order and alike for 40 characters.
    keys = [f'"{"k" * 40}{count - k:08d}": {k}' for k in range(count)]
    return ("{" + ",".join(keys) + "}").encode(), b""


def _nested(count: int) -> Texts:
    # Objects 500 deep, over and over.
    one = '{"a":' * 500 + "1" + "}" * 500
    return ("[" + ",".join([one] * max(1, count // 500)) + "]").encode(), b""


def _traces(turns: int) -> Texts:
    a, b = trace_workloads.trace_pair(turns)
    return trace_workloads.file_bytes(a), trace_workloads.file_bytes(b)


def _alike_turns(turns: int) -> Texts:
    # Every turn says and does nearly the same: nothing is told apart at a glance.
    a, b = trace_workloads.trace_pair(turns, edit_rate=1.0)
    for side, records in enumerate((a, b)):
        payloads = [record["payload"] for record in records if record["kind"] == "chat_response"]
        for number, payload in enumerate(payloads):
            payload["content"] = [*payloads[side]["content"][:1], {"type": "text", "text": str(number)}]
    return trace_workloads.file_bytes(a), trace_workloads.file_bytes(b)


def _blocks(count: int) -> Texts:
    a, b = trace_workloads.long_turns(count)
    return json.dumps(a).encode(), json.dumps(b).encode()


def _doubling(last: int, steps: int) -> tuple[int, ...]:
    return tuple(last >> k for k in range(steps - 1, -1, -1))


LINES = _doubling(400_000, 5)
CURVES: tuple[Curve, ...] = (
    Curve("code 1%", "index and intern", partial(_pair, "code", 0.01), LINES),
    Curve("all different", "index and intern", partial(_pair, "all different", 0.0), LINES),
    *(
        Curve(f"{kind} {rate:.0%}", "edit script", partial(_pair, kind, rate), LINES)
        for kind, rate in (
            ("code", 0.01),
            ("code", 0.1),
            ("code", 0.5),
            ("code, copies", 0.1),
            ("code, copies", 0.5),
            ("json lines", 0.1),
            ("two symbols", 0.01),
            ("two symbols", 0.1),
            ("repeated", 0.1),
            ("moved blocks", 0.01),
        )
    ),
    *(
        Curve(kind, "edit script", partial(_pair, kind, 0.0), LINES)
        for kind in ("reversed", "shuffled", "all different", "identical")
    ),
    Curve("two symbols, unrelated", "edit script", _symbols_apart, LINES),
    Curve("code 1%", "gestalt script", partial(_pair, "code", 0.01), _doubling(80_000, 4)),
    Curve("prose 10%", "gestalt script", partial(_pair, "prose", 0.1), _doubling(80_000, 4)),
    Curve("10% of one line", "word script", _one_line, _doubling(4_000, 5), "words"),
    Curve("every word differs", "word script", _all_words_differ, _doubling(4_000, 5), "words"),
    Curve("ascii", "escape", partial(_escapes, "ascii"), _doubling(16_000_000, 4), "bytes"),
    Curve("half of it escaped", "escape", partial(_escapes, "controls"), _doubling(16_000_000, 4), "bytes"),
    Curve("records", "JSON pretty form", _document, _doubling(16_000_000, 4), "bytes"),
    Curve("one object, falling keys", "JSON pretty form", _many_keys, _doubling(80_000, 4), "keys"),
    Curve("500 deep", "JSON pretty form", _nested, _doubling(80_000, 4), "objects"),
    Curve("code 1%", "text_diff and hunks", partial(_pair, "code", 0.01), _doubling(80_000, 4)),
    Curve("code 50%", "text_diff and hunks", partial(_pair, "code", 0.5), _doubling(80_000, 4)),
    Curve("30% edited", "traces: token level from files", _traces, _doubling(40_000, 5), "turns"),
    Curve("30% edited", "traces: all levels from files", _traces, _doubling(16_000, 5), "turns"),
    Curve("all pairs of turns", "traces: turn level", _traces, _doubling(1_000, 4), "turns"),
    Curve("all pairs, turns alike", "traces: turn level", _alike_turns, _doubling(1_000, 4), "turns"),
    Curve("within the band", "traces: turn level", _traces, _doubling(16_000, 4), "turns"),
    Curve("10% edited", "traces: span level", _blocks, _doubling(3_200, 5), "blocks"),
)


# One point


def _peak_bytes() -> int:
    # Of this program alone: ru_maxrss begins at what the process held before it became this program.
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _prepared(kernel: str, path_a: str, path_b: str) -> Callable[[], object]:
    if kernel in LEVELS:
        return LEVELS[kernel](path_a, path_b)
    with open(path_a, "rb") as file_a, open(path_b, "rb") as file_b:
        a, b = file_a.read(), file_b.read()
    call = KERNELS[kernel]
    call(b"a\n", b"b\n")  # loads the modules
    return lambda: call(a, b)


def measure_here(kernel: str, path_a: str, path_b: str) -> dict[str, float]:
    """Measure a kernel in this process, on the texts in two files."""
    call = _prepared(kernel, path_a, path_b)
    before = _peak_bytes()
    times = []
    start = time.process_time()
    result = call()
    times.append(time.process_time() - start)
    peak = _peak_bytes() - before
    while len(times) < 6 and sum(times) < 3:
        del result
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    given = os.path.getsize(path_a) + os.path.getsize(path_b)
    return {"seconds": statistics.median(times), "peak": peak, "bytes": given}


def _measure_apart(curve: Curve, size: int, folder: str) -> dict[str, float]:
    paths = [os.path.join(folder, side) for side in "ab"]
    for path, text in zip(paths, curve.make(size), strict=True):
        with open(path, "wb") as out:
            out.write(text)
    argv = [sys.executable, os.path.abspath(__file__), "--point", curve.kernel, *paths]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _growth(seconds: float, before: float | None) -> str:
    if before is None:
        return ""
    growth = seconds / max(before, 1e-9)
    return f"×{growth:.2f}" + (" bends" if growth > BENT and seconds > LONG_ENOUGH else "")


def print_curve(curve: Curve, steps: int, folder: str) -> None:
    """Measure and print one curve, its last `steps` sizes."""
    print(f"{curve.kernel}: {curve.name}")
    before = None
    for size in curve.sizes[-steps:]:
        point = _measure_apart(curve, size, folder)
        seconds, peak, given = point["seconds"], point["peak"], point["bytes"]
        print(
            f"{size:12,} {curve.unit:8}{seconds * 1e3:10.2f} ms  {_growth(seconds, before):12}"
            f"{peak / 1e6:8.1f} MB  {peak / given:6.2f} × input",
            flush=True,
        )
        before = seconds
    print()


def print_commands(steps: int, folder: str, with_peer: bool) -> None:
    """Measure and print ``diff A B --text --json`` as stages, then outputs, double."""
    from command_cases import tool
    from measure import Command, PeakMemory

    commands = {"stratadiff": tool("stratadiff"), "onetrace": tool("onetrace") if with_peer else None}
    rows: dict[str, list[tuple[str, workloads.RunShape]]] = {
        "stages of 10 KB": [
            (f"{n} stages", workloads.RunShape(n, 10_000)) for n in _doubling(800, 5)[-steps:]
        ],
        "5 stages, outputs": [
            (f"{n / 1e6:g} MB", workloads.RunShape(5, n)) for n in _doubling(4_000_000, 5)[-steps:]
        ],
    }
    for name, path in commands.items():
        if path is None:
            continue
        for title, shapes in rows.items():
            print(f"{name} diff A B --text --json: {title}")
            before = None
            for label, shape in shapes:
                a, b = workloads.write_run_pair(os.path.join(folder, label.replace(" ", "-")), shape)
                argv = (path, "diff", a, b, "--text", "--json")
                command = Command(*argv)
                command.prepare(0)
                seconds = statistics.median([command.sample() for _ in range(5)])
                peak = PeakMemory(*argv).sample()
                print(f"{label:>21}{seconds * 1e3:10.2f} ms  {_growth(seconds, before):12}{peak:8.1f} MB")
                before = seconds
            print()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the curves asked for."""
    parser = argparse.ArgumentParser(description="Double the sizes; print time and peak memory.")
    parser.add_argument("only", nargs="*", metavar="TEXT", help="curves whose name holds one of these")
    parser.add_argument("--quick", action="store_true", help="the three largest sizes of the kernels only")
    parser.add_argument("--commands", action="store_true", help="whole commands only")
    parser.add_argument("--peers", action="store_true", help="onetrace too")
    parser.add_argument("--point", nargs=3, metavar=("KERNEL", "A", "B"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.point:
        print(json.dumps(measure_here(*options.point)))
        return 0
    steps = 3 if options.quick else 5
    with tempfile.TemporaryDirectory(prefix="stratadiff-scaling-") as folder:
        if not options.commands:
            for curve in CURVES:
                name = f"{curve.kernel}: {curve.name}"
                if not options.only or any(text in name for text in options.only):
                    print_curve(curve, steps, folder)
        if options.commands or not (options.only or options.quick):
            print_commands(steps, folder, options.peers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
