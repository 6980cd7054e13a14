"""Two verified runs → the ladder of verdicts and what decides the envelope (comparison §§1-3).

A node of the result is one row: which receipts stand on it, its verdict, and for a topology what was seen
to differ. Cost is linear in stages, nodes and edges; no output is read.
"""

from __future__ import annotations

from stratadiff.core import canonical
from stratadiff.core.frozen import Frozen
from stratadiff.runs.causes import compared_inputs
from stratadiff.runs.graph import (
    boundaries,
    edge_pairs,
    nodes_by_id,
    ordered_union,
    reachable,
    stage_of,
    upstream_lists,
)
from stratadiff.runs.names import quoted_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stratadiff.runs.graph import Boundary
    from stratadiff.runs.model import Receipt, Run

IDENTICAL = "identical"
DIVERGED = "diverged"
NOT_COMPARABLE = "not comparable"
REFUSED = "refused"
COULD_NOT_CHECK = "could not check"

EXIT_CODES = {IDENTICAL: 0, DIVERGED: 1, NOT_COMPARABLE: 2, REFUSED: 3, COULD_NOT_CHECK: 4}

SAME = "same"
FIRST_DIFFERENCE = "FIRST DIFFERENCE"
DOWNSTREAM = "downstream"
RECONVERGED = "reconverged"
UNCHECKED = "COULD NOT CHECK"

VERDICTS = (SAME, FIRST_DIFFERENCE, DOWNSTREAM, RECONVERGED, UNCHECKED)

LINEAR = "linear"
TOPOLOGY = "topology"
SHORT = "short"

_INSTRUMENT_MEMBERS = ("id", "kind", "version", "rederivable", "config_digest", "manifest_digest")
_TOPOLOGY_INSTRUMENT_MEMBERS = ("id", "version", "config_digest")


class LadderRow(Frozen):
    """One rung: a declared stage of linear runs, a node of runs with a topology.

    Attributes
    ----------
    node : str
        Node id. On a linear ladder that of the baseline's receipt at this place, the declared name where it
        has none.
    stage : str
        Declared name of the stage; the stage part of `node` on a topology.
    verdict : str
        One of `VERDICTS`.
    reason : str or None
        Why a linear row could not be checked.
    annotations : tuple of str
        What differs at a node of a topology, or why it could not be checked.
    differs : dict
        What else than the outputs differs at a linear row: member → (baseline, candidate).
    baseline, candidate : Receipt or None
        The receipts standing here.
    """

    __slots__ = ("annotations", "baseline", "candidate", "differs", "node", "reason", "stage", "verdict")
    node: str
    stage: str
    verdict: str
    reason: str | None
    annotations: tuple[str, ...]
    differs: dict[str, tuple[Any, Any]]
    baseline: Receipt | None
    candidate: Receipt | None

    def __init__(
        self,
        node: str,
        stage: str,
        verdict: str,
        baseline: Receipt | None,
        candidate: Receipt | None,
        *,
        reason: str | None = None,
        annotations: Sequence[str] = (),
        differs: dict[str, tuple[Any, Any]] | None = None,
    ) -> None:
        self._fill(
            node=node,
            stage=stage,
            verdict=verdict,
            baseline=baseline,
            candidate=candidate,
            reason=reason,
            annotations=tuple(annotations),
            differs=differs or {},
        )


class Comparison(Frozen):
    """The answer to *are these two runs the same, and where do they part*.

    Attributes
    ----------
    shape : str
        `LINEAR`, `TOPOLOGY`, or `SHORT` where the two were not set side by side at all.
    given : (str, str)
        The two paths as typed.
    baseline, candidate : Run or None
        None for an input that could not be loaded.
    envelope : str
        `IDENTICAL`, `DIVERGED`, `NOT_COMPARABLE`, `REFUSED` or `COULD_NOT_CHECK`.
    reason : str or None
        What decided it, where that is not a verdict. Hostile text: escape before display.
    rows : tuple of LadderRow
        The ladder, in the format's order.
    boundary : (int, Boundary) or None
        The row that a declared boundary cuts a linear ladder at.
    declared_lists : (list of str, list of str) or None
        The declared stages of both sides, when they differ.
    """

    __slots__ = (
        "baseline",
        "boundary",
        "candidate",
        "declared_lists",
        "envelope",
        "given",
        "reason",
        "rows",
        "shape",
    )
    shape: str
    given: tuple[str, str]
    baseline: Run | None
    candidate: Run | None
    envelope: str
    reason: str | None
    rows: tuple[LadderRow, ...]
    boundary: tuple[int, Boundary] | None
    declared_lists: tuple[list[str], list[str]] | None

    def __init__(
        self,
        shape: str,
        given: tuple[str, str],
        baseline: Run | None,
        candidate: Run | None,
        envelope: str,
        reason: str | None,
        *,
        rows: Sequence[LadderRow] = (),
        boundary: tuple[int, Boundary] | None = None,
        declared_lists: tuple[list[str], list[str]] | None = None,
    ) -> None:
        self._fill(
            shape=shape,
            given=given,
            baseline=baseline,
            candidate=candidate,
            envelope=envelope,
            reason=reason,
            rows=tuple(rows),
            boundary=boundary,
            declared_lists=declared_lists,
        )

    @property
    def exit_code(self) -> int:
        """Return the exit code of the envelope."""
        return EXIT_CODES[self.envelope]

    @property
    def was_compared(self) -> bool:
        """Tell whether the envelope is a statement about the runs' content."""
        return self.envelope in (IDENTICAL, DIVERGED)

    def count(self, verdict: str) -> int:
        """Count the rows of one verdict."""
        return sum(row.verdict == verdict for row in self.rows)


def load_failure(given: tuple[str, str], reason: str) -> Comparison:
    """Make the answer for an input that cannot be loaded, or whose kind or format is not implemented."""
    return Comparison(SHORT, given, None, None, COULD_NOT_CHECK, reason)


def compare_runs(baseline: Run, candidate: Run) -> Comparison:
    """Compare two runs that were read and verified.

    Parameters
    ----------
    baseline, candidate : Run
        After ``verify_run``: their rows decide whether anything is compared at all.

    Returns
    -------
    Comparison
        Every condition of comparison §1 in its order; a verdict is a result, never an exception.
    """
    given = (baseline.given, candidate.given)
    for run in (baseline, candidate):
        if run.obstacle:
            return load_failure(given, run.obstacle)
    refused = [run.given for run in (baseline, candidate) if not run.verifies]
    if refused:
        reason = "does not verify: " + " and ".join(refused)
        return Comparison(LINEAR, given, baseline, candidate, REFUSED, reason)
    if baseline.topological != candidate.topological:
        linear = candidate if baseline.topological else baseline
        reason = (
            "one run records a topology and the other does not: "
            f"{linear.given} carries no `edges` and is read as linear"
        )
        return Comparison(SHORT, given, baseline, candidate, NOT_COMPARABLE, reason)
    if baseline.topological:
        return _compare_topologies(baseline, candidate)
    if baseline.kind != candidate.kind:
        reason = f"input kinds differ: {baseline.kind} and {candidate.kind}"
        return Comparison(LINEAR, given, baseline, candidate, NOT_COMPARABLE, reason)
    lists = (declared_stages(baseline), declared_stages(candidate))
    if lists[0] != lists[1]:
        reason = "declared stage lists differ"
        return Comparison(LINEAR, given, baseline, candidate, NOT_COMPARABLE, reason, declared_lists=lists)
    return _compare_linear(baseline, candidate, lists[0])


def declared_stages(run: Run) -> list[str]:
    """Return the stages a run declares: its first receipt's list."""
    for receipt in run.chain_receipts():
        return receipt.declared_stages
    return []


# -- linear
# ------------------------------------------------------------------------------------------------------------


def _compare_linear(baseline: Run, candidate: Run, declared: list[str]) -> Comparison:
    unplaceable, cut = _first_cut(baseline, candidate, declared)
    rows: list[LadderRow] = []
    diverged = False
    for index, stage in enumerate(declared):
        a, b = _stage_at(baseline, index, stage), _stage_at(candidate, index, stage)
        node = _chain_node(baseline, index, stage)
        if unplaceable is not None:
            reason: str | None = f"boundary '{unplaceable.name}' cannot be placed against the declared stages"
        elif cut is not None and index >= cut[0]:
            reason = f"declared boundary '{cut[1].name}' ('{cut[1].kind}')"
        else:
            reason = _unrecorded(baseline, candidate, a, b, index, stage) or _unimplemented(a, b)
        if reason is not None or a is None or b is None:
            rows.append(LadderRow(node, stage, UNCHECKED, a, b, reason=reason))
            continue
        if output_digests(a) == output_digests(b) and a.outcome_class == b.outcome_class:
            verdict = RECONVERGED if diverged else SAME
        else:
            verdict = DOWNSTREAM if diverged else FIRST_DIFFERENCE
            diverged = True
        rows.append(LadderRow(node, stage, verdict, a, b, differs=_linear_differences(a, b)))
    envelope, reason = IDENTICAL, None
    if diverged:
        envelope = DIVERGED
    else:
        unchecked = next((row for row in rows if row.verdict == UNCHECKED), None)
        if unchecked is not None:
            envelope, reason = COULD_NOT_CHECK, unchecked.reason
    given = (baseline.given, candidate.given)
    return Comparison(LINEAR, given, baseline, candidate, envelope, reason, rows=rows, boundary=cut)


def _first_cut(
    baseline: Run, candidate: Run, declared: list[str]
) -> tuple[Boundary | None, tuple[int, Boundary] | None]:
    """Find the first boundary that cannot be placed, else the smallest placed one (comparison §2, 1-2)."""
    places: dict[str, int] = {}
    for index, stage in enumerate(declared):
        places.setdefault(stage, index)
    cut: tuple[int, Boundary] | None = None
    for run in (baseline, candidate):
        for boundary in boundaries(run):
            place = places.get(boundary.name)
            if place is None:
                return boundary, None
            if cut is None or place < cut[0]:
                cut = (place, boundary)
    return None, cut


def _stage_at(run: Run, index: int, stage: str) -> Receipt | None:
    receipt = run.receipts[index] if index < len(run.receipts) else None
    return receipt if receipt is not None and receipt.name == stage else None


def _chain_node(run: Run, index: int, stage: str) -> str:
    """Return the id of the baseline's node at a place; decision D7: the declared name where it has none."""
    receipt = run.receipts[index] if index < len(run.receipts) else None
    return stage if receipt is None else receipt.node_id


def _unrecorded(
    baseline: Run, candidate: Run, a: Receipt | None, b: Receipt | None, index: int, stage: str
) -> str | None:
    missing = [run.given for run, receipt in ((baseline, a), (candidate, b)) if receipt is None]
    if not missing:
        return None
    return f"no record of stage '{stage}' at position {index + 1} in {' and '.join(missing)}"


def _unimplemented(a: Receipt | None, b: Receipt | None) -> str | None:
    """Return why a receipt's content was not checked and so must not be compared (decision D2)."""
    for receipt in (a, b):
        if receipt is not None and receipt.unimplemented:
            return f"receipt format '{receipt.format}' is not implemented"
    return None


def output_digests(receipt: Receipt) -> list[Any]:
    """Return the digests of a receipt's outputs, in order."""
    return [output.get("digest") for output in receipt.outputs]


def _linear_differences(a: Receipt, b: Receipt) -> dict[str, tuple[Any, Any]]:
    differs: dict[str, tuple[Any, Any]] = {}
    a_instrument, b_instrument = a.instrument, b.instrument
    if a_instrument != b_instrument:
        for name in _INSTRUMENT_MEMBERS:
            pair = (a_instrument.get(name), b_instrument.get(name))
            if pair[0] != pair[1]:
                differs[f"instrument.{name}"] = pair
    for name in changed_constants(a, b):
        differs[f"assertions.constants.{name}"] = (a.constants.get(name), b.constants.get(name))
    if a.corpus_link != b.corpus_link:
        differs["assertions.corpus_manifest"] = (a.corpus_link, b.corpus_link)
    return differs


def changed_constants(a: Receipt, b: Receipt) -> list[str]:
    """Return the names of the constants that differ, sorted by code point."""
    old, new = a.constants, b.constants
    if old == new:
        return []
    return [name for name in sorted({**old, **new}) if old.get(name) != new.get(name)]


# -- topology
# ----------------------------------------------------------------------------------------------------------


def _compare_topologies(baseline: Run, candidate: Run) -> Comparison:
    a_nodes, b_nodes = nodes_by_id(baseline), nodes_by_id(candidate)
    a_up, b_up = upstream_lists(baseline), upstream_lists(candidate)
    edges = [*edge_pairs(baseline.manifest.get("edges")), *edge_pairs(candidate.manifest.get("edges"))]
    plan = [
        *edge_pairs(baseline.manifest.get("declared_edges")),
        *edge_pairs(candidate.manifest.get("declared_edges")),
    ]
    named = {boundary.name for run in (baseline, candidate) for boundary in boundaries(run)}
    beyond = reachable(named, plan) if named else named
    verdicts: dict[str, str] = {}
    rows: list[LadderRow] = []
    for node in ordered_union(a_nodes, b_nodes, edges):
        a, b = a_nodes.get(node), b_nodes.get(node)
        ups = (a_up.get(node, []), b_up.get(node, []))
        before = {verdicts.get(name, SAME) for name in (*ups[0], *ups[1])}
        stage = stage_of(node)
        if stage in named:
            verdict, annotations = UNCHECKED, ["declared boundary"]
        elif stage in beyond:
            verdict, annotations = UNCHECKED, ["downstream of a declared boundary"]
        elif UNCHECKED in before:
            verdict, annotations = UNCHECKED, ["upstream is COULD NOT CHECK"]
        elif (reason := _unimplemented(a, b)) is not None:
            verdict, annotations = UNCHECKED, [reason]
        else:
            is_equal = (
                a is not None
                and b is not None
                and ups[0] == ups[1]
                and _named_digests(a) == _named_digests(b)
            )
            all_same = before <= {SAME}
            verdict = (
                (SAME if all_same else RECONVERGED)
                if is_equal
                else FIRST_DIFFERENCE
                if all_same
                else DOWNSTREAM
            )
            annotations = _topology_annotations(a, b, ups)
        verdicts[node] = verdict
        rows.append(LadderRow(node, stage, verdict, a, b, annotations=annotations))
    envelope, reason = IDENTICAL, None
    if any(row.verdict == FIRST_DIFFERENCE for row in rows):
        envelope = DIVERGED
    else:
        unchecked = next((row for row in rows if row.verdict == UNCHECKED), None)
        if unchecked is not None:
            envelope, reason = COULD_NOT_CHECK, f"{unchecked.node}: {unchecked.annotations[0]}"
    given = (baseline.given, candidate.given)
    return Comparison(TOPOLOGY, given, baseline, candidate, envelope, reason, rows=rows)


def _named_digests(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt's outputs as name → digest, the last of a repeated name, without ``receipt:`` ones."""
    digests = {}
    for output in receipt.outputs:
        name = output_name(output)
        if not name.startswith("receipt:"):
            digests[name] = output.get("digest")
    return digests


def output_name(output: dict[str, Any]) -> str:
    """Return an output's name; what is not a string as its JSON text, which names no file."""
    name = output.get("name")
    return name if isinstance(name, str) else canonical.describe(name)


def _topology_annotations(
    a: Receipt | None, b: Receipt | None, ups: tuple[list[str], list[str]]
) -> list[str]:
    if a is None or b is None:
        return ["present in B only" if a is None else "present in A only"]
    lines = []
    a_inputs, b_inputs = compared_inputs(a), compared_inputs(b)
    for name in (*a_inputs, *(name for name in b_inputs if name not in a_inputs)):
        old, new = a_inputs.get(name), b_inputs.get(name)
        if old is None or new is None or old.digest != new.digest:
            lines.append(f"input {name} differs")
    a_instrument, b_instrument = a.instrument, b.instrument
    lines += [
        f"instrument {member} differs: {a_instrument.get(member)} -> {b_instrument.get(member)}"
        for member in _TOPOLOGY_INSTRUMENT_MEMBERS
        if a_instrument.get(member) != b_instrument.get(member)
    ]
    lines += [f"constant {name} differs" for name in changed_constants(a, b)]
    if a.corpus_link != b.corpus_link:
        lines.append(f"corpus link differs: {a.corpus_link} -> {b.corpus_link}")
    a_outputs, b_outputs = _named_digests(a), _named_digests(b)
    for name in (*a_outputs, *(name for name in b_outputs if name not in a_outputs)):
        if name not in a_outputs or name not in b_outputs or a_outputs[name] != b_outputs[name]:
            lines.append(f"output {name} differs")
    if a.outcome_class != b.outcome_class:  # no part of equality here, but said (decision D8)
        lines.append(f"outcome class differs: {a.outcome_class} -> {b.outcome_class}")
    if ups[0] != ups[1]:
        lines.append(f"upstream differs: {quoted_list(ups[0])} vs {quoted_list(ups[1])}")
    return lines
