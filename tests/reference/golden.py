"""The recorded answers under ``tests/data/textdiff``, one JSON object per line."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "textdiff")


def rows(name: str) -> list[dict[str, Any]]:
    """Read a golden file; the base64 sides of a rendering become bytes."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    for row in found:
        for side in ("a", "b"):
            if isinstance(row[side], str):
                row[side] = base64.b64decode(row[side])
    return found
