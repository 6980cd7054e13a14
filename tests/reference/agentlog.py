"""Reading, identifying and dividing `.agentlog` traces, by the page that settles the format (agentlog)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from reference.contentid import canonical as canonical
from reference.contentid import content_id as content_id
from reference.contentid import json_equal as json_equal
from reference.contentid import json_type as json_type

Record = dict[str, Any]
Diagnostics = list[tuple[int, str]]

MAX_LINE = 16_777_216
MAX_TRACE = 1_073_741_824
MAX_DEPTH = 127

BOM = b"\xef\xbb\xbf"
VERSION = "0.1"

METADATA = "metadata"
REQUEST = "chat_request"
RESPONSE = "chat_response"
TOOL_CALL = "tool_call"
KINDS = (
    METADATA,
    REQUEST,
    RESPONSE,
    TOOL_CALL,
    "tool_result",
    "error",
    "replay_summary",
    "chunk",
    "harness_event",
    "blob_ref",
)

MISNAMED = ("cache_read_input_tokens", "cache_creation_input_tokens")


# Tolerant access (agentlog §3)


def members(value: Any) -> dict[str, Any]:
    """Give an object as it is and anything else as an empty one (agentlog §3)."""
    return value if isinstance(value, dict) else {}


def blocks(payload: Any) -> list[dict[str, Any]]:
    """List the blocks of a response; an entry that is no object is `{}` (agentlog §3)."""
    content = members(payload).get("content")
    if isinstance(content, str) and content:
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [members(entry) for entry in content]


def texts(payload: Any) -> list[str]:
    """List the texts of a response; a text that is no string is `""` (agentlog §3)."""
    found = [block.get("text") for block in blocks(payload) if block.get("type") == "text"]
    return [text if isinstance(text, str) else "" for text in found]


# Reading (agentlog §5)


class ReadingError(ValueError):
    """A trace that cannot be read: 1-based line and code (agentlog §5)."""

    def __init__(self, line: int, code: str, /) -> None:
        super().__init__(f"line {line}: {code}")
        self.line = line
        self.code = code


class _RefusedError(ValueError):
    # Why a line is no record.
    def __init__(self, code: str, /) -> None:
        super().__init__(code)
        self.code = code


def _integer(literal: str) -> int | float:
    # The length first: Python refuses to read integers of thousands of digits.
    if len(literal) <= 20 and -(2**63) <= int(literal) < 2**64:
        return int(literal)
    return _double(literal)


def _double(literal: str) -> float:
    found = float(literal)
    if math.isinf(found):
        raise ValueError("number beyond the double range")
    return found


def _constant(literal: str) -> float:
    raise ValueError(f"{literal} is not JSON")


def depth(text: str) -> int:
    """Give the deepest nesting of brackets outside strings (agentlog §5)."""
    deepest = level = 0
    inside = escaped = False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "[{":
            level += 1
            deepest = max(deepest, level)
        elif char in "]}":
            level -= 1
    return deepest


def has_lone_surrogate(value: Any) -> bool:
    """Look for a surrogate in any string of a value, keys too (agentlog §5)."""
    due = [value]
    while due:
        item = due.pop()
        if isinstance(item, str) and any("\ud800" <= char <= "\udfff" for char in item):
            return True
        if isinstance(item, dict):
            due += item.keys()
            due += item.values()
        elif isinstance(item, list):
            due += item
    return False


def parse(text: str) -> tuple[Any, list[bool]]:
    """Read one JSON value; tell of each object if a member came twice, the outermost last (agentlog §5)."""
    repeats = []
    overwritten: list[Any] = []  # half a surrogate pair is no JSON, wherever it stands

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            overwritten.extend(item for _, item in pairs)
        repeats.append(len(found) < len(pairs))
        return found

    try:
        value = json.loads(
            text,
            parse_int=_integer,
            parse_float=_double,
            parse_constant=_constant,
            object_pairs_hook=object_of,
        )
    except ValueError:
        raise _RefusedError("json") from None
    if has_lone_surrogate([value, overwritten]):
        raise _RefusedError("json")
    return value, repeats


def fits_envelope(value: Any) -> bool:
    """Tell whether a value has the members of a record, of the right types (agentlog §1, §5)."""
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) for name in ("version", "id", "kind", "ts"))
        and isinstance(value.get("parent"), str | None)
        and isinstance(value.get("meta"), dict | None)
        and "payload" in value
    )


def read_line(line: bytes, tolerant: bool, max_depth: int) -> tuple[Record, list[str]]:
    """Read one line: the record, and a code for each odd thing about it (agentlog §5)."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise _RefusedError("utf8") from None
    if depth(text) > max_depth:
        raise _RefusedError("depth")
    value, repeats = parse(text)
    if not fits_envelope(value) or (repeats[-1] and not tolerant):
        raise _RefusedError("envelope")
    codes = []
    if any(repeats):
        codes.append("duplicate-member")
    if value["kind"] not in KINDS:
        codes.append("unknown-kind")
    if value["version"] != VERSION:
        codes.append("version")
    return value, codes


def misnames_cache(record: Record) -> bool:
    """Tell whether a response counts cached tokens by names that have no price (agentlog §3)."""
    usage = members(members(record["payload"]).get("usage"))
    return record["kind"] == RESPONSE and any(name in usage for name in MISNAMED)


def split_lines(data: bytes) -> list[bytes]:
    """Split the bytes of a trace after each line feed (agentlog §1)."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1].removesuffix(b"\n")
    return lines if lines[-1] else lines[:-1]


def read_lines(
    data: bytes,
    tolerant: bool = False,
    *,
    max_line: int = MAX_LINE,
    max_trace: int = MAX_TRACE,
    max_depth: int = MAX_DEPTH,
) -> tuple[list[tuple[int, Record]], Diagnostics]:
    """Read the bytes of a trace: records with their lines, and diagnostics (agentlog §5)."""
    found: list[tuple[int, Record]] = []
    diagnostics: Diagnostics = []
    misnamed = False
    used = 0
    for number, line in enumerate(split_lines(data), 1):
        used += len(line)
        over = "line-too-large" if len(line) > max_line else "trace-too-large" if used > max_trace else None
        if over and not tolerant:
            raise ReadingError(number, over)
        if over:
            diagnostics.append((number, over))
            break
        if number == 1 and line.startswith(BOM):
            diagnostics.append((1, "bom"))
            line = line.removeprefix(BOM)
        if not line.strip(b"\r\n"):
            continue
        try:
            record, codes = read_line(line, tolerant, max_depth)
        except _RefusedError as refused:
            if not tolerant:
                raise ReadingError(number, refused.code) from None
            diagnostics.append((number, refused.code))
            continue
        if misnames_cache(record) and not misnamed:
            misnamed = True
            codes.append("unpriced-cache-fields")
        diagnostics += [(number, code) for code in codes]
        found.append((number, record))
    return found, diagnostics


def read(data: bytes, tolerant: bool = False, **limits: int) -> tuple[list[Record], Diagnostics]:
    """Read the bytes of a trace: records and diagnostics (agentlog §5)."""
    found, diagnostics = read_lines(data, tolerant, **limits)
    return [record for _, record in found], diagnostics


# Verifying (agentlog §1, §5)

ID = re.compile(r"sha256:[0-9a-f]{64}")
INSTANT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?Z")


def days_in(year: int, month: int) -> int:
    """Count the days of a month (RFC 3339 §5.7)."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return {2: 29 if leap else 28, 4: 30, 6: 30, 9: 30, 11: 30}.get(month, 31)


def instant(ts: str) -> tuple[Any, ...] | None:
    """Give the instant of a well-formed time stamp, as a tuple that compares, else None (agentlog §5)."""
    match = INSTANT.fullmatch(ts)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    leap_second = (hour, minute, second) == (23, 59, 60)
    if not (1 <= month <= 12 and 1 <= day <= days_in(year, month)):
        return None
    if not (hour <= 23 and minute <= 59 and (second <= 59 or leap_second)):
        return None
    # As text, without trailing zeros, a fraction compares digit by digit.
    return year, month, day, hour, minute, second, (match[7] or "").rstrip("0")


def verify(data: bytes, tolerant: bool = False, **limits: int) -> Diagnostics:
    """List every breach of the rules between records, and of their ids and times (agentlog §1, §5)."""
    breaches: Diagnostics = []
    above: set[str] = set()
    latest = None
    records, _ = read_lines(data, tolerant, **limits)
    for at, (line, record) in enumerate(records):
        codes = []
        if record["version"] != VERSION:
            codes.append("version")
        if not ID.fullmatch(record["id"]):
            codes.append("id-form")
        elif record["id"] != content_id(record["payload"]):
            codes.append("id-mismatch")
        if at == 0:
            if record["kind"] != METADATA or record.get("parent") is not None:
                codes.append("first-record")
        elif record.get("parent") not in above:
            codes.append("parent")
        moment = instant(record["ts"])
        if moment is None:
            codes.append("ts-form")
        else:
            if latest is not None and moment < latest:
                codes.append("ts-order")
            latest = moment
        above.add(record["id"])
        breaches += [(line, code) for code in codes]
    return breaches


# Turns and sessions (agentlog §6)


def turns(records: Sequence[Record]) -> list[dict[str, Any]]:
    """List the payloads of the responses: turn i is the i-th (agentlog §6)."""
    return [members(record.get("payload")) for record in records if record["kind"] == RESPONSE]


def requests(records: Sequence[Record]) -> list[dict[str, Any] | None]:
    """List the payload of the request of each turn, None where it has none (agentlog §6)."""
    found = []
    nearest = None
    for record in records:
        if record["kind"] == REQUEST:
            nearest = members(record.get("payload"))
        elif record["kind"] == RESPONSE:
            found.append(nearest)
            nearest = None
    return found


def sessions(records: Sequence[Record], split: str | None = None) -> list[list[Record]]:
    """Cut a trace before each metadata record, or also a single session by requests (agentlog §6)."""
    found: list[list[Record]] = []
    for record in records:
        if record["kind"] == METADATA or not found:
            found.append([])
        found[-1].append(record)
    if split == "requests" and len(found) == 1:
        return by_requests(found[0])
    return found


def by_requests(session: Sequence[Record]) -> list[list[Record]]:
    """Cut one session before each request that starts another (agentlog §6)."""
    found: list[list[Record]] = [[]]
    terminal = True
    for record in session:
        if record["kind"] == REQUEST:
            begun = any(above["kind"] in (REQUEST, RESPONSE) for above in found[-1])
            if begun and (terminal or asked_by_user(record)):
                found.append([])
            terminal = False
        elif record["kind"] == RESPONSE:
            terminal = members(record.get("payload")).get("stop_reason") != "tool_use"
        found[-1].append(record)
    return found


def asked_by_user(request: Record) -> bool:
    """Tell whether the last message that is not `system` is the user's, or is missing (agentlog §6)."""
    messages = members(request.get("payload")).get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") != "system":
            return bool(message.get("role") == "user")
    return True


def session_id(session: Sequence[Record]) -> str:
    """Give the id of the first record; `""` for a padding session (agentlog §6)."""
    return record_id(session[0]) if session else ""


def trace_id(records: Sequence[Record]) -> str:
    """Give the first `meta.trace_id`, else the id of the first record, else `""` (agentlog §6)."""
    for record in records:
        named = members(record.get("meta")).get("trace_id")
        if isinstance(named, str):
            return named
    return session_id(records)


def record_id(record: Record) -> str:
    """Give the id of a record, which one in memory may lack (agentlog §5)."""
    found = record.get("id")
    return found if isinstance(found, str) else ""


# Tool calls (agentlog §7)


def tool_calls(records: Sequence[Record]) -> list[tuple[int, str]]:
    """List the tool calls of a trace: turn and name, in file order (agentlog §7)."""
    return [(turn, name) for _, turn, name in placed_tool_calls(records)]


def placed_tool_calls(records: Sequence[Record]) -> list[tuple[int, int, str]]:
    """List the tool calls of a trace: place of the record, turn and name, in file order (agentlog §7)."""
    found = []
    seen: set[str] = set()
    responses = 0
    for place, record in enumerate(records):
        payload = members(record.get("payload"))
        if record["kind"] == RESPONSE:
            for block in blocks(payload):
                if block.get("type") == "tool_use":
                    found.append((place, responses, name_of(block.get("name"))))
                    if isinstance(block.get("id"), str):
                        seen.add(block["id"])
            responses += 1
        elif record["kind"] == TOOL_CALL:
            call_id = payload.get("tool_call_id")
            known = isinstance(call_id, str) and call_id != "" and call_id in seen
            if not known:
                found.append((place, max(responses - 1, 0), name_of(payload.get("tool_name"))))
                if isinstance(call_id, str):
                    seen.add(call_id)
    return found


def name_of(name: Any) -> str:
    """Give the name of a tool; `""` if it is not a string (agentlog §7)."""
    return name if isinstance(name, str) else ""
