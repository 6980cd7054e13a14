"""JSON outputs as lines: what counts as not parsing."""

from __future__ import annotations

import stratadiff
from stratadiff._kernels import json_scan
from stratadiff.core.jsontext import canonical_lines
from stratadiff.limits import MAX_JSON_LINES_BYTES


def test_the_size_of_the_lines_is_known_before_they_are_made() -> None:
    status, _, lines = json_scan.pretty(b'{"b":[1,2],"a":{}}')
    assert (status, lines) == (0, b'{\n  "a": {},\n  "b": [\n    1,\n    2\n  ]\n}\n')
    assert lines is not None
    assert json_scan.pretty(b'{"b":[1,2],"a":{}}', 512, len(lines)) == (0, 0, lines)
    assert json_scan.pretty(b'{"b":[1,2],"a":{}}', 512, len(lines) - 1) == (6, 0, None)
    # A text that is wrong is wrong whatever its size.
    assert json_scan.pretty(b"[1,", 512, 0)[0] == 2


def test_u15_indentation_cannot_make_gigabytes_of_lines() -> None:
    block = b"[" * 500 + b"]" * 500
    small, large = block, b"[" + b",".join([block] * 2000) + b"]"
    assert canonical_lines(small) is not None
    assert len(large) < 5_000_000
    assert canonical_lines(large) is None
    assert 2000 * len(canonical_lines(small) or b"") > MAX_JSON_LINES_BYTES
    shown = stratadiff.text_diff(large, large[:-1] + b" ]", media_type="application/json")
    assert shown.kind == "text"
    assert len(shown.hunks[0].lines) == 2  # the two texts as they are: one long line each
