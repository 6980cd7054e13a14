"""The text of a trace comparison: trace, sessions and spans, and all parts together (levels §2, §7)."""

from __future__ import annotations

import unicodedata
from typing import Any

from reference import trace_policy, trace_tokens

MARKS = {"none": "✓", "minor": "·", "moderate": "!", "severe": "✗"}
DECIMALS = {"cost": 6, "verbosity": 1, "latency": 1, "reasoning": 1}


def escape(text: str) -> str:
    """Show control and format characters of a trace's text as escapes (levels §7)."""
    return "".join(map(escape_char, text))


def escape_char(char: str) -> str:
    """Escape one character: Cc, Cf but U+200C and U+200D, and U+2028 and U+2029 (levels §7)."""
    code = ord(char)
    if char in "\u200c\u200d" or not (unicodedata.category(char) in ("Cc", "Cf") or char in "\u2028\u2029"):
        return char
    if code < 0x100:
        return f"\\x{code:02x}"
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def escaped(value: Any) -> Any:
    """Escape every string in a value, so that what is printed from it is safe (levels §7)."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list):
        return [escaped(item) for item in value]
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    return value


def plain(value: float, axis: str) -> str:
    """Write a value with the decimals of its axis, zero without a minus (levels §7)."""
    text = f"{value:.{DECIMALS.get(axis, 3)}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed(value: float, axis: str) -> str:
    """Write a signed value with the decimals of its axis, zero with a plus (levels §7)."""
    text = f"{value:+.{DECIMALS.get(axis, 3)}f}"
    return "+" + text[1:] if float(text) == 0 else text


def table_line(*cells: str) -> str:
    """Set one line of the table of axes (levels §7)."""
    axis, baseline, candidate, delta, interval, severity, n, flags = cells
    line = f"{axis:<12}{baseline:>12}{candidate:>12}{delta:>12}  {interval:<28}{severity:<10}{n:>6}  {flags}"
    return line.rstrip(" ")


def axis_line(row: dict[str, Any]) -> str:
    """Set the line of one row (levels §7)."""
    axis = row["axis"]
    return table_line(
        axis,
        plain(row["baseline_median"], axis),
        plain(row["candidate_median"], axis),
        signed(row["delta"], axis),
        f"[{signed(row['ci95_low'], axis)}, {signed(row['ci95_high'], axis)}]",
        row["severity"],
        str(row["n"]),
        ",".join(row["flags"]),
    )


def trace_text(found: dict[str, Any]) -> str:
    """Write the trace part: head lines, then what there is of the rows and of the turn level (levels §7)."""
    lines = [
        f"Trace diff, {found['pair_count']} response pair(s)",
        f"baseline : {escape(found['baseline_trace_id'])}",
        f"candidate: {escape(found['candidate_trace_id'])}",
    ]
    unpaired = found["extras"]["unpaired"]
    if unpaired["baseline"] or unpaired["candidate"]:
        lines.append(f"unpaired turns: baseline {unpaired['baseline']}, candidate {unpaired['candidate']}")
    if "rows" in found:
        head = ("axis", "baseline", "candidate", "delta", "95% CI", "severity", "n", "flags")
        worst = max((row["severity"] for row in found["rows"]), key=list(MARKS).index)
        lines += ["", table_line(*head), *map(axis_line, found["rows"]), "", f"worst severity: {worst}"]
    if "first_divergence" in found:
        lines += first_divergence_lines(found["first_divergence"]) + worst_turn_lines(found["drill_down"])
    return "\n".join(lines)


def first_divergence_lines(first: dict[str, Any] | None) -> list[str]:
    """Write the first divergence, if there is one, after an empty line (levels §7)."""
    if first is None:
        return []
    what = f"{first['kind']}, {first['primary_axis']}, confidence {first['confidence']:.0%}"
    where = f"baseline turn #{first['baseline_turn']} ↔ candidate turn #{first['candidate_turn']}"
    return ["", f"first divergence: {where} ({what})", f"  {escape(first['explanation'])}"]


def worst_turn_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Write the drill-down rows with a score above 0, if there are any, after an empty line (levels §7)."""
    shown = [row for row in rows if row["regression_score"] > 0]
    lines = ["", f"worst turns ({len(shown)}):"] if shown else []
    for row in shown:
        axis = row["dominant_axis"]
        (score,) = (score for score in row["axis_scores"] if score["axis"] == axis)
        values = f"{plain(score['baseline_value'], axis)} → {plain(score['candidate_value'], axis)}"
        lines.append(f"  · turn #{row['pair_index']}: score {row['regression_score']:.2f}, {axis} {values}")
    return lines


def sessions_text(found: list[dict[str, Any]]) -> str:
    """Write the sessions part; nothing without sessions (levels §2)."""
    if not found:
        return ""
    lines = [f"Hierarchical diff, {len(found)} session(s):"]
    for one in found:
        severity = one["worst_severity"]
        counted = f"session #{one['session_index']}: {one['pair_count']} pair(s)"
        lines.append(f"  {MARKS[severity]}  {counted}, worst severity {severity}")
    return "\n".join(lines)


def span_text(pair: dict[str, Any]) -> str:
    """Write the changes of one pair (levels §7)."""
    head = f"turn #{pair['pair_index']}, span-level changes ({len(pair['changes'])}):"
    lines = [f"  · {change['kind']}: {escape(change['summary'])}" for change in pair["changes"]]
    return "\n".join([head, *lines])


def parts(found: dict[str, Any]) -> list[str]:
    """List the parts of standard output in their order, those without text left out (levels §7)."""
    texts = []
    if "rows" in found or "first_divergence" in found:
        texts.append(trace_text(found))
    texts.append(sessions_text(found.get("sessions", [])))
    if "token_diff" in found:
        texts.append(trace_tokens.text(found["token_diff"]))
    if "policy_diff" in found:
        texts.append(trace_policy.text(escaped(found["policy_diff"])))
    texts.append("\n".join(map(span_text, found.get("spans", []))))
    return [text for text in texts if text]


def standard_output(found: dict[str, Any]) -> str:
    """Write all parts with one empty line between (levels §7)."""
    return "\n".join(f"{part}\n" for part in parts(found))
