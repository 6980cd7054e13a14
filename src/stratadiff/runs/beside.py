"""Records beside the chain, ``anchors/`` and ``signatures/`` (verification §7): never part of a
comparison's verdict.

What a record says about itself is judged. The proof in it is not: that takes public-key cryptography or a
block chain, which this package does not carry, so a well-formed record is NOT-RUN and never a pass.
"""

from __future__ import annotations

import binascii
import hashlib
import os
import stat

from stratadiff._kernels import json_scan
from stratadiff.core import digests, files
from stratadiff.core.moments import instant
from stratadiff.errors import StratadiffError
from stratadiff.runs.model import FAIL, NOT_RUN, Row
from stratadiff.runs.names import quoted_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stratadiff.runs.model import Run

_MAX_DEPTH = 16
_MAX_PROOF_BYTES = 64 * 1024
_MAX_SIGNER_CHARS = 200
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


class _Kind:
    """One of the two folders: its words, its cap, its members and how they are judged."""

    __slots__ = ("check", "folder", "format", "judge", "max_bytes", "members", "noun", "optional")

    def __init__(
        self,
        folder: str,
        check: str,
        noun: str,
        max_bytes: int,
        members: str,
        optional: str,
        judge: Callable[[dict[str, Any], list[str]], str],
    ) -> None:
        self.folder = folder
        self.check = check
        self.noun = noun
        self.format = f"stage-receipt-{noun}/0.1"
        self.max_bytes = max_bytes
        self.members = frozenset(members.split())
        self.optional = frozenset(optional.split())
        self.judge = judge


def anchor_rows(run: Run) -> list[Row]:
    """Return one row per entry of ``anchors/``, none when there is no such folder."""
    return _rows(run, _ANCHORS)


def signature_rows(run: Run) -> list[Row]:
    """Return one row per entry of ``signatures/``, none when there is no such folder."""
    return _rows(run, _SIGNATURES)


def _rows(run: Run, kind: _Kind) -> list[Row]:
    folder = os.path.join(run.folder, kind.folder)
    try:
        mode = os.lstat(folder).st_mode
    except OSError:
        return []
    why = ""
    names: list[str] = []
    if stat.S_ISLNK(mode):
        why = f"{kind.folder} is a link (a symlink or junction); nothing in it is read"
    elif not stat.S_ISDIR(mode):
        why = f"{kind.folder} exists but is not a directory"
    else:
        try:
            names = os.listdir(folder)
        except OSError as error:
            why = f"{kind.folder} cannot be read: {error.strerror}"
    if why:
        return [Row(FAIL, f"{kind.folder}/: {kind.check}", why)]
    numbered = [name for name in names if _is_numbered(name)]
    others = [name for name in names if not _is_numbered(name)]
    # Numbers of any length, in numeric order; then the rest, which are wrong by their names alone.
    order = sorted(numbered, key=lambda name: (len(name), name)) + sorted(others)
    article = "an" if kind.noun[0] in "aeiou" else "a"
    misplaced = (
        f"not {article} {kind.noun} record: {kind.folder}/ holds only files named <n>.json, n from 1,"
        " no leading zero, lower case, not links"
    )
    rows = []
    for name in order:
        path = os.path.join(folder, name)
        try:
            regular = _is_numbered(name) and stat.S_ISREG(os.lstat(path).st_mode)
        except OSError:
            regular = False
        result, detail = (FAIL, misplaced)
        if regular:
            result, detail = _judge_record(path, kind, run.manifest.get("chain_head"))
        rows.append(Row(result, f"{kind.folder}/{name}: {kind.check}", detail))
    return rows


def _is_numbered(name: str) -> bool:
    number, dot, suffix = name.partition(".")
    return dot == "." and suffix == "json" and number.isascii() and number.isdigit() and number[0] != "0"


def _judge_record(path: str, kind: _Kind, chain_head: object) -> tuple[str, str]:
    """Return the result and the detail; the first broken requirement fails the record."""
    try:
        # The cap comes first: what is larger is not parsed.
        if os.lstat(path).st_size > kind.max_bytes:
            return FAIL, f"{kind.noun} file is larger than its cap ({kind.max_bytes} bytes)"
        data = files.read_file(path, follow=False)
    except (OSError, StratadiffError) as error:
        return FAIL, f"not a readable JSON record: {type(error).__name__}"
    if len(data) > kind.max_bytes:
        return FAIL, f"{kind.noun} file is larger than its cap ({kind.max_bytes} bytes)"
    if json_scan.depth(data) > _MAX_DEPTH:
        return FAIL, f"{kind.noun} file nests JSON deeper than {_MAX_DEPTH} levels"
    import json  # few runs have such records: start-up

    try:
        record = json.loads(data.decode(), object_pairs_hook=_no_duplicates)
    except _DuplicateMemberError as duplicate:
        return FAIL, f"duplicate member {quoted_value(duplicate.args[0])}"
    except ValueError as error:
        return FAIL, f"not a readable JSON record: {type(error).__name__}"
    problems = _member_problems(record, kind)
    verdict = "" if problems else kind.judge(record, problems)
    if problems:
        return FAIL, f"malformed {kind.noun} record: {'; '.join(problems)}"
    if record["chain_head"] != chain_head:
        covered = record["chain_head"]
        head = chain_head if isinstance(chain_head, str) else quoted_value(chain_head)
        return FAIL, (f"the {kind.noun} covers chain head {covered}, but this run's chain head is {head}")
    return (FAIL if verdict == _PROOF_TOO_LARGE else NOT_RUN), verdict


class _DuplicateMemberError(Exception):
    pass


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise _DuplicateMemberError(name)
        result[name] = value
    return result


def _member_problems(record: Any, kind: _Kind) -> list[str]:
    if not isinstance(record, dict):
        return ["record: not a JSON object"]
    unknown = record.keys() - kind.members - kind.optional
    problems = [f"unknown member {quoted_value(name)}" for name in sorted(unknown)]
    problems += [f"{name}: missing" for name in sorted(kind.members - record.keys())]
    return problems


_PROOF_TOO_LARGE = f"proof is larger than its cap ({_MAX_PROOF_BYTES} bytes)"


def _judge_common(record: dict[str, Any], label: str, format_name: str, problems: list[str]) -> None:
    if record["format"] != format_name:
        problems.append(f"format: {quoted_value(record['format'])}, expected {quoted_value(format_name)}")
    if not digests.is_digest(record["chain_head"]):
        problems.append("chain_head: not 'sha256:' and 64 lowercase hex")
    if not isinstance(record[label], str) or not record[label]:
        problems.append(f"{label}: {quoted_value(record[label])} is not a non-empty string")


def _judge_anchor(record: dict[str, Any], problems: list[str]) -> str:
    _judge_common(record, "method", _ANCHORS.format, problems)
    proof = _base64(record["proof"])
    if not proof:
        problems.append("proof: not non-empty standard base64")
    method, source, time = record["method"], record["source"], record["asserted_time"]
    if method == "rfc3161":
        certificate = source.get("tsa_certificate_sha256") if isinstance(source, dict) else None
        if not digests.is_bare_digest(certificate) or len(source) != 1:
            problems.append(
                "source: an rfc3161 anchor names its TSA certificate's sha256 (tsa_certificate_sha256,"
                " 64 lowercase hex)"
            )
        if instant(time) is None:
            problems.append(
                "asserted_time: an rfc3161 anchor carries the TSA's time, RFC 3339 with Z or a UTC offset"
            )
    else:
        if method == "opentimestamps" and not _names_calendars(source):
            problems.append(
                "source: an opentimestamps anchor names its calendars (a non-empty list of https URLs)"
            )
        if time is not None and instant(time) is None:
            problems.append(
                "asserted_time: null while the proof attests no time, else RFC 3339 with Z or a UTC offset"
            )
    if method not in ("rfc3161", "opentimestamps"):
        return f"method {quoted_value(method)} is not implemented by this verifier"
    if proof and len(proof) > _MAX_PROOF_BYTES:
        return _PROOF_TOO_LARGE
    return f"{method} proofs are not checked by this verifier"


def _names_calendars(source: object) -> bool:
    calendars = source.get("calendars") if isinstance(source, dict) and len(source) == 1 else None
    return (
        isinstance(calendars, list)
        and bool(calendars)
        and all(
            isinstance(url, str) and url.startswith("https://") and len(url) > 8 and url.isprintable()
            for url in calendars
        )
    )


def _judge_signature(record: dict[str, Any], problems: list[str]) -> str:
    _judge_common(record, "alg", _SIGNATURES.format, problems)
    ed25519 = record["alg"] == "ed25519"
    key_id, public_key, signature = record["key_id"], record["public_key"], record["signature"]
    if not digests.is_digest(key_id):
        problems.append("key_id: not 'sha256:' and 64 lowercase hex")
    if ed25519 and not digests.is_bare_digest(public_key):
        problems.append("public_key: an ed25519 public key is 64 lowercase hex characters")
    elif not isinstance(public_key, str) or not public_key:
        problems.append("public_key: not a non-empty string")
    elif ed25519 and digests.is_digest(key_id):
        own = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()
        if key_id != digests.PREFIX + own:
            problems.append("key_id: not the sha256 of the public key's 32 raw bytes")
    raw = _base64(signature)
    if ed25519 and (raw is None or len(raw) != 64):
        problems.append("signature: an ed25519 signature is 64 bytes in standard base64")
    elif not raw:
        problems.append("signature: not non-empty standard base64")
    signer = record.get("signer", "-")
    if not isinstance(signer, str) or not 0 < len(signer) <= _MAX_SIGNER_CHARS:
        problems.append("signer: a claimed label is a non-empty string of at most 200 characters")
    if not ed25519:
        return f"alg {quoted_value(record['alg'])} is not implemented by this verifier"
    return "ed25519 signatures are not checked by this verifier"


def _base64(text: object) -> bytes | None:
    """Return the bytes of padded standard base64, None when it is not that."""
    if not isinstance(text, str) or len(text) % 4:
        return None
    body = text.removesuffix("=").removesuffix("=")
    if body.strip(_BASE64):
        return None
    try:
        return binascii.a2b_base64(text)
    except ValueError:
        return None


_ANCHORS = _Kind(
    "anchors",
    "originality",
    "anchor",
    128 * 1024,
    "format chain_head method proof source asserted_time",
    "",
    _judge_anchor,
)
_SIGNATURES = _Kind(
    "signatures",
    "signature",
    "signature",
    16 * 1024,
    "format chain_head alg public_key key_id signature",
    "signer",
    _judge_signature,
)
