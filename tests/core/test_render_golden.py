"""One output as it is shown: the product against every recorded answer, and against the reference."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reference import escaping, golden, lines, render
from stratadiff.runs.outputs import render_output
from strategies import JSON_PIECES, damaged, json_texts, text_pairs

RENDERED = [
    pytest.param(row, algorithm, id=f"{algorithm}-{row['id']}")
    for name, algorithm in (("render.jsonl", "gestalt"), ("render-myers.jsonl", "myers"))
    for row in golden.rows(name)
]

algorithms = st.sampled_from(("myers", "gestalt"))
contexts = st.integers(0, 5)
line_counts = st.one_of(st.integers(1, 50), st.just(200))


def members_of(rendered: Any) -> dict[str, Any]:
    """Read the members as plain JSON, whatever they are made of."""
    members: dict[str, Any] = json.loads(json.dumps(rendered.members()))
    return members


def check(a: bytes, b: bytes, media_type: str, algorithm: str, context: int, max_lines: int) -> None:
    """Compare the product with the reference, in both its forms."""
    rendered = render_output(a, b, media_type, algorithm=algorithm, context=context, max_lines=max_lines)
    wanted = render.render_output(a, b, media_type, algorithm=algorithm, context=context, max_lines=max_lines)
    assert rendered.plain_lines() == wanted["lines"]
    assert members_of(rendered) == render.without_tildes(wanted)


@pytest.mark.parametrize(("row", "algorithm"), RENDERED)
def test_recorded_rendering(row: dict[str, Any], algorithm: str) -> None:
    rendered = render_output(
        row["a"],
        row["b"],
        row["media_type"],
        algorithm=algorithm,
        context=row["context"],
        max_lines=row["max_lines"],
    )
    assert rendered.plain_lines() == row["expect"]["lines"]
    assert members_of(rendered) == render.without_tildes(row["expect"])


@given(text_pairs(), algorithms, contexts, line_counts)
def test_texts(texts: tuple[bytes, bytes], algorithm: str, context: int, max_lines: int) -> None:
    check(*texts, "text/plain", algorithm, context, max_lines)


@given(st.binary(max_size=30), st.binary(max_size=30), algorithms)
def test_bytes_as_text(a: bytes, b: bytes, algorithm: str) -> None:
    check(a, b, "text/plain", algorithm, 3, 200)


@given(text_pairs(), st.sampled_from(("\x0a", "\r\n", "\r", "\n\r\n")), algorithms, contexts)
def test_line_ends_of_every_kind(texts: tuple[bytes, bytes], end: str, algorithm: str, context: int) -> None:
    a, b = texts
    check(a, b.replace(b"\n", end.encode()), "text/plain", algorithm, context, 50)
    check(a.replace(b"\n", end.encode()), b, "text/markdown", algorithm, context, 50)


# Few words each, for the reference's sake.
LETTERS = b"abcdefghijklmnopqrstuvwxyz" * 3
LONG = (
    LETTERS + b" ",
    b"x",
    "é漢".encode(),
    b"\\" + LETTERS,
    b"\x1b" + LETTERS + b" ",
    b"\xff" + LETTERS,
)


@st.composite
def texts_with_long_lines(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a few lines of which some pass the window, with something changed in some of them."""
    raw = draw(st.binary(min_size=16, max_size=16))
    a, b = [], []
    for number in range(1 + raw[0] % 3):
        filler, size, where, what = raw[4 * number + 1 : 4 * number + 5]
        line = (LONG[filler % len(LONG)] * 2200)[: (40, 80, 1990, 2001, 2100)[size % 5]]
        place = where * len(line) // 255
        a.append(line)
        changed = line[:place] + (b"", b"changed", b"\\n", b"\x80", b" ")[what % 5] + line[place + what % 7 :]
        b.append(changed if what < 200 else line)
    return b"\n".join(a), b"\r\n".join(b) if raw[15] % 4 == 0 else b"\n".join(b)


@given(texts_with_long_lines(), algorithms, line_counts)
def test_long_lines(texts: tuple[bytes, bytes], algorithm: str, max_lines: int) -> None:
    check(*texts, "text/plain", algorithm, 1, max_lines)


@given(json_texts(), json_texts(), algorithms, contexts, line_counts)
def test_json(a: str, b: str, algorithm: str, context: int, max_lines: int) -> None:
    check(a.encode(), b.encode(), "application/json", algorithm, context, max_lines)


@st.composite
def edited_json(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a JSON text and a damaged copy, which may or may not parse."""
    a = draw(json_texts()).encode()
    return a, draw(damaged(st.just(a), JSON_PIECES))


@given(edited_json(), algorithms, line_counts)
def test_damaged_json(texts: tuple[bytes, bytes], algorithm: str, max_lines: int) -> None:
    check(*texts, "application/json", algorithm, 2, max_lines)


# Chunk indexes and hits.

NAMES = ("a", "b", "c", "d", "a#1", "b#2", "\\", "\u202e", "\x1b[", "é", 7, "\ud800")
TEXTS = (
    "",
    "one\ntwo\nthree",
    "one\n2\nthree\n",
    "one\r\ntwo\r\nthree",
    "\\ \x1b \u2028",
    "\ud800",
    "x" * 2100,
)
RANKS = ("1", "2", "03", 4, "\u0665", "²", "-1", "1.0", "", "9" * 4301, None, 5)


def digest_of(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def record(raw: bytes, kind: str) -> dict[str, Any]:
    """Make a chunk or a hit; most texts match their digests."""
    text = TEXTS[raw[0] % len(TEXTS)]
    digest: Any = digest_of(text)
    match raw[1] % 8:
        case 0:
            digest = "plain digest"
        case 1:
            digest = "sha256:" + "ab" * (raw[2] % 8)
        case 2:
            digest = 12
    found: dict[str, Any] = {"digest": digest}
    if raw[3] % 3:
        found["text"] = text
    name = NAMES[raw[4] % (12 if raw[5] % 16 == 0 else 6)]
    if kind == "chunks":
        found["doc"] = NAMES[raw[6] % 4]
        if raw[7] % 2:
            found["id"] = name
    else:
        found["id"] = name
        if raw[6] % 2:
            found["rank"] = RANKS[raw[7] % len(RANKS)]
        if raw[2] % 5 == 0:
            del found["digest"]
    return found


@st.composite
def record_lists(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw two chunk indexes or two hit lists, the second one edited from the first."""
    kind = draw(st.sampled_from(("chunks", "hits")))
    raw = draw(st.binary(max_size=40))
    a = [record(raw[at : at + 8], kind) for at in range(0, len(raw) - 7, 8)]
    b = list(a)
    edits = draw(st.binary(max_size=30))
    for at in range(0, len(edits) - 9, 10):
        place = edits[at] * (len(b) + 1) // 256
        new = record(edits[at + 2 : at + 10], kind)
        match edits[at + 1] % 4:
            case 0:
                b.insert(place, new)
            case 1:
                del b[place : place + 1]
            case 2:
                b[place : place + 1] = [new]
            case _:
                b[place : place + 2] = b[place : place + 2][::-1]
    ascii_only = draw(st.booleans()) or any("\ud800" in str(value) for value in (a, b))
    return tuple(  # type: ignore[return-value]
        json.dumps({kind: side, "more": [1]}, ensure_ascii=ascii_only).encode("utf-8", "replace")
        for side in (a, b)
    )


@given(record_lists(), algorithms, contexts, line_counts)
def test_chunks_and_hits(texts: tuple[bytes, bytes], algorithm: str, context: int, max_lines: int) -> None:
    check(*texts, "application/json", algorithm, context, max_lines)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (b'{"chunks":[]}',b'{"chunks": []}'), (b'{"hits":[]}',b'{"hits":[] }'),
        (b'{"chunks":[],"hits":[]}',b'{"hits":[],"chunks":[]}'), (b'{"chunks":[]}',b'{"hits":[]}'),
        (b'{"chunks":[{"doc":"d","digest":1}]}',b'{"chunks":[{"doc":"d","digest":"1"}]}'),
        (b'{"chunks":[{"doc":"d"}]}',b'{"chunks":[]}'),
        (b'{"hits":[{"id":1}]}',b'{"hits":[{"id":"1","rank":"1"}]}'),
        (b'{"hits":[{"id":"a","digest":true}]}',b'{"hits":[{"id":"a","digest":null}]}'),
        (b'{"hits":[{"id":"a","digest":null}]}',b'{"hits":[{"id":"a"}]}'),
        (b'{"hits":[{"id":"a","rank":"007"}]}',b'{"hits":[{"id":"a","rank":7}]}'),
        (b'{"hits":[{"id":"a","rank":"2"},{"id":"b","rank":"2"}]}',b'{"hits":[{"id":"c","rank":"1"},{"id":"d"}]}'),
        (b'{"hits":[{"id":"a"},{"id":"b"},{"id":"a"}]}',b'{"hits":[{"id":"b"},{"id":"a"}]}'),
        (b'{"hits":[{"id":"\\ud800"}]}',b'{"hits":[]}'),
        (b'{"hits":[{"id":"\\ud800"}]}',b'{"hits":[{"id":"\\ud800"},{"id":"a"}]}'),
        (b'{"chunks":[{"doc":"\\ud800","digest":"","id":"a"}]}',b'{"chunks":[]}'),
        (b'{"chunks":[{"doc":"\\ud800","digest":""}]}',b'{"chunks":[]}'),
        (b'{"chunks":[{"doc":"d","digest":""}]}',b'{"chunks":[{"doc":"d","digest":"sha256:"}]}'),
        (b'{"chunks":[{"doc":"d","digest":""},{"id":"d#1","doc":"e","digest":"x"}]}',b'{"chunks":[]}'),
    ],
)  # fmt: skip
def test_odd_chunks_and_hits(a: bytes, b: bytes) -> None:
    for max_lines in (1, 2, 200):
        check(a, b, "application/json", "myers", 3, max_lines)
        check(b, a, "application/json", "gestalt", 3, max_lines)


@pytest.mark.parametrize(
    "media_type",
    [
        "",
        "text/",
        "text/json",
        "TEXT/plain",
        "application/json; charset=utf-8",
        "application/JSON",
        "image/png",
        "text",
        " text/plain",
    ],
)
def test_media_types(media_type: str) -> None:
    check(b'{"b":1,"a":2}', b'{"a":2,"b":2}', media_type, "myers", 3, 200)


@pytest.mark.parametrize("size", [5_000_000, 5_000_001, 5_050_000, 5_150_000, 5_250_000, 6_000_000])
@pytest.mark.parametrize("media_type", ["text/plain", "application/json"])
def test_size_cap(size: int, media_type: str) -> None:
    data = b"line\n" * (size // 5) + b"x" * (size % 5)
    if size > 5_000_000:
        check(data, b"x", media_type, "myers", 3, 200)
        check(b"x", data, media_type, "gestalt", 3, 200)
        check(data, data, media_type, "gestalt", 3, 200)
    else:
        check(data, data[:-6] + b"L\nE\n", media_type, "gestalt", 3, 200)


@pytest.mark.parametrize("changed", [199_999, 200_000, 200_001])
def test_cap_on_changed_lines(changed: int) -> None:
    # One candidate line against the others, and equal lines at both ends.
    a = b"head\n" * 10 + b"".join(b"%d\n" % number for number in range(changed - 1)) + b"tail\n" * 10
    b = b"head\n" * 10 + b"one\n" + b"tail\n" * 10
    check(a, b, "text/plain", "gestalt", 3, 10)


@pytest.mark.parametrize("algorithm", ["myers", "gestalt"])
def test_one_sided_outputs(algorithm: str) -> None:
    for data in (b"", b"\n", b"a", b"a\n", b"a\n\nb", b"\r\n", b"{}", b"[]\n"):
        for media_type in ("text/plain", "application/json"):
            for context in (0, 3):
                check(b"", data, media_type, algorithm, context, 200)
                check(data, b"", media_type, algorithm, context, 200)


@pytest.mark.parametrize("depth", [511, 512, 513])
def test_u15_json_around_the_depth_limit(depth: int) -> None:
    a = b"[" * depth + b"]" * depth
    b = b"[" * (depth - 1) + b"1" + b"]" * (depth - 1)
    check(a, b, "application/json", "gestalt", 3, 200)
    check(a, b" " + a, "application/json", "gestalt", 3, 200)


@given(text_pairs(), algorithms)
def test_hunks_rebuild_the_candidate(texts: tuple[bytes, bytes], algorithm: str) -> None:
    """Applying the hunks to the baseline's lines gives the candidate's, whatever the algorithm."""
    a, b = texts
    assume(a != b)
    members = members_of(render_output(a, b, "text/plain", algorithm=algorithm, context=2, max_lines=10_000))
    assert "truncated" not in members
    old, new = (
        [escaping.shown(line, escaping.TEXT) for line in lines.split_lines(lines.decode(side))]
        for side in texts
    )
    found: list[str] = []
    taken = 0
    for one in members["hunks"]:
        for side, other in (("baseline", "+"), ("candidate", "-")):
            numbers = [int(item[side]) for item in one["lines"] if item["op"] != other]
            start, count = int(one[side]["start"]), int(one[side]["lines"])
            assert numbers == list(range(start, start + count))
        start, count = int(one["baseline"]["start"]), int(one["baseline"]["lines"])
        assert old[start - 1 : start - 1 + count] == [
            item["text"] for item in one["lines"] if item["op"] != "+"
        ]
        found += old[taken : start - 1] + [item["text"] for item in one["lines"] if item["op"] != "-"]
        taken = start - 1 + count
    assert found + old[taken:] == new
