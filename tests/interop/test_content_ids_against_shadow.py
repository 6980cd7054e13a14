"""Canonical JSON and content ids of random values: ours, and the published tool's own *(agentlog §4)*."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest

from interop import agentlogs, shadow_peer
from interop.agent_turns import Draw
from stratadiff.core import contentid

pytestmark = pytest.mark.interop

Json = Any

VALUES = 4000
NUMBERS = 20_000

_CHARACTERS = (
    "abc xyz",
    '"\\/\b\f\n\r\t\x00\x01\x1f\x7f\x85',
    "éüñ\u0301\u0308e\u0301",  # composed and decomposed
    "\u1e9b\u0323\u0323\u0307\u1100\u1161\u11a8\uac00",  # marks out of order, Hangul by letters
    "\u2028\u2029\ufeff\ufffd\uffff\ue000",
    "🙂\U00010000\U0010ffff𝔘\U0001d15e",  # one that normalisation takes apart
    "日本語\u212b\u2126\uf900",
)


def _string(draw: Draw) -> str:
    alphabet = draw.choice(_CHARACTERS) + draw.choice(_CHARACTERS)
    return "".join(draw.choice(alphabet) for _ in range(draw.choice((0, 1, 2, 5, 12))))


def _number(draw: Draw) -> int | float:
    kind = draw.randrange(7)
    if kind == 0:
        return draw.randint(-(10**6), 10**6)
    if kind == 1:
        return draw.choice(
            (0, -0.0, 1.0, 2**53, 2**63, -(2**63), 2**64 - 1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308)
        )
    if kind == 2:
        return draw.uniform(-1000, 1000)
    if kind == 3:
        return round(draw.uniform(-1000, 1000), draw.randint(0, 6))
    if kind == 4:
        return draw.random() * 10.0 ** draw.randint(-30, 30)
    if kind == 5:
        return float(2 ** draw.randint(40, 80) + draw.randint(0, 2**20))
    value = struct.unpack("<d", struct.pack("<Q", draw.getrandbits(64)))[0]
    return value if math.isfinite(value) else 0.5


def _value(draw: Draw, depth: int = 0) -> Json:
    kind = draw.randrange(8 if depth < 5 else 5)
    if kind < 2:
        return _string(draw)
    if kind < 4:
        return _number(draw)
    if kind == 4:
        return draw.choice((None, True, False))
    if kind == 5:
        return [_value(draw, depth + 1) for _ in range(draw.randint(0, 4))]
    return {_string(draw): _value(draw, depth + 1) for _ in range(draw.randint(0, 5))}


def _compare(values: list[Json]) -> None:
    texts = [json.dumps(value) for value in values]
    parts = [texts[k::2] for k in (0, 1)]
    answers = shadow_peer.ask([{"call": "content_ids", "texts": part} for part in parts])
    for part, answer in zip(parts, answers, strict=True):
        for text, one in zip(part, shadow_peer.value(answer), strict=True):
            value = json.loads(text)
            canonical, identity = shadow_peer.value(one)
            assert contentid.canonical(value).decode() == canonical, text
            assert contentid.content_id(value) == identity, text


def test_values_have_the_peers_form_and_id() -> None:
    draw = Draw("content ids")
    _compare([_value(draw) for _ in range(VALUES)])


def test_numbers_have_the_peers_form() -> None:
    draw = Draw("numbers")
    _compare([[_number(draw) for _ in range(20)] for _ in range(NUMBERS // 20)])


def test_ids_of_generated_traces_are_the_peers(tmp_path: Path) -> None:
    payloads = [record["payload"] for seed in range(60) for record in agentlogs.trace_pair(seed).candidate]
    _compare(payloads)
