"""Verification of a trace: every breach of the format, with its line *(agentlog §1, §5)*."""

from __future__ import annotations

from stratadiff.core.contentid import PREFIX, content_id
from stratadiff.core.frozen import Struct
from stratadiff.core.jsonvalue import wire_parser
from stratadiff.traces.reader import Reading, lines_of
from stratadiff.traces.remarks import Remarks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stratadiff.traces.model import Diagnostic

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


class Breach(Struct):
    """One breach of the format.

    Attributes
    ----------
    line : int
        Line of the file, from 1.
    code : str
        One of :data:`RULES`.
    message : str
        One sentence. May hold text of the record: escape before display.
    """

    __slots__ = ("code", "line", "message")
    line: int
    code: str
    message: str

    def __init__(self, line: int, code: str, message: str) -> None:
        self._fill(line=line, code=code, message=message)


class TraceVerification(Struct):
    """What :func:`verify_trace` found.

    Attributes
    ----------
    source : str
        The path as given.
    record_count : int
        Records read.
    breaches : list of Breach
        In the order of lines.
    remarks : list of Diagnostic
        Peculiarities that break no rule.
    """

    __slots__ = ("breaches", "record_count", "remarks", "source")
    source: str
    record_count: int
    breaches: list[Breach]
    remarks: list[Diagnostic]

    def __init__(
        self, source: str, record_count: int, breaches: list[Breach], remarks: list[Diagnostic]
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
    parse: Any = None
    for piece in reading.pieces():
        parse = parse or wire_parser(len(piece.data))
        for line, start, end in lines_of(piece):
            checks.look_at(line, parse(memoryview(piece.data)[start:end]))
    breaches = [Breach(found.line, found.code, found.message) for found in checks.breaches.listed()]
    remarks = []
    for diagnostic in reading.diagnostics:
        if diagnostic.code in REMARKS:
            remarks.append(diagnostic)
        else:
            breaches.append(Breach(diagnostic.line, diagnostic.code, diagnostic.message))
    breaches.sort(key=_place)
    return TraceVerification(path, checks.count, breaches, remarks)


def _place(breach: Breach) -> tuple[int, int]:
    return breach.line, RULES.index(breach.code)


class _Checks:
    """The rules between records need what came before."""

    def __init__(self) -> None:
        self.breaches = Remarks()
        self.count = 0
        self._ids: set[str] = set()
        self._moment: tuple[int | str, ...] | None = None
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


def moment_of(text: str) -> tuple[int | str, ...] | None:
    """Return an RFC 3339 time that ends in ``Z`` as values that order as instants do, else None."""
    if len(text) < 20 or text[-1] != "Z" or not text.isascii():
        return None
    date, mark, time = text[:10], text[10], text[11:19]
    if date[4] + date[7] != "--" or mark not in "Tt" or time[2] + time[5] != "::":
        return None
    fields = (date[:4], date[5:7], date[8:], time[:2], time[3:5], time[6:])
    fraction = text[19:-1]
    if not all(field.isdigit() for field in fields) or (fraction and not _is_fraction(fraction)):
        return None
    year, month, day, hour, minute, second = map(int, fields)
    if not (1 <= month <= 12 and 1 <= day <= _days(year, month)):
        return None
    # A leap second has one place in a day (RFC 3339 §5.7).
    if not (hour < 24 and minute < 60 and (second < 60 or (hour, minute, second) == (23, 59, 60))):
        return None
    return year, month, day, hour, minute, second, fraction[1:].rstrip("0")


def _is_fraction(text: str) -> bool:
    return text[0] == "." and text[1:].isdigit()


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


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
