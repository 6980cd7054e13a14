from array import array
from mmap import mmap
from typing import Any, TypeAlias

from numpy import ndarray

Bytes: TypeAlias = bytes | bytearray | memoryview | mmap | ndarray[Any, Any]
Ints: TypeAlias = array[int] | memoryview | ndarray[Any, Any]
Longs: TypeAlias = array[int] | memoryview | ndarray[Any, Any]
Doubles: TypeAlias = array[float] | memoryview | ndarray[Any, Any]
