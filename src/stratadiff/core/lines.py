"""A text as lines: one buffer, and where its lines start."""

from __future__ import annotations

from stratadiff._kernels.line_index import index_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array


class Lines:
    """The lines of one text *(textdiff §9.1)*.

    Parameters
    ----------
    data : bytes
        The text. Lines end at LF only; a final LF opens no line, and the empty text is one empty line.

    Attributes
    ----------
    data : bytes
    starts : array of int32, shape (n + 1,)
        Line i is ``data[starts[i] : starts[i + 1] - 1]``, before :attr:`strip_cr`.
    lf_count, crlf_count : int
    """

    __slots__ = ("crlf_count", "data", "lf_count", "starts")

    data: bytes
    starts: array[int]
    lf_count: int
    crlf_count: int

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts, self.lf_count, self.crlf_count = index_lines(data)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> bytes:
        """Return the content of one line, without its ending."""
        end = self.starts[index + 1] - 1
        line = self.data[self.starts[index] : end]
        return line[:-1] if self.strip_cr and line.endswith(b"\r") else line

    @property
    def strip_cr(self) -> bool:
        """Whether one CR at the end of a line is part of its ending: so in every text with a CR LF."""
        return self.crlf_count > 0

    @property
    def endings(self) -> str:
        """``LF``, ``CRLF`` or ``mixed``."""
        if not self.crlf_count:
            return "LF"
        return "CRLF" if self.crlf_count == self.lf_count else "mixed"

    @property
    def has_final_newline(self) -> bool:
        """Whether the text ends with LF."""
        return self.data.endswith(b"\n")
