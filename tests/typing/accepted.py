"""Calls that a strict type checker must accept, with the types that come out."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import stratadiff

# Runs: paths as text, bytes or path objects. What a path of a trace gives, a type checker cannot know.
anything = stratadiff.diff("runs/monday", Path("runs/tuesday"), context=1, stages=["answer"], strict=True)
assert_type(anything, stratadiff.DiffResult | Any)
assert_type(anything.exit_code, int | Any)
assert isinstance(anything, stratadiff.DiffResult)
result = anything
assert_type(result.envelope, str)
assert_type(result.exit_code, int)
assert_type(result.reason, str | None)
assert_type(result.text(colour=True), str)
assert_type(result.document(), stratadiff.Document)
assert_type(result.document().canonical(), bytes)
assert_type(result.document().to_dict(), dict[str, Any])
assert_type([row.verdict for row in result.ladder], list[str])

checked = stratadiff.verify(b"runs/monday")
assert_type(checked, stratadiff.Verification | Any)
assert isinstance(checked, stratadiff.Verification)
verification = checked
assert_type(verification.verifies, bool)
assert_type([row.name for row in verification.failed_rows], list[str])
assert_type(verification.run, stratadiff.Run)
assert_type(stratadiff.open("runs/monday"), stratadiff.Run | Any)
assert_type(stratadiff.demo_runs(), tuple[str, str])

# Traces: paths, what was read, or records.
records: list[dict[str, Any]] = [{"kind": "chat_response", "payload": {}}]
trace = stratadiff.read_trace(Path("monday.agentlog"), tolerant=True)
assert_type(trace, stratadiff.Trace)
assert_type(trace[0], dict[str, Any])
assert_type(trace.diagnostics, tuple[stratadiff.Diagnostic, ...])
compared = stratadiff.compare_traces(
    "monday.agentlog",
    trace,
    levels=("trace", "policy"),
    rules=[{"kind": "no_call", "params": {"tool": "rm"}}],
    pricing={"m": [1e-6, 2e-6]},
    judge=[0.5, 1],
    align=True,
)
assert_type(compared, stratadiff.TraceResult)
assert_type(compared.comparison, stratadiff.TraceComparison)
assert_type(compared.comparison.rows, list[stratadiff.AxisRow] | None)
assert_type(compared.comparison.policy_diff, stratadiff.PolicyDiff | None)
assert_type(compared.report(), stratadiff.TraceDocument)
assert_type(compared.text(colour=True), str)
assert_type(stratadiff.trace_diff(records, records).rows, list[stratadiff.AxisRow])
assert_type(stratadiff.session_diff(trace, records), list[stratadiff.SessionReport])
assert_type(stratadiff.turn_diff(records, trace).first_divergence, stratadiff.Divergence | None)
assert_type(stratadiff.span_diff({"content": []}, {"content": "x"}), list[stratadiff.SpanDiff])
tokens = stratadiff.token_diff(records, b"tuesday.agentlog", top_k_pairs=3)
assert_type(tokens.baseline["input_tokens"], stratadiff.TokenDistSummary)
assert_type(tokens.worst_pairs, list[stratadiff.TokenPairDelta])
policy = stratadiff.load_policy("policy.yaml")
assert_type(policy[0], stratadiff.PolicyRule)
assert_type(stratadiff.policy_diff(records, records, policy).fixes, list[stratadiff.PolicyViolation])
assert_type(stratadiff.verify_trace("monday.agentlog").breaches, list[stratadiff.Diagnostic])
assert_type(stratadiff.demo_traces(), tuple[str, str])
assert_type(stratadiff.content_id({"a": [1, None]}), str)
stratadiff.write_trace("copy.agentlog", trace)

# Texts.
difference = stratadiff.text_diff(
    b"a\n", b"b\n", media_type="application/json", algorithm="gestalt", max_lines=None
)
assert_type(difference, stratadiff.TextDiff)
assert_type(difference.kind, str)
assert_type(difference.plain_lines(), list[str])
assert_type(difference.hunks[0].lines[0].text, str)
assert_type(difference.hunks[0].lines[0].baseline, int | None)
assert_type(difference.hunks[0].lines[0].spans, tuple[tuple[int, int], ...])

# Sequences: anything with int32 in it.
ids: npt.NDArray[np.int32] = np.array([1, 2, 3], dtype=np.int32)
script = stratadiff.edit_script(ids, array("i", [1, 3]))
assert_type(script, stratadiff.EditScript)
assert_type(list(stratadiff.edit_script([1, 2], (2, 3))), list[tuple[str, int, int, int, int]])
assert_type(script.as_array(), npt.NDArray[np.int32])
assert_type(script.distance, int)

assert_type(stratadiff.escape_name("a\tb"), str)

# Errors carry where and code.
try:
    stratadiff.open("nowhere")
except stratadiff.NotFoundError as error:
    assert_type(error.where, str)
    assert_type(error.code, str)
except stratadiff.StratadiffError:
    pass

# Bundles.
bundle = stratadiff.open_bundle(Path("bundles/monday"))
assert_type(bundle, stratadiff.Bundle)
assert_type(bundle.manifest.total, int)
assert_type([result.backend_id for result in bundle.results], list[str | None])
assert_type(bundle.markdown("careful"), bytes)
assert_type(stratadiff.is_bundle(b"bundles/monday"), bool)
assert_type(stratadiff.verify_bundle("bundles/monday", all_errors=False).findings[0].rule, str)
comparison = stratadiff.diff_bundles(bundle, "bundles/tuesday", max_lines=10)
assert_type(comparison, stratadiff.BundleDiff)
assert_type(stratadiff.diff_profiles(bundle, "careful").exit_code, int)
assert_type(comparison.document(), stratadiff.Document)


def profile_run(profile: stratadiff.Profile, data_package: bytes) -> str:
    return profile.profile_id


published = stratadiff.build_bundle(
    "bundles/new",
    {"reportId": "daily"},
    b"",
    [stratadiff.Profile("a", "m"), stratadiff.Profile("b", "m", backend_id="local")],
    profile_run,
    replace=True,
)
assert_type(published.leftovers, tuple[str, ...])
stratadiff.write_bundle(
    "bundles/new", {}, b"", [stratadiff.NewResult("a", "m", "# text"), {"profileId": "b", "modelName": "m"}]
)
try:
    stratadiff.open_bundle("nowhere")
except stratadiff.BundleError as error:
    assert_type(error.rule, str)
