"""How far apart the tool calls of two responses are *(levels §1.2, §3.1)*."""

from __future__ import annotations

import marshal

from stratadiff.errors import InputError, LimitError
from stratadiff.limits import MAX_CALL_CELLS
from stratadiff.traces.features import Ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stratadiff.traces.features import Call, Side

# Without references, so that equal bytes mean the same value, member order included.
_MARSHAL = 2


def distance(baseline: Sequence[int], candidate: Sequence[int]) -> float:
    """Return the edit distance of two sequences of ids divided by the longer length; 0 if both are empty.

    Raises
    ------
    LimitError
        What is left of the two after equal ids at both ends has more than ``limits.MAX_CALL_CELLS`` cells.
    """
    longer = max(len(baseline), len(candidate))
    start, b_end, c_end = 0, len(baseline), len(candidate)
    while start < b_end and start < c_end and baseline[start] == candidate[start]:
        start += 1
    while b_end > start and c_end > start and baseline[b_end - 1] == candidate[c_end - 1]:
        b_end -= 1
        c_end -= 1
    if start == b_end and start == c_end:
        return 0.0
    b_rest, c_rest = baseline[start:b_end], candidate[start:c_end]
    edits = max(len(b_rest), len(c_rest))
    if len(b_rest) == 1 or len(c_rest) == 1:
        shorter, other = (b_rest, c_rest) if len(b_rest) == 1 else (c_rest, b_rest)
        edits -= shorter[0] in other
    elif b_rest and c_rest:
        if len(b_rest) * len(c_rest) > MAX_CALL_CELLS:
            raise LimitError(
                f"{len(b_rest):,} against {len(c_rest):,} tool calls in one turn are too many to compare; "
                "choose levels without trace, session and turn with --only"
            )
        from rapidfuzz.distance import Levenshtein  # start-up

        edits = Levenshtein.distance(b_rest, c_rest)
    return edits / longer


class Movements:
    """Distances of the calls of two turns, arguments included *(levels §1.2)*.

    Two calls are the same if their ``NAME(KEYS`` is, and the canonical JSON of their arguments. The format
    says so by a digest, which is shown nowhere and therefore not computed; and canonical JSON is written only
    of arguments that are not plainly the same.

    Parameters
    ----------
    baseline, candidate : Side
        The two traces.
    """

    def __init__(self, baseline: Side, candidate: Side) -> None:
        self._sides = (baseline, candidate)
        self._tokens = Ids()
        self._canonical = Ids()
        self._by_marshal: dict[bytes, int] = {}

    def distance(self, baseline_turn: int, candidate_turn: int) -> float:
        """Return the normalised distance of a pair of turns.

        Raises
        ------
        InputError
            Arguments have no JSON form, which only happens to records in memory.
        LimitError
            They are nested too deeply.
        """
        baseline, candidate = self._sides
        b_calls, c_calls = baseline.calls[baseline_turn], candidate.calls[candidate_turn]
        if not b_calls or not c_calls:
            return 1.0 if b_calls or c_calls else 0.0
        b_tools = [call.tool for call in b_calls]
        c_tools = [call.tool for call in c_calls]
        if b_tools == c_tools:
            b_bytes = _marshalled([call.arguments for call in b_calls])
            if b_bytes is not None and b_bytes == _marshalled([call.arguments for call in c_calls]):
                return 0.0
        shared = set(b_tools).intersection(c_tools)
        return distance(
            [self._token(call, shared, baseline, baseline_turn) for call in b_calls],
            [self._token(call, shared, candidate, candidate_turn) for call in c_calls],
        )

    def _token(self, call: Call, shared: set[int], side: Side, turn: int) -> int:
        # A tool that only one of the two responses uses is nothing's equal, whatever its arguments.
        if call.tool not in shared:
            return self._tokens[call.tool, -1]
        try:
            return self._tokens[call.tool, self._arguments_id(call.arguments)]
        except LimitError as error:
            raise LimitError(error.message, where=f"{side.which} turn {turn}") from None
        except (ValueError, TypeError) as error:
            message = f"the input of a tool has no JSON form: {error}"
            raise InputError(message, where=f"{side.which} turn {turn}") from None

    def _arguments_id(self, arguments: Any) -> int:
        data = _marshalled(arguments)
        found = None if data is None else self._by_marshal.get(data)
        if found is None:
            from stratadiff.core.contentid import canonical  # start-up

            found = self._canonical[canonical(arguments)]
            if data is not None:
                self._by_marshal[data] = found
        return found


def _marshalled(value: Any) -> bytes | None:
    try:
        return marshal.dumps(value, _MARSHAL)
    except ValueError:  # nested too deeply, or of a class of the caller's own
        return None
