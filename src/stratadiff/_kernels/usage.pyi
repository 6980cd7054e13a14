"""Token counts of responses that are Python dictionaries."""

from array import array
from collections.abc import Iterable
from typing import Any, TypeAlias

# Three columns, how often each was absent, and (response, dimension, value) of counts past int64.
_Columns: TypeAlias = tuple[
    array[int], array[int], array[int], tuple[int, int, int], list[tuple[int, int, int]]
]

def columns(records: Iterable[dict[str, Any]], /) -> _Columns: ...
def of_payloads(payloads: Iterable[Any], /) -> _Columns: ...
