"""What an output is and how its change is shown: golden renderings, chunk indexes, hits (textdiff §§5, 7)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference.render
from runs.recording import digest
from stratadiff.runs.outputs import RenderedOutput, render_output

Json = Any

DATA = Path(__file__).parents[1] / "data" / "textdiff"


def golden(name: str) -> list[Json]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def as_document(found: RenderedOutput) -> Json:
    """Return the members with the fast path's hunks, which must be those of the slow one."""
    members = found.members()
    assert json.loads(found.hunks_json()) == members["hunks"]
    assert tuple(members["notes"]) == found.notes
    return members


def check(case: Json, algorithm: str) -> None:
    a, b = (base64.b64decode(case[side]) for side in "ab")
    found = render_output(
        a, b, case["media_type"], algorithm=algorithm, context=case["context"], max_lines=case["max_lines"]
    )
    want = case["expect"]
    assert found.plain_lines() == want["lines"]
    assert as_document(found) == reference.render.without_tildes(want)


@pytest.mark.parametrize("case", golden("render.jsonl"), ids=lambda case: case["id"])
def test_golden_renderings_of_gestalt(case: Json) -> None:
    check(case, "gestalt")


@pytest.mark.parametrize("case", golden("render-myers.jsonl"), ids=lambda case: case["id"])
def test_golden_renderings_of_myers(case: Json) -> None:
    check(case, "myers")


def render(a: Json, b: Json, **options: Any) -> RenderedOutput:
    sides = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in (a, b)]
    return render_output(*sides, options.pop("media_type", "application/json"), **options)


def chunk(text: str, **more: Json) -> Json:
    return {"doc": "d", "digest": digest(text.encode()), "text": text, **more}


# Dispatch


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("application/json", "hits"),
        ("application/json; charset=utf-8", "binary"),
        ("Application/JSON", "binary"),
        ("text/json", "text"),
        ("text/", "text"),
        ("Text/plain", "binary"),
        ("", "binary"),
    ],
)
def test_media_types_are_taken_literally(media_type: str, kind: str) -> None:
    assert render({"hits": []}, {"hits": [], "more": True}, media_type=media_type).kind == kind


def test_equal_bytes_have_no_difference() -> None:
    assert render({"hits": []}, {"hits": []}).notes == ("no difference",)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"chunks": []}, "chunk index"),
        ({"chunks": [], "hits": []}, "chunk index"),
        ({"chunks": [{"doc": 1, "digest": 2}]}, "chunk index"),  # a number is a string of its spelling (§6)
        ({"chunks": [{"doc": "d"}]}, "text"),
        ({"chunks": [{"doc": "d", "digest": None}]}, "text"),
        ({"chunks": [1]}, "text"),
        ({"chunks": {}}, "text"),
        ({"chunks": 1, "hits": []}, "hits"),
        ({"hits": [{"id": "x"}]}, "hits"),
        ({"hits": [{"id": 7}]}, "hits"),
        ({"hits": [{"id": True}]}, "text"),
        ([{"hits": []}], "text"),
        ({"inner": {"hits": []}}, "text"),
        (b'{"\\u0068its": []}', "hits"),
        (b'{"hits": [], "hits": []}', "text"),
    ],
)
def test_recognition(value: Json, kind: str) -> None:
    other = (
        {"chunks": [], "hits": [{"id": "z"}], "n": True}
        if kind != "chunk index"
        else {"chunks": [], "n": True}
    )
    found = render(value, other if kind != "hits" else {"hits": [{"id": "z"}], "n": True})
    assert found.kind == kind
    assert (found.entries is not None) == (kind in ("chunk index", "hits"))


def test_both_sides_must_be_of_one_kind() -> None:
    assert render({"hits": []}, {"chunks": []}).kind == "text"
    assert render({"hits": []}, b"").kind == "text"


# Chunk indexes


def test_keys_and_counts() -> None:
    old = {"chunks": [chunk("1", id="a"), chunk("2"), chunk("3"), chunk("gone", id="x")]}
    new = {"chunks": [chunk("n", id="b"), chunk("2"), chunk("1", id="a"), chunk("4")]}
    # Chunks with an id of their own count for the positions of the others: d#2, then d#3 and d#4.
    assert render(old, new).notes == (
        "chunks: 0 changed, 2 added, 2 removed; 2 unchanged",
        f"+ chunk b added: {digest(b'n')[7:19]}",
        f"+ chunk d#4 added: {digest(b'4')[7:19]}",
        f"- chunk d#3 removed: {digest(b'3')[7:19]}",
        f"- chunk x removed: {digest(b'gone')[7:19]}",
    )
    twice = {"chunks": [chunk("1", id="k"), chunk("z", id="z"), chunk("2", id="k")]}
    assert render(twice, {"chunks": [chunk("2", id="k"), chunk("z", id="z")]}).notes == (
        "chunks: 0 changed, 0 added, 0 removed; 2 unchanged",
    )


def test_a_changed_chunk_shows_its_text_with_context() -> None:
    old = {"chunks": [chunk("a\nb\nc\nd\ne", id="k")]}
    new = {"chunks": [chunk("a\nb\nc\nd\nE", id="k")]}
    assert render(old, new, context=1).notes == (
        "chunks: 1 changed, 0 added, 0 removed; 0 unchanged",
        "~ chunk k changed:",
        "    d",
        "  - e",
        "  + E",
        "  ~ [-e-]{+E+}",
    )


def test_max_lines_does_not_apply_inside_but_to_the_whole() -> None:
    text = "".join(f"{number}\n" for number in range(500))
    old, new = {"chunks": [chunk("", id="k")]}, {"chunks": [chunk(text, id="k"), chunk("z", id="later")]}
    found = render(old, new, max_lines=10)
    assert found.more_lines == 505 - 10  # a removed empty line, 500 added, a note, two more namings
    assert found.plain_lines()[-1] == f"… {found.more_lines} more lines (use --max-lines)"
    assert [entry.naming for entry in found.entries or ()] == [{"id": "k"}]
    assert "more lines" not in "".join(found.notes)


def test_text_that_is_not_its_digest_is_not_shown() -> None:
    old = {"chunks": [chunk("a", id="k", digest=digest(b"other"))]}
    found = render(old, {"chunks": [chunk("SECRET", id="k", digest=digest(b"forged"))]})
    assert found.notes[1] == "~ chunk k changed: text does not match its digest; not shown"
    assert "SECRET" not in "".join(found.plain_lines())
    lone = {"chunks": [{"doc": "d", "digest": "x", "text": "\ud800", "id": "k"}]}
    assert render(old, lone).notes[1] == "~ chunk k changed: text does not match its digest; not shown"


def test_names_with_a_lone_surrogate_fall_back_to_plain_json() -> None:
    found = render({"chunks": []}, {"chunks": [{"doc": "\ud800", "digest": "x"}]})
    assert (found.kind, found.entries) == ("text", None)
    unchanged = {"chunks": [{"doc": "\ud800", "digest": "x"}]}
    assert render(unchanged, {**unchanged, "n": True}).kind == "chunk index"  # it is not named


def test_names_are_escaped_in_lines_and_raw_in_entries() -> None:
    found = render({"hits": []}, {"hits": [{"id": "a\\b\x1b\u202e"}]})
    assert found.notes[1] == "+ hit a\\\\b\\u001b\\u202e entered at #1"
    assert [entry.naming for entry in found.entries or ()] == [{"id": "a\\b\x1b\u202e"}]


# Hits


@pytest.mark.parametrize(
    ("rank", "shown"),
    [
        ("7", 7),
        (7, 7),
        ("007", 7),
        ("٣", 3),
        ("\U00011f53", 3),  # Kawi, new in Unicode 15.0
        ("²", 1),
        ("-1", 1),
        ("1.0", 1),
        ("", 1),
        (None, 1),
        ("9" * 4_301, 1),
    ],
)
def test_ranks(rank: Json, shown: int) -> None:
    assert (
        render({"hits": []}, {"hits": [{"id": "x", "rank": rank}]}).notes[1] == f"+ hit x entered at #{shown}"
    )


def test_order_of_hit_lines() -> None:
    old = {"hits": [{"id": "left"}, {"id": "moved"}, {"id": "same"}, {"id": "changed", "digest": "1"}]}
    new = {
        "hits": [
            {"id": "new"},
            {"id": "other"},
            {"id": "same"},
            {"id": "changed", "digest": "2"},
            {"id": "moved"},
        ]
    }
    found = render(old, new)
    assert found.notes == (
        "hits: 2 entered, 1 left, 1 moved; 1 changed; 1 unchanged",
        "+ hit new entered at #1",
        "+ hit other entered at #2",
        "- hit left left (was #1)",
        "~ hit moved #2 -> #5",
        "~ hit changed #4 changed: 1 -> 2",
    )
    assert [(entry.change, entry.line) for entry in found.entries or ()] == [
        ("entered", 1),
        ("entered", 2),
        ("left", 3),
        ("moved", 4),
        ("changed", 5),
    ]


def test_a_long_hit_text_is_windowed() -> None:
    text = "x" * 3_000
    found = render({"hits": []}, {"hits": [{"id": "k", "text": text, "digest": digest(text.encode())}]})
    assert found.notes[2] == "    " + "x" * 2_000 + " … 1000 more characters"


# Against the reference, on whatever comes

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(0, 9), st.text(alphabet="ab\\\n\u202e\ud800", max_size=4)
)
NAMES = st.text(alphabet="ab#1", max_size=2)
RECORDS = st.fixed_dictionaries(
    {"doc": NAMES, "id": NAMES, "digest": st.sampled_from(["x", digest(b"a"), digest(b"a\nb")])},
    optional={
        "text": st.sampled_from(["a", "a\nb", "c"]),
        "rank": st.sampled_from(["1", "2", "10", "x", 3]),
    },
)


def some(*names: str) -> st.SearchStrategy[Json]:
    lists = st.lists(RECORDS, max_size=5)
    return st.one_of(
        *(lists.map(lambda records, name=name: {name: records}) for name in names),  # type: ignore[misc]
        lists.map(lambda records: {"chunks": [{**record, "id": None} for record in records]}),
        st.dictionaries(st.sampled_from(["hits", "chunks", "k"]), SCALARS, max_size=2),
    )


@given(some("hits", "chunks"), some("hits", "chunks"), st.integers(0, 3), st.integers(1, 12), st.booleans())
def test_records_render_as_the_reference_does(
    a: Json, b: Json, context: int, max_lines: int, exact: bool
) -> None:
    sides = [json.dumps(value).encode() for value in (a, b)]
    algorithm = "myers" if exact else "gestalt"
    want = reference.render.render_output(
        *sides, "application/json", algorithm=algorithm, context=context, max_lines=max_lines
    )
    found = render_output(
        *sides, "application/json", algorithm=algorithm, context=context, max_lines=max_lines
    )
    assert found.plain_lines() == want["lines"]
    assert as_document(found) == reference.render.without_tildes(want)
