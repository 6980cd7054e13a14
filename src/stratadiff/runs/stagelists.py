"""Stage lists, which every receipt of a run repeats: parsed once, held once.

In a run of four hundred stages the two lists are five sixths of a receipt's bytes and of the time to parse
it. Where a canonical receipt repeats the text of the lists seen first, the rest of it is parsed and the
lists are put back.
"""

from __future__ import annotations

from _json import encode_basestring

from stratadiff.core import jsonvalue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DECLARED = '"declared_stages":'
_EMITTING = '"emitting_stages":'


class StageLists:
    """Parses the receipts of one run; the first one's ``declared_stages`` is what the others are held to."""

    __slots__ = ("_ends", "_items", "_names")

    def __init__(self) -> None:
        self._names: list[str] = []
        self._items = ""
        self._ends: dict[int, int] = {}

    def parse(self, text: str) -> Any:
        """Return the value of a canonical JSON text (run-records §2), exactly as :func:`jsonvalue.parse`
        does.

        Lists that are equal may be one object: do not change them.
        """
        if self._names:
            value = self._parse_without(text)
            if value is not None:
                return value
        value = jsonvalue.parse(text)
        if not self._names:
            self._learn(value)
        return value

    def _learn(self, value: Any) -> None:
        coverage = value.get("coverage") if isinstance(value, dict) else None
        names = coverage.get("declared_stages") if isinstance(coverage, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return
        self._names = names
        items = [encode_basestring(name) for name in names]
        self._items = ",".join(items)
        self._ends = {0: 0}
        end = -1
        for count, item in enumerate(items, 1):
            end += len(item) + 1
            self._ends[end] = count

    def _parse_without(self, text: str) -> Any:
        """Return the value when the lists could be taken out and put back, None when they could not."""
        # A quote inside a string is escaped, so each text is a member's name, wherever it stands; with one
        # of each in all, the ones found are coverage's if coverage has such members.
        if text.count(_DECLARED) != 1 or text.count(_EMITTING) != 1:
            return None
        start = text.find(_DECLARED) + len(_DECLARED) + 1
        end = start + len(self._items)
        if text[start - 1] != "[" or text[end : end + 1] != "]" or not text.startswith(self._items, start):
            return None
        first = text.find(_EMITTING, end) + len(_EMITTING) + 1
        if first <= end or text[first - 1] != "[":
            return None
        # A bracket within a name ends this too early, at no item's end.
        last = text.find("]", first)
        count = self._ends.get(last - first)
        if count is None or not self._items.startswith(text[first:last]):
            return None
        value = jsonvalue.parse(text[:start] + text[end:first] + text[last:])
        coverage = value.get("coverage") if isinstance(value, dict) else None
        if not isinstance(coverage, dict):
            return None
        if coverage.get("declared_stages") != [] or coverage.get("emitting_stages") != []:
            return None
        coverage["declared_stages"] = self._names
        coverage["emitting_stages"] = self._names[:count]
        return value
