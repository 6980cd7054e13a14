"""Verified diffs of recorded AI pipeline runs: what changed, where it started, and what could have caused it.

The public names load what they need on first use, so ``import stratadiff`` itself costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stratadiff.api import DiffResult, Verification, demo_runs, diff, open, verify
    from stratadiff.core.escape import escape_name
    from stratadiff.core.linediff import EditScript, edit_script
    from stratadiff.core.textdiff import TextDiff, text_diff
    from stratadiff.documents.document import Document
    from stratadiff.errors import (
        InputError,
        LimitError,
        NotFoundError,
        OutputError,
        StratadiffError,
        UnknownKindError,
        UnreadableError,
        UsageError,
    )
    from stratadiff.render.text import draw_text
    from stratadiff.runs.model import Run

__version__ = "0.1.0"

__all__ = [
    "DiffResult",
    "Document",
    "EditScript",
    "InputError",
    "LimitError",
    "NotFoundError",
    "OutputError",
    "Run",
    "StratadiffError",
    "TextDiff",
    "UnknownKindError",
    "UnreadableError",
    "UsageError",
    "Verification",
    "__version__",
    "demo_runs",
    "diff",
    "draw_text",
    "edit_script",
    "escape_name",
    "open",
    "text_diff",
    "verify",
]

_HOMES = {
    "stratadiff.api": ("DiffResult", "Verification", "demo_runs", "diff", "open", "verify"),
    "stratadiff.core.escape": ("escape_name",),
    "stratadiff.core.linediff": ("EditScript", "edit_script"),
    "stratadiff.core.textdiff": ("TextDiff", "text_diff"),
    "stratadiff.documents.document": ("Document",),
    "stratadiff.errors": (
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
    "stratadiff.runs.model": ("Run",),
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
