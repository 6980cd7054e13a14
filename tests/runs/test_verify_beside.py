"""Records beside the chain: judged by what they say of themselves; never a pass, and no part of a diff."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from run_builder import RunBuilder
from stratadiff.runs.model import FAIL, NOT_RUN
from stratadiff.runs.reader import read_input
from stratadiff.runs.verify import beside_rows, verify_run

HEAD = str(RunBuilder().manifest["chain_head"])
OTHER = "sha256:" + "0" * 64
ANCHOR: dict[str, object] = {
    "format": "stage-receipt-anchor/0.1",
    "chain_head": HEAD,
    "method": "rfc3161",
    "proof": "AAAA",
    "source": {"tsa_certificate_sha256": "a" * 64},
    "asserted_time": "2026-01-02T03:04:05Z",
}
KEY = bytes(32)
SIGNATURE: dict[str, object] = {
    "format": "stage-receipt-signature/0.1",
    "chain_head": HEAD,
    "alg": "ed25519",
    "public_key": KEY.hex(),
    "key_id": "sha256:" + hashlib.sha256(KEY).hexdigest(),
    "signature": "A" * 86 + "==",
    "signer": "me",
}
MALFORMED_ANCHOR = "malformed anchor record: "
MALFORMED_SIGNATURE = "malformed signature record: "
TSA = (
    "source: an rfc3161 anchor names its TSA certificate's sha256 (tsa_certificate_sha256, 64 lowercase hex)"
)
TSA_TIME = "asserted_time: an rfc3161 anchor carries the TSA's time, RFC 3339 with Z or a UTC offset"
ANY_TIME = "asserted_time: null while the proof attests no time, else RFC 3339 with Z or a UTC offset"
CALENDARS = "source: an opentimestamps anchor names its calendars (a non-empty list of https URLs)"
OTS = {"method": "opentimestamps", "source": {"calendars": ["https://a.b"]}, "asserted_time": None}
Rows = list[tuple[str, str, str]]


def judged(folder: Path, where: str, files: dict[str, object]) -> Rows:
    run = RunBuilder().write(folder / "run")
    (run / where).mkdir()
    for name, content in files.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (run / where / name).write_bytes(data)
    return rows_of(run, where)


def rows_of(run: Path, where: str) -> Rows:
    read = read_input(str(run))
    anchors, signatures = beside_rows(read)
    chain = list(verify_run(read))
    assert verify_run(read, beside_chain=True) == chain + anchors + signatures
    rows = anchors if where == "anchors" else signatures
    return [(row.result, row.name, row.detail) for row in rows]


@pytest.mark.parametrize(
    ("change", "result", "detail"),
    [
        ({}, NOT_RUN, "rfc3161 proofs are not checked by this verifier"),
        (OTS, NOT_RUN, "opentimestamps proofs are not checked by this verifier"),
        ({"method": "zz"}, NOT_RUN, "method 'zz' is not implemented by this verifier"),
        ({"method": "zz", "source": 5}, NOT_RUN, "method 'zz' is not implemented by this verifier"),
        ({"zz": "1"}, FAIL, MALFORMED_ANCHOR + "unknown member 'zz'"),
        (
            {"format": "x", "chain_head": "y"},
            FAIL,
            MALFORMED_ANCHOR + "format: 'x', expected 'stage-receipt-anchor/0.1';"
            " chain_head: not 'sha256:' and 64 lowercase hex",
        ),
        ({"method": []}, FAIL, MALFORMED_ANCHOR + "method: [] is not a non-empty string"),
        ({"proof": ""}, FAIL, MALFORMED_ANCHOR + "proof: not non-empty standard base64"),
        ({"proof": "AAA"}, FAIL, MALFORMED_ANCHOR + "proof: not non-empty standard base64"),
        ({"proof": "-_-_"}, FAIL, MALFORMED_ANCHOR + "proof: not non-empty standard base64"),
        ({"proof": "A==="}, FAIL, MALFORMED_ANCHOR + "proof: not non-empty standard base64"),
        ({"source": "s", "asserted_time": None}, FAIL, f"{MALFORMED_ANCHOR}{TSA}; {TSA_TIME}"),
        ({"asserted_time": "2026-01-02"}, FAIL, MALFORMED_ANCHOR + TSA_TIME),
        (OTS | {"source": {"calendars": []}}, FAIL, MALFORMED_ANCHOR + CALENDARS),
        (OTS | {"source": {"calendars": ["http://a"]}}, FAIL, MALFORMED_ANCHOR + CALENDARS),
        (OTS | {"asserted_time": "now"}, FAIL, MALFORMED_ANCHOR + ANY_TIME),
        (
            {"chain_head": OTHER},
            FAIL,
            f"the anchor covers chain head {OTHER}, but this run's chain head is {HEAD}",
        ),
        ({"proof": "A" * 87384}, FAIL, "proof is larger than its cap (65536 bytes)"),
    ],
)
def test_anchor_records(change: dict[str, object], result: str, detail: str, tmp_path: Path) -> None:
    rows = judged(tmp_path, "anchors", {"1.json": ANCHOR | change})
    assert rows == [(result, "anchors/1.json: originality", detail)]


ED25519_KEY = "public_key: an ed25519 public key is 64 lowercase hex characters"
ED25519 = "signature: an ed25519 signature is 64 bytes in standard base64"
SIGNER = "signer: a claimed label is a non-empty string of at most 200 characters"


@pytest.mark.parametrize(
    ("change", "result", "detail"),
    [
        ({}, NOT_RUN, "ed25519 signatures are not checked by this verifier"),
        ({"alg": "rsa", "public_key": "x"}, NOT_RUN, "alg 'rsa' is not implemented by this verifier"),
        ({"alg": []}, FAIL, MALFORMED_SIGNATURE + "alg: [] is not a non-empty string"),
        ({"public_key": "A" * 64}, FAIL, MALFORMED_SIGNATURE + ED25519_KEY),
        ({"key_id": "x"}, FAIL, MALFORMED_SIGNATURE + "key_id: not 'sha256:' and 64 lowercase hex"),
        (
            {"key_id": OTHER},
            FAIL,
            MALFORMED_SIGNATURE + "key_id: not the sha256 of the public key's 32 raw bytes",
        ),
        ({"signature": "AAAA"}, FAIL, MALFORMED_SIGNATURE + ED25519),
        ({"signature": 5}, FAIL, MALFORMED_SIGNATURE + ED25519),
        ({"signer": "x" * 201}, FAIL, MALFORMED_SIGNATURE + SIGNER),
        ({"signer": None}, FAIL, MALFORMED_SIGNATURE + SIGNER),
        (
            {"alg": "rsa", "public_key": "", "signature": ""},
            FAIL,
            MALFORMED_SIGNATURE
            + "public_key: not a non-empty string; signature: not non-empty standard base64",
        ),
        (
            {"chain_head": OTHER},
            FAIL,
            f"the signature covers chain head {OTHER}, but this run's chain head is {HEAD}",
        ),
    ],
)
def test_signature_records(change: dict[str, object], result: str, detail: str, tmp_path: Path) -> None:
    rows = judged(tmp_path, "signatures", {"1.json": SIGNATURE | change})
    assert rows == [(result, "signatures/1.json: signature", detail)]


def test_the_signer_may_be_left_out(tmp_path: Path) -> None:
    record = {name: value for name, value in SIGNATURE.items() if name != "signer"}
    assert judged(tmp_path, "signatures", {"1.json": record})[0][0] == NOT_RUN


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"[]", MALFORMED_ANCHOR + "record: not a JSON object"),
        (b"{", "not a readable JSON record: JSONDecodeError"),
        (b"\xff", "not a readable JSON record: UnicodeDecodeError"),
        (b"\xef\xbb\xbf{}", "not a readable JSON record: JSONDecodeError"),
        (b'{"x":{"a":1,"a":2}}', "duplicate member 'a'"),
        (b"[" * 17 + b"]" * 17, "anchor file nests JSON deeper than 16 levels"),
        (b"[" * 16 + b"]" * 16, MALFORMED_ANCHOR + "record: not a JSON object"),
        (b" " * (128 * 1024 + 1), "anchor file is larger than its cap (131072 bytes)"),
    ],
)
def test_files_that_hold_no_record(data: bytes, detail: str, tmp_path: Path) -> None:
    assert judged(tmp_path, "anchors", {"1.json": data}) == [(FAIL, "anchors/1.json: originality", detail)]


def test_signature_files_have_a_smaller_cap(tmp_path: Path) -> None:
    rows = judged(tmp_path, "signatures", {"1.json": b" " * (16 * 1024 + 1)})
    assert rows[0][2] == "signature file is larger than its cap (16384 bytes)"


def test_names_in_numeric_order_then_the_others_which_fail(tmp_path: Path) -> None:
    names = ["10.json", "2.json", "01.json", "0.json", "x", "1.JSON", ".hidden", "\u0661.json"]
    rows = judged(tmp_path, "anchors", dict.fromkeys(names, ANCHOR))
    order = ["2.json", "10.json", ".hidden", "0.json", "01.json", "1.JSON", "x", "\u0661.json"]
    assert [name for _, name, _ in rows] == [f"anchors/{name}: originality" for name in order]
    assert [result for result, _, _ in rows] == [NOT_RUN] * 2 + [FAIL] * 6
    assert rows[2][2].startswith("not an anchor record: anchors/ holds only files named <n>.json, n from 1,")


@pytest.mark.parametrize("what", ["link", "directory", "fifo"])
def test_entries_that_are_no_files(what: str, tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    (run / "signatures").mkdir()
    path = run / "signatures/1.json"
    if what == "link":
        path.symlink_to("../MANIFEST.json")
    elif what == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    rows = rows_of(run, "signatures")
    assert rows[0][0] == FAIL
    assert rows[0][2].startswith("not a signature record: signatures/ holds only files")


def test_folders_that_are_no_folders(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    (run / "anchors").symlink_to("receipts")
    (run / "signatures").write_bytes(b"")
    anchors, signatures = beside_rows(read_input(str(run)))
    assert [(row.result, row.name, row.detail) for row in anchors + signatures] == [
        (
            FAIL,
            "anchors/: originality",
            "anchors is a link (a symlink or junction); nothing in it is read",
        ),
        (FAIL, "signatures/: signature", "signatures exists but is not a directory"),
    ]


def test_an_empty_folder_and_no_folder_have_no_rows(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    assert beside_rows(read_input(str(run))) == ([], [])
    (run / "anchors").mkdir()
    assert beside_rows(read_input(str(run))) == ([], [])


def test_a_comparison_does_not_refuse_over_them(tmp_path: Path) -> None:
    run = RunBuilder().write(tmp_path / "run")
    (run / "anchors").mkdir()
    (run / "anchors/1.json").write_bytes(b"{}")
    read = read_input(str(run))
    verify_run(read)
    assert read.failed_rows == []
    verify_run(read, beside_chain=True)
    assert len(read.failed_rows) == 1
