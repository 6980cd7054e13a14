"""What a policy rule sees of a trace: some turns, their texts, and the tool calls made in them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from stratadiff.traces.model import Payload, ToolRecord, Trace

IN_RESPONSE = -1
"""The place of a call that is a block of its turn's response."""


class CallsOf:
    """The calls of one tool.

    Attributes
    ----------
    first : int
        Position of the first of them among all calls.
    turns : list of int
        The turn of each.
    """

    __slots__ = ("first", "turns")

    def __init__(self, first: int, turns: list[int]) -> None:
        self.first = first
        self.turns = turns


class Calls:
    """Tool calls in file order, as columns.

    Attributes
    ----------
    turns : sequence of int
        The turn of each.
    names : list of str
        The tool of each.
    places : list of int or None
        Of each the place of its record among the records, :data:`IN_RESPONSE` for a block of a response.
        None: all are blocks.
    """

    __slots__ = ("names", "places", "turns")

    def __init__(self, turns: Sequence[int], names: list[str], places: list[int] | None = None) -> None:
        self.turns = turns
        self.names = names
        self.places = places

    def chosen(self, positions: Sequence[int]) -> Calls:
        """Return the calls at these positions."""
        places = self.places and [self.places[at] for at in positions]
        return Calls([self.turns[at] for at in positions], [self.names[at] for at in positions], places)

    def by_tool(self) -> dict[str, CallsOf]:
        """Return the calls of each tool."""
        turns: dict[str, list[int]] = {}
        for name, turn in zip(self.names, self.turns, strict=True):
            if name in turns:
                turns[name].append(turn)
            else:
                turns[name] = [turn]
        # Backwards: what stays of a name is its first position.
        first = dict(zip(reversed(self.names), range(len(self.names) - 1, -1, -1), strict=True))
        return {name: CallsOf(first[name], found) for name, found in turns.items()}


class TurnView:
    """Some turns of a trace; texts and calls are gathered when a rule first asks for them.

    Parameters
    ----------
    trace : Trace
        Read with what the rules need.
    turns : sequence of int, optional
        Numbers of the turns, ascending; all by default.
    whole : TurnView, optional
        The view of all turns, whose texts this one shares.
    calls : function, optional
        Returns the calls made in the turns.

    Attributes
    ----------
    turns : sequence of int
        As given.
    """

    def __init__(
        self,
        trace: Trace,
        turns: Sequence[int] | None = None,
        whole: TurnView | None = None,
        calls: Callable[[], Calls] | None = None,
    ) -> None:
        self.turns = range(trace.turn_count) if turns is None else turns
        self._trace = trace
        self._whole = whole
        self._gather = calls
        self._texts: list[str] | None = None
        self._calls: Calls | None = None
        self._tools: dict[str, CallsOf] | None = None
        self._session_calls: list[Calls] | None = None

    @property
    def texts(self) -> list[str]:
        """Per turn its texts joined by LF *(levels §6.2)*."""
        if self._texts is None:
            if self._whole is None:
                # One pass for texts and calls: what takes the time is to touch every block.
                self._texts, self._calls = texts_and_calls(self._trace)
            else:
                everything = self._whole.texts
                self._texts = [everything[turn] for turn in self.turns]
        return self._texts

    @property
    def calls(self) -> Calls:
        """The calls, in order."""
        if self._calls is None:
            if self._gather is None:
                _kept(self._trace.tool_records)
                self._texts, self._calls = texts_and_calls(self._trace)
            else:
                self._calls = self._gather()
        return self._calls

    @property
    def tools(self) -> dict[str, CallsOf]:
        """The calls by tool name."""
        if self._tools is None:
            self._tools = self.calls.by_tool()
        return self._tools

    @property
    def token_total(self) -> int:
        """Tokens of the turns, all three dimensions."""
        columns = self._trace.tokens.columns
        if self._whole is None:
            return sum(map(sum, columns))
        return sum(column[turn] for column in columns for turn in self.turns)

    def stop_reason(self, turn: int) -> Any:
        """Return the stop reason of a turn; None where it has none."""
        return _kept(self._trace.responses)[turn].get("stop_reason")

    def sessions(self) -> list[TurnView]:
        """Return a view per session, those without turns too; only of a view of all turns."""
        return [
            TurnView(
                self._trace,
                range(session.first_turn, session.end_turn),
                self,
                lambda number=number: self._calls_by_session()[number],  # type: ignore[misc]  # the default
            )
            for number, session in enumerate(self._trace.sessions)
        ]

    def _calls_by_session(self) -> list[Calls]:
        """Return the calls of each session: a block's is its turn's, a record's the one it stands in."""
        if self._session_calls is None:
            from bisect import bisect_right  # few policies have a scope: start-up

            sessions = self._trace.sessions
            records = [session.first_record for session in sessions]
            ends = [session.end_turn for session in sessions]
            positions: list[list[int]] = [[] for _ in sessions]
            calls = self.calls
            for at, turn in enumerate(calls.turns):
                place = calls.places[at] if calls.places else IN_RESPONSE
                in_response = place == IN_RESPONSE
                number = bisect_right(ends, turn) if in_response else bisect_right(records, place) - 1
                positions[number].append(at)
            self._session_calls = [calls.chosen(here) for here in positions]
        return self._session_calls

    def where(self, holds: Callable[[Payload | None, Payload], bool]) -> TurnView:
        """Return a view of the turns whose request and response fulfil a condition, and of their calls."""
        responses = _kept(self._trace.responses)
        requests = self._trace.requests
        turns = [turn for turn in self.turns if holds(requests[turn] if requests else None, responses[turn])]

        def calls() -> Calls:
            mine = frozenset(turns)
            return self.calls.chosen([at for at, turn in enumerate(self.calls.turns) if turn in mine])

        return TurnView(self._trace, turns, self._whole or self, calls)


def texts_and_calls(trace: Trace) -> tuple[list[str], Calls]:
    """Return the text of every turn, and every call in file order *(levels §6.2; agentlog §7)*.

    A stand-alone record of a call that a response above it, or another record, has already announced by its
    id is not counted again.
    """
    from stratadiff._kernels.records import contents  # only for rules about texts or tools: start-up

    records = trace.tool_records or []
    texts, turns, names, ids = contents(_kept(trace.responses), bool(records))
    if ids is None:
        return texts, Calls(turns, names)
    found: list[tuple[int, str, int]] = []
    seen: set[str] = set()
    done = 0
    for turn, name, call_id in zip(turns, names, ids, strict=True):
        done = _add_records(found, records, done, turn, seen)
        found.append((turn, name, IN_RESPONSE))
        seen.add(call_id)
    _add_records(found, records, done, len(texts), seen)
    return texts, Calls(
        [turn for turn, _, _ in found], [name for _, name, _ in found], [place for _, _, place in found]
    )


def _add_records(
    found: list[tuple[int, str, int]], records: Sequence[ToolRecord], done: int, turn: int, seen: set[str]
) -> int:
    """Add the records above a turn's response and return how many are done."""
    while done < len(records) and records[done].turn < turn:
        record = records[done]
        if not record.call_id or record.call_id not in seen:
            found.append((max(record.turn, 0), record.name, record.place))
            seen.add(record.call_id)
        done += 1
    return done


def _kept(part: Any) -> Any:
    if part is None:
        raise TypeError("this trace was read without what the rules need; see policy.needs")
    return part
