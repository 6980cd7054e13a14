"""Calls that a strict type checker must reject; each line says with which error."""

from __future__ import annotations

import stratadiff

stratadiff.diff("runs/monday")  # E: call-arg
stratadiff.diff("runs/monday", 2)  # E: arg-type
stratadiff.diff("runs/monday", "runs/tuesday", "gestalt")  # E: call-arg
stratadiff.diff("runs/monday", "runs/tuesday", context="3")  # E: arg-type
stratadiff.diff("runs/monday", "runs/tuesday", colour=True)  # E: call-arg
print(stratadiff.diff("runs/monday", "runs/tuesday").verdict)  # E: union-attr

stratadiff.text_diff("a\n", b"b\n")  # E: arg-type
stratadiff.text_diff(b"a\n", b"b\n").hunks.append(None)  # E: attr-defined

stratadiff.edit_script("abc", [1])  # E: arg-type
stratadiff.edit_script([1.5], [1])  # E: list-item

stratadiff.verify(None)  # E: arg-type
count: int = stratadiff.verify("runs/monday").verifies.name  # E: union-attr

stratadiff.compare_traces("monday.agentlog")  # E: call-arg
stratadiff.compare_traces("monday.agentlog", 2)  # E: arg-type
stratadiff.compare_traces("a.agentlog", "b.agentlog", aligned=True)  # E: call-arg
stratadiff.compare_traces("a.agentlog", "b.agentlog", judge=["good"])  # E: list-item
print(stratadiff.compare_traces("a.agentlog", "b.agentlog").envelope)  # E: attr-defined
stratadiff.token_diff("a.agentlog", "b.agentlog", top_k_pairs="10")  # E: arg-type
stratadiff.policy_diff("a.agentlog", "b.agentlog")  # E: call-arg
number: str = stratadiff.edit_script([1], [1]).distance  # E: assignment

stratadiff.escape_name(b"a")  # E: arg-type
print(stratadiff.no_such_name)  # E: attr-defined

stratadiff.write_bundle("bundles/new", {}, "text", [])  # E: arg-type
stratadiff.build_bundle("bundles/new", {}, b"", [], None)  # E: arg-type
stratadiff.diff_bundles("bundles/monday")  # E: call-arg
print(stratadiff.open_bundle("bundles/monday").results.rule)  # E: attr-defined
