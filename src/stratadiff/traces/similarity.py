"""How alike texts are: weighted words, and shingles *(levels §1.1, §3.1, §4.3)*."""

from __future__ import annotations

from array import array

from stratadiff._kernels import shingles, tfidf
from stratadiff.traces.features import Ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SHINGLE = 4
"""Code points of a shingle at the turn level."""

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The code points with the Unicode property White_Space; ``str.strip`` and ``str.split`` take four more."""

_NOT_WHITE_SPACE = ("\x1c", "\x1d", "\x1e", "\x1f")
_TO_SPACE = dict.fromkeys(map(ord, WHITE_SPACE), " ")


class _Lowered(dict[int, str]):
    """Code point → its lower case, with a space for what is no letter, number or mark.

    Filled as code points occur: ``str.translate`` asks for each only once.
    """

    def __missing__(self, point: int) -> str:
        char = chr(point)
        if point < 128:
            found = char.lower() if char.isalnum() else " "
        else:
            from unicodedata import category  # start-up

            found = "".join(low if category(low)[0] in "LNM" else " " for low in char.lower())
        self[point] = found
        return found


_LOWERED = _Lowered()


def words_of(text: str) -> list[str]:
    """Cut a text into lower-case words of letters, numbers and marks *(levels §1.1, 1)*.

    The text is normalised to NFC; lower case is taken code point by code point, whatever stands around it.
    """
    if not text.isascii():
        from unicodedata import normalize  # start-up

        text = normalize("NFC", text)
    # No letter, number or mark is white space, so splitting needs no separator.
    return text.translate(_LOWERED).split()


class Words:
    """The words of texts as numbers, the same number for the same word.

    Parameters
    ----------
    texts : sequence of str
        The texts.

    Attributes
    ----------
    documents : list of array('i')
        The words of each text in order.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        number = Ids().__getitem__
        self.documents = [array("i", map(number, words_of(text))) for text in texts]

    def similarities(self, baseline: Sequence[int], candidate: Sequence[int]) -> list[float]:
        """Return the TF-IDF cosine of pairs of texts, which are the corpus *(levels §1.1)*.

        Parameters
        ----------
        baseline, candidate : sequence of int
            Places of the texts of pair 0, 1, ...
        """
        ids = array("i")
        bounds = array("i", (0,))
        for text in (*baseline, *candidate):
            ids.extend(self.documents[text])
            bounds.append(len(ids))
        if ids and max(ids) >= len(ids):  # a small part of the texts: the kernel wants ids without gaps
            ids = array("i", map(Ids().__getitem__, ids))
        return [round(value, 12) for value in tfidf.similarities(ids, bounds)]


def shingle_similarities(baseline: Sequence[str], candidate: Sequence[str]) -> list[float]:
    """Return the Jaccard index of the 4-shingle sets of pairs of texts *(levels §4.3)*."""
    differing = [index for index, (b, c) in enumerate(zip(baseline, candidate, strict=True)) if b != c]
    found = [1.0] * len(baseline)
    if differing:
        measured = shingles.jaccards(
            [baseline[index] for index in differing], [candidate[index] for index in differing], SHINGLE
        )
        for index, value in zip(differing, measured, strict=True):
            found[index] = value
    return found


def collapsed(text: str) -> str:
    """Return a text with each run of White_Space made one space and the ends trimmed *(levels §3.2)*."""
    if any(char in text for char in _NOT_WHITE_SPACE):
        return " ".join(filter(None, text.translate(_TO_SPACE).split(" ")))
    return " ".join(text.split())
