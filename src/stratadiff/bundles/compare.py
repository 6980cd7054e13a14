"""The profiles of one bundle compared, and two bundles of one report *(bundles §6)*.

Texts are compared one pair at a time; what stays of a pair is its lines.
"""

from __future__ import annotations

from stratadiff.bundles.comparison import (
    BUNDLES,
    COULD_NOT_CHECK,
    DIVERGED,
    ERROR,
    IDENTICAL,
    NOT_COMPARABLE,
    PROFILES,
    REFUSED,
    STATUS,
    TEXT,
    BundleComparison,
    Cause,
    ProfileDiff,
    TextChange,
    TextOptions,
)
from stratadiff.core.textdiff import TextDiff, settle_by_size, text_diff
from stratadiff.errors import InputError
from stratadiff.limits import MAX_DIFF_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from stratadiff.bundles.model import Bundle, BundleError, BundleManifest, BundleResult

TOO_FEW = "fewer than two profiles succeeded; there is nothing to compare"

_MARKDOWN_TYPE, _PACKAGE_TYPE = "text/markdown", "text/yaml"


def diff_profiles(
    bundle: Bundle, baseline: str | None = None, *, options: TextOptions | None = None
) -> BundleComparison:
    """Compare the Markdown of every successful profile of a bundle to that of one of them.

    Parameters
    ----------
    bundle : Bundle
    baseline : str, optional
        The id of that profile; the first that succeeded by default.
    options : TextOptions, optional

    Raises
    ------
    InputError
        No profile has that id, or it failed.
    BundleError
        The bundle has changed since it was opened.
    """
    options = options or TextOptions()
    succeeded = [result for result in bundle.results if result.succeeded]
    first = succeeded[0] if succeeded else None
    if baseline is not None:
        first = bundle.result_of(baseline)
        if not first.succeeded:
            raise InputError(
                f"the profile {baseline} failed, so nothing can be compared to it; choose one that succeeded",
                where=bundle.path,
            )
    manifest = bundle.manifest
    if first is None or len(succeeded) < 2:
        name = None if first is None else first.profile_id
        return BundleComparison(PROFILES, NOT_COMPARABLE, TOO_FEW, manifest, manifest, name)
    profiles = []
    for result in succeeded:
        if result is not first:
            text = _markdown_change(bundle, first, bundle, result, options)
            profiles.append(ProfileDiff(result.profile_id, first, result, (TEXT,) if text else (), text))
    envelope = DIVERGED if any(profile.changes for profile in profiles) else IDENTICAL
    return BundleComparison(PROFILES, envelope, None, manifest, manifest, first.profile_id, profiles=profiles)


def diff_bundles(
    baseline: Bundle, candidate: Bundle, *, options: TextOptions | None = None
) -> BundleComparison:
    """Compare two bundles of one report, profile by profile.

    Parameters
    ----------
    baseline, candidate : Bundle
        Profiles are paired by their ids.
    options : TextOptions, optional

    Raises
    ------
    BundleError
        A bundle has changed since it was opened.
    """
    options = options or TextOptions()
    sides = baseline.manifest, candidate.manifest
    if sides[0].report_id != sides[1].report_id:
        reason = f"the bundles are of different reports: {sides[0].report_id} and {sides[1].report_id}"
        return BundleComparison(BUNDLES, NOT_COMPARABLE, reason, *sides)
    others = {result.profile_id: result for result in candidate.results}
    profiles = []
    for result in baseline.results:
        other = others.pop(result.profile_id, None)
        if other is None:
            profiles.append(ProfileDiff(result.profile_id, result, None))
        else:
            profiles.append(_profile_diff(baseline, result, candidate, other, options))
    profiles += [ProfileDiff(result.profile_id, None, result) for result in others.values()]
    causes = _causes(*sides, profiles)
    package = None
    if sides[0].data_package_digest != sides[1].data_package_digest:
        package = _package_change(baseline, candidate, options)
    is_same = all(profile.verdict == "same" for profile in profiles)
    envelope = IDENTICAL if is_same and not any(cause.changed for cause in causes) else DIVERGED
    return BundleComparison(
        BUNDLES, envelope, None, *sides, causes=causes, profiles=profiles, data_package=package
    )


def refused_comparison(mode: str, errors: Iterable[BundleError]) -> BundleComparison:
    """Make the answer for bundles that break a rule: refused, or of an unsupported version, never compared.

    Parameters
    ----------
    mode : str
    errors : iterable of BundleError
        One per bundle that breaks a rule, the baseline's first; at least one.
    """
    found = list(errors)
    reason = "; ".join(str(error) for error in found)
    refused = any(error.rule != "schema-version" for error in found)
    return BundleComparison(mode, REFUSED if refused else COULD_NOT_CHECK, reason)


def _causes(
    baseline: BundleManifest, candidate: BundleManifest, profiles: Iterable[ProfileDiff]
) -> list[Cause]:
    causes = [
        Cause("prompt", "promptId", baseline.prompt_id, candidate.prompt_id),
        Cause("prompt", "promptVersion", baseline.prompt_version, candidate.prompt_version),
        Cause("prompt", "promptHash", baseline.prompt_hash, candidate.prompt_hash),
        Cause("input", "dataPackage.sha256", baseline.data_package_digest, candidate.data_package_digest),
        Cause("setting", "validPeriod", baseline.valid_period.to_dict(), candidate.valid_period.to_dict()),
        Cause("setting", "timezone", baseline.timezone, candidate.timezone),
    ]
    for profile in profiles:
        left, right = profile.baseline, profile.candidate
        if left is not None and right is not None:
            causes.append(Cause("backend", profile.profile_id, left.backend_id, right.backend_id))
            causes.append(Cause("model", profile.profile_id, left.model_name, right.model_name))
    return causes


def _profile_diff(
    baseline: Bundle, left: BundleResult, candidate: Bundle, right: BundleResult, options: TextOptions
) -> ProfileDiff:
    changes = []
    text = None
    if left.status != right.status:
        changes.append(STATUS)
    elif left.error != right.error:
        changes.append(ERROR)
    elif left.succeeded:
        text = _markdown_change(baseline, left, candidate, right, options)
        if text is not None:
            changes.append(TEXT)
    return ProfileDiff(left.profile_id, left, right, changes, text)


def _markdown_change(
    baseline: Bundle, left: BundleResult, candidate: Bundle, right: BundleResult, options: TextOptions
) -> TextChange | None:
    assert left.report_path is not None
    assert right.report_path is not None
    sizes = baseline.size_of(left.report_path), candidate.size_of(right.report_path)
    if max(sizes) > MAX_DIFF_BYTES:  # too large to be shown, so it need not lie in memory either
        if sizes[0] == sizes[1] and baseline.digest_of(left.report_path) == candidate.digest_of(
            right.report_path
        ):
            return None
        return _too_large(sizes)
    a, b = baseline.markdown(left), candidate.markdown(right)
    return None if a == b else _text_change(a, b, _MARKDOWN_TYPE, options)


def _package_change(baseline: Bundle, candidate: Bundle, options: TextOptions) -> TextChange:
    sizes = baseline.data_package_bytes, candidate.data_package_bytes
    if max(sizes) > MAX_DIFF_BYTES:
        return _too_large(sizes)
    return _text_change(baseline.data_package(), candidate.data_package(), _PACKAGE_TYPE, options)


def _text_change(a: bytes, b: bytes, media_type: str, options: TextOptions) -> TextChange:
    return _shown(
        text_diff(
            a,
            b,
            media_type=media_type,
            algorithm=options.algorithm,
            context=options.context,
            max_lines=options.max_lines,
        )
    )


def _too_large(sizes: tuple[int, int]) -> TextChange:
    diff = settle_by_size(max(sizes))
    assert diff is not None
    return _shown(diff)


def _shown(diff: TextDiff) -> TextChange:
    return TextChange(diff.kind, diff.notes, diff.hunks_json(), diff.plain_lines(), diff.more_lines)
