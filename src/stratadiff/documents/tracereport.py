"""A comparison of traces → the trace report *(levels §1.8, §7)*.

Unlike the documents of runs it has numbers, keeps the order of its members, and carries content blocks of the
traces as they were recorded.
"""

from __future__ import annotations

from _json import encode_basestring, make_encoder  # json itself costs start-up time

from stratadiff.core.frozen import plain
from stratadiff.documents.document import Document
from stratadiff.errors import InputError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from stratadiff.traces.compare import TraceComparison

FORMAT = "trace-report/0.1"
"""The members hold no format tag: consumers of the published tool's report find them where they look."""


class TraceDocument(Document):
    """The trace report as a document: what ``--output-json`` writes.

    Parameters
    ----------
    members : mapping
        The members in their order; any JSON values.

    Examples
    --------
    >>> TraceDocument({"pair_count": 2, "spans": []}).canonical()
    b'{"pair_count":2,"spans":[]}'
    """

    __slots__ = ()

    @property
    def format(self) -> str:
        """Return ``trace-report/0.1``, the name of the schema: the members hold no format tag."""
        return FORMAT

    def canonical(self) -> bytes:
        """Return the one byte form of the report *(levels §7)*.

        UTF-8 without white space, members in the format's order, floats in the fewest digits that read back
        as the same double. A lone surrogate, which only records in memory can hold, is written as its JSON
        escape, and a float that is not finite as the string ``"+inf"``, ``"-inf"`` or ``"nan"``.

        Raises
        ------
        TypeError
            A content block of records in memory holds what JSON has no form for.
        LimitError
            Such a block is nested too deeply to be written.
        """
        if self._canonical is None:
            object.__setattr__(self, "_canonical", _dump(self.members))
        assert self._canonical is not None
        return self._canonical

    @classmethod
    def load(cls, data: bytes) -> TraceDocument:
        """Make a document of the bytes of a trace report.

        Raises
        ------
        InputError
            The bytes are not JSON, or not an object with the traces' ids.
        """
        from stratadiff.core.jsonvalue import parse

        try:
            members = parse(data.decode())
        except (ValueError, RecursionError) as error:
            raise InputError(f"not a trace report: {error}") from None
        if not isinstance(members, dict) or "baseline_trace_id" not in members:
            raise InputError("not a trace report: no object with a baseline_trace_id")
        return cls(members)


def trace_document(comparison: TraceComparison) -> TraceDocument:
    """Write the report of a comparison: the members of the levels that were asked for, in the format's order.

    Parameters
    ----------
    comparison : TraceComparison
        A level that was not asked for is None there.
    """
    members: dict[str, Any] = {}
    if comparison.rows is not None:
        members["rows"] = plain(comparison.rows)
    for name in ("baseline_trace_id", "candidate_trace_id", "pair_count"):
        members[name] = getattr(comparison, name)
    if comparison.divergences is not None:
        for name in ("first_divergence", "divergences", "drill_down"):
            members[name] = plain(getattr(comparison, name))
    members["extras"] = plain(comparison.extras)
    for name in ("sessions", "token_diff", "policy_diff", "spans"):
        value = getattr(comparison, name)
        if value is not None:
            members[name] = plain(value)
    return TraceDocument(members)


def _dump(members: Mapping[str, Any]) -> bytes:
    try:
        try:
            text = "".join(_encode(members, 0))
        except ValueError:  # a float that is not finite, somewhere
            text = "".join(_encode(_finite(members), 0))
    except RecursionError:
        raise LimitError("a content block is nested too deeply to be written as JSON") from None
    # What backslashreplace writes for a lone surrogate is the JSON escape of it.
    return text.encode("utf-8", "backslashreplace")


def _no_form(value: object) -> NoReturn:
    raise TypeError(f"a content block holds a {type(value).__name__}, which JSON has no form for")


_encode = make_encoder(None, _no_form, encode_basestring, None, ":", ",", False, False, False)


def _finite(value: Any) -> Any:
    """Return a copy whose floats all have a JSON form."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and value - value != 0.0:
        return "nan" if value != value else "+inf" if value > 0 else "-inf"
    return value
