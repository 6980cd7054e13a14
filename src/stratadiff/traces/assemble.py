"""Records, from a file or from memory, put together into a :class:`Trace` *(agentlog §6, §7)*."""

from __future__ import annotations

from array import array

from stratadiff.core.frozen import Frozen
from stratadiff.errors import InputError
from stratadiff.traces.model import Session, TokenColumns, ToolRecord, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from stratadiff.traces.model import Diagnostic, Payload

NEEDS = frozenset(("responses", "requests", "tools", "records"))
"""What a trace can be asked for."""

METADATA, REQUEST, RESPONSE, TOOL_CALL = range(4)


class _Later(Frozen):
    """A request's bytes that are parsed only if a response follows."""

    __slots__ = ("data", "parse")
    data: memoryview
    parse: Callable[[memoryview], Any]

    def __init__(self, data: memoryview, parse: Callable[[memoryview], Any]) -> None:
        self._fill(data=data, parse=parse)


class _Mark:
    """Where a session starts: id, place and turn of its first record; and its trace's name, once known."""

    __slots__ = ("name", "own_id", "place", "turn")

    def __init__(self, own_id: str, place: int, turn: int) -> None:
        self.own_id = own_id
        self.place = place
        self.turn = turn
        self.name: str | None = None


class Assembly:
    """A trace in the making, from the lines of a file, of which only what is needed becomes objects.

    Parameters
    ----------
    needs : frozenset of str
        What to keep, out of :data:`NEEDS` but for ``records``: those go to :func:`trace_of_records`.
    """

    def __init__(self, needs: frozenset[str]) -> None:
        self._needs = needs
        self._responses: list[Payload] = []
        self._requests: list[Payload | None] = []
        self._tools: list[ToolRecord] = []
        self._request: _Later | None = None
        self._marks: list[_Mark] = []
        self._turns = 0
        self._count = 0
        self._columns = (array("q"), array("q"), array("q"))
        self._absent = [0, 0, 0]
        self._careful: list[tuple[int, int, int]] = []
        self._interest = {METADATA, RESPONSE}
        if "requests" in needs:
            self._interest.add(REQUEST)
        if "tools" in needs:
            self._interest.add(TOOL_CALL)

    def add_counts(
        self,
        counts: array[int],
        absent: tuple[int, int, int],
        careful: Iterable[tuple[int, int, int]],
    ) -> None:
        """Take the token counts of a piece's responses, three values each."""
        before = len(self._columns[0])
        for dimension, column in enumerate(self._columns):
            column.extend(counts[dimension::3])
            self._absent[dimension] += absent[dimension]
        self._careful += [(before + response, dimension, value) for response, dimension, value in careful]

    def of_interest(self, kinds: bytes, named: Sequence[int]) -> Iterator[int]:
        """Yield which records of a piece have to be added one by one; the rest is counted here.

        Parameters
        ----------
        kinds : bytes
            A number per record, as the kernel ``trace_scan`` numbers them.
        named : sequence of int
            The records with a trace id, ascending.
        """
        if self._needs:
            names = frozenset(named)
            for index, kind in enumerate(kinds):
                if kind in self._interest or not self._count or (index in names and not self._is_named):
                    yield index
                else:
                    self._count += 1
            return
        # Token counts come in columns, so only marks are looked for: sessions, and their traces' names.
        at = 0
        if kinds and not self._count:
            yield 0
            at = 1
        names_left = iter(named)
        name = next(names_left, len(kinds))
        while at < len(kinds):
            found = kinds.find(METADATA, at)
            found = len(kinds) if found < 0 else found
            if not self._is_named:
                while name < at:
                    name = next(names_left, len(kinds))
                found = min(found, name)
            self._turns += kinds.count(RESPONSE, at, found)
            self._count += found - at
            if found < len(kinds):
                yield found
            at = found + 1

    @property
    def _is_named(self) -> bool:
        return bool(self._marks) and self._marks[-1].name is not None

    def wants_envelope(self, kind: int, has_trace_id: bool) -> bool:
        """Tell whether the next record is needed whole, for its id or its trace's."""
        return kind == METADATA or not self._count or (has_trace_id and not self._is_named)

    def add(
        self,
        kind: int,
        data: memoryview,
        record: dict[str, Any] | None,
        parse: Callable[[memoryview], Any],
    ) -> None:
        """Add a record by the bytes of its payload; `record` is the whole of it where that is wanted."""
        if record is not None:
            if kind == METADATA or not self._count:
                self._marks.append(_Mark(_id_of(record), self._count, self._turns))
            if not self._is_named:
                self._marks[-1].name = _name_of(record)
        if kind == REQUEST and "requests" in self._needs:
            self._request = _Later(data, parse)
        elif kind == RESPONSE:
            if "responses" in self._needs:
                self._responses.append(_as_object(parse(data)))
            if "requests" in self._needs:
                later, self._request = self._request, None
                self._requests.append(None if later is None else _as_object(later.parse(later.data)))
            self._turns += 1
        elif kind == TOOL_CALL and "tools" in self._needs:
            self._tools.append(_tool_record(parse(data), self._turns - 1, self._count))
        self._count += 1

    def trace(self, source: str, diagnostics: Sequence[Diagnostic]) -> Trace:
        """Return the trace."""
        absent = (self._absent[0], self._absent[1], self._absent[2])
        return Trace(
            source=source,
            trace_id=_trace_id(self._marks),
            turn_count=self._turns,
            sessions=_closed(self._marks, self._turns),
            tokens=TokenColumns.of(self._columns, absent, self._careful),
            responses=self._responses if "responses" in self._needs else None,
            requests=self._requests if "requests" in self._needs else None,
            tool_records=self._tools if "tools" in self._needs else None,
            records=None,
            diagnostics=tuple(diagnostics),
        )


def trace_of_records(
    records: list[dict[str, Any]],
    *,
    source: str = "",
    diagnostics: Sequence[Diagnostic] = (),
    split: str | None = None,
) -> Trace:
    """Make a trace of all its records, which it keeps.

    Parameters
    ----------
    records : list of dict
        In file order; they may carry only ``kind`` and ``payload``.
    source : str
        Where they come from.
    diagnostics : sequence of Diagnostic
        What the reader noticed.
    split : str, optional
        ``"requests"``: see :func:`stratadiff.traces.reader.read_for`.

    Raises
    ------
    InputError
        An entry is no dictionary.
    """
    from stratadiff._kernels import records as kernel  # only where all records are wanted: start-up
    from stratadiff._kernels import usage

    try:
        kinds, responses, requests, first_named = kernel.split(records)
    except ValueError as error:
        number = error.args[0]
        kind = type(records[number]).__name__
        raise InputError(f"record {number} is {kind}, not a dictionary") from None
    marks: list[_Mark] = []
    tools: list[ToolRecord] = []
    turns = done = 0
    for place in _places(kinds):
        turns += kinds.count(RESPONSE, done, place)
        done = place
        if kinds[place] == METADATA or not place:
            marks.append(_Mark(_id_of(records[place]), place, turns))
        if kinds[place] == TOOL_CALL:
            tools.append(_tool_record(records[place].get("payload"), turns - 1, place))
    if split == "requests" and len(marks) == 1:
        marks += _parts(records)
    if first_named >= 0:
        for mark, end in zip(marks, [*(mark.place for mark in marks[1:]), len(records)], strict=True):
            names = map(_name_of, (records[place] for place in range(max(mark.place, first_named), end)))
            mark.name = next((name for name in names if name is not None), None)
    *columns, absent, odd = usage.of_payloads(responses)
    return Trace(
        source=source,
        trace_id=_trace_id(marks),
        turn_count=len(responses),
        sessions=_closed(marks, len(responses)),
        tokens=TokenColumns.of((columns[0], columns[1], columns[2]), absent, odd),
        responses=responses,
        requests=requests,
        tool_records=tools,
        records=records,
        diagnostics=tuple(diagnostics),
    )


def _trace_id(marks: list[_Mark]) -> str:
    """Return the first name that any session has, else the id of the first record."""
    own = marks[0].own_id if marks else ""
    return next((mark.name for mark in marks if mark.name is not None), own)


def _closed(marks: list[_Mark], turn_count: int) -> tuple[Session, ...]:
    ends = [*(mark.turn for mark in marks[1:]), turn_count]
    return tuple(
        Session(mark.own_id, mark.turn, end, mark.place, mark.own_id if mark.name is None else mark.name)
        for mark, end in zip(marks, ends, strict=False)  # no records, no sessions, one end
    )


def _id_of(record: dict[str, Any]) -> str:
    own = record.get("id")
    return own if isinstance(own, str) else ""


def _name_of(record: dict[str, Any]) -> str | None:
    meta = record.get("meta")
    name = meta.get("trace_id") if isinstance(meta, dict) else None
    return name if isinstance(name, str) else None


def _tool_record(payload: Any, turn: int, place: int) -> ToolRecord:
    members = _as_object(payload)
    call_id, name = members.get("tool_call_id"), members.get("tool_name")
    return ToolRecord(
        turn, place, call_id if isinstance(call_id, str) else "", name if isinstance(name, str) else ""
    )


def _parts(records: list[dict[str, Any]]) -> list[_Mark]:
    """Return where the user speaks again, in the records of one session *(agentlog §6)*."""
    marks = []
    is_terminal = True
    is_used = False
    turn = 0
    for place, record in enumerate(records):
        kind = record.get("kind")
        if kind == "chat_request":
            if is_used and (is_terminal or _user_speaks(_as_object(record.get("payload")))):
                marks.append(_Mark(_id_of(record), place, turn))
            is_used = True
            is_terminal = False
        elif kind == "chat_response":
            is_used = True
            is_terminal = _as_object(record.get("payload")).get("stop_reason") != "tool_use"
            turn += 1
    return marks


def _places(kinds: bytes) -> list[int]:
    """Return in order the first record, those of metadata and those of tool calls."""
    found = {0} if kinds else set()
    for kind in (METADATA, TOOL_CALL):
        at = kinds.find(kind)
        while at >= 0:
            found.add(at)
            at = kinds.find(kind, at + 1)
    return sorted(found)


def _as_object(value: Any) -> Payload:
    return value if isinstance(value, dict) else {}


def _user_speaks(payload: Payload) -> bool:
    """Tell whether the last message of a request that is not the system's is the user's, or there is none."""
    messages = payload.get("messages")
    if isinstance(messages, list):
        for message in reversed(messages):
            if isinstance(message, dict) and message.get("role") != "system":
                return bool(message.get("role") == "user")
    return True
