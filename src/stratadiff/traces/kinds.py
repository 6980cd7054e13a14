"""Which paths are traces, before anything of them is read."""

from __future__ import annotations

import os

from stratadiff.errors import UnknownKindError

SUFFIXES = (".agentlog", ".agentlog.gz", ".agentlog.zst")
"""How files are named that are traces whatever is in them."""

_TRACE, _OTHER, _MISSING = "trace", "other", "missing"


def are_traces(baseline: str, candidate: str, *, if_missing: bool = False) -> bool:
    """Tell whether two paths are a pair of traces, by name or content.

    Parameters
    ----------
    baseline, candidate : str
        Where only one of them is there, it decides.
    if_missing : bool
        The answer where neither is there nor named as a trace.

    Raises
    ------
    UnknownKindError
        One is a trace and the other is not.
    """
    kinds = _kind_of(baseline), _kind_of(candidate)
    if kinds == (_MISSING, _MISSING):
        return if_missing
    if _TRACE not in kinds:
        return False
    if _OTHER in kinds:
        other = candidate if kinds[1] == _OTHER else baseline
        trace = baseline if other is candidate else candidate
        raise UnknownKindError(
            f"{trace} is an agent trace and {other} is not; compare two traces, or two recorded runs"
        )
    return True


def is_trace_path(path: str) -> bool:
    """Tell whether a path is a trace, by name or content; a missing file named as a trace is one."""
    return _kind_of(path) == _TRACE


def _kind_of(path: str) -> str:
    if os.path.isdir(path):
        return _OTHER
    if path.endswith(SUFFIXES):
        return _TRACE
    if not os.path.exists(path):
        return _MISSING
    from stratadiff.traces.reader import starts_as_trace

    return _TRACE if starts_as_trace(path) else _OTHER
