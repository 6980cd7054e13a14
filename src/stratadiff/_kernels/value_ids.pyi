"""JSON values given as Python objects: whether two are equal, and dense ids for many."""

from array import array
from collections.abc import Iterable
from typing import Any

def equal(a: Any, b: Any, /) -> bool: ...
def intern(values: Iterable[Any], /) -> array[int]: ...
