"""The whole comparison of two traces, level by level, as the JSON output holds it (levels §1.8, §2, §7)."""

from __future__ import annotations

from typing import Any

from reference import agentlog, trace_axes, trace_policy, trace_spans, trace_tokens, trace_turns

Records = list[dict[str, Any]]

LEVELS = ("trace", "session", "turn", "span", "token", "policy")

# Without options: trace and turn (levels §7).
DEFAULTS: dict[str, Any] = {
    "levels": ("trace", "turn"),
    "seed": 42,
    "pricing": {},
    "rules": None,
    "align": False,
    "refusals": trace_axes.CONTRACT,
    "semantic_text_only": False,
    "judge": None,
    "split": None,
    "top_k_pairs": 10,
    "drill_down_rows": 5,
}

# A row's severity, and the rank of a policy regression (levels §7).
RANKS = {"info": "minor", "warning": "moderate", "error": "severe", "critical": "severe"}


def pairing(baseline: list[Any], candidate: list[Any], path: str | None) -> list[tuple[int, int]]:
    """Pair turns by their place, or along a path (agentlog §6, levels §9, 1)."""
    if path is not None:
        return trace_turns.pairs_along(path)
    return [(i, i) for i in range(min(len(baseline), len(candidate)))]


def report(baseline: Records, candidate: Records, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Give the report of two traces, or of two sessions (levels §1.8)."""
    chosen = DEFAULTS | (options or {})
    left, right = agentlog.turns(baseline), agentlog.turns(candidate)
    path = trace_turns.path(left, right)
    turns = pairing(left, right, path if chosen["align"] else None)
    pairs = [(left[i], right[j]) for i, j in turns]
    pricing, refusals, text_only = chosen["pricing"], chosen["refusals"], chosen["semantic_text_only"]
    first, top = trace_turns.divergences(left, right, path)
    return {
        "rows": trace_axes.rows(pairs, chosen["seed"], pricing, refusals, text_only, chosen["judge"]),
        "baseline_trace_id": agentlog.trace_id(baseline),
        "candidate_trace_id": agentlog.trace_id(candidate),
        "pair_count": len(pairs),
        "first_divergence": first,
        "divergences": top,
        "drill_down": trace_turns.drill_down(
            [(i, j, left[i], right[j]) for i, j in turns], pricing, chosen["drill_down_rows"], refusals
        ),
        "extras": {
            "unpaired": {"baseline": len(left) - len(pairs), "candidate": len(right) - len(pairs)},
            "changed": trace_axes.changed(pairs, pricing, refusals, text_only),
            "text_pairs": trace_axes.text_pairs(pairs),
        },
    }


def sessions(
    baseline: Records, candidate: Records, options: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Give a report for each pair of sessions, the shorter list padded (levels §2)."""
    chosen = DEFAULTS | (options or {}) | {"judge": None}
    left = agentlog.sessions(baseline, chosen["split"])
    right = agentlog.sessions(candidate, chosen["split"])
    found = []
    for index in range(max(len(left), len(right))):
        b = left[index] if index < len(left) else []
        c = right[index] if index < len(right) else []
        one = report(b, c, chosen)
        found.append(
            {
                "session_index": index,
                "baseline_session_id": agentlog.session_id(b),
                "candidate_session_id": agentlog.session_id(c),
                "pair_count": one["pair_count"],
                "worst_severity": trace_axes.worst(one["rows"]),
                "report": one,
            }
        )
    return found


def spans(
    baseline: Records, candidate: Records, options: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Give the changes of every changed pair (levels §4, §7)."""
    chosen = DEFAULTS | (options or {})
    left, right = agentlog.turns(baseline), agentlog.turns(candidate)
    path = trace_turns.path(left, right) if chosen["align"] else None
    found = []
    for index, (i, j) in enumerate(pairing(left, right, path)):
        changes = trace_spans.span_diff(left[i], right[j])
        if changes:
            found.append({"pair_index": index, "changes": changes})
    return found


def document(baseline: Records, candidate: Records, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Give the object of ``--output-json`` for the levels asked for (levels §7)."""
    chosen = DEFAULTS | (options or {})
    levels = chosen["levels"]
    whole = report(baseline, candidate, chosen)
    path = None
    if chosen["align"]:
        path = trace_turns.path(agentlog.turns(baseline), agentlog.turns(candidate))
    found = {}
    if "trace" in levels:
        found["rows"] = whole["rows"]
    for member in ("baseline_trace_id", "candidate_trace_id", "pair_count"):
        found[member] = whole[member]
    if "turn" in levels:
        for member in ("first_divergence", "divergences", "drill_down"):
            found[member] = whole[member]
    found["extras"] = whole["extras"] if "trace" in levels else {"unpaired": whole["extras"]["unpaired"]}
    if "session" in levels:
        found["sessions"] = sessions(baseline, candidate, chosen)
    if "token" in levels:
        pairs = None if path is None else trace_turns.pairs_along(path)
        found["token_diff"] = trace_tokens.token_diff(baseline, candidate, chosen["top_k_pairs"], pairs)
    if "policy" in levels:
        found["policy_diff"] = trace_policy.policy_diff(
            baseline, candidate, chosen["rules"], path, chosen["split"]
        )
    if "span" in levels:
        found["spans"] = spans(baseline, candidate, chosen)
    return found


def fails(found: dict[str, Any], threshold: str) -> bool:
    """Tell whether ``--fail-on`` is met by a row or by a policy regression (levels §7)."""
    if threshold == "never":
        return False
    regressions = found.get("policy_diff", {}).get("regressions", [])
    reached = [row["severity"] for row in found.get("rows", [])]
    reached += [RANKS[violation["severity"]] for violation in regressions]
    order = trace_axes.SEVERITIES.index
    return any(order(severity) >= order(threshold) for severity in reached)
