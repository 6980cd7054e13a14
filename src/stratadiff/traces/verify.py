"""Verification of a trace: every breach of the format, with its line *(agentlog §1, §5)*."""

from __future__ import annotations

from stratadiff.core.contentid import PREFIX, content_id
from stratadiff.core.frozen import Struct
from stratadiff.core.moments import instant
from stratadiff.traces.model import Diagnostic
from stratadiff.traces.reader import Reading, parsed
from stratadiff.traces.remarks import Remarks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

RULES = (
    "compression",
    "trace-too-large",
    "line-too-large",
    "utf8",
    "depth",
    "json",
    "envelope",
    "version",
    "id-form",
    "id-mismatch",
    "first-record",
    "parent",
    "ts-form",
    "ts-order",
)
"""Every code of a breach. The first seven are lines that are no records."""

REMARKS = ("bom", "duplicate-member", "unknown-kind", "unpriced-cache-fields")
"""What the reader remarks that breaks no rule."""


class TraceVerification(Struct):
    """What :func:`verify_trace` found.

    Attributes
    ----------
    source : str
        The path as given.
    record_count : int
        Records read.
    breaches : list of Diagnostic
        In the order of lines; the codes are of :data:`RULES`.
    remarks : list of Diagnostic
        Peculiarities that break no rule.
    """

    __slots__ = ("breaches", "record_count", "remarks", "source")
    source: str
    record_count: int
    breaches: list[Diagnostic]
    remarks: list[Diagnostic]

    def __init__(
        self, source: str, record_count: int, breaches: list[Diagnostic], remarks: list[Diagnostic]
    ) -> None:
        self._fill(source=source, record_count=record_count, breaches=breaches, remarks=remarks)

    @property
    def verifies(self) -> bool:
        """Tell whether no rule is broken."""
        return not self.breaches


def verify_trace(path: str) -> TraceVerification:
    """Walk a trace and list every breach of the format.

    Parameters
    ----------
    path : str
        The file, compressed or not.

    Raises
    ------
    InputError
        The file cannot be read at all.

    Notes
    -----
    One pass. Memory: the longest line, and the ids of the records so far.
    """
    reading = Reading(path, tolerant=True)
    checks = _Checks()
    for line, record in parsed(reading.pieces()):
        checks.look_at(line, record)
    breaches = checks.breaches.listed()
    remarks: list[Diagnostic] = []
    for diagnostic in reading.diagnostics:
        (remarks if diagnostic.code in REMARKS else breaches).append(diagnostic)
    breaches.sort(key=_place)
    return TraceVerification(path, checks.count, breaches, remarks)


def _place(breach: Diagnostic) -> tuple[int, int]:
    return breach.line, RULES.index(breach.code)


class _Checks:
    """The rules between records need what came before."""

    def __init__(self) -> None:
        self.breaches = Remarks()
        self.count = 0
        self._ids: set[str] = set()
        self._moment: tuple[int, bool, str] | None = None
        self._moment_line = 0

    def look_at(self, line: int, record: dict[str, Any]) -> None:
        for code, message in self._problems(line, record):
            self.breaches.add(line, code, message)
        self._ids.add(record["id"])
        self.count += 1

    def _problems(self, line: int, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
        own = record["id"]
        if not is_id(own):
            yield "id-form", "the id is not sha256: and 64 lowercase hexadecimal digits"
        else:
            real = content_id(record["payload"])
            if own != real:
                yield (
                    "id-mismatch",
                    f"the id is not the content id of the payload, which is {real}{_rounding(record)}",
                )
        parent = record.get("parent")
        if not self.count:
            if record["kind"] != "metadata":
                yield "first-record", f"the first record is {record['kind']!r}, not 'metadata'"
            elif parent is not None:
                yield "first-record", "the first record has a parent"
        elif parent is None:
            yield "parent", "the record has no parent; only the first one may lack it"
        elif parent not in self._ids:
            yield "parent", "the parent is not the id of a record above"
        moment = moment_of(record["ts"])
        if moment is None:
            yield "ts-form", f"{record['ts']!r} is not an RFC 3339 time that ends in Z"
        else:
            if self._moment is not None and moment < self._moment:
                yield "ts-order", f"the time is before that of line {self._moment_line}"
            self._moment = moment
            self._moment_line = line


def is_id(text: str) -> bool:
    """Tell whether a text has the form of a content id."""
    digits = text.removeprefix(PREFIX)
    return len(text) == 71 and len(digits) == 64 and not digits.strip("0123456789abcdef")


def moment_of(text: str) -> tuple[int, bool, str] | None:
    """Return an RFC 3339 time that ends in ``Z`` as values that order as instants do, else None."""
    if not text.endswith("Z"):
        return None
    # A leap second has one place in a day (RFC 3339 §5.7), between the second before and midnight.
    is_leap = text[11:19] == "23:59:60"
    place = instant(f"{text[:17]}59{text[19:]}" if is_leap else text)
    return None if place is None else (place[0], is_leap, place[1])


def _rounding(record: dict[str, Any]) -> str:
    """Return what to add where the usual writer may have rounded a number otherwise *(agentlog §4)*."""
    pending = [record["payload"]]
    while pending:
        value = pending.pop()
        if isinstance(value, float) and len(repr(value).replace(".", "").lstrip("-0")) >= 16:
            return "; the payload has numbers of 16 and more digits, and some writers round those otherwise"
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return ""
