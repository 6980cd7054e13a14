"""``stratadiff demo``: the bundled runs, never over somebody else's files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stratadiff
from cli.command import run

SOURCE = Path(stratadiff.demo_runs()[0]).parent
SCRIPTS = Path(__file__).parents[1] / "data" / "demo"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_bundled_runs_are_what_the_script_writes(tmp_path: Path) -> None:
    for name in ("make_demo.py", "make_demo_traces.py"):
        subprocess.run([sys.executable, str(SCRIPTS / name), str(tmp_path / "demo")], check=True)
    assert contents(tmp_path / "demo") == contents(SOURCE)


def test_every_bundled_run_verifies() -> None:
    folders = sorted(path for path in SOURCE.iterdir() if path.is_dir() and path.name != "agent")
    assert [folder.name for folder in folders] == ["ingest-monday", "ingest-tuesday", "monday", "tuesday"]
    for folder in folders:
        assert stratadiff.verify(folder, strict=True).verifies, stratadiff.verify(
            folder, strict=True
        ).failed_rows


def test_demo_writes_compares_and_names_the_next_commands(tmp_path: Path) -> None:
    answer = run(["demo"], tmp_path)
    assert (answer.code, answer.error) == (0, "")
    assert contents(tmp_path / "stratadiff-demo") == contents(SOURCE)
    text = answer.output.decode()
    diff = run(
        ["diff", "stratadiff-demo/monday", "stratadiff-demo/tuesday", "--text"], tmp_path
    ).output.decode()
    assert diff in text
    traces = ["stratadiff-demo/agent/monday.agentlog", "stratadiff-demo/agent/tuesday.agentlog"]
    shown = run(["diff", *traces, "--align", "--policy", "stratadiff-demo/agent/policy.yaml"], tmp_path)
    assert shown.output.decode() in text
    lines = text[text.index("What to try next") :].splitlines()
    assert sum(line.startswith("  stratadiff ") for line in lines) == 9
    for line in lines:
        if line.startswith("  stratadiff "):
            argv = line.partition("#")[0].split()[1:]
            assert run(argv, tmp_path).code in (0, 1), line


def test_demo_shows_what_the_tool_can_do() -> None:
    document = stratadiff.diff(*stratadiff.demo_runs()).document().to_dict()
    assert [node["verdict"] for node in document["nodes"]] == [
        "FIRST DIFFERENCE",
        "downstream",
        "reconverged",
    ]
    kinds = {output["kind"] for node in document["nodes"] for output in node["outputs"]}
    [trace] = document["corpus_traces"]
    kinds |= {output["kind"] for node in trace["nodes"] for output in node["outputs"]}
    assert kinds == {"hits", "text", "chunk index"}
    assert trace["documents"] == {
        "changed": "2",
        "names": ["help/repairs.md", "help/warranty.md"],
        "total": "4",
    }


def test_the_traces_show_what_the_tool_can_do() -> None:
    baseline, candidate = stratadiff.demo_traces()
    for path in (baseline, candidate):
        assert stratadiff.verify(path).verifies
    policy, pricing = (Path(baseline).parent / name for name in ("policy.yaml", "pricing.json"))
    found = stratadiff.compare_traces(
        baseline, candidate, levels=stratadiff.LEVELS, rules=policy, pricing=pricing, align=True
    )
    report = found.comparison
    assert found.warnings == ()
    assert report.extras["unpaired"] == {"baseline": 1, "candidate": 1}
    assert "inserted an extra turn with 1 tool call" in report.first_divergence.explanation
    rows = {row.axis: row for row in report.rows}
    assert rows["cost"].baseline_median > 0
    assert [violation.rule_id for violation in report.policy_diff.regressions] == [
        "verify-before-migrate",
        "no-addresses",
    ]
    assert report.policy_diff.fixes == []
    kinds = {change["kind"] for pair in found.report().to_dict()["spans"] for change in pair["changes"]}
    assert kinds == {"text_block_changed", "tool_use_args_changed"}


def test_demo_again_is_fine(tmp_path: Path) -> None:
    first = run(["demo", "here"], tmp_path)
    assert run(["demo", "here"], tmp_path) == first
    (tmp_path / "empty").mkdir()
    assert run(["demo", "empty"], tmp_path).code == 0


@pytest.mark.parametrize("change", ["another file", "changed file", "missing file", "foreign folder", "file"])
def test_demo_never_writes_over_anything(tmp_path: Path, change: str) -> None:
    place = tmp_path / "here"
    if change in ("foreign folder", "file"):
        if change == "file":
            place.write_bytes(b"mine")
        else:
            place.mkdir()
            (place / "mine").write_bytes(b"mine")
    else:
        run(["demo", "here"], tmp_path)
        if change == "another file":
            (place / "mine").write_bytes(b"mine")
        elif change == "changed file":
            (place / "monday" / "MANIFEST.json").write_bytes(b"mine")
        else:
            (place / "monday" / "MANIFEST.json").unlink()
    before = contents(tmp_path)
    answer = run(["demo", "here"], tmp_path)
    assert (answer.code, answer.output) == (74, b"")
    message = "exists and is not an unchanged stratadiff demo; name another folder: stratadiff demo DIR"
    assert answer.error == f"stratadiff: here: {message}\n"
    assert contents(tmp_path) == before


def test_demo_names_folders_as_a_shell_takes_them(tmp_path: Path) -> None:
    text = run(["demo", "it's here"], tmp_path).output.decode()
    assert "  stratadiff verify 'it'\\''s here/monday'" in text
