"""Cases of whole commands: start-up, ``diff A B --text --json`` by size, and its peak memory.

Commands are those beside the Python that runs this file; measure a regular installation, because an
editable one puts import hooks into every start.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import workloads
from measure import OURS, Built, Case, Command, PeakMemory, Target, output_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HASH_ALL = """
import hashlib, os, sys
for root in sys.argv[1:]:
    for folder, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(folder, name), "rb", buffering=0) as file:
                hashlib.sha256(file.read()).hexdigest()
"""
PASS = (sys.executable, "-c", "pass")
"""The floor of every start: the interpreter alone."""


def is_editable() -> bool:
    """Return whether stratadiff is installed in editable mode, which slows its start."""
    try:
        origin = importlib.metadata.distribution("stratadiff").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return False
    return bool(origin and json.loads(origin).get("dir_info", {}).get("editable"))


def tool(name: str) -> str | None:
    """Return the path of a command beside this interpreter, or None."""
    path = os.path.join(os.path.dirname(sys.executable), name)
    return path if os.access(path, os.X_OK) else None


def our_command() -> str:
    """Return the path of our command beside this interpreter."""
    path = tool("stratadiff")
    if path is None:
        raise SystemExit("no stratadiff command beside this Python: install the package first")
    return path


def _folder_bytes(root: str) -> int:
    return sum(
        os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(root) for name in names
    )


def _pair(folder: str, shape: str) -> tuple[str, str]:
    root = os.path.join(folder, shape.replace(" ", "-"))
    if os.path.isdir(root):
        return os.path.join(root, "a"), os.path.join(root, "b")
    return workloads.write_run_pair(root, shape)


def _shown(document: dict[str, Any]) -> tuple[int, int]:
    # Changed lines shown, and outputs with any.
    lines = outputs = 0
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("hunks"), list):
                here = sum(line["op"] != " " for hunk in value["hunks"] for line in hunk["lines"])
                lines += here
                outputs += here > 0
            else:
                waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return lines, outputs


def _check_documents(a: str, b: str) -> Mapping[str, str]:
    flags = ("--text", "--json")
    code, ours = output_of((our_command(), "diff", a, b, *flags))
    document = json.loads(ours)
    assert code == 1 and document["envelope"] == "diverged", "our command does not see the difference"
    notes = {}
    lines, outputs = _shown(document)
    assert outputs, "our command shows nothing"
    notes[OURS] = f"[{lines} lines of {outputs} outputs]"
    peer = tool("onetrace")
    if peer is not None:
        peer_code, theirs = output_of((peer, "diff", a, b, *flags))
        peer_document = json.loads(theirs)
        assert peer_code == code, "the exit codes differ"
        for member in ("format", "envelope", "first_line"):
            assert peer_document[member] == document[member], f"the documents differ in {member}"
        peer_lines, peer_outputs = _shown(peer_document)
        assert peer_outputs == outputs, "another number of outputs is shown"
        _, alike = output_of((our_command(), "diff", a, b, *flags, "--algorithm", "gestalt"))
        same = "gestalt equal" if alike == theirs else "gestalt DIFFERS"
        notes["onetrace"] = f"[{peer_lines} lines of {peer_outputs} outputs; {same}]"
    return notes


def _diff_case(shape: str) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        a, b = _pair(folder, shape)
        arguments = ("diff", a, b, "--text", "--json")
        peer = tool("onetrace")
        contenders = {
            OURS: Command(our_command(), *arguments),
            "gestalt": Command(our_command(), *arguments, "--algorithm", "gestalt"),
            "python -c pass": Command(*PASS),
            "SHA-256 process": Command(sys.executable, "-c", _HASH_ALL, a, b),
            "onetrace": Command(peer, *arguments) if peer else None,
        }
        return Built(contenders, lambda: _check_documents(a, b), _folder_bytes(a) + _folder_bytes(b))

    return build


def _start_case(*arguments: str) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        peer = tool("onetrace")

        def check() -> Mapping[str, str]:
            code, out = output_of((our_command(), *arguments))
            assert code == 0 and out, "our command says nothing"
            return {}

        contenders = {
            OURS: Command(our_command(), *arguments),
            "python -c pass": Command(*PASS),
            "python -c import": Command(sys.executable, "-c", "import stratadiff"),
            "onetrace --help": Command(peer, "--help") if peer else None,
        }
        return Built(contenders, check)

    return build


def _verify_case(shape: str) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        a, _ = _pair(folder, shape)
        peer = tool("onetrace-verify")

        def check() -> Mapping[str, str]:
            code, _ = output_of((our_command(), "verify", a))
            assert code == 0, "our command refuses the run"
            if peer:
                assert output_of((peer, a))[0] == 0, "the published verifier refuses the run"
            return {}

        contenders = {
            OURS: Command(our_command(), "verify", a),
            "python -c pass": Command(*PASS),
            "SHA-256 process": Command(sys.executable, "-c", _HASH_ALL, a),
            "onetrace-verify": Command(peer, a) if peer else None,
        }
        return Built(contenders, check, _folder_bytes(a))

    return build


def _memory_case(shape: str) -> Callable[[str], Built]:
    def build(folder: str) -> Built:
        a, b = _pair(folder, shape)
        arguments = ("diff", a, b, "--text", "--json")
        peer = tool("onetrace")
        contenders = {
            OURS: PeakMemory(our_command(), *arguments),
            "python -c pass": PeakMemory(*PASS),
            "SHA-256 process": PeakMemory(sys.executable, "-c", _HASH_ALL, a, b),
            "onetrace": PeakMemory(peer, *arguments) if peer else None,
        }
        return Built(contenders, lambda: _check_documents(a, b), _folder_bytes(a) + _folder_bytes(b))

    return build


def _memory_bound(shape: str) -> Target:
    # Twice the largest pair of outputs and 20 MB; an output ends with the line that reaches its size.
    return Target("below", 2 * 2 * workloads.RUN_SHAPES[shape].output_bytes / 1e6 + 20)


_FLOOR = Target("at most", 2.5, "SHA-256 process")
_PEER = Target("faster", 8, "onetrace")

CASES: list[Case] = [
    Case("start-up", "--version", _start_case("--version"), quick=True),
    Case("start-up", "--help", _start_case("--help")),
    Case(
        "diff",
        "5x10KB",
        _diff_case("5x10KB"),
        (Target("at most", 3.5, "python -c pass"), Target("faster", 4, "onetrace")),
        quick=True,
    ),
    Case("diff", "200x10KB", _diff_case("200x10KB")),
    Case("diff", "50x100KB", _diff_case("50x100KB")),
    Case("diff", "200x100KB", _diff_case("200x100KB"), (_FLOOR, _PEER)),
    Case("diff", "5x4MB", _diff_case("5x4MB"), (_FLOOR, _PEER), quick=True),
    Case("diff", "5x1MB JSON", _diff_case("5x1MB JSON")),
    Case("verify", "5x10KB", _verify_case("5x10KB")),
    Case("verify", "200x100KB", _verify_case("200x100KB")),
    *(
        Case("memory", shape, _memory_case(shape), targets, quick=bool(targets))
        for shape, targets in (
            ("5x10KB", ()),
            ("200x100KB", ()),
            ("5x4MB", (_memory_bound("5x4MB"),)),
            ("5x1MB JSON", ()),
        )
    ),
]
"""Every case of this file."""

CONTENDERS: dict[str, tuple[str, ...]] = {
    "start-up": (OURS, "python -c pass", "python -c import", "onetrace --help"),
    "diff": (OURS, "gestalt", "python -c pass", "SHA-256 process", "onetrace"),
    "verify": (OURS, "python -c pass", "SHA-256 process", "onetrace-verify"),
    "memory": (OURS, "python -c pass", "SHA-256 process", "onetrace"),
}
"""Who takes part in a group."""
