"""The verification of a run, row by row (verification §§3-7)."""

from __future__ import annotations

import os

from stratadiff.core import files
from stratadiff.core.digests import digest_bytes
from stratadiff.errors import NotFoundError, StratadiffError
from stratadiff.runs.model import FAIL, PASS, Receipt, Row
from stratadiff.runs.names import quoted_value
from stratadiff.runs.paths import name_problem, stem_of
from stratadiff.runs.reader import judge_format
from stratadiff.runs.rules import Findings, attempted_links, check_receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stratadiff.runs.model import Run

_UNCHECKED = {
    "none": "the run declares it keeps no output files (outputs_kept: none); output files not checked",
    "absent": "artifacts not present; output files not checked",
    "unrecognised": (
        "artifact layout not recognised (expected artifacts/<receipt stem>/<name>); output files not checked"
    ),
}


def verify_run(
    run: Run, *, collect_passes: bool = False, strict: bool = False, beside_chain: bool = False
) -> list[Row]:
    """Check a run and keep the rows as ``run.verification``.

    Parameters
    ----------
    run : Run
        As :func:`stratadiff.runs.reader.read_input` returned it.
    collect_passes : bool
        Also make the PASS rows. `diff` does not need them, and they are most of the cost.
    strict : bool
        Add the stricter checks of verification §8; a run read with ``strict=True`` has them anyway.
    beside_chain : bool
        Add the rows of ``anchors/`` and ``signatures/`` (verification §7), whose FAIL fails a run for
        `verify` alone. `diff` asks :func:`beside_rows` for its annotations instead.

    Returns
    -------
    list of Row
        In the reference order. A run that is unreadable has one FAIL row ``manifest``; one of an
        unimplemented manifest format has none. Any FAIL row refuses the run.
    """
    return Checking(run, collect_passes=collect_passes, strict=strict, beside_chain=beside_chain).finish()


class Checking:
    """A verification in two steps: all that the receipts say first, then the bytes of the outputs.

    Whoever wants to show outputs can so decide between the steps which ones, and have their bytes from the
    one reading that also checks them (decision D5b).

    Parameters
    ----------
    run, collect_passes, strict, beside_chain
        As :func:`verify_run` takes them. The first step is made here.
    """

    __slots__ = ("_beside_chain", "_found", "_numbers", "_outputs", "_run", "_strict")

    def __init__(
        self, run: Run, *, collect_passes: bool = False, strict: bool = False, beside_chain: bool = False
    ) -> None:
        self._run = run
        self._strict = strict or run.strict
        self._beside_chain = beside_chain
        self._found = found = Findings(collect_passes)
        self._outputs: _Outputs | None = None
        self._numbers: dict[tuple[str, object], int] | None = None
        if run.unimplemented:
            pass
        elif run.unreadable:
            name = f"{run.given}: receipt file" if run.kind == "receipt" else "manifest"
            found.rows.append(Row(FAIL, name, run.unreadable))
        elif run.raised:
            found.rows.append(Row(FAIL, "verifier raised", run.raised))
        elif run.kind == "receipt":
            _check_single(found, run, self._strict)
        else:
            self._outputs = _check_run(found, run, self._strict)
        run.verification = found.rows

    @property
    def has_failed(self) -> bool:
        """Tell whether a check failed so far."""
        return not self._run.verifies

    def read_output(self, stem: str, name: object) -> bytes | None:
        """Check one output now and return its bytes.

        Returns
        -------
        bytes or None
            None if the outputs are not checked, this one was checked already, leads outside the run or fails.
        """
        outputs = self._outputs
        if outputs is None or not isinstance(name, str):
            return None
        if self._numbers is None:
            # Of two records with one name the last counts, as everywhere (textdiff §3.2).
            self._numbers = {
                (receipt.stem, item.get("name")): number
                for number, (_, receipt, item) in enumerate(outputs.items)
                if isinstance(item.get("name"), str)
            }
        number = self._numbers.get((stem, name))
        return None if number is None else outputs.check(number, keep=True)

    def finish(self) -> list[Row]:
        """Check the outputs that were not yet, keep the rows as ``run.verification`` and return them."""
        found = self._found
        if self._outputs is not None:
            found.rows = self._outputs.merge(found.rows)
            if self._beside_chain:
                anchors, signatures = beside_rows(self._run)
                found.rows += anchors + signatures
        self._run.verification = found.rows
        return found.rows


def beside_rows(run: Run) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``anchors/`` and of ``signatures/``: the report's `anchoring` and `signing`."""
    if run.kind != "run" or run.unreadable:
        return [], []
    from stratadiff.runs import beside  # not for `diff` without a report: start-up

    return beside.anchor_rows(run), beside.signature_rows(run)


def _check_single(found: Findings, run: Run, strict: bool) -> None:
    if strict:
        from stratadiff.runs import strict as strict_rules  # start-up

    for receipt in run.chain_receipts():
        found.prefix = f"{receipt.file}: "
        if check_receipt(found, receipt) and strict and not receipt.unimplemented:
            strict_rules.check_receipt(found, receipt.value, None)


def _check_run(found: Findings, run: Run, strict: bool) -> _Outputs:
    if strict:
        from stratadiff.runs import strict as strict_rules  # start-up

    manifest = run.manifest
    state, why = judge_format(manifest.get("format"), "stage-receipt-chain")
    if state == "preview":
        found.not_run("manifest: chain format", f"{why}; the chain checks still run")
    outputs = _Outputs(run, strict, _kept_none(found, run), found.keep_passes)
    order = _StageOrder(found, run.topological)
    entries: list[dict[str, Any]] = manifest["chain"] or []
    earlier: dict[str, str] = {}
    optional: list[object] = []
    expected: str | None = None
    for position, (entry, receipt) in enumerate(zip(entries, run.receipts, strict=True)):
        found.prefix = f"{entry['file']}: "
        if receipt is None:
            found.failed("receipt file", run.receipt_problems[position])
            continue
        _optional_agree(found, receipt, optional)
        order.enter(receipt)
        if not check_receipt(found, receipt):
            continue
        if not receipt.unimplemented:
            order.check(receipt, position)
            if strict:
                strict_rules.check_receipt(found, receipt.value, manifest)
        found.judge(entry.get("digest") == receipt.digest, "digest matches the manifest")
        prev = receipt.value.get("prev")
        linked = prev == expected
        if found.keep_passes or not linked:
            found.judge(linked, "chain link", f"expected {expected}, found {_plain(prev)}")
        if "refused" in receipt.value:
            _attempted(found, receipt, earlier)
        if not receipt.unimplemented:
            outputs.enter(receipt, len(found.rows))
        expected = earlier[receipt.node_id] = receipt.digest
    found.prefix = ""
    if outputs.layout != "recognised":
        found.not_run("run: artifacts", _UNCHECKED[outputs.layout])
    found.judge(manifest.get("chain_head") == expected, "manifest: chain head matches the last receipt")
    if run.topological:
        from stratadiff.runs import topology  # start-up

        topology.check_edges(found, run)
    if strict:
        strict_rules.check_manifest(found, run)
    return outputs


def _kept_none(found: Findings, run: Run) -> bool:
    """Rows 1 and 2; tell whether the run declares, consistently, that it keeps no output files."""
    kept = run.manifest.get("outputs_kept", "all")
    if kept not in ("all", "none"):
        found.failed("manifest: outputs_kept is 'all' or 'none'", quoted_value(kept))
        return False
    others = []
    for receipt, entry in zip(run.receipts, run.manifest["chain"], strict=False):
        coverage = receipt.value.get("coverage") if receipt is not None else None
        own = coverage.get("outputs_kept", "all") if isinstance(coverage, dict) else "all"
        if own != kept:
            others.append((entry["file"], own))
    if others:
        file, own = others[0]
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        found.failed(
            "manifest: outputs_kept agrees with every receipt",
            f"the manifest says {quoted_value(kept)}, {file} says {quoted_value(own)}{more}",
        )
        return False
    return bool(kept == "none")


def _optional_agree(found: Findings, receipt: Receipt, first: list[object]) -> None:
    """Row 4; `first` holds the first readable receipt's value once there was one."""
    coverage = receipt.value.get("coverage")
    own = coverage.get("optional_stages") if isinstance(coverage, dict) else None
    if not first:
        first.append(own)
    elif own != first[0]:
        found.failed(
            "optional stages agree across receipts",
            f"{quoted_value(own)} here, {quoted_value(first[0])} on the first receipt",
        )


def _attempted(found: Findings, receipt: Receipt, earlier: dict[str, str]) -> None:
    """Row 25."""
    for name, digest in attempted_links(receipt.value):
        if not isinstance(name, str) or not name.startswith("receipt:"):
            continue
        known = earlier.get(name[8:])
        if known is None:
            detail = f"{name}: no earlier receipt in this chain"
        elif digest != known:
            detail = f"{name}: digest {quoted_value(digest)}, the receipt's is {known}"
        else:
            continue
        found.failed("attempted links name earlier receipts", detail)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else quoted_value(value)


class _StageOrder:
    """Rows 22 and 22b: what a receipt lists as emitting had emitted when it was written."""

    __slots__ = ("_declared", "_emitted", "_found", "_places", "_topological")

    def __init__(self, found: Findings, topological: bool) -> None:
        self._found = found
        self._topological = topological
        self._emitted: set[str] = set()
        self._declared: list[Any] | None = None
        self._places: dict[Any, int] | None = None

    def enter(self, receipt: Receipt) -> None:
        """Count a readable receipt's stage as one that has emitted."""
        if receipt.name:
            self._emitted.add(receipt.name)

    def check(self, receipt: Receipt, position: int) -> None:
        coverage = receipt.value.get("coverage", {})
        declared = coverage.get("declared_stages")
        emitting = coverage.get("emitting_stages")
        declared = declared if isinstance(declared, list) else []
        emitting = emitting if isinstance(emitting, list) else []
        complete = coverage.get("completeness") == "complete" and declared
        stage = receipt.value.get("stage")
        name = stage.get("name") if isinstance(stage, dict) else None
        if self._topological:
            try:
                early = [] if self._all_emitted(emitting) else self._unheard(declared, emitting)
                done = not complete or self._emitted.issuperset(declared)
            except TypeError as error:
                self._found.failed("stage order", f"could not be checked: TypeError: {error}")
                return
        else:
            places = self._positions(declared)
            place = _place(declared, places, name)
            if place < 0:
                place = position
            count = len(emitting)
            # Stages usually emit in declared order; comparing the two lists is all there is to do then.
            if count <= place + 1 and emitting == declared[:count]:
                early = []
            else:
                early = [item for item in emitting if _place(declared, places, item) > place]
            done = not complete or name == declared[-1]
        if early:
            self._found.failed(
                "emitting_stages is as known at emission",
                f"receipt {position + 1} ({quoted_value(name)}) lists {quoted_value(early)} as emitting,"
                " which had not happened yet at this point in the chain",
            )
        if not done:
            self._found.failed(
                "'complete' only on the last declared stage",
                f"receipt {position + 1} ({quoted_value(name)}) asserts 'complete' before the last declared"
                f" stage ({quoted_value(declared[-1])})",
            )

    def _all_emitted(self, emitting: list[Any]) -> bool:
        try:
            return self._emitted.issuperset(emitting)
        except TypeError:
            return False  # a list or an object among the names: the slow way says whether it matters

    def _unheard(self, declared: list[Any], emitting: list[Any]) -> list[Any]:
        places = self._positions(declared)
        return [
            item for item in emitting if _place(declared, places, item) >= 0 and item not in self._emitted
        ]

    def _positions(self, declared: list[Any]) -> dict[Any, int] | None:
        """Return the first position of every name; made once while receipts declare the same list."""
        # The reader lets equal lists be one object, so this is nearly always the first comparison alone.
        if declared is not self._declared and declared != self._declared:
            self._declared = declared
            try:
                self._places = {name: len(declared) - 1 - i for i, name in enumerate(reversed(declared))}
            except TypeError:
                self._places = None  # a list or an object among the names: search instead
        return self._places


def _place(declared: list[Any], places: dict[Any, int] | None, item: Any) -> int:
    """Return the first position of `item` in `declared`, -1 when it is not there."""
    if places is None:
        return declared.index(item) if item in declared else -1
    try:
        return places.get(item, -1)
    except TypeError:
        return -1  # cannot be equal to a name that has a hash


class _Outputs:
    """Row 26: the stored bytes of every output (verification §5).

    Attributes
    ----------
    layout : str
        ``none``, ``absent``, ``unrecognised`` or ``recognised``.
    items : list of (int, Receipt, dict)
        The outputs to check, each with the place its row takes among the other rows.
    """

    __slots__ = ("_digests", "_folder", "_keep_passes", "_root", "_rows", "_run", "items", "layout")

    def __init__(self, run: Run, strict: bool, kept_none: bool, keep_passes: bool) -> None:
        self._run = run
        self._keep_passes = keep_passes
        self._folder = f"{run.folder}/artifacts"
        self._root = os.path.realpath(run.folder) if strict else ""
        self._digests: dict[str, str] = {}
        self.items: list[tuple[int, Receipt, dict[str, Any]]] = []
        self._rows: dict[int, Row | None] = {}
        if kept_none:
            self.layout = "none"
        elif not os.path.isdir(self._folder):
            self.layout = "absent"
        else:
            self.layout = "unrecognised"
            for entry in run.manifest["chain"]:
                stem = stem_of(entry["file"])
                plain = stem != ".." and "\\" not in stem and "\0" not in stem
                if plain and os.path.isdir(f"{self._folder}/{stem}"):
                    self.layout = "recognised"
                    break

    def enter(self, receipt: Receipt, place: int) -> None:
        """Note the outputs of a receipt; their rows come after the first `place` rows."""
        if self.layout == "recognised":
            for item in receipt.value.get("outputs", ()):
                self.items.append((place, receipt, item))

    def merge(self, rows: list[Row]) -> list[Row]:
        """Check what was not yet, and return `rows` with the outputs' rows in their places."""
        merged: list[Row] = []
        start = 0
        for number, (place, _, _) in enumerate(self.items):
            if number not in self._rows:
                self.check(number)
            row = self._rows[number]
            if row is not None:
                merged += rows[start:place]
                merged.append(row)
                start = place
        return merged + rows[start:] if merged else rows

    def check(self, number: int, *, keep: bool = False) -> bytes | None:
        """Check one output; with `keep` return its bytes if it is inside the run and as its receipt says."""
        _, receipt, item = self.items[number]
        prefix = f"{receipt.file}: output artifact '{item.get('name')}'"
        name: Any = item.get("name")
        problem = name_problem(name)
        if problem:
            where = f"artifacts/{receipt.stem}/"
            self._rows[number] = Row(FAIL, prefix, f"not one file name in {where} ({problem}); not read")
            return None
        actual, problem, data = self._digest(receipt.stem, name, keep)
        expected = item.get("digest")
        row = None
        if problem:
            row = Row(FAIL, prefix, problem)
        elif actual != expected:
            row = Row(FAIL, f"{prefix} matches", f"expected {_plain(expected)}, found {actual}")
        elif self._keep_passes:
            row = Row(PASS, f"{prefix} matches", "")
        self._rows[number] = row
        return data if actual == expected else None

    def _digest(self, stem: str, name: str, keep: bool) -> tuple[str, str, bytes | None]:
        path = f"{self._folder}/{stem}/{name}"
        known = self._digests.get(path)
        if known is not None:
            return known, "", None
        data = None
        try:
            if keep:
                data = files.read_below(self._run.folder, f"artifacts/{stem}/{name}")
            if data is not None:
                digest = digest_bytes(data)
            elif self._root:
                real = files.real_path_inside(self._root, f"artifacts/{stem}/{name}")
                if real is None:
                    return "", "leads outside the run through a symbolic link; not read", None
                digest = files.hash_file(real, follow=False)
            else:
                digest = files.hash_file(path)
        except NotFoundError:
            return "", "missing from artifacts/", None
        except StratadiffError as error:
            # What is not a regular file is no output: the reference calls it missing too.
            regular = error.message.startswith("cannot be read") and os.path.isfile(path)
            return "", error.message if regular else "missing from artifacts/", None
        self._digests[path] = digest
        return digest, "", data
