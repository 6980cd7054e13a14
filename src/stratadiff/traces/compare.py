"""Two traces → everything that the levels asked for say of them *(levels §§1-7)*.

What a level looks at is computed once per response or pair and shared by all levels and sessions; a level
that was not asked for costs nothing.
"""

from __future__ import annotations

from stratadiff.core.frozen import Struct
from stratadiff.traces.axes import AxisRow, worst_severity
from stratadiff.traces.divergences import Divergence, TurnDiff
from stratadiff.traces.features import responses_of
from stratadiff.traces.model import pair_by_position
from stratadiff.traces.options import LEVELS, POLICY, SESSION, SPAN, TOKEN, TRACE, TURN, LevelOptions
from stratadiff.traces.reports import Reports, SessionReport, TraceReport, extras_of
from stratadiff.traces.turns import AxisScore, PairScore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stratadiff.traces.model import Pairing, Trace
    from stratadiff.traces.policy import PolicyDiff
    from stratadiff.traces.spans import SpanDiff
    from stratadiff.traces.tokens import TokenDiff

__all__ = (
    "LEVELS",
    "AxisRow",
    "AxisScore",
    "Divergence",
    "LevelOptions",
    "PairScore",
    "PairSpans",
    "SessionReport",
    "TraceComparison",
    "TraceReport",
    "TurnDiff",
    "compare_traces",
    "needs_of",
)


class PairSpans(Struct):
    """What changed inside a pair of turns.

    Attributes
    ----------
    pair_index : int
        The pair.
    changes : list of SpanDiff
        At least one.
    """

    __slots__ = ("pair_index", "changes")  # noqa: RUF023  the members' order
    pair_index: int
    changes: list[SpanDiff]

    def __init__(self, pair_index: int, changes: list[SpanDiff]) -> None:
        self._fill(pair_index=pair_index, changes=changes)


class TraceComparison(Struct):
    """Everything that was asked about two traces; what was not is None.

    Attributes
    ----------
    baseline_trace_id, candidate_trace_id : str
        The traces' names.
    pair_count : int
        Pairs of turns.
    rows : list of AxisRow or None
        Level trace: the nine axes.
    first_divergence, divergences, drill_down : Divergence, lists of Divergence and PairScore, or None
        Level turn. `first_divergence` is also None where nothing diverges.
    extras : dict
        ``unpaired`` turns; at level trace also ``changed`` pairs per axis and ``text_pairs``.
    sessions : list of SessionReport or None
        Level session.
    token_diff : TokenDiff or None
        Level token.
    policy_diff : PolicyDiff or None
        Level policy.
    spans : list of PairSpans or None
        Level span: the pairs that changed.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "rows",
        "baseline_trace_id",
        "candidate_trace_id",
        "pair_count",
        "first_divergence",
        "divergences",
        "drill_down",
        "extras",
        "sessions",
        "token_diff",
        "policy_diff",
        "spans",
    )
    rows: list[AxisRow] | None
    baseline_trace_id: str
    candidate_trace_id: str
    pair_count: int
    first_divergence: Divergence | None
    divergences: list[Divergence] | None
    drill_down: list[PairScore] | None
    extras: dict[str, Any]
    sessions: list[SessionReport] | None
    token_diff: TokenDiff | None
    policy_diff: PolicyDiff | None
    spans: list[PairSpans] | None

    def __init__(
        self,
        rows: list[AxisRow] | None,
        baseline_trace_id: str,
        candidate_trace_id: str,
        pair_count: int,
        first_divergence: Divergence | None,
        divergences: list[Divergence] | None,
        drill_down: list[PairScore] | None,
        extras: dict[str, Any],
        sessions: list[SessionReport] | None = None,
        token_diff: TokenDiff | None = None,
        policy_diff: PolicyDiff | None = None,
        spans: list[PairSpans] | None = None,
    ) -> None:
        self._fill(
            rows=rows,
            baseline_trace_id=baseline_trace_id,
            candidate_trace_id=candidate_trace_id,
            pair_count=pair_count,
            first_divergence=first_divergence,
            divergences=divergences,
            drill_down=drill_down,
            extras=extras,
            sessions=sessions,
            token_diff=token_diff,
            policy_diff=policy_diff,
            spans=spans,
        )

    @property
    def worst_severity(self) -> str:
        """The highest severity of the rows; ``none`` without them."""
        return worst_severity(self.rows or ())


def needs_of(options: LevelOptions) -> frozenset[str]:
    """Return what a trace must keep for some options; see :func:`~stratadiff.traces.reader.read_for`."""
    needs: set[str] = set()
    if options.align or options.levels & {TRACE, SESSION, TURN, SPAN}:
        needs.add("responses")
    if POLICY in options.levels and options.rules is not None:
        from stratadiff.traces import policy  # start-up

        needs |= policy.needs(options.rules)
    return frozenset(needs)


def compare_traces(baseline: Trace, candidate: Trace, options: LevelOptions) -> TraceComparison:
    """Compare two traces.

    Parameters
    ----------
    baseline, candidate : Trace
        Read with at least :func:`needs_of` these options.
    options : LevelOptions
        The levels and how.

    Returns
    -------
    TraceComparison
        A field per part of the report.

    Raises
    ------
    UsageError
        The judge's scores are not one number from 0 to 1 for each pair.
    InputError
        Records in memory hold what JSON does not have.
    LimitError
        Too many turns to align, or a value nested too deeply.
    """
    levels = options.levels
    counts = (baseline.turn_count, candidate.turn_count)
    found = None
    pairing = pair_by_position(*counts)
    if options.align or levels & {TRACE, SESSION, TURN}:
        found = Reports(baseline, candidate, options)
        pairing = found.pairing
    turns = None if found is None else found.turns
    token_diff = policy_diff = None
    if TOKEN in levels:
        from stratadiff.traces import tokens  # start-up

        token_diff = tokens.token_diff(baseline, candidate, pairing, options.top_k_pairs)
    if POLICY in levels and options.rules is not None:
        from stratadiff.traces import policy  # start-up

        policy_diff = policy.policy_diff(baseline, candidate, options.rules, path=pairing.path)
    return TraceComparison(
        rows=None if found is None else found.rows,
        baseline_trace_id=baseline.trace_id,
        candidate_trace_id=candidate.trace_id,
        pair_count=len(pairing),
        first_divergence=None if turns is None else turns.first_divergence,
        divergences=None if turns is None else turns.divergences,
        drill_down=None if turns is None else turns.drill_down,
        extras=extras_of(counts, len(pairing), None if found is None else found.columns),
        sessions=None if found is None else found.sessions,
        token_diff=token_diff,
        policy_diff=policy_diff,
        spans=_spans(baseline, candidate, pairing) if SPAN in levels else None,
    )


def _spans(baseline: Trace, candidate: Trace, pairing: Pairing) -> list[PairSpans]:
    from stratadiff.traces.spans import span_diff  # start-up

    old, new = responses_of(baseline), responses_of(candidate)
    found = []
    for index, (i, j) in enumerate(zip(pairing.baseline, pairing.candidate, strict=True)):
        changes = span_diff(old[i], new[j])
        if changes:
            found.append(PairSpans(index, changes))
    return found
