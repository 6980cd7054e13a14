"""Bootstrap intervals of many paired columns at once *(levels §1.6, §8)*."""

from __future__ import annotations

from stratadiff._kernels import quantiles
from stratadiff._kernels.bootstrap import resample

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from typing import TypeAlias

    from stratadiff._kernels._buffer import Doubles

    Pair: TypeAlias = tuple[Doubles, Doubles]

RESAMPLES = 1000
"""How often the pairs are drawn anew."""

_WORTH_THREADS = 20_000_000  # draws: about 50 ms of work
_MOST_THREADS = 4


def paired_intervals(
    columns: Sequence[Pair],
    kinds: bytes,
    seed: int,
    *,
    resamples: int = RESAMPLES,
    threads: int | None = None,
) -> list[tuple[float, float]]:
    """Return the 95 % percentile interval of a statistic's difference for every pair of columns.

    Parameters
    ----------
    columns : sequence of (baseline, candidate)
        Contiguous buffers of doubles without NaN. The two of a pair have one length.
    kinds : bytes
        One per pair: ``m`` median, ``a`` arithmetic mean over values that are 0.0 or 1.0.
    seed : int
        Of the index stream, taken modulo 2**64.
    resamples : int, default 1000
        At least 1.
    threads : int, optional
        How many share the work; by default one for little work, else the cores there are, up to four. The
        result never depends on it.

    Returns
    -------
    list of (float, float)
        Percentiles 2.5 and 97.5. ``(0.0, 0.0)`` for a pair of empty columns.

    Raises
    ------
    ValueError
        As the kernel: not such columns or kinds, or fewer than one resample.
    OverflowError
        More than 2147483645 results for the columns of one length.
    MemoryError

    Examples
    --------
    >>> from array import array
    >>> slower = (array("d", [1.0, 2.0, 3.0, 4.0]), array("d", [2.0, 2.0, 9.0, 4.0]))
    >>> paired_intervals([slower], b"m", 42)
    [(0.0, 6.0)]
    """
    if len(kinds) != len(columns):
        raise ValueError("every pair of columns needs one kind")
    if resamples < 1:
        raise ValueError("resamples must be 1 or more")
    found = [(0.0, 0.0)] * len(columns)
    groups: dict[int, list[int]] = {}
    for place, (baseline, candidate) in enumerate(columns):
        if len(baseline) or len(candidate):
            groups.setdefault(len(baseline), []).append(place)
    if threads is None:
        threads = _threads_for(resamples * sum(groups))
    for places in groups.values():  # columns of one length share the draws
        chosen = [columns[place] for place in places]
        results = _results(chosen, bytes([kinds[place] for place in places]), seed, resamples, threads)
        for number, place in enumerate(places):
            found[place] = quantiles.interval(results[number :: len(places)])
    return found


def _threads_for(draws: int) -> int:
    if draws < _WORTH_THREADS:
        return 1
    import os

    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cores = os.cpu_count() or 1
    return min(cores, _MOST_THREADS)


def _results(columns: list[Pair], kinds: bytes, seed: int, resamples: int, threads: int) -> array[float]:
    threads = max(1, min(threads, resamples))
    if threads == 1:
        return resample(seed, columns, kinds, 0, resamples)
    from threading import Thread  # only for much work: start-up

    bounds = [resamples * part // threads for part in range(threads + 1)]
    parts: list[array[float] | BaseException] = [MemoryError()] * threads

    def run(part: int) -> None:
        try:
            parts[part] = resample(seed, columns, kinds, bounds[part], bounds[part + 1])
        except BaseException as error:
            parts[part] = error

    # Daemons, so that an interrupt of the first part ends the process without waiting for the others.
    others = [Thread(target=run, args=(part,), daemon=True) for part in range(1, threads)]
    for thread in others:
        thread.start()
    results = resample(seed, columns, kinds, bounds[0], bounds[1])
    for number, thread in enumerate(others, 1):
        thread.join()
        part = parts[number]
        if isinstance(part, BaseException):
            raise part
        results.extend(part)
    return results
