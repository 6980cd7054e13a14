"""Drill-down, alignment of turns and divergences, by their definition (levels §3)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from reference import agentlog, trace_axes, trace_spans
from reference.agentlog import members
from reference.trace_axes import CONTRACT, REFUSALS, STRICT, WHITE_SPACE, Payload, count, number

Pricing = dict[str, dict[str, float]]

SCORED = tuple(axis for axis in trace_axes.AXES if axis != "judge")
# What a delta is divided by before it is added up; 1 leaves it.
SCALES = {
    "semantic": 0.5,
    "trajectory": 0.5,
    "safety": 1.0,
    "verbosity": 100.0,
    "latency": 1000.0,
    "cost": 0.01,
    "reasoning": 100.0,
    "conformance": 1.0,
}

INF = 1e18
OPEN = 0.60
EXTEND = 0.15
QUIET = 0.12

STRUCTURAL = "structural_drift"
DECISION = "decision_drift"
STYLE = "style_drift"
KINDS = (STRUCTURAL, DECISION, STYLE)


# Drill-down (levels §3.1)


def call_token(block: dict[str, Any]) -> str:
    """Write a tool call as ``NAME(KEYS)`` (levels §3.1)."""
    return trace_axes.tool_key(block) + ")"


def call_tokens(payload: Payload) -> list[str]:
    """List the tokens of the tool calls of a response, in order (levels §3.1)."""
    return [call_token(block) for block in trace_axes.blocks_of_type(payload, "tool_use")]


def jaccard(a: set[str], b: set[str]) -> float:
    """Divide common by union; 1 if both are empty (levels §3.2, §4.3)."""
    return len(a & b) / len(a | b) if a or b else 1.0


def refuses(payload: Payload, refusals: str = CONTRACT) -> bool:
    """Tell whether a response refuses, at the turn level (levels §3.1)."""
    if refusals == STRICT:
        return trace_axes.refuses_strictly(payload, "\n")
    text = "\n".join(agentlog.texts(payload)).lower()
    return members(payload).get("stop_reason") in ("content_filter", "refusal") or any(
        phrase in text for phrase in REFUSALS
    )


def holds_json(payload: Payload) -> bool:
    """Tell whether the whole text, without fences, is JSON (levels §3.1)."""
    text = "\n".join(agentlog.texts(payload)).strip(WHITE_SPACE)
    if not text:
        return False
    if text.startswith("```json"):
        text = text[7:]
    elif text.startswith("```"):
        text = text[3:]
    text = text.strip(WHITE_SPACE)
    while text.endswith("```"):
        text = text[:-3]
    return trace_axes.is_json(text.strip(WHITE_SPACE))


def side_values(payload: Payload, pricing: Pricing, refusals: str = CONTRACT) -> dict[str, float]:
    """Give what one response alone has on the axes but the first two (levels §3.1)."""
    priced = trace_axes.cost(payload, pricing)
    return {
        "safety": float(refuses(payload, refusals)),
        "verbosity": count(payload, "output_tokens") or 0.0,
        "latency": number(members(payload).get("latency_ms")) or 0.0,
        "cost": priced[0] if priced else 0.0,
        "reasoning": count(payload, "thinking_tokens") or 0.0,
        "conformance": float(holds_json(payload)),
    }


def joined_shingles(payload: Payload) -> set[str]:
    """Give the 4-shingles of the texts of a response, joined by a line feed (levels §3.1)."""
    return set(trace_spans.shingles("\n".join(agentlog.texts(payload)), 4))


def axis_scores(
    baseline: Payload, candidate: Payload, pricing: Pricing, refusals: str = CONTRACT
) -> list[dict[str, Any]]:
    """Score a pair on the eight axes (levels §3.1)."""
    b = {"semantic": 1.0, "trajectory": 0.0} | side_values(baseline, pricing, refusals)
    c = {
        "semantic": jaccard(joined_shingles(baseline), joined_shingles(candidate)),
        "trajectory": trace_axes.normalised_distance(call_tokens(baseline), call_tokens(candidate)),
    } | side_values(candidate, pricing, refusals)
    return [
        {
            "axis": axis,
            "baseline_value": b[axis],
            "candidate_value": c[axis],
            "delta": c[axis] - b[axis],
            "normalized_delta": min(abs((c[axis] - b[axis]) / SCALES[axis]), 4.0),
        }
        for axis in SCORED
    ]


def drill_down(
    pairs: Sequence[tuple[int, int, Payload, Payload]],
    pricing: Pricing | None = None,
    k: int = 5,
    refusals: str = CONTRACT,
) -> list[dict[str, Any]]:
    """Give the k worst of pairs ``(turn, turn, payload, payload)``; k = 0 gives all (levels §3.1)."""
    found = []
    for index, (i, j, baseline, candidate) in enumerate(pairs):
        scores = axis_scores(baseline, candidate, pricing or {}, refusals)
        total = 0.0
        dominant = scores[0]
        for score in scores:
            total = total + score["normalized_delta"]
            if score["normalized_delta"] >= dominant["normalized_delta"]:
                dominant = score
        found.append(
            {
                "pair_index": index,
                "baseline_turn": i,
                "candidate_turn": j,
                "axis_scores": scores,
                "regression_score": total,
                "dominant_axis": dominant["axis"],
            }
        )
    found.sort(key=lambda row: (-row["regression_score"], row["pair_index"]))
    return found[:k] if k else found


# Cost of two turns (levels §3.2)


class Turn:
    """What the alignment looks at of one response: S, q, t, g and the first inputs (levels §3.2)."""

    def __init__(self, payload: Payload) -> None:
        calls = trace_axes.blocks_of_type(payload, "tool_use")
        reason = members(payload).get("stop_reason")
        self.tools = {call_token(block) for block in calls}
        self.calls = len(calls)
        self.text = collapsed(" ".join(agentlog.texts(payload)))
        self.shingles = set(trace_spans.shingles(self.text, 4))
        self.stop = reason if isinstance(reason, str) else ""
        self.inputs: dict[str, Any] = {}
        for block in calls:
            name = block.get("name")
            self.inputs.setdefault(name if isinstance(name, str) else "_", block.get("input"))


def collapsed(text: str) -> str:
    """Make each run of White_Space one space and trim the ends (levels §3.2)."""
    return " ".join(filter(None, "".join(" " if char in WHITE_SPACE else char for char in text).split(" ")))


def text_similarity(a: Turn, b: Turn) -> float:
    """Give sim of two turns (levels §3.2)."""
    return 1.0 if a.text == b.text else jaccard(a.shingles, b.shingles)


def argument_difference(a: Turn, b: Turn) -> str | None:
    """Describe the first tool whose first inputs differ (levels §3.2)."""
    for name in sorted(a.inputs.keys() & b.inputs.keys()):
        old, new = a.inputs[name], b.inputs[name]
        if agentlog.json_equal(old, new):
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            for key, value in old.items():
                if key not in new:
                    return f"`{name}({key})`: `{compact(value)}` → `<missing>`"
                if not agentlog.json_equal(value, new[key]):
                    return f"`{name}({key})`: `{compact(value)}` → `{compact(new[key])}`"
        return f"`{name}`: input changed"
    return None


def compact(value: Any) -> str:
    """Write a value as compact JSON (levels §3.2)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cost(a: Turn, b: Turn) -> float:
    """Give the cost of pairing two turns (levels §3.2)."""
    tools = 1.0 - jaccard(a.tools, b.tools)
    counts = 0.0 if a.calls == b.calls else abs(a.calls - b.calls) / max(a.calls, b.calls)
    apart = 1.0 - text_similarity(a, b)
    stops = 1.0 if a.stop != b.stop else 0.0
    arguments = 1.0 if a.tools and a.tools == b.tools and argument_difference(a, b) is not None else 0.0
    return 0.40 * max(tools, counts) + 0.25 * apart + 0.15 * stops + 0.20 * arguments


# Alignment (levels §3.2)


def band_width(nb: int, nc: int) -> int | None:
    """Give w, or None where every cell is computed (levels §3.2)."""
    if max(nb, nc) <= 1000:
        return None
    return abs(nb - nc) + max(100, math.floor(math.sqrt(max(nb, nc))))


def steps(pair_cost: Callable[[int, int], float], nb: int, nc: int) -> str:
    """Align turns by three tables; A is a pair, D a dropped turn, I an inserted one (levels §3.2)."""
    width = band_width(nb, nc)

    def inside(i: int, j: int) -> bool:
        return width is None or abs(i - j) <= width

    m = [[INF] * (nc + 1) for _ in range(nb + 1)]
    x = [[INF] * (nc + 1) for _ in range(nb + 1)]
    y = [[INF] * (nc + 1) for _ in range(nb + 1)]
    step = [[""] * (nc + 1) for _ in range(nb + 1)]
    m[0][0] = 0.0
    for i in range(1, nb + 1):
        if inside(i, 0):
            m[i][0] = y[i][0] = OPEN + (i - 1) * EXTEND
            step[i][0] = "D"
    for j in range(1, nc + 1):
        if inside(0, j):
            m[0][j] = x[0][j] = OPEN + (j - 1) * EXTEND
            step[0][j] = "I"
    for i in range(1, nb + 1):
        for j in range(1, nc + 1):
            if not inside(i, j):
                continue
            m[i][j] = min(m[i - 1][j - 1], x[i - 1][j - 1], y[i - 1][j - 1]) + pair_cost(i - 1, j - 1)
            x[i][j] = min(m[i][j - 1] + OPEN, x[i][j - 1] + EXTEND)
            y[i][j] = min(m[i - 1][j] + OPEN, y[i - 1][j] + EXTEND)
            best = min(m[i][j], x[i][j], y[i][j])
            if abs(best - m[i][j]) < 1e-12:
                step[i][j] = "A"
            elif abs(best - x[i][j]) < 1e-12:
                step[i][j] = "I"
            else:
                step[i][j] = "D"
    found = []
    i, j = nb, nc
    while i > 0 or j > 0:
        found.append(step[i][j])
        if step[i][j] in "AD":
            i -= 1
        if found[-1] in "AI":
            j -= 1
    return "".join(reversed(found))


def path_from_costs(costs: Sequence[Sequence[float]], nb: int, nc: int) -> str:
    """Align by a matrix of costs, ``costs[i][j]`` of baseline turn i and candidate turn j (levels §3.2)."""
    return steps(lambda i, j: costs[i][j], nb, nc)


def path_of(baseline: Sequence[Turn], candidate: Sequence[Turn]) -> str:
    """Align turns (levels §3.2)."""
    return steps(lambda i, j: cost(baseline[i], candidate[j]), len(baseline), len(candidate))


def path(baseline: Sequence[Payload], candidate: Sequence[Payload]) -> str:
    """Align the responses of two traces (levels §3.2)."""
    return path_of([Turn(payload) for payload in baseline], [Turn(payload) for payload in candidate])


def pairs_along(steps_taken: str) -> list[tuple[int, int]]:
    """List the (baseline turn, candidate turn) of the `A` steps (levels §9, 1)."""
    found = []
    i = j = 0
    for step in steps_taken:
        if step == "A":
            found.append((i, j))
        if step in "AD":
            i += 1
        if step in "AI":
            j += 1
    return found


# Divergences (levels §3.2)


def divergence_walk(
    baseline: Sequence[Payload], candidate: Sequence[Payload], taken: str
) -> list[dict[str, Any]]:
    """List every divergence along a path, in its order; none if either side has no turn (levels §3.2)."""
    if not baseline or not candidate:
        return []
    left, right = [Turn(payload) for payload in baseline], [Turn(payload) for payload in candidate]
    found = []
    b = c = 0
    for step in taken:
        if step == "I":
            what = counted(right[c], "an extra ")
            text = f"candidate inserted {what} between baseline turns #{max(b - 1, 0)} and #{b}"
            found.append(entry(b, c, STRUCTURAL, "trajectory", text, 1.0))
            c += 1
        elif step == "D":
            text = f"candidate dropped {counted(left[b], 'a ')} (baseline turn #{b} has no counterpart)"
            found.append(entry(b, c, STRUCTURAL, "trajectory", text, 1.0))
            b += 1
        else:
            price = cost(left[b], right[c])
            if price > QUIET:
                confidence = min(max((price - QUIET) / (1.0 - QUIET), 0.0), 1.0)
                found.append(entry(b, c, *explained(left[b], right[c], price), confidence))
            b, c = b + 1, c + 1
    return found


def entry(b: int, c: int, kind: str, axis: str, text: str, confidence: float) -> dict[str, Any]:
    """Write one divergence (levels §3.2)."""
    return {
        "baseline_turn": b,
        "candidate_turn": c,
        "kind": kind,
        "primary_axis": axis,
        "explanation": text,
        "confidence": confidence,
    }


def counted(turn: Turn, article: str) -> str:
    """Say what turn was inserted or dropped, by the size of S (levels §3.2)."""
    if not turn.tools:
        return f"{article}response turn with no tool calls"
    return f"{article}turn with {len(turn.tools)} tool call{'' if len(turn.tools) == 1 else 's'}"


def explained(a: Turn, b: Turn, price: float) -> tuple[str, str, str]:
    """Give kind, axis and text of two paired turns: the first line of the table that fits (levels §3.2)."""
    removed, added = listed(a.tools - b.tools), listed(b.tools - a.tools)
    if removed and added:
        return STRUCTURAL, "trajectory", f"tool set changed: removed {removed}, added {added}"
    if removed:
        return STRUCTURAL, "trajectory", f"candidate dropped tool call(s): {removed}"
    if added:
        return STRUCTURAL, "trajectory", f"candidate added tool call(s): {added}"
    if a.calls != b.calls:
        what = listed(a.tools) if len(a.tools) == 1 else f"{len(a.tools)} tool(s)"
        tail = "duplicate tool invocation" if b.calls > a.calls else "dropped one or more repeat invocations"
        text = f"candidate called {what} {b.calls} time(s) vs baseline's {a.calls} — {tail}"
        return STRUCTURAL, "trajectory", text
    if a.stop != b.stop:
        return DECISION, "safety", f"stop_reason changed: `{a.stop}` → `{b.stop}`"
    argument = argument_difference(a, b)
    if argument is not None:
        return DECISION, "trajectory", f"tool arg value changed: {argument}"
    alike = text_similarity(a, b)
    if alike >= 0.90 and price <= 0.25:
        return STYLE, "semantic", "cosmetic wording change — tool sequence and semantics preserved"
    return DECISION, "semantic", f"response text diverged (text similarity {alike:.2f}); same tool sequence"


def listed(tools: set[str]) -> str:
    """Write tool tokens in code-point order, each in backticks (levels §3.2)."""
    return ", ".join(f"`{tool}`" for tool in sorted(tools))


def divergences(
    baseline: Sequence[Payload], candidate: Sequence[Payload], taken: str | None = None
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Give the first divergence and the five top ones (levels §3.2)."""
    walked = divergence_walk(baseline, candidate, path(baseline, candidate) if taken is None else taken)
    top = sorted(walked, key=lambda one: (KINDS.index(one["kind"]), -one["confidence"]))
    return (walked[0] if walked else None), top[:5]
