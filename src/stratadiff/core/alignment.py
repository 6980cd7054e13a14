"""Needleman–Wunsch over lists of JSON objects, with the costs of the span level *(levels §4.1)*."""

from __future__ import annotations

from stratadiff._kernels import align, value_ids
from stratadiff.errors import LimitError
from stratadiff.limits import MAX_BLOCK_CELLS, MAX_VALUE_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Steps: TypeAlias = list[tuple[int | None, int | None]]

SHORT = 5
"""Up to so many blocks a side, blocks are aligned by position."""


def align_blocks(baseline: Sequence[dict[str, Any]], candidate: Sequence[dict[str, Any]]) -> Steps:
    """Align two lists of content blocks.

    Parameters
    ----------
    baseline, candidate : sequence of dict
        JSON objects. Two are comparable if their ``type`` is JSON-equal and, of ``tool_use`` blocks, their
        ``name`` too.

    Returns
    -------
    list of (int or None, int or None)
        Steps in forward order: a block of each side, or None where the side has none.

    Raises
    ------
    LimitError
        More than ``limits.MAX_BLOCK_CELLS`` cells, or a value nested too deep.

    Notes
    -----
    Up to 5 blocks a side by position: what is left of the baseline, then of the candidate, stands alone.
    Else the cheapest alignment with gap cost 1.0 and pair costs 0.0 (equal), 0.5 (comparable), 2.5: O(nm)
    time after equal blocks at the end.
    """
    n, m = len(baseline), len(candidate)
    if n <= SHORT and m <= SHORT:
        common = min(n, m)
        steps: Steps = [(k, k) for k in range(common)]
        steps += [(k, None) for k in range(common, n)]
        steps += [(None, k) for k in range(common, m)]
        return steps
    ids = _ids([*baseline, *candidate])
    kinds = _ids([_kind(block) for block in baseline] + [_kind(block) for block in candidate])
    try:
        flat = align.blocks(ids[:n], ids[n:], kinds[:n], kinds[n:], MAX_BLOCK_CELLS)
    except OverflowError:
        raise LimitError(
            f"{n:,} against {m:,} content blocks in one turn are more than can be aligned "
            f"({MAX_BLOCK_CELLS:,} cells); leave the level span out with --only"
        ) from None
    return [
        (i if i >= 0 else None, j if j >= 0 else None) for i, j in zip(flat[::2], flat[1::2], strict=True)
    ]


def _kind(block: dict[str, Any]) -> Any:
    kind = block.get("type")
    # Of different lengths, so that no other type is mistaken for a tool's.
    return (kind, block.get("name")) if kind == "tool_use" else (kind,)


def _ids(values: list[Any]) -> array[int]:
    try:
        return value_ids.intern(values)
    except ValueError:
        raise LimitError(f"a content block is nested deeper than {MAX_VALUE_DEPTH} levels") from None
