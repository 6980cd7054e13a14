"""``stratadiff diff`` and ``onetrace diff`` on the same run pairs: whole outputs, exit codes, report files.

Every pair of `scenarios.SCENARIOS` and `INPUTS` is compared with several option sets by both tools, in the
same working directory. With ``--algorithm gestalt`` standard output must be the same bytes; with ``myers``
everything but the choice of lines. Where the tools differ on purpose, the difference is listed by the
decision's name (`EXPECTED`, `test_decision_*`).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interop import damage, scenarios_outputs
from interop.peers import Answer, Job, run_all, run_alone
from interop.recorder import Step, chunk, compact, hit, record
from interop.scenarios import SCENARIOS

pytestmark = pytest.mark.interop

Json = Any

EVERY: dict[str, tuple[str, ...]] = {
    "plain": (),
    "text": ("--text", "--no-color"),
    "json": ("--text", "--json"),
}
SHOWN = {
    "json-context-0": ("--text", "--json", "--context", "0"),
    "json-context-9-max-40": ("--text", "--json", "--context", "9", "--max-lines", "40"),
    "text-context-1-max-7": ("--text", "--no-color", "--context", "1", "--max-lines", "7"),
    "json-max-1": ("--text", "--json", "--max-lines", "1"),
}
SELECTED = {
    "follow-corpus": ("--follow-corpus",),
    "json-all": ("--text", "--json", "--all"),
    "text-all": ("--text", "--all"),
    "json-stage": ("--text", "--json", "--stage", "answer", "--stage", "nowhere", "--stage", "normalise"),
    "text-stage": ("--text", "--stage", "it's", "--stage", "check", "--all", "--stage", "load"),
}
CORPUS = {
    "json-no-follow": ("--text", "--json", "--no-follow"),
    "text-no-follow": ("--text", "--no-follow"),
    "json-elsewhere": ("--text", "--json", "--runs-root", "elsewhere"),
    "text-elsewhere": ("--text", "--runs-root", "elsewhere"),
    "follow-elsewhere": ("--follow-corpus", "--runs-root", "elsewhere"),
    "json-runs-root-absent": ("--text", "--json", "--runs-root", "no-such-folder"),
    "text-max-1": ("--text", "--max-lines", "1", "--context", "0"),
}
QUIET = {
    "quiet": ("--quiet",),
    "quiet-json": ("--text", "--json", "--quiet"),
    "quiet-text": ("--text", "--quiet"),
}

MYERS: dict[str, tuple[str, ...]] = {
    "myers-context-1-all": ("--text", "--json", "--context", "1", "--all"),
    "myers-whole": ("--text", "--json", "--context", "1000000", "--max-lines", "1000000"),
}


def _options(name: str) -> dict[str, tuple[str, ...]]:
    if name in scenarios_outputs.SCENARIOS:
        return EVERY | SHOWN
    if name in INPUTS:
        return EVERY | SHOWN | SELECTED | QUIET
    if name.startswith("corpus"):
        return EVERY | SELECTED | CORPUS
    return EVERY if name.startswith("refused") else EVERY | SELECTED


# Other inputs than two run folders side by side


INPUTS: dict[str, tuple[str, str]] = {
    "receipts": ("a/receipts/03-retrieve.json", "b/receipts/03-retrieve.json"),
    "receipts-first-stage": ("a/receipts/01-load.json", "b/receipts/01-load.json"),
    "receipt-against-run": ("a/receipts/01-load.json", "b"),
    "receipt-not-json": ("a/receipts/01-load.json", "not-json.json"),
    "receipt-damaged": ("damaged.json", "b/receipts/01-load.json"),
    "manifest-files": ("a/MANIFEST.json", "b/MANIFEST.json"),
    "same-run": ("a", "a"),
    "trailing-slash": ("a/", "./b/"),
    "missing": ("a", "nowhere"),
    "missing-both": ("nowhere", "nowhere2"),
    "folder-without-record": ("empty", "b"),
    "linked-run-folder": ("a", "link"),
    "linked-receipt": ("a", "linked-receipt"),
    "linked-artifact": ("a", "linked-artifact"),
    "artifact-outside": ("a", "artifact-outside"),
    "read-from-inside": ("../inputs/a", "../inputs/b"),
}
"""Arguments, with the folder `_record_inputs` writes as working directory."""


def _record_inputs(root: Path) -> None:
    SCENARIOS["linear-downstream"](root)
    a, b = root / "a", root / "b"
    (root / "not-json.json").write_text("{")
    (root / "damaged.json").write_bytes(
        (a / "receipts" / "01-load.json").read_bytes().replace(b'"ok"', b'"no"')
    )
    (root / "empty").mkdir()
    (root / "link").symlink_to("b")
    for name, file in (
        ("linked-receipt", "receipts/02-split.json"),
        ("linked-artifact", "artifacts/03-retrieve/hits.json"),
    ):
        shutil.copytree(b, root / name)
        target = root / name / file
        kept = root / name / ("kept-" + target.name)
        target.rename(kept)
        target.symlink_to(os.path.relpath(kept, target.parent))
    shutil.copytree(b, root / "artifact-outside")
    target = root / "artifact-outside" / "artifacts" / "03-retrieve" / "hits.json"
    (root / "outside.json").write_bytes(target.read_bytes())
    target.unlink()
    target.symlink_to("../../../outside.json")


# All comparisons, made once


Key = tuple[str, str]


class Compared:
    """Where the runs lie, and what both tools answered, by pair and option set."""

    def __init__(
        self, root: Path, peer: dict[Key, Answer], ours: dict[Key, Answer], left_behind: set[str]
    ) -> None:
        self.root = root
        self.peer = peer
        self.ours = ours
        self.left_behind = left_behind


def _cases() -> Iterator[tuple[Key, Path, tuple[str, ...]]]:
    """Yield key, folder (relative) and arguments of every comparison made with ``gestalt``."""
    for name in SCENARIOS:
        for option, argv in _options(name).items():
            yield (name, option), Path(name), ("diff", "a", "b", *argv)
    for name, sides in INPUTS.items():
        for option, argv in _options(name).items():
            yield (name, option), Path("inputs"), ("diff", *sides, *argv)


CASES = [key for key, _, _ in _cases()]
WITH_TEXT = [name for name in SCENARIOS if not name.startswith("refused")]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Record every pair and let both tools compare them all."""
    root = tmp_path_factory.mktemp("pairs")
    for name, scenario in SCENARIOS.items():
        scenario(root / name)
    _record_inputs(root / "inputs")
    reports = tmp_path_factory.mktemp("reports")
    before = _files(root)
    peer_jobs: dict[Key, Job] = {}
    our_jobs: dict[Key, Job] = {}
    for number, (key, folder, argv) in enumerate(_cases()):
        peer_jobs[key] = Job("onetrace", (*argv, "--out", str(reports / str(number))), root / folder)
        our_jobs[key] = Job("stratadiff", (*argv, "--algorithm", "gestalt"), root / folder)
    for name in WITH_TEXT:
        for option, extra in MYERS.items():
            arguments = ("diff", "a", "b", *extra)
            report = str(reports / f"{name}-{option}")
            peer_jobs[name, option] = Job("onetrace", (*arguments, "--out", report), root / name)
            our_jobs[name, option] = Job("stratadiff", (*arguments, "--algorithm", "myers"), root / name)
    peer, ours = run_all(list(peer_jobs.values()), list(our_jobs.values()))
    return Compared(
        root,
        dict(zip(peer_jobs, peer, strict=True)),
        dict(zip(our_jobs, ours, strict=True)),
        _files(root) - before,
    )


def _files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


# Whole outputs


def _without_outcome_notes(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "outcome class differs: " not in line)


def _parser_raised(text: str) -> str:
    return text.replace(
        "[FAIL] not-json.json: receipt file -- not valid JSON: ",
        "[FAIL] verifier raised -- not-json.json: not a JSON document: ",
    )


EXPECTED: dict[str, tuple[str, Callable[[str], str]]] = {
    # D8: a topology's ladder names another outcome class; peers say nothing.
    "dag-outcome-differs": ("D8", _without_outcome_notes),
    # The peer's verifier stops with its parser's exception; ours has a row, as for a receipt of a run.
    "receipt-not-json": ("no exception where a row will do", _parser_raised),
}
"""Pairs on which ours differs on purpose: the reason, and what turns our output into the peer's."""


@pytest.mark.parametrize(("name", "option"), CASES, ids=lambda value: value)
def test_gestalt_output_is_the_peers_byte_for_byte(compared: Compared, name: str, option: str) -> None:
    peer, ours = compared.peer[name, option], compared.ours[name, option]
    assert peer.raised is None, f"not a case for this test: the peer stopped with {peer.raised}"
    assert ours.raised is None, ours.raised
    out = ours.out
    if name in EXPECTED:
        out = EXPECTED[name][1](out)
    if option.startswith("json") and out != peer.out:
        assert json.loads(out) == json.loads(peer.out)
    assert out == peer.out
    assert ours.exit == peer.exit


def test_scenarios_are_many_and_documented() -> None:
    assert len(SCENARIOS) >= 45
    assert [name for name, scenario in SCENARIOS.items() if not scenario.__doc__] == []


def test_an_interpreter_of_its_own_gives_the_same(compared: Compared) -> None:
    # The other tests run hundreds of commands in one process; this one does not.
    for name, option in (("text-soup", "json"), ("corpus-traced", "text"), ("refused-both", "plain")):
        argv = ("diff", "a", "b", *_options(name)[option], "--algorithm", "gestalt")
        alone = run_alone(Job("stratadiff", argv, compared.root / name))
        assert (alone.exit, alone.out) == (compared.ours[name, option].exit, compared.ours[name, option].out)


# Myers: the same document but for the lines


def _stripped(document: Json) -> Json:
    """Return a document without what depends on which lines were matched."""
    if isinstance(document, list):
        return [_stripped(item) for item in document]
    if not isinstance(document, dict):
        return document
    out = {key: _stripped(value) for key, value in document.items()}
    if "hunks" in out:
        out["hunks"] = bool(out["hunks"])
        truncated = out.pop("truncated", None)
        # Notes of chunk indexes and hits hold the line diffs of chunk texts, indented.
        notes = [note for note in out["notes"] if not note.startswith("  ")]
        out["notes"] = notes if truncated is None else notes[:0]
        out["entries"] = [
            {key: value for key, value in entry.items() if key != "note"} for entry in out.get("entries", ())
        ]
    return out


def _sides(document: Json) -> Iterator[tuple[str, list[str], list[str], int]]:
    """Yield, per output with hunks, its name, its baseline lines, its candidate lines, and its edit count."""
    for node in document.get("nodes", ()):
        for output in node["outputs"]:
            lines = [line for hunk in output["hunks"] for line in hunk["lines"]]
            if "truncated" in output or any("more characters" in line["text"] for line in lines):
                continue  # cut by count, or windows that depend on what a line is paired with
            yield (
                f"{node['node']}/{output['name']}",
                [line["text"] for line in lines if line["op"] != "+"],
                [line["text"] for line in lines if line["op"] != "-"],
                sum(line["op"] != " " for line in lines),
            )


@pytest.mark.parametrize("option", MYERS)
@pytest.mark.parametrize("name", WITH_TEXT)
def test_myers_changes_only_the_choice_of_lines(compared: Compared, name: str, option: str) -> None:
    peer, ours = compared.peer[name, option], compared.ours[name, option]
    assert ours.raised is None, ours.raised
    assert ours.exit == peer.exit
    theirs, our = json.loads(peer.out), json.loads(ours.out)
    assert _stripped(our) == _stripped(theirs)


@pytest.mark.parametrize("name", WITH_TEXT)
def test_myers_shows_both_texts_whole_with_no_more_edits(compared: Compared, name: str) -> None:
    theirs = json.loads(compared.peer[name, "myers-whole"].out)
    ours = json.loads(compared.ours[name, "myers-whole"].out)
    for (where, base, candidate, edits), (where_ours, our_base, our_candidate, our_edits) in zip(
        _sides(theirs), _sides(ours), strict=True
    ):
        assert where_ours == where
        assert our_base == base, where
        assert our_candidate == candidate, where
        assert our_edits <= edits, where


# Report folders (D10: only when asked for)


def test_decision_d10_nothing_is_written_without_out(compared: Compared) -> None:
    assert compared.left_behind == set()


PEERS_OWN = ("checked_sha256", "exit", "notes", "sums_file", "verifier_dir")
"""Members of a verifier call that say which copy of the reference verifier was called, how, and what it gave
before the topology's rows were added."""

REPORTS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "text": ("--text", "--no-color"),
    "follow": ("--follow-corpus",),
}
REPORTED = [
    (name, option)
    for name in SCENARIOS
    for option in REPORTS
    if option != "follow" or name.startswith("corpus")
]


@pytest.fixture(scope="module")
def reports(compared: Compared, tmp_path_factory: pytest.TempPathFactory) -> dict[Key, tuple[Path, Path]]:
    """Let both tools write report folders; return them by pair and option set, the peer's first."""
    root = tmp_path_factory.mktemp("report-folders")
    folders: dict[Key, tuple[Path, Path]] = {}
    peer_jobs, our_jobs = [], []
    for name, option in REPORTED:
        theirs, ours = (root / tool / name / option for tool in ("peer", "ours"))
        folders[name, option] = theirs, ours
        argv = ("diff", "a", "b", "--quiet", *REPORTS[option])
        peer_jobs.append(Job("onetrace", (*argv, "--out", str(theirs)), compared.root / name))
        argv = (*argv, "--algorithm", "gestalt")
        our_jobs.append(Job("stratadiff", (*argv, "--out", str(ours)), compared.root / name))
    run_all(peer_jobs, our_jobs)
    return folders


@pytest.mark.parametrize(("name", "option"), REPORTED)
def test_report_folder_holds_the_peers_files(
    reports: dict[Key, tuple[Path, Path]], name: str, option: str
) -> None:
    theirs, ours = reports[name, option]
    for file in ("diff.json", "diff.txt"):
        expected = (theirs / file).read_text(encoding="utf-8")
        found = (ours / file).read_text(encoding="utf-8")
        if name in EXPECTED and file == "diff.txt":
            found = EXPECTED[name][1](found)
        if name in EXPECTED and file == "diff.json":
            continue
        if file == "diff.json" and found != expected:
            assert json.loads(found) == json.loads(expected)
        assert found == expected
    assert _files(ours) == _files(theirs)
    for path in sorted(theirs.rglob("verifier-*.json")):
        # The verifier's text is its own layout; its rows are in the JSON.
        call = json.loads(path.read_bytes())
        if call.get("raised") is None:
            our_call = json.loads((ours / path.relative_to(theirs)).read_bytes())
            for member in PEERS_OWN:
                call.pop(member, None)
                our_call.pop(member, None)
            assert our_call == call, path.name


# Command lines that are wrong


WRONG: dict[str, tuple[str, ...]] = {
    "options without text": (
        "--stage",
        "x",
        "--all",
        "--context",
        "1",
        "--max-lines",
        "2",
        "--no-color",
        "--json",
    ),
    "no-follow without text": ("--no-follow",),
    "runs-root without text": ("--runs-root", "."),
    "negative context": ("--text", "--context", "-1"),
    "context not a number": ("--text", "--context", "x"),
    "no lines": ("--text", "--max-lines", "0"),
    "lines not a number": ("--text", "--max-lines", "1.5"),
    "follow and no-follow": ("--follow-corpus", "--no-follow"),
    "follow with text": ("--follow-corpus", "--text"),
    "option without value": ("--text", "--stage"),
    "unknown option": ("--nonsense",),
    "third path": ("c",),
}


def test_usage_errors_are_the_peers(compared: Compared) -> None:
    folder = compared.root / "linear-downstream"
    arguments = [("diff", "a", "b", *extra) for extra in WRONG.values()] + [("diff", "a"), ("diff",)]
    peer, ours = run_all(
        [Job("onetrace", argv, folder) for argv in arguments],
        [Job("stratadiff", argv, folder) for argv in arguments],
    )
    for argv, theirs, our in zip(arguments, peer, ours, strict=True):
        assert (theirs.exit, our.exit) == (2, 2), argv
        assert our.out == ""
        assert our.err.rpartition("error: ")[2] == theirs.err.rpartition("error: ")[2], argv


# Decisions: where the peer crashes or compares what nobody checked


class Decided:
    """The answers of both tools on one pair recorded for a decision."""

    def __init__(self, root: Path, *, strict: bool = False) -> None:
        commands = {"json": ("--text", "--json"), "text": ("--text", "--no-color"), "plain": ()}
        argv = {name: ("diff", "a", "b", *extra) for name, extra in commands.items()}
        extra = ("--strict",) if strict else ()
        peer, ours = run_all(
            [
                Job("onetrace", (*line, "--out", str(root / f"out-{name}")), root)
                for name, line in argv.items()
            ],
            [Job("stratadiff", (*line, "--algorithm", "gestalt", *extra), root) for line in argv.values()],
        )
        self.peer = dict(zip(argv, peer, strict=True))
        self.ours = dict(zip(argv, ours, strict=True))
        assert [answer.raised for answer in ours] == [None, None, None]
        assert len({answer.exit for answer in ours}) == 1
        self.exit = ours[0].exit
        self.document: Json = json.loads(self.ours["json"].out)
        assert self.document["exit"] == str(self.exit)

    def peer_crashed(self, option: str = "json") -> bool:
        """Tell whether the peer stopped with an exception."""
        return self.peer[option].raised is not None


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Return a folder with the pair ``linear-downstream``."""
    SCENARIOS["linear-downstream"](tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "content",
    [b"\xff{}", b"{", b"[]", b'"x"', b"[" * 100_000],
    ids=["utf-8", "json", "list", "string", "depth"],
)
def test_decision_d1_an_unreadable_manifest_refuses_the_run(pair: Path, content: bytes) -> None:
    (pair / "b" / "MANIFEST.json").write_bytes(content)
    decided = Decided(pair)
    assert decided.peer_crashed()
    assert (decided.exit, decided.document["envelope"]) == (3, "refused")
    assert "does not verify: b" in decided.ours["plain"].out


@pytest.mark.parametrize(
    "label",
    [None, 7, "other/0.2", "stage-receipt-chain/9.0", "stage-receipt-chain/0.x", "stage-receipt-chain/0."],
)
def test_decision_d2_an_unknown_manifest_format_is_not_compared(pair: Path, label: Json) -> None:
    damage.change(pair / "b", lambda files: files.manifest.__setitem__("format", label), reseal=False)
    decided = Decided(pair)
    assert decided.peer["json"].exit == 1  # compared, although nothing was verified
    assert (decided.exit, decided.document["envelope"]) == (4, "could not check")
    assert "format" in decided.ours["plain"].out


@pytest.mark.parametrize("label", ["stage-receipt/9.0", "stage-receipt/0.x", "stage-receipt/0.0-preview"])
def test_decision_d2_a_receipt_of_unknown_format_is_not_compared(pair: Path, label: str) -> None:
    def edit(files: damage.RunFiles) -> None:
        files.receipts["receipts/03-retrieve.json"]["format"] = label

    damage.change(pair / "b", edit)
    decided = Decided(pair)
    assert decided.peer["json"].exit == 1
    row = next(line for line in decided.ours["plain"].out.splitlines() if line.startswith("retrieve "))
    assert "COULD NOT CHECK" in row
    assert "is not implemented" in row


@pytest.mark.parametrize("member", ["assertions", "inputs", "outputs"])
@pytest.mark.parametrize("value", [None, "", {}, []], ids=repr)
def test_decision_d3_d4_odd_empty_shapes_verify_and_read_as_empty(
    pair: Path, member: str, value: Json
) -> None:
    if member != "assertions" and value is None:
        pytest.skip("null fails verification for both tools")

    def edit(files: damage.RunFiles) -> None:
        files.receipts["receipts/02-split.json"][member] = value

    for side in "ab":
        damage.change(pair / side, edit)
    decided = Decided(pair)
    assert decided.exit == 1
    assert decided.document["nodes"][0]["node"] == "retrieve"


@pytest.mark.parametrize(
    "file", ["../moved.json", "receipts/../../moved.json", "{root}/moved.json", "C:\\moved.json"]
)
def test_decision_d5_a_chain_file_outside_the_run_refuses_it(pair: Path, file: str) -> None:
    file = file.format(root=pair)
    (pair / "b" / "receipts" / "04-answer.json").rename(pair / "moved.json")
    damage_file = pair / "b" / "MANIFEST.json"
    manifest = json.loads(damage_file.read_bytes())
    manifest["chain"][3]["file"] = file
    damage_file.write_bytes(damage.canonical(manifest))
    decided = Decided(pair)
    assert (decided.exit, decided.document["envelope"]) == (3, "refused")
    assert "receipt file" in decided.ours["plain"].out


def test_decision_d5_strict_refuses_what_lies_outside_by_a_link(compared: Compared, tmp_path: Path) -> None:
    shutil.copytree(compared.root / "inputs", tmp_path / "in", symlinks=True)
    (tmp_path / "in" / "b").rename(tmp_path / "in" / "kept")
    (tmp_path / "in" / "artifact-outside").rename(tmp_path / "in" / "b")
    assert Decided(tmp_path / "in").exit == 1
    assert Decided(tmp_path / "in", strict=True).exit == 3


def test_decision_d7_a_baseline_with_fewer_receipts_than_stages(tmp_path: Path) -> None:
    names = ["one", "two", "three"]
    record(tmp_path / "a", [Step("one", {"o.txt": "1\n"})], declared=names)
    record(tmp_path / "b", [Step(name, {"o.txt": f"{name}\n"}) for name in names], declared=names)
    decided = Decided(tmp_path)
    assert decided.peer_crashed("json")
    assert decided.peer_crashed("text")
    assert decided.ours["plain"].out == decided.peer["plain"].out
    assert [node["node"] for node in decided.document["nodes"]] == ["one"]


@pytest.mark.parametrize("value", [7, ["x"], {"a": "b"}, "\ud800", None], ids=repr)
def test_decision_d11_a_run_id_no_report_can_carry_reads_as_absent(pair: Path, value: Json) -> None:
    damage.change(pair / "b", lambda files: files.manifest.__setitem__("run_id", value), reseal=False)
    decided = Decided(pair)
    assert (decided.exit, decided.document["envelope"]) == (1, "diverged")
    assert "(no run id)" in decided.ours["plain"].out


@pytest.mark.parametrize(
    "boundary", [7, "load", {"name": 7, "kind": "k"}, {"name": "load", "kind": 1.5}], ids=repr
)
def test_decision_d11_odd_boundaries_do_not_crash(pair: Path, boundary: Json) -> None:
    damage.change(
        pair / "b", lambda files: files.manifest.__setitem__("boundaries", [boundary]), reseal=False
    )
    assert Decided(pair).exit in {1, 4}


def test_decision_d12_summaries_are_named_not_read(pair: Path) -> None:
    shutil.rmtree(pair / "b")
    (pair / "b").mkdir()
    (pair / "b" / "SUMMARY.json").write_text("{}")
    decided = Decided(pair)
    assert (decided.exit, decided.document["envelope"]) == (4, "could not check")
    assert "summary" in decided.ours["plain"].out


def _one_output(root: Path, name: str, a: str, b: str) -> None:
    for folder, content in (("a", a), ("b", b)):
        record(root / folder, [Step("answer", {name: content})])


@pytest.mark.parametrize("depth", [400, 512])
def test_json_nested_deeper_than_the_peer_can_is_shown_as_json(tmp_path: Path, depth: int) -> None:
    _one_output(tmp_path, "o.json", "[" * depth + "1" + "]" * depth, "[" * depth + "2" + "]" * depth)
    decided = Decided(tmp_path)
    assert decided.peer_crashed()
    [output] = decided.document["nodes"][0]["outputs"]
    assert output["kind"] == "text"
    assert output["hunks"][0]["baseline"]["start"] == str(depth + 1 - 3)


@pytest.mark.parametrize("rank", ["²", "1" * 5000], ids=["digit, not decimal", "5,000 digits"])
def test_hit_ranks_the_peer_cannot_read_are_positions(tmp_path: Path, rank: str) -> None:
    _one_output(
        tmp_path,
        "h.json",
        compact({"hits": [hit("x"), hit("y") | {"rank": rank}]}),
        compact({"hits": [hit("x"), hit("y", rank=3)]}),
    )
    decided = Decided(tmp_path)
    assert decided.peer_crashed()
    [output] = decided.document["nodes"][0]["outputs"]
    assert output["notes"][1] == "~ hit y #2 -> #3"


def test_chunk_names_with_a_lone_surrogate_are_shown_as_plain_json(tmp_path: Path) -> None:
    sides = [json.dumps({"chunks": [chunk("\ud800", text)]}) for text in ("one", "two")]
    _one_output(tmp_path, "c.json", *sides)
    decided = Decided(tmp_path)
    assert decided.peer_crashed()
    [output] = decided.document["nodes"][0]["outputs"]
    assert (output["kind"], "entries" in output) == ("text", False)
