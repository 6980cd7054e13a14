"""Splitting a text into lines (textdiff 9.1)."""

from __future__ import annotations


def decode(data: bytes) -> str:
    """Decode for text mode (textdiff 5.2): an undecodable byte becomes the unit U+DC00 + byte.

    Strict UTF-8 never yields a surrogate, so such a unit stands for its byte and for nothing else.
    """
    return data.decode("utf-8", "surrogateescape")


def strips_cr(text: str) -> bool:
    """Tell whether trailing CRs of this text belong to its line ends."""
    return "\r\n" in text


def split_lines(text: str) -> list[str]:
    """Split at LF only; drop the piece after a final LF; remove one trailing CR where CR LF occurs."""
    pieces = text.split("\n")
    if text.endswith("\n"):
        pieces.pop()
    if strips_cr(text):
        pieces = [piece[:-1] if piece.endswith("\r") else piece for piece in pieces]
    return pieces


def has_final_newline(text: str) -> bool:
    """Tell whether the text ends with LF."""
    return text.endswith("\n")


def endings(text: str) -> str:
    """Name the line ends of a text: ``LF``, ``CRLF`` or ``mixed``."""
    crlf_count = text.count("\r\n")
    if crlf_count == 0:
        return "LF"
    return "CRLF" if crlf_count == text.count("\n") else "mixed"


def index(data: bytes) -> tuple[list[int], int, int]:
    """Give the start offset of every line with one more past the end, and the counts of LF and CR LF.

    Line ``i`` is ``data[starts[i] : starts[i + 1] - 1]``; an unterminated last line is given an end as if
    a LF followed it. CRs are not removed here.
    """
    starts = [0]
    for piece in data.split(b"\n"):
        starts.append(starts[-1] + len(piece) + 1)
    if data.endswith(b"\n"):
        starts.pop()
    return starts, data.count(b"\n"), data.count(b"\r\n")
