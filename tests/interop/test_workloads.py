"""The generated runs and traces of the benchmarks are runs and traces to the published tools."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

import stratadiff
from interop import shadow_peer
from interop.peers import Job, run_all

pytestmark = pytest.mark.interop


BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def workloads(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load benchmarks/workloads.py, which belongs to no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("workloads")


@pytest.fixture
def trace_workloads(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load benchmarks/trace_workloads.py."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("trace_workloads")


@pytest.mark.parametrize("shape", ["5x10KB", "50x100KB"])
def test_generated_runs_verify_and_differ_in_every_stage(
    workloads: ModuleType, tmp_path: Path, shape: str
) -> None:
    workloads.write_run_pair(tmp_path, shape)
    verified, [compared] = run_all(
        [Job("onetrace-verify", ("--json", side), tmp_path) for side in "ab"],
        [Job("onetrace", ("diff", "a", "b", "--text", "--json", "--out", "report"), tmp_path)],
    )
    assert [answer.exit for answer in verified] == [0, 0]
    assert compared.exit == 1
    nodes = json.loads(compared.out)["nodes"]
    assert len(nodes) == workloads.RUN_SHAPES[shape].stages
    assert all(output["hunks"] for node in nodes for output in node["outputs"])


def test_generated_runs_are_the_same_every_time(workloads: ModuleType, tmp_path: Path) -> None:
    for name in ("one", "two"):
        workloads.write_run(tmp_path / name, 3, 2_000, seed=5, edit_rate=0.1)
    files = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    ]
    assert files[0] == files[1]


def test_generated_traces_are_traces_with_true_ids(trace_workloads: ModuleType, tmp_path: Path) -> None:
    paths = trace_workloads.write_trace_pair(tmp_path, 40, session_turns=15)
    parsed, policy = shadow_peer.ask(
        [
            {"call": "parse", "paths": list(paths)},
            {
                "call": "policy",
                "baseline": paths[0],
                "candidate": paths[1],
                "rules": trace_workloads.POLICY["rules"],
            },
        ]
    )
    for path, one in zip(paths, shadow_peer.value(parsed), strict=True):
        assert [record["kind"] for record in shadow_peer.value(one)].count("chat_response") == 40
        assert not stratadiff.verify_trace(path).breaches
    assert shadow_peer.value(policy)["regressions"]
