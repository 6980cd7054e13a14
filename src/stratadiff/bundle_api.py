"""*Diff these two bundles, or the profiles of this one*: the whole comparison in one call, for programs and
for the command line.
"""

from __future__ import annotations

import os

from stratadiff.bundles import compare
from stratadiff.bundles.comparison import BUNDLES, PROFILES, TextOptions
from stratadiff.bundles.model import Bundle, BundleError
from stratadiff.bundles.reader import open_bundle
from stratadiff.core.frozen import Frozen
from stratadiff.documents.bundlediff import bundlediff_document
from stratadiff.limits import DEFAULT_CONTEXT, DEFAULT_MAX_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from stratadiff.bundles.comparison import BundleComparison
    from stratadiff.documents.document import Document

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    BundleSource: TypeAlias = Path | Bundle


class BundleDiff(Frozen):
    """What a comparison of bundles, or of a bundle's profiles, found. Nothing is read again.

    Attributes
    ----------
    comparison : BundleComparison
        The profiles with what changed in each, and the recorded causes.
    """

    __slots__ = ("comparison",)
    comparison: BundleComparison

    def __init__(self, comparison: BundleComparison) -> None:
        self._fill(comparison=comparison)

    def __repr__(self) -> str:
        return f"<BundleDiff {self.envelope}{'' if self.reason is None else f': {self.reason}'}>"

    @property
    def envelope(self) -> str:
        """``identical``, ``diverged``, ``not comparable``, ``refused`` or ``could not check``."""
        return self.comparison.envelope

    @property
    def exit_code(self) -> int:
        """The envelope as the command's exit code, 0 to 4."""
        return self.comparison.exit_code

    @property
    def reason(self) -> str | None:
        """Why nothing was compared; None for a verdict. May hold record text: escape it."""
        return self.comparison.reason

    def document(self) -> Document:
        """Return the ``stratadiff-bundlediff/0.1`` document."""
        return bundlediff_document(self.comparison)

    def text(self, *, colour: bool = False) -> str:
        """Return the plain form.

        Parameters
        ----------
        colour : bool
            Colour removed and added lines for a terminal.
        """
        # The front door may open any floor; rendering stands beside this one.
        from stratadiff import draw_bundles

        return draw_bundles(self.document(), colour=colour)


def diff_profiles(
    bundle: BundleSource,
    baseline: str | None = None,
    *,
    algorithm: str = "myers",
    context: int = DEFAULT_CONTEXT,
    max_lines: int = DEFAULT_MAX_LINES,
) -> BundleDiff:
    """Compare the Markdown of every successful profile of a bundle to that of one of them.

    Parameters
    ----------
    bundle : path-like or Bundle
    baseline : str, optional
        The id of that profile; the first that succeeded by default.
    algorithm : str
        ``"myers"`` (minimal) or ``"gestalt"`` (as the published tools show it).
    context : int
        Unchanged lines around each change, 0 or more.
    max_lines : int
        Lines shown per text, at least 1.

    Returns
    -------
    BundleDiff
        Also of a folder that is no bundle: a verdict is a result, not an exception. With fewer than two
        successes there is nothing to compare, and no profile in it.

    Raises
    ------
    InputError
        No profile has that id, or it failed.
    UsageError
        An argument is out of range.
    """
    options = TextOptions(algorithm=algorithm, context=context, max_lines=max_lines)
    return _compared(
        PROFILES, (bundle,), lambda opened: compare.diff_profiles(opened, baseline, options=options)
    )


def diff_bundles(
    baseline: BundleSource,
    candidate: BundleSource,
    *,
    algorithm: str = "myers",
    context: int = DEFAULT_CONTEXT,
    max_lines: int = DEFAULT_MAX_LINES,
) -> BundleDiff:
    """Compare two bundles of one report: what was recorded, then profile by profile.

    Parameters
    ----------
    baseline, candidate : path-like or Bundle
        Profiles are paired by their ids.
    algorithm, context, max_lines
        As in :func:`diff_profiles`.

    Returns
    -------
    BundleDiff
        Also of folders that are no bundles: a verdict is a result, not an exception.

    Raises
    ------
    UsageError
        An argument is out of range.
    """
    options = TextOptions(algorithm=algorithm, context=context, max_lines=max_lines)
    return _compared(
        BUNDLES,
        (baseline, candidate),
        lambda left, right: compare.diff_bundles(left, right, options=options),
    )


def _compared(
    mode: str, sources: tuple[BundleSource, ...], function: Callable[..., BundleComparison]
) -> BundleDiff:
    bundles = []
    errors = []
    for source in sources:
        try:
            bundles.append(source if isinstance(source, Bundle) else open_bundle(source))
        except BundleError as error:
            errors.append(error)
    if not errors:
        try:
            return BundleDiff(function(*bundles))
        except BundleError as error:  # changed since it was opened
            errors.append(error)
    return BundleDiff(compare.refused_comparison(mode, errors))
