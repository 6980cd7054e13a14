"""Path → :class:`~stratadiff.runs.model.Run`: which kind of input it is, and every file of it read once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.runs.model import Run


def read_input(given: str, *, strict: bool = False) -> Run:
    """Read a run folder, its ``MANIFEST.json``, or a single receipt (run-records §1).

    The manifest and every receipt are read, each once; artifacts are not (the verifier hashes them, and
    :func:`read_output` reads one that is to be shown).

    Parameters
    ----------
    given : str
        The path as typed.
    strict : bool
        Refuse files whose real path leaves the run, and apply verification §8.

    Returns
    -------
    Run
        Not verified yet. Look at :attr:`Run.unreadable` and :attr:`Run.unimplemented` first.

    Raises
    ------
    NotFoundError
        ``<given>: no such file or directory``.
    UnknownKindError
        ``<given>: neither MANIFEST.json (run) nor SUMMARY.json (summary) is present``, or the message about a summary without
        its stage declaration (comparison §7).
    UnreadableError
        The path exists and cannot be looked at.
    """
    raise NotImplementedError


def read_output(run: Run, stem: str, name: object, digest: object) -> tuple[bytes | None, str]:
    """Read an output that is to be shown, from one descriptor, and hash it again (comparison §5, decision D5b).

    Returns
    -------
    data : bytes or None
        The bytes, only when their digest is `digest`.
    problem : str
        ``""``, or the reason to print instead: ``not shown: <name> is missing``, ``not shown: <name> is outside the run`` or
        ``not shown: <name> does not match its receipt``. Hostile text: escape before display.
    """
    raise NotImplementedError
