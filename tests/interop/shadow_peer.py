"""Start shadow-diff in processes of its own and hold its answers against ours *(levels §8)*.

`differences` is the table "Against upstream": what must agree, how closely, and which numbered deviations
(levels §10, agentlog §8) explain the rest.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

Json = Any

DRIVER = Path(__file__).with_name("shadow_driver.py")
SEMANTIC = 1e-9
"""How far semantic numbers may be apart: upstream does not repeat itself more closely."""

_SIMILARITY = re.compile(r"(?<=^text block: similarity )\d\.\d\d")
_TAIL = re.compile(r" \(was: first_idx=[^()]*, then_idx=[^()]*\)$")


def ask(jobs: Sequence[dict[str, Json]], processes: int = 2) -> list[Json]:
    """Let the peer answer jobs (see ``shadow_driver.py``); the order of answers is that of jobs."""
    parts = [list(jobs[k::processes]) for k in range(processes)]
    with ThreadPoolExecutor(max_workers=processes) as pool:
        answered = [iter(part) for part in pool.map(_ask, parts)]
    return [next(answered[k % processes]) for k in range(len(jobs))]


def _ask(jobs: list[dict[str, Json]]) -> list[Json]:
    done = subprocess.run(
        [sys.executable, os.fspath(DRIVER)],
        input=json.dumps(jobs).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    return json.loads(done.stdout)


def same(ours: Json, theirs: Json) -> bool:
    """Tell values that are equal in type and to the bit; zero has no sign."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs, strict=True))
    return type(ours) is type(theirs) and ours == theirs


def value(answer: Json) -> Json:
    """Take the value of an answer, which must not be an exception."""
    assert "raised" not in answer, f"the peer stopped with {answer['raised']}"
    return answer["value"]


# Level by level. Each yields one line a difference.


def rows(ours: list[Json], theirs: list[Json]) -> Iterator[str]:
    """Compare the nine axes, all but the interval and what hangs on it."""
    for row, peer in zip(ours, theirs, strict=True):
        axis = peer["axis"]
        if list(row) != list(peer):
            yield f"{axis}: members {list(row)}, peer {list(peer)}"
        for member in ("axis", "n"):
            if not same(row[member], peer[member]):
                yield f"{axis}.{member}: {row[member]!r}, peer {peer[member]!r}"
        for member in ("baseline_median", "candidate_median", "delta"):
            near = axis == "semantic" and abs(row[member] - peer[member]) <= SEMANTIC
            if not near and not same(row[member], peer[member]):
                yield f"{axis}.{member}: {row[member]!r}, peer {peer[member]!r}"
        flags, peer_flags = ([f for f in one["flags"] if f != "ci_crosses_zero"] for one in (row, peer))
        if flags != peer_flags:
            yield f"{axis}.flags: {row['flags']}, peer {peer['flags']}"


def outside(ours: list[Json], seeds: list[list[Json]]) -> Iterator[str]:
    """Yield each bound of ours outside the envelope of the peer's under several seeds *(levels §8)*."""
    for k, row in enumerate(ours):
        lows = [rows[k]["ci95_low"] for rows in seeds]
        highs = [rows[k]["ci95_high"] for rows in seeds]
        width = max(highs) - min(lows)
        for name, bounds in (("ci95_low", lows), ("ci95_high", highs)):
            slack = (max(bounds) - min(bounds)) / 2 + 0.02 * width + 1e-9
            if not min(bounds) - slack <= row[name] <= max(bounds) + slack:
                yield f"{row['axis']}.{name}: {row[name]!r}, peer {min(bounds)!r} to {max(bounds)!r}"


def report(ours: Json, theirs: Json) -> Iterator[str]:
    """Compare the trace and turn levels of a report."""
    yield from rows(ours["rows"], theirs["rows"])
    members = [member for member in theirs if member not in ("rows", "recommendations")]
    for member in members:
        if not same(ours[member], theirs[member]):
            yield f"{member}: {_short(ours[member])}, peer {_short(theirs[member])}"


def sessions(ours: list[Json], theirs: list[Json]) -> Iterator[str]:
    """Compare the session level; severities hang on the interval."""
    if len(ours) != len(theirs):
        yield f"sessions: {len(ours)}, peer {len(theirs)}"
        return
    for session, peer in zip(ours, theirs, strict=True):
        for member in ("session_index", "baseline_session_id", "candidate_session_id", "pair_count"):
            if not same(session[member], peer[member]):
                yield f"session {peer['session_index']}.{member}: {session[member]!r}, peer {peer[member]!r}"
        for line in report(session["report"], peer["report"]):
            yield f"session {peer['session_index']}: {line}"


def spans(ours: list[Json], theirs: list[Json], long_turn: bool) -> Iterator[str]:
    """Compare the changes of one pair.

    The number of a text's similarity is ours (U7), and another tool is removed and added (U6). In a long turn
    upstream's costs (U5, U6) choose another alignment if it pairs blocks we never pair; where it does not,
    both alignments are the same.
    """
    if long_turn and not is_exact(theirs):
        return
    found = [
        (
            change["kind"],
            change["block_index"],
            change["baseline"],
            change["candidate"],
            _SIMILARITY.sub("S", change["summary"]),
        )
        for change in _other_tools_paired(ours)
    ]
    expected = [
        (
            change["kind"],
            change["block_index"],
            change["baseline"],
            change["candidate"],
            _SIMILARITY.sub("S", _other_tool(change)),
        )
        for change in theirs
    ]
    if not same([list(one) for one in found], [list(one) for one in expected]):
        yield f"spans: {_short(found)}, peer {_short(expected)}"


def is_exact(theirs: list[Json]) -> bool:
    """Tell whether the peer paired no blocks that we never pair in a long turn (U5, U6)."""
    return not any(_never_paired(change) for change in theirs)


def _never_paired(change: Json) -> bool:
    b, c = change["baseline"], change["candidate"]
    if change["kind"] == "block_type_changed":
        return True
    return change["kind"] == "tool_use_args_changed" and b.get("name") != c.get("name")


def _other_tool(change: Json) -> str:
    b, c = change["baseline"], change["candidate"]
    if change["kind"] == "tool_use_args_changed" and b.get("name") != c.get("name"):
        return "another tool"
    return change["summary"]


def _other_tools_paired(changes: list[Json]) -> Iterator[Json]:
    # Ours for another tool at one place: removed, then added, with one index (U6).
    waiting = None
    for change in changes:
        if waiting is not None:
            if change["kind"] == "tool_use_added" and change["block_index"] == waiting["block_index"]:
                pair = {"baseline": waiting["baseline"], "candidate": change["candidate"]}
                yield waiting | pair | {"kind": "tool_use_args_changed", "summary": "another tool"}
                waiting = None
                continue
            yield waiting
            waiting = None
        if change["kind"] == "tool_use_removed":
            waiting = change
        else:
            yield change
    if waiting is not None:
        yield waiting


def tokens(ours: Json, theirs: Json) -> Iterator[str]:
    """Compare the token level: all of it, to the bit."""
    found = dict(ours)
    found["normalised_shift"] = {
        name: math.inf if shift == "+inf" else shift for name, shift in ours["normalised_shift"].items()
    }
    for member in theirs:
        if not same(found[member], theirs[member]):
            yield f"tokens.{member}: {_short(found[member])}, peer {_short(theirs[member])}"
    if list(found) != list(theirs):
        yield f"tokens: members {list(found)}, peer {list(theirs)}"


def policy(ours: Json, theirs: Json) -> Iterator[str]:
    """Compare the policy level, without the tail of U9."""
    if list(ours) != list(theirs):
        yield f"policy: members {list(ours)}, peer {list(theirs)}"
    for member in theirs:
        expected = [one | {"detail": _TAIL.sub("", one["detail"])} for one in theirs[member]]
        if member in ("regressions", "fixes"):
            # The tail is part of the peer's key, so its lists are made again from the violations.
            expected = _without_shared(theirs, member)
        if not same(ours[member], expected):
            yield f"policy.{member}: {_short(ours[member])}, peer {_short(expected)}"


def _without_shared(theirs: Json, member: str) -> list[Json]:
    names = ("candidate_violations", "baseline_violations")
    mine, other = names if member == "regressions" else names[::-1]
    bare = {name: [one | {"detail": _TAIL.sub("", one["detail"])} for one in theirs[name]] for name in names}
    known = {(one["rule_id"], one["pair_index"], one["detail"]) for one in bare[other]}
    return [one for one in bare[mine] if (one["rule_id"], one["pair_index"], one["detail"]) not in known]


def is_long(baseline: Json, candidate: Json) -> bool:
    """Tell whether a pair of payloads is aligned rather than taken by index."""
    return any(len(one.get("content") or ()) > 5 for one in (baseline, candidate) if isinstance(one, dict))


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 600 else text[:600] + "…"
