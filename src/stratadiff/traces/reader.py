"""Reading traces: streams of lines into records, strict or tolerant *(agentlog §5)*; and writing them.

The kernel ``trace_scan`` decides what is a record; only what was asked for becomes a Python value.
"""

from __future__ import annotations

import os

from stratadiff._kernels import trace_scan
from stratadiff.core.files import atomic_write, read_pieces
from stratadiff.core.jsonvalue import wire_parser
from stratadiff.errors import InputError, UsageError
from stratadiff.limits import (
    MAX_TRACE_BYTES,
    MAX_TRACE_DEPTH,
    MAX_TRACE_LINE_BYTES,
)
from stratadiff.traces.assemble import NEEDS, Assembly, trace_of_records
from stratadiff.traces.compression import GZIP, ZSTD, Damage, decompressed, with_last
from stratadiff.traces.model import Trace
from stratadiff.traces.remarks import Remarks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Diagnostic

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

CODES = ("", "line-too-large", "utf8", "depth", "json", "envelope")
"""Of the kernel's numbers, in the order in which the first that fits counts."""

_MEMBERS = ("version", "id", "kind", "ts", "parent", "meta", "payload")
_WRONG_TYPE = 64
_TYPES = ("a string", "a string", "a string", "a string", "a string or null", "an object or null")

_REPEATED, _REPEATED_ENVELOPE, _UNKNOWN_KIND, _OTHER_VERSION, _CACHE_FIELDS, _TRACE_ID = 1, 2, 4, 8, 16, 32
_REMARKS = _REPEATED | _REPEATED_ENVELOPE | _UNKNOWN_KIND | _OTHER_VERSION
_ROW = 6
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TraceError(InputError):
    """A line of a trace cannot be read.

    Parameters
    ----------
    message : str
        One sentence.
    where : str
        File and line.
    line : int
        From 1, blank lines counted.
    code : str
        ``line-too-large``, ``utf8``, ``depth``, ``json``, ``envelope``, ``trace-too-large`` or
        ``compression``.
    """

    def __init__(self, message: str, *, where: str, line: int, code: str) -> None:
        super().__init__(message, where=where, code=code)
        self.line = line


class Piece:
    """Some lines of a trace as the kernel left them; see :func:`stratadiff._kernels.trace_scan.scan`."""

    __slots__ = ("absent", "counts", "data", "odd", "records")

    def __init__(
        self,
        data: bytes,
        records: array[int],
        counts: array[int],
        absent: tuple[int, int, int],
        odd: array[int],
    ) -> None:
        self.data = data
        self.records = records
        self.counts = counts
        self.absent = absent
        self.odd = odd


class Reading:
    """One pass over a file: its pieces, and what was remarked on the way.

    Parameters
    ----------
    path : str
        The file; gzip and zstd are recognised by its first bytes.
    tolerant : bool
        Leave out a line that is no record, instead of raising.
    max_line_bytes, max_bytes : int
        Limits after decompression.
    """

    def __init__(
        self,
        path: str,
        *,
        tolerant: bool = False,
        max_line_bytes: int = MAX_TRACE_LINE_BYTES,
        max_bytes: int = MAX_TRACE_BYTES,
    ) -> None:
        self.path = path
        self.tolerant = tolerant
        self.max_line_bytes = max_line_bytes
        self.max_bytes = max_bytes
        self._remarks = Remarks()
        self._has_cache_remark = False

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was remarked so far; of what is past ``limits.MAX_TRACE_DIAGNOSTICS`` one entry per code."""
        return self._remarks.listed()

    def pieces(self) -> Iterator[Piece]:
        """Read the file.

        Raises
        ------
        TraceError
            Strict reading met a line that is no record.
        InputError
            The file cannot be read.
        """
        number = 0
        rest = b""
        size = 0
        at_start = True
        try:
            for data, is_last in with_last(decompressed(self.path)):
                if at_start:
                    data, rest = rest + data, b""
                    if len(data) < len(_BYTE_ORDER_MARK) and not is_last:
                        rest = data  # decompressed data may come in crumbs
                        continue
                    at_start = False
                    if data.startswith(_BYTE_ORDER_MARK):
                        self._remark(1, "bom", "the file starts with a byte-order mark; the format has none")
                        data = data[len(_BYTE_ORDER_MARK) :]
                size += len(data)
                over = size > self.max_bytes
                if over:
                    data = data[: len(data) - (size - self.max_bytes)]
                data = rest + data if rest else data
                code, at, number, bad, detail, records, counts, absent, odd = trace_scan.scan(
                    data,
                    0,
                    number,
                    self.max_line_bytes,
                    MAX_TRACE_DEPTH,
                    is_last and not over,
                    self.tolerant,
                )
                self._look_at_flags(records)
                self._look_at_bad_lines(bad)
                yield Piece(data, records, counts, absent, odd)
                if code:
                    self._problem(number, CODES[code], _sentence(code, detail, self.max_line_bytes))
                    return  # a line too large, or this would not be reached
                if over:
                    message = f"the trace has more than {self.max_bytes:,} bytes; nothing is read beyond them"
                    self._problem(number + 1, "trace-too-large", message)
                    return
                rest = data[at:]
        except Damage as damage:
            self._problem(number + 1, "compression", str(damage))

    def _look_at_bad_lines(self, bad: array[int]) -> None:
        at = 0
        while at < len(bad) and self._remarks.has_room:
            code, number, detail = bad[at : at + 3]
            self._remark(number, CODES[code], _sentence(code, detail, self.max_line_bytes))
            at += 3
        codes = bytes(bad[at::3].tolist())
        for code in sorted(set(codes)):
            self._remarks.skip(bad[at + 3 * codes.index(code) + 1], CODES[code], codes.count(code))

    def _problem(self, line: int, code: str, message: str) -> None:
        """Raise, or make a note of it where reading is tolerant."""
        if not self.tolerant:
            hint = "" if code.endswith("-large") else "; --tolerant reads the rest without it"
            raise TraceError(message + hint, where=f"{self.path}:{line}", line=line, code=code)
        self._remark(line, code, message)

    def _remark(self, line: int, code: str, message: str) -> None:
        self._remarks.add(line, code, message)

    def _look_at_flags(self, records: array[int]) -> None:
        flags = records[5::_ROW]
        wanted = _REMARKS if self._has_cache_remark else _REMARKS | _CACHE_FIELDS
        if not any(flag & wanted for flag in set(flags)):
            return
        for index, flag in enumerate(flags):
            if not flag & wanted:
                continue
            line = records[index * _ROW + 4]
            if flag & _REPEATED_ENVELOPE and not self.tolerant:
                self._problem(line, "envelope", "a member of the record stands in it twice")
            if flag & _OTHER_VERSION:
                self._remark(line, "version", "the record's version is not 0.1")
            if flag & _REPEATED:
                self._remark(
                    line, "duplicate-member", "a member stands twice in an object; the last one counts"
                )
            if flag & _UNKNOWN_KIND:
                self._remark(line, "unknown-kind", "the record's kind is not known; no level reads it")
            if flag & _CACHE_FIELDS and not self._has_cache_remark:
                self._has_cache_remark = True
                wanted = _REMARKS
                self._remark(
                    line,
                    "unpriced-cache-fields",
                    "usage has cache_read_input_tokens or cache_creation_input_tokens, which have no price; "
                    "rename them to cached_input_tokens, cached_write_5m_tokens or cached_write_1h_tokens",
                )


def parsed(pieces: Iterable[Piece]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every record with the number of its line."""
    parse = None
    for piece in pieces:
        parse = parse or wire_parser(len(piece.data))
        records, view = piece.records, memoryview(piece.data)
        for number, start, end in zip(records[4::_ROW], records[3::_ROW], records[2::_ROW], strict=True):
            yield number, parse(view[start : _line_end(piece.data, end)])


def _line_end(data: bytes, payload_end: int) -> int:
    # A line ends at the line feed after its payload; what may follow the payload holds none.
    stop = data.find(b"\n", payload_end)
    return len(data) if stop < 0 else stop


def read_trace(path: Path, *, tolerant: bool = False) -> Trace:
    """Read a trace whole.

    Parameters
    ----------
    path : path-like
        An ``.agentlog`` file; gzip and zstd (extra ``zstd``) are recognised by content.
    tolerant : bool
        Leave out lines that are no records and say so in ``diagnostics``, instead of raising.

    Returns
    -------
    Trace
        A sequence of its records, plain dictionaries in file order, with its turns and sessions.

    Raises
    ------
    TraceError
        A line is no record, or a limit is passed; it has ``line`` and ``code``.
    InputError
        The file cannot be read.
    """
    return read_for(os.fsdecode(path), NEEDS, tolerant=tolerant)


def read_for(path: str, needs: frozenset[str], *, tolerant: bool = False, split: str | None = None) -> Trace:
    """Read of a trace what certain levels need.

    Parameters
    ----------
    path : str
        The file.
    needs : frozenset of str
        Out of ``responses``, ``requests``, ``tools`` and ``records``; ids, sessions and token counts are
        always there.
    tolerant : bool
        As :func:`read_trace`.
    split : str, optional
        ``"requests"`` cuts the only session of a trace where the user speaks again *(agentlog §6)*.
    """
    reading = Reading(path, tolerant=tolerant)
    pieces = reading.pieces()
    if "records" in needs or split is not None:
        records = [record for _, record in parsed(pieces)]
        return trace_of_records(records, source=path, diagnostics=reading.diagnostics, split=split)
    assembly = Assembly(needs)
    parse = None
    for piece in pieces:
        parse = parse or wire_parser(len(piece.data))
        _feed(assembly, piece, parse)
    return assembly.trace(path, reading.diagnostics)


def as_trace(
    source: Path | Trace | Iterable[dict[str, Any]],
    needs: frozenset[str],
    *,
    tolerant: bool = False,
    split: str | None = None,
) -> Trace:
    """Return a trace for what a caller gave: a path, a trace, or record dictionaries (never changed).

    Raises
    ------
    UsageError
        The trace given was read without what is needed.
    """
    if isinstance(source, Trace):
        if source.records is not None:
            # Sessions may be asked for otherwise than it was read.
            if split is None:
                return source
            return trace_of_records(
                source.records, source=source.source, diagnostics=source.diagnostics, split=split
            )
        kept = {
            "records": source.records,
            "requests": source.requests,
            "responses": source.responses,
            "tools": source.tool_records,
        }
        missing = sorted(name for name in needs if kept[name] is None)
        if missing:
            raise UsageError(f"this trace was read without its {', '.join(missing)}; read it with read_trace")
        return source
    if isinstance(source, (str, bytes, os.PathLike)):
        return read_for(os.fsdecode(source), needs, tolerant=tolerant, split=split)
    return trace_of(source, split=split)


def trace_of(records: Iterable[dict[str, Any]], *, split: str | None = None) -> Trace:
    """Make a trace of record dictionaries, which may carry only ``kind`` and ``payload``.

    Raises
    ------
    InputError
        An entry is no dictionary.
    """
    return trace_of_records(list(records), split=split)


def starts_as_trace(path: str) -> bool:
    """Tell whether a file is a trace by its first bytes, whatever its name. Never raises."""
    try:
        first = next(read_pieces(path, 1 << 16), b"")
    except InputError:
        return False
    if first.startswith((GZIP, ZSTD)):
        return True
    first = first.removeprefix(_BYTE_ORDER_MARK)
    line = first.lstrip(b"\r\n").split(b"\n", 1)[0]
    # A long first record need not be whole to be known by its members.
    return line.startswith(b"{") and all(name in line for name in (b'"kind"', b'"payload"', b'"version"'))


def record_bytes(record: dict[str, Any]) -> bytes:
    """Return a record as a line of a trace *(agentlog §5)*.

    Parameters
    ----------
    record : dict
        Members ``version, id, kind, ts, parent, meta, payload`` come first, in that order; others follow.

    Raises
    ------
    InputError
        It has no JSON form: a number that is not finite, half a surrogate pair, a type JSON does not have.
    """
    import json

    ordered = {name: record[name] for name in _MEMBERS if name in record}
    ordered.update(record)
    try:
        text = json.dumps(ordered, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"a record has no JSON form: {error}") from None


def write_trace(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write a trace, whole or not at all.

    Raises
    ------
    InputError
        A record has no JSON form, or is none that :func:`read_trace` would take.
    OutputError
        The file cannot be written; what was there before still is.
    """
    lines = []
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise InputError(f"record {number} is {type(record).__name__}, not a dictionary")
        line = record_bytes(record)
        code, _, _, _, detail, *_ = trace_scan.scan(line, 0, 0, MAX_TRACE_LINE_BYTES, MAX_TRACE_DEPTH)
        if code:
            raise InputError(f"record {number}: {_sentence(code, detail, MAX_TRACE_LINE_BYTES)}")
        lines.append(line)
    atomic_write(os.fsdecode(path), b"".join(lines))


def _feed(assembly: Assembly, piece: Piece, parse: Any) -> None:
    view = memoryview(piece.data)
    records = piece.records
    assembly.add_counts(piece.counts, piece.absent, _careful(piece))
    kinds = bytes(records[0::_ROW].tolist())
    flags = records[5::_ROW]
    named: Sequence[int] = ()
    if any(flag & _TRACE_ID for flag in set(flags)):
        named = [index for index, flag in enumerate(flags) if flag & _TRACE_ID]
    for index in assembly.of_interest(kinds, named):
        start, end, line_start = records[index * _ROW + 1 : index * _ROW + 4]
        record = None
        if assembly.wants_envelope(kinds[index], bool(flags[index] & _TRACE_ID)):
            record = parse(view[line_start : _line_end(piece.data, end)])
        assembly.add(kinds[index], view[start:end], record, parse)


def _careful(piece: Piece) -> list[tuple[int, int, int]]:
    """Return (response, dimension, count) for the literals the kernel left alone."""
    found = []
    odd = piece.odd
    for response, dimension, start, end in zip(odd[0::4], odd[1::4], odd[2::4], odd[3::4], strict=True):
        literal = piece.data[start:end].decode()
        digits = literal.lstrip("-")
        if digits.isdigit() and len(digits) < 21 and -(2**63) <= int(literal) < 2**64:
            value = int(literal)
        else:
            value = int(float(literal))
        found.append((response, dimension, value))
    return found


def _sentence(code: int, detail: int, max_line_bytes: int) -> str:
    if code == 1:
        return f"the line has more than {max_line_bytes:,} bytes; nothing is read from it on"
    if code == 2:
        return "the line is not UTF-8"
    if code == 3:
        return f"the line nests more than {MAX_TRACE_DEPTH} containers"
    if code == 4:
        return f"the line is not JSON, from its byte {detail} on"
    if detail > _WRONG_TYPE + len(_MEMBERS):
        return "the line is JSON, but not an object and so no record"
    if detail >= _WRONG_TYPE:
        member = detail - _WRONG_TYPE
        return f'the record\'s "{_MEMBERS[member]}" is not {_TYPES[member]}'
    return f'the record has no "{_MEMBERS[detail]}"'
