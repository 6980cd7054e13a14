"""The document itself: closed, canonical, loadable."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import stratadiff
from stratadiff.core.canonical import Fragment
from stratadiff.documents.document import Document
from stratadiff.errors import InputError

GOLDEN = Path(__file__).parents[1] / "data" / "textdiff" / "expected"


def test_members_cannot_be_set() -> None:
    document = Document({"format": "x/1"})
    with pytest.raises(AttributeError):
        document.plain = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        del document.plain
    with pytest.raises(AttributeError):
        document.anything = 1  # type: ignore[attr-defined]


def test_a_dict_of_it_is_the_callers() -> None:
    document = Document({"format": "x/1", "list": ["a"]})
    taken = document.to_dict()
    taken["list"].append("b")
    assert document.to_dict() == {"format": "x/1", "list": ["a"]}


def test_fragments_stand_as_they_are() -> None:
    document = Document({"z": Fragment(b'["\xc3\xa9"]'), "a": [Fragment(b"null"), "é"]})
    assert document.canonical() == '{"a":[null,"é"],"z":["é"]}'.encode()
    assert document.to_dict() == {"a": [None, "é"], "z": ["é"]}


def test_equality_is_that_of_the_bytes() -> None:
    assert Document({"a": Fragment(b'"x"')}) == Document({"a": "x"})
    assert hash(Document({"a": Fragment(b'"x"')})) == hash(Document({"a": "x"}))
    assert Document({"a": "x"}) != Document({"a": "y"})
    assert Document({"a": "x"}) != {"a": "x"}
    assert repr(Document({"format": "x/1"})) == "<Document x/1, 16 bytes>"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json"))[:40], ids=lambda path: path.stem)
def test_golden_documents_load_and_come_back_as_the_same_bytes(path: Path) -> None:
    data = path.read_bytes()
    document = Document.load(data)
    assert document.canonical() + b"\n" == data
    assert document.format == "onetrace-textdiff/0.3"
    assert Document(document.to_dict()).canonical() + b"\n" == data


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"a":1}', b'{ "a":"b"}', b'{"b":"","a":""}', b'{"a":"b"}\n\n', b"\xff"]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        Document.load(data)


def test_a_fresh_document_loads_as_itself() -> None:
    document = stratadiff.diff(*stratadiff.demo_runs()).document()
    assert Document.load(document.canonical()) == document


def test_documents_are_copied_and_pickled() -> None:
    document = Document({"format": "example/0.1", "list": ["a"]})
    for twin in (copy.copy(document), copy.deepcopy(document), pickle.loads(pickle.dumps(document))):
        assert twin == document
        assert twin.to_dict() == document.to_dict()
