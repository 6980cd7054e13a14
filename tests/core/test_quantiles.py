"""Bootstrap intervals of many columns (levels §1.6, §8)."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_bootstrap
from stratadiff.core import quantiles
from strategies import doubles, in_four_threads

DATA = Path(__file__).parent.parent / "data" / "agentlog" / "bootstrap.jsonl"
CASES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
KINDS = {"median": b"m", "mean": b"a"}


def intervals(columns: list[tuple[list[float], list[float]]], kinds: bytes, **options: Any) -> list[Any]:
    pairs = [(doubles(baseline), doubles(candidate)) for baseline, candidate in columns]
    return quantiles.paired_intervals(pairs, kinds, 42, **options)


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_recorded_intervals_together(threads: int | None) -> None:
    """Columns of several lengths in one call; each seed has its own."""
    for seed in {case["seed"] for case in CASES}:
        chosen = [case for case in CASES if case["seed"] == seed]
        columns = [(doubles(case["baseline"]), doubles(case["candidate"])) for case in chosen]
        kinds = b"".join(KINDS[case["statistic"]] for case in chosen)
        found = quantiles.paired_intervals(columns, kinds, seed, threads=threads)
        assert found == [(case["ci95_low"], case["ci95_high"]) for case in chosen]


sides = st.lists(st.tuples(st.sampled_from((0.0, 1.0)), st.sampled_from((0.0, 1.0))), max_size=7)


@given(st.lists(st.tuples(sides, st.booleans()), max_size=4), st.integers(1, 12), st.integers(1, 5))
def test_intervals_are_the_references(
    chosen: list[tuple[list[tuple[float, float]], bool]], resamples: int, threads: int
) -> None:
    columns = [([row[0] for row in rows], [row[1] for row in rows]) for rows, _ in chosen]
    kinds = b"".join(b"m" if is_median else b"a" for _, is_median in chosen)
    statistics = [trace_bootstrap.MEDIAN if is_median else trace_bootstrap.MEAN for _, is_median in chosen]
    wanted = [
        trace_bootstrap.interval(*column, statistic, 42, resamples) if column[0] else (0.0, 0.0)
        for column, statistic in zip(columns, statistics, strict=True)
    ]
    assert intervals(columns, kinds, resamples=resamples, threads=threads) == wanted


def test_the_number_of_threads_does_not_matter() -> None:
    columns = [([k * 0.37 % 5 for k in range(n)], [k * 0.73 % 5 for k in range(n)]) for n in (300, 77, 300)]
    wanted = intervals(columns, b"mmm", threads=1)
    for threads in (None, 0, 2, 3, 4, 7, 40):
        assert intervals(columns, b"mmm", threads=threads) == wanted
    assert all(found == wanted for found in in_four_threads(lambda: intervals(columns, b"mmm", threads=2)))


def test_much_work_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: (started.append(self), start(self)))
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(64)), raising=False)
    columns = [([0.0] * 9_999 + [1.0], [2.0, *[3.0] * 9_999])]
    small = intervals(columns, b"m")
    assert not started
    monkeypatch.setattr(quantiles, "_WORTH_THREADS", 10_000_000)
    assert intervals(columns, b"m") == small
    assert len(started) == 3  # beside the caller's own


def test_cores_where_the_system_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    monkeypatch.setattr(quantiles, "_WORTH_THREADS", 1)
    assert intervals([([1.0, 2.0], [3.0, 4.0])], b"m") == [(2.0, 2.0)]


def test_an_error_in_any_thread_is_the_callers() -> None:
    columns = [(doubles([0.5]), doubles([1.0]))]
    for threads in (1, 2, 4):
        with pytest.raises(ValueError):
            quantiles.paired_intervals(columns, b"a", 1, threads=threads)


def test_an_error_of_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    resample = quantiles.resample

    def failing(*arguments: Any) -> Any:
        if arguments[3] > 0:
            raise MemoryError
        return resample(*arguments)

    monkeypatch.setattr(quantiles, "resample", failing)
    with pytest.raises(MemoryError):
        intervals([([1.0, 2.0], [3.0, 4.0])], b"m", threads=2)


def test_nothing_to_do() -> None:
    assert intervals([], b"") == []
    assert intervals([([], [])], b"m") == [(0.0, 0.0)]
    assert intervals([([], []), ([1.0], [3.0])], b"am") == [(0.0, 0.0), (2.0, 2.0)]
    assert intervals([([1.0], [3.0])], b"m", resamples=1) == [(2.0, 2.0)]


@pytest.mark.parametrize(
    ("columns", "kinds", "options"),
    [
        ([([1.0], [2.0])], b"", {}),
        ([], b"m", {}),
        ([([1.0], [2.0])], b"x", {}),
        ([([1.0], [])], b"m", {}),
        ([([], [1.0])], b"m", {}),
        ([([1.0, 2.0], [1.0])], b"m", {}),
        ([([1.0], [2.0])], b"m", {"resamples": 0}),
        ([([1.0], [2.0])], b"m", {"resamples": -5}),
    ],
)
def test_what_makes_no_sense_is_refused(columns: Any, kinds: bytes, options: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        intervals(columns, kinds, **options)
