"""Every run pair of the folder by name; each is recorded as folders ``a`` and ``b`` of its own folder."""

from __future__ import annotations

from interop import scenarios_outputs, scenarios_runs

SCENARIOS = scenarios_outputs.SCENARIOS | scenarios_runs.SCENARIOS
