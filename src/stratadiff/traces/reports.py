"""Levels trace, turn and session put together: what is shared is computed once *(levels §§1-3)*."""

from __future__ import annotations

from stratadiff.core.frozen import Struct
from stratadiff.traces.axes import AxisValues, rows_of, worst_severity
from stratadiff.traces.divergences import Divergences, TurnDiff
from stratadiff.traces.features import Features, PairTable
from stratadiff.traces.model import pair_along, pair_by_position
from stratadiff.traces.options import SESSION, TRACE, TURN
from stratadiff.traces.refusals import rules_of
from stratadiff.traces.sessions import paired_sessions
from stratadiff.traces.turnpath import TurnPaths
from stratadiff.traces.turns import PairScores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from stratadiff.traces.axes import AxisColumns, AxisRow
    from stratadiff.traces.divergences import Divergence
    from stratadiff.traces.features import Pairs
    from stratadiff.traces.model import Pairing, Session, Trace
    from stratadiff.traces.options import LevelOptions
    from stratadiff.traces.refusals import RefusalRule
    from stratadiff.traces.turns import PairScore

    _Scope: TypeAlias = tuple[range, range, Pairs]
    """The turns of each side that a report is about, and the places of its pairs."""


class TraceReport(Struct):
    """The report of two traces, or of two sessions *(levels §1.8)*.

    Attributes
    ----------
    rows : list of AxisRow
        The nine axes.
    baseline_trace_id, candidate_trace_id : str
        As the records say; ``""`` where there are none.
    pair_count : int
        Pairs of turns.
    first_divergence : Divergence or None
        Where the two part first.
    divergences : list of Divergence
        The gravest.
    drill_down : list of PairScore
        The pairs that differ most.
    extras : dict
        ``unpaired`` turns of each side, ``changed`` pairs per axis, ``text_pairs``.
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
    )
    rows: list[AxisRow]
    baseline_trace_id: str
    candidate_trace_id: str
    pair_count: int
    first_divergence: Divergence | None
    divergences: list[Divergence]
    drill_down: list[PairScore]
    extras: dict[str, Any]

    def __init__(
        self,
        rows: list[AxisRow],
        baseline_trace_id: str,
        candidate_trace_id: str,
        pair_count: int,
        first_divergence: Divergence | None,
        divergences: list[Divergence],
        drill_down: list[PairScore],
        extras: dict[str, Any],
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
        )


class SessionReport(Struct):
    """Two sessions that belong together.

    Attributes
    ----------
    session_index : int
        Their place in both traces.
    baseline_session_id, candidate_session_id : str
        ``""`` on the side that has no such session.
    pair_count : int
        Pairs of turns.
    worst_severity : str
        The highest among the report's rows.
    report : TraceReport
        Of the two sessions' records alone; turns are counted from 0 in each session.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "session_index",
        "baseline_session_id",
        "candidate_session_id",
        "pair_count",
        "worst_severity",
        "report",
    )
    session_index: int
    baseline_session_id: str
    candidate_session_id: str
    pair_count: int
    worst_severity: str
    report: TraceReport

    def __init__(
        self,
        session_index: int,
        baseline_session_id: str,
        candidate_session_id: str,
        pair_count: int,
        worst_severity: str,
        report: TraceReport,
    ) -> None:
        self._fill(
            session_index=session_index,
            baseline_session_id=baseline_session_id,
            candidate_session_id=candidate_session_id,
            pair_count=pair_count,
            worst_severity=worst_severity,
            report=report,
        )


class Reports:
    """The levels trace, turn and session of two traces, as far as they are asked for.

    Parameters
    ----------
    baseline, candidate : Trace
        Read with what these levels need.
    options : LevelOptions
        The levels and how.

    Attributes
    ----------
    pairing : Pairing
        The pairs of turns of the whole traces.
    rows : list of AxisRow or None
        Level trace.
    columns : AxisColumns or None
        The values behind the rows.
    turns : TurnDiff or None
        Level turn.
    sessions : list of SessionReport or None
        Level session.
    """

    def __init__(self, baseline: Trace, candidate: Trace, options: LevelOptions) -> None:
        levels = options.levels
        self._options = options
        self._features = Features(baseline, candidate, options.pricing)
        self._paths = TurnPaths(self._features) if options.align or levels & {SESSION, TURN} else None
        self._table = PairTable()
        turns = (range(baseline.turn_count), range(candidate.turn_count))
        self.pairing = self._pairing(*turns)
        self.rows: list[AxisRow] | None = None
        self.columns: AxisColumns | None = None
        self.turns: TurnDiff | None = None
        self.sessions: list[SessionReport] | None = None
        # The whole traces come first in each list, then the sessions.
        whole = [self._scope(*turns)] if levels & {TRACE, TURN} else []
        parts = paired_sessions(baseline, candidate) if SESSION in levels else []
        sessions = [self._scope(old.turns, new.turns) for old, new in parts]
        trace_refusals, turn_refusals = rules_of(options.refusals, options.abstentions)
        columns = self._columns((whole if TRACE in levels else []) + sessions, trace_refusals)
        rows = rows_of(columns, options.seed)
        diffs = self._turn_diffs((whole if TURN in levels else []) + sessions, turn_refusals)
        if TRACE in levels:
            self.columns, self.rows = columns.pop(0), rows.pop(0)
        if TURN in levels:
            self.turns = diffs.pop(0)
        if SESSION in levels:
            self.sessions = list(map(_session_report, range(len(parts)), parts, rows, columns, diffs))

    def _pairing(self, baseline: range, candidate: range) -> Pairing:
        """Pair some turns of each side, numbered from the start of each range."""
        if self._options.align and self._paths is not None:
            return pair_along(self._paths.between(baseline, candidate).path)
        return pair_by_position(len(baseline), len(candidate))

    def _scope(self, baseline: range, candidate: range) -> _Scope:
        pairing = self._pairing(baseline, candidate)
        places = self._table.add(
            [baseline[turn] for turn in pairing.baseline], [candidate[turn] for turn in pairing.candidate]
        )
        return baseline, candidate, places

    def _columns(self, scopes: list[_Scope], refusals: RefusalRule) -> list[AxisColumns]:
        if not scopes:
            return []
        is_text_only = self._options.semantic_text_only
        values = AxisValues(self._features, self._table, refusals, text_only=is_text_only)
        # A judge scores the pairs of the whole traces.
        judges = [self._options.judge if TRACE in self._options.levels else None] + [None] * len(scopes)
        return [values.columns(places, judge) for (_, _, places), judge in zip(scopes, judges, strict=False)]

    def _turn_diffs(self, scopes: list[_Scope], refusals: RefusalRule) -> list[TurnDiff]:
        if not scopes or self._paths is None:
            return []
        scores = PairScores(self._features, self._table, refusals)
        divergences = Divergences(self._features, self._paths)
        found = []
        for baseline, candidate, places in scopes:
            worst = scores.worst(places, self._options.drill_down_rows, (baseline.start, candidate.start))
            first, gravest = divergences.between(baseline, candidate)
            found.append(TurnDiff(first, gravest, worst))
        return found


def _session_report(
    index: int, part: tuple[Session, Session], rows: list[AxisRow], columns: AxisColumns, turns: TurnDiff
) -> SessionReport:
    old, new = part
    count = columns.pair_count
    report = TraceReport(
        rows,
        old.trace_id,
        new.trace_id,
        count,
        turns.first_divergence,
        turns.divergences,
        turns.drill_down,
        extras_of((len(old.turns), len(new.turns)), count, columns),
    )
    return SessionReport(index, old.session_id, new.session_id, count, worst_severity(rows), report)


def extras_of(
    turn_counts: tuple[int, int], pair_count: int, columns: AxisColumns | None = None
) -> dict[str, Any]:
    """Return what a report says besides: without `columns` the turns that have no partner *(levels §1.8)*."""
    unpaired = {"baseline": turn_counts[0] - pair_count, "candidate": turn_counts[1] - pair_count}
    extras: dict[str, Any] = {"unpaired": unpaired}
    if columns is not None:
        extras["changed"] = columns.changed()
        extras["text_pairs"] = columns.text_count
    return extras
