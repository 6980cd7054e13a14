"""How the files of a bundle are called *(bundles §3)*."""

from __future__ import annotations

MANIFEST = "comparison.json"
DATA_PACKAGE = "data-package.yml"
SUFFIX = ".md"

_KEPT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_MAX_SLUG = 64
_FALLBACK = "profile"


def slug_of(profile_id: str) -> str:
    """Return what stands for a profile in the name of its file; two profiles may have the same.

    Examples
    --------
    >>> slug_of("Größe XL/v2"), slug_of("a-/b"), slug_of("…")
    ('Gr-e-XL-v2', 'a--b', 'profile')
    """
    kept: list[str] = []
    in_run = False
    for character in profile_id:
        if character in _KEPT:
            kept.append(character)
            in_run = False
        elif not in_run:
            kept.append("-")
            in_run = True
    return "".join(kept).strip("-_")[:_MAX_SLUG] or _FALLBACK


def report_name(position: int, total: int, profile_id: str) -> str:
    """Return the name of a successful profile's Markdown: positions have as many digits as the last one, two
    at least.
    """
    return f"{position:0{max(2, len(str(total)))}d}-{slug_of(profile_id)}{SUFFIX}"


def accepted_names(position: int, total: int, profile_id: str) -> tuple[str, ...]:
    """Return the names a reader accepts: the writer's first, and the one padded to two digits whatever the
    total.
    """
    name = report_name(position, total, profile_id)
    short = report_name(position, 0, profile_id)
    return (name,) if name == short else (name, short)
