"""Level session: which sessions of two traces belong together *(levels §2; agentlog §6)*."""

from __future__ import annotations

from stratadiff.core.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stratadiff.traces.model import Session, Trace


class Part(Frozen):
    """A session of one side, or nothing in the place of one.

    Attributes
    ----------
    session_id, trace_id : str
        Of its records.
    turns : range
        Its turns in the trace.
    """

    __slots__ = ("session_id", "trace_id", "turns")
    session_id: str
    trace_id: str
    turns: range

    def __init__(self, session_id: str, trace_id: str, turns: range) -> None:
        self._fill(session_id=session_id, trace_id=trace_id, turns=turns)


_NOTHING = Part("", "", range(0))


def paired_sessions(baseline: Trace, candidate: Trace) -> list[tuple[Part, Part]]:
    """Pair the sessions of two traces by position; the shorter list is padded with empty ones.

    Parameters
    ----------
    baseline, candidate : Trace
        Read with their records.
    """
    old, new = _parts(baseline), _parts(candidate)
    missing = len(new) - len(old)
    old += [_NOTHING] * missing
    new += [_NOTHING] * -missing
    return list(zip(old, new, strict=True))


def _parts(trace: Trace) -> list[Part]:
    return [
        Part(session.session_id, trace_id, range(session.first_turn, session.end_turn))
        for session, trace_id in zip(trace.sessions, _trace_ids(trace), strict=True)
    ]


def _trace_ids(trace: Trace) -> list[str]:
    """Return the trace id of each session alone: its first ``meta.trace_id``, else its first record's id."""
    if trace.records is None:
        raise TypeError("this trace was read without its records; needs_of tells what to read")
    found: list[str] = []
    is_named = False
    starts = _starts(trace.sessions, trace.records)
    start = next(starts, None)
    for place, record in enumerate(trace.records):
        if place == start:
            own = record.get("id")
            found.append(own if isinstance(own, str) else "")
            is_named = False
            start = next(starts, None)
        if not is_named:
            meta = record.get("meta")
            name = meta.get("trace_id") if isinstance(meta, dict) else None
            if isinstance(name, str):
                found[-1] = name
                is_named = True
    return found


def _starts(sessions: Sequence[Session], records: Sequence[dict[str, Any]]) -> Iterator[int]:
    """Yield the place of each session's first record.

    Sessions start at metadata records, or, where a single one was cut at requests, at the requests with the
    session's id and first turn.
    """
    marks = [place for place, record in enumerate(records) if not place or record.get("kind") == "metadata"]
    if len(marks) == len(sessions):
        yield from marks
        return
    turn = number = 0
    for place, record in enumerate(records):
        kind = record.get("kind")
        if number < len(sessions) and (not place or kind == "chat_request"):
            own = record.get("id")
            session = sessions[number]
            if session.first_turn == turn and session.session_id == (own if isinstance(own, str) else ""):
                yield place
                number += 1
        turn += kind == "chat_response"
