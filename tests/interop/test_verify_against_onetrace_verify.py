"""``stratadiff verify`` and ``onetrace-verify`` on the same runs: exit codes and every row, in order.

The runs are both sides of every scenario and a few hundred randomly damaged copies of intact ones: members
deleted, retyped, replaced, repeated and swapped in manifests and receipts, with and without making the chain
fit again; bytes flipped, files cut, emptied, swapped, removed. The damaged runs also go through both
``diff``.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from interop import damage
from interop.peers import Answer, Job, run_all
from interop.scenarios import SCENARIOS

pytestmark = pytest.mark.interop

Json = Any

DAMAGED = 400
INTACT = (
    "linear-downstream",
    "settings-changed",
    "gap",
    "boundary-after-difference",
    "dag-branches-differ",
    "dag-loop",
    "corpus-inclusion-proof",
    "outputs-kept-none",
    "outcome-error",
    "chunks-with-text",
)
"""Scenarios whose sides are damaged, in turn."""

HOST_ERRORS = re.compile(r"not valid (JSON|UTF-8)|could not be checked|surrogates not allowed|cannot be read")
"""Details that quote an error of the host language: their words are not part of the contract."""


class Verified:
    """Both tools' answers on every run, by name, and what was done to the damaged ones."""

    def __init__(
        self, peer: dict[str, Answer], ours: dict[str, Answer], root: Path, done: dict[str, str]
    ) -> None:
        self.peer = peer
        self.ours = ours
        self.root = root
        self.done = done


WHOLE = [f"{name}/{side}" for name in SCENARIOS for side in "ab"]
BROKEN = [f"damaged-{seed:03d}" for seed in range(DAMAGED)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Record every scenario, damage copies, and return the root and what was done to each copy."""
    root = tmp_path_factory.mktemp("runs")
    for name, scenario in SCENARIOS.items():
        scenario(root / name)
    done = {}
    for seed, name in enumerate(BROKEN):
        source = root / INTACT[seed % len(INTACT)] / "ab"[seed // len(INTACT) % 2]
        shutil.copytree(source, root / name)
        done[name] = f"{source.relative_to(root)}: {damage.damage_at_random(root / name, seed)}"
    return root, done


@pytest.fixture(scope="module")
def verified(runs: tuple[Path, dict[str, str]]) -> Verified:
    """Let both tools verify every run."""
    root, done = runs
    names = [*WHOLE, *BROKEN]
    peer, ours = run_all(
        [Job("onetrace-verify", ("--json", name), root) for name in names],
        [Job("stratadiff", ("verify", "--json", name), root) for name in names],
    )
    return Verified(dict(zip(names, peer, strict=True)), dict(zip(names, ours, strict=True)), root, done)


def _rows(answer: Answer) -> list[tuple[str, str, str]]:
    """Return result, name and detail of every row; a detail that quotes the host is left out."""
    document = json.loads(answer.out)
    [run] = document.get("runs", [document])  # ours takes several runs
    return [
        (row["result"], row["name"], "…" if HOST_ERRORS.search(row["detail"]) else row["detail"])
        for row in run["rows"]
    ]


def _outside(run: Path) -> bool:
    """Tell whether a chain file leaves the run by its name (D5: refused by ours, read by the peer)."""
    try:
        chain = json.loads((run / "MANIFEST.json").read_bytes())["chain"]
        files = [entry["file"] for entry in chain if isinstance(entry, dict) and "file" in entry]
    except (ValueError, TypeError, KeyError):
        return False
    return any(isinstance(file, str) and re.match(r"[A-Za-z]:|/|.*\\|.*\.\.(/|$)", file) for file in files)


@pytest.mark.parametrize("name", [*WHOLE, *BROKEN])
def test_rows_and_exit_are_the_peers(verified: Verified, name: str) -> None:
    peer, ours = verified.peer[name], verified.ours[name]
    what = verified.done.get(name, "")
    assert ours.raised is None, f"{what}: {ours.raised}"
    if _outside(verified.root / name):
        pytest.skip("D5: the peer reads a receipt outside the run")
    assert ours.exit == peer.exit, what
    if peer.raised is not None:  # the peer stopped with a traceback: no rows to compare
        return
    assert _rows(ours) == _rows(peer), what


def test_damage_is_of_every_sort(verified: Verified) -> None:
    """Guard the generator: most copies fail, some do not, some make the peer crash or refuse."""
    exits = [verified.peer[name].exit for name in BROKEN]
    assert exits.count(1) > DAMAGED // 2
    assert exits.count(0) > DAMAGED // 50
    assert exits.count(2) > 0
    assert any(verified.peer[name].raised for name in BROKEN)
    assert len({row for name in BROKEN for row in _failed(verified.peer[name])}) > 25


def _failed(answer: Answer) -> set[str]:
    """Return the names of the failing rows without what stands before the first ``: ``."""
    if answer.raised is not None:
        return set()
    return {name.partition(": ")[2] for result, name, _ in _rows(answer) if result == "FAIL"}


# The same damage through diff


@pytest.fixture(scope="module")
def compared(
    runs: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Answer, ...]]:
    """Let both tools compare every damaged run with the run it was copied from; document and plain text."""
    root, done = runs
    reports = tmp_path_factory.mktemp("reports")
    peer: list[Job] = []
    ours: list[Job] = []
    for name in BROKEN:
        source = done[name].partition(":")[0]
        for extra in (("--text", "--json"), ("--text", "--all")):
            argv = ("diff", source, name, *extra)
            peer.append(Job("onetrace", (*argv, "--out", str(reports / f"{len(peer)}")), root))
            ours.append(Job("stratadiff", (*argv, "--algorithm", "gestalt"), root))
    answers = [iter(batch) for batch in run_all(peer, ours)]
    return {name: tuple(next(batch) for batch in answers for _ in range(2)) for name in BROKEN}


def _plain(answer: Answer) -> str:
    """Return plain output without the words of an exception (the host's) and the notes of D8."""
    out = re.sub(r"(verifier raised -- \w+: ).*", r"\1…", answer.out)
    return re.sub(r"^ *outcome class differs: .*\n", "", out, flags=re.MULTILINE)


def _unchecked(run: Path) -> bool:
    """Tell whether a format of the run is not implemented (D2: never compared by ours)."""
    manifest = _format(run / "MANIFEST.json")
    if manifest is None or not re.fullmatch(r"stage-receipt-chain/0+\.([0-9]+|0-preview)", manifest):
        return True
    receipts = [_format(path) for path in (run / "receipts").glob("*.json")]
    # Without a label of this form a receipt fails, for both tools.
    return any(
        label
        and re.fullmatch(r"stage-receipt/[0-9]+\..+(?<!\n)", label)
        and not re.fullmatch(r".*/0+\.[0-9]+", label)
        for label in receipts
    )


def _format(path: Path) -> str | None:
    try:
        label = json.loads(path.read_bytes())["format"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return label if isinstance(label, str) else None


@pytest.mark.parametrize("name", BROKEN)
def test_diff_of_damaged_runs_is_the_peers(
    compared: dict[str, tuple[Answer, ...]], verified: Verified, name: str
) -> None:
    peer_json, peer_text, our_json, our_text = compared[name]
    what = verified.done[name]
    run = verified.root / name
    assert (our_json.raised, our_text.raised) == (None, None), what
    assert our_json.exit in {0, 1, 2, 3, 4}, what
    assert our_text.exit == our_json.exit
    document = json.loads(our_json.out)
    assert document["exit"] == str(our_json.exit)
    if peer_json.raised or peer_text.raised:  # D1, D3, D4, D7, D11: the peer stops, ours answers
        return
    if _outside(run) or _unchecked(run):  # D2, D5: the peer compares what nobody checked
        assert our_json.exit in {1, 3, 4}, what
        return
    assert our_json.exit == peer_json.exit, what
    assert document == json.loads(peer_json.out), what
    assert our_json.out == peer_json.out, what
    if not HOST_ERRORS.search(peer_text.out):
        assert _plain(our_text) == _plain(peer_text), what
