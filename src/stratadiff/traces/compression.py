"""Traces that are compressed: gzip and zstd, recognised by their first bytes *(agentlog §5)*."""

from __future__ import annotations

from itertools import chain

from stratadiff.core.files import read_pieces
from stratadiff.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

_MOST = 1 << 20
"""Bytes that come out at a time."""

_ZSTD_PIECE = 1 << 10
"""Bytes of zstd data that go in at a time: a block of four bytes can become 128 KiB."""


class Damage(Exception):  # noqa: N818  the end of what can be read, not of the reading
    """Compressed data that ends too early or is not as it was written; what came before it was yielded."""


def decompressed(path: str) -> Iterator[bytes]:
    """Read a file, decompressed if it is compressed, in bounded pieces.

    Raises
    ------
    Damage
        After the last bytes that can be told.
    InputError
        The file cannot be read, or is compressed with zstd and ``zstandard`` is not installed.
    """
    pieces = read_pieces(path)
    first = next(pieces, b"")
    pieces = chain((first,), pieces)
    if first.startswith(GZIP):
        return _gunzipped(pieces)
    if first.startswith(ZSTD):
        return _unzstd(path, pieces)
    return pieces


def with_last(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Say with each piece whether the data ends with it; an empty file has one empty piece.

    Raises
    ------
    Damage
        Where `pieces` did, after the last piece. That one then is not the end: what it tears is no line.
    """
    before = None
    damage = None
    try:
        for piece in pieces:
            if before is not None:
                yield before, False
            before = piece
    except Damage as error:
        damage = error
    yield before or b"", damage is None
    if damage is not None:
        raise damage


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    import zlib

    unpack = zlib.decompressobj(wbits=31)
    is_open = False
    for piece in pieces:
        while piece:
            is_open = True
            before = unpack.copy()
            try:
                data = unpack.decompress(piece, _MOST)
            except zlib.error as error:
                # What this piece gave before the damage is lost with the call: once more, byte by byte.
                salvaged = bytearray()
                try:
                    for at in range(len(piece)):
                        salvaged += before.decompress(piece[at : at + 1])
                        if len(salvaged) >= _MOST:
                            yield bytes(salvaged)
                            salvaged.clear()
                except zlib.error:
                    pass
                yield bytes(salvaged)
                raise Damage(f"the gzip data is damaged: {error}") from None
            if data:
                yield data
            piece = unpack.unconsumed_tail
            if unpack.eof:
                # Members may follow one another, as `cat a.gz b.gz` makes them.
                piece = unpack.unused_data
                unpack = zlib.decompressobj(wbits=31)
                is_open = False
    if is_open:
        raise Damage("the gzip data ends too early")


def _unzstd(path: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        message = "is compressed with zstd; reading it takes the package zstandard: pip install zstandard"
        raise InputError(message, where=path) from None
    make = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj
    unpack = make()
    is_open = False
    small = (piece[at : at + _ZSTD_PIECE] for piece in pieces for at in range(0, len(piece), _ZSTD_PIECE))
    for piece in small:
        while piece:
            is_open = True
            try:
                data = unpack.decompress(piece)
            except zstandard.ZstdError as error:
                raise Damage(f"the zstd data is damaged: {error}") from None
            yield from (data[at : at + _MOST] for at in range(0, len(data), _MOST))
            piece = b""
            if unpack.eof:
                piece = unpack.unused_data
                unpack = make()
                is_open = False
    if is_open:
        raise Damage("the zstd data ends too early")
