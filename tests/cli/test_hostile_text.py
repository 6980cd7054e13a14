"""Text that people ran into, through the whole command: what is shown, and what never reaches a terminal."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from cli.command import run
from runs.recording import Stage, record, record_pair, reference

Json = Any

HOSTILE = "\x1b]0;T\x07\r\n\x9b2J\u202e\u2028\ud7ff"

posix = pytest.mark.skipif(os.name == "nt", reason="file names that Windows cannot have")


def show(tmp_path: Path, old: bytes, new: bytes, *options: str, media_type: str = "text/plain") -> list[str]:
    """Return the lines shown of one changed output."""
    a, b = record_pair(tmp_path, old, new, media_type=media_type)
    text = run(["diff", a, b, "--text", *options]).output.decode()
    return text[text.index("--- out.txt\n") + 12 : text.index("\n\ntrace: ")].split("\n")


def document(tmp_path: Path, old: bytes, new: bytes, *options: str, media_type: str = "text/plain") -> Json:
    a, b = record_pair(tmp_path, old, new, media_type=media_type)
    value = json.loads(run(["diff", a, b, "--text", "--json", *options]).output)
    return value["nodes"][0]["outputs"][0]


def assert_safe(data: bytes, *, newlines: bool = True) -> None:
    """Expect nothing in the bytes that moves a cursor, sets a title or turns text around."""
    text = data.decode()
    unsafe = {character for character in text if character < " " or "\x7f" <= character <= "\x9f"}
    assert unsafe - ({"\n"} if newlines else set()) == set()
    assert not any(character in text for character in "\u202e\u2028\u2066\u200b\ufeff\u00ad")


# U05


@pytest.mark.parametrize("algorithm", ["myers", "gestalt"])
def test_u05_missing_final_newline_is_a_note(tmp_path: Path, algorithm: str) -> None:
    options = ("--algorithm", algorithm)
    assert show(tmp_path / "1", b"x", b"y", *options) == ["- x", "+ y", "~ [-x-]{+y+}"]
    assert show(tmp_path / "2", b"a\nb", b"a\nb\n", *options) == [
        "whitespace-only change: final newline added"
    ]
    assert show(tmp_path / "3", b"a\nb\n", b"a\nc", *options) == [
        "  a",
        "- b",
        "+ c",
        "~ [-b-]{+c+}",
        "final newline removed",
    ]


def test_u05_nothing_is_invented_in_mid_hunk(tmp_path: Path) -> None:
    found = document(tmp_path, b"a\nb", b"a\nb\nc\n")
    assert [(line["op"], line["text"]) for line in found["hunks"][0]["lines"]] == [
        (" ", "a"),
        (" ", "b"),
        ("+", "c"),
    ]
    assert found["notes"] == ["final newline added"]


# U06


def test_u06_lf_alone_ends_a_line(tmp_path: Path) -> None:
    old, new = (
        "a\u2028+++ b\n\x0cc\n\x85d\x1c\x0be\n".encode(),
        "a\u2028+++ b\n\x0cC\n\x85d\x1c\x0be\n".encode(),
    )
    found = document(tmp_path, old, new)
    lines = found["hunks"][0]["lines"]
    assert [(line["op"], line["baseline"], line["candidate"]) for line in lines] == [
        (" ", "1", "1"),
        ("-", "2", None),
        ("+", None, "2"),
        (" ", "3", "3"),
    ]
    assert [line["text"] for line in lines] == [
        "a\\u2028+++ b",
        "\\u000cc",
        "\\u000cC",
        "\\u0085d\\u001c\\u000be",
    ]


def test_u06_a_crafted_line_forges_nothing(tmp_path: Path) -> None:
    shown = show(tmp_path, b"x\n", "x\u2028+ forged\u0085- gone\r+ over\n".encode())
    assert shown[:2] == ["- x", "+ x\\u2028+ forged\\u0085- gone\\u000d+ over"]
    assert len(shown) == 3


# U07


def test_u07_line_endings_are_one_note(tmp_path: Path) -> None:
    assert show(tmp_path / "1", b"a\r\nb\r\n", b"a\nb\n") == [
        "whitespace-only change: line endings CRLF -> LF"
    ]
    assert show(tmp_path / "2", b"a\r\nb\r\n", b"a\nB\n") == [
        "  a",
        "- b",
        "+ B",
        "~ [-b-]{+B+}",
        "line endings CRLF -> LF",
    ]
    assert show(tmp_path / "3", b"a\r\nb\n", b"a\nb\n") == [
        "whitespace-only change: line endings mixed -> LF"
    ]
    assert show(tmp_path / "4", b"a\rb\n", b"a\rc\n") == [
        "- a\\u000db",
        "+ a\\u000dc",
        "~ a\\u000d[-b-]{+c+}",
    ]


# U08


@pytest.mark.parametrize("form", [[], ["--text"], ["--text", "--all", "--no-color"], ["--follow-corpus"]])
def test_u08_names_of_the_recording_do_not_drive_the_terminal(tmp_path: Path, form: list[str]) -> None:
    name = HOSTILE.replace("\n", "") if os.name == "nt" else HOSTILE
    for folder, data in (("a", b"1"), ("b", b"2")):
        stages = [
            Stage(
                f"stage {HOSTILE}",
                {},
                inputs=[reference(f"input {HOSTILE}", data)],
                constants={f"constant {HOSTILE}": f"{folder} {HOSTILE}"},
                corpus=None,
                instrument={"id": f"{folder} {HOSTILE}", "version": f"{folder} {HOSTILE}"},
                receipt={"outputs": [reference(f"output {HOSTILE}", data, f"text/{HOSTILE}")]},
                boundaries=[],
            ),
            Stage("last", {}, boundaries=[{"kind": f"kind {HOSTILE}", "name": "last"}]),
        ]
        record(tmp_path / folder, stages, run_id=f"run {name}", manifest={"outputs_kept": "all"})
    answer = run(["diff", "a", "b", *form], tmp_path, terminal="--text" in form)
    assert answer.code == 1
    assert_safe(answer.output.replace(b"\x1b[31m", b"").replace(b"\x1b[32m", b"").replace(b"\x1b[0m", b""))
    assert "\\u001b]0;T\\u0007\\u000d\\u000a\\u009b2J\\u202e\\u2028" in answer.output.decode()


def test_u08_names_in_a_topology(tmp_path: Path) -> None:
    for folder, data in (("a", b"1"), ("b", b"2")):
        first = Stage(f"one {HOSTILE}", {}, receipt={"outputs": [reference("x", data)]})
        second = Stage(f"two {folder}{HOSTILE}", {}, upstream=[first.node], instance=f"i{HOSTILE}")
        record(tmp_path / folder, [first, second], edges=True)
    answer = run(["diff", "a", "b", "--text"], tmp_path)
    assert answer.code == 1
    assert_safe(answer.output)


def test_u08_the_document_holds_names_as_recorded(tmp_path: Path) -> None:
    for folder, data in (("a", b"1"), ("b", b"2")):
        record(tmp_path / folder, [Stage(f"s {HOSTILE}", {}, receipt={"outputs": [reference("x", data)]})])
    answer = run(["diff", "a", "b", "--text", "--json"], tmp_path)
    assert json.loads(answer.output)["nodes"][0]["node"] == f"s {HOSTILE}"
    # JSON's own escapes keep C0 controls out of the bytes; the one newline ends the document.
    assert b"\x1b" not in answer.output
    assert answer.output.count(b"\n") == 1


@posix
def test_u08_paths_do_not_drive_the_terminal(tmp_path: Path) -> None:
    names = [HOSTILE.encode(), b"not \xff utf-8 \xc3", b"back\\slash", b"two  spaces"]
    for name in names:
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        record(folder, [Stage("s", {"x": b"1"})], run_id="r")
        given = os.fsdecode(name)
        for argv in (
            ["diff", given, given, "--text"],
            ["diff", given, given + "-missing"],
            ["verify", given],
        ):
            answer = run(argv, tmp_path)
            assert answer.code in (0, 4)
            assert_safe(answer.output)
            assert_safe(answer.error.encode())
        broken = run(["diff", given, given, "--out", f"{given}/MANIFEST.json"], tmp_path)
        assert broken.code == 74
        assert broken.error.count("\n") == 1
        assert_safe(broken.error.encode())
    shown = run(["diff", os.fsdecode(names[1]), os.fsdecode(names[2])], tmp_path).output.decode()
    assert shown.startswith(
        "baseline   not \\udcff utf-8 \\udcc3  r  (run)\ncandidate  back\\\\slash  r  (run)\n"
    )


@posix
def test_u08_undecodable_paths_reach_every_file_of_a_report(tmp_path: Path) -> None:
    given = os.fsdecode(b"run \xff")
    record(tmp_path / given, [Stage("s", {"x": b"1"})], run_id="r")
    assert run(["diff", given, given, "--text", "--json", "--out", "report"], tmp_path).code == 0
    report = json.loads((tmp_path / "report" / "diff.json").read_bytes())
    assert report["inputs"]["baseline"]["path"] == given
    assert (tmp_path / "report" / "diff.txt").read_text(encoding="utf-8").count("run \\udcff") == 2


@posix
def test_u08_linked_runs_in_folders_of_hostile_names(tmp_path: Path) -> None:
    folder = os.fsdecode(b"\x1b[2J \xff")
    heads = [
        record(tmp_path / name, [Stage("load", {"x": data})], run_id=f"i {HOSTILE}")
        for name, data in ((f"1{folder}", b"1"), (f"2{folder}", b"2"))
    ]
    for name, data, head in (("a", b"1", heads[0]), ("b", b"2", heads[1])):
        record(tmp_path / name, [Stage("answer", {"y": data}, corpus=head)])
    for options in (["--text"], ["--follow-corpus"], ["--text", "--json", "--out", "report"]):
        answer = run(["diff", "a", "b", *options], tmp_path)
        assert answer.code == 1
        if "--json" not in options:
            assert_safe(answer.output)
            assert b"traced into the linked ingest runs" in answer.output
    assert_safe((tmp_path / "report" / "diff.txt").read_bytes())


# U09


def test_u09_format_characters_are_shown_and_letters_left_alone(tmp_path: Path) -> None:
    shown = show(tmp_path / "1", b"ab\n", "a\u202eb\n".encode())
    assert shown[:2] == ["- ab", "+ a\\u202eb"]
    argument = '{"tool": "x\u2066y", "zero": "\u200b"}'
    found = document(tmp_path / "2", b"{}", argument.encode(), media_type="application/json")
    texts = [line["text"] for line in found["hunks"][0]["lines"]]
    assert '  "tool": "x\\u2066y",' in texts
    assert '  "zero": "\\u200b"' in texts
    plain = "∀ → λ é 漢 👩\u200d👩\u200d👧"
    shown = show(tmp_path / "3", f"{plain} one\n".encode(), f"{plain} two\n".encode())
    assert shown[0] == "- ∀ → λ é 漢 👩\\u200d👩\\u200d👧 one"


def test_u09_spans_count_the_escapes(tmp_path: Path) -> None:
    lines = document(tmp_path, "\u202e\t\\ old\n".encode(), "\u202e\t\\ new\n".encode())["hunks"][0]["lines"]
    for line, word in zip(lines, ("old", "new"), strict=True):
        [(start, end)] = line["spans"]
        assert line["text"][int(start) : int(end)] == word
        assert line["text"] == f"\\u202e\\u0009\\\\ {word}"


# U11


@pytest.mark.parametrize("algorithm", ["myers", "gestalt"])
def test_u11_one_enormous_line_shows_a_window(tmp_path: Path, algorithm: str) -> None:
    old = b'{"k":"' + b"a" * 4_000_000 + b"1" + b"b" * 900_000 + b'"}'
    new = old.replace(b"1", b"2")
    started = time.process_time()
    shown = show(tmp_path, old, new, "--algorithm", algorithm, media_type="text/plain")
    assert time.process_time() - started < 5  # a fraction of a second alone; the machine may be busy
    assert len(shown) == 2  # too long to mark: no line of marked words
    for line, digit in zip(shown, "12", strict=True):
        assert line[2:].startswith("… 3999966 characters … aaaa")
        assert line.endswith("b … 898043 more characters")
        assert line.count(digit) - "… 3999966 characters … … 898043 more characters".count(digit) == 1
        assert len(line) < 2_100


def test_u11_pairs_over_the_cap_have_one_span_per_side(tmp_path: Path) -> None:
    old = " ".join(f"w{number}" for number in range(1_700))
    new = " ".join(f"v{number}" for number in range(1_700))
    lines = document(tmp_path, f"{old} {'x' * 8_000}\n".encode(), f"{new} {'x' * 8_000}\n".encode())["hunks"][
        0
    ]["lines"]
    assert [len(line["spans"]) for line in lines] == [1, 1]
    assert all(line["text"].endswith(" more characters") for line in lines)
