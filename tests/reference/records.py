"""Small trace records, written as they are needed in a test (agentlog §2, §3)."""

from __future__ import annotations

from typing import Any


def record(kind: str, payload: Any = None, **more: Any) -> dict[str, Any]:
    """Write a record as one in memory may be: no id, no time."""
    return {"kind": kind, "payload": {} if payload is None else payload, **more}


def response(*content: Any, **more: Any) -> dict[str, Any]:
    """Write a response with these blocks."""
    return record("chat_response", {"content": list(content), **more})


def tool_use(name: Any, call_id: Any = None, **more: Any) -> dict[str, Any]:
    """Write a tool call."""
    return {"type": "tool_use", "name": name, "id": call_id, **more}


def said(text: str) -> dict[str, Any]:
    """Write a text block."""
    return {"type": "text", "text": text}
