"""Nodes, edges, order, boundaries (comparison §3)."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from runs.recording import Stage, record
from stratadiff.runs import graph
from stratadiff.runs.model import Receipt
from stratadiff.runs.reader import read_input

Nodes = dict[str, Receipt]


def receipt(node: str, index: str) -> Receipt:
    name, _, instance = node.partition("#")
    stage: dict[str, Any] = {"index": index, "name": name}
    if instance:
        stage["instance"] = instance
    return Receipt("f.json", "f", 0, "", {"stage": stage})


def nodes(**indexes: str) -> Nodes:
    return {node: receipt(node, index) for node, index in indexes.items()}


def naive_order(a: Nodes, b: Nodes, pairs: list[tuple[str, str]]) -> list[str]:
    """Order as the rule says it, without a heap."""
    keys = {
        node: min((int(found[node].index), node) for found in (a, b) if node in found) for node in {**a, **b}
    }
    known = [(start, end) for start, end in pairs if start in keys and end in keys]
    order: list[str] = []
    while True:
        ready = [
            node
            for node in keys
            if node not in order and all(start in order for start, end in known if end == node)
        ]
        if not ready:
            return order + sorted(set(keys) - set(order), key=lambda node: keys[node])
        order.append(min(ready, key=lambda node: keys[node]))


def test_smallest_index_first_then_the_id_by_code_point() -> None:
    a = nodes(z="1", b="2", a="3")
    b = nodes(z="1", Z="2", a="2")
    assert graph.ordered_union(a, b, []) == ["z", "Z", "a", "b"]


def test_edges_come_before_indexes_and_unknown_ends_are_no_edges() -> None:
    a = nodes(first="5", second="1")
    assert graph.ordered_union(a, {}, [("first", "second"), ("nowhere", "first")]) == ["first", "second"]


def test_nodes_of_a_cycle_follow_by_index() -> None:
    a = nodes(x="3", y="2", z="1")
    assert graph.ordered_union(a, {}, [("x", "y"), ("y", "x")]) == ["z", "y", "x"]
    assert graph.ordered_union(a, {}, [("z", "z")]) == ["y", "x", "z"]


@pytest.mark.parametrize("seed", range(40))
def test_order_is_the_rule(seed: int) -> None:
    chooser = random.Random(seed)
    names = [f"{chooser.choice('abcé')}{number}" for number in range(chooser.randint(1, 9))]
    a, b = (
        {name: receipt(name, str(chooser.randint(1, 5))) for name in names if chooser.random() < 0.7}
        for _ in "ab"
    )
    pairs = [(chooser.choice(names), chooser.choice(names)) for _ in range(chooser.randint(0, 12))]
    assert graph.ordered_union(a, b, pairs) == naive_order(a, b, pairs)


def test_indexes_of_any_length_are_compared_as_integers() -> None:
    keys = [
        graph.index_key(index) for index in ("0", "2", "10", "0099", "100", "9" * 5_000, "1" + "0" * 5_000)
    ]
    assert keys == sorted(keys)
    assert graph.index_key("007") == graph.index_key("7")
    assert graph.index_key("junk") == graph.index_key("٣") == graph.index_key("")


def test_a_long_chain_is_ordered_in_linear_time() -> None:
    size = 20_000
    a = {f"n{number}": receipt(f"n{number}", str(number)) for number in range(size)}
    pairs = [(f"n{number}", f"n{number + 1}") for number in range(size - 1)] * 2
    started = time.process_time()
    assert graph.ordered_union(a, a, pairs)[-1] == f"n{size - 1}"
    assert len(graph.reachable(["n0"], pairs)) == size
    assert time.process_time() - started < 5


def test_reachable_survives_a_cycle() -> None:
    assert graph.reachable(["a"], [("a", "b"), ("b", "a"), ("c", "d")]) == {"a", "b"}
    assert graph.reachable([], [("a", "b")]) == set()


def test_upstream_lists_keep_repeats_and_are_sorted(tmp_path: Path) -> None:
    edges = [
        {"from": "z", "to": "n"},
        {"from": "a", "to": "n"},
        {"from": "z", "to": "n"},
        "junk",
        {"from": 1},
    ]
    record(tmp_path / "r", [Stage("n", {})], manifest={"edges": edges})
    assert graph.upstream_lists(read_input(str(tmp_path / "r"))) == {"n": ["a", "z", "z"]}
    assert graph.edge_pairs(None) == graph.edge_pairs({}) == []


def test_boundaries_of_manifest_and_receipts_once_each(tmp_path: Path) -> None:
    one, two = {"kind": "external", "name": "b"}, {"kind": "external", "name": "b", "note": "other"}
    stages = [Stage("a", {}, boundaries=[one, two]), Stage("b", {}, boundaries=[one, {"name": 7}])]
    record(tmp_path / "r", stages, manifest={"boundaries": [two]})
    found = graph.boundaries(read_input(str(tmp_path / "r")))
    assert [(boundary.name, boundary.kind) for boundary in found] == [
        ("b", "external"),
        ("b", "external"),
        ("", ""),
    ]


def test_the_first_of_repeated_nodes_counts(tmp_path: Path) -> None:
    record(tmp_path / "r", [Stage("a", {"x": b"1"}), Stage("a", {"x": b"2"})])
    run = read_input(str(tmp_path / "r"))
    assert graph.nodes_by_id(run)["a"] is run.receipts[0]


def test_stage_of_a_node_is_before_the_first_hash() -> None:
    assert [graph.stage_of(node) for node in ("a", "a#1", "a#1#2", "#")] == ["a", "a", "a", ""]
