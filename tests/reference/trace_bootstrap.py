"""Paired percentile bootstrap over a fixed stream of indices, by its definition (levels §1.6, §8)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

RESAMPLES = 1000
LOW, HIGH = 2.5, 97.5

MEDIAN = "median"
MEAN = "mean"

STEP = 0x9E3779B97F4A7C15
WORD = 2**64


def output(seed: int, t: int) -> int:
    """Give the t-th output of SplitMix64, from 0 (levels §8)."""
    z = (seed + (t + 1) * STEP) % WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return z ^ (z >> 31)


def outputs(seed: int, count: int) -> list[int]:
    """List the first outputs of SplitMix64 (levels §8)."""
    return [output(seed, t) for t in range(count)]


def index(seed: int, n: int, r: int, k: int) -> int:
    """Give the k-th index of resample r among n pairs (levels §8)."""
    return ((output(seed, r * n + k) >> 32) * n) >> 32


@functools.lru_cache(maxsize=2)
def indices(seed: int, n: int, resamples: int) -> list[list[int]]:
    """List the indices of every resample; they depend on nothing else (levels §8)."""
    return [[index(seed, n, r, k) for k in range(n)] for r in range(resamples)]


def median(values: Sequence[float]) -> float:
    """Take the middle value, or half the sum of the two middle ones (levels §1)."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def mean(values: Sequence[float]) -> float:
    """Divide the sum, by plain additions, once (levels §8)."""
    total = 0.0
    for value in values:
        total = total + value
    return total / len(values)


def percentile(ordered: Sequence[float], p: float) -> float:
    """Give percentile p of sorted values (levels §1.6)."""
    rank = (p / 100) * (len(ordered) - 1)
    low, high = math.floor(rank), math.ceil(rank)
    if low == high:
        return ordered[low]
    f = rank - low
    return ordered[low] * (1 - f) + ordered[high] * f


def resampled(
    baseline: Sequence[float],
    candidate: Sequence[float],
    statistic: str,
    seed: int,
    resamples: int = RESAMPLES,
) -> list[float]:
    """List the statistic of each resample, candidate minus baseline, in their order (levels §1.6)."""
    take = {MEDIAN: median, MEAN: mean}[statistic]
    return [
        take([candidate[i] for i in taken]) - take([baseline[i] for i in taken])
        for taken in indices(seed, len(baseline), resamples)
    ]


def interval(
    baseline: Sequence[float],
    candidate: Sequence[float],
    statistic: str,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """Give the interval of the difference of two columns of pairs (levels §1.6)."""
    ordered = sorted(resampled(baseline, candidate, statistic, seed, resamples))
    return percentile(ordered, LOW), percentile(ordered, HIGH)
