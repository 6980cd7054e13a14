"""Collects ``bench_*.py`` and hands their cases out: one test per contender, one group per case.

Run with ``pytest benchmarks --benchmark-enable``. Rounds are not interleaved here (compare.py does that);
this is the place for pytest-benchmark's own tools: ``--benchmark-autosave``, ``--benchmark-compare``.
"""

from __future__ import annotations

import functools
import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import bundle_cases
import command_cases
import kernel_cases
import line_cases
import trace_cases
from measure import Built, Case, Timed, limit_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

limit_threads()
MODULES = (line_cases, kernel_cases, command_cases, trace_cases, bundle_cases)
CONTENDERS = {group: names for module in MODULES for group, names in module.CONTENDERS.items()}
COMMAND_GROUPS = (*command_cases.CONTENDERS, *trace_cases.COMMAND_GROUPS)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collect ``bench_*.py`` of this folder; one named on the command line is collected by pytest itself."""
    if file_path.name.startswith("bench_") and file_path.suffix == ".py":
        if parent.session.isinitpath(file_path):
            return None
        return pytest.Module.from_parent(parent, path=file_path)
    return None


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Built]:
    """Make a case's input and check it, and keep the latest."""
    folder = str(tmp_path_factory.mktemp("cases"))

    @functools.lru_cache(maxsize=1)
    def build(case: Case) -> Built:
        made = case.build(folder)
        made.check()
        return made

    return build


def children_seconds() -> float:
    """Return the CPU seconds of all children that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.fixture
def measure_contender(benchmark: Any, built: Callable[[Case], Built]) -> Callable[[Case, str], None]:
    """Run one contender of a case under pytest-benchmark."""

    def run(case: Case, name: str) -> None:
        made = built(case)
        unknown = set(made.contenders) - set(CONTENDERS[case.group])
        assert not unknown, f"list {unknown} in CONTENDERS"
        if name not in made.contenders:
            pytest.skip("takes no part in this case")
        contender = made.contenders[name]
        if contender is None:
            pytest.skip("not installed")
        if contender.cpu_limit is not None:
            pytest.skip("may take minutes; compare.py runs it under a limit")
        if isinstance(contender, Timed):
            benchmark(contender.call)
        else:
            benchmark.pedantic(contender.sample, rounds=5, warmup_rounds=1)

    return run


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise ``case`` and ``contender`` with every pair of the groups in a module's ``GROUPS``."""
    if "contender" not in metafunc.fixturenames:
        return
    pairs = []
    for case in (case for module in MODULES for case in module.CASES):
        if case.group not in metafunc.module.GROUPS:
            continue
        in_process = case.group not in COMMAND_GROUPS
        mark = pytest.mark.benchmark(
            group=f"{case.group}: {case.name}",
            timer=time.process_time if in_process else children_seconds,
            min_rounds=5,
            max_time=0.2,
            disable_gc=True,
        )
        pairs += [
            pytest.param(case, name, id=f"{case.group}-{case.name}-{name}", marks=mark)
            for name in CONTENDERS[case.group]
        ]
    metafunc.parametrize(("case", "contender"), pairs)
