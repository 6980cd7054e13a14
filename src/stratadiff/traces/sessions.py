"""Level session: which sessions of two traces belong together *(levels §2; agentlog §6)*."""

from __future__ import annotations

from stratadiff.traces.model import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.traces.model import Trace

_NOTHING = Session("", 0, 0, 0, "")


def paired_sessions(baseline: Trace, candidate: Trace) -> list[tuple[Session, Session]]:
    """Pair the sessions of two traces by position; the shorter list is padded with empty ones."""
    old, new = list(baseline.sessions), list(candidate.sessions)
    missing = len(new) - len(old)
    old += [_NOTHING] * missing
    new += [_NOTHING] * -missing
    return list(zip(old, new, strict=True))
