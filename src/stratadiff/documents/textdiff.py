"""A comparison's text section → ``onetrace-textdiff/0.3`` (textdiff §§2-5, 11, 12).

The lines of an output arrive as canonical bytes and go into the document as they are: no Python object per
shown line.
"""

from __future__ import annotations

from stratadiff.core.canonical import Fragment
from stratadiff.documents.document import Document, PlainForm
from stratadiff.runs.causes import INPUT
from stratadiff.runs.corpus import NOT_FOLLOWED, TRACED
from stratadiff.runs.section import NOT_SHOWN, presence_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stratadiff.runs.causes import Cause
    from stratadiff.runs.compare import Comparison
    from stratadiff.runs.corpus import CorpusTrace, LinkedRun
    from stratadiff.runs.section import ShownNode, ShownOutput, TextSection

FORMAT = "onetrace-textdiff/0.3"


def textdiff_document(comparison: Comparison, section: TextSection) -> Document:
    """Write the document of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Decides the envelope and the exit code.
    section : TextSection
        What is shown; rendered with ``as_json``, and with ``as_lines`` if the plain form is to be drawn
        from the document.
    """
    members: dict[str, Any] = {
        "format": FORMAT,
        "text_form": "escaped",
        "envelope": comparison.envelope,
        "exit": str(comparison.exit_code),
        "shown": not section.withheld,
    }
    if section.withheld:
        members["reason"] = section.withheld
        return Document(members)
    members["first_line"] = section.first_line
    members["unknown_stages"] = list(section.unknown_stages)
    members["nodes"] = [node_members(node) for node in section.nodes]
    if section.traces:
        members["corpus_traces"] = [
            {
                **trace_members(trace),
                **({"nodes": [node_members(node) for node in trace.nodes]} if _is_traced(trace) else {}),
            }
            for trace in section.traces
        ]
    lines = [output.lines for node in section.nodes for output in node.outputs]
    lines += [output.lines for trace in section.traces for node in trace.nodes for output in node.outputs]
    return Document(members, PlainForm(lines, section.trace_notes))


def node_members(node: ShownNode) -> dict[str, Any]:
    """Write one node."""
    members: dict[str, Any] = {
        "node": node.node,
        "verdict": node.verdict,
        "settings": list(node.settings),
        "inputs": list(node.inputs),
        "outputs": [_output_members(output) for output in node.outputs],
    }
    if node.side:
        members["presence"] = presence_text(node)
    if node.shows_causes:
        members["causes"] = [_cause_members(cause) for cause in node.causes]
    return members


def trace_members(trace: CorpusTrace) -> dict[str, Any]:
    """Write a trace without what the pair's comparison shows: nodes here, a report in a report."""
    members: dict[str, Any] = {"node": trace.node, "also_at": list(trace.also_at), "status": trace.status}
    if trace.status == NOT_FOLLOWED:
        members["baseline"] = {"chain_head": trace.baseline.chain_head}
        members["candidate"] = {"chain_head": trace.candidate.chain_head}
        return members
    members["baseline"] = _linked_members(trace.baseline)
    members["candidate"] = _linked_members(trace.candidate)
    if not _is_traced(trace):
        members["reason"] = trace.reason
        return members
    assert trace.comparison is not None
    documents, hop = trace.documents, trace.second_hop
    members["heading"] = trace.heading
    members["envelope"] = trace.comparison.envelope
    members["first_line"] = trace.first_line
    members["documents"] = documents and {
        "changed": str(len(documents.changed)),
        "total": str(documents.total),
        "names": list(documents.changed),
    }
    members["second_hop"] = hop and {"node": hop.node, "baseline": hop.baseline, "candidate": hop.candidate}
    return members


def _is_traced(trace: CorpusTrace) -> bool:
    return trace.status == TRACED


def _linked_members(side: LinkedRun) -> dict[str, Any]:
    return {
        "chain_head": side.chain_head,
        "run_id": side.run_id,
        "path": side.path,
        "verified": side.verified,
    }


def _output_members(output: ShownOutput) -> dict[str, Any]:
    members: dict[str, Any] = {
        "name": output.name,
        "media_type": output.media_type,
        "verified": output.kind != NOT_SHOWN,
        "kind": output.kind,
        "notes": list(output.notes),
        "hunks": Fragment(output.hunks),
    }
    if output.problems:
        members["reason"] = output.problems[0]
    if output.side:
        members["presence"] = f"only in the {output.side}"
    if output.entries is not None:
        members["entries"] = [
            {**entry.naming, "change": entry.change, "note": str(entry.line)} for entry in output.entries
        ]
    if output.more_lines is not None:
        members["truncated"] = {"more_lines": str(output.more_lines)}
    return members


def _cause_members(cause: Cause) -> dict[str, Any]:
    sides: Sequence[Any] = (cause.baseline, cause.candidate)
    if cause.kind == INPUT:
        sides = [side and {"digest": side.digest, "trust_class": side.trust_class} for side in sides]
    return {
        "kind": cause.kind,
        "name": cause.name,
        "baseline": sides[0],
        "candidate": sides[1],
        "status": "changed" if cause.changed else "same",
    }
