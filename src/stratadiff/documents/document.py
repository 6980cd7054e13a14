"""A document: the members of one result in a format's own terms, closed, with one canonical form."""

from __future__ import annotations

from stratadiff.core import canonical
from stratadiff.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

_set = object.__setattr__


class PlainForm:
    """What the plain form prints and the document does not hold: ``~`` lines, separators, notes about traces.

    Parameters
    ----------
    outputs : sequence of sequence of str
        The lines of each output, in the order the document lists outputs: its nodes', then its traces'.
    trace_notes : sequence of str
        Notes before the traces. Hostile text.
    """

    __slots__ = ("outputs", "trace_notes")

    def __init__(self, outputs: Sequence[Sequence[str]] = (), trace_notes: Sequence[str] = ()) -> None:
        self.outputs = outputs
        self.trace_notes = trace_notes


class Document:
    """An immutable document.

    Parameters
    ----------
    members : mapping
        Strings, booleans, None, lists and mappings; numbers are decimal strings. ``Fragment`` values are
        canonical bytes.
    plain : PlainForm, optional
        What a renderer of the plain form needs beyond the members.

    Examples
    --------
    >>> Document({"format": "example/0.1", "count": "2"}).canonical()
    b'{"count":"2","format":"example/0.1"}'
    """

    __slots__ = ("_canonical", "_members", "plain")
    plain: PlainForm
    _members: Mapping[str, Any]
    _canonical: bytes | None

    def __init__(self, members: Mapping[str, Any], plain: PlainForm | None = None) -> None:
        _set(self, "_members", members)
        _set(self, "_canonical", None)
        _set(self, "plain", plain if plain is not None else PlainForm())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a document is immutable; {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a document is immutable; {name} cannot be deleted")

    def __reduce__(self) -> tuple[type[Document], tuple[Mapping[str, Any], PlainForm]]:
        return type(self), (self._members, self.plain)  # copying and pickling build it anew

    def __repr__(self) -> str:
        return f"<Document {self.format}, {len(self.canonical())} bytes>"

    def __eq__(self, other: object) -> bool:
        return self.canonical() == other.canonical() if isinstance(other, Document) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical())

    @property
    def format(self) -> str:
        """Return the format tag, ``onetrace-textdiff/0.3`` for instance."""
        return str(self._members.get("format", ""))

    def canonical(self) -> bytes:
        """Return the one byte form of the document: canonical JSON, without a final newline."""
        if self._canonical is None:
            _set(self, "_canonical", canonical.dump(self._members))
        assert self._canonical is not None
        return self._canonical

    def to_dict(self) -> dict[str, Any]:
        """Return the members as plain Python values: a new dict at every call, the caller's to change."""
        import json

        value: dict[str, Any] = json.loads(self.canonical())
        return value

    @property
    def members(self) -> Mapping[str, Any]:
        """Return the members as they were put in, for renderers: read, never change."""
        return self._members

    @classmethod
    def load(cls, data: bytes) -> Document:
        """Make a document of its canonical bytes.

        Raises
        ------
        InputError
            The bytes are not canonical JSON of an object (a final newline is let pass).
        """
        from stratadiff._kernels import json_scan

        body = data.removesuffix(b"\n")
        if not json_scan.is_canonical(body):
            raise InputError("not a document: the bytes are not canonical JSON")
        import json

        document = cls(json.loads(body))
        _set(document, "_canonical", bytes(body))
        return document
