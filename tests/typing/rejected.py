"""Calls that a strict type checker must reject; each line says with which error."""

from __future__ import annotations

import stratadiff

stratadiff.diff("runs/monday")  # E: call-arg
stratadiff.diff("runs/monday", 2)  # E: arg-type
stratadiff.diff("runs/monday", "runs/tuesday", "gestalt")  # E: call-arg
stratadiff.diff("runs/monday", "runs/tuesday", context="3")  # E: arg-type
stratadiff.diff("runs/monday", "runs/tuesday", colour=True)  # E: call-arg
print(stratadiff.diff("runs/monday", "runs/tuesday").verdict)  # E: attr-defined

stratadiff.text_diff("a\n", b"b\n")  # E: arg-type
stratadiff.text_diff(b"a\n", b"b\n").hunks.append(None)  # E: attr-defined

stratadiff.edit_script("abc", [1])  # E: arg-type
stratadiff.edit_script([1.5], [1])  # E: list-item

stratadiff.verify(None)  # E: arg-type
count: int = stratadiff.verify("runs/monday").verifies.name  # E: attr-defined
number: str = stratadiff.edit_script([1], [1]).distance  # E: assignment

stratadiff.escape_name(b"a")  # E: arg-type
print(stratadiff.no_such_name)  # E: attr-defined
