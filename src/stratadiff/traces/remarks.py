"""A bounded list of what there is to say about the lines of a trace."""

from __future__ import annotations

from stratadiff.limits import MAX_TRACE_DIAGNOSTICS
from stratadiff.traces.model import Diagnostic


class Remarks:
    """Remarks in the order of their lines; past ``limits.MAX_TRACE_DIAGNOSTICS`` they are counted by code."""

    def __init__(self) -> None:
        self._listed: list[Diagnostic] = []
        self._first_lines: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    @property
    def has_room(self) -> bool:
        """Tell whether the next remark is listed."""
        return len(self._listed) < MAX_TRACE_DIAGNOSTICS

    def add(self, line: int, code: str, message: str) -> None:
        """Make a remark."""
        if self.has_room:
            self._listed.append(Diagnostic(line, code, message))
        else:
            self.skip(line, code, 1)

    def skip(self, line: int, code: str, count: int) -> None:
        """Count remarks that are not listed, the first of them about `line`."""
        self._first_lines.setdefault(code, line)
        self._counts[code] = self._counts.get(code, 0) + count

    def listed(self) -> list[Diagnostic]:
        """Return the remarks, and one for every code that was only counted."""
        counted = [
            Diagnostic(
                line, code, f"from here on {self._counts[code]:,} lines with this code, not listed one by one"
            )
            for code, line in self._first_lines.items()
        ]
        return [*sorted(self._listed, key=_line_of), *counted]


def _line_of(remark: Diagnostic) -> int:
    return remark.line
