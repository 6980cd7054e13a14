"""Level session: which sessions of two traces belong together *(levels §2; agentlog §6)*."""

from __future__ import annotations

from stratadiff.core.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.traces.model import Trace


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
    starts = iter([session.first_record for session in trace.sessions])
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
