"""What a policy rule sees of a trace: some turns, their texts, and the tool calls made in them."""

from __future__ import annotations

from stratadiff.traces.model import texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Payload, ToolRecord, Trace

    Call: TypeAlias = tuple[int, str, int]

IN_RESPONSE = -1
"""The place of a call that is a block of its turn's response."""


class CallsOf:
    """The calls of one tool.

    Attributes
    ----------
    first : int
        Place of the first of them among all calls.
    turns : list of int
        The turn of each.
    """

    __slots__ = ("first", "turns")

    def __init__(self, first: int) -> None:
        self.first = first
        self.turns: list[int] = []


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
        calls: Callable[[], list[Call]] | None = None,
    ) -> None:
        self.turns = range(trace.turn_count) if turns is None else turns
        self._trace = trace
        self._whole = whole
        self._gather = calls or (lambda: tool_calls(trace))
        self._texts: list[str] | None = None
        self._calls: list[Call] | None = None
        self._tools: dict[str, CallsOf] | None = None
        self._session_calls: list[list[Call]] | None = None

    @property
    def texts(self) -> list[str]:
        """Per turn its texts joined by LF *(levels §6.2)*."""
        if self._texts is None:
            if self._whole is None:
                self._texts = ["\n".join(texts_of(payload)) for payload in _kept(self._trace.responses)]
            else:
                everything = self._whole.texts
                self._texts = [everything[turn] for turn in self.turns]
        return self._texts

    @property
    def calls(self) -> list[Call]:
        """The calls, in order: turn, name of the tool, place."""
        if self._calls is None:
            self._calls = self._gather()
        return self._calls

    @property
    def tools(self) -> dict[str, CallsOf]:
        """The calls by tool name."""
        if self._tools is None:
            found: dict[str, CallsOf] = {}
            for place, (turn, name, _) in enumerate(self.calls):
                if name not in found:
                    found[name] = CallsOf(place)
                found[name].turns.append(turn)
            self._tools = found
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

    def _calls_by_session(self) -> list[list[Call]]:
        """Return the calls of each session: a block's is its turn's, a record's the one it stands in."""
        if self._session_calls is None:
            from bisect import bisect_right  # few policies have a scope: start-up

            sessions = self._trace.sessions
            records = [session.first_record for session in sessions]
            ends = [session.end_turn for session in sessions]
            found: list[list[Call]] = [[] for _ in sessions]
            for call in self.calls:
                turn, _, place = call
                number = (
                    bisect_right(ends, turn) if place == IN_RESPONSE else bisect_right(records, place) - 1
                )
                found[number].append(call)
            self._session_calls = found
        return self._session_calls

    def where(self, holds: Callable[[Payload | None, Payload], bool]) -> TurnView:
        """Return a view of the turns whose request and response fulfil a condition, and of their calls."""
        responses = _kept(self._trace.responses)
        requests = self._trace.requests
        turns = [turn for turn in self.turns if holds(requests[turn] if requests else None, responses[turn])]
        mine = frozenset(turns)
        return TurnView(
            self._trace, turns, self._whole or self, lambda: [call for call in self.calls if call[0] in mine]
        )


def tool_calls(trace: Trace) -> list[Call]:
    """Return every call of a trace in file order: turn, name of the tool, place *(agentlog §7)*.

    The place is that of the record among the records; :data:`IN_RESPONSE` for a block of a response. A
    stand-alone record of a call that a response above it, or another record, has already announced by its id
    is not counted again.
    """
    calls: list[Call] = []
    records = _kept(trace.tool_records)
    seen: set[str] = set()
    done = _add_records(calls, records, 0, -1, seen)
    for turn, payload in enumerate(_kept(trace.responses)):
        content = payload.get("content")
        if isinstance(content, list):
            for block in content:
                if isinstance(block, dict) and block.get("type") == "tool_use":
                    name = block.get("name")
                    calls.append((turn, name if isinstance(name, str) else "", IN_RESPONSE))
                    call_id = block.get("id")
                    if isinstance(call_id, str):
                        seen.add(call_id)
        if done < len(records):
            done = _add_records(calls, records, done, turn, seen)
    return calls


def _add_records(
    calls: list[Call], records: Sequence[ToolRecord], done: int, turn: int, seen: set[str]
) -> int:
    """Add the records that follow a turn's response, of -1 those before the first; return the number done."""
    while done < len(records) and records[done].turn <= turn:
        record = records[done]
        if not record.call_id or record.call_id not in seen:
            calls.append((max(turn, 0), record.name, record.place))
            seen.add(record.call_id)
        done += 1
    return done


def _kept(part: Any) -> Any:
    if part is None:
        raise TypeError("this trace was read without what the rules need; see policy.needs")
    return part
