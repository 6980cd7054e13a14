"""The plain form: the section of a text diff and the ladder of a report, drawn from their documents
(textdiff §10, comparison §8).

Everything a recording wrote is escaped here, once, with ``escape_name`` (``quoted`` does it its own way); the
lines of outputs and the carried lines arrive escaped and are printed as they are.
"""

from __future__ import annotations

import os

from stratadiff.core.canonical import Fragment
from stratadiff.core.escape import escape_name
from stratadiff.render.terminal import coloured
from stratadiff.runs.names import quoted, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stratadiff.documents.document import Document

_RULE = "-" * 68
_LINK = "assertions.corpus_manifest"
_INSTRUMENT = tuple(
    f"instrument.{name}"
    for name in ("id", "kind", "version", "rederivable", "config_digest", "manifest_digest")
)


def draw_text(report: Document, text: Document | None = None, *, colour: bool = False) -> str:
    """Draw the whole plain form of a comparison.

    Parameters
    ----------
    report : Document
        ``onetrace-report/0.1``.
    text : Document, optional
        ``onetrace-textdiff/0.3``: its section comes first.
    colour : bool
        Colour the removed and added lines of outputs.

    Returns
    -------
    str
        Ends with a newline. Holds no control character but newlines, and ESC if `colour`.
    """
    lines: list[str] = []
    if text is not None:
        lines += section_lines(text, colour=colour)
        lines.append("")
    lines += report_lines(report.members)
    return "\n".join(lines) + "\n"


def shown_path(path: str) -> str:
    """Escape a path as typed, but for the separators of Windows, which are not part of a name."""
    if os.sep == "\\":
        return "\\".join(escape_name(part) for part in path.split("\\"))
    return escape_name(path)


# -- the section
# -------------------------------------------------------------------------------------------------------


def section_lines(document: Document, *, colour: bool = False) -> list[str]:
    """Draw the section of a text diff (textdiff §10.3), without a final empty line."""
    members = document.members
    if not members["shown"]:
        return [escape_name(members["reason"])]
    outputs = iter(document.plain.outputs) if document.plain.outputs else None
    lines = [escape_name(members["first_line"])]
    lines += [f"no node named {quoted(stage)} in either run" for stage in members["unknown_stages"]]
    for node in members["nodes"]:
        lines += _node_lines(node, outputs, colour)
    for note in document.plain.trace_notes:
        lines += ["", escape_name(note)]
    for trace in members.get("corpus_traces", ()):
        lines += ["", *_trace_head(trace)]
        for node in trace.get("nodes", ()):
            lines += _node_lines(node, outputs, colour)
    return lines


def _node_lines(node: Mapping[str, Any], outputs: Iterator[Sequence[str]] | None, colour: bool) -> list[str]:
    name = escape_name(node["node"])
    if node["verdict"] == "reconverged" and "presence" not in node:
        return ["", f"{name}: outputs unchanged (reconverged)", *map(escape_name, node["settings"])]
    lines = ["", f"== {name} ({node['verdict']})"]
    if "presence" in node:
        lines.append(node["presence"])
    lines += map(escape_name, node["settings"])
    lines += map(escape_name, node["inputs"])
    for output in node["outputs"]:
        lines.append(f"--- {escape_name(output['name'])}")
        plain = next(outputs) if outputs is not None else None
        if not output["verified"]:
            lines += map(escape_name, output["notes"])
            continue
        if "presence" in output:
            lines.append(output["presence"])
        body = lines_of_document(output) if plain is None else plain
        lines += map(coloured, body) if colour else body
    return lines


def lines_of_document(output: Mapping[str, Any]) -> list[str]:
    """Draw an output of a document from a file; such a document does not hold the ``~`` lines."""
    lines: list[str] = []
    hunks = output["hunks"]
    if isinstance(hunks, Fragment):
        import json

        hunks = json.loads(hunks.data)
    for number, hunk in enumerate(hunks):
        if number:
            lines.append("…")
        if "note" in hunk:
            lines.append(hunk["note"])
        lines += [f"{line['op']} {line['text']}" for line in hunk["lines"]]
    lines += output["notes"]
    if "truncated" in output:
        lines.append(f"… {output['truncated']['more_lines']} more lines (use --max-lines)")
    return lines


def _trace_head(trace: Mapping[str, Any]) -> list[str]:
    if trace["status"] == "not followed":
        return ["trace: not followed (--no-follow)"]
    if trace["status"] != "traced":
        return [escape_name(f"trace from {trace['node']}: COULD NOT CHECK — {trace['reason']}")]
    lines = [escape_name(trace["heading"]), escape_name(trace["first_line"])]
    hop = trace["second_hop"]
    if hop is not None:
        lines.append(
            escape_name(
                f"the linked ingest runs' own corpus link changed at {hop['node']}: "
                f"{short(hop['baseline'])} -> {short(hop['candidate'])}; not followed (one hop only)"
            )
        )
    return lines


# -- the report
# --------------------------------------------------------------------------------------------------------


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Draw the ladder report (comparison §8), the corpus trace of ``--follow-corpus`` included."""
    lines = _comparison_lines(report)
    trace = report.get("corpus_trace")
    if trace is not None:
        for note in trace["notes"]:
            lines += ["", escape_name(note)]
        for entry in trace["traces"]:
            lines += ["", *_trace_head(entry)]
            if "report" in entry:
                lines += ["", *_comparison_lines(entry["report"])]
    return lines


def _comparison_lines(report: Mapping[str, Any]) -> list[str]:
    headline = f"diff: {report['envelope']}"
    if report["reason"] is not None:
        headline += f" — {escape_name(report['reason'])}"
    if "mode" not in report:
        return [headline]
    inputs, preflight = report["inputs"], report["preflight"]
    lines = [_input_line(side, inputs[side]) for side in ("baseline", "candidate")]
    lines += ["", headline]
    declared = report.get("declared_stages")
    if declared is not None:
        lines += [f"  {side} declares: {_declared(declared[side])}" for side in ("baseline", "candidate")]
    if report["envelope"] not in ("refused", "not comparable"):
        lines += ["", *(_topology_lines(report) if "shape" in report else _linear_lines(report))]
    for side in ("baseline", "candidate"):
        if preflight[side]["status"] == "refused":
            lines += ["", f"REFUSED — {side} does not verify:"]
            lines += [
                f"  {_row_line(row['result'], row['name'], row['detail'])}"
                for row in preflight[side]["failed_rows"]
            ]
    tail = [f"  [{carried['side']}] {carried['line']}" for carried in report["carried"]]
    if tail:
        tail.insert(0, "carried:")
    sides = ("baseline", "candidate")
    tail += [f"note [{side}]: {escape_name(note)}" for side in sides for note in inputs[side]["notes"]]
    for member in ("anchoring", "signing"):
        tail += [
            f"{member} [{side}]: {_row_line(row['outcome'], row['check'], row['detail'])}"
            for side in sides
            for row in inputs[side].get(member, ())
        ]
    if tail:
        lines += ["", *tail]
    return lines


def _input_line(side: str, value: Mapping[str, Any]) -> str:
    run_id = "(no run id)" if value["run_id"] is None else escape_name(value["run_id"])
    return f"{side:<11}{shown_path(value['path'])}  {run_id}  ({value['kind']})"


def _declared(stages: Sequence[str]) -> str:
    return " · ".join(escape_name(stage) for stage in stages)


def _row_line(result: str, name: str, detail: str) -> str:
    return escape_name(f"[{result}] {name}" + (f" -- {detail}" if detail else ""))


def _linear_lines(report: Mapping[str, Any]) -> list[str]:
    lines = [f"{'stage':<14}{'baseline':<20}{'candidate':<20}verdict", _RULE]
    for row in report["ladder"]:
        sides = f"{_digests(row['baseline']):<20}{_digests(row['candidate']):<20}"
        reason = "" if row["reason"] is None else f"  ({escape_name(row['reason'])})"
        lines.append(f"{escape_name(row['stage']):<14}{sides}{row['verdict']}{reason}")
    first = report["first_difference"]
    where = "none" if first is None else f"stage {first['index']}, {_in_quotes(first['stage'])}"
    lines += [
        "",
        f"first difference  {where}",
        f"comparisons performed {report['comparisons_performed']}; stages identical before the first "
        f"difference {report['stages_identical_before_first_difference']}",
    ]
    for annotation in report["annotations"]:
        lines.append(f"annotation at stage {annotation['index']} {escape_name(annotation['stage'])}:")
        for name, (old, new) in sorted(annotation["differs"].items(), key=lambda item: _rank_of(item[0])):
            label = "corpus link" if name == _LINK else escape_name(name)
            lines.append(f"    {label}   {escape_name(str(old))}  ->  {escape_name(str(new))}")
    return lines


def _rank_of(member: str) -> tuple[int, str]:
    # A document's members have no order, the lines drawn of them do: instrument, constants, corpus link.
    if member in _INSTRUMENT:
        return (_INSTRUMENT.index(member), "")
    return (len(_INSTRUMENT) + (member == _LINK), member)


def _in_quotes(name: str) -> str:
    # The ladder's own quoting: escaped first, then the mark that does not occur in the name, if there is one.
    mark = '"' if "'" in name and '"' not in name else "'"
    return mark + escape_name(name) + mark


def _digests(side: Mapping[str, Any] | None) -> str:
    if side is None:
        return "(absent)"
    outputs = side["outputs"]
    if not outputs:
        return "(none)"
    more = f"+{len(outputs) - 1}" if len(outputs) > 1 else ""
    return escape_name(short(outputs[0])) + more


def _topology_lines(report: Mapping[str, Any]) -> list[str]:
    lines = [f"{'node':<16}{'A':<6}{'B':<6}verdict", _RULE]
    for row in report["ladder"]:
        indexes = [_index(row[f"index_{side}"]) for side in ("baseline", "candidate")]
        lines.append(f"{escape_name(row['node']):<16}{indexes[0]:<6}{indexes[1]:<6}{row['verdict']}")
        lines += [" " * 28 + escape_name(annotation) for annotation in row["annotations"]]
    frontier = report["first_difference_frontier"]
    first = ", ".join(map(escape_name, frontier)) or "none"
    if len(frontier) > 1:
        first += f"   ({len(frontier)} branches)"
    counts = ", ".join(f"{verdict} {report['counts'][verdict]}" for verdict in _COUNTED)
    lines += [
        "",
        f"first difference  {first}",
        f"comparisons performed {report['comparisons_performed']} of {len(report['ladder'])} nodes; {counts}",
    ]
    unchecked = report["could_not_check_nodes"]
    if unchecked:
        lines.append(f"could not check   {', '.join(map(escape_name, unchecked))}")
    return lines


_COUNTED = ("same", "FIRST DIFFERENCE", "downstream", "reconverged", "COULD NOT CHECK")


def _index(index: str | None) -> str:
    return "—" if index is None else escape_name(index)
