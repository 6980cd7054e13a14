"""Which texts are JSON, fences of Markdown around them left out *(levels §1.5, §3.1)*.

The trace level and the turn level take fences off in different ways.
"""

from __future__ import annotations

from stratadiff._kernels import trace_scan
from stratadiff.limits import MAX_TRACE_DEPTH
from stratadiff.traces.similarity import WHITE_SPACE

_FENCE = "```"
_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def is_json(text: str) -> bool:
    """Tell whether a text is one JSON value.

    RFC 8259: no NaN or Infinity, no number beyond the double range, no half surrogate pair; nested to at most
    ``limits.MAX_TRACE_DEPTH`` levels.
    """
    # A surrogate that stands by itself, which only records in memory can hold, is no UTF-8 and so no JSON.
    return trace_scan.is_json(text.encode("utf-8", "surrogatepass"), MAX_TRACE_DEPTH)


def unfenced(text: str) -> str:
    """Return U of a text: without the white space and the fence around it *(levels §1.5)*."""
    text = text.strip(WHITE_SPACE)
    if not text.startswith(_FENCE):
        return text
    feed = text.find("\n")
    text = text[feed + 1 :] if feed >= 0 else text[3:].lstrip(_WORD)
    return text.rstrip(WHITE_SPACE).removesuffix(_FENCE).strip(WHITE_SPACE)


def means_json(text: str) -> bool:
    """Tell whether a text without its fence is meant to be JSON: an object or an array."""
    return text.startswith(("{", "["))


def holds_json(text: str) -> bool:
    """Tell whether the whole of a text is JSON, as the turn level sees it *(levels §3.1)*."""
    text = text.strip(WHITE_SPACE)
    if text.startswith(_FENCE):
        text = text[7:] if text.startswith(_FENCE + "json") else text[3:]
    text = text.strip(WHITE_SPACE)
    ticks = len(text) - len(text.rstrip("`"))
    if ticks:  # whole groups of three go
        text = text[: len(text) - ticks // 3 * 3]
    return is_json(text.strip(WHITE_SPACE))
