"""The peers and floors as plain calls: texts in, something countable out.

Every function returns None instead of a call where its library is not installed. Results are brought to one
form for the checks: matching blocks or opcodes, from which `edits_of` counts deleted and inserted lines.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Opcode = tuple[str, int, int, int, int]

LIBRARIES = (
    *("mercurial", "pygit2", "cydifflib", "rapidfuzz", "orjson", "msgspec", "pysimdjson", "numpy"),
    *("onetrace", "shadow-diff"),
)
"""Distributions whose versions a table names."""

WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def versions() -> dict[str, str]:
    """Return the version of each library, ``not installed`` where it is missing."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def library(name: str) -> Any:
    """Return a module, or None if it cannot be imported."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def xdiff_blocks(a: bytes, b: bytes) -> Callable[[], Any] | None:
    """Mercurial's fork of xdiff: matching line blocks of two texts."""
    bdiff = library("mercurial.cext.bdiff")
    return None if bdiff is None else lambda: bdiff.xdiffblocks(a, b)


def bdiff_blocks(a: bytes, b: bytes) -> Callable[[], Any] | None:
    """Mercurial's own diff: matching line blocks of two texts."""
    bdiff = library("mercurial.cext.bdiff")
    return None if bdiff is None else lambda: bdiff.blocks(a, b)


def git_patch(a: bytes, b: bytes, minimal: bool) -> Callable[[], Any] | None:
    """libgit2's patch of two texts without context, by default or asked to be minimal."""
    pygit2 = library("pygit2")
    if pygit2 is None:
        return None
    options = pygit2.enums.DiffOption
    flag = options.FORCE_TEXT | (options.MINIMAL if minimal else options.NORMAL)
    return lambda: pygit2.Patch.create_from(a, b, flag=flag, context_lines=0)


def word_opcodes(matcher: Any, a: str, b: str) -> Callable[[], list[Opcode]] | None:
    """Word tokens of two lines and the opcodes of a class like ``difflib.SequenceMatcher``."""
    if matcher is None:
        return None
    words = WORDS.findall
    return lambda: list(matcher(None, words(a), words(b), False).get_opcodes())


def rapidfuzz_words(a: str, b: str) -> Callable[[], Any] | None:
    """Word tokens of two lines and rapidfuzz's longest common subsequence."""
    distance = library("rapidfuzz.distance")
    if distance is None:
        return None
    words, opcodes = WORDS.findall, distance.LCSseq.opcodes
    return lambda: opcodes(words(a), words(b))


def sequence_opcodes(
    matcher: Any, a: Sequence[bytes], b: Sequence[bytes]
) -> Callable[[], list[Opcode]] | None:
    """Opcodes of lines that are split already; popular ones dropped, as ``difflib`` does by default."""
    return None if matcher is None else lambda: list(matcher(None, a, b).get_opcodes())


def difflib_matcher() -> Any:
    """Return ``difflib.SequenceMatcher``."""
    return SequenceMatcher


def cydifflib_matcher() -> Any:
    """Return cydifflib's ``SequenceMatcher``, or None."""
    module = library("cydifflib")
    return None if module is None else module.SequenceMatcher


def dict_interning(a: bytes, b: bytes) -> Callable[[], object]:
    """Number the lines of both sides with a Python dict."""

    def intern() -> tuple[list[int], list[int]]:
        ids: dict[bytes, int] = {}
        number = ids.setdefault
        left = [number(line, len(ids)) for line in a.split(b"\n")]
        return left, [number(line, len(ids)) for line in b.split(b"\n")]

    return intern


def block_edits(blocks: Iterable[Sequence[int]], a: Sequence[bytes], b: Sequence[bytes]) -> int:
    """Count the edits of matching blocks (a1, a2, b1, b2), after checking that they match and ascend."""
    kept = i = j = 0
    for a1, a2, b1, b2 in blocks:
        assert i <= a1 <= a2 and j <= b1 <= b2, "the peer's blocks are out of order"
        assert a[a1:a2] == b[b1:b2], "the peer's blocks do not match"
        kept += a2 - a1
        i, j = a2, b2
    return len(a) + len(b) - 2 * kept


def opcode_edits(opcodes: Iterable[Any]) -> int:
    """Count deletions and insertions of opcodes ``(tag, i1, i2, j1, j2)``."""
    return sum(i2 - i1 + j2 - j1 for tag, i1, i2, j1, j2 in opcodes if tag != "equal")


def apply_opcodes(opcodes: Iterable[Any], a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Rebuild the candidate: equal elements from the baseline, the others from the candidate."""
    out: list[Any] = []
    for tag, i1, i2, j1, j2 in opcodes:
        out.extend(a[i1:i2] if tag == "equal" else b[j1:j2])
    return out
