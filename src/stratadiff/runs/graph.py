"""Nodes, edges, the plan and the boundaries of two runs (run-records §§6-7, comparison §§2-3).

Everything here is linear in nodes and edges, but for the heap of the order and the sorting of upstream lists.
"""

from __future__ import annotations

from stratadiff.core import canonical
from stratadiff.core.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from stratadiff.runs.model import Receipt, Run


class Boundary(Frozen):
    """A declared place beyond which the chain does not see."""

    __slots__ = ("kind", "name")
    name: str
    kind: str

    def __init__(self, name: str, kind: str) -> None:
        self._fill(name=name, kind=kind)


def boundaries(run: Run) -> list[Boundary]:
    """Collect a run's boundaries: the manifest's, then each receipt's in chain order, each object once."""
    records = list(run.manifest_boundaries)
    for receipt in run.chain_receipts():
        records += receipt.boundaries
    if not records:
        return []
    distinct = {canonical.dump(record): record for record in records}
    return [Boundary(_text(record.get("name")), _text(record.get("kind"))) for record in distinct.values()]


def stage_of(node_id: str) -> str:
    """Return the stage name of a node id: the part before its first ``#``."""
    return node_id.partition("#")[0]


def nodes_by_id(run: Run) -> dict[str, Receipt]:
    """Index a run's receipts by node id; the first in chain order where an id repeats."""
    nodes: dict[str, Receipt] = {}
    for receipt in run.chain_receipts():
        nodes.setdefault(receipt.node_id, receipt)
    return nodes


def edge_pairs(edges: object) -> list[tuple[str, str]]:
    """Return the (from, to) pairs of a manifest's ``edges`` or ``declared_edges``, repeats kept."""
    if not isinstance(edges, list):
        return []
    pairs = []
    for edge in edges:
        if isinstance(edge, dict):
            start, end = edge.get("from"), edge.get("to")
            if isinstance(start, str) and isinstance(end, str):
                pairs.append((start, end))
    return pairs


def upstream_lists(run: Run) -> dict[str, list[str]]:
    """Return, by node id, the sorted list of nodes it read from; a repeated edge counts twice (D6)."""
    upstream: dict[str, list[str]] = {}
    for start, end in edge_pairs(run.manifest.get("edges")):
        upstream.setdefault(end, []).append(start)
    for starts in upstream.values():
        starts.sort()
    return upstream


def index_key(index: str) -> tuple[int, str]:
    """Make decimal digits of any length comparable as integers, without making integers of them."""
    digits = index.lstrip("0") if index.isascii() and index.isdigit() else ""
    return (len(digits), digits)


def ordered_union(
    baseline: dict[str, Receipt], candidate: dict[str, Receipt], pairs: Iterable[tuple[str, str]]
) -> list[str]:
    """Order the nodes of two runs by Kahn's algorithm over both runs' edges.

    Of the nodes whose upstream nodes are all taken, the one with the smallest (lower of its indexes, id)
    comes next. Nodes on a cycle, which only an odd *pair* of runs can have, follow at the end by the same
    key.
    """
    import heapq

    keys: dict[str, tuple[tuple[int, str], str]] = {}
    for nodes in (baseline, candidate):
        for node, receipt in nodes.items():
            key = (index_key(receipt.index), node)
            keys[node] = min(keys.get(node, key), key)
    waiting = dict.fromkeys(keys, 0)
    downstream: dict[str, list[str]] = {}
    for start, end in set(pairs):
        if start in keys and end in keys:
            waiting[end] += 1
            downstream.setdefault(start, []).append(end)
    ready = [keys[node] for node, count in waiting.items() if not count]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        node = heapq.heappop(ready)[1]
        order.append(node)
        for end in downstream.get(node, ()):
            waiting[end] -= 1
            if not waiting[end]:
                heapq.heappush(ready, keys[end])
    if len(order) < len(keys):
        taken = set(order)
        order += sorted((node for node in keys if node not in taken), key=lambda node: keys[node])
    return order


def reachable(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the names and everything reachable from them over the pairs."""
    downstream: dict[str, list[str]] = {}
    for start, end in pairs:
        downstream.setdefault(start, []).append(end)
    seen = set(names)
    pending = list(seen)
    while pending:
        for end in downstream.get(pending.pop(), ()):
            if end not in seen:
                seen.add(end)
                pending.append(end)
    return seen


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
