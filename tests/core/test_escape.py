"""Text of traces on its way to a terminal *(levels §7)*."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import trace_text
from stratadiff.core.escape import escape_terminal

TEXTS = {
    "plain": ("tool `x`: R('a\\n') → b", "tool `x`: R('a\\n') → b"),
    "title and bell": ("\x1b]0;T\x07", "\\x1b]0;T\\x07"),
    "line ends": ("a\r\nb\tc", "a\\x0d\\x0ab\\x09c"),
    "C1": ("\x9b2J\x85", "\\x9b2J\\x85"),
    "soft hyphen": ("a\xadb", "a\\xadb"),
    "direction": ("a\u202eb\u2066", "a\\u202eb\\u2066"),
    "separators": ("a\u2028b\u2029", "a\\u2028b\\u2029"),
    "joiners stay": ("👩\u200d👩\u200d👧 \u200c", "👩\u200d👩\u200d👧 \u200c"),
    "zero-width space": ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
    "above the plane": ("\U000e0001", "\\udb40\\udc01"),
    "letters and blanks": ("∀ → λ é 漢\u00a0\u3000\ue000", "∀ → λ é 漢\u00a0\u3000\ue000"),
    "backslash": ("\\ \\x1b", "\\ \\x1b"),
    "half a pair": ("\ud800\x00", "\ud800\\x00"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_escaped(name: str) -> None:
    text, shown = TEXTS[name]
    assert escape_terminal(text) == shown


@given(
    st.text(st.characters(categories=None))
    | st.text("\x00\x1b\x7f\x80\xad\u200b\u200c\u2028\ufeff\\aé\U000e0001")
)
def test_as_the_reference_does(text: str) -> None:
    assert escape_terminal(text) == trace_text.escape(text)
    assert escape_terminal(escape_terminal(text)) == escape_terminal(text)


def test_unicode_tables_are_loaded_only_for_what_needs_them() -> None:
    program = (
        "import sys; from stratadiff.core.escape import escape_terminal as e\n"
        "e('tool → «x»'); e('\\x1b[2J'); print('unicodedata' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
