"""Diffs of recorded AI pipeline runs, of agent traces and of comparison bundles: what changed, where it
started, what may be why.

The public names load what they need on first use, so ``import stratadiff`` itself costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.api import DiffResult, Verification, demo_runs, diff, open, verify
    from stratadiff.bundle_api import BundleDiff, diff_bundles, diff_profiles
    from stratadiff.bundles.build import Profile, build_bundle
    from stratadiff.bundles.model import Bundle, BundleError, BundleManifest, BundleResult, Failure, Finding
    from stratadiff.bundles.reader import BundleVerification, is_bundle, open_bundle, verify_bundle
    from stratadiff.bundles.spec import create_bundle
    from stratadiff.bundles.writer import NewResult, write_bundle
    from stratadiff.core.contentid import content_id
    from stratadiff.core.escape import escape_name
    from stratadiff.core.linediff import EditScript, edit_script
    from stratadiff.core.publish import Published
    from stratadiff.core.textdiff import TextDiff, text_diff
    from stratadiff.documents.document import Document
    from stratadiff.documents.tracereport import TraceDocument
    from stratadiff.errors import (
        ConfigurationError,
        InputError,
        LimitError,
        NotFoundError,
        OutputError,
        StratadiffError,
        UnknownKindError,
        UnreadableError,
        UsageError,
    )
    from stratadiff.render.bundletext import draw_bundle, draw_bundles
    from stratadiff.render.text import draw_text
    from stratadiff.render.tracetext import draw_trace
    from stratadiff.runs.model import Run
    from stratadiff.trace_api import (
        TraceResult,
        compare_traces,
        demo_traces,
        policy_diff,
        session_diff,
        token_diff,
        trace_diff,
        turn_diff,
        verify_trace,
    )
    from stratadiff.traces.compare import (
        AxisRow,
        AxisScore,
        Divergence,
        PairScore,
        SessionReport,
        TraceComparison,
        TraceReport,
        TurnDiff,
    )
    from stratadiff.traces.model import Diagnostic, Trace
    from stratadiff.traces.options import LEVELS
    from stratadiff.traces.policy import Policy, PolicyChange, PolicyDiff, PolicyViolation, load_policy
    from stratadiff.traces.pricing import Pricing, load_pricing
    from stratadiff.traces.reader import TraceError, read_trace, write_trace
    from stratadiff.traces.rules import PolicyRule
    from stratadiff.traces.spans import SpanDiff, span_diff
    from stratadiff.traces.tokens import TokenDiff, TokenDistSummary, TokenPairDelta
    from stratadiff.traces.verify import TraceVerification

__version__ = "0.1.0"

__all__ = [
    "LEVELS",
    "AxisRow",
    "AxisScore",
    "Bundle",
    "BundleDiff",
    "BundleError",
    "BundleManifest",
    "BundleResult",
    "BundleVerification",
    "ConfigurationError",
    "Diagnostic",
    "DiffResult",
    "Divergence",
    "Document",
    "EditScript",
    "Failure",
    "Finding",
    "InputError",
    "LimitError",
    "NewResult",
    "NotFoundError",
    "OutputError",
    "PairScore",
    "Policy",
    "PolicyChange",
    "PolicyDiff",
    "PolicyRule",
    "PolicyViolation",
    "Pricing",
    "Profile",
    "Published",
    "Run",
    "SessionReport",
    "SpanDiff",
    "StratadiffError",
    "TextDiff",
    "TokenDiff",
    "TokenDistSummary",
    "TokenPairDelta",
    "Trace",
    "TraceComparison",
    "TraceDocument",
    "TraceError",
    "TraceReport",
    "TraceResult",
    "TraceVerification",
    "TurnDiff",
    "UnknownKindError",
    "UnreadableError",
    "UsageError",
    "Verification",
    "__version__",
    "build_bundle",
    "compare_traces",
    "content_id",
    "create_bundle",
    "demo_runs",
    "demo_traces",
    "diff",
    "diff_bundles",
    "diff_profiles",
    "draw_bundle",
    "draw_bundles",
    "draw_text",
    "draw_trace",
    "edit_script",
    "escape_name",
    "is_bundle",
    "load_policy",
    "load_pricing",
    "open",
    "open_bundle",
    "policy_diff",
    "read_trace",
    "session_diff",
    "span_diff",
    "text_diff",
    "token_diff",
    "trace_diff",
    "turn_diff",
    "verify",
    "verify_bundle",
    "verify_trace",
    "write_bundle",
    "write_trace",
]

_HOMES = {
    "stratadiff.api": ("DiffResult", "Verification", "demo_runs", "diff", "open", "verify"),
    "stratadiff.bundle_api": ("BundleDiff", "diff_bundles", "diff_profiles"),
    "stratadiff.bundles.build": ("Profile", "build_bundle"),
    "stratadiff.bundles.model": (
        "Bundle",
        "BundleError",
        "BundleManifest",
        "BundleResult",
        "Failure",
        "Finding",
    ),
    "stratadiff.bundles.reader": ("BundleVerification", "is_bundle", "open_bundle", "verify_bundle"),
    "stratadiff.bundles.spec": ("create_bundle",),
    "stratadiff.bundles.writer": ("NewResult", "write_bundle"),
    "stratadiff.core.publish": ("Published",),
    "stratadiff.render.bundletext": ("draw_bundle", "draw_bundles"),
    "stratadiff.core.contentid": ("content_id",),
    "stratadiff.core.escape": ("escape_name",),
    "stratadiff.core.linediff": ("EditScript", "edit_script"),
    "stratadiff.core.textdiff": ("TextDiff", "text_diff"),
    "stratadiff.documents.document": ("Document",),
    "stratadiff.documents.tracereport": ("TraceDocument",),
    "stratadiff.errors": (
        "ConfigurationError",
        "InputError",
        "LimitError",
        "NotFoundError",
        "OutputError",
        "StratadiffError",
        "UnknownKindError",
        "UnreadableError",
        "UsageError",
    ),
    "stratadiff.render.text": ("draw_text",),
    "stratadiff.render.tracetext": ("draw_trace",),
    "stratadiff.runs.model": ("Run",),
    "stratadiff.trace_api": (
        "TraceResult",
        "compare_traces",
        "demo_traces",
        "policy_diff",
        "session_diff",
        "token_diff",
        "trace_diff",
        "turn_diff",
        "verify_trace",
    ),
    "stratadiff.traces.compare": (
        "AxisRow",
        "AxisScore",
        "Divergence",
        "PairScore",
        "SessionReport",
        "TraceComparison",
        "TraceReport",
        "TurnDiff",
    ),
    "stratadiff.traces.model": ("Diagnostic", "Trace"),
    "stratadiff.traces.options": ("LEVELS",),
    "stratadiff.traces.policy": ("Policy", "PolicyChange", "PolicyDiff", "PolicyViolation", "load_policy"),
    "stratadiff.traces.pricing": ("Pricing", "load_pricing"),
    "stratadiff.traces.reader": ("TraceError", "read_trace", "write_trace"),
    "stratadiff.traces.rules": ("PolicyRule",),
    "stratadiff.traces.spans": ("SpanDiff", "span_diff"),
    "stratadiff.traces.tokens": ("TokenDiff", "TokenDistSummary", "TokenPairDelta"),
    "stratadiff.traces.verify": ("TraceVerification",),
}


if not TYPE_CHECKING:  # a type checker must see that a misspelled name does not exist

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names:
                import importlib

                value = getattr(importlib.import_module(home), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'stratadiff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
