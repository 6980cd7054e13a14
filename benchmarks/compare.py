"""Ours, the peers and the floors side by side, with what is asked of ours.

``python benchmarks/compare.py`` measures every case; see README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from typing import TYPE_CHECKING

import bundle_cases
import command_cases
import kernel_cases
import line_cases
import peers
import trace_cases
from measure import OURS, Case, Measurement, Outcome, judge, limit_threads, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES: list[Case] = [
    case
    for module in (line_cases, kernel_cases, command_cases, trace_cases, bundle_cases)
    for case in module.CASES
]
GROUPS = tuple(dict.fromkeys(case.group for case in CASES))


def quantity(value: float, unit: str) -> str:
    """Return a time or a size as people read it, three digits."""
    if unit == "MB":
        return f"{value:.1f} MB"
    name, factor = next(((n, f) for n, f in (("s", 1.0), ("ms", 1e3)) if value * f >= 1), ("µs", 1e6))
    return f"{value * factor:.3g} {name}" if value * factor < 1000 else f"{value * factor:.0f} {name}"


def asked(outcome: Outcome, unit: str) -> str:
    """Return a target as a sentence without verb."""
    kind, bound, other = outcome.target
    if kind == "below":
        return f"at most {quantity(bound, unit)}"
    if kind == "rate":
        return f"at least {bound / 1e9:g} GB/s"
    if kind == "at most":
        return f"at most {bound:g} × {other}"
    return f"at least {bound:g} × {'less' if unit == 'MB' else 'faster'} than {other}"


def found_value(outcome: Outcome, unit: str) -> str:
    """Return what was measured for a target."""
    value = outcome.value
    if value is None:
        return "—"
    kind = outcome.target.kind
    if kind == "below":
        return quantity(value, unit)
    if kind == "rate":
        return f"{value / 1e9:.2f} GB/s"
    sign = ("< " if kind == "at most" else "> ") if outcome.is_bound else ""
    return f"{sign}{value:.3g} ×"


def times_table(rows: Sequence[tuple[Case, Measurement]]) -> list[list[str]]:
    """Lay out medians: a row per case, a column per contender, ratios to ours in brackets."""
    columns = list(dict.fromkeys(n for _, m in rows for n in (*m.samples, *m.over, *m.missing)))
    if OURS in columns:
        columns.remove(OURS)
        columns.insert(0, OURS)
    table = [["", *columns]]
    for case, found in rows:
        row = [case.name]
        for name in columns:
            if found.error:
                row.append("—")
            elif name in found.over:
                row.append(f"> {quantity(found.over[name], 's')}")
            elif name in found.missing:
                row.append("not installed")
            elif name not in found.samples:
                row.append("")
            else:
                parts = [quantity(found.median(name), found.unit)]
                if name != OURS:
                    parts.append(f"({found.ratio(name, OURS):.3g}×)")
                else:
                    low, high = min(found.samples[name]), max(found.samples[name])
                    parts.append(f"({low / found.median(name):.2f}–{high / found.median(name):.2f})")
                if name in found.notes:
                    parts.append(found.notes[name])
                row.append(" ".join(parts))
        table.append(row)
    return table


def targets_table(rows: Sequence[tuple[Case, Measurement]]) -> list[list[str]]:
    """Lay out targets: a row per case and target."""
    table = [["", "target", "measured", "verdict"]]
    for case, found in rows:
        if found.error:
            table.append([case.name, "", found.error, "not measured"])
            continue
        table.extend(
            [case.name, asked(outcome, found.unit), found_value(outcome, found.unit), outcome.verdict]
            for outcome in judge(case, found)
        )
    return table


def draw(table: Sequence[Sequence[str]], markdown: bool) -> str:
    """Draw a table, as Markdown or in aligned columns."""
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in table]
        lines.insert(1, "|" + " --- |" * len(table[0]))
        return "\n".join(lines)
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


def machine() -> dict[str, str]:
    """Describe the machine by its kind, and the versions."""
    family, memory = platform.machine(), "unknown"
    try:
        with open("/proc/cpuinfo") as info:
            names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
        family = names[0] if names else family
        memory = f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GB"
    except (OSError, ValueError):
        pass
    return {
        "CPU": f"{os.cpu_count()} cores, {family}",
        "RAM": memory,
        "OS": f"{platform.system()} {platform.release().split('-')[0]}, {' '.join(platform.libc_ver())}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **peers.versions(),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; return 1 if a check failed, 0 otherwise (a missed target is not a failure)."""
    parser = argparse.ArgumentParser(description="Measure stratadiff beside its peers and floors.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; default: all")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name holds TEXT")
    parser.add_argument("--quick", action="store_true", help="a few cases of each group, one process each")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each contender per process")
    parser.add_argument("--repeats", type=int, help="processes per case (default 3, with --quick 1)")
    parser.add_argument("--markdown", action="store_true", help="tables as Markdown")
    parser.add_argument("--json", metavar="FILE", help="also write every sample to FILE")
    options = parser.parse_args(argv)
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        parser.error(f"unknown group {', '.join(sorted(unknown))}; groups are {', '.join(GROUPS)}")
    if options.rounds < 1 or (options.repeats or 1) < 1:
        parser.error("rounds and repeats are at least 1")
    limit_threads()
    if command_cases.is_editable():
        print("editable installation: start-up is not what users see\n", file=sys.stderr)
    repeats = options.repeats or (1 if options.quick else 3)
    about = machine()
    print("; ".join(f"{name} {value}" for name, value in about.items()))
    print(f"CPU time, medians of {repeats} × {options.rounds} interleaved rounds; [n] edits or size\n")
    results: list[tuple[Case, Measurement]] = []
    with tempfile.TemporaryDirectory(prefix="stratadiff-bench-") as folder:
        for group in GROUPS:
            rows = []
            for case in CASES:
                if (
                    case.group != group
                    or (options.groups and group not in options.groups)
                    or (options.quick and not case.quick)
                    or (options.only and options.only not in case.name)
                ):
                    continue
                if sys.stderr.isatty():
                    print(f"\r\033[K{group}: {case.name}", end="", file=sys.stderr, flush=True)
                shortest = 0.005 if options.quick else 0.02
                rows.append((case, measure(case, folder, options.rounds, shortest, repeats)))
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            if not rows:
                continue
            results += rows
            head = f"### {group}" if options.markdown else group.upper()
            print(f"{head}\n\n{draw(times_table(rows), options.markdown)}\n")
            targets = targets_table(rows)
            if len(targets) > 1:
                print(f"{draw(targets, options.markdown)}\n", flush=True)
    outcomes = [(case, found, outcome) for case, found in results for outcome in judge(case, found)]
    verdicts = [outcome.verdict for _, _, outcome in outcomes]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(sorted(verdicts))]
    print(", ".join(counts) or "no targets")
    for case, found, outcome in outcomes:
        if outcome.verdict == "missed":
            target, value = asked(outcome, found.unit), found_value(outcome, found.unit)
            print(f"missed: {case.group}, {case.name}: {target}, measured {value}")
    failed = [(case, found) for case, found in results if found.error]
    for case, found in failed:
        print(f"failed: {case.group}, {case.name}: {found.error}")
    if options.json:
        document = {
            "machine": about,
            "rounds": options.rounds,
            "repeats": repeats,
            "cases": [
                {
                    "group": case.group,
                    "name": case.name,
                    **vars(found),
                    "targets": [
                        {**o.target._asdict(), "measured": o.value, "verdict": o.verdict}
                        for o in judge(case, found)
                    ],
                }
                for case, found in results
            ],
        }
        with open(options.json, "w") as out:
            json.dump(document, out, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
