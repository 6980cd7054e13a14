"""The one-hop corpus trace: finding runs, what stops it, documents counted (textdiff §11)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import stratadiff
from cli.command import inside
from runs.recording import Stage, canonical, digest, record
from stratadiff.runs import corpus
from stratadiff.runs.corpus import RunsRoot, count_documents, default_runs_root
from stratadiff.runs.reader import read_input

Json = Any


def index(**documents: list[str]) -> bytes:
    chunks = [
        {"digest": digest(text.encode()), "doc": doc, "text": text}
        for doc, texts in documents.items()
        for text in texts
    ]
    return canonical({"chunks": chunks})


def ingest(folder: Path, data: bytes, *, name: str = "index.json", **options: Any) -> str:
    return record(folder, [Stage("split", {name: ("application/json", data)})], **options)


def answer(folder: Path, data: bytes, link: Json) -> None:
    record(folder, [Stage("answer", {"x": data}, corpus=link)])


def traces(folder: Path, **options: Any) -> list[Json]:
    with inside(folder):
        return stratadiff.diff("a", "b", **options).document().to_dict().get("corpus_traces", [])


def pair(folder: Path, old: Json, new: Json) -> None:
    answer(folder / "a", b"1", old)
    answer(folder / "b", b"2", new)


# Finding


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("a", "."),
        (".", "."),
        ("./a", "."),
        ("a/", "."),
        ("a/.", "."),
        ("x/a", "x"),
        ("x//a/", "x"),
        ("x/a/MANIFEST.json", "x"),
        ("MANIFEST.json", "."),
        ("a/MANIFEST.json", "."),
        ("..", "."),
        ("../a", ".."),
        ("../../a", "../.."),
        ("/a", "/"),
        ("/x/y", "/x"),
        ("/", "/"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX systems")
def test_default_root_is_the_parent_as_typed(given: str, root: str) -> None:
    assert default_runs_root(given) == root


def test_heads_are_found_in_path_order_whatever_the_name(tmp_path: Path) -> None:
    for name in ("z", "B", "a"):
        ingest(tmp_path / name, index(d=["1"]), run_id="same")
    other = ingest(tmp_path / "m", index(d=["2"]))
    head = json.loads((tmp_path / "a" / "MANIFEST.json").read_bytes())["chain_head"]
    root = RunsRoot(str(tmp_path))
    assert root.find(other) == "m"
    assert root.find(head) == "B"  # by code point
    assert root.find(digest(b"nothing")) is None
    assert root.find(head) == "B"
    assert root.find("not a digest") is root.find(None) is root.find(["x"]) is None
    assert RunsRoot(str(tmp_path / "nowhere")).find(head) is None


def test_manifests_with_any_problem_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = ingest(tmp_path / "z", index(d=["1"]))
    good = (tmp_path / "z" / "MANIFEST.json").read_bytes()
    deep = good[:-1] + b',"zz":' + b"[" * 16 + b"]" * 16 + b"}"
    bad = {
        "a": b"",
        "b": b"\xff",
        "c": b"[]",
        "d": deep,
        "e": good.replace(b"sha256:", b"SHA256:"),
        "f": b"{}",
    }
    for name, data in bad.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "MANIFEST.json").write_bytes(data)
    (tmp_path / "g" / "MANIFEST.json").mkdir(parents=True)
    (tmp_path / "h").write_bytes(good)
    assert RunsRoot(str(tmp_path)).find(head) == "z"
    (tmp_path / "d" / "MANIFEST.json").write_bytes(
        deep.replace(b"[" * 16, b"[" * 15).replace(b"]" * 16, b"]" * 15)
    )
    assert RunsRoot(str(tmp_path)).find(head) == "d"
    monkeypatch.setattr(corpus, "MAX_LINKED_MANIFEST_BYTES", len(good) - 1)
    assert RunsRoot(str(tmp_path)).find(head) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs fifos")
def test_a_fifo_in_a_manifests_place_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "MANIFEST.json")
    head = ingest(tmp_path / "b", index(d=["1"]))
    assert RunsRoot(str(tmp_path)).find(head) == "b"


# What a trace says


def test_both_sides_are_always_looked_for(tmp_path: Path) -> None:
    head = ingest(tmp_path / "i", index(d=["1"]))
    missing = digest(b"missing")
    pair(tmp_path, missing, head)
    [trace] = traces(tmp_path)
    assert trace["status"] == "could not check"
    assert trace["reason"] == f"linked ingest run not found: {missing}; pass --runs-root"
    assert trace["baseline"] == {"chain_head": missing, "path": None, "run_id": None, "verified": None}
    assert trace["candidate"] == {"chain_head": head, "path": "i", "run_id": "i", "verified": True}


def test_not_followed_reads_nothing(tmp_path: Path) -> None:
    old = ingest(tmp_path / "i", index(d=["1"]))
    pair(tmp_path, old, None)
    [trace] = traces(tmp_path, follow=False)
    assert trace == {
        "also_at": [],
        "baseline": {"chain_head": old},
        "candidate": {"chain_head": None},
        "node": "answer",
        "status": "not followed",
    }


def test_a_run_without_an_id(tmp_path: Path) -> None:
    old = ingest(tmp_path / "i", index(d=["1"]), manifest={"run_id": None})
    new = ingest(tmp_path / "j", index(d=["2"]))
    pair(tmp_path, old, new)
    [trace] = traces(tmp_path)
    assert trace["heading"] == "traced into the linked ingest runs: (no run id) -> j"
    with inside(tmp_path):
        node = stratadiff.diff("a", "b").document().to_dict()["nodes"][0]
    assert node["settings"][-1] == f"corpus link changed: {old[7:19]} (no run id) -> {new[7:19]} (j)"


def test_a_proof_form_link_is_followed_by_its_digest(tmp_path: Path) -> None:
    old, new = ingest(tmp_path / "i", index(d=["1"])), ingest(tmp_path / "j", index(d=["2"]))
    pair(tmp_path, old, {"digest": new, "member": "m", "preimage_hex": "", "proof": []})
    [trace] = traces(tmp_path)
    assert trace["status"] == "traced"


def test_linked_runs_of_an_unimplemented_format_do_not_verify(tmp_path: Path) -> None:
    old = ingest(tmp_path / "i", index(d=["1"]))
    new = ingest(tmp_path / "j", index(d=["2"]), manifest={"format": "stage-receipt-chain/9.0"})
    pair(tmp_path, old, new)
    [trace] = traces(tmp_path)
    assert trace["reason"] == "linked ingest run did not verify: j"
    assert trace["candidate"] == {"chain_head": new, "path": "j", "run_id": None, "verified": False}


def test_a_manifest_that_lies_about_its_head_does_not_verify(tmp_path: Path) -> None:
    old = ingest(tmp_path / "i", index(d=["1"]))
    lie = digest(b"lie")
    ingest(tmp_path / "j", index(d=["2"]), manifest={"chain_head": lie})
    pair(tmp_path, old, lie)
    assert traces(tmp_path)[0]["reason"] == "linked ingest run did not verify: j"


def test_trace_nodes_are_the_default_selection(tmp_path: Path) -> None:
    old, new = ingest(tmp_path / "i", index(d=["1"])), ingest(tmp_path / "j", index(d=["2"]))
    pair(tmp_path, old, new)
    [trace] = traces(tmp_path, stages=["answer"])
    assert [node["node"] for node in trace["nodes"]] == ["split"]


# Documents


def count(tmp_path: Path, old: bytes, new: bytes) -> tuple[list[str], int] | None:
    for name, data in (("i", old), ("j", new)):
        ingest(tmp_path / name, data)
    found = count_documents(*(read_input(str(tmp_path / name)) for name in ("i", "j")))
    return None if found is None else (list(found.changed), found.total)


def test_documents_differ_by_their_list_of_digests(tmp_path: Path) -> None:
    old = index(same=["1", "2"], turned=["1", "2"], gone=["1"], z=["1"])
    new = index(same=["1", "2"], turned=["2", "1"], new=["1"], z=["2"])
    assert count(tmp_path, old, new) == (["gone", "new", "turned", "z"], 5)


@pytest.mark.parametrize(
    "data",
    [b"{}", b"[]", b'{"chunks":[{"doc":1,"digest":"x"}]}', b"\xff", b"{", b"[" * 600, b'{"chunks":{}}'],
)
def test_without_a_chunk_index_documents_are_not_counted(tmp_path: Path, data: bytes) -> None:
    assert count(tmp_path, index(d=["1"]), data) is None


def test_reading_here_is_lax(tmp_path: Path) -> None:
    twice = b'{"chunks":[1],"chunks":[{"doc":"d","digest":"x","n":NaN}]}'
    assert count(tmp_path, twice, index(d=["1"])) == (["d"], 1)


def test_an_index_is_found_anywhere_under_the_artifacts_by_size_and_digest(tmp_path: Path) -> None:
    data = index(d=["1"])
    ingest(tmp_path / "i", data)
    place = tmp_path / "i" / "artifacts" / "01-split"
    (place / "index.json").rename(place.parent / "elsewhere.json")
    (place / "decoy.json").write_bytes(data.replace(b"1", b"2"))
    ingest(tmp_path / "j", index(d=["2"]))
    runs = [read_input(str(tmp_path / name)) for name in ("i", "j")]
    found = count_documents(*runs)
    assert found is not None
    assert (found.changed, found.total) == (("d",), 1)
    (place.parent / "elsewhere.json").write_bytes(data + b" ")
    assert count_documents(*(read_input(str(tmp_path / name)) for name in ("i", "j"))) is None


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_an_index_outside_the_run_is_not_read(tmp_path: Path) -> None:
    data = index(secret=["1"])
    ingest(tmp_path / "i", data)
    stored = tmp_path / "i" / "artifacts" / "01-split" / "index.json"
    (tmp_path / "outside.json").write_bytes(data)
    stored.unlink()
    stored.symlink_to(tmp_path / "outside.json")
    ingest(tmp_path / "j", index(d=["2"]))
    assert count_documents(*(read_input(str(tmp_path / name)) for name in ("i", "j"))) is None
