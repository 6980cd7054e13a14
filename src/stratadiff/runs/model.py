"""What was read from a run folder, a single receipt or a summary.

The classes hold what the files say and nothing that was concluded from it. Values come from files nobody
vouches for, so every accessor is tolerant: a member of the wrong type reads as empty (decisions D3, D4,
D11), and whoever needs to *judge* a value looks at :attr:`Receipt.value` or :attr:`Run.manifest` itself.
"""

from __future__ import annotations

from stratadiff.core import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PASS = "PASS"
FAIL = "FAIL"
NOT_RUN = "NOT-RUN"
SIGNED_UNTRUSTED = "SIGNED-UNTRUSTED"

PREVIEW_RECEIPT_FORMAT = "stage-receipt/0.0-preview"


class Row:
    """One finding of the verification.

    Parameters
    ----------
    result : str
        ``PASS``, ``FAIL``, ``NOT-RUN`` or ``SIGNED-UNTRUSTED``.
    name : str
        What was checked, ``receipts/01-load.json: chain link`` for instance. Hostile text: escape before
        display.
    detail : str
        What was found; empty when the name says it all. Hostile text: escape before display.
    """

    __slots__ = ("detail", "name", "result")

    def __init__(self, result: str, name: str, detail: str = "") -> None:
        self.result = result
        self.name = name
        self.detail = detail

    def __repr__(self) -> str:
        return f"Row({self.result!r}, {self.name!r}, {self.detail!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return (self.result, self.name, self.detail) == (other.result, other.name, other.detail)

    def __hash__(self) -> int:
        return hash((self.result, self.name, self.detail))

    @property
    def check(self) -> str:
        """Return the name after the first ``": "``, the whole name where there is none (comparison §8)."""
        _, colon, rest = self.name.partition(": ")
        return rest if colon else self.name

    @property
    def line(self) -> str:
        """Return the row as one line of a report, not escaped: ``[FAIL] name -- detail``."""
        tail = f" -- {self.detail}" if self.detail else ""
        return f"[{self.result}] {self.name}{tail}"


class Receipt:
    """One receipt: its bytes' digest and length, and its members as parsed.

    Parameters
    ----------
    file : str
        The manifest's ``chain[].file`` as written; the given path of a single receipt.
    stem : str
        Last path component of `file` without its last suffix: the folder name under ``artifacts/``.
    byte_count : int
        Length of the file.
    digest : str
        ``sha256:`` form over the file's bytes.
    value : dict
        The object as Python's ``json`` parses it.
    is_canonical : bool
        The kernel found the bytes to be exactly the canonical form of an object without numbers.
    raw : bytes or None
        The file's bytes, kept only where `is_canonical` is false: the verifier explains those.

    Attributes
    ----------
    unimplemented : str
        Empty, or why the receipt's format is not one this package implements; its content was then not
        checked, and no comparison may use it (decision D2). ``'stage-receipt/9.0': major version 9 is not
        implemented (…)``.
    """

    __slots__ = (
        "_instance",
        "_name",
        "byte_count",
        "digest",
        "file",
        "is_canonical",
        "raw",
        "stem",
        "unimplemented",
        "value",
    )

    def __init__(
        self,
        file: str,
        stem: str,
        byte_count: int,
        digest: str,
        value: dict[str, Any],
        *,
        is_canonical: bool = True,
        raw: bytes | None = None,
    ) -> None:
        self.file = file
        self.stem = stem
        self.byte_count = byte_count
        self.digest = digest
        self.value = value
        self.is_canonical = is_canonical
        self.raw = raw
        self.unimplemented = ""
        stage = _dict(value.get("stage"))
        self._name = _text(stage.get("name"))
        instance = stage.get("instance")
        self._instance = instance if isinstance(instance, str) and instance else None

    def __repr__(self) -> str:
        return f"Receipt({self.file!r}, {self.node_id!r}, {self.digest[:19]}…)"

    @property
    def format(self) -> str:
        """Return ``format``, ``""`` when it is not a string."""
        return _text(self.value.get("format"))

    @property
    def is_preview(self) -> bool:
        """Tell whether the format is exactly the preview literal."""
        return self.value.get("format") == PREVIEW_RECEIPT_FORMAT

    @property
    def name(self) -> str:
        """Return ``stage.name``."""
        return self._name

    @property
    def instance(self) -> str | None:
        """Return ``stage.instance``, None when absent or empty."""
        return self._instance

    @property
    def node_id(self) -> str:
        """Return ``name`` or ``name#instance`` (run-records §6)."""
        return self._name if self._instance is None else f"{self._name}#{self._instance}"

    @property
    def index(self) -> str:
        """Return ``stage.index`` as written: decimal digits in a verified run, of any length."""
        return _text(_dict(self.value.get("stage")).get("index"))

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Return the input references that are objects, ``receipt:`` edges included, in order."""
        return _dicts(self.value.get("inputs"))

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """Return the output references that are objects, in order."""
        return _dicts(self.value.get("outputs"))

    @property
    def instrument(self) -> dict[str, Any]:
        """Return ``instrument``."""
        return _dict(self.value.get("instrument"))

    @property
    def assertions(self) -> dict[str, Any]:
        """Return ``assertions``."""
        return _dict(self.value.get("assertions"))

    @property
    def constants(self) -> dict[str, Any]:
        """Return ``assertions.constants``; values are usually strings, nobody checks it by default."""
        return _dict(self.assertions.get("constants"))

    @property
    def corpus_link(self) -> Any:
        """Return the link's digest in either of its forms, None when absent (run-records §9)."""
        link = self.assertions.get("corpus_manifest")
        return link.get("digest") if isinstance(link, dict) else link

    @property
    def outcome_class(self) -> str | None:
        """Return ``outcome.class``; one of ``ok``, ``refused``, ``error`` in a verified receipt."""
        value = _dict(self.value.get("outcome")).get("class")
        return value if isinstance(value, str) else None

    @property
    def declared_stages(self) -> list[str]:
        """Return ``coverage.declared_stages``; an item that is no string as its JSON text, so places hold."""
        return _names(_dict(self.value.get("coverage")).get("declared_stages"))

    @property
    def emitting_stages(self) -> list[str]:
        """Return ``coverage.emitting_stages``, as :attr:`declared_stages`."""
        return _names(_dict(self.value.get("coverage")).get("emitting_stages"))

    @property
    def boundaries(self) -> list[dict[str, Any]]:
        """Return ``coverage.boundaries`` without what canonical JSON cannot carry (decision D11)."""
        return carried_objects(_dict(self.value.get("coverage")).get("boundaries"))


class Run:
    """One input of a comparison or verification, read completely.

    Parameters
    ----------
    kind : str
        ``run``, ``receipt`` or ``summary``.
    given : str
        The path as typed; what messages name.
    folder : str
        The run folder; the folder of the file for a single receipt.

    Attributes
    ----------
    manifest : dict
        ``MANIFEST.json`` as parsed, last of repeated members; empty for the other kinds.
    manifest_digest : str
        ``sha256:`` form over the manifest's bytes; of the receipt's bytes for a single receipt; ``""`` if
        unread.
    run_id : str or None
        The manifest's (or the single receipt's) ``run_id``; None when absent or of a shape a document
        cannot hold.
    chain_head : str or None
        The manifest's ``chain_head`` when it is a string a document can hold.
    topological : bool
        The manifest has the key ``edges``, whatever its value (run-records §4).
    receipts : list of Receipt or None
        By chain entry; None where the file could not be used, and `receipt_problems` says why.
    receipt_problems : list of str
        By chain entry; ``""`` where there is a receipt.
    unreadable : str
        Why the manifest (or the single receipt's file) is no JSON object that can be read, else ``""``.
        Such a run has no receipts and its `verification` is one FAIL row: the comparison is *refused*
        (decision D1).
    unimplemented : str
        Why the manifest's format, or the kind of input, is not one this package implements, else ``""``.
        Nothing was checked and nothing may be compared: *could not check* (decisions D2, D12).
        :attr:`obstacle` is the sentence for it.
    manifest_unimplemented : bool
        The manifest's format is the preview literal: every check runs, yet the run is *not verified*.
    raised : str
        Why the chain itself cannot be walked (``KeyError: 'chain'``), else ``""``: one FAIL row ``verifier
        raised``.
    verification : list of Row
        Filled by :func:`stratadiff.runs.verify.verify_run`; without PASS rows unless those were asked for.
    notes : list of str
        What was read otherwise than written, for the report.
    strict : bool
        The stricter checks of verification §8 and decision D5 apply.
    """

    __slots__ = (
        "chain_head",
        "folder",
        "given",
        "kind",
        "manifest",
        "manifest_digest",
        "manifest_raw",
        "manifest_unimplemented",
        "notes",
        "raised",
        "receipt_problems",
        "receipts",
        "run_id",
        "strict",
        "topological",
        "unimplemented",
        "unreadable",
        "verification",
    )

    def __init__(self, kind: str, given: str, folder: str) -> None:
        self.kind = kind
        self.given = given
        self.folder = folder
        self.manifest: dict[str, Any] = {}
        self.manifest_digest = ""
        self.manifest_raw = b""
        self.manifest_unimplemented = False
        self.run_id: str | None = None
        self.chain_head: str | None = None
        self.topological = False
        self.receipts: list[Receipt | None] = []
        self.receipt_problems: list[str] = []
        self.unreadable = ""
        self.unimplemented = ""
        self.raised = ""
        self.verification: list[Row] = []
        self.notes: list[str] = []
        self.strict = False

    def __repr__(self) -> str:
        return f"Run({self.kind!r}, {self.given!r}, {len(self.receipts)} receipts)"

    @property
    def failed_rows(self) -> list[Row]:
        """Return the FAIL rows: any of them refuses the run."""
        return [row for row in self.verification if row.result == FAIL]

    @property
    def verifies(self) -> bool:
        """Tell whether the run was checked and no row failed; meaningful after ``verify_run``."""
        return not self.unreadable and not self.unimplemented and not self.failed_rows

    @property
    def obstacle(self) -> str:
        """Return why an unimplemented format or kind could not be checked, ``""`` when it is implemented."""
        return f"{self.given}: {self.unimplemented}" if self.unimplemented else ""

    @property
    def manifest_boundaries(self) -> list[dict[str, Any]]:
        """Return the manifest's ``boundaries`` without what canonical JSON cannot carry (decision D11)."""
        return carried_objects(self.manifest.get("boundaries"))

    def chain_receipts(self) -> Iterator[Receipt]:
        """Yield the receipts that could be read, in chain order; all of them in a verified run."""
        for receipt in self.receipts:
            if receipt is not None:
                yield receipt

    def output_path(self, receipt: Receipt, name: str) -> str:
        """Return where an output's bytes live; `name` has passed the output name rule (verification §5)."""
        return f"{self.folder}/artifacts/{receipt.stem}/{name}"


def carried_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, each without the members canonical JSON cannot carry (decision D11)."""
    if not isinstance(value, list) or not value:
        return []
    return [
        {
            key: member
            for key, member in item.items()
            if canonical.can_carry(key) and canonical.can_carry(member)
        }
        for item in value
        if isinstance(item, dict)
    ]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    for item in value:
        if not isinstance(item, dict):
            return [item for item in value if isinstance(item, dict)]
    return value  # the usual case, without a copy


def _names(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, str) else canonical.describe(item) for item in value]
