"""Alignment of content blocks (levels 4.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_spans
from stratadiff.core import alignment
from stratadiff.core.alignment import align_blocks
from stratadiff.errors import LimitError

Block = dict[str, Any]

blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["a", "b"])),
    st.builds(
        lambda name, value: {"type": "tool_use", "name": name, "input": {"x": value}},
        st.sampled_from(["f", "g", None]),
        st.sampled_from([1, 1.0, True, "1", [0]]),
    ),
    st.sampled_from(
        [{}, {"type": None}, {"type": 1}, {"type": True}, {"type": ["tool_use"]}, {"type": "tool_use"}]
    ),
)
lists = st.lists(blocks, max_size=9)


@given(lists, lists)
def test_aligns_as_the_reference(baseline: list[Block], candidate: list[Block]) -> None:
    assert align_blocks(baseline, candidate) == [
        tuple(step) for step in trace_spans.align(baseline, candidate)
    ]


def tool(number: int) -> Block:
    return {
        "type": "tool_use",
        "id": f"t{number}",
        "name": "read_file",
        "input": {"path": f"src/{number}.py"},
    }


def test_u19_an_inserted_block_cascades_nowhere() -> None:
    baseline = [tool(number) for number in range(20)]
    candidate = [*baseline[:7], tool(99), *baseline[7:]]
    alone = [step for step in align_blocks(baseline, candidate) if None in step]
    assert alone == [(None, 7)]


def test_position_up_to_five_blocks() -> None:
    baseline = [tool(number) for number in range(5)]
    assert align_blocks(baseline, baseline[1:]) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, None)]
    assert align_blocks([], [tool(1)]) == [(None, 0)]
    assert align_blocks([], []) == []


def test_too_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MAX_BLOCK_CELLS", 99)
    baseline = [tool(number) for number in range(10)]
    candidate = [tool(number) for number in range(100, 110)]
    with pytest.raises(LimitError, match="10 against 10 content blocks in one turn"):
        align_blocks(baseline, candidate)


def test_hostile_sizes_are_refused() -> None:
    many: list[Block] = [{"type": "a"}] * 400_000 + [{"type": "b"}]
    others: list[Block] = [{"type": "c"}] * 400_000
    with pytest.raises(LimitError):
        align_blocks(many, others)


def test_too_deep() -> None:
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(LimitError, match="nested deeper"):
        align_blocks([{"type": deep}] * 6, [tool(1)])
    while isinstance(deep, list):
        deep = deep.pop()  # taken apart from outside: no deep recursion when it goes
