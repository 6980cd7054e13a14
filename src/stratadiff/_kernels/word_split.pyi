from array import array

from stratadiff._kernels._buffer import Bytes, Ints

UNICODE_VERSION: str

def split_pairs(
    a: Bytes, b: Bytes, pairs: Ints, surrogates: bool, max_chars: int, max_words: int, /
) -> tuple[array[int], array[int], array[int], array[int], array[int], array[int]]: ...
