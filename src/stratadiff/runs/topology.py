"""The two rows of a run that records its graph (verification §4)."""

from __future__ import annotations

from stratadiff.runs.names import quoted, quoted_list, quoted_value
from stratadiff.runs.reader import judge_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from stratadiff.runs.model import Receipt, Run
    from stratadiff.runs.rules import Findings

_PLAN = "edges conform to declared_edges"
_DERIVED = "edges equal the edges derived from the receipts"

_NO_PLAN = "manifest carries `edges` but no `declared_edges`; there is no approved plan to check against"
_NO_EDGES = (
    "no edges observed: the run declares an approved plan, but no stage read another stage's output as such,"
    " so no path was checked against it"
)


class _BrokenError(Exception):
    """The first problem of a row, and whether it fails the row or leaves it not run."""

    def __init__(self, why: str, *, fails: bool = True) -> None:
        super().__init__(why)
        self.why = why
        self.fails = fails


def check_edges(found: Findings, run: Run) -> None:
    """Add both rows; the run's manifest has the key ``edges``."""
    for name, check in ((_PLAN, _check_plan), (_DERIVED, _check_derived)):
        try:
            if check(run):
                found.passed(name)
        except _BrokenError as problem:
            (found.failed if problem.fails else found.not_run)(name, problem.why)


def _check_plan(run: Run) -> bool:
    observed = run.manifest["edges"]
    planned = run.manifest.get("declared_edges")
    if observed == [] and isinstance(planned, list) and planned:
        raise _BrokenError(_NO_EDGES, fails=False)
    if observed is None or observed in ([], {}, ""):
        return False
    if planned is None:
        raise _BrokenError(_NO_PLAN, fails=False)
    edges = _edge_list(observed, "edges")
    _edge_list(planned, "declared_edges")
    declared: dict[tuple[str, str], bool] = {}
    for edge in planned:
        pair = (edge["from"], edge["to"])
        declared[pair] = declared.get(pair, False) or edge.get("repeats") == "true"
    for source, target in edges:
        pair = (source.partition("#")[0], target.partition("#")[0])
        where = f"{quoted(source)} -> {quoted(target)} projects onto {quoted(pair[0])} -> {quoted(pair[1])}"
        if pair not in declared:
            raise _BrokenError(f"{where}, which is not declared")
        if pair[0] == pair[1] and not declared[pair]:
            raise _BrokenError(f'{where}, a loop on a pair not declared repeats "true"')
    return True


def _check_derived(run: Run) -> bool:
    observed = set(_edge_list(run.manifest["edges"], "edges"))
    entries = run.manifest["chain"]
    if not isinstance(entries, list):
        raise _BrokenError("`chain` is not a list")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry.get("stage"), str):
            raise _BrokenError(f"`chain` entry {number} is not an object with string `file` and `stage`")
    nodes = [
        _node(number, entry, receipt)
        for number, (entry, receipt) in enumerate(zip(entries, run.receipts, strict=True), 1)
    ]
    ids = [node.node_id for node in nodes]
    repeated = _repeated(ids)
    if repeated:
        raise _BrokenError(f"node ids are not unique: {quoted_list(repeated)}")
    _no_twins(ids, "node ids")
    _no_twins([node.name for node in nodes], "stage names")
    derived: set[tuple[str, str]] = set()
    by_id = dict(zip(ids, nodes, strict=True))
    for node in nodes:
        derived.update((upstream, node.node_id) for upstream in _upstream(node, by_id))
    if observed != derived:
        raise _BrokenError(
            f"manifest-only: {_pairs(observed - derived)}; receipts-only: {_pairs(derived - observed)}"
        )
    return True


def _edge_list(value: Any, name: str) -> list[tuple[str, str]]:
    if not isinstance(value, list):
        raise _BrokenError(f"`{name}` is not a list")
    for number, edge in enumerate(value, 1):
        if not (
            isinstance(edge, dict) and isinstance(edge.get("from"), str) and isinstance(edge.get("to"), str)
        ):
            raise _BrokenError(f"`{name}` entry {number} is not an object with string `from` and `to`")
    return [(edge["from"], edge["to"]) for edge in value]


def _node(number: int, entry: dict[str, Any], receipt: Receipt | None) -> Receipt:
    """Return the entry's receipt, once its label and the manifest's agree."""
    file = entry["file"]
    if receipt is None:
        raise _BrokenError(
            f"{file}: the receipt was not read, so the edges it carries are unknown", fails=False
        )
    if entry.get("digest") != receipt.digest:
        raise _BrokenError(
            f"{file}: the receipt does not hash to the chain's digest, so the edges it carries are not"
            " the ones the chain sealed",
            fails=False,
        )
    if judge_format(receipt.value.get("format"), "stage-receipt")[0] != "implemented":
        raise _BrokenError(
            f"{file}: the receipt's `format` is not one this verifier implements, so its edges are not read",
            fails=False,
        )
    stage = receipt.value.get("stage")
    stage = stage if isinstance(stage, dict) else {}
    name = stage.get("name")
    if not isinstance(name, str) or not name:
        raise _BrokenError(f"{file}: `stage.name` is not a non-empty string")
    if "#" in name:
        raise _BrokenError(
            f"{file}: `stage.name` contains '#', so its node id cannot be read back as its name"
        )
    instance = stage.get("instance")
    if "instance" in stage and (not isinstance(instance, str) or not instance):
        raise _BrokenError(f"{file}: `stage.instance` is not a non-empty string")
    listed = entry["stage"]
    if listed != name or ("instance" in entry) != ("instance" in stage) or entry.get("instance") != instance:
        label = f"{listed}#{entry['instance']}" if "instance" in entry else listed
        own = receipt.node_id
        # Two labels may look alike and differ in how their characters are composed.
        plain = "" if (label + own).isascii() else f" (escaped: {label!a} and {own!a})"
        raise _BrokenError(
            f"`chain` entry {number} labels {quoted(label)}, but its receipt is {quoted(own)}{plain}"
        )
    index = stage.get("index")
    if not (isinstance(index, str) and index.isascii() and index.isdigit()):
        raise _BrokenError(f"{file}: `stage.index` is not a decimal string")
    if "index" in entry and entry["index"] != index:
        raise _BrokenError(
            f"`chain` entry {number}'s `index` {quoted_value(entry['index'])} is not its receipt's"
            f" `stage.index` {quoted(index)}"
        )
    return receipt


def _pairs(edges: set[tuple[str, str]]) -> str:
    return "[" + ", ".join(f"({quoted(source)}, {quoted(target)})" for source, target in sorted(edges)) + "]"


def _repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    seen: set[str] = set()
    again: set[str] = set()
    for name in names:
        (again if name in seen else seen).add(name)
    return sorted(again)


def _no_twins(names: Iterable[str], what: str) -> None:
    """Refuse two names that differ only in their Unicode normalisation."""
    forms: dict[str, str] = {}
    for name in names:
        if name.isascii():
            forms.setdefault(name, name)
            continue
        from unicodedata import normalize  # only where a name is not ASCII: start-up

        twin = forms.setdefault(normalize("NFC", name), name)
        if twin != name:
            raise _BrokenError(f"{what} {twin!a} and {name!a} differ only in Unicode normalisation")


def _upstream(node: Receipt, nodes: dict[str, Receipt]) -> list[str]:
    """Return the node ids a receipt's edges come from."""
    inputs = node.value.get("inputs", [])
    if not isinstance(inputs, list):
        raise _BrokenError(f"{node.file}: `inputs` is not a list")
    result = []
    for number, item in enumerate(inputs, 1):
        if not isinstance(item, dict):
            raise _BrokenError(f"{node.file}: `inputs` entry {number} is not an object")
        name = item.get("name", "")
        if not isinstance(name, str):
            raise _BrokenError(f"{node.file}: `inputs` entry {number} has a `name` that is not a string")
        if not name.startswith("receipt:"):
            continue
        where = f"{node.file}: input {quoted(name)}"
        upstream = nodes.get(name[8:])
        if upstream is None:
            raise _BrokenError(f"{where} names no node of the run")
        if item.get("digest") != upstream.digest:
            raise _BrokenError(f"{where} does not carry that receipt's digest")
        if item.get("bytes") != str(upstream.byte_count):
            length = upstream.byte_count
            raise _BrokenError(f"{where} does not carry that receipt's length in `bytes` ({length})")
        before, own = _plain(upstream.index), _plain(node.index)
        # Digit strings: the longer one is larger, and no integer type is asked.
        if (len(before), before) >= (len(own), own):
            raise _BrokenError(
                f"{node.file}: the edge from {quoted(upstream.node_id)} (`stage.index` {before}) to"
                f" {quoted(node.node_id)} (`stage.index` {own}) does not point backward"
            )
        result.append(upstream.node_id)
    return result


def _plain(index: str) -> str:
    return index.lstrip("0") or "0"
