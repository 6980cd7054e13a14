"""Slugs and names of Markdown files."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stratadiff.bundles.names import accepted_names, report_name, slug_of


@pytest.mark.parametrize(
    ("profile_id", "slug"),
    [
        ("fast", "fast"),
        ("Fast_2-b", "Fast_2-b"),
        ("a b", "a-b"),
        ("a  /\t b", "a-b"),
        ("a-/b", "a--b"),
        ("a/-b", "a--b"),
        ("--a__", "a"),
        (" -a", "a"),
        ("_-_", "profile"),
        ("", "profile"),
        ("…", "profile"),
        ("Größe", "Gr-e"),  # one run of two characters
        ("a\u0301", "a"),
        ("1", "1"),
        ("\u0661", "profile"),
        ("😀a😀b😀", "a-b"),
        ("../../etc", "etc"),
        ("a\0b", "a-b"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "x" * 64),
        ("x" * 63 + "-y", "x" * 63 + "-"),  # no second strip after the cut
        ("x" * 63 + "/y", "x" * 63 + "-"),
        ("-" * 100 + "y", "y"),
        ("con", "con"),
    ],
)
def test_slugs(profile_id: str, slug: str) -> None:
    assert slug_of(profile_id) == slug


@given(st.text(max_size=90) | st.text("ab-_/ é", max_size=90))
def test_a_slug_by_regular_expressions(profile_id: str) -> None:
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", profile_id).strip("-_")[:64] or "profile"
    assert slug_of(profile_id) == slug


@pytest.mark.parametrize(
    ("position", "total", "names"),
    [
        (1, 2, ("01-p.md",)),
        (10, 99, ("10-p.md",)),
        (1, 100, ("001-p.md", "01-p.md")),
        (99, 100, ("099-p.md", "99-p.md")),
        (100, 100, ("100-p.md",)),
        (7, 1000, ("0007-p.md", "07-p.md")),
        (123, 1000, ("0123-p.md", "123-p.md")),
    ],
)
def test_positions(position: int, total: int, names: tuple[str, ...]) -> None:
    assert accepted_names(position, total, "p") == names
    assert report_name(position, total, "p") == names[0]
