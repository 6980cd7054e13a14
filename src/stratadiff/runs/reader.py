"""Path → :class:`~stratadiff.runs.model.Run`: which kind of input it is, and every file of it read once."""

from __future__ import annotations

import os
import stat

from stratadiff._kernels import json_scan
from stratadiff.core import canonical, digests, files, jsonvalue
from stratadiff.errors import NotFoundError, UnknownKindError, UnreadableError
from stratadiff.limits import MAX_JSON_DEPTH
from stratadiff.runs.model import Receipt, Run
from stratadiff.runs.names import quoted, quoted_value
from stratadiff.runs.paths import escape_problem, name_problem, stem_of
from stratadiff.runs.stagelists import StageLists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MANIFEST = "MANIFEST.json"
SUMMARY = "SUMMARY.json"
STAGES = "STAGES.json"

_DIFFERENT_LISTS = "receipts of this run declare different stage lists; the first receipt's is used"
_SUPPORTED = "run folders (MANIFEST.json) and single receipts are supported"


def read_input(given: str, *, strict: bool = False) -> Run:
    """Read a run folder, its ``MANIFEST.json``, or a single receipt (run-records §1).

    The manifest and every receipt are read, each once; artifacts are not (the verifier hashes them, and
    :func:`read_output` reads one that is to be shown).

    Parameters
    ----------
    given : str
        The path as typed.
    strict : bool
        Do not read files whose real path leaves the run, and apply verification §8.

    Returns
    -------
    Run
        Not verified yet. Look at :attr:`Run.unreadable` and :attr:`Run.unimplemented` first.

    Raises
    ------
    NotFoundError
        ``<given>: no such file or directory``.
    UnknownKindError
        ``<given>: neither MANIFEST.json (run) nor SUMMARY.json (summary) is present``, or the message about a
        summary without its stage declaration (comparison §7).
    UnreadableError
        The path exists and cannot be looked at.
    """
    try:
        mode = os.stat(given).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise NotFoundError("no such file or directory", where=given) from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", where=given) from None
    if stat.S_ISDIR(mode):
        if _is_file(given, MANIFEST):
            run = Run("run", given, given)
        elif _is_file(given, SUMMARY):
            return _summary(given, given)
        else:
            what = "neither MANIFEST.json (run) nor SUMMARY.json (summary) is present"
            raise UnknownKindError(what, where=given)
    else:
        folder, name = os.path.split(given)
        if name == SUMMARY:
            return _summary(given, folder or ".")
        run = Run("run" if name == MANIFEST else "receipt", given, folder or ".")
    run.strict = strict
    if run.kind == "receipt":
        _read_single(run)
    else:
        _read_run(run)
    return run


def read_output(run: Run, stem: str, name: object, digest: object) -> tuple[bytes | None, str]:
    """Read an output that is to be shown, from one descriptor, and hash it again (comparison §5, D5b).

    Parameters
    ----------
    run : Run
        A run folder.
    stem, name, digest : str
        The receipt's stem, the output's name and digest as the receipt has them.

    Returns
    -------
    data : bytes or None
        The bytes, only when their digest is `digest`.
    problem : str
        ``""``, or the reason to print instead: ``not shown: <name> is missing``, ``not shown: <name> is
        outside the run`` or ``not shown: <name> does not match its receipt``. Hostile text: escape before
        display.
    """
    if name_problem(name):
        # Such a name fails the verification of a run whose outputs are checked; in others it names nothing.
        return None, f"not shown: {name} is missing"
    try:
        data = files.read_below(run.folder, f"artifacts/{stem}/{name}")
    except (NotFoundError, UnreadableError):
        return None, f"not shown: {name} is missing"
    if data is None:
        outside = os.path.exists(f"{run.folder}/artifacts/{stem}/{name}")
        return None, f"not shown: {name} is {'outside the run' if outside else 'missing'}"
    if digests.digest_bytes(data) != digest:
        return None, f"not shown: {name} does not match its receipt"
    return data, ""


def parse_object(data: bytes) -> tuple[dict[str, Any] | None, str]:
    """Parse a JSON object as the reference reader does: Python's ``json`` over strict UTF-8 (run-records §2).

    Returns
    -------
    value : dict or None
        The object; the last of repeated members counts.
    problem : str
        Why there is none (verification §2), in the reference's words.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return None, f"not valid UTF-8: {error}"
    if json_scan.depth(data) > MAX_JSON_DEPTH:
        return None, "nested too deeply to read"
    try:
        value = jsonvalue.parse(text)
    except RecursionError:
        return None, "nested too deeply to read"
    except ValueError as error:
        return None, f"not valid JSON: {error}"
    if not isinstance(value, dict):
        return None, f"top-level JSON value is a {type(value).__name__}, not an object"
    return value, ""


def judge_format(label: object, family: str) -> tuple[str, str]:
    """Judge a ``format`` member (verification §§2, 3 row 5).

    Parameters
    ----------
    label : object
        The member's value.
    family : str
        ``stage-receipt`` or ``stage-receipt-chain``.

    Returns
    -------
    state : str
        ``implemented``, ``unimplemented``, ``preview`` (the literal nobody implements) or ``invalid``.
    why : str
        Empty for an implemented one.
    """
    if not isinstance(label, str):
        return "invalid", f"format is not a string: {quoted_value(label)}"
    shown = quoted(label)
    prefix = family + "/"
    major, dot, minor = label[len(prefix) :].partition(".")
    if not (label.startswith(prefix) and dot and minor and _is_decimal(major)):
        if family == "stage-receipt":
            return "invalid", f"{shown}: no digit major with a minor part"
        return "invalid", f"{shown}: not a {family}/<major>.<minor> label"
    if label == prefix + "0.0-preview":
        return "preview", (
            f"{shown}: the pre-standard preview literal, which draft-00 section 14 reads as a version"
            " this verifier does not implement"
        )
    major = major.lstrip("0") or "0"
    if major != "0":
        return "unimplemented", (
            f"{shown}: major version {major} is not implemented (this verifier implements major 0)"
        )
    if not _is_decimal(minor):
        return "unimplemented", f"{shown}: minor part is not a decimal number"
    return "implemented", ""


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_file(folder: str, name: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(os.path.join(folder, name)).st_mode)
    except PermissionError as error:
        # Not "neither is present": nobody could look.
        raise UnreadableError(f"cannot be read: {error.strerror}", where=folder) from None
    except (OSError, ValueError):
        return False


def _summary(given: str, folder: str) -> Run:
    beside = (folder, os.path.dirname(os.path.abspath(folder)))
    if not any(_is_file(place, STAGES) for place in beside):
        raise UnknownKindError(
            "the summary kind is read through a stage declaration (STAGES.json); none was given with --stages"
            " and none is beside the summary or its parent",
            where=given,
        )
    run = Run("summary", given, folder)
    run.unimplemented = f"the summary kind (SUMMARY.json) is not implemented; {_SUPPORTED}"
    return run


def _read_single(run: Run) -> None:
    receipt, problem = _read_receipt(run.given, run.given, StageLists())
    if receipt is None:
        run.unreadable = problem
        return
    run.receipts = [receipt]
    run.receipt_problems = [""]
    run.manifest_digest = receipt.digest
    _take_run_id(run, receipt.value, "the receipt's")


def _read_run(run: Run) -> None:
    path = os.path.join(run.folder, MANIFEST)
    root = os.path.realpath(run.folder) if run.strict else ""
    try:
        if root:
            inside = files.real_path_inside(root, MANIFEST)
            if inside is None:
                run.unreadable = "leads outside the run through a symbolic link; not read"
                return
            path = inside
        data = files.read_file(path, follow=not root)
    except (NotFoundError, UnreadableError) as error:
        run.unreadable = error.message
        return
    run.manifest_digest = digests.digest_bytes(data)
    manifest, run.unreadable = parse_object(data)
    if manifest is None:
        return
    run.manifest = manifest
    run.manifest_raw = data
    run.topological = "edges" in manifest
    _take_run_id(run, manifest, "the manifest's")
    head = manifest.get("chain_head")
    if isinstance(head, str) and canonical.can_carry(head):
        run.chain_head = head
    elif head is not None:
        run.notes.append("the manifest's chain_head is not a text canonical JSON can carry; read as absent")
    if not _boundaries_carry(manifest.get("boundaries")):
        run.notes.append("boundary members canonical JSON cannot carry are read as absent")
    state, why = judge_format(manifest.get("format"), "stage-receipt-chain")
    if state in ("invalid", "unimplemented"):
        run.unimplemented = f"manifest format: {why}"
        return
    run.manifest_unimplemented = state == "preview"
    _read_chain(run, root)


def _read_chain(run: Run, root: str) -> None:
    chain, run.raised = _chain_files(run.manifest)
    # A file named twice is one file: read once, and a hostile manifest cannot make its reading cost more
    # than its size.
    known: dict[str, tuple[Receipt | None, str]] = {}
    lists = StageLists()
    for file in chain:
        found = known.get(file)
        if found is None:
            found = known[file] = _read_entry(run.folder, root, file, lists)
        run.receipts.append(found[0])
        run.receipt_problems.append(found[1])
    if not _share_declared(run):
        run.notes.append(_DIFFERENT_LISTS)


def _share_declared(run: Run) -> bool:
    """Let equal stage lists be one object, and tell whether all are equal to the first receipt's.

    Every receipt repeats the list: as one object it is held once, and comparing it costs nothing later.
    """
    first: Any = None
    same = True
    for number, receipt in enumerate(run.chain_receipts()):
        coverage = receipt.value.get("coverage")
        declared = coverage.get("declared_stages") if isinstance(coverage, dict) else None
        if number == 0:
            first = declared
        elif declared is first:
            continue
        elif declared != first:
            same = False
        elif isinstance(coverage, dict) and isinstance(declared, list):
            coverage["declared_stages"] = first
    return same


def _chain_files(manifest: dict[str, Any]) -> tuple[list[str], str]:
    """Return ``file`` of every entry, or why the chain cannot be walked, as the reference raises it (§6)."""
    if "chain" not in manifest:
        return [], "KeyError: 'chain'"
    chain = manifest["chain"]
    if not isinstance(chain, list):
        # An empty string or object acts as an empty list.
        return [], "" if chain in ("", {}) else f"TypeError: chain is a {type(chain).__name__}, not a list"
    result = []
    for number, entry in enumerate(chain, 1):
        if not isinstance(entry, dict):
            return [], f"TypeError: chain entry {number} is a {type(entry).__name__}, not an object"
        file = entry.get("file")
        if not isinstance(file, str):
            if "file" not in entry:
                return [], "KeyError: 'file'"
            return [], f"TypeError: file of chain entry {number} is a {type(file).__name__}, not a string"
        result.append(file)
    return result, ""


def _read_entry(folder: str, root: str, file: str, lists: StageLists) -> tuple[Receipt | None, str]:
    escape = escape_problem(file)
    if escape:
        return None, f"not a path inside the run ({escape}); not read"
    if not file:
        return None, "missing"
    if not root:
        return _read_receipt(f"{folder}/{file}", file, lists)
    path = files.real_path_inside(root, file)
    if path is None:
        return None, "leads outside the run through a symbolic link; not read"
    return _read_receipt(path, file, lists, follow=False)


def _read_receipt(
    path: str, file: str, lists: StageLists, *, follow: bool = True
) -> tuple[Receipt | None, str]:
    try:
        data = files.read_file(path, follow=follow)
    except (NotFoundError, UnreadableError) as error:
        return None, error.message
    value: dict[str, Any] | None
    if json_scan.is_canonical(data, MAX_JSON_DEPTH):
        raw = None
        try:
            value = lists.parse(data.decode())
        except RecursionError:  # the caller's own stack left too little room
            return None, "nested too deeply to read"
    else:
        raw = data
        value, problem = parse_object(data)
        if problem:
            return None, problem
    assert value is not None
    receipt = Receipt(
        file,
        stem_of(file),
        len(data),
        digests.digest_bytes(data),
        value,
        is_canonical=raw is None,
        raw=raw,
    )
    label = value.get("format")
    if label != "stage-receipt/0.2":
        state, why = judge_format(label, "stage-receipt")
        if state in ("unimplemented", "preview"):
            receipt.unimplemented = why
    return receipt, ""


def _take_run_id(run: Run, value: dict[str, Any], whose: str) -> None:
    run_id = value.get("run_id")
    if isinstance(run_id, str) and canonical.can_carry(run_id):
        run.run_id = run_id
    elif run_id is not None:
        run.notes.append(f"{whose} run_id is not a text canonical JSON can carry; read as absent")


def _boundaries_carry(boundaries: object) -> bool:
    if not isinstance(boundaries, list):
        return True
    return all(canonical.can_carry(item) for item in boundaries if isinstance(item, dict))
