"""Where two traces part, and how: the walk along the alignment of their turns *(levels §3.2)*."""

from __future__ import annotations

from _json import encode_basestring, make_encoder  # json itself costs start-up time

from stratadiff._kernels import shingles, value_ids
from stratadiff.core.frozen import Struct
from stratadiff.errors import InputError, LimitError
from stratadiff.traces.similarity import SHINGLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stratadiff.traces.features import Features
    from stratadiff.traces.turnpath import Aligned, TurnPaths, TurnTraits
    from stratadiff.traces.turns import PairScore

STRUCTURAL, DECISION, STYLE = KINDS = ("structural_drift", "decision_drift", "style_drift")
"""Kinds of divergence, the gravest first."""

SHOWN = 5
"""How many of the gravest divergences a report has."""

_QUIET = 0.12
_ALIKE, _CHEAP = 0.90, 0.25
_PAIR, _INSERTED = ord("A"), ord("I")


class Divergence(Struct):
    """A place where two traces part.

    Attributes
    ----------
    baseline_turn, candidate_turn : int
        Turns of the two traces; on the side that has none here, the next one.
    kind : str
        One of :data:`KINDS`.
    primary_axis : str
        The axis it concerns.
    explanation : str
        A sentence. Holds text of the trace: escape before display.
    confidence : float
        From 0 to 1.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "baseline_turn",
        "candidate_turn",
        "kind",
        "primary_axis",
        "explanation",
        "confidence",
    )
    baseline_turn: int
    candidate_turn: int
    kind: str
    primary_axis: str
    explanation: str
    confidence: float

    def __init__(
        self,
        baseline_turn: int,
        candidate_turn: int,
        kind: str,
        primary_axis: str,
        explanation: str,
        confidence: float,
    ) -> None:
        self._fill(
            baseline_turn=baseline_turn,
            candidate_turn=candidate_turn,
            kind=kind,
            primary_axis=primary_axis,
            explanation=explanation,
            confidence=confidence,
        )


class TurnDiff(Struct):
    """Level turn of two traces or sessions.

    Attributes
    ----------
    first_divergence : Divergence or None
        Where they part first.
    divergences : list of Divergence
        The gravest five: by kind, then by confidence.
    drill_down : list of PairScore
        The pairs of turns that differ most.
    """

    __slots__ = ("first_divergence", "divergences", "drill_down")  # noqa: RUF023  the members' order
    first_divergence: Divergence | None
    divergences: list[Divergence]
    drill_down: list[PairScore]

    def __init__(
        self,
        first_divergence: Divergence | None,
        divergences: list[Divergence],
        drill_down: list[PairScore],
    ) -> None:
        self._fill(first_divergence=first_divergence, divergences=divergences, drill_down=drill_down)


class _Step:
    """A divergence before its sentence is written: what `explain` needs, relative to the report's turns."""

    __slots__ = ("baseline", "candidate", "confidence", "cost", "kind", "step")

    def __init__(
        self, step: int, baseline: int, candidate: int, kind: str, confidence: float, cost: float
    ) -> None:
        self.step = step
        self.baseline = baseline
        self.candidate = candidate
        self.kind = kind
        self.confidence = confidence
        self.cost = cost


class Divergences:
    """The divergences of two traces, or of parts of them.

    Parameters
    ----------
    features : Features
        Both traces.
    paths : TurnPaths
        Their alignments.
    """

    def __init__(self, features: Features, paths: TurnPaths) -> None:
        self._paths = paths
        self._tools = features.tools.texts()

    def between(self, baseline: range, candidate: range) -> tuple[Divergence | None, list[Divergence]]:
        """Return the first divergence of some turns of each side, and the gravest.

        Turn numbers count from the start of each range.
        """
        if not baseline or not candidate:
            return None, []
        steps = list(self._walk(baseline, candidate, self._paths.between(baseline, candidate)))
        if not steps:
            return None, []
        gravest = sorted(steps, key=lambda step: (KINDS.index(step.kind), -step.confidence))[:SHOWN]
        return (
            self._explained(steps[0], baseline, candidate),
            [self._explained(step, baseline, candidate) for step in gravest],
        )

    def _walk(self, baseline: range, candidate: range, aligned: Aligned) -> Iterator[_Step]:
        b = c = 0
        costs = iter(aligned.costs)
        for step in aligned.path:
            if step != _PAIR:
                yield _Step(step, b, c, STRUCTURAL, 1.0, 0.0)
                b += step != _INSERTED
                c += step == _INSERTED
                continue
            cost = next(costs)
            if cost > _QUIET:
                confidence = min(max((cost - _QUIET) / (1.0 - _QUIET), 0.0), 1.0)
                kind = self._kind(baseline[b], candidate[c], cost)
                yield _Step(step, b, c, kind, confidence, cost)
            b += 1
            c += 1

    def _kind(self, baseline_turn: int, candidate_turn: int, cost: float) -> str:
        """Return the kind of a divergence between two paired turns: the first line of the table that fits."""
        old, new = self._paths.baseline, self._paths.candidate
        i, j = baseline_turn, candidate_turn
        if old.tools[i] != new.tools[j] or old.call_counts[i] != new.call_counts[j]:
            return STRUCTURAL
        if old.stops[i] != new.stops[j] or self._differing_tool(i, j) is not None:
            return DECISION
        return STYLE if cost <= _CHEAP and self._similarity(i, j) >= _ALIKE else DECISION

    def _explained(self, step: _Step, baseline: range, candidate: range) -> Divergence:
        b, c = step.baseline, step.candidate
        old, new = self._paths.baseline, self._paths.candidate
        if step.step == _INSERTED:
            axis = "trajectory"
            what = _counted(new, candidate[c], "an extra ")
            text = f"candidate inserted {what} between baseline turns #{max(b - 1, 0)} and #{b}"
        elif step.step != _PAIR:
            axis = "trajectory"
            what = _counted(old, baseline[b], "a ")
            text = f"candidate dropped {what} (baseline turn #{b} has no counterpart)"
        else:
            axis, text = self._axis_and_text(baseline[b], candidate[c], step.kind)
        return Divergence(b, c, step.kind, axis, text, step.confidence)

    def _axis_and_text(self, baseline_turn: int, candidate_turn: int, kind: str) -> tuple[str, str]:
        old, new = self._paths.baseline, self._paths.candidate
        b_tools, c_tools = old.tools[baseline_turn], new.tools[candidate_turn]
        if b_tools != c_tools:
            return "trajectory", self._tool_sets(set(b_tools), set(c_tools))
        b_count, c_count = old.call_counts[baseline_turn], new.call_counts[candidate_turn]
        if b_count != c_count:
            what = self._listed(set(b_tools)) if len(b_tools) == 1 else f"{len(b_tools)} tool(s)"
            how = (
                "duplicate tool invocation" if c_count > b_count else "dropped one or more repeat invocations"
            )
            return (
                "trajectory",
                f"candidate called {what} {c_count} time(s) vs baseline's {b_count} — {how}",
            )
        b_stop, c_stop = old.stops[baseline_turn], new.stops[candidate_turn]
        if b_stop != c_stop:
            return "safety", f"stop_reason changed: `{b_stop}` → `{c_stop}`"
        name = self._differing_tool(baseline_turn, candidate_turn)
        if name is not None:
            change = argument_difference(
                name, old.inputs[baseline_turn][name], new.inputs[candidate_turn][name]
            )
            return "trajectory", f"tool arg value changed: {change}"
        if kind == STYLE:
            return "semantic", "cosmetic wording change — tool sequence and semantics preserved"
        alike = self._similarity(baseline_turn, candidate_turn)
        return "semantic", f"response text diverged (text similarity {alike:.2f}); same tool sequence"

    def _tool_sets(self, baseline: set[int], candidate: set[int]) -> str:
        removed, added = self._listed(baseline - candidate), self._listed(candidate - baseline)
        if removed and added:
            return f"tool set changed: removed {removed}, added {added}"
        if removed:
            return f"candidate dropped tool call(s): {removed}"
        return f"candidate added tool call(s): {added}"

    def _listed(self, tools: set[int]) -> str:
        return ", ".join(f"`{tool}`" for tool in sorted(self._tools[tool] for tool in tools))

    def _similarity(self, baseline_turn: int, candidate_turn: int) -> float:
        b, c = self._paths.baseline.texts[baseline_turn], self._paths.candidate.texts[candidate_turn]
        return 1.0 if b == c else shingles.jaccard(self._paths.texts[b], self._paths.texts[c], SHINGLE)

    def _differing_tool(self, baseline_turn: int, candidate_turn: int) -> str | None:
        """Return the first tool, by code points, whose first inputs differ."""
        old = self._paths.baseline.arguments[baseline_turn]
        new = self._paths.candidate.arguments[candidate_turn]
        return min((name for name in old if name in new and old[name] != new[name]), default=None)


def _counted(side: TurnTraits, turn: int, article: str) -> str:
    count = len(side.tools[turn])
    if not count:
        return f"{article}response turn with no tool calls"
    return f"{article}turn with {count} tool call{'' if count == 1 else 's'}"


def argument_difference(name: str, baseline: Any, candidate: Any) -> str:
    """Describe how two inputs of a tool, which are not equal as JSON, differ.

    Parameters
    ----------
    name : str
        The tool.
    baseline, candidate : Any
        The inputs.
    """
    if isinstance(baseline, dict) and isinstance(candidate, dict):
        for key, old in baseline.items():
            if key not in candidate:
                return f"`{name}({key})`: `{compact(old)}` → `<missing>`"
            if not value_ids.equal(old, candidate[key]):
                return f"`{name}({key})`: `{compact(old)}` → `{compact(candidate[key])}`"
    return f"`{name}`: input changed"


def compact(value: Any) -> str:
    """Return a value as compact JSON, as ``json.dumps`` writes it, non-ASCII text as itself."""
    try:
        return "".join(_encode(value, 0))
    except RecursionError:
        raise LimitError("the input of a tool is nested too deeply to be written as JSON") from None
    except ValueError as error:  # an integer of thousands of digits, which only records in memory can hold
        raise InputError(f"the input of a tool has no JSON form: {error}") from None


_encode = make_encoder(None, str, encode_basestring, None, ":", ",", False, False, True)
