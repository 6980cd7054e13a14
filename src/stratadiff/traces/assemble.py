"""Records, from a file or from memory, put together into a :class:`Trace` *(agentlog §6, §7)*."""

from __future__ import annotations

from array import array

from stratadiff.core.frozen import Frozen
from stratadiff.errors import InputError
from stratadiff.traces.model import Session, TokenColumns, ToolRecord, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Column, Diagnostic, Payload

    _Mark: TypeAlias = tuple[str, int, int]  # id, first turn and first record of a session

NEEDS = frozenset(("responses", "requests", "tools", "records"))
"""What a trace can be asked for."""

METADATA, REQUEST, RESPONSE, TOOL_CALL = range(4)
_KINDS = {"metadata": METADATA, "chat_request": REQUEST, "chat_response": RESPONSE, "tool_call": TOOL_CALL}
_OTHER = 10


class _Later(Frozen):
    """A request's bytes that are parsed only if a response follows."""

    __slots__ = ("data", "parse")
    data: memoryview
    parse: Callable[[memoryview], Any]

    def __init__(self, data: memoryview, parse: Callable[[memoryview], Any]) -> None:
        self._fill(data=data, parse=parse)


class Assembly:
    """A trace in the making.

    Parameters
    ----------
    needs : frozenset of str
        What to keep, out of :data:`NEEDS`.
    split : str, optional
        ``"requests"``: see :func:`stratadiff.traces.reader.read_for`.
    """

    def __init__(self, needs: frozenset[str], *, split: str | None = None) -> None:
        if split is not None:
            needs |= {"records"}
        self._needs = needs
        self._split = split
        self.wants_records = "records" in needs
        self._records: list[dict[str, Any]] = []
        self._responses: list[Payload] = []
        self._requests: list[Payload | None] = []
        self._tools: list[ToolRecord] = []
        self._request: Any = None
        self._sessions: list[_Mark] = []
        self._turns = 0
        self._count = 0
        self._first_id = ""
        self._trace_id: str | None = None
        self._columns: tuple[Column, Column, Column] = (array("q"), array("q"), array("q"))
        self._absent = [0, 0, 0]
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
        for response, dimension, value in careful:
            self._set_count(before + response, dimension, value)

    def of_interest(self, kinds: bytes, flags: array[int], trace_id_flag: int) -> Iterator[int]:
        """Yield which records of a piece have to be added one by one; the rest is counted here.

        Parameters
        ----------
        kinds : bytes
            A number per record, as the kernel ``trace_scan`` numbers them.
        flags : array
            The kernel's flags per record.
        trace_id_flag : int
            The one that marks a record with a trace id.
        """
        if not self._needs:
            # Token counts come in columns, so only marks are looked for: sessions, and the trace's name.
            at = 0
            if kinds and not self._count:
                yield 0
                at = 1
            while at < len(kinds):
                found = kinds.find(METADATA, at)
                found = len(kinds) if found < 0 else found
                if self._trace_id is None:
                    found = next((k for k in range(at, found) if flags[k] & trace_id_flag), found)
                self._turns += kinds.count(RESPONSE, at, found)
                self._count += found - at
                if found < len(kinds):
                    yield found
                at = found + 1
            return
        for index, kind in enumerate(kinds):
            if (
                kind in self._interest
                or not self._count
                or (self._trace_id is None and flags[index] & trace_id_flag)
            ):
                yield index
            else:
                self._count += 1

    def wants_envelope(self, kind: int, has_trace_id: bool) -> bool:
        """Tell whether the next record is needed whole, for its id or its trace's."""
        return kind == METADATA or not self._count or (has_trace_id and self._trace_id is None)

    def add(
        self,
        kind: int,
        data: memoryview,
        record: dict[str, Any] | None,
        parse: Callable[[memoryview], Any],
    ) -> None:
        """Add a record by the bytes of its payload; `record` is the whole of it where that is wanted."""
        if record is not None:
            self._look_at_envelope(kind, record)
        self._count += 1
        if kind == REQUEST and "requests" in self._needs:
            self._request = _Later(data, parse)
        elif kind == RESPONSE:
            if "responses" in self._needs:
                self._responses.append(_as_object(parse(data)))
            self._end_turn()
        elif kind == TOOL_CALL and "tools" in self._needs:
            self._add_tool(_as_object(parse(data)))

    def add_record(self, record: dict[str, Any]) -> None:
        """Add a record as a dictionary; its token counts come with :meth:`add_counts`."""
        name = record.get("kind")
        kind = _KINDS.get(name, _OTHER) if isinstance(name, str) else _OTHER
        self._look_at_envelope(kind, record)
        self._count += 1
        self._records.append(record)
        if kind == REQUEST:
            self._request = _as_object(record.get("payload"))
        elif kind == RESPONSE:
            self._responses.append(_as_object(record.get("payload")))
            self._end_turn()
        elif kind == TOOL_CALL:
            self._add_tool(_as_object(record.get("payload")))

    def add_all(self, records: list[Any]) -> None:
        """Take all the records of a trace as dictionaries, and their token counts.

        Raises
        ------
        InputError
            An entry is no dictionary.
        """
        from stratadiff._kernels import records as kernel  # only for records in memory: start-up
        from stratadiff._kernels import usage

        try:
            kinds, self._responses, self._requests, named = kernel.split(records)
        except ValueError as error:
            number = error.args[0]
            kind = type(records[number]).__name__
            raise InputError(f"record {number} is {kind}, not a dictionary") from None
        self._records = records
        if named >= 0:
            self._trace_id = records[named]["meta"]["trace_id"]
        done = 0
        for place in [*_places(kinds, METADATA, TOOL_CALL), len(kinds)]:
            self._turns += kinds.count(RESPONSE, done, place)
            done = self._count = place
            if place < len(kinds):
                if kinds[place] == METADATA or not place:
                    self._look_at_envelope(kinds[place], records[place])
                if kinds[place] == TOOL_CALL:
                    self._count += 1
                    self._add_tool(_as_object(records[place].get("payload")))
        *columns, absent, odd = usage.of_payloads(self._responses)
        self._columns = (columns[0], columns[1], columns[2])
        self._absent = list(absent)
        for response, dimension, value in odd:
            self._set_count(response, dimension, value)

    def trace(self, source: str, diagnostics: Sequence[Diagnostic]) -> Trace:
        """Return the trace."""
        has_all = self.wants_records
        needs = NEEDS if has_all else self._needs
        return Trace(
            source=source,
            trace_id=self._first_id if self._trace_id is None else self._trace_id,
            turn_count=self._turns,
            sessions=tuple(self._closed_sessions()),
            tokens=TokenColumns(self._columns, (self._absent[0], self._absent[1], self._absent[2])),
            responses=self._responses if "responses" in needs else None,
            requests=self._requests if "requests" in needs else None,
            tool_records=self._tools if "tools" in needs else None,
            records=self._records if has_all else None,
            diagnostics=tuple(diagnostics),
        )

    def _look_at_envelope(self, kind: int, record: dict[str, Any]) -> None:
        given = record.get("id")
        own = given if isinstance(given, str) else ""
        if not self._count:
            self._first_id = own
        if kind == METADATA or not self._count:
            self._sessions.append((own, self._turns, self._count))
        if self._trace_id is None:
            meta = record.get("meta")
            trace_id = meta.get("trace_id") if isinstance(meta, dict) else None
            if isinstance(trace_id, str):
                self._trace_id = trace_id

    def _end_turn(self) -> None:
        request = self._request
        if "requests" in self._needs or self.wants_records:
            if isinstance(request, _Later):
                request = _as_object(request.parse(request.data))
            self._requests.append(request)
        self._request = None
        self._turns += 1

    def _add_tool(self, payload: Payload) -> None:
        call_id = payload.get("tool_call_id")
        name = payload.get("tool_name")
        self._tools.append(
            ToolRecord(
                self._turns - 1,
                self._count - 1,
                call_id if isinstance(call_id, str) else "",
                name if isinstance(name, str) else "",
            )
        )

    def _set_count(self, response: int, dimension: int, value: int) -> None:
        column = self._columns[dimension]
        if not -(2**63) <= value < 2**63 and not isinstance(column, list):
            columns = list(self._columns)
            columns[dimension] = column = list(column)
            self._columns = (columns[0], columns[1], columns[2])
        column[response] = value

    def _closed_sessions(self) -> Iterator[Session]:
        marks = self._sessions
        if not marks:
            return
        if self._split == "requests" and len(marks) == 1:
            marks = self._split_session()
        ends = [first for _, first, _ in marks[1:]] + [self._turns]
        for (session_id, first, first_record), end in zip(marks, ends, strict=True):
            yield Session(session_id, first, end, first_record)

    def _split_session(self) -> list[_Mark]:
        marks = [self._sessions[0]]
        is_terminal = True
        is_used = False
        turn = 0
        for place, record in enumerate(self._records):
            kind = record.get("kind")
            if kind == "chat_request":
                if is_used and (is_terminal or _user_speaks(_as_object(record.get("payload")))):
                    given = record.get("id")
                    marks.append((given if isinstance(given, str) else "", turn, place))
                is_used = True
                is_terminal = False
            elif kind == "chat_response":
                is_used = True
                is_terminal = _as_object(record.get("payload")).get("stop_reason") != "tool_use"
                turn += 1
        return marks


def _places(kinds: bytes, first: int, second: int) -> list[int]:
    """Return in order the first record and those of two kinds."""
    found = {0} if kinds else set()
    for kind in (first, second):
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
