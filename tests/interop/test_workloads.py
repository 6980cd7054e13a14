"""The generated run folders of the benchmarks are runs to the published tools, and differ in every stage."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from interop.peers import Job, run_all

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def workloads() -> ModuleType:
    """Load benchmarks/workloads.py, which belongs to no package."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "workloads.py"
    spec = importlib.util.spec_from_file_location("workloads", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
