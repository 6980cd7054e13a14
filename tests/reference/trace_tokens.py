"""Token counts of two traces, by their definition (levels §5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reference import agentlog

Records = Sequence[dict[str, Any]]
Counts = tuple[int, int, int]

DIMENSIONS = ("input_tokens", "output_tokens", "thinking_tokens")
WORST = 10
SHOWN = 5

EMPTY = {"median": 0.0, "p25": 0.0, "p75": 0.0, "p95": 0.0, "maximum": 0, "total": 0}


def count(value: Any) -> int:
    """Truncate a number toward zero; anything that is not a finite number is 0 (levels §5)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    try:
        return int(value) if math.isfinite(value) else 0
    except OverflowError:  # an integer beyond the double range, which no file can hold
        return 0


def counts(payload: Any) -> Counts:
    """Give the input, output and thinking tokens of a response (levels §5)."""
    usage = agentlog.members(agentlog.members(payload).get("usage"))
    spent, written, thought = (count(usage.get(dimension)) for dimension in DIMENSIONS)
    return spent, written, thought


def percentile(ordered: Sequence[int], p: float) -> float:
    """Give percentile p, from 0 to 1, of sorted values (levels §5)."""
    if len(ordered) == 1:
        return float(ordered[0])
    x = (len(ordered) - 1) * p
    low = int(x)
    high = min(low + 1, len(ordered) - 1)
    f = x - low
    return float(ordered[low]) * (1 - f) + float(ordered[high]) * f


def summary(values: Sequence[int]) -> dict[str, Any]:
    """Summarise one dimension of one side (levels §5)."""
    if not values:
        return dict(EMPTY)
    ordered = sorted(values)
    return {
        "median": percentile(ordered, 0.5),
        "p25": percentile(ordered, 0.25),
        "p75": percentile(ordered, 0.75),
        "p95": percentile(ordered, 0.95),
        "maximum": ordered[-1],
        "total": sum(ordered),
    }


def shift(baseline: float, candidate: float) -> float | str:
    """Give the shift of a median; infinity is the string ``+inf`` of the JSON form (levels §5, §7)."""
    if baseline == 0:
        return "+inf" if candidate > 0 else 0.0
    found = (candidate - baseline) / baseline
    return found if math.isfinite(found) else f"{found:+}"


def named(values: Counts) -> dict[str, int]:
    """Write three counts by their dimensions (levels §5)."""
    return dict(zip(DIMENSIONS, values, strict=True))


def pair_delta(pair_index: int, baseline: Counts, candidate: Counts) -> dict[str, Any]:
    """Write the counts of one pair (levels §5)."""
    b, c = named(baseline), named(candidate)
    return {
        "pair_index": pair_index,
        "baseline": b,
        "candidate": c,
        "delta": {dimension: c[dimension] - b[dimension] for dimension in DIMENSIONS},
    }


def token_diff(
    baseline: Records,
    candidate: Records,
    top_k: int = WORST,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> dict[str, Any]:
    """Compare the token counts of two traces; pairs are by place unless given (levels §5, §9 1)."""
    left = [counts(payload) for payload in agentlog.turns(baseline)]
    right = [counts(payload) for payload in agentlog.turns(candidate)]
    if pairs is None:
        pairs = [(i, i) for i in range(min(len(left), len(right)))]
    b = {name: summary([values[at] for values in left]) for at, name in enumerate(DIMENSIONS)}
    c = {name: summary([values[at] for values in right]) for at, name in enumerate(DIMENSIONS)}
    deltas = [pair_delta(index, left[i], right[j]) for index, (i, j) in enumerate(pairs)]
    worst = sorted(deltas, key=lambda pair: -sum(abs(delta) for delta in pair["delta"].values()))
    return {
        "dimensions": list(DIMENSIONS),
        "baseline": b,
        "candidate": c,
        "pair_count": len(pairs),
        "normalised_shift": {name: shift(b[name]["median"], c[name]["median"]) for name in DIMENSIONS},
        "worst_pairs": worst[: max(top_k, 0)],
    }


def dimension_line(diff: dict[str, Any], dimension: str) -> str:
    """Write the line of one dimension (levels §5)."""
    sides = []
    for side in ("baseline", "candidate"):
        found = diff[side][dimension]
        sides.append(f"{side} median {found['median']:5.1f}  p95 {found['p95']:5.1f}")
    moved = diff["normalised_shift"][dimension]
    shown = moved if isinstance(moved, str) else f"{moved:+.2%}"
    return f"  {dimension:<19}{sides[0]}  →  {sides[1]}  shift {shown}"


def pair_line(pair: dict[str, Any]) -> str:
    """Write the line of one pair (levels §5)."""
    spent, written, thought = (pair["delta"][dimension] for dimension in DIMENSIONS)
    return f"    · turn #{pair['pair_index']}: input {spent:+d}, output {written:+d}, thinking {thought:+d}"


def text(diff: dict[str, Any]) -> str:
    """Write the tokens part (levels §5)."""
    if diff["pair_count"] == 0:
        return "token-level diff: no paired chat_response records"
    lines = [f"Token-level diff, {diff['pair_count']} pair(s):"]
    lines += [dimension_line(diff, dimension) for dimension in diff["dimensions"]]
    shown = diff["worst_pairs"][:SHOWN]
    if shown:
        lines += ["  worst pairs (by absolute token delta):", *map(pair_line, shown)]
    return "\n".join(lines)
