"""Run pairs that differ in what a stage wrote: text, JSON, chunk indexes, hits, binary, presence.

Each scenario is one stage with one or several outputs, recorded twice. See `scenarios.SCENARIOS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from interop.recorder import Json, Output, Step, chunk, compact, digest, hit, record

Scenario = Callable[[Path], None]
SCENARIOS: dict[str, Scenario] = {}


def outputs(make: Callable[[], tuple[Mapping[str, Output], Mapping[str, Output]]]) -> Scenario:
    """Register a scenario from the two sides' outputs of its single stage."""

    def scenario(root: Path) -> None:
        for folder, side in zip("ab", make(), strict=True):
            record(root / folder, [Step("answer", side, inputs={"q.txt": (b"why?", "externally-sourced")})])

    scenario.__doc__ = make.__doc__
    SCENARIOS[make.__name__.replace("_", "-")] = scenario
    return scenario


Sides = tuple[Mapping[str, Output], Mapping[str, Output]]


def _code(count: int, seed: str) -> list[str]:
    random = Random(seed)
    stock = ["}", "", "    return None", "        pass", "    else:", "        continue"]
    return [
        random.choice(stock)
        if random.random() < 0.35
        else f"    {random.choice('xyz')} = call_{random.randrange(count)}({random.randrange(10)})"
        for _ in range(count)
    ]


def _edited(lines: list[str], rate: float, seed: str) -> list[str]:
    random = Random(f"edit {seed}")
    out = []
    for line in lines:
        kind = random.random()
        if kind < rate * 0.5:
            out.append(line.replace("call", "invoke") + " # changed")
        elif kind < rate * 0.75:
            out += [line, f"new {random.randrange(1000)}"]
        elif kind >= rate:
            out.append(line)
    return out


def _text(lines: list[str], end: str = "\n") -> str:
    return end.join(lines) + end


# Text


@outputs
def text_small_edit() -> Sides:
    """Two changed words in a short paragraph."""
    return (
        {"answer.txt": "The warranty lasts twelve months.\nShipping is not covered.\nAsk the desk.\n"},
        {"answer.txt": "The warranty lasts six months.\nShipping is not covered.\nAsk the help desk.\n"},
    )


@outputs
def text_code_10_percent() -> Sides:
    """300 code-like lines, 10 % edited."""
    lines = _code(300, "code 300")
    return {"code.txt": _text(lines)}, {"code.txt": _text(_edited(lines, 0.1, "300"))}


@outputs
def text_code_half() -> Sides:
    """150 code-like lines, half of them edited: large replaced blocks."""
    lines = _code(150, "code 150")
    return {"code.txt": _text(lines)}, {"code.txt": _text(_edited(lines, 0.5, "150"))}


@outputs
def text_popular_lines() -> Sides:
    """Over 2,000 lines with lines frequent enough to be popular; cut by --max-lines."""
    lines = _code(1600, "popular")
    return {"code.txt": _text(lines)}, {"code.txt": _text(_edited(lines, 0.05, "popular"))}


@outputs
def text_two_symbols() -> Sides:
    """Random lines over two symbols: every tie rule of the matcher counts."""
    random = Random("two symbols")
    sides = [_text([random.choice("ab") for _ in range(90)]) for _ in range(8)]
    return (
        {f"o{i}.txt": sides[i] for i in range(4)},
        {f"o{i}.txt": sides[i + 4] for i in range(4)},
    )


@outputs
def text_moved_blocks() -> Sides:
    """Blocks of lines change places."""
    lines = _code(120, "moved")
    return {"code.txt": _text(lines)}, {"code.txt": _text(lines[60:90] + lines[:60] + lines[90:])}


@outputs
def text_line_endings() -> Sides:
    """CR LF to LF and back, mixed, lone CR, endings only."""
    text = "one\ntwo\nthree\nfour\n"
    crlf = text.replace("\n", "\r\n")
    return (
        {
            "a.txt": crlf,
            "b.txt": text,
            "c.txt": "one\r\ntwo\nthree\r\n",
            "d.txt": "one\rtwo\rthree",
            "e.txt": crlf,
            "f.txt": "x\r\r\ny\r\n",
            "g.txt": "x\r\ny\r",
        },
        {
            "a.txt": text,
            "b.txt": crlf.replace("two", "2"),
            "c.txt": "one\r\ntwo\r\nthree\r\n",
            "d.txt": "one\r2\rthree\n",
            "e.txt": "one\r\ntwo\nthree\r\nfour\r\n",
            "f.txt": "x\r\ny\r\n",
            "g.txt": "x\r\nz\r",
        },
    )


@outputs
def text_final_newline() -> Sides:
    """The last line's end appears and disappears, alone and beside an edit."""
    return (
        {"a.txt": "one\ntwo\n", "b.txt": "one\ntwo", "c.txt": "one\ntwo\n", "d.txt": "x", "e.txt": "\n"},
        {"a.txt": "one\ntwo", "b.txt": "one\ntwo\n", "c.txt": "one\n2", "d.txt": "x\n", "e.txt": "\n\n"},
    )


@outputs
def text_empty_sides() -> Sides:
    """Empty against text, text against empty, blank lines only."""
    return (
        {"a.txt": "", "b.txt": "one\ntwo\n", "c.txt": "\n\n\n", "d.txt": ""},
        {"a.txt": "one\ntwo\n", "b.txt": "", "c.txt": "\n", "d.txt": "\n"},
    )


@outputs
def text_scripts() -> Sides:
    """Words in several scripts, combining marks, digits and numbers of other kinds, emoji, joiners."""
    base = (
        "λόγος ἀρχή слово дело 文字 列車 한국어 كتاب naïve café\n"
        "x_1 x‿2 ½ ⅷ ٣ ৪ ² ª º µ_\n"
        "family 👩\u200d👩\u200d👧 flag 🇬🇷 e\u0301 \u0301alone\n"
        "thin\u2009space nbsp\u00a0here ideographic\u3000gap line\u2028sep par\u2029sep nel\u0085end\n"
    )
    other = (
        "λόγος ἀρχή слова дело 文字列 列車 한국말 كتب naive café!\n"
        "x_1 x‿3 ⅓ ⅸ ٤ ৪ ³ ª ª µ_\n"
        "family 👩\u200d👩\u200d👦 flag 🇬🇧 e\u0300 \u0301alone\n"
        "thin\u2009spaces nbsp\u00a0There ideographic\u3000gaps line\u2028seps par\u2029sep nel\u0085End\n"
    )
    return {"a.txt": base}, {"a.txt": other}


@outputs
def text_control_characters() -> Sides:
    """Controls, escapes, bidirectional marks, tag characters, backslashes: shown escaped."""
    base = "bell\x07 esc\x1b[31mred\x1b[0m nul\x00 tab\there back\\slash\\n\n"
    base += "rtl\u202eabc\u202c zw\u200bsp\ufeff\n"
    other = "bell\x08 esc\x1b[32mred\x1b[0m nul\x01 tab\tHere back\\\\slash\\n\n"
    other += "rtl\u202dabc\u202c zw\u200csp\u00ad\n"
    tags = "tag\U000e0041\U000e0042 \U0001d173 \U000110bd\n"
    return {"a.txt": base + tags}, {"a.txt": other + tags.replace("\U000e0041", "\U000e0043")}


@outputs
def text_undecodable() -> Sides:
    """Bytes that are not UTF-8: overlong, surrogates, truncated, beyond the last code point."""
    base = b"ok \xff\xfe x\nover \xc0\xaf\nsur \xed\xa0\x80 y\n"
    base += b"trunc \xe2\x82\nbig \xf4\x90\x80\x80\n\xf0\x9f\x98\n"
    other = (
        base.replace(b"\xff", b"\xfd").replace(b"\xaf", b"\xae").replace(b"\xed\xa0", b"\xed\xa1") + b"\x80"
    )
    return {"a.txt": base, "b.txt": b"\xff\n"}, {"a.txt": other, "b.txt": "ÿ\n".encode()}


@outputs
def text_long_lines() -> Sides:
    """Lines over the shown window, edited at the start, in the middle, at the end, twice, and unpaired."""
    words = " ".join(f"word{i}" for i in range(700))
    base = [words, words, words, words + "\x07", words, "short", words[:2000], words[:2001]]
    other = [
        "first" + words,
        words.replace("word300 ", "other "),
        words + " end",
        words.replace("word5 ", "W ").replace("word650", "W") + "\x08",
        words,
        words,
        words[:1999] + "!",
        words[:2000] + "?!",
    ]
    return {"a.txt": _text(base)}, {"a.txt": _text(other)}


@outputs
def text_word_caps() -> Sides:
    """Pairs at and over 2,000 words and 20,000 characters."""
    even = " ".join("w" for _ in range(500))  # 999 tokens
    wide = "x" * 9_999
    return (
        {"a.txt": _text([even + " a", even + " a b", wide + "a", wide + "ab", even * 3, "é" * 12_000])},
        {"a.txt": _text([even + " c", even + " c d", wide + "c", wide + "cd", "y" + even * 3, "è" * 12_000])},
    )


@outputs
def text_uneven_blocks() -> Sides:
    """Replaced blocks of different size, with and without lines in common."""
    lines = _code(60, "uneven")
    other = [*lines[:10], "p", "q", "r", *lines[14:30], "s", *lines[40:], "t"]
    return {"a.txt": _text(lines)}, {"a.txt": _text(other)}


@outputs
def text_white_space() -> Sides:
    """Changes in white space only, inside lines and as blank lines."""
    return (
        {"a.txt": "a b\n  c\n\nd \n\te\n", "b.txt": "x\n\n\ny\n"},
        {"a.txt": "a  b\n\tc\n\nd\n    e\n", "b.txt": "x\n\ny\n\n"},
    )


@outputs
def text_soup() -> Sides:
    """Forty small outputs of random lines, endings, characters, edited at random."""
    random = Random("text soup")
    alphabet = ["a", "b", "c d", "", "e_f 1", "\t", "λ", "x\\y", "\x00", "🙂", "foo(bar)", "  return", "}"]
    base, other = {}, {}
    for number in range(40):
        lines = [
            " ".join(random.choice(alphabet) for _ in range(random.randrange(4)))
            for _ in range(random.randrange(30))
        ]
        changed = list(lines)
        for _ in range(random.randrange(1, 8)):
            place = random.randrange(len(changed) + 1)
            kind = random.random()
            if kind < 0.4:
                changed.insert(place, random.choice(alphabet))
            elif kind < 0.7 and changed:
                del changed[place % len(changed)]
            elif changed:
                changed[place % len(changed)] += random.choice(alphabet)
        ends = [random.choice(("\n", "\n", "\n", "\r\n")) for _ in range(2)]
        name = f"o{number:02d}.txt"
        base[name] = ends[0].join(lines) + random.choice(("", ends[0], ends[0]))
        other[name] = ends[1].join(changed) + random.choice(("", ends[1], ends[1]))
    return base, other


# JSON


@outputs
def json_nested() -> Sides:
    """Members changed, added and removed at several depths; empty containers."""
    base: Json = {
        "a": {"b": {"c": [1, 2, {"d": "x"}]}},
        "list": [],
        "obj": {},
        "t": True,
        "n": None,
        "z": [[[]]],
    }
    other: Json = {
        "a": {"b": {"c": [1, {"d": "y"}, 3]}},
        "list": [{}],
        "obj": {"k": []},
        "t": False,
        "z": [[[0]]],
    }
    return {"a.json": compact(base)}, {"a.json": compact(other)}


@outputs
def json_layout_only() -> Sides:
    """The same value: other key order, white space, escapes."""
    value: Json = {"b": [1, 2], "a": {"y": "é/", "x": "\u2028"}}
    return (
        {"a.json": compact(value), "b.json": '{"u":"\\u00e9\\/"}', "c.json": "[1,2]"},
        {
            "a.json": json.dumps(value, indent=4, sort_keys=True),
            "b.json": '{"u":"é/"}',
            "c.json": " [ 1 ,\n2 ]\r\n",
        },
    )


@outputs
def json_numbers() -> Sides:
    """Numbers keep their spelling; 1.0, 1.00 and 1e0 differ, as do -0 and 0."""
    return (
        {"a.json": '{"a":1.0,"b":-0,"c":1e2,"d":12345678901234567890123,"e":0.1}'},
        {"a.json": '{"a":1.00,"b":0,"c":1E2,"d":12345678901234567890124,"e":0.1}'},
    )


@outputs
def json_not_strict() -> Sides:
    """Duplicate keys, NaN, byte-order mark, trailing comma, control in a string, bad UTF-8: shown as text."""
    return (
        {
            "a.json": '{"a":1,"a":2}',
            "b.json": '{"v":NaN}',
            "c.json": "\ufeff{}",
            "d.json": "[1,]",
            "e.json": '{"a":"\t"}',
            "f.json": b'{"a":"\xff"}',
            "g.json": '{"a":1,"\\u0061":2}',
            "h.json": "",
            "i.json": '{"a":1} x',
            "j.json": "01",
        },
        {
            "a.json": '{"a":1}',
            "b.json": '{"v":1}',
            "c.json": "{}",
            "d.json": "[1]",
            "e.json": '{"a":"\\t"}',
            "f.json": '{"a":"x"}',
            "g.json": '{"a":2}',
            "h.json": "{}",
            "i.json": '{"a":1}',
            "j.json": "1",
        },
    )


@outputs
def json_strings() -> Sides:
    """Escapes, controls, separators, pairs and lone surrogates inside JSON strings."""
    return (
        {
            "a.json": r'{"a":"x\ny\\\"","b":"\u2028\u007f\u200b","c":"\ud83d\ude00"'
            r',"d":"\ud800","k\u202e":1,"\ud801":0}'
        },
        {
            "a.json": r'{"a":"x\nz\\\"","b":"\u2029\u0080\u200c","c":"\ud83d\ude01"'
            r',"d":"\ud801","k\u202d":1,"\ud801":1}'
        },
    )


@outputs
def json_scalars_and_media() -> Sides:
    """Top-level scalars; media types that are JSON, text, or neither."""
    return (
        {
            "a.json": "1",
            "b.json": '"x"',
            "c.json": "null",
            "d.json": ('{"a":1}', "application/json; charset=utf-8"),
            "e.json": ('{"b":1,"a":2}', "text/json"),
            "f.json": ("{}", "Application/JSON"),
            "g": ("x", ""),
            "h.json": '{"a":1}',
        },
        {
            "a.json": "2",
            "b.json": '["x"]',
            "c.json": "true",
            "d.json": ('{"a":2}', "application/json; charset=utf-8"),
            "e.json": ('{"a":2,"b":1}', "text/json"),
            "f.json": ("[]", "Application/JSON"),
            "g": ("y", ""),
            "h.json": ('{"a":2}', "text/plain"),
        },
    )


@outputs
def json_deep() -> Sides:
    """Nesting well inside what every reader takes."""
    return (
        {"a.json": "[" * 200 + "1" + "]" * 200, "b.json": '{"a":' * 150 + "1" + "}" * 150},
        {"a.json": "[" * 200 + "2" + "]" * 200, "b.json": '{"a":' * 150 + "[]" + "}" * 150},
    )


@outputs
def json_soup() -> Sides:
    """Thirty random JSON values against edited copies."""
    random = Random("json soup")
    base, other = {}, {}
    for number in range(30):
        value = _random_json(random, 4)
        name = f"o{number:02d}.json"
        base[name] = json.dumps(value, ensure_ascii=random.random() < 0.5)
        other[name] = json.dumps(
            _edit_json(value, random), indent=random.choice((None, 2)), ensure_ascii=False
        )
    return base, other


def _random_json(random: Random, depth: int) -> Json:
    kind = random.random()
    if depth and kind < 0.4:
        keys = random.sample(["a", "b", "c", "é", "\x01", "chunks", "hits", "id", "z z", "\U0001f600"], 4)
        return {key: _random_json(random, depth - 1) for key in keys[: random.randrange(5)]}
    if depth and kind < 0.7:
        return [_random_json(random, depth - 1) for _ in range(random.randrange(5))]
    return random.choice(
        (None, True, False, 0, -1, 2.5, 1e300, "", "text", "two\nlines", "λ\u200b", "\\", 10**20)
    )


def _edit_json(value: Json, random: Random) -> Json:
    if isinstance(value, dict) and value:
        key = random.choice(list(value))
        return {k: _edit_json(v, random) if k == key else v for k, v in reversed(value.items())}
    if isinstance(value, list) and value:
        place = random.randrange(len(value))
        return [*value[:place], _edit_json(value[place], random), *value[place + 1 :]]
    return _random_json(random, 1)


# Chunk indexes and hits


def _index(*chunks: Json, **members: Json) -> str:
    return compact({"chunks": list(chunks), **members})


def _hits(*hits: Json, **members: Json) -> str:
    return compact({"hits": list(hits), **members})


@outputs
def chunks_with_text() -> Sides:
    """Changed, added, removed and unchanged chunks with kept text of several lines."""
    same = chunk("a.md", "Stays as it is.\n")
    return (
        {
            "c.json": _index(
                same, chunk("a.md", "One\ntwo\nthree\n", 1), chunk("b.md", "Goes.\n"), method="words"
            )
        },
        {
            "c.json": _index(
                chunk("a.md", "One\n2\nthree", 1), same, chunk("c.md", "Comes\x07.\n"), method="lines"
            )
        },
    )


@outputs
def chunks_without_text() -> Sides:
    """Digests only on one side or on both."""
    return (
        {
            "c.json": _index(chunk("a.md", "x", keep=False), chunk("b.md", "y"), chunk("c.md", "z")),
            "d.json": _index(chunk("a.md", "x", keep=False)),
        },
        {
            "c.json": _index(
                chunk("a.md", "X", keep=False), chunk("b.md", "Y", keep=False), chunk("d.md", "z")
            ),
            "d.json": _index(),
        },
    )


@outputs
def chunks_odd_entries() -> Sides:
    """Text that is not its digest's, no or odd or repeated ids, number digests, names to escape."""
    bad = chunk("a.md", "real") | {"text": "not it"}
    plain = [{"doc": "n.md", "digest": digest(text.encode())} for text in ("p", "q", "r")]
    number = '{"chunks":[{"doc":1,"digest":2}]}'
    return (
        {
            "c.json": _index(
                bad,
                plain[0],
                plain[1],
                chunk("dup", "1"),
                chunk("dup", "2"),
                {"doc": "esc\x1b\\\u202e", "digest": "short", "id": 7},
                {"doc": "m", "digest": "", "id": "k", "text": 5},
            ),
            "n.json": number,
        },
        {
            "c.json": _index(
                chunk("a.md", "other"),
                plain[2],
                plain[1],
                plain[0],
                chunk("dup", "1"),
                chunk("dup", "3"),
                {"doc": "esc\x1b\\\u202e", "digest": "sha256:xyz", "id": 7},
                {"doc": "m", "digest": "d", "id": "k", "text": "t"},
            ),
            "n.json": number.replace("2", "3"),
        },
    )


@outputs
def chunks_soup() -> Sides:
    """Random chunk indexes over few documents, one output per pair."""
    random = Random("chunk soup")
    words = ["alpha", "beta\n", "gamma\r\n", "λ", "", "\x07", "delta\\"]

    def make() -> str:
        entries = []
        for number in range(random.randrange(7)):
            text = "".join(random.choice(words) for _ in range(random.randrange(6)))
            entry = chunk(random.choice("xyz"), text, random.randrange(3), keep=random.random() < 0.7)
            if random.random() < 0.3:
                del entry["id"]
            if random.random() < 0.1:
                entry["text"] = f"wrong {number}"
            entries.append(entry)
        return _index(*entries)

    return {f"c{i:02d}.json": make() for i in range(25)}, {f"c{i:02d}.json": make() for i in range(25)}


@outputs
def hits_moved() -> Sides:
    """Moved, entered, left, unchanged; ranks given and by position; without text."""
    return (
        {
            "h.json": _hits(hit("p1", rank=1), hit("p2", rank=2), hit("p3", rank=3), hit("p4", rank=4)),
            "i.json": _hits(hit("x"), hit("y"), hit("z")),
        },
        {
            "h.json": _hits(hit("p2", rank=1), hit("p1", rank=2), hit("p5", rank=3), hit("p4", rank=4)),
            "i.json": _hits(hit("z"), hit("y"), hit("w"), hit("x")),
        },
    )


@outputs
def hits_with_text() -> Sides:
    """Text of entered, left, moved and changed hits; moved and changed at once."""
    return (
        {
            "h.json": _hits(
                hit("p1", "first\nsecond\n", 1),
                hit("p2", "stays", 2),
                hit("p3", "leaves\x07", 3),
                hit("p4", "a\nb", 4),
            )
        },
        {
            "h.json": _hits(
                hit("p1", "first\n2nd\n", 1),
                hit("p4", "a\nc\n", 2),
                hit("p2", "stays", 3),
                hit("p5", "enters\n\\", 4),
            )
        },
    )


@outputs
def hits_odd_entries() -> Sides:
    """Odd ranks, repeated ids, number ids, text that is not its digest's, digests on one side only."""
    wrong = hit("w", "real", 1) | {"text": "fake"}
    return (
        {
            "h.json": _hits(
                wrong,
                hit("r", rank=2) | {"rank": "007"},
                hit("s") | {"rank": "x"},
                hit("t") | {"rank": 3},
                hit("d", "1"),
                hit("d", "2"),
                hit("o") | {"digest": "d1"},
                hit("esc\u202e\\"),
                hit("arabic") | {"rank": "٤"},
            ),
            "n.json": '{"hits":[{"id":1},{"id":"1"},{"id":2.0}]}',
        },
        {
            "h.json": _hits(
                hit("w", "other", 1),
                hit("r", rank=7),
                hit("s"),
                hit("t") | {"rank": 9},
                hit("d", "3"),
                hit("o"),
                hit("esc\u202d\\"),
                hit("arabic") | {"rank": "5"},
            ),
            "n.json": '{"hits":[{"id":2.0},{"id":"1"},{"id":2.00}]}',
        },
    )


@outputs
def hits_soup() -> Sides:
    """Random hit lists over few ids, one output per pair."""
    random = Random("hit soup")

    def make() -> str:
        entries = []
        for _ in range(random.randrange(7)):
            text = random.choice((None, "one", "one\ntwo\n", "one\n2\n", "λ\x00"))
            entry = hit(random.choice("abcdef"), text, random.choice((None, 1, 2, 3)))
            if random.random() < 0.15:
                entry["text"] = "wrong"
            entries.append(entry)
        return _hits(*entries, query="q")

    return {f"h{i:02d}.json": make() for i in range(25)}, {f"h{i:02d}.json": make() for i in range(25)}


@outputs
def chunks_against_hits() -> Sides:
    """A chunk index against hits, against almost an index, both lists in one object."""
    return (
        {
            "a.json": _index(chunk("a", "x")),
            "b.json": _index(chunk("a", "x")),
            "c.json": _index(chunk("a", "x"), hits=[hit("h")]),
            "d.json": _hits(),
        },
        {
            "a.json": _hits(hit("a", "x")),
            "b.json": _index(chunk("a", "y"), {"doc": "b"}),
            "c.json": _index(chunk("a", "y"), hits=[hit("i")]),
            "d.json": _hits(hit("n", "new")),
        },
    )


# Presence and names


@outputs
def binary() -> Sides:
    """Bytes that are not text; a type that changes between text and binary."""
    return (
        {"a.bin": b"\0\1\2", "b": ("x", "image/png"), "c.txt": "text\n"},
        {"a.bin": b"\0\1\3", "b": ("y", "image/png"), "c.txt": (b"text2\n", "application/octet-stream")},
    )


@outputs
def one_sided_outputs() -> Sides:
    """Outputs of every kind on one side only, empty ones and ones with a blank line included."""
    only: dict[str, Output] = {
        "t.txt": "one\n\ntwo\n",
        "e.txt": "",
        "j.json": '{"b":1,"a":2}',
        "c.json": _index(chunk("a", "x")),
        "b.bin": b"\1",
        "n.txt": "no end",
    }
    return (
        {"both.txt": "x\n", **only},
        {"new.md": "# new\n", "both.txt": "y\n", "blank.txt": "\n", "h.json": _hits(hit("a"))},
    )


@outputs
def renamed_outputs() -> Sides:
    """One output renamed with its content, one renamed and changed, order of outputs changed."""
    return (
        {"old.txt": "same\n", "a.txt": "1\n", "x.txt": "x\n", "y.txt": "y\n"},
        {"new.txt": "same\n", "b.txt": "2\n", "y.txt": "y\n", "x.txt": "x!\n"},
    )


@outputs
def output_names() -> Sides:
    """Names with spaces, quotes, other scripts, a leading dash or dot."""
    names = [
        "with space.txt",
        "it's.txt",
        "naïve λόγος.txt",
        "-dash.txt",
        ".dot.txt",
        "a.b.c.txt",
        "UPPER.TXT",
    ]
    return {n: (f"{n} one\n", "text/plain") for n in names}, {n: (f"{n} two\n", "text/plain") for n in names}


@outputs
def media_type_only() -> Sides:
    """Equal bytes under another media type or trust class: no difference by digest, listed by --all."""
    return {"a.txt": "x\n", "b.txt": "y\n"}, {"a.txt": ("x\n", "text/markdown"), "b.txt": ("y\n", "text/csv")}
