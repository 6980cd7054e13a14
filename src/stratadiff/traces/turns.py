"""Level turn: which pairs of turns differ most, and by what *(levels §3.1)*."""

from __future__ import annotations

from stratadiff.core.frozen import Struct
from stratadiff.traces.features import chosen
from stratadiff.traces.jsontexts import holds_json
from stratadiff.traces.movement import distance
from stratadiff.traces.similarity import shingle_similarities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from stratadiff.traces.features import Features, Numbers, Pairs, PairTable, Side
    from stratadiff.traces.refusals import RefusalRule

    Values: TypeAlias = list[tuple[float, ...]]

SCORED = ("semantic", "trajectory", "safety", "verbosity", "latency", "cost", "reasoning", "conformance")
"""The axes of a score, in order: all but the judge's."""

# What a delta is divided by; dividing by 1.0 changes nothing.
_SCALES = (0.5, 0.5, 1.0, 100.0, 1000.0, 0.01, 100.0, 1.0)
_MOST = 4.0


class AxisScore(Struct):
    """What a pair of turns has on one axis.

    Attributes
    ----------
    axis : str
        One of :data:`SCORED`.
    baseline_value, candidate_value, delta : float
        In the axis' unit.
    normalized_delta : float
        Size of delta in units that can be added up, at most 4.
    """

    __slots__ = ("axis", "baseline_value", "candidate_value", "delta", "normalized_delta")
    axis: str
    baseline_value: float
    candidate_value: float
    delta: float
    normalized_delta: float

    def __init__(
        self,
        axis: str,
        baseline_value: float,
        candidate_value: float,
        delta: float,
        normalized_delta: float,
    ) -> None:
        self._fill(
            axis=axis,
            baseline_value=baseline_value,
            candidate_value=candidate_value,
            delta=delta,
            normalized_delta=normalized_delta,
        )


class PairScore(Struct):
    """How much a pair of turns differs.

    Attributes
    ----------
    pair_index : int
        The pair.
    baseline_turn, candidate_turn : int
        Its turns; both are `pair_index` unless turns are aligned.
    axis_scores : list of AxisScore
        Eight.
    regression_score : float
        The sum of their normalised deltas.
    dominant_axis : str
        The axis of the largest; of equal ones the last.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "pair_index",
        "baseline_turn",
        "candidate_turn",
        "axis_scores",
        "regression_score",
        "dominant_axis",
    )
    pair_index: int
    baseline_turn: int
    candidate_turn: int
    axis_scores: list[AxisScore]
    regression_score: float
    dominant_axis: str

    def __init__(
        self,
        pair_index: int,
        baseline_turn: int,
        candidate_turn: int,
        axis_scores: list[AxisScore],
        regression_score: float,
        dominant_axis: str,
    ) -> None:
        self._fill(
            pair_index=pair_index,
            baseline_turn=baseline_turn,
            candidate_turn=candidate_turn,
            axis_scores=axis_scores,
            regression_score=regression_score,
            dominant_axis=dominant_axis,
        )


class PairScores:
    """The scores of every pair, each computed once.

    Parameters
    ----------
    features : Features
        Both traces.
    table : PairTable
        The pairs.
    refusal : RefusalRule
        What the safety axis counts at this level.
    """

    def __init__(self, features: Features, table: PairTable, refusal: RefusalRule) -> None:
        self._table = table
        baseline, candidate = features.baseline, features.candidate
        texts = features.lined
        is_json = list(map(holds_json, texts))
        speaks = list(map(refusal.speaks, texts))
        b_alone = _values(baseline, refusal, speaks, is_json)
        c_alone = _values(candidate, refusal, speaks, is_json)
        similar = shingle_similarities(
            [texts[baseline.lined[i]] for i in table.baseline],
            [texts[candidate.lined[j]] for j in table.candidate],
        )
        b_tools = [[call.tool for call in calls] for calls in baseline.calls]
        c_tools = [[call.tool for call in calls] for calls in candidate.calls]
        self._baseline: Values = [(1.0, 0.0, *b_alone[i]) for i in table.baseline]
        self._candidate: Values = [
            (alike, distance(b_tools[i], c_tools[j]), *c_alone[j])
            for alike, i, j in zip(similar, table.baseline, table.candidate, strict=True)
        ]
        self._scores = [_score(b, c) for b, c in zip(self._baseline, self._candidate, strict=True)]

    def worst(self, places: Pairs, count: int, first_turns: tuple[int, int] = (0, 0)) -> list[PairScore]:
        """Return the pairs of one report that differ most, worst first.

        Parameters
        ----------
        places : range or list of int
            Its pairs.
        count : int
            How many; 0 for all.
        first_turns : (int, int)
            Where the report's turns start in the two traces.
        """
        scores = chosen(self._scores, places)
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        return [
            self._row(index, places[index], scores[index], first_turns)
            for index in (order[:count] if count else order)
        ]

    def _row(self, index: int, place: int, score: float, first_turns: tuple[int, int]) -> PairScore:
        rows = []
        dominant = 0
        values = zip(SCORED, self._baseline[place], self._candidate[place], _SCALES, strict=True)
        for at, (axis, b, c, scale) in enumerate(values):
            delta = _difference(b, c)
            rows.append(AxisScore(axis, b, c, delta, min(abs(delta / scale), _MOST)))
            if rows[at].normalized_delta >= rows[dominant].normalized_delta:
                dominant = at
        return PairScore(
            index,
            self._table.baseline[place] - first_turns[0],
            self._table.candidate[place] - first_turns[1],
            rows,
            score,
            SCORED[dominant],
        )


def _score(baseline: Sequence[float], candidate: Sequence[float]) -> float:
    if baseline == candidate:
        return 0.0
    total = 0.0  # by plain additions: `sum` of floats compensates since CPython 3.12
    for b, c, scale in zip(baseline, candidate, _SCALES, strict=True):
        total += min(abs(_difference(b, c) / scale), _MOST)
    return total


def _difference(b: float, c: float) -> float:
    # Two infinite costs are no difference, and no NaN among scores that are to be sorted.
    return 0.0 if b == c else c - b


def _values(side: Side, refusal: RefusalRule, speaks: list[bool], is_json: list[bool]) -> Values:
    """Return what each response alone has on the axes from safety on."""
    columns: tuple[Numbers, ...] = (side.output, side.latency, side.cost, side.thinking)
    numbers = [[value or 0.0 for value in column] for column in columns]
    refuses = [
        float(speaks[text] or refusal.stops(stop)) for text, stop in zip(side.lined, side.stops, strict=True)
    ]
    conforms = [float(is_json[text]) for text in side.lined]
    return list(zip(refuses, *numbers, conforms, strict=True))
