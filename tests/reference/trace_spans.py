"""Differences between the blocks of two responses, by their definition (levels §4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference import agentlog

Block = dict[str, Any]
Change = dict[str, Any]
Pairs = list[tuple[int | None, int | None]]

GREEDY = 5
SHOWN = 60

GAP = 1.0
SAME, COMPARABLE, OTHER = 0.0, 0.5, 2.5


# Similarity (levels §4.3)


def shingles(text: str, k: int) -> set[str]:
    """List all substrings of k code points, or the whole of a shorter text (levels §4.3)."""
    if 0 < len(text) < k:
        return {text}
    return {text[at : at + k] for at in range(len(text) - k + 1)}


def jaccard(a: str, b: str, k: int = 3) -> float:
    """Divide common by all shingles of two texts; 1 if there are none (levels §4.3)."""
    left, right = shingles(a, k), shingles(b, k)
    return len(left & right) / len(left | right) if left | right else 1.0


# Alignment (levels §4.1)


def comparable(b: Block, c: Block) -> bool:
    """Tell whether two blocks may be paired in long turns (levels §4.1)."""
    if not agentlog.json_equal(b.get("type"), c.get("type")):
        return False
    return b.get("type") != "tool_use" or agentlog.json_equal(b.get("name"), c.get("name"))


def pair_cost(b: Block, c: Block) -> float:
    """Give the cost of pairing two blocks (levels §4.1)."""
    if agentlog.json_equal(b, c):
        return SAME
    return COMPARABLE if comparable(b, c) else OTHER


def by_index(nb: int, nc: int) -> Pairs:
    """Pair by index, then the leftover blocks of the baseline, then those of the candidate (levels §4.1)."""
    common = min(nb, nc)
    pairs: Pairs = [(i, i) for i in range(common)]
    pairs += [(i, None) for i in range(common, nb)]
    pairs += [(None, j) for j in range(common, nc)]
    return pairs


def by_cost(baseline: Sequence[Block], candidate: Sequence[Block]) -> Pairs:
    """Pair by Needleman-Wunsch (levels §4.1)."""
    nb, nc = len(baseline), len(candidate)
    cost = [[0.0] * (nc + 1) for _ in range(nb + 1)]
    step = [[""] * (nc + 1) for _ in range(nb + 1)]
    for i in range(1, nb + 1):
        cost[i][0], step[i][0] = i * GAP, "removed"
    for j in range(1, nc + 1):
        cost[0][j], step[0][j] = j * GAP, "added"
    for i in range(1, nb + 1):
        for j in range(1, nc + 1):
            a = cost[i - 1][j - 1] + pair_cost(baseline[i - 1], candidate[j - 1])
            x = cost[i][j - 1] + GAP
            y = cost[i - 1][j] + GAP
            best = min(a, x, y)
            cost[i][j] = best
            step[i][j] = "pair" if best == a else "added" if best == x else "removed"
    backward: Pairs = []
    i, j = nb, nc
    while i > 0 or j > 0:
        if step[i][j] == "pair":
            i, j = i - 1, j - 1
            backward.append((i, j))
        elif step[i][j] == "added":
            j -= 1
            backward.append((None, j))
        else:
            i -= 1
            backward.append((i, None))
    return backward[::-1]


def align(baseline: Sequence[Block], candidate: Sequence[Block]) -> Pairs:
    """Pair the blocks of two responses; None is the missing side (levels §4.1)."""
    if len(baseline) <= GREEDY and len(candidate) <= GREEDY:
        return by_index(len(baseline), len(candidate))
    return by_cost(baseline, candidate)


# Changes


def change(kind: str, index: int, baseline: Any, candidate: Any, summary: str) -> Change:
    """Write one change (levels §4)."""
    return {
        "kind": kind,
        "block_index": index,
        "baseline": baseline,
        "candidate": candidate,
        "summary": summary,
    }


def text_of(block: Block) -> str:
    """Give the text of a text block; `""` if it is not a string (agentlog §3)."""
    text = block.get("text")
    return text if isinstance(text, str) else ""


def beginning(text: str) -> str:
    """Cut a long text, and say so (levels §4.2)."""
    return text[:SHOWN] + ("…" if len(text) > SHOWN else "")


def one_sided(block: Block, what: str) -> tuple[str, str]:
    """Give kind and summary of an added or removed block (levels §4.4)."""
    kind = block.get("type")
    if kind == "tool_use":
        return f"tool_use_{what}", f"tool_use `{block.get('name', '?')}` {what}"
    if kind == "tool_result":
        return f"tool_result_{what}", f"tool_result for {block.get('tool_use_id', '?')} {what}"
    if kind == "text":
        return f"text_block_{what}", f"text block {what}: {text_of(block)[:SHOWN]!r}"
    return f"block_{what}", f"{kind} block {what}"


def removed(index: int, block: Block) -> Change:
    """Write a removed block (levels §4.4)."""
    kind, summary = one_sided(block, "removed")
    return change(kind, index, block, None, summary)


def added(index: int, block: Block) -> Change:
    """Write an added block (levels §4.4)."""
    kind, summary = one_sided(block, "added")
    return change(kind, index, None, block, summary)


def argument_changes(b: Block, c: Block) -> list[str]:
    """Describe the differing arguments of a tool (levels §4.2)."""
    old = {} if b.get("input") is None else b["input"]
    new = {} if c.get("input") is None else c["input"]
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [] if agentlog.json_equal(old, new) else ["input (non-dict) differs"]
    return (
        [f"arg removed `{key}`" for key in sorted(old.keys() - new.keys())]
        + [f"arg added `{key}`" for key in sorted(new.keys() - old.keys())]
        + [
            f"arg `{key}` value changed"
            for key in sorted(old.keys() & new.keys())
            if not agentlog.json_equal(old[key], new[key])
        ]
    )


def pair_changes(index: int, b: Block, c: Block) -> list[Change]:
    """Describe the changes of one pair of blocks (levels §4.2)."""
    kind = b.get("type")
    if not agentlog.json_equal(kind, c.get("type")):
        return [change("block_type_changed", index, b, c, f"block type: {kind!r} → {c.get('type')!r}")]
    if kind == "text":
        return text_changes(index, b, c)
    if kind == "tool_use":
        return tool_changes(index, b, c)
    if kind == "tool_result":
        return result_changes(index, b, c)
    if agentlog.json_equal(b, c):
        return []
    return [change("unknown_block_changed", index, b, c, f"content block of type {kind!r} differs")]


def text_changes(index: int, b: Block, c: Block) -> list[Change]:
    """Compare two text blocks (levels §4.2)."""
    old, new = text_of(b), text_of(c)
    if old == new:
        return []
    summary = (
        f"text block: similarity {jaccard(old, new):.2f}  "
        f"baseline={beginning(old)!r}  candidate={beginning(new)!r}"
    )
    return [change("text_block_changed", index, b, c, summary)]


def tool_changes(index: int, b: Block, c: Block) -> list[Change]:
    """Compare two tool calls; another tool is one removed and one added (levels §4.2)."""
    if not agentlog.json_equal(b.get("name"), c.get("name")):
        return [removed(index, b), added(index, c)]
    changes = argument_changes(b, c)
    if not changes:
        return []
    summary = f"tool_use `{b.get('name', '?')}`: {', '.join(changes)}"
    return [change("tool_use_args_changed", index, b, c, summary)]


def result_changes(index: int, b: Block, c: Block) -> list[Change]:
    """Compare two tool results (levels §4.2)."""
    old, new = b.get("is_error", False), c.get("is_error", False)
    if agentlog.json_equal(b.get("content"), c.get("content")) and agentlog.json_equal(old, new):
        return []
    summary = f"tool_result for {b.get('tool_use_id', '?')}: is_error {old} → {new}"
    return [change("tool_result_changed", index, b, c, summary)]


def stop_changes(b: Any, c: Any) -> list[Change]:
    """Compare two stop reasons (levels §4.5)."""
    if agentlog.json_equal(b, c):
        return []
    summary = f"stop_reason: {b!r} -> {c!r}"
    return [change("stop_reason_changed", -1, {"stop_reason": b}, {"stop_reason": c}, summary)]


def span_diff(baseline: Any, candidate: Any) -> list[Change]:
    """List the changes between two responses (levels §4)."""
    left, right = agentlog.blocks(baseline), agentlog.blocks(candidate)
    found: list[Change] = []
    for i, j in align(left, right):
        if i is not None and j is not None:
            found += pair_changes(i, left[i], right[j])
        elif i is not None:
            found.append(removed(i, left[i]))
        elif j is not None:
            found.append(added(j, right[j]))
    b, c = (agentlog.members(payload).get("stop_reason") for payload in (baseline, candidate))
    return found + stop_changes(b, c)
