"""The reference agrees with every recorded answer, and with even plainer definitions where there are any."""

from __future__ import annotations

import unicodedata
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import blocks, escaping, gestalt, golden, jsonform, lines, myers, render, unicode15, words

SCRIPTS = golden.rows("myers-ops.jsonl")
RENDERED = [
    pytest.param(row, algorithm, id=f"{algorithm}-{row['id']}")
    for name, algorithm in (("render.jsonl", "gestalt"), ("render-myers.jsonl", "myers"))
    for row in golden.rows(name)
]

few_ids = st.lists(st.integers(0, 4), max_size=7)


@pytest.mark.parametrize("row", SCRIPTS, ids=[row["id"] for row in SCRIPTS])
def test_recorded_script(row: dict[str, Any]) -> None:
    if row["kind"] == "lines":
        script = myers.edit_script(row["a"], row["b"], row["cap"])
    else:
        script = myers.word_script(row["a"], row["b"])
    assert [list(block) for block in script] == row["ops"]


@pytest.mark.parametrize(("row", "algorithm"), RENDERED)
def test_recorded_rendering(row: dict[str, Any], algorithm: str) -> None:
    rendered = render.render_output(
        row["a"],
        row["b"],
        row["media_type"],
        algorithm=algorithm,
        context=row["context"],
        max_lines=row["max_lines"],
    )
    assert rendered == row["expect"]


def all_common_subsequences(a: list[int], b: list[int]) -> list[list[tuple[int, int]]]:
    """List every way to match lines of both sides in order."""
    pairs = [(i, j) for i in range(len(a)) for j in range(len(b)) if a[i] == b[j]]

    def extended(start: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        found = [start]
        for i, j in pairs:
            if not start or (i > start[-1][0] and j > start[-1][1]):
                found += extended([*start, (i, j)])
        return found

    return extended([])


@settings(max_examples=200)
@given(st.lists(st.integers(0, 2), max_size=5), st.lists(st.integers(0, 2), max_size=5))
def test_walk_is_a_longest_common_subsequence(a: list[int], b: list[int]) -> None:
    every = all_common_subsequences(a, b)
    found = myers.walk(a, b)
    assert found in every
    assert len(found) == max(map(len, every))
    assert myers.distance_table(a, b)[0][0] == len(a) + len(b) - 2 * len(found)


@settings(max_examples=200)
@given(st.permutations(range(7)), st.permutations(range(7)), st.integers(0, 7), st.integers(0, 7))
def test_anchors_are_the_first_longest_run(a: list[int], b: list[int], n: int, m: int) -> None:
    a, b = a[:n], b[:m]
    unique = [(i, b.index(item)) for i, item in enumerate(a) if item in b]
    runs = [
        list(run)
        for size in range(len(unique) + 1)
        for run in combinations(unique, size)
        if all(first[1] < second[1] for first, second in pairwise(run))
    ]
    longest = max(map(len, runs))
    expected = min((run for run in runs if len(run) == longest), key=lambda run: [i for i, _ in run])
    assert myers.anchors(a, b) == expected


@settings(max_examples=200)
@given(few_ids, few_ids)
def test_best_block_by_its_definition(a: list[int], b: list[int]) -> None:
    def k(i: int, j: int) -> int:
        size = 0
        while i + size < len(a) and j + size < len(b) and a[i + size] == b[j + size]:
            size += 1
        return size

    choices = [(-k(i, j), i, j) for i in range(len(a)) for j in range(len(b)) if k(i, j)]
    size, i, j = min(choices, default=(0, 0, 0))
    assert gestalt.best_block(a, b, (0, len(a), 0, len(b)), frozenset()) == (i, j, -size)


@settings(max_examples=200)
@given(few_ids, few_ids)
def test_scripts_rebuild_the_candidate(a: list[int], b: list[int]) -> None:
    for script in (myers.edit_script(a, b), myers.edit_script(a, b, 0), gestalt.edit_script(a, b)):
        assert blocks.apply(script, a, b) == b


def test_escaped_ranges_are_the_categories_of_unicode_15() -> None:
    table = {code for first, last in unicode15.TABLE["escaped"] for code in range(first, last + 1)}
    assert table == escaping.ESCAPED


def test_word_table_is_the_interpreters_where_their_versions_agree() -> None:
    assert unicode15.TABLE["unicode"] == unicode15.PINNED_VERSION
    # Characters assigned before 15.0 keep their category; the interpreter only knows more or fewer of them.
    for code in [*range(0x3000), *range(0x1D400, 0x1D800), *range(0x1F000, 0x1FA00)]:
        char = chr(code)
        expected = unicodedata.category(char) in unicode15.WORD_CATEGORIES or char == "_"
        assert unicode15.in_ranges(code, unicode15.TABLE["word"]) == expected


def test_decimal_digits_of_any_script() -> None:
    assert unicode15.decimal_value("007") == 7
    assert unicode15.decimal_value("\u0664\u0662") == 42
    assert [unicode15.decimal_value(text) for text in ("", "²", "-1", "1.0", " 1")] == [None] * 5


def test_the_empty_text_is_one_empty_line() -> None:
    assert lines.split_lines("") == [""]
    assert lines.split_lines("\n") == [""]
    assert lines.split_lines("a\r\nb\r\r\nc\r") == ["a", "b\r", "c"]
    assert lines.split_lines("a\rb\r\nc\r") == ["a\rb", "c"]
    assert lines.split_lines("a\rb\nc\r") == ["a\rb", "c\r"]


def test_tokens_cover_the_line() -> None:
    assert words.tokens("ab_1  c-\u0301d\x1c\t") == ["ab_1", "  ", "c", "-", "\u0301", "d", "\x1c\t"]


def test_json_at_the_depth_limit() -> None:
    assert jsonform.depth(b"[" * 512 + b"]" * 512) == 512
    jsonform.pretty(jsonform.parse(b"[" * 512 + b"]" * 512))
    with pytest.raises(jsonform.JsonError, match="too deep at byte 512"):
        jsonform.parse(b"[" * 513 + b"]" * 513)
