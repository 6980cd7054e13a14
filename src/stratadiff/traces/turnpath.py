"""Which turn of the candidate stands for which of the baseline *(levels §3.2)*.

The kernel ``align`` does the alignment, on numbers that are made here once per turn.
"""

from __future__ import annotations

from array import array

from stratadiff._kernels import align, shingles, value_ids
from stratadiff.core.frozen import Frozen
from stratadiff.errors import InputError, LimitError
from stratadiff.limits import MAX_TURN_CELLS
from stratadiff.traces.features import Ids
from stratadiff.traces.similarity import SHINGLE, collapsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stratadiff.traces.features import Features, Side


class TurnTraits:
    """What the alignment looks at of every turn of one side.

    Attributes
    ----------
    tools : list of tuple of int
        S: ids of the different ``NAME(KEYS)``, ascending.
    call_counts : list of int
        q: number of ``tool_use`` blocks.
    texts : list of int
        Id of t, the text with its white space collapsed.
    stops : list of str
        g: the stop reason, ``""`` for one that is no string.
    arguments : list of dict of str to int
        Tool name → id of the input of its first use, equal for equal JSON.
    inputs : list of dict of str to Any
        Tool name → that input.
    """

    __slots__ = ("arguments", "call_counts", "inputs", "stops", "texts", "tools")

    def __init__(self, side: Side, texts: list[int]) -> None:
        self.tools = [tuple(sorted({call.tool for call in calls})) if calls else () for calls in side.calls]
        self.call_counts = list(map(len, side.calls))
        self.texts = [texts[text] for text in side.spaced]
        self.stops = [stop if isinstance(stop, str) else "" for stop in side.stops]
        self.inputs: list[dict[str, Any]] = []
        self.arguments: list[dict[str, int]] = []
        for calls in side.calls:
            first: dict[str, Any] = {}
            for call in calls:
                first.setdefault(call.name, call.arguments)
            self.inputs.append(first)


class Aligned(Frozen):
    """An alignment of turns.

    Attributes
    ----------
    path : bytes
        ``A`` a pair, ``D`` a baseline turn without partner, ``I`` a candidate turn without.
    costs : array('d')
        The cost of every pair, in order.
    """

    __slots__ = ("costs", "path")
    path: bytes
    costs: array[float]

    def __init__(self, path: bytes, costs: array[float]) -> None:
        self._fill(path=path, costs=costs)


class TurnPaths:
    """Alignments of the turns of two traces, or of parts of them; each is computed once.

    Parameters
    ----------
    features : Features
        Both traces.

    Attributes
    ----------
    baseline, candidate : TurnTraits
        What is compared.
    texts : list of str
        The different t by id.

    Raises
    ------
    InputError
        The input of a tool is nested too deeply or holds what JSON does not have, which only happens to
        records in memory.
    """

    def __init__(self, features: Features) -> None:
        ids = Ids()
        texts = [ids[collapsed(text)] for text in features.spaced]
        self.texts: list[str] = list(ids)
        self.baseline = TurnTraits(features.baseline, texts)
        self.candidate = TurnTraits(features.candidate, texts)
        self._names = Ids()
        self._stops = Ids()
        self._shingles: list[array[int]] | None = None
        self._known: dict[tuple[range, range], Aligned] = {}
        self._number_arguments()

    def between(self, baseline: range, candidate: range) -> Aligned:
        """Align some consecutive turns of each side.

        Raises
        ------
        LimitError
            The tables would have more than ``limits.MAX_TURN_CELLS`` cells.
        """
        found = self._known.get((baseline, candidate))
        if found is None:
            found = self._known[baseline, candidate] = self._align(baseline, candidate)
        return found

    def _number_arguments(self) -> None:
        sides = (self.baseline, self.candidate)
        flat = [value for side in sides for inputs in side.inputs for value in inputs.values()]
        try:
            ids = iter(value_ids.intern(flat))
        except ValueError as error:
            raise InputError(f"the input of a tool cannot be compared: {error}") from None
        for side in sides:
            for inputs in side.inputs:
                side.arguments.append({name: next(ids) for name in inputs})

    def _align(self, baseline: range, candidate: range) -> Aligned:
        if not baseline or not candidate:
            return Aligned(b"D" * len(baseline) + b"I" * len(candidate), array("d"))
        if self._are_equal(baseline, candidate):
            # Every pair on the diagonal costs nothing, and no other way does.
            return Aligned(b"A" * len(baseline), array("d", bytes(8 * len(baseline))))
        if self._shingles is None:
            flat, bounds = shingles.sets(self.texts, SHINGLE)
            self._shingles = [flat[bounds[k] : bounds[k + 1]] for k in range(len(self.texts))]
        sides = (self._columns(self.baseline, baseline), self._columns(self.candidate, candidate))
        try:
            path, costs = align.turns(*sides, MAX_TURN_CELLS)
        except OverflowError:
            raise LimitError(
                f"{len(baseline):,} against {len(candidate):,} turns are more than can be aligned "
                f"({MAX_TURN_CELLS:,} cells); choose levels without turn and session, and no --align"
            ) from None
        return Aligned(path, costs)

    def _are_equal(self, baseline: range, candidate: range) -> bool:
        if len(baseline) != len(candidate):
            return False
        old, new = slice(baseline.start, baseline.stop), slice(candidate.start, candidate.stop)
        b, c = self.baseline, self.candidate
        return (
            b.texts[old] == c.texts[new]
            and b.tools[old] == c.tools[new]
            and b.call_counts[old] == c.call_counts[new]
            and b.stops[old] == c.stops[new]
            and b.arguments[old] == c.arguments[new]
        )

    def _columns(self, side: TurnTraits, turns: range) -> list[array[int]]:
        """Return the turns of one side as the kernel takes them."""
        assert self._shingles is not None
        tools, names, values, shingle_ids = array("i"), array("i"), array("i"), array("i")
        tool_bounds, argument_bounds, shingle_bounds = (array("i", (0,)) for _ in range(3))
        number = self._names.__getitem__
        for turn in turns:
            tools.extend(side.tools[turn])
            tool_bounds.append(len(tools))
            arguments = side.arguments[turn]
            if arguments:
                used = sorted([(number(name), value) for name, value in arguments.items()])
                names.extend([name for name, _ in used])
                values.extend([value for _, value in used])
            argument_bounds.append(len(names))
            shingle_ids.extend(self._shingles[side.texts[turn]])
            shingle_bounds.append(len(shingle_ids))
        some = slice(turns.start, turns.stop)
        return [
            tools,
            tool_bounds,
            array("i", side.call_counts[some]),
            array("i", side.texts[some]),
            shingle_ids,
            shingle_bounds,
            array("i", map(self._stops.__getitem__, side.stops[some])),
            names,
            values,
            argument_bounds,
        ]
