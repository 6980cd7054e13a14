"""The stricter checks the format asks for and the reference does not make (verification §8, decision D13)."""

from __future__ import annotations

from stratadiff.core import canonical, digests
from stratadiff.core.moments import instant
from stratadiff.errors import StratadiffError
from stratadiff.runs.names import quoted_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stratadiff.runs.model import Run
    from stratadiff.runs.rules import Findings

_EFFECT_STATES = ("attempted", "returned-a-response", "confirmed-by-the-external-system")
_WRITER_OWNED = frozenset(("corpus_manifest", "undeclared"))


def check_receipt(found: Findings, value: dict[str, Any], manifest: dict[str, Any] | None) -> None:
    """Check one receipt whose rows 5 to 21 were judged; `manifest` is None for a single receipt."""
    _constants(found, _object(value, "assertions"))
    index = _object(value, "stage").get("index")
    found.judge(
        (value.get("prev") is None) == (index == "1"),
        "prev is null on the first receipt and nowhere else",
        f"stage.index {quoted_value(index)}, prev {quoted_value(value.get('prev'))}",
    )
    _times(found, _object(value, "time"))
    _coverage(found, _object(value, "coverage"))
    rederivable = _object(value, "instrument").get("rederivable")
    found.judge(
        rederivable in ("true", "false"),
        "instrument.rederivable is 'true' or 'false'",
        quoted_value(rederivable),
    )
    if manifest is not None:
        own, whole = value.get("run_id"), manifest.get("run_id")
        found.judge(
            isinstance(own, str) and own == whole,
            "run_id is the manifest's",
            f"the manifest says {quoted_value(whole)}, the receipt {quoted_value(own)}",
        )
    if "effects" in value:
        problem = _effects_problem(value["effects"])
        found.judge(not problem, "effects name a target and a known state", problem)
    link = _object(value, "assertions").get("corpus_manifest")
    if isinstance(link, dict):
        problem = _inclusion_problem(link)
        found.judge(not problem, "corpus_manifest proof leads to its digest", problem)


def check_manifest(found: Findings, run: Run) -> None:
    """Check what belongs to the whole run, after its rows."""
    manifest = run.manifest
    try:
        same = canonical.receipt_bytes(manifest) == run.manifest_raw
        problem = "file bytes differ from the canonical serialization"
    except StratadiffError as error:
        same, problem = False, error.message
    found.judge(same, "manifest: bytes are canonical", problem)
    problem = _index_problem(run)
    found.judge(not problem, "manifest: indexes count up and are the receipts'", problem)
    problem = _label_problem(run)
    found.judge(not problem, "manifest: stage labels are the receipts'", problem)
    declared = {name for receipt in run.chain_receipts() for name in receipt.declared_stages}
    problem = _boundary_problem(manifest.get("boundaries", []), declared)
    found.judge(not problem, "manifest: boundaries name declared stages", problem)


def _constants(found: Findings, assertions: dict[str, Any]) -> None:
    if not assertions.keys() - _WRITER_OWNED or "constants" not in assertions:
        return  # nothing asserted, or row 12 has failed
    constants = assertions["constants"]
    if not isinstance(constants, dict):
        problem = "constants is not an object"
    elif not constants:
        problem = "constants is empty"
    elif "" in constants:
        problem = "a constant has an empty name"
    else:
        names = [name for name, member in constants.items() if not isinstance(member, str)]
        problem = f"the value of constant {quoted_value(names[0])} is not a string" if names else ""
    found.judge(not problem, "assertions name their constants with string values", problem)


def _times(found: Findings, time: dict[str, Any]) -> None:
    moments = []
    for which in ("started", "ended"):
        moment = instant(time.get(which))
        moments.append(moment)
        found.judge(
            moment is not None,
            f"time.{which} is an RFC 3339 timestamp with Z or an offset",
            quoted_value(time.get(which)),
        )
    started, ended = moments
    if started is not None and ended is not None:
        found.judge(
            started <= ended,
            "time.ended is not before time.started",
            f"started {time['started']}, ended {time['ended']}",
        )


def _coverage(found: Findings, coverage: dict[str, Any]) -> None:
    boundaries = coverage.get("boundaries", [])
    if coverage.get("completeness") == "complete":
        found.judge(boundaries == [], "'complete' has no boundary standing", quoted_value(boundaries))
    declared = coverage.get("declared_stages")
    names = declared if isinstance(declared, list) else []
    problem = _boundary_problem(boundaries, names)
    found.judge(not problem, "boundaries name declared stages", problem)


def _boundary_problem(boundaries: object, declared: Any) -> str:
    if not isinstance(boundaries, list):
        return "boundaries is not a list"
    for number, boundary in enumerate(boundaries, 1):
        if not isinstance(boundary, dict):
            return f"boundary {number} is not an object"
        name = boundary.get("name")
        if not isinstance(name, str) or name not in declared:
            return f"boundary {number} names {quoted_value(name)}, which is not declared"
    return ""


def _effects_problem(effects: object) -> str:
    if not isinstance(effects, list):
        return "effects is not a list"
    for number, effect in enumerate(effects, 1):
        if not isinstance(effect, dict):
            return f"effect {number} is not an object"
        if not isinstance(effect.get("target"), str) or not effect["target"]:
            return f"effect {number} names no target"
        if effect.get("state") not in _EFFECT_STATES:
            return f"effect {number} has the state {quoted_value(effect.get('state'))}"
    return ""


def _inclusion_problem(link: dict[str, Any]) -> str:
    digest, proof, preimage = link.get("digest"), link.get("proof"), link.get("preimage_hex")
    if not digests.is_digest(digest):
        return f"digest: {quoted_value(digest)}"
    if not isinstance(link.get("member"), str) or not link["member"]:
        return "member is not a non-empty string"
    if not isinstance(proof, list):
        return "proof is not a list"
    try:
        data = bytes.fromhex(preimage) if isinstance(preimage, str) else None
    except ValueError:
        data = None
    if data is None:
        return "preimage_hex is not hexadecimal"
    root = digests.proof_root(data, proof)
    if root is None:
        return "a step of the proof is malformed"
    return "" if digests.PREFIX + root == digest else f"it leads to {root}"


def _index_problem(run: Run) -> str:
    before = (0, "")
    for number, (entry, receipt) in enumerate(_pairs(run), 1):
        index = entry.get("index")
        if not (isinstance(index, str) and index.isascii() and index.isdigit()) or index[0] == "0":
            return f"chain entry {number} has the index {quoted_value(index)}"
        if (len(index), index) <= before:
            return f"chain entry {number} has the index {quoted_value(index)} after {quoted_value(before[1])}"
        before = (len(index), index)
        if receipt is not None and receipt.index != index:
            own = quoted_value(receipt.index)
            return f"chain entry {number} has the index {quoted_value(index)}, its receipt {own}"
    return ""


def _label_problem(run: Run) -> str:
    for number, (entry, receipt) in enumerate(_pairs(run), 1):
        if receipt is None:
            continue
        stage = receipt.value.get("stage")
        stage = stage if isinstance(stage, dict) else {}
        if entry.get("stage") != stage.get("name") or entry.get("instance") != stage.get("instance"):
            label = quoted_value(entry.get("stage"))
            if "instance" in entry:
                label += f" {quoted_value(entry['instance'])}"
            return f"chain entry {number} is labelled {label}, its receipt is {quoted_value(receipt.node_id)}"
    return ""


def _pairs(run: Run) -> Any:
    return zip(run.manifest["chain"], run.receipts, strict=False)


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    member = value.get(name)
    return member if isinstance(member, dict) else {}
