"""A trace: its records, turns, sessions and tool calls *(agentlog §6, §7)*.

The reader and :func:`trace_of` make a :class:`Trace`; every level works on one and never on files.
"""

from __future__ import annotations

from stratadiff.core.frozen import Frozen, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    Payload: TypeAlias = dict[str, Any]
    Column: TypeAlias = "array[int] | list[int]"

DIMENSIONS = ("input_tokens", "output_tokens", "thinking_tokens")
"""The members of ``usage`` the token level looks at, in its order."""


class Diagnostic(Struct):
    """Something the reader noticed and read on.

    Attributes
    ----------
    line : int
        Line of the file, from 1, blank lines counted.
    code : str
        What it is: ``bom``, ``utf8``, ``json``, ``envelope`` and so on *(agentlog §5)*.
    message : str
        One sentence. May hold text of the record: escape before display.
    """

    __slots__ = ("code", "line", "message")
    line: int
    code: str
    message: str

    def __init__(self, line: int, code: str, message: str) -> None:
        self._fill(line=line, code=code, message=message)


class Session(Frozen):
    """One session: the records from a metadata record up to the next.

    Attributes
    ----------
    session_id : str
        The id of its first record.
    first_turn, end_turn : int
        Its turns, half-open, in the numbers of the trace.
    first_record : int
        Place of its first record in the trace, from 0.
    trace_id : str
        The first string ``meta.trace_id`` among its records, else `session_id`.
    """

    __slots__ = ("end_turn", "first_record", "first_turn", "session_id", "trace_id")
    session_id: str
    first_turn: int
    end_turn: int
    first_record: int
    trace_id: str

    def __init__(
        self, session_id: str, first_turn: int, end_turn: int, first_record: int, trace_id: str
    ) -> None:
        self._fill(
            session_id=session_id,
            first_turn=first_turn,
            end_turn=end_turn,
            first_record=first_record,
            trace_id=trace_id,
        )

    @property
    def turns(self) -> range:
        """Its turns, in the numbers of the trace."""
        return range(self.first_turn, self.end_turn)


class TokenColumns(Frozen):
    """Token counts of every turn, one column per dimension, and how many responses had none.

    Attributes
    ----------
    columns : tuple of three array('q') (or lists, where a count does not fit int64)
        ``input_tokens``, ``output_tokens``, ``thinking_tokens``; a count that is absent is 0.
    absent : tuple of three int
        How many responses had no such number.
    """

    __slots__ = ("absent", "columns")
    columns: tuple[Column, Column, Column]
    absent: tuple[int, int, int]

    def __init__(self, columns: tuple[Column, Column, Column], absent: tuple[int, int, int]) -> None:
        self._fill(columns=columns, absent=absent)

    @classmethod
    def of(
        cls,
        columns: tuple[array[int], array[int], array[int]],
        absent: tuple[int, int, int],
        odd: Iterable[tuple[int, int, int]],
    ) -> TokenColumns:
        """Return the columns with some counts set: (turn, dimension, count), of any size."""
        filled: list[Column] = list(columns)
        for turn, dimension, count in odd:
            column = filled[dimension]
            if not -(2**63) <= count < 2**63 and not isinstance(column, list):
                filled[dimension] = column = list(column)
            column[turn] = count
        return cls((filled[0], filled[1], filled[2]), absent)


class ToolRecord(Frozen):
    """A stand-alone ``tool_call`` record *(agentlog §7)*.

    Attributes
    ----------
    turn : int
        The turn whose response precedes it. -1 before the first response: the call counts for turn 0, and no
        response has announced it.
    place : int
        Its place among the records of the trace, from 0.
    call_id, name : str
        Its id and its tool's name; ``""`` for what is no string.
    """

    __slots__ = ("call_id", "name", "place", "turn")
    turn: int
    place: int
    call_id: str
    name: str

    def __init__(self, turn: int, place: int, call_id: str, name: str) -> None:
        self._fill(turn=turn, place=place, call_id=call_id, name=name)


class Trace(Frozen):
    """One trace, as far as it was asked for.

    A trace that :func:`stratadiff.read_trace` returns has everything, and is a sequence of its records (plain
    dictionaries) in file order. One read for certain levels only has what they need.

    Attributes
    ----------
    source : str
        The path it was read from, ``""`` for records in memory.
    trace_id : str
        The first string ``meta.trace_id``, else the first record's id, else ``""``.
    turn_count : int
        Number of responses.
    sessions : tuple of Session
        In file order.
    tokens : TokenColumns
        Counts of every turn.
    responses : list of dict or None
        The payload of every response; ``{}`` for one that is no object. None if not asked for.
    requests : list of dict or None
        Per turn the payload of its request, None where it has none. None if not asked for.
    tool_records : list of ToolRecord or None
        The stand-alone tool calls in file order. None if not asked for.
    records : list of dict or None
        Every record. None if not asked for.
    diagnostics : tuple of Diagnostic
        What the reader noticed.
    """

    __slots__ = (
        "diagnostics",
        "records",
        "requests",
        "responses",
        "sessions",
        "source",
        "tokens",
        "tool_records",
        "trace_id",
        "turn_count",
    )
    source: str
    trace_id: str
    turn_count: int
    sessions: tuple[Session, ...]
    tokens: TokenColumns
    responses: list[Payload] | None
    requests: list[Payload | None] | None
    tool_records: list[ToolRecord] | None
    records: list[dict[str, Any]] | None
    diagnostics: tuple[Diagnostic, ...]

    def __init__(
        self,
        *,
        source: str,
        trace_id: str,
        turn_count: int,
        sessions: tuple[Session, ...],
        tokens: TokenColumns,
        responses: list[Payload] | None,
        requests: list[Payload | None] | None,
        tool_records: list[ToolRecord] | None,
        records: list[dict[str, Any]] | None,
        diagnostics: tuple[Diagnostic, ...],
    ) -> None:
        self._fill(
            source=source,
            trace_id=trace_id,
            turn_count=turn_count,
            sessions=sessions,
            tokens=tokens,
            responses=responses,
            requests=requests,
            tool_records=tool_records,
            records=records,
            diagnostics=diagnostics,
        )

    def __repr__(self) -> str:
        name = self.source or "records in memory"
        return f"<Trace of {name!r}: {self.turn_count} turns, {len(self.sessions)} sessions>"

    def __len__(self) -> int:
        return len(self._all_records())

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._all_records()[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._all_records())

    def _all_records(self) -> list[dict[str, Any]]:
        if self.records is None:
            raise TypeError("this trace was read without its records; read_trace keeps them")
        return self.records


class Pairing(Frozen):
    """Which turns are compared with which *(agentlog §6; levels §9, 1)*.

    Attributes
    ----------
    baseline, candidate : sequence of int
        The turns of pair 0, 1, ...
    path : bytes or None
        Of an aligned pairing the steps: ``A`` a pair, ``D`` a baseline turn dropped, ``I`` a candidate turn
        inserted. None where turns are paired by position.
    """

    __slots__ = ("baseline", "candidate", "path")
    baseline: Sequence[int]
    candidate: Sequence[int]
    path: bytes | None

    def __init__(self, baseline: Sequence[int], candidate: Sequence[int], path: bytes | None = None) -> None:
        self._fill(baseline=baseline, candidate=candidate, path=path)

    def __len__(self) -> int:
        return len(self.baseline)


def pair_by_position(baseline_count: int, candidate_count: int) -> Pairing:
    """Pair turn i with turn i, up to the shorter side."""
    count = min(baseline_count, candidate_count)
    return Pairing(range(count), range(count))


def pair_along(path: bytes) -> Pairing:
    """Pair the turns of the ``A`` steps of an alignment."""
    baseline: list[int] = []
    candidate: list[int] = []
    i = j = 0
    for step in path:
        if step == ord("A"):
            baseline.append(i)
            candidate.append(j)
        i += step != ord("I")
        j += step != ord("D")
    return Pairing(baseline, candidate, path)


def blocks_of(payload: Payload) -> list[Any]:
    """Return the content of a response as a list of blocks, anything but objects included *(agentlog §3)*."""
    content = payload.get("content")
    if isinstance(content, list):
        return content
    if isinstance(content, str) and content:
        return [{"type": "text", "text": content}]
    return []
