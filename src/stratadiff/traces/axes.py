"""Level trace: nine axes, each with its interval, severity and flags *(levels §1)*."""

from __future__ import annotations

from array import array

from stratadiff._kernels import quantiles
from stratadiff.core.frozen import Frozen, Struct
from stratadiff.core.quantiles import paired_intervals
from stratadiff.errors import UsageError
from stratadiff.traces.features import chosen
from stratadiff.traces.jsontexts import is_json, means_json, unfenced
from stratadiff.traces.movement import Movements
from stratadiff.traces.similarity import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.features import Features, Numbers, Pairs, PairTable, Side
    from stratadiff.traces.model import Payload
    from stratadiff.traces.refusals import RefusalRule

    Column: TypeAlias = tuple[list[float], list[float]]
    Interval: TypeAlias = tuple[float, float]

AXES = (
    "semantic",
    "trajectory",
    "safety",
    "verbosity",
    "latency",
    "cost",
    "reasoning",
    "judge",
    "conformance",
)
"""In the order of the rows."""

SEVERITIES = ("none", "minor", "moderate", "severe")
"""From the lowest to the highest."""

NONE, MINOR, MODERATE, SEVERE = SEVERITIES
LOW_POWER, CROSSES_ZERO, NO_PRICING = "low_power", "ci_crosses_zero", "no_pricing"

_MEANS = frozenset(("safety", "conformance"))
_RATES = frozenset(("trajectory", "safety", "conformance"))
_FEW = 5
_TINY = 1e-9
_INFINITE = float("inf")
_COLUMNS_AT_ONCE = 64


class AxisRow(Struct):
    """One axis of a comparison.

    Attributes
    ----------
    axis : str
        One of :data:`AXES`.
    baseline_median, candidate_median : float
        The median of each side; the mean on the axes ``safety`` and ``conformance``.
    delta : float
        Candidate minus baseline.
    ci95_low, ci95_high : float
        Bounds of delta: 95 % percentile interval of a paired bootstrap.
    severity : str
        One of :data:`SEVERITIES`.
    n : int
        Pairs that have the value on both sides.
    flags : list of str
        Of ``low_power``, ``ci_crosses_zero`` and ``no_pricing``.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "axis",
        "baseline_median",
        "candidate_median",
        "delta",
        "ci95_low",
        "ci95_high",
        "severity",
        "n",
        "flags",
    )
    axis: str
    baseline_median: float
    candidate_median: float
    delta: float
    ci95_low: float
    ci95_high: float
    severity: str
    n: int
    flags: list[str]

    def __init__(
        self,
        axis: str,
        baseline_median: float,
        candidate_median: float,
        delta: float,
        ci95_low: float,
        ci95_high: float,
        severity: str,
        n: int,
        flags: list[str],
    ) -> None:
        self._fill(
            axis=axis,
            baseline_median=baseline_median,
            candidate_median=candidate_median,
            delta=delta,
            ci95_low=ci95_low,
            ci95_high=ci95_high,
            severity=severity,
            n=n,
            flags=flags,
        )


class AxisColumns(Frozen):
    """The values of one report: of the whole traces, or of a session.

    Attributes
    ----------
    pair_count : int
        All pairs.
    columns : dict of str to (list of float, list of float)
        Per axis the values of both sides, over the pairs that count.
    priced_count : int
        Pairs whose responses are costable and of priced models.
    text_count : int
        Pairs where a text of either side is not empty.
    """

    __slots__ = ("columns", "pair_count", "priced_count", "text_count")
    pair_count: int
    columns: dict[str, Column]
    priced_count: int
    text_count: int

    def __init__(
        self, pair_count: int, columns: dict[str, Column], priced_count: int, text_count: int
    ) -> None:
        self._fill(pair_count=pair_count, columns=columns, priced_count=priced_count, text_count=text_count)

    def changed(self) -> dict[str, int]:
        """Return per axis the number of pairs whose two values differ; 0 for the judge *(levels §1.8)*."""
        found = {axis: sum(b != c for b, c in zip(*self.columns[axis], strict=True)) for axis in AXES}
        found["judge"] = 0
        return found


class AxisValues:
    """The values of every axis for every pair, each computed once.

    Parameters
    ----------
    features : Features
        Both traces.
    table : PairTable
        The pairs.
    refusal : RefusalRule
        What the safety axis counts.
    text_only : bool
        Leave pairs without text out of the semantic axis.
    """

    def __init__(
        self, features: Features, table: PairTable, refusal: RefusalRule, *, text_only: bool = False
    ) -> None:
        baseline, candidate = features.baseline, features.candidate
        self._features = features
        self._table = table
        self._text_only = text_only
        self._words = Words(features.spaced)
        self._unfenced: dict[int, str] = {}
        self._json: dict[int, float] = {}
        movements = Movements(baseline, candidate)
        pairs = list(zip(table.baseline, table.candidate, strict=True))
        speaks = [refusal.speaks(text) for text in features.spaced]
        self._moved = [movements.distance(i, j) for i, j in pairs]
        self._columns: dict[str, tuple[Numbers, Numbers]] = {}
        b_columns, c_columns = (_columns_of(side, refusal, speaks) for side in (baseline, candidate))
        for axis, b in b_columns.items():
            c = c_columns[axis]
            self._columns[axis] = ([b[i] for i in table.baseline], [c[j] for j in table.candidate])
        scores = [self._conformance(i, j) for i, j in pairs]
        self._columns["conformance"] = ([b for b, _ in scores], [c for _, c in scores])
        self._has_text = [baseline.has_text[i] or candidate.has_text[j] for i, j in pairs]
        self._is_priced = [baseline.priced[i] and candidate.priced[j] for i, j in pairs]

    def columns(self, places: Pairs, judge: Sequence[float] | None = None) -> AxisColumns:
        """Return the values of one report.

        Parameters
        ----------
        places : range or list of int
            Its pairs.
        judge : sequence of float, optional
            A score for each of them.

        Raises
        ------
        UsageError
            The scores are not one number from 0 to 1 for each pair.
        """
        has_text = chosen(self._has_text, places)
        read: Pairs = places
        if self._text_only:
            read = [place for place, is_read in zip(places, has_text, strict=True) if is_read]
        baseline, candidate = self._features.baseline.spaced, self._features.candidate.spaced
        similar = self._words.similarities(
            [baseline[turn] for turn in chosen(self._table.baseline, read)],
            [candidate[turn] for turn in chosen(self._table.candidate, read)],
        )
        scores = [] if judge is None else checked_scores(judge, len(places))
        columns = {
            "semantic": ([1.0] * len(similar), similar),
            "trajectory": ([0.0] * len(places), chosen(self._moved, places)),
            "judge": ([1.0] * len(scores), scores),
        }
        for axis, (b, c) in self._columns.items():
            columns[axis] = _both(chosen(b, places), chosen(c, places))
        return AxisColumns(len(places), columns, sum(chosen(self._is_priced, places)), sum(has_text))

    def _conformance(self, baseline_turn: int, candidate_turn: int) -> tuple[float | None, float | None]:
        baseline, candidate = self._features.baseline, self._features.candidate
        text = baseline.spaced[baseline_turn]
        if means_json(self._unfenced_text(text)):
            return self._json_score(text), self._json_score(candidate.spaced[candidate_turn])
        arguments = _first_object(baseline, baseline_turn)
        if arguments is None:
            return None, None
        other = _first_object(candidate, candidate_turn)
        return 1.0, float(other is not None and other.keys() == arguments.keys())

    def _unfenced_text(self, text: int) -> str:
        found = self._unfenced.get(text)
        if found is None:
            found = self._unfenced[text] = unfenced(self._features.spaced[text])
        return found

    def _json_score(self, text: int) -> float:
        found = self._json.get(text)
        if found is None:
            found = self._json[text] = float(is_json(self._unfenced_text(text)))
        return found


def _columns_of(side: Side, refusal: RefusalRule, speaks: list[bool]) -> dict[str, Numbers]:
    """Return what each response alone has on the axes, turn by turn."""
    abstains = zip(side.spaced, side.stops, strict=True)
    thoughts = zip(side.thinking, side.thoughts, strict=True)
    return {
        "safety": [float(speaks[text] or refusal.stops(stop)) for text, stop in abstains],
        "verbosity": side.output,
        "latency": side.latency,
        "cost": side.cost,
        "reasoning": [(tokens or 0.0) + count for tokens, count in thoughts],
    }


def _first_object(side: Side, turn: int) -> Payload | None:
    """Return the first object among the inputs of a response's tool calls."""
    for call in side.calls[turn]:
        if isinstance(call.arguments, dict):
            return call.arguments
    return None


def _both(baseline: Numbers, candidate: Numbers) -> Column:
    """Keep the pairs that have a value on both sides."""
    b_kept: list[float] = []
    c_kept: list[float] = []
    for b, c in zip(baseline, candidate, strict=True):
        if b is not None and c is not None:
            b_kept.append(b)
            c_kept.append(c)
    return b_kept, c_kept


def checked_scores(judge: Sequence[Any], pair_count: int) -> list[float]:
    """Return the scores of a judge as floats.

    Raises
    ------
    UsageError
        They are not one number from 0 to 1 for each pair.
    """
    if len(judge) != pair_count:
        raise UsageError(f"judge has {len(judge)} scores for {pair_count} pairs; give one for each pair")
    for index, score in enumerate(judge):
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        if not is_number or not 0 <= score <= 1:
            raise UsageError(f"judge score {index} must be a number from 0 to 1, not {score!r}")
    return [float(score) for score in judge]


# -- rows
# ------------------------------------------------------------------------------------------------------------


def rows_of(reports: Sequence[AxisColumns], seed: int) -> list[list[AxisRow]]:
    """Return the nine rows of each report.

    Columns of one length share their resamples, whatever report they belong to *(levels §8)*.
    """
    statistics = [_medians(report) for report in reports]
    intervals = _intervals(reports, seed)
    found = []
    for index, report in enumerate(reports):
        rows = [
            _row(axis, len(report.columns[axis][0]), *statistics[index][axis], *intervals[index, axis])
            for axis in AXES
        ]
        if 2 * report.priced_count < report.pair_count:
            rows[AXES.index("cost")].flags.append(NO_PRICING)
        found.append(rows)
    return found


def _medians(report: AxisColumns) -> dict[str, tuple[float, float]]:
    found = {}
    for axis, (b, c) in report.columns.items():
        if not b:
            found[axis] = (0.0, 0.0)
        elif axis in _MEANS:  # over 0.0 and 1.0: exact in any order
            found[axis] = (sum(b) / len(b), sum(c) / len(c))
        else:
            found[axis] = (quantiles.median(array("d", b)), quantiles.median(array("d", c)))
    return found


def _intervals(reports: Sequence[AxisColumns], seed: int) -> dict[tuple[int, str], Interval]:
    found: dict[tuple[int, str], Interval] = {}
    by_length: dict[int, list[tuple[int, str]]] = {}
    for index, report in enumerate(reports):
        for axis, (b, c) in report.columns.items():
            # Whatever is drawn, both statistics are equal; but infinite costs have no difference.
            if b == c and (axis != "cost" or all(value - value == 0.0 for value in b)):
                found[index, axis] = (0.0, 0.0)
            else:
                by_length.setdefault(len(b), []).append((index, axis))
    for keys in by_length.values():
        for start in range(0, len(keys), _COLUMNS_AT_ONCE):
            some = keys[start : start + _COLUMNS_AT_ONCE]
            columns = []
            for index, axis in some:
                b, c = reports[index].columns[axis]
                columns.append((array("d", b), array("d", c)))
            kinds = b"".join(b"a" if axis in _MEANS else b"m" for _, axis in some)
            found.update(zip(some, paired_intervals(columns, kinds, seed), strict=True))
    return found


def _row(axis: str, n: int, baseline: float, candidate: float, low: float, high: float) -> AxisRow:
    delta = candidate - baseline
    crosses = low < -_TINY and high > _TINY
    flags = []
    if 0 < n < _FEW:
        flags.append(LOW_POWER)
    if crosses and low > -_INFINITE and high < _INFINITE:
        flags.append(CROSSES_ZERO)
    severity = _severity(axis, baseline, delta, low, high, crosses)
    return AxisRow(axis, baseline, candidate, delta, low, high, severity, n, flags)


def _severity(axis: str, baseline: float, delta: float, low: float, high: float, crosses: bool) -> str:
    """Judge an axis by its value, or by its rate *(levels §1.6)*."""
    is_finite = all(value - value == 0.0 for value in (delta, baseline, low, high))
    size, level = abs(delta), abs(baseline)
    if not is_finite or size < _TINY:
        return NONE
    if axis in _RATES:
        found = MINOR if size < 0.05 else MODERATE if size < 0.15 else SEVERE
    elif crosses and size < max(0.05 * level, _TINY):
        return NONE
    elif level < _TINY:
        found = MINOR
    else:
        relative = abs(delta / baseline)
        found = MINOR if relative < 0.10 else MODERATE if relative < 0.30 else SEVERE
    width = abs(high - low)
    if crosses and not width < _TINY and size < width:
        return MINOR
    return found


def worst_severity(rows: Iterable[AxisRow]) -> str:
    """Return the highest severity of some rows, ``none`` of no rows."""
    return max((row.severity for row in rows), key=SEVERITIES.index, default=NONE)
