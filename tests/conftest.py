"""Settings shared by all tests: how many examples hypothesis tries, and that each run tries the same ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Generating a few thousand characters is slow in hypothesis and wanted here.
SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

for name, examples in (("ci", 500), ("dev", 200)):
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=True,
        suppress_health_check=SLOW_IS_FINE,
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))
