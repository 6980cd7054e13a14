"""The plain form of a trace report, drawn from its document *(levels §§2, 5, 6.3, 7)*.

Everything that may come from a trace or a policy is escaped here, once, with ``escape_terminal``.
"""

from __future__ import annotations

from stratadiff.core.escape import escape_terminal
from stratadiff.render.terminal import GREEN, RED, RESET, YELLOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stratadiff.documents.document import Document

    Members = Mapping[str, Any]

_RANK = ("none", "minor", "moderate", "severe")
_DECIMALS = {"cost": 6, "verbosity": 1, "latency": 1, "reasoning": 1}
_MARKS = {"none": "✓", "minor": "·", "moderate": "!", "severe": "✗"}
_COLOURS = {
    "minor": YELLOW,
    "moderate": YELLOW,
    "severe": RED,
    "warning": YELLOW,
    "error": RED,
    "critical": RED,
}
_SHOWN_PAIRS = 5
"""Token pairs that the text shows; the document has all that were asked for."""


def draw_trace(report: Document, *, colour: bool = False) -> str:
    """Draw a trace report.

    Parameters
    ----------
    report : Document
        The trace report, fresh or from a file.
    colour : bool
        Colour severities for a terminal.

    Returns
    -------
    str
        The parts that were asked for, an empty line between them. Ends with a newline unless there is nothing
        to show. Holds no control character but newlines, and ESC if `colour`.
    """
    members = report.members
    parts = [_trace_part(members, colour)]
    if members.get("sessions"):
        parts.append(_session_part(members["sessions"], colour))
    if "token_diff" in members:
        parts.append(_token_part(members["token_diff"]))
    if "policy_diff" in members:
        parts.append(_policy_part(members["policy_diff"], colour))
    if "spans" in members:
        parts.append([line for pair in members["spans"] for line in _span_lines(pair)])
    text = "\n\n".join("\n".join(lines) for lines in parts if lines)
    return f"{text}\n" if text else ""


# -- the trace part
# -------------------------------------------------------------------------------------------------------


def _trace_part(members: Members, colour: bool) -> list[str]:
    if "rows" not in members and "divergences" not in members:
        return []
    unpaired = members["extras"]["unpaired"]
    lines = [
        f"Trace diff, {members['pair_count']} response pair(s)",
        f"baseline : {escape_terminal(members['baseline_trace_id'])}",
        f"candidate: {escape_terminal(members['candidate_trace_id'])}",
    ]
    if unpaired["baseline"] or unpaired["candidate"]:
        lines.append(f"unpaired turns: baseline {unpaired['baseline']}, candidate {unpaired['candidate']}")
    rows = members.get("rows")
    if rows is not None:
        lines += ["", _row("axis", "baseline", "candidate", "delta", "95% CI", "severity", "n", "flags")]
        lines += [_axis_row(row, colour) for row in rows]
        lines += ["", f"worst severity: {_painted(worst_severity(rows), colour)}"]
    first = members.get("first_divergence")
    if first is not None:
        lines += [
            "",
            f"first divergence: baseline turn #{first['baseline_turn']} ↔ "
            f"candidate turn #{first['candidate_turn']} ({escape_terminal(first['kind'])}, "
            f"{escape_terminal(first['primary_axis'])}, confidence {first['confidence']:.0%})",
            f"  {escape_terminal(first['explanation'])}",
        ]
    worst = [row for row in members.get("drill_down", ()) if _float(row["regression_score"]) > 0]
    if worst:
        lines += ["", f"worst turns ({len(worst)}):", *map(_worst_turn, worst)]
    return lines


def worst_severity(rows: Sequence[Members]) -> str:
    """Return the highest severity of some rows, ``none`` of no rows."""
    return max((str(row["severity"]) for row in rows), key=_rank_of, default="none")


def _rank_of(severity: str) -> int:
    return _RANK.index(severity) if severity in _RANK else -1


def _row(
    axis: str, baseline: str, candidate: str, delta: str, interval: str, severity: str, n: str, flags: str
) -> str:
    row = f"{axis:<12}{baseline:>12}{candidate:>12}{delta:>12}  {interval:<28}{severity:<10}{n:>6}  {flags}"
    return row.rstrip(" ")


def _axis_row(row: Members, colour: bool) -> str:
    decimals = _decimals_of(row["axis"])
    low, high = (_number(row[name], decimals, sign="+") for name in ("ci95_low", "ci95_high"))
    severity = escape_terminal(row["severity"])
    if colour:  # padded first: colour has no width
        severity = _painted(f"{severity:<10}", colour, row["severity"])
    return _row(
        escape_terminal(row["axis"]),
        _number(row["baseline_median"], decimals),
        _number(row["candidate_median"], decimals),
        _number(row["delta"], decimals, sign="+"),
        f"[{low}, {high}]",
        severity,
        str(row["n"]),
        ",".join(map(escape_terminal, row["flags"])),
    )


def _worst_turn(row: Members) -> str:
    axis = row["dominant_axis"]
    score = next(score for score in row["axis_scores"] if score["axis"] == axis)
    old, new = (_number(score[name], _decimals_of(axis)) for name in ("baseline_value", "candidate_value"))
    return (
        f"  · turn #{row['pair_index']}: score {_float(row['regression_score']):.2f}, "
        f"{escape_terminal(axis)} {old} → {new}"
    )


def _decimals_of(axis: str) -> int:
    return _DECIMALS.get(axis, 3)


def _number(value: float | str, decimals: int, sign: str = "") -> str:
    """Write a value; one that rounds to zero has no minus."""
    text = f"{_float(value):{sign}.{decimals}f}"
    return text.replace("-", sign) if text.startswith("-") and not text.strip("-0.") else text


# -- the other parts
# -------------------------------------------------------------------------------------------------------


def _session_part(sessions: Sequence[Members], colour: bool) -> list[str]:
    lines = [f"Hierarchical diff, {len(sessions)} session(s):"]
    for session in sessions:
        severity = session["worst_severity"]
        mark = _painted(_MARKS.get(severity, "?"), colour, severity)
        lines.append(
            f"  {mark}  session #{session['session_index']}: {session['pair_count']} pair(s), "
            f"worst severity {_painted(severity, colour)}"
        )
    return lines


def _token_part(diff: Members) -> list[str]:
    if not diff["pair_count"]:
        return ["token-level diff: no paired chat_response records"]
    lines = [f"Token-level diff, {diff['pair_count']} pair(s):"]
    for name in diff["dimensions"]:
        shift = diff["normalised_shift"][name]
        sides = "  →  ".join(
            f"{side} median {_tokens(diff[side][name]['median'])}  p95 {_tokens(diff[side][name]['p95'])}"
            for side in ("baseline", "candidate")
        )
        shown = escape_terminal(shift) if isinstance(shift, str) else f"{shift:+.2%}"
        lines.append(f"  {escape_terminal(name):<19}{sides}  shift {shown}")
    worst = diff["worst_pairs"][:_SHOWN_PAIRS]
    if worst:
        lines.append("  worst pairs (by absolute token delta):")
    for pair in worst:
        deltas = ", ".join(
            f"{escape_terminal(name).removesuffix('_tokens')} {delta:+d}"
            for name, delta in pair["delta"].items()
        )
        lines.append(f"    · turn #{pair['pair_index']}: {deltas}")
    return lines


def _tokens(value: float | str) -> str:
    return f"{_float(value):5.1f}"


def _policy_part(diff: Members, colour: bool) -> list[str]:
    lines = [
        f"Policy diff, {len(diff['baseline_violations'])} baseline violation(s), "
        f"{len(diff['candidate_violations'])} candidate violation(s)"
    ]
    changed = [entry["candidate"] for entry in diff.get("changed") or ()]
    for title, mark, violations in (
        ("regressions", "✗", diff["regressions"]),
        ("fixes", "✓", diff["fixes"]),
        ("changed", "~", changed),
    ):
        if violations:
            lines.append(f"  {title} ({len(violations)}):")
            lines += [_violation(violation, mark, colour) for violation in violations]
    if len(lines) == 1:
        lines.append("  (no change in policy outcomes)")
    return lines


def _violation(violation: Members, mark: str, colour: bool) -> str:
    severity = violation["severity"]
    if colour:
        mark = f"{GREEN}{mark}{RESET}" if mark == "✓" else _painted(mark, colour, severity)
    place = "trace" if violation["pair_index"] is None else f"turn #{violation['pair_index']}"
    label = _painted(f"[{escape_terminal(severity)}]", colour and GREEN not in mark, severity)
    return f"    {mark} {label} {escape_terminal(violation['rule_id'])} @ {place}: " + escape_terminal(
        violation["detail"]
    )


def _span_lines(pair: Members) -> Iterator[str]:
    changes = pair["changes"]
    if changes:
        yield f"turn #{pair['pair_index']}, span-level changes ({len(changes)}):"
        for change in changes:
            yield f"  · {escape_terminal(change['kind'])}: {escape_terminal(change['summary'])}"


def _float(value: float | str) -> float:
    # A number that is not finite is a word in a document: "+inf", "-inf" or "nan".
    return float(value) if isinstance(value, str) else value


def _painted(text: str, colour: bool, severity: str = "") -> str:
    paint = _COLOURS.get(severity or text) if colour else None
    return f"{paint}{text}{RESET}" if paint else escape_terminal(text)
