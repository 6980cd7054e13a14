"""Records of small traces, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]


def response(*blocks: Any, stop: Any = "end_turn", **payload: Any) -> Record:
    """Make a response; a string stands for a text block."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"kind": "chat_response", "payload": {"content": content, "stop_reason": stop, **payload}}


def use(name: Any, call_id: Any = "", **arguments: Any) -> dict[str, Any]:
    """Make a ``tool_use`` block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def call(name: Any, call_id: Any = "") -> Record:
    """Make a stand-alone ``tool_call`` record."""
    return {"kind": "tool_call", "payload": {"tool_name": name, "tool_call_id": call_id, "arguments": {}}}


def request(**payload: Any) -> Record:
    """Make a request."""
    return {"kind": "chat_request", "payload": payload}


def session(*records: Iterable[Record] | Record) -> list[Record]:
    """Make a session: a metadata record and what is given."""
    made: list[Record] = [{"kind": "metadata", "payload": {}}]
    for record in records:
        made += [record] if isinstance(record, dict) else record
    return made
