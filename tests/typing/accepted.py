"""Calls that a strict type checker must accept, with the types that come out."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import stratadiff

# Runs: paths as text, bytes or path objects.
result = stratadiff.diff("runs/monday", Path("runs/tuesday"), context=1, stages=["answer"], strict=True)
assert_type(result, stratadiff.DiffResult)
assert_type(result.envelope, str)
assert_type(result.exit_code, int)
assert_type(result.reason, str | None)
assert_type(result.text(colour=True), str)
assert_type(result.document(), stratadiff.Document)
assert_type(result.document().canonical(), bytes)
assert_type(result.document().to_dict(), dict[str, Any])
assert_type([row.verdict for row in result.ladder], list[str])

verification = stratadiff.verify(b"runs/monday")
assert_type(verification.verifies, bool)
assert_type([row.name for row in verification.failed_rows], list[str])
assert_type(verification.run, stratadiff.Run)
assert_type(stratadiff.open("runs/monday"), stratadiff.Run)
assert_type(stratadiff.demo_runs(), tuple[str, str])

# Texts.
difference = stratadiff.text_diff(
    b"a\n", b"b\n", media_type="application/json", algorithm="gestalt", max_lines=None
)
assert_type(difference, stratadiff.TextDiff)
assert_type(difference.kind, str)
assert_type(difference.plain_lines(), list[str])
assert_type(difference.hunks[0].lines[0].text, str)
assert_type(difference.hunks[0].lines[0].baseline, int | None)
assert_type(difference.hunks[0].lines[0].spans, tuple[tuple[int, int], ...])

# Sequences: anything with int32 in it.
ids: npt.NDArray[np.int32] = np.array([1, 2, 3], dtype=np.int32)
script = stratadiff.edit_script(ids, array("i", [1, 3]))
assert_type(script, stratadiff.EditScript)
assert_type(list(stratadiff.edit_script([1, 2], (2, 3))), list[tuple[str, int, int, int, int]])
assert_type(script.as_array(), npt.NDArray[np.int32])
assert_type(script.distance, int)

assert_type(stratadiff.escape_name("a\tb"), str)

# Errors carry where and code.
try:
    stratadiff.open("nowhere")
except stratadiff.NotFoundError as error:
    assert_type(error.where, str)
    assert_type(error.code, str)
except stratadiff.StratadiffError:
    pass
