"""Level span: what changed between two responses, content block by content block *(levels §4)*."""

from __future__ import annotations

from stratadiff._kernels.shingles import jaccard
from stratadiff._kernels.value_ids import equal
from stratadiff.core.alignment import align_blocks
from stratadiff.core.frozen import Struct
from stratadiff.errors import LimitError
from stratadiff.traces.model import blocks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Payload

    Block: TypeAlias = dict[str, Any]

_SHINGLE = 3
_SHOWN = 60


class SpanDiff(Struct):
    """One change between two responses.

    Attributes
    ----------
    kind : str
        ``text_block_changed``, ``tool_use_added``, ``tool_use_removed``, ``tool_use_args_changed``,
        ``tool_result_changed`` and so on *(levels §4)*.
    block_index : int
        Of the baseline's block for pairs and removals, of the candidate's for additions; -1 for the stop
        reason.
    baseline, candidate : dict or None
        The blocks, as they were recorded; None on the side that has none.
    summary : str
        What changed. Holds text of the traces: escape before display.
    """

    __slots__ = ("kind", "block_index", "baseline", "candidate", "summary")  # noqa: RUF023  the members' order
    kind: str
    block_index: int
    baseline: Block | None
    candidate: Block | None
    summary: str

    def __init__(
        self, kind: str, block_index: int, baseline: Block | None, candidate: Block | None, summary: str
    ) -> None:
        self._fill(
            kind=kind, block_index=block_index, baseline=baseline, candidate=candidate, summary=summary
        )


def span_diff(baseline_payload: Payload, candidate_payload: Payload) -> list[SpanDiff]:
    """Compare two responses block by block.

    Parameters
    ----------
    baseline_payload, candidate_payload : dict
        The payloads of two ``chat_response`` records.

    Returns
    -------
    list of SpanDiff
        In the order of the blocks, the stop reason last. Empty if nothing changed.

    Raises
    ------
    LimitError
        The blocks are too many to align, or a value made in memory is nested beyond hundreds of levels.

    Notes
    -----
    Linear up to 5 blocks a side; beyond that the blocks are aligned, which takes the product of their counts.
    """
    try:
        return list(_changes(_object(baseline_payload), _object(candidate_payload)))
    except (ValueError, RecursionError):
        # Only values made in memory can be that deep: a file's depth is bounded by its reader.
        raise LimitError("a response has a value nested too deeply to compare") from None


def _object(value: Any) -> Payload:
    return value if isinstance(value, dict) else {}


def _changes(baseline: Payload, candidate: Payload) -> Iterator[SpanDiff]:
    old, new = _blocks(baseline), _blocks(candidate)
    if not equal(old, new):  # equal blocks align one to one
        for i, j in align_blocks(old, new):
            if i is not None and j is not None:
                if not equal(old[i], new[j]):
                    yield from _pair(i, old[i], new[j])
            elif i is not None:
                yield _removed(i, old[i])
            elif j is not None:
                yield _added(j, new[j])
    before, after = baseline.get("stop_reason"), candidate.get("stop_reason")
    if not equal(before, after):
        yield SpanDiff(
            "stop_reason_changed",
            -1,
            {"stop_reason": before},
            {"stop_reason": after},
            f"stop_reason: {before!r} -> {after!r}",
        )


def _blocks(payload: Payload) -> list[Block]:
    """Return the blocks of a response; an entry that is no object is an empty one."""
    return [_object(block) for block in blocks_of(payload)]


# Two blocks at one place.


def _pair(index: int, old: Block, new: Block) -> Iterator[SpanDiff]:
    kind = old.get("type")
    if not equal(kind, new.get("type")):
        summary = f"block type: {kind!r} → {new.get('type')!r}"
        yield SpanDiff("block_type_changed", index, old, new, summary)
    elif kind == "tool_use" and not equal(old.get("name"), new.get("name")):
        yield _removed(index, old)
        yield _added(index, new)
    else:
        change = _COMPARE.get(kind, _other) if isinstance(kind, str) else _other
        found = change(old, new)
        if found is not None:
            yield SpanDiff(found[0], index, old, new, found[1])


def _text(old: Block, new: Block) -> tuple[str, str] | None:
    before, after = _text_of(old), _text_of(new)
    if before == after:
        return None
    similarity = jaccard(before, after, _SHINGLE)
    return (
        "text_block_changed",
        f"text block: similarity {similarity:.2f}  "
        f"baseline={_beginning(before)!r}  candidate={_beginning(after)!r}",
    )


def _tool_use(old: Block, new: Block) -> tuple[str, str] | None:
    changes = ", ".join(_argument_changes(old.get("input"), new.get("input")))
    return ("tool_use_args_changed", f"tool_use `{_name(old, 'name')}`: {changes}") if changes else None


def _argument_changes(old: Any, new: Any) -> Iterator[str]:
    old = {} if old is None else old
    new = {} if new is None else new
    if not isinstance(old, dict) or not isinstance(new, dict):
        if not equal(old, new):
            yield "input (non-dict) differs"
        return
    yield from (f"arg removed `{key}`" for key in sorted(old.keys() - new.keys()))
    yield from (f"arg added `{key}`" for key in sorted(new.keys() - old.keys()))
    for key in sorted(old.keys() & new.keys()):
        if not equal(old[key], new[key]):
            yield f"arg `{key}` value changed"


def _tool_result(old: Block, new: Block) -> tuple[str, str] | None:
    before, after = old.get("is_error", False), new.get("is_error", False)
    if equal(before, after) and equal(old.get("content"), new.get("content")):
        return None
    shown = f"tool_result for {_name(old, 'tool_use_id')}: is_error {before} → {after}"
    return "tool_result_changed", shown


def _other(old: Block, new: Block) -> tuple[str, str] | None:
    return "unknown_block_changed", f"content block of type {old.get('type')!r} differs"


_COMPARE = {"text": _text, "tool_use": _tool_use, "tool_result": _tool_result}


# A block on one side only.


def _added(index: int, block: Block) -> SpanDiff:
    kind, summary = _alone(block, "added")
    return SpanDiff(kind, index, None, block, summary)


def _removed(index: int, block: Block) -> SpanDiff:
    kind, summary = _alone(block, "removed")
    return SpanDiff(kind, index, block, None, summary)


def _alone(block: Block, what: str) -> tuple[str, str]:
    kind = block.get("type")
    if kind == "tool_use":
        return f"tool_use_{what}", f"tool_use `{_name(block, 'name')}` {what}"
    if kind == "tool_result":
        return f"tool_result_{what}", f"tool_result for {_name(block, 'tool_use_id')} {what}"
    if kind == "text":
        return f"text_block_{what}", f"text block {what}: {_text_of(block)[:_SHOWN]!r}"
    return f"block_{what}", f"{kind} block {what}"


# Parts of a block.


def _text_of(block: Block) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _beginning(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _name(block: Block, member: str) -> str:
    return str(block.get(member, "?"))
