"""Comparison bundles verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from measure import Case

GROUPS = ("bundle verify",)


def test_case(case: Case, contender: str, measure_contender: Callable[[Case, str], None]) -> None:
    """Measure one contender of one case."""
    measure_contender(case, contender)
