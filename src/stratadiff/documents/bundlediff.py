"""A comparison of bundles, or of a bundle's profiles → ``stratadiff-bundlediff/0.1`` *(bundles §6)*.

The conventions are those of ``onetrace-textdiff/0.3``: canonical JSON, every number a decimal string, the
text of lines escaped, names and values as they were recorded.
"""

from __future__ import annotations

from stratadiff.bundles.comparison import PROFILES
from stratadiff.core.canonical import Fragment
from stratadiff.documents.document import Document, PlainForm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stratadiff.bundles.comparison import BundleComparison, Cause, ProfileDiff, TextChange
    from stratadiff.bundles.model import BundleManifest, BundleResult

FORMAT = "stratadiff-bundlediff/0.1"


def bundlediff_document(comparison: BundleComparison) -> Document:
    """Write the document of a comparison.

    Parameters
    ----------
    comparison : BundleComparison
        Decides the envelope and the exit code. Where nothing could be compared, ``shown`` is false, and
        ``reason`` says why; of a bundle with too few profiles that succeeded those that failed are shown.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    is_shown = comparison.mode == PROFILES or comparison.reason is None
    members: dict[str, Any] = {
        "format": FORMAT,
        "text_form": "escaped",
        "mode": comparison.mode,
        "envelope": comparison.envelope,
        "exit": str(comparison.exit_code),
        "shown": is_shown and baseline is not None,
    }
    if comparison.reason is not None:
        members["reason"] = comparison.reason
    if not is_shown or baseline is None or candidate is None:
        return Document(members)
    members["first_line"] = first_line(comparison)
    members["profiles"] = [_profile_members(profile) for profile in comparison.profiles]
    changes = [profile.text for profile in comparison.profiles if profile.text is not None]
    if comparison.mode == PROFILES:
        members["bundle"] = _bundle_members(baseline)
        members["baseline_profile"] = comparison.baseline_profile
        members["failed"] = [_side_members(result) for result in baseline.results if not result.succeeded]
    else:
        members["baseline"] = _bundle_members(baseline)
        members["candidate"] = _bundle_members(candidate)
        members["causes"] = [_cause_members(cause) for cause in comparison.causes]
        package = comparison.data_package
        members["data_package"] = None if package is None else _text_members(package)
        if package is not None:
            changes.append(package)
    return Document(members, PlainForm([change.lines for change in changes]))


def first_line(comparison: BundleComparison) -> str:
    """Return the sentence that says most. Hostile text."""
    if comparison.reason is not None:
        return comparison.reason
    changed = [profile for profile in comparison.profiles if profile.verdict != "same"]
    if comparison.mode == PROFILES:
        others = len(comparison.profiles)
        if not changed:
            return f"no difference: every other profile has the text of {comparison.baseline_profile}"
        noun = "profile differs" if others == 1 else f"of {others} other profiles differ"
        count = "the other" if others == 1 else str(len(changed))
        return f"{count} {noun} from {comparison.baseline_profile}; first: {changed[0].profile_id}"
    first = changed[0] if changed else None
    causes = [
        cause.name if cause.kind not in ("backend", "model") else cause.kind
        for cause in comparison.causes
        if cause.changed
        and (cause.kind not in ("backend", "model") or first is None or cause.name == first.profile_id)
    ]
    said = f"changed: {', '.join(dict.fromkeys(causes))}" if causes else "nothing recorded changed"
    if first is None:
        what = "every profile is the same"
        return f"no difference in any profile; {said}" if causes else f"no difference: {what}"
    return f"first difference: {first.profile_id} — {_what_changed(first)}; {said}"


def _what_changed(profile: ProfileDiff) -> str:
    if profile.verdict != "changed":
        return profile.verdict
    left, right = profile.baseline, profile.candidate
    if profile.changes[0] == "status" and left is not None and right is not None:
        return f"status {left.status} -> {right.status}"
    return f"{profile.changes[0]} changed"


def _bundle_members(manifest: BundleManifest) -> dict[str, Any]:
    return {
        "comparison_id": manifest.comparison_id,
        "report_id": manifest.report_id,
        "started_at": manifest.started_at,
        "finished_at": manifest.finished_at,
        "total": str(manifest.total),
        "succeeded": str(manifest.succeeded),
        "failed": str(manifest.failed),
    }


def _profile_members(profile: ProfileDiff) -> dict[str, Any]:
    members: dict[str, Any] = {
        "profile": profile.profile_id,
        "verdict": profile.verdict,
        "changes": list(profile.changes),
        "baseline": profile.baseline and _side_members(profile.baseline),
        "candidate": profile.candidate and _side_members(profile.candidate),
    }
    if profile.text is not None:
        members["text"] = _text_members(profile.text)
    return members


def _side_members(result: BundleResult) -> dict[str, Any]:
    return {
        "profile": result.profile_id,
        "position": str(result.position),
        "backend_id": result.backend_id,
        "model_name": result.model_name,
        "status": result.status,
        "validation_status": result.validation_status,
        "report_path": result.report_path,
        "error": result.error and result.error.to_dict(),
    }


def _text_members(change: TextChange) -> dict[str, Any]:
    members: dict[str, Any] = {
        "kind": change.kind,
        "notes": list(change.notes),
        "hunks": Fragment(change.hunks),
    }
    if change.more_lines is not None:
        members["truncated"] = {"more_lines": str(change.more_lines)}
    return members


def _cause_members(cause: Cause) -> dict[str, Any]:
    return {
        "kind": cause.kind,
        "name": cause.name,
        "baseline": cause.baseline,
        "candidate": cause.candidate,
        "status": "changed" if cause.changed else "same",
    }
