"""Seeded inputs for every benchmark, from friendly to hostile.

The same call gives the same bytes on every machine and Python version: each generator owns a
``random.Random`` seeded from its arguments and uses only ``random()`` (and what is built on it here),
whose sequence Python documents as stable. Nothing is read from the clock or the environment.

===================  ==========================================================================
Text corpora         ``code_lines prose_lines json_lines two_symbol_lines distinct_lines
                     repeated_lines``: lists of lines without their line feed
Line pairs           ``line_pair(kind, count, rate)``: two whole texts, `LINE_KINDS` by name
Edit operator        ``edit_lines(lines, rate)``: replace 60 %, insert 20 %, delete 20 %
Word lines           ``word_line_pair(words, rate)``: one changed line, 50 to 2,000 words
Escape texts         ``escape_text(kind, size)``: `ESCAPE_KINDS` by name
JSON documents       ``json_document(size)``, ``json_pair(size, rate)``
Run folders          ``write_run``, ``write_run_pair``: stage-receipt folders, `RUN_SHAPES` by name
===================  ==========================================================================

Run it to lay out run pairs for a look by hand: ``python benchmarks/workloads.py DIR 5x10KB``.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")
Json = Any  # a JSON value: str, int, bool, None, list or dict of such


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = _words(
    "account archive batch branch budget cache chunk client column cursor digest document edge engine "
    "entry event field filter frame graph group handle header index input invoice item job key label "
    "ledger level limit line list log map matrix message meter model module node note number object "
    "offset option order output owner packet page parser path patient pattern payload pipeline plan "
    "point policy pool prompt query queue range rate reader receipt record region report request result "
    "retry role route row rule run sample schema score section segment session shard signal slot socket "
    "source span stage state step store stream string table task tensor text thread ticket token topic "
    "trace tree tuple turn unit user value vector version view warranty window word worker zone"
)
VERBS = _words(
    "add align apply build check clean close collect compare compute copy count decode drop emit encode "
    "fetch fill find flush format get group hash hold join keep link list load map mark match merge "
    "move open pack parse pick plan print pull push rank read record reduce render reset resolve return "
    "scan score seal select send set sort split start stop store strip sum trim update verify walk "
    "write"
)
FILLERS = _words(
    "the a of and to in is that for with as on by this from at which when after before each every its "
    "are not only one first last same new old"
)
_REPEATED_CODE = (
    "",
    "",
    "",
    "}",
    "}",
    "    }",
    "    return None",
    "        return None",
    "    pass",
    "        continue",
    "    else:",
    "        break",
    "    try:",
    "    ]",
    "    ),",
    '    """',
)


class LinePair(NamedTuple):
    """Two whole texts to compare.

    Attributes
    ----------
    name : str
        What the pair is, for tables: ``code 100000 1%``.
    baseline, candidate : bytes
        UTF-8 texts, every line ended by a line feed.
    """

    name: str
    baseline: bytes
    candidate: bytes


class RunShape(NamedTuple):
    """The size of a run folder: stages in a line, bytes each stage writes, and their media type."""

    stages: int
    output_bytes: int
    media_type: str = "text/plain"


RUN_SHAPES: dict[str, RunShape] = {
    "5x10KB": RunShape(5, 10_000),
    "5x4MB": RunShape(5, 4_000_000),
    "50x100KB": RunShape(50, 100_000),
    "200x10KB": RunShape(200, 10_000),
    "200x100KB": RunShape(200, 100_000),
    "5x1MB JSON": RunShape(5, 1_000_000, "application/json"),
}
"""The run pairs the targets of the whole command are stated for."""


class Draw:
    """The few draws the generators use, all derived from ``random.Random.random``.

    ``choice``, ``shuffle`` and ``randrange`` of the standard library are not promised to be stable
    between Python versions; ``random`` is.
    """

    __slots__ = ("_draw",)

    def __init__(self, *seed: object) -> None:
        self._draw = random.Random("/".join(map(str, seed))).random

    def unit(self) -> float:
        return self._draw()

    def below(self, n: int) -> int:
        return int(self._draw() * n)

    def pick(self, items: Sequence[_T]) -> _T:
        return items[int(self._draw() * len(items))]

    def shuffled(self, items: Sequence[_T]) -> list[_T]:
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = int(self._draw() * (i + 1))
            out[i], out[j] = out[j], out[i]
        return out


# Text corpora


def code_lines(count: int, seed: int = 1) -> list[str]:
    """Make lines that repeat as source code repeats.

    About three lines in ten are one of a dozen lines found everywhere in a file (empty, ``}``,
    ``return None``), one in ten is drawn from a small stock (calls with common arguments), the others
    are distinct or nearly so. 27 bytes per line on average.

    Parameters
    ----------
    count : int
        Number of lines.
    seed : int
        Another seed gives another text.

    Returns
    -------
    list of str
        Lines without line feed.
    """
    draw = Draw("code", count, seed)
    lines = []
    for _ in range(count):
        u = draw.unit()
        if u < 0.30:
            lines.append(draw.pick(_REPEATED_CODE))
        elif u < 0.40:
            lines.append(f"    self.{draw.pick(VERBS)}({draw.pick(NOUNS)})")
        elif u < 0.50:
            lines.append(f"def {draw.pick(VERBS)}_{draw.pick(NOUNS)}_{draw.below(1000)}({draw.pick(NOUNS)}):")
        elif u < 0.75:
            noun = draw.pick(NOUNS)
            lines.append(f"    {noun} = {draw.pick(VERBS)}_{draw.pick(NOUNS)}({noun}, {draw.below(10_000)})")
        elif u < 0.90:
            lines.append(f"        if {draw.pick(NOUNS)}.{draw.pick(NOUNS)} > {draw.below(10_000)}:")
        else:
            lines.append(f"    # {draw.pick(VERBS)} the {draw.pick(NOUNS)} of every {draw.pick(NOUNS)}")
    return lines


def prose_lines(count: int, seed: int = 1) -> list[str]:
    """Make lines of wrapped prose, one in twelve empty (between paragraphs), 8 to 14 words each."""
    draw = Draw("prose", count, seed)
    return ["" if draw.unit() < 1 / 12 else sentence(draw, 8 + draw.below(7)) for _ in range(count)]


def json_lines(count: int, seed: int = 1) -> list[str]:
    """Make JSON-lines records of about 75 bytes: ascending id, level, message, number."""
    draw = Draw("json lines", count, seed)
    return [
        f'{{"id": {i}, "level": "{draw.pick(("info", "info", "info", "warning", "error"))}", '
        f'"message": "{draw.pick(VERBS)} {draw.pick(NOUNS)}", "ms": {draw.below(5000)}}}'
        for i in range(count)
    ]


def two_symbol_lines(count: int, seed: int = 1) -> list[str]:
    """Make random lines over two symbols: the most matches a line diff can be given."""
    draw = Draw("two symbols", count, seed)
    return ["a" if draw.unit() < 0.5 else "b" for _ in range(count)]


def distinct_lines(count: int, seed: int = 1, word: str = "line") -> list[str]:
    """Make lines that are all different: `word`, the line's number, and a random tail.

    Two calls with different `word` share no line.
    """
    draw = Draw("distinct", count, seed)
    return [f"{word} {i} {draw.pick(NOUNS)} {draw.below(1_000_000)}" for i in range(count)]


def repeated_lines(count: int, seed: int = 1, share: float = 0.9, stock: int = 50) -> list[str]:
    """Make lines of which `share` come from a `stock` of that many lines and the rest are distinct."""
    draw = Draw("repeated", count, seed, share, stock)
    common = [f"{draw.pick(VERBS)} {draw.pick(NOUNS)} {k}" for k in range(stock)]
    return [
        draw.pick(common) if draw.unit() < share else f"only here {i} {draw.below(1_000_000)}"
        for i in range(count)
    ]


# Edits and pairs


def edit_lines(lines: Sequence[str], rate: float, seed: int = 1, reuse: float = 0.0) -> list[str]:
    """Edit each line with probability `rate`: replace 60 %, insert before it 20 %, delete it 20 %.

    A replaced line has one word changed, so that lines pair up as edits by people do; an inserted line
    occurs nowhere else. At a positive rate at least one line is edited. Expected edit script length:
    1.6 operations per edited line.

    A line diff that drops lines without a partner is then left with deletions only, which is kind to it;
    with `reuse`, what is put in occurs elsewhere too, as an empty line or a ``return None`` does.

    Parameters
    ----------
    lines : sequence of str
        The baseline's lines; not changed.
    rate : float
        Probability of an edit per line, 0 to 1.
    seed : int
        Another seed gives other edits.
    reuse : float
        Share of replaced and inserted lines that become copies of some line of the baseline.

    Returns
    -------
    list of str
        The candidate's lines.
    """
    if rate <= 0 or not lines:
        return list(lines)
    draw = Draw("edit", len(lines), rate, seed)
    forced = draw.below(len(lines))
    out: list[str] = []
    for i, line in enumerate(lines):
        if draw.unit() >= rate and i != forced:
            out.append(line)
            continue
        kind = draw.unit()
        copied = reuse > 0 and kind < 0.8 and draw.unit() < reuse
        if kind < 0.6 or i == forced:
            out.append(draw.pick(lines) if copied else _edit_line(draw, line))
        elif kind < 0.8:
            out.append(draw.pick(lines) if copied else f"inserted {draw.pick(NOUNS)} {draw.below(10**9)}")
            out.append(line)
    return out


def move_blocks(lines: Sequence[str], blocks: int, seed: int = 1) -> list[str]:
    """Move `blocks` blocks of lines to other places.

    The lines are cut into 10 x `blocks` pieces of equal length; `blocks` of them, picked at random,
    change places among themselves, so a tenth of the text moves.
    """
    draw = Draw("move", len(lines), blocks, seed)
    pieces = max(1, 10 * blocks)
    edges = [len(lines) * k // pieces for k in range(pieces + 1)]
    order = list(range(pieces))
    chosen = sorted(draw.shuffled(order)[:blocks])
    for place, source in zip(chosen, draw.shuffled(chosen), strict=True):
        order[place] = source
    out: list[str] = []
    for k in order:
        out.extend(lines[edges[k] : edges[k + 1]])
    return out


def shuffle_lines(lines: Sequence[str], seed: int = 1) -> list[str]:
    """Put the lines into a random order."""
    return Draw("shuffle", len(lines), seed).shuffled(lines)


def join_lines(lines: Sequence[str]) -> bytes:
    """Join lines into a UTF-8 text in which every line ends with a line feed."""
    return ("\n".join(lines) + "\n").encode() if lines else b""


CORPORA: dict[str, Callable[[int, int], list[str]]] = {
    "code": code_lines,
    "prose": prose_lines,
    "json lines": json_lines,
    "two symbols": two_symbol_lines,
    "distinct": distinct_lines,
    "repeated": repeated_lines,
}
"""Corpora that `edit_lines` makes a pair of."""

LINE_KINDS: tuple[str, ...] = (
    *CORPORA,
    "code, copies",
    "moved blocks",
    "reversed",
    "shuffled",
    "all different",
    "identical",
)
"""Every kind `line_pair` knows."""


def line_pair(kind: str, count: int, rate: float = 0.01, seed: int = 1) -> LinePair:
    """Make two texts of about `count` lines each.

    Parameters
    ----------
    kind : str
        One of `LINE_KINDS`. A corpus name: the corpus against its edited self. ``code, copies``: code
        edited so that half of what is put in are copies of other lines. ``moved blocks``: code,
        a tenth of it moved in blocks, then edited. ``reversed``, ``shuffled``: distinct lines against
        themselves in another order. ``all different``: no common line. ``identical``: code against itself.
    count : int
        Lines of the baseline.
    rate : float
        Edit rate; without effect on the last four kinds.
    seed : int
        Another seed gives another pair.

    Returns
    -------
    LinePair
        Name and the two texts.

    Raises
    ------
    ValueError
        If `kind` is not known.
    """
    name = f"{kind} {count}"
    if kind in CORPORA:
        base = CORPORA[kind](count, seed)
        return LinePair(f"{name} {rate:.4g}", join_lines(base), join_lines(edit_lines(base, rate, seed)))
    if kind == "code, copies":
        base = code_lines(count, seed)
        edited = edit_lines(base, rate, seed, reuse=0.5)
        return LinePair(f"{name} {rate:.4g}", join_lines(base), join_lines(edited))
    if kind == "moved blocks":
        base = code_lines(count, seed)
        moved = edit_lines(move_blocks(base, max(2, count // 2000), seed), rate, seed)
        return LinePair(f"{name} {rate:.4g}", join_lines(base), join_lines(moved))
    if kind == "identical":
        text = join_lines(code_lines(count, seed))
        return LinePair(name, text, bytes(bytearray(text)))  # a copy: the same object would be a shortcut
    base = distinct_lines(count, seed)
    if kind == "reversed":
        other = base[::-1]
    elif kind == "shuffled":
        other = shuffle_lines(base, seed)
    elif kind == "all different":
        other = distinct_lines(count, seed, word="other")
    else:
        raise ValueError(f"unknown kind {kind!r}; one of {', '.join(LINE_KINDS)}")
    return LinePair(name, join_lines(base), join_lines(other))


# Words, escapes, JSON


def word_line_pair(
    words: int, rate: float = 0.10, seed: int = 1, *, ascii_only: bool = True
) -> tuple[str, str]:
    """Make one changed line: `words` words and its edited self.

    Parameters
    ----------
    words : int
        Words of the baseline's line, separated by single spaces, some followed by punctuation.
    rate : float
        Probability that a word is replaced (60 %), preceded by a new word (20 %) or dropped (20 %).
    seed : int
        Another seed gives another line.
    ascii_only : bool
        False: one word in four is Greek, Cyrillic, accented Latin or Chinese.

    Returns
    -------
    tuple of str
        Baseline and candidate, without line feed; never equal at a positive rate.
    """
    draw = Draw("words", words, rate, seed, ascii_only)
    foreign = ("λόγος", "слово", "naïveté", "Straße", "文字列", "détail", "число", "größe")
    base = []
    for _ in range(words):
        word = draw.pick(foreign) if not ascii_only and draw.unit() < 0.25 else draw.pick(NOUNS)
        base.append(word + draw.pick(("", "", "", "", "", "", ",", ".", ";", "()")))
    forced = draw.below(words) if rate > 0 else -1
    out = []
    for i, word in enumerate(base):
        if i != forced and draw.unit() >= rate:
            out.append(word)
            continue
        kind = draw.unit()
        if kind < 0.6 or i == forced:
            out.append(f"{draw.pick(VERBS)}{draw.below(1000)}")
        elif kind < 0.8:
            out += [f"{draw.pick(VERBS)}{draw.below(1000)}", word]
    return " ".join(base), " ".join(out)


ESCAPE_KINDS: tuple[str, ...] = ("ascii", "mixed", "escaped 5%", "controls")
"""Every kind `escape_text` knows."""


def escape_text(kind: str, size: int, seed: int = 1) -> str:
    """Make a text of about `size` bytes of UTF-8 for the escaper.

    Parameters
    ----------
    kind : str
        ``ascii``: prose, nothing to escape. ``mixed``: prose in several scripts with emoji, nothing to
        escape. ``escaped 5%``: ASCII prose in which one character in twenty is escaped (controls,
        backslash, bidirectional marks, a tag character beyond the basic plane). ``controls``: half of
        all characters are.
    size : int
        Bytes; the text is cut after the line that reaches it.
    seed : int
        Another seed gives another text.

    Returns
    -------
    str
        Lines of about 80 characters, each ended by a line feed.

    Raises
    ------
    ValueError
        If `kind` is not known.
    """
    if kind not in ESCAPE_KINDS:
        raise ValueError(f"unknown kind {kind!r}; one of {', '.join(ESCAPE_KINDS)}")
    draw = Draw("escape", kind, seed)
    words = NOUNS
    if kind == "mixed":
        words += ("λόγος", "слово", "naïveté", "文字列", "日本語", "한국어", "عربي", "🙂", "𝔘") * 5
    escaped = ("\x00", "\x1b", "\x07", "\t", "\\", "\x7f", "\x85", "\u200b", "\u202e", "\ufeff", "\U000e0041")
    share = {"escaped 5%": 0.05, "controls": 0.5}.get(kind, 0.0)
    lines = []
    total = 0
    while total < size:
        line = " ".join([draw.pick(words) for _ in range(13)])
        if share:
            line = "".join([draw.pick(escaped) if draw.unit() < share else c for c in line])
        lines.append(line + "\n")
        total += len(lines[-1].encode())
    return "".join(lines)


def json_value(size: int, seed: int = 1) -> dict[str, Json]:
    """Make a JSON object whose compact text is about `size` bytes.

    Records as tools log them, 600 to 700 bytes each: strings (some with escapes and non-ASCII), integers,
    decimals, booleans, nulls, lists, objects nested four deep; keys not in order.
    """
    draw = Draw("json", seed)
    records: list[Json] = []
    total = 0
    while total < size:
        record: dict[str, Json] = {
            "name": f"{draw.pick(VERBS)}-{draw.pick(NOUNS)}",
            "id": len(records),
            "text": sentence(draw, 30) + draw.pick(("", "\n", ' "quoted"', "\ttabbed", " — naïve λόγος")),
            "enabled": draw.unit() < 0.5,
            "score": round(draw.unit(), 6),
            "parent": None if draw.unit() < 0.3 else draw.below(1000),
            "tags": [draw.pick(NOUNS) for _ in range(draw.below(6))],
            "usage": {
                "output_tokens": draw.below(4000),
                "input_tokens": draw.below(100_000),
                "detail": {"cached": [draw.below(9) for _ in range(4)], "note": {"by": draw.pick(NOUNS)}},
            },
            "body": sentence(draw, 25),
        }
        records.append(record)
        total += len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()) + 1
    return {"version": "1", "records": records}


def json_document(size: int, seed: int = 1) -> bytes:
    """Make one JSON document of about `size` bytes, compact, keys in the order written."""
    return _compact(json_value(size, seed))


def json_pair(size: int, rate: float = 0.01, seed: int = 1) -> tuple[bytes, bytes]:
    """Make a JSON document and its edited self.

    In the candidate each record is changed (a text, a number or a tag) with probability `rate`, and the
    members of every object stand in another order, so the documents differ in layout as well.
    """
    base = json_value(size, seed)
    draw = Draw("json edit", size, rate, seed)
    records: list[Json] = []
    for record in base["records"]:
        changed = dict(record)
        if draw.unit() < rate:
            kind = draw.below(3)
            if kind == 0:
                changed["text"] = _edit_line(draw, changed["text"])
            elif kind == 1:
                changed["score"] = round(draw.unit(), 6)
            else:
                changed["tags"] = [*changed["tags"], draw.pick(NOUNS)]
        records.append({key: changed[key] for key in reversed(changed)})
    return _compact(base), _compact({"records": records, "version": "1"})


# Run folders


def write_run(
    folder: str | os.PathLike[str],
    stages: int = 5,
    output_bytes: int = 10_000,
    seed: int = 1,
    edit_rate: float = 0.0,
    *,
    run_id: str | None = None,
    media_type: str = "text/plain",
) -> None:
    """Write a stage-receipt run folder that verifies.

    Stages in a line, one output each (``output.txt`` or ``output.json``); every stage reads the output
    of the one before. Receipts and manifest are canonical, format 0.2, unanchored, with fixed times.

    Parameters
    ----------
    folder : str or path-like
        Made with its parents; what is in it is overwritten, not removed.
    stages : int
        Number of stages, at least 1.
    output_bytes : int
        Size of each output before edits; reached to within one line.
    seed : int
        Two runs with one seed and different `edit_rate` are a baseline and a candidate.
    edit_rate : float
        0: the baseline. Above: each stage's output edited at that rate (every one differs).
    run_id : str, optional
        Default ``run-<seed>`` and, for an edited run, ``-edited``.
    media_type : {"text/plain", "application/json"}
        Of every output.
    """
    root = os.fspath(folder)
    is_json = media_type == "application/json"
    output_name = "output.json" if is_json else "output.txt"
    os.makedirs(os.path.join(root, "receipts"), exist_ok=True)
    name = run_id if run_id is not None else f"run-{seed}" + ("-edited" if edit_rate > 0 else "")
    names = [f"stage-{k:03d}" for k in range(1, stages + 1)]
    link: str | None = None
    chain: list[Json] = []
    source: dict[str, str] = _reference("source.txt", b"source", "externally-sourced")
    for k, stage in enumerate(names, start=1):
        stem = f"{k:02d}-{stage}"
        make = _stage_json if is_json else _stage_output
        output = make(output_bytes, seed, k, edit_rate)
        os.makedirs(os.path.join(root, "artifacts", stem), exist_ok=True)
        _write(os.path.join(root, "artifacts", stem, output_name), output)
        made = _reference(output_name, output, "operator-authored", media_type)
        receipt = _canonical(
            {
                "anchor": {"reason": "benchmark", "state": "unanchored"},
                "assertions": {"constants": {"top_k": "5"}},
                "coverage": {
                    "boundaries": [],
                    "completeness": "complete" if k == stages else "incomplete",
                    "declared_stages": names,
                    "emitting_stages": names[:k],
                },
                "digest_source": "emitter",
                "emission": {"gaps": [], "policy": "fail-closed"},
                "format": "stage-receipt/0.2",
                "inputs": [source],
                "instrument": {
                    "config_digest": _digest(b"{}"),
                    "id": f"tool-{k:03d}",
                    "kind": "tool",
                    "manifest_digest": _digest(b"pipeline"),
                    "rederivable": "true",
                    "version": "1.0.0",
                },
                "outcome": {"class": "ok"},
                "outputs": [made],
                "prev": link,
                "run_id": name,
                "stage": {"index": str(k), "name": stage},
                "time": {
                    "ended": f"2026-01-02T03:{k // 60:02d}:{k % 60:02d}.500+00:00",
                    "started": f"2026-01-02T03:{k // 60:02d}:{k % 60:02d}.000+00:00",
                },
            }
        )
        _write(os.path.join(root, "receipts", stem + ".json"), receipt)
        link = _digest(receipt)
        chain.append({"digest": link, "file": f"receipts/{stem}.json", "index": str(k), "stage": stage})
        source = {**made, "name": "input.txt"}
    manifest = {
        "anchor": {"reason": "benchmark", "state": "unanchored"},
        "chain": chain,
        "chain_head": link,
        "format": "stage-receipt-chain/0.2",
        "run_id": name,
        "run_id_source": "caller",
    }
    _write(os.path.join(root, "MANIFEST.json"), _canonical(manifest))


def write_run_pair(
    root: str | os.PathLike[str], shape: str | RunShape = "5x10KB", seed: int = 1, edit_rate: float = 0.01
) -> tuple[str, str]:
    """Write a baseline and an edited candidate under `root`, in folders ``a`` and ``b``.

    Parameters
    ----------
    root : str or path-like
        Folder of the pair, made if missing.
    shape : str or RunShape
        A name of `RUN_SHAPES`, or sizes of your own.
    seed : int
        Another seed gives another pair.
    edit_rate : float
        Edit rate of the candidate's outputs.

    Returns
    -------
    tuple of str
        Paths of baseline and candidate.
    """
    stages, output_bytes, media_type = RUN_SHAPES[shape] if isinstance(shape, str) else shape
    baseline = os.path.join(os.fspath(root), "a")
    candidate = os.path.join(os.fspath(root), "b")
    write_run(baseline, stages, output_bytes, seed, media_type=media_type)
    write_run(candidate, stages, output_bytes, seed, edit_rate, media_type=media_type)
    return baseline, candidate


# Parts


def sentence(draw: Draw, words: int) -> str:
    return " ".join([draw.pick(FILLERS if draw.unit() < 0.45 else NOUNS) for _ in range(words)])


def _edit_line(draw: Draw, line: str) -> str:
    """Change one word of the line; an empty line gets one."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    words = line[len(indent) :].split(" ")
    words[draw.below(len(words))] = f"{draw.pick(VERBS)}{draw.below(10**6)}"
    return indent + " ".join(words)


def _stage_output(size: int, seed: int, stage: int, edit_rate: float) -> bytes:
    """Return the text of one stage: about `size` bytes, edited at `edit_rate`.

    Prose and JSON lines by turns, 55 and 70 bytes per line: two 4 MB outputs stay below the cap of
    200,000 changed lines, over which nobody diffs.
    """
    make = prose_lines if stage % 2 else json_lines
    lines = make(size // 45 + 1, seed * 1000 + stage)
    total = 0
    for count, line in enumerate(lines, start=1):
        total += len(line) + 1
        if total >= size:
            lines = lines[:count]
            break
    return join_lines(edit_lines(lines, edit_rate, seed * 1000 + stage))


def _stage_json(size: int, seed: int, stage: int, edit_rate: float) -> bytes:
    if edit_rate <= 0:
        return json_document(size, seed * 1000 + stage)
    return json_pair(size, edit_rate, seed * 1000 + stage)[1]


def _reference(name: str, content: bytes, trust: str, media_type: str = "text/plain") -> dict[str, str]:
    return {
        "bytes": str(len(content)),
        "digest": _digest(content),
        "media_type": media_type,
        "name": name,
        "trust_class": trust,
    }


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _compact(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _canonical(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as out:
        out.write(content)


def _main(argv: list[str]) -> int:
    if len(argv) != 2 or argv[1] not in RUN_SHAPES:
        print(f"usage: workloads.py DIR {{{','.join(RUN_SHAPES)}}}", file=sys.stderr)
        return 2
    print(*write_run_pair(argv[0], argv[1]))
    return 0


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
