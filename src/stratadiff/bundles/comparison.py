"""What a comparison of bundles or of a bundle's profiles found, in Python's terms."""

from __future__ import annotations

from stratadiff.core.frozen import Frozen, Struct
from stratadiff.core.textdiff import check_options
from stratadiff.limits import DEFAULT_CONTEXT, DEFAULT_MAX_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from stratadiff.bundles.model import BundleManifest, BundleResult

PROFILES, BUNDLES = "profiles", "bundles"

IDENTICAL, DIVERGED = "identical", "diverged"
NOT_COMPARABLE, REFUSED, COULD_NOT_CHECK = "not comparable", "refused", "could not check"
EXIT_CODES = {IDENTICAL: 0, DIVERGED: 1, NOT_COMPARABLE: 2, REFUSED: 3, COULD_NOT_CHECK: 4}

STATUS, ERROR, TEXT = "status", "error", "text"
"""What of a profile can have changed."""


class TextOptions(Frozen):
    """How texts are compared and shown.

    Parameters
    ----------
    algorithm, context, max_lines
        As :func:`~stratadiff.core.textdiff.text_diff` takes them.
    """

    __slots__ = ("algorithm", "context", "max_lines")
    algorithm: str
    context: int
    max_lines: int

    def __init__(
        self,
        *,
        algorithm: str = "myers",
        context: int = DEFAULT_CONTEXT,
        max_lines: int = DEFAULT_MAX_LINES,
    ) -> None:
        check_options(algorithm, context, max_lines)
        self._fill(algorithm=algorithm, context=context, max_lines=max_lines)


class TextChange(Struct):
    """How a text changed, as it is shown.

    Attributes
    ----------
    kind : str
        ``text`` or ``not diffed``.
    notes : tuple of str
        Lines that go with it.
    hunks : bytes
        Canonical JSON of the hunks.
    lines : tuple of str
        The lines of the plain form.
    more_lines : int or None
        Lines left out by the cut.
    """

    __slots__ = ("kind", "notes", "hunks", "lines", "more_lines")  # noqa: RUF023  what it is comes first
    kind: str
    notes: tuple[str, ...]
    hunks: bytes
    lines: tuple[str, ...]
    more_lines: int | None

    def __init__(
        self,
        kind: str,
        notes: Iterable[str],
        hunks: bytes,
        lines: Iterable[str],
        more_lines: int | None,
    ) -> None:
        self._fill(kind=kind, notes=tuple(notes), hunks=hunks, lines=tuple(lines), more_lines=more_lines)


class Cause(Struct):
    """Something recorded that may be why texts differ.

    Attributes
    ----------
    kind : str
        ``prompt``, ``input``, ``setting``, ``backend`` or ``model``.
    name : str
        The manifest's member; of a backend or a model, the profile's id.
    baseline, candidate : Any
        As recorded: a text, a mapping, or None.
    """

    __slots__ = ("kind", "name", "baseline", "candidate")  # noqa: RUF023  the order of the document
    kind: str
    name: str
    baseline: Any
    candidate: Any

    def __init__(self, kind: str, name: str, baseline: Any, candidate: Any) -> None:
        self._fill(kind=kind, name=name, baseline=baseline, candidate=candidate)

    @property
    def changed(self) -> bool:
        """Tell whether it differs."""
        return bool(self.baseline != self.candidate)


class ProfileDiff(Struct):
    """A profile on both sides, or another profile against the baseline profile.

    Attributes
    ----------
    profile_id : str
        The candidate's, where there is one.
    baseline, candidate : BundleResult or None
        None for a profile of one side only.
    changes : tuple of str
        Out of ``status``, ``error`` and ``text``.
    text : TextChange or None
        If the text changed.
    """

    __slots__ = ("profile_id", "baseline", "candidate", "changes", "text")  # noqa: RUF023  what it is comes first
    profile_id: str
    baseline: BundleResult | None
    candidate: BundleResult | None
    changes: tuple[str, ...]
    text: TextChange | None

    def __init__(
        self,
        profile_id: str,
        baseline: BundleResult | None,
        candidate: BundleResult | None,
        changes: Iterable[str] = (),
        text: TextChange | None = None,
    ) -> None:
        self._fill(
            profile_id=profile_id, baseline=baseline, candidate=candidate, changes=tuple(changes), text=text
        )

    @property
    def verdict(self) -> str:
        """``same``, ``changed``, ``only in the baseline`` or ``only in the candidate``."""
        if self.candidate is None:
            return "only in the baseline"
        if self.baseline is None:
            return "only in the candidate"
        return "changed" if self.changes else "same"


class BundleComparison(Struct):
    """What a comparison found.

    Attributes
    ----------
    mode : str
        ``profiles`` of one bundle, or two ``bundles``.
    envelope : str
        ``identical``, ``diverged``, ``not comparable``, ``refused`` or ``could not check``.
    reason : str or None
        Why nothing was compared. Hostile text.
    baseline, candidate : BundleManifest or None
        Of `profiles` both the one bundle's; None if it was not read.
    baseline_profile : str or None
        The id of the profile the others are compared to.
    causes : tuple of Cause
        Of `bundles`.
    profiles : tuple of ProfileDiff
        In the baseline's order, then the candidate's.
    data_package : TextChange or None
        If its digest changed.
    """

    __slots__ = (  # noqa: RUF023  what it is comes first
        "mode",
        "envelope",
        "reason",
        "baseline",
        "candidate",
        "baseline_profile",
        "causes",
        "profiles",
        "data_package",
    )
    mode: str
    envelope: str
    reason: str | None
    baseline: BundleManifest | None
    candidate: BundleManifest | None
    baseline_profile: str | None
    causes: tuple[Cause, ...]
    profiles: tuple[ProfileDiff, ...]
    data_package: TextChange | None

    def __init__(
        self,
        mode: str,
        envelope: str,
        reason: str | None = None,
        baseline: BundleManifest | None = None,
        candidate: BundleManifest | None = None,
        baseline_profile: str | None = None,
        causes: Iterable[Cause] = (),
        profiles: Iterable[ProfileDiff] = (),
        data_package: TextChange | None = None,
    ) -> None:
        self._fill(
            mode=mode,
            envelope=envelope,
            reason=reason,
            baseline=baseline,
            candidate=candidate,
            baseline_profile=baseline_profile,
            causes=tuple(causes),
            profiles=tuple(profiles),
            data_package=data_package,
        )

    @property
    def exit_code(self) -> int:
        """The envelope as an exit code, 0 to 4."""
        return EXIT_CODES[self.envelope]
