"""Level token: how many tokens the responses of each side took, and which pairs differ most *(levels §5)*.

Percentiles interpolate linearly between the two nearest values (type 7 of Hyndman and Fan, 1996).
"""

from __future__ import annotations

from stratadiff._kernels import quantiles, usage
from stratadiff.core.frozen import Struct, plain
from stratadiff.errors import InputError
from stratadiff.traces.model import DIMENSIONS, TokenColumns, pair_by_position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Column, Pairing, Trace

    Counts: TypeAlias = dict[str, int]

_INFINITE = float("inf")


class TokenDistSummary(Struct):
    """The distribution of one count over the responses of one side.

    Attributes
    ----------
    median, p25, p75, p95 : float
        Tokens per response; percentiles by linear interpolation. 0.0 without responses.
    maximum, total : int
        Exact.
    """

    __slots__ = ("median", "p25", "p75", "p95", "maximum", "total")  # noqa: RUF023  the members' order
    median: float
    p25: float
    p75: float
    p95: float
    maximum: int
    total: int

    def __init__(self, median: float, p25: float, p75: float, p95: float, maximum: int, total: int) -> None:
        self._fill(median=median, p25=p25, p75=p75, p95=p95, maximum=maximum, total=total)


class TokenPairDelta(Struct):
    """The counts of one pair of turns.

    Attributes
    ----------
    pair_index : int
        The pair.
    baseline, candidate, delta : dict of str to int
        By dimension; delta is candidate minus baseline.
    """

    __slots__ = ("pair_index", "baseline", "candidate", "delta")  # noqa: RUF023  the members' order
    pair_index: int
    baseline: Counts
    candidate: Counts
    delta: Counts

    def __init__(self, pair_index: int, baseline: Counts, candidate: Counts, delta: Counts) -> None:
        self._fill(pair_index=pair_index, baseline=baseline, candidate=candidate, delta=delta)


class TokenDiff(Struct):
    """The token counts of two traces, compared.

    Attributes
    ----------
    dimensions : tuple of str
        ``input_tokens``, ``output_tokens``, ``thinking_tokens``.
    baseline, candidate : dict of str to TokenDistSummary
        By dimension, over all responses of the side.
    pair_count : int
        Pairs of turns.
    normalised_shift : dict of str to float
        By dimension, of the medians relative to the baseline's; infinite from a median of 0.
    worst_pairs : list of TokenPairDelta
        By the sum of absolute deltas, the largest first.
    absent_baseline, absent_candidate : dict of str to int
        By dimension, how many responses have no such count: they count as 0. Not part of :meth:`to_dict`.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "dimensions",
        "baseline",
        "candidate",
        "pair_count",
        "normalised_shift",
        "worst_pairs",
        "absent_baseline",
        "absent_candidate",
    )
    dimensions: tuple[str, ...]
    baseline: dict[str, TokenDistSummary]
    candidate: dict[str, TokenDistSummary]
    pair_count: int
    normalised_shift: dict[str, float]
    worst_pairs: list[TokenPairDelta]
    absent_baseline: Counts
    absent_candidate: Counts

    def __init__(
        self,
        dimensions: tuple[str, ...],
        baseline: dict[str, TokenDistSummary],
        candidate: dict[str, TokenDistSummary],
        pair_count: int,
        normalised_shift: dict[str, float],
        worst_pairs: list[TokenPairDelta],
        absent_baseline: Counts,
        absent_candidate: Counts,
    ) -> None:
        self._fill(
            dimensions=dimensions,
            baseline=baseline,
            candidate=candidate,
            pair_count=pair_count,
            normalised_shift=normalised_shift,
            worst_pairs=worst_pairs,
            absent_baseline=absent_baseline,
            absent_candidate=absent_candidate,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the report's ``token_diff`` as plain values *(levels §5)*."""
        return {
            "dimensions": list(self.dimensions),
            "baseline": {name: summary.to_dict() for name, summary in self.baseline.items()},
            "candidate": {name: summary.to_dict() for name, summary in self.candidate.items()},
            "pair_count": self.pair_count,
            "normalised_shift": {name: plain(shift) for name, shift in self.normalised_shift.items()},
            "worst_pairs": [pair.to_dict() for pair in self.worst_pairs],
        }


def token_diff(baseline: Trace, candidate: Trace, pairing: Pairing, top_k_pairs: int = 10) -> TokenDiff:
    """Compare the token counts of two traces.

    Parameters
    ----------
    baseline, candidate : Trace
        Read for nothing in particular: token counts are always there.
    pairing : Pairing
        The pairs of turns that `worst_pairs` ranks.
    top_k_pairs : int
        Pairs in `worst_pairs` at most; a negative number is 0.

    Notes
    -----
    O(m log m) for m responses.
    """
    return _diff(baseline.tokens, candidate.tokens, pairing, top_k_pairs)


def token_diff_of_records(
    baseline: Sequence[dict[str, Any]], candidate: Sequence[dict[str, Any]], top_k_pairs: int = 10
) -> TokenDiff:
    """Compare the token counts of two traces given as record dictionaries, turns paired by position.

    The same as :func:`token_diff` of traces made of the records, without making them.

    Raises
    ------
    InputError
        A record is no dictionary.
    """
    old, new = _columns(baseline), _columns(candidate)
    return _diff(old, new, pair_by_position(len(old.columns[0]), len(new.columns[0])), top_k_pairs)


def _columns(records: Iterable[dict[str, Any]]) -> TokenColumns:
    records = records if isinstance(records, list) else list(records)
    try:
        first, second, third, absent, odd = usage.columns(records)
    except ValueError:
        number = next(n for n, record in enumerate(records) if not isinstance(record, dict))
        kind = type(records[number]).__name__
        raise InputError(f"record {number} is {kind}, not a dictionary") from None
    return TokenColumns.of((first, second, third), absent, odd)


def _diff(old: TokenColumns, new: TokenColumns, pairing: Pairing, top_k_pairs: int) -> TokenDiff:
    before = {name: _summary(column) for name, column in zip(DIMENSIONS, old.columns, strict=True)}
    after = {name: _summary(column) for name, column in zip(DIMENSIONS, new.columns, strict=True)}
    return TokenDiff(
        dimensions=DIMENSIONS,
        baseline=before,
        candidate=after,
        pair_count=len(pairing),
        normalised_shift={name: _shift(before[name].median, after[name].median) for name in DIMENSIONS},
        worst_pairs=_worst_pairs(old.columns, new.columns, pairing, top_k_pairs),
        absent_baseline=dict(zip(DIMENSIONS, old.absent, strict=True)),
        absent_candidate=dict(zip(DIMENSIONS, new.absent, strict=True)),
    )


def _shift(old: float, new: float) -> float:
    if old == 0.0:
        return _INFINITE if new > 0.0 else 0.0
    return (new - old) / old


def _summary(column: Column) -> TokenDistSummary:
    if not isinstance(column, list):
        p25, median, p75, p95, maximum, total = quantiles.summary(column)
        return TokenDistSummary(median, p25, p75, p95, maximum, total)
    ranked = sorted(column)
    median, p25, p75, p95 = (_percentile(ranked, p) for p in (0.5, 0.25, 0.75, 0.95))
    return TokenDistSummary(median, p25, p75, p95, ranked[-1], sum(ranked))


def _percentile(ranked: list[int], p: float) -> float:
    # As the kernel does, for counts that no int64 holds. Such a column is not empty.
    if len(ranked) == 1:
        return float(ranked[0])
    x = (len(ranked) - 1) * p
    low = int(x)
    fraction = x - low
    high = min(low + 1, len(ranked) - 1)
    return float(ranked[low]) * (1 - fraction) + float(ranked[high]) * fraction


def _worst_pairs(
    old: Sequence[Column], new: Sequence[Column], pairing: Pairing, top_k_pairs: int
) -> list[TokenPairDelta]:
    count = max(0, min(top_k_pairs, len(pairing)))
    if not count:
        return []
    before = [_chosen(column, pairing.baseline) for column in old]
    after = [_chosen(column, pairing.candidate) for column in new]
    columns: list[Any] = [*before, *after]
    worst: Sequence[int]
    if any(isinstance(column, list) for column in columns):
        sums = [
            sum(abs(y - x) for x, y in zip(counts[:3], counts[3:], strict=True))
            for counts in zip(*columns, strict=True)
        ]
        worst = sorted(range(len(sums)), key=lambda pair: -sums[pair])[:count]
    else:
        b_in, b_out, b_th, c_in, c_out, c_th = columns
        worst = quantiles.worst(b_in, b_out, b_th, c_in, c_out, c_th, count)
    return [_pair(pair, [c[pair] for c in before], [c[pair] for c in after]) for pair in worst]


def _chosen(column: Column, turns: Sequence[int]) -> Column:
    if isinstance(turns, range):  # the first turns
        return column if len(turns) == len(column) else column[: len(turns)]
    if isinstance(column, list):
        return [column[turn] for turn in turns]
    from array import array  # start-up

    return array("q", [column[turn] for turn in turns])


def _pair(index: int, old: list[int], new: list[int]) -> TokenPairDelta:
    return TokenPairDelta(
        index,
        dict(zip(DIMENSIONS, old, strict=True)),
        dict(zip(DIMENSIONS, new, strict=True)),
        {name: y - x for name, x, y in zip(DIMENSIONS, old, new, strict=True)},
    )
