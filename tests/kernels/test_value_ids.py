"""JSON equality and ids of Python values (agentlog §4)."""

from __future__ import annotations

import copy
import enum
import gc
import itertools
import json
import math
import os
import subprocess
import sys
import time
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import contentid
from stratadiff._kernels import value_ids
from strategies import in_four_threads, shares_memory

NUMBERS = (
    *(
        0,
        1,
        -1,
        2,
        255,
        2**31,
        2**53 - 1,
        2**53,
        2**53 + 1,
        2**60,
        2**63 - 1,
        2**63,
        2**63 + 1,
        -(2**63),
        -(2**63) - 1,
    ),
    *(
        2**64,
        2**64 + 1,
        2**70,
        2**70 + 1,
        -(2**70),
        10**22,
        10**23,
        10**300,
        10**300 + 1,
        2**61 - 1,
        2**62 - 2,
        2**61,
    ),
    *(
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        0.1,
        5e-324,
        2.0**53,
        2.0**53 + 2,
        2.0**60,
        2.0**63,
        -(2.0**63),
        2.0**64,
        2.0**70,
    ),
    *(-(2.0**70), 1e22, 1e23, 1e300, 9223372036854774784.0, 1.7e308, int(1.7e308)),
)
TEXTS = (
    "",
    "a",
    "b",
    "aa",
    "é",
    "e\u0301",
    "漢",
    "\U0001f600",
    "\ud83d\ude00",
    "\ud800",
    "\0",
    "a\0",
    "1",
    "null",
)
NAMES = ("a", "b", "é", "")

scalars = st.sampled_from((None, True, False, *NUMBERS, *TEXTS))
small_scalars = st.sampled_from((None, True, False, 0, 1, 1.0, 0.0, "", "a"))


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.tuples(inner),
            st.lists(st.tuples(st.sampled_from(NAMES), inner), max_size=4).map(dict),
        ),
        max_leaves=8,
    )


values = st.one_of(nested(small_scalars), nested(scalars), scalars)


def reordered(value: Any) -> Any:
    """Copy a value with the members of every object the other way round, and numbers of the other type."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    if isinstance(value, list | tuple):
        return [reordered(found) for found in value]
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and abs(value) < 2**1023
        and float(value) == value
    ):
        return float(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return "".join(list(value)) if isinstance(value, str) else value


@given(values, values)
def test_equality_is_the_references(a: Any, b: Any) -> None:
    wanted = contentid.json_equal(a, b)
    assert value_ids.equal(a, b) is wanted
    assert value_ids.equal(b, a) is wanted
    assert value_ids.intern([a, b]).tolist() == [0, 0 if wanted else 1]


@given(values)
def test_order_and_number_type_do_not_count(value: Any) -> None:
    other = reordered(value)
    assert value_ids.equal(value, other)
    assert value_ids.equal(value, copy.deepcopy(value))
    assert value_ids.intern([value, other, [value]]).tolist() == [0, 0, 1]


@given(st.lists(values, max_size=12))
def test_ids_are_numbered_by_first_occurrence(given_values: list[Any]) -> None:
    seen: list[Any] = []
    wanted = []
    for value in given_values:
        same = [number for number, other in enumerate(seen) if contentid.json_equal(value, other)]
        wanted.append(same[0] if same else len(seen))
        if not same:
            seen.append(value)
    assert value_ids.intern(given_values).tolist() == wanted
    assert value_ids.intern(tuple(given_values)).tolist() == wanted


def test_every_pair_of_scalars() -> None:
    found = (None, True, False, *NUMBERS, *TEXTS, [], {}, [[]], [{}], {"a": []}, {"a": {}})
    for a, b in itertools.product(found, repeat=2):
        wanted = contentid.json_equal(a, b)
        assert value_ids.equal(a, b) is wanted, (a, b)
        assert (value_ids.intern([a, b])[1] == 0) is wanted, (a, b)


def test_objects() -> None:
    assert value_ids.equal({"a": 1, "b": [True]}, {"b": [True], "a": 1.0})
    assert not value_ids.equal({"a": 1, "b": 2}, {"a": 2, "b": 1})
    assert not value_ids.equal({"a": None}, {"b": None})
    assert not value_ids.equal({"a": None}, {})
    assert not value_ids.equal({"a": 1, "b": 2}, {"a": 1, "c": 2})
    many = {f"name {k}": k for k in range(2_000)}
    turned = dict(sorted(many.items(), key=lambda member: member[1] * 7919 % 2_003))
    assert value_ids.equal(many, turned)
    assert value_ids.intern([many, turned, {**turned, "name 5": 6}]).tolist() == [0, 0, 1]


def test_a_value_equals_itself_whatever_is_in_it() -> None:
    for odd in (math.nan, math.inf, -math.inf):
        assert value_ids.equal([odd], [float(str(odd))])
        assert value_ids.intern([odd, [odd], float(str(odd)), 0, -1e308]).tolist() == [0, 1, 0, 2, 3]
    assert not value_ids.equal(math.inf, 2**2000)
    assert not value_ids.equal(math.nan, 2**64)
    assert value_ids.equal(2**5000, 2**5000 + 0)
    assert value_ids.intern([2**5000, 2**5000 + 1, 2**5000]).tolist() == [0, 1, 0]


def test_subclasses_are_what_they_extend() -> None:
    class Text(str):
        __slots__ = ()

    number = enum.IntEnum("Number", {"ONE": 1}).ONE
    assert value_ids.equal([number, Text("é"), np.float64(0.5)], [1.0, "é", 0.5])
    assert value_ids.equal(OrderedDict(a=1, b=2), {"b": 2, "a": 1})
    assert value_ids.equal({Text("a"): 1, "b": 2}, {"b": 2, "a": 1})
    assert value_ids.intern([{Text("a"): 1}, {"a": Text("x")}, {"a": 1}]).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        "b'a'",
        "1j",
        "{1}",
        "object()",
        "np.int64(1)",
        "[1, b'']",
        "{'a': {'b': b''}}",
        "{1: 2}",
        "{None: 1}",
        "(1, range(3))",
    ],
)
def test_what_is_no_json_is_refused(wrong: str) -> None:
    first, second = eval(wrong), eval(wrong)
    with pytest.raises(ValueError):
        value_ids.equal(first, second)
    with pytest.raises(ValueError):
        value_ids.intern([1, first])


def deep(levels: int, leaf: Any = 1) -> Any:
    value = leaf
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize("levels", [1, 15, 16, 17, 33, 64, 65, 999, 1000])
def test_depth_that_is_fine(levels: int) -> None:
    assert value_ids.equal(deep(levels), deep(levels))
    assert not value_ids.equal(deep(levels), deep(levels, 2))
    assert value_ids.intern([deep(levels), deep(levels, 2), deep(levels)]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("levels", [1001, 5_000, 100_000])
def test_depth_that_is_not(levels: int) -> None:
    a, b = deep(levels), deep(levels)
    with pytest.raises(ValueError, match="1000"):
        value_ids.equal(a, b)
    with pytest.raises(ValueError, match="1000"):
        value_ids.intern([a])
    for value in (a, b):  # taken apart by hand: the interpreter would do it by recursion
        while isinstance(value, list | dict):
            value = value.pop() if isinstance(value, list) else value.pop("a")


def test_a_value_inside_itself() -> None:
    a: list[Any] = []
    a.append(a)
    b: list[Any] = []
    b.append(b)
    with pytest.raises(ValueError):
        value_ids.equal(a, b)
    with pytest.raises(ValueError):
        value_ids.intern([a])


def test_equal_looks_no_further_than_the_first_difference() -> None:
    assert not value_ids.equal([1, b""], [2, b""])
    assert not value_ids.equal(deep(2_000), [deep(2_000), 1])


class Key:
    """A key that looks like a name until compared."""

    def __init__(self, text: str, act: Any) -> None:
        self.number = hash(text)
        self.act = act

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        self.act()
        return False


def test_keys_that_pull_the_rug() -> None:
    """A comparison of keys may run code; whatever that takes away, nothing is read after it was freed."""
    for kind in range(3):
        a: dict[Any, Any] = {"y": 1, "x": [float(k) for k in range(50)], "z": {"w": [1.5]}}
        b: dict[Any, Any] = {}
        outer: list[Any] = [[a], [b]]

        def act(a: Any = a, b: Any = b, outer: Any = outer, kind: int = kind) -> None:
            if kind == 0:
                a.clear()
            elif kind == 1:
                b.clear()
            else:
                outer[0].clear()
                outer[1].clear()
                a.clear()
                b.clear()
            gc.collect()

        b[Key("x", act)] = 1
        b["x"] = [float(k) for k in range(50)]
        b["y"] = 1
        left, right = outer
        del a, b
        try:
            value_ids.equal(left, right)
        except ValueError:
            pass
        gc.collect()


def test_an_error_of_a_key_is_passed_on() -> None:
    def act() -> None:
        raise RuntimeError("not comparable")

    with pytest.raises(RuntimeError):
        value_ids.equal({"x": 1}, {Key("x", act): 1})
    with pytest.raises(ValueError):
        value_ids.intern([{Key("x", act): 1}])


def test_nothing_is_kept_or_lost() -> None:
    leaf, name, big = 1.5e10, "".join(["na", "me"]), 2**90
    value = {name: [leaf, big, {"b": leaf, "a": name}], "other": (leaf,)}
    twin = {"other": [leaf], name: [leaf, big, {"a": name, "b": leaf}]}
    held = (leaf, name, big, value, twin, value[name], None, True)
    before = [sys.getrefcount(found) for found in held]
    for _ in range(200):
        assert value_ids.equal(value, twin)
        assert not value_ids.equal(value, {**twin, "other": []})
        value_ids.intern([value, twin, leaf])
        for wrong in ([value, b""], deep(1001)):
            with pytest.raises(ValueError):
                value_ids.intern([value, wrong])
    after = [sys.getrefcount(found) for found in held]
    assert [b - a for a, b in zip(before[:6], after[:6], strict=True)] == [0] * 6


def best_time(given_values: list[Any]) -> float:
    best = math.inf
    for _ in range(3):
        begin = time.process_time()
        value_ids.intern(given_values)
        best = min(best, time.process_time() - begin)
    return best


@pytest.mark.parametrize(
    "prepared",
    [
        # What collides for Python's own hash of numbers, or as the nearest double.
        [k * (2**61 - 1) for k in range(20_000)],
        [2**1000 + k for k in range(20_000)],
        [2**1000 + k * (2**61 - 1) for k in range(20_000)],
        [float(k) * 2.0**61 - float(k) for k in range(20_000)],
        [k << 40 for k in range(20_000)],
        [{"a": k, "b": 20_000 - k} for k in range(20_000)],
        [[0] * k for k in range(600)],
        [{str(k): 0, str(k + 1): 1} for k in range(20_000)],
    ],
    ids=lambda found: json.dumps(found[1])[:20],
)
def test_values_prepared_to_collide(prepared: list[Any]) -> None:
    fair = [f"text {k}" for k in range(20_000)]
    assert value_ids.intern(prepared + prepared).tolist()[len(prepared)] == 0
    assert best_time(prepared) < 60 * best_time(fair)  # a thousand times, were each compared with each


def test_ids_do_not_depend_on_hashes() -> None:
    program = (
        "from stratadiff._kernels import value_ids\n"
        "values = [{str(k % 70): k % 50, 'b': [k % 7 / 2, k % 5 == 0]} for k in range(3000)]\n"
        "print(value_ids.intern(values).tolist())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(found) == 1


def test_many_values() -> None:
    found = value_ids.intern([{"type": "text", "text": str(k % 1_000)} for k in range(100_000)])
    assert found.tolist() == [k % 1_000 for k in range(100_000)]
    assert shares_memory(found)
    assert value_ids.intern([]).tolist() == []
    assert value_ids.intern(["a"]).tolist() == [0]
    assert value_ids.intern(str(k) for k in range(3)).tolist() == [0, 1, 2]


def test_threads_get_the_same() -> None:
    given_values = [{"a": [k % 90, {"b": str(k % 80)}], "c": k / 4 % 50} for k in range(4_000)]
    wanted = value_ids.intern(given_values)
    assert all(found == wanted for found in in_four_threads(lambda: value_ids.intern(given_values)))
    assert all(in_four_threads(lambda: value_ids.equal(given_values, copy.deepcopy(given_values))))
