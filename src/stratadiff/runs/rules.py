"""The checks of one receipt on its own, as a table (verification §3, rows 5 to 21).

Every rule is a function of a :class:`Findings` and the receipt's parsed value. The rules use the value as
if it had the right shape and let Python raise where it has not: the reference does the same, and the row
``receipt`` says which shape was impossible. The table's order is the order of the rows.
"""

from __future__ import annotations

from stratadiff.core import canonical
from stratadiff.core.digests import is_bare_digest, is_digest
from stratadiff.errors import StratadiffError
from stratadiff.runs.model import FAIL, NOT_RUN, PASS, Receipt, Row
from stratadiff.runs.names import quoted_value
from stratadiff.runs.reader import judge_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Rule: TypeAlias = Callable[["Findings", dict[str, Any]], None]

REQUIRED = (
    "format",
    "run_id",
    "stage",
    "prev",
    "time",
    "coverage",
    "emission",
    "anchor",
    "instrument",
    "inputs",
    "outputs",
    "assertions",
    "outcome",
)
_REQUIRED = frozenset(REQUIRED)
_TRUST_CLASSES = frozenset(("operator-authored", "model-generated", "externally-sourced"))
_OUTCOMES = frozenset(("error", "ok", "refused"))
_COMPLETENESS = frozenset(("complete", "incomplete"))
_ANCHOR_STATES = frozenset(("anchored", "unanchored"))
_WRITER_OWNED = frozenset(("corpus_manifest", "undeclared"))
_NOTHING: dict[str, Any] = {}

IMPOSSIBLE = (AttributeError, TypeError, LookupError, ValueError, RecursionError)
"""What a value of an impossible shape raises."""


class Findings:
    """The rows of a run while they are found.

    Parameters
    ----------
    keep_passes : bool
        Also make PASS rows.
    """

    __slots__ = ("keep_passes", "prefix", "rows")

    def __init__(self, keep_passes: bool) -> None:
        self.rows: list[Row] = []
        self.keep_passes = keep_passes
        self.prefix = ""

    def passed(self, name: str, detail: str = "") -> None:
        """Add a PASS row, if those are kept; `name` goes behind the receipt's prefix."""
        if self.keep_passes:
            self.rows.append(Row(PASS, self.prefix + name, detail))

    def failed(self, name: str, detail: str = "") -> None:
        """Add a FAIL row."""
        self.rows.append(Row(FAIL, self.prefix + name, detail))

    def not_run(self, name: str, detail: str) -> None:
        """Add a NOT-RUN row."""
        self.rows.append(Row(NOT_RUN, self.prefix + name, detail))

    def judge(self, holds: object, name: str, detail: str = "") -> None:
        """Add the PASS or the FAIL row; `detail` is the failure's."""
        if not holds:
            self.failed(name, detail)
        elif self.keep_passes:
            self.passed(name)


def check_receipt(found: Findings, receipt: Receipt) -> bool:
    """Run rows 5 to 21 on a receipt.

    Returns
    -------
    bool
        False when nothing more is checked of this receipt and the expected ``prev`` stays what it was: no
        canonical form (row 6) or an impossible shape (row 27).
    """
    value = receipt.value
    if receipt.unimplemented:
        found.not_run("receipt format", receipt.unimplemented + "; content not checked")
        return True
    try:
        _receipt_format(found, value)
        if not _canonical_form(found, receipt):
            return False
        for rule in RULES:
            rule(found, value)
    except IMPOSSIBLE as error:
        found.failed("receipt", f"could not be checked: {type(error).__name__}: {error}")
        return False
    return True


def _receipt_format(found: Findings, value: dict[str, Any]) -> None:
    label = value.get("format")
    if label == "stage-receipt/0.2":
        found.passed("receipt format")
        return
    _, why = judge_format(label, "stage-receipt")
    found.judge(not why, "receipt format", why)


def _canonical_form(found: Findings, receipt: Receipt) -> bool:
    value = receipt.value
    if receipt.raw is None and "receipt_digest" not in value and "receipt_id" not in value:
        found.passed("bytes are canonical")
        return True
    # The kernel said no (or a reserved name is there): the slow way finds the words, and has the last one.
    try:
        data = canonical.receipt_bytes(value)
    except StratadiffError as error:
        found.failed("canonical form", error.message)
        return False
    same = receipt.raw is None or data == receipt.raw
    found.judge(same, "bytes are canonical", "file bytes differ from the canonical serialization")
    return True


def _required_fields(found: Findings, value: dict[str, Any]) -> None:
    if found.keep_passes or not value.keys() >= _REQUIRED:
        for name in REQUIRED:
            found.judge(name in value, f"required field '{name}'")


def _time_zones(found: Findings, value: dict[str, Any]) -> None:
    time = value.get("time", _NOTHING)
    for which in ("started", "ended"):
        moment = time.get(which, "")
        # A string too short to have a sixth character from the end raises, as the reference does.
        zoned = isinstance(moment, str) and (moment.endswith("Z") or moment[-6] in "+-")
        if found.keep_passes or not zoned:
            found.judge(zoned, f"time.{which} carries its zone", quoted_value(moment))


def _instrument(found: Findings, value: dict[str, Any]) -> None:
    instrument = value.get("instrument", _NOTHING)
    found.judge(
        instrument.get("id") and instrument.get("manifest_digest"),
        "instrument is named and pinned",
        "a record whose instrument cannot be named is invalid",
    )


def _trust_classes(found: Findings, value: dict[str, Any]) -> None:
    for side in ("inputs", "outputs"):
        for item in value.get(side, ()):
            trust = item.get("trust_class")
            known = trust in _TRUST_CLASSES
            if found.keep_passes or not known:
                found.judge(
                    known, f"{side}/{item.get('name', '?')} declares a trust class", quoted_value(trust)
                )


def _assertions(found: Findings, value: dict[str, Any]) -> None:
    assertions = value.get("assertions", _NOTHING)
    claims = assertions.keys() - _WRITER_OWNED if isinstance(assertions, dict) else assertions
    if claims:
        found.judge(
            "constants" in assertions,
            "assertions name their constants",
            "a relation that holds only under an unstated constant tests the constant",
        )


def _outcome(found: Findings, value: dict[str, Any]) -> None:
    outcome = value.get("outcome", _NOTHING)
    outcome_class = outcome.get("class")
    known = outcome_class in _OUTCOMES
    if found.keep_passes or not known:
        found.judge(known, "outcome class is one of ['error', 'ok', 'refused']", quoted_value(outcome_class))
    if outcome_class == "error":
        found.judge(
            "status" in outcome and "body" in outcome and "origin" in outcome,
            "error carries status, body and origin",
            "an HTTP error without its body is a status code wearing an explanation",
        )


def _completeness(found: Findings, value: dict[str, Any]) -> None:
    coverage = value.get("coverage", _NOTHING)
    completeness = coverage.get("completeness")
    known = completeness in _COMPLETENESS
    if found.keep_passes or not known:
        found.judge(known, "coverage declares completeness", quoted_value(completeness))
    if completeness == "complete":
        silent = set(coverage.get("declared_stages", ())) - set(coverage.get("emitting_stages", ()))
        detail = f"declared but not emitting: {quoted_value(sorted(silent))}" if silent else ""
        found.judge(not silent, "'complete' is consistent with the stage lists", detail)


def _held_step(found: Findings, value: dict[str, Any]) -> None:
    if "refused" not in value:
        return
    links = attempted_links(value)
    if (
        value.get("outcome", _NOTHING).get("class") == "refused"
        and links
        # Items that are no objects are not among the links.
        and len(links) == len(value["refused"]["attempted"])
        and all(isinstance(name, str) and name.startswith("receipt:") for name, _ in links)
    ):
        nodes = " -> ".join(str(name)[8:] for name, _ in links)
        found.passed("step held before running", f"attempted: {nodes}")
        return
    found.failed(
        "step held before running",
        "refused.attempted on a receipt whose outcome is not refused, or not a list of receipt: links",
    )


def attempted_links(value: dict[str, Any]) -> list[tuple[object, object]]:
    """Return name and digest of each object in ``refused.attempted``."""
    refused = value.get("refused")
    attempted = refused.get("attempted") if isinstance(refused, dict) else None
    if not isinstance(attempted, list):
        return []
    return [(item.get("name"), item.get("digest")) for item in attempted if isinstance(item, dict)]


def _optional_stages(found: Findings, value: dict[str, Any]) -> None:
    coverage = value.get("coverage", _NOTHING)
    if "optional_stages" not in coverage:
        return
    names = coverage["optional_stages"]
    declared = coverage.get("declared_stages", ())
    fine = (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
        and all(name in declared for name in names)
    )
    found.judge(fine, "optional stages are declared stages", quoted_value(names))


def _anchor(found: Findings, value: dict[str, Any]) -> None:
    state = value.get("anchor", _NOTHING).get("state")
    known = state in _ANCHOR_STATES
    if found.keep_passes or not known:
        found.judge(known, "anchor state is declared, not absent", quoted_value(state))
    if state == "unanchored":
        found.not_run(
            "originality",
            "record is declared unanchored; this verifier can establish consistency, not originality",
        )


def _digest_forms(found: Findings, value: dict[str, Any]) -> None:
    name = "digest is sha256: and 64 lower-case hex"
    prev = value.get("prev")
    if prev is not None and not is_digest(prev):
        found.failed(name, f"prev: {quoted_value(prev)}")
    instrument = value.get("instrument", _NOTHING)
    for member in ("manifest_digest", "config_digest"):
        if member in instrument and not is_digest(instrument[member]):
            found.failed(name, f"instrument.{member}: {quoted_value(instrument[member])}")
    for side in ("inputs", "outputs"):
        for i, item in enumerate(value.get(side, ())):
            if "digest" in item and not is_digest(item["digest"]):
                found.failed(name, f"{side}[{i}].digest: {quoted_value(item['digest'])}")
    assertions = value.get("assertions")
    assertions = assertions if isinstance(assertions, dict) else _NOTHING
    if "corpus_manifest" in assertions:
        link = assertions["corpus_manifest"]
        if not isinstance(link, dict) and not is_digest(link):
            found.failed(name, f"assertions.corpus_manifest: {quoted_value(link)}")
    anchor = value.get("anchor", _NOTHING)
    if "subject" in anchor and "proof" not in anchor and not is_digest(anchor["subject"]):
        found.failed(name, f"anchor.subject: {quoted_value(anchor['subject'])}")
    name = "digest is 64 lower-case hex, no prefix"
    for member in ("outputs_root", "receipts_root"):
        if member in assertions and not is_bare_digest(assertions[member]):
            found.failed(name, f"assertions.{member}: {quoted_value(assertions[member])}")
    if "subject" in anchor and "proof" in anchor and not is_bare_digest(anchor["subject"]):
        found.failed(name, f"anchor.subject: {quoted_value(anchor['subject'])}")


RULES: tuple[Rule, ...] = (
    _required_fields,
    _time_zones,
    _instrument,
    _trust_classes,
    _assertions,
    _outcome,
    _completeness,
    _held_step,
    _optional_stages,
    _anchor,
    _digest_forms,
)
