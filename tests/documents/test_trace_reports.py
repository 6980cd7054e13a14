"""Whole reports of random pairs: bytes and text as the reference has them, and what the schema allows."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import stratadiff
from documents.test_trace_document import SCHEMA
from reference import trace_axes, trace_report, trace_text
from stratadiff.documents.tracereport import TraceDocument
from traces.random_traces import PRICES, trace_pairs

Json = Any

RULES = [
    {"id": "calm", "kind": "no_call", "params": {"tool": "rm"}, "severity": "critical"},
    {"id": "read first", "kind": "must_call_before", "params": {"first": "read", "then": "write"}},
    {"id": "few", "kind": "max_turns", "params": {"limit": 2}, "severity": "warning"},
    {"id": "quiet", "kind": "forbidden_text", "params": {"text": "fox"}, "severity": "info"},
    {"id": "end", "kind": "required_stop_reason", "params": {"allowed": ["end_turn"]}},
]


@settings(max_examples=80)  # the reference takes its time
@given(
    trace_pairs(),
    st.sets(st.sampled_from(stratadiff.LEVELS)),
    st.booleans(),
    st.sampled_from(["contract", "strict"]),
    st.booleans(),
    st.sampled_from([None, "requests"]),
    st.integers(-(2**70), 2**70),
)
def test_random_pairs_as_the_reference_has_them(
    pair: tuple[Json, Json],
    levels: set[str],
    align: bool,
    refusals: str,
    text_only: bool,
    split: str | None,
    seed: int,
) -> None:
    result = stratadiff.compare_traces(
        *pair,
        levels=levels,
        rules=RULES,
        pricing=PRICES,
        seed=seed,
        align=align,
        refusals=refusals,
        semantic_text_only=text_only,
        split=split,
        top_k_pairs=3,
    )
    expected = trace_report.document(
        *pair,
        {
            "levels": tuple(levels),
            "rules": RULES,
            "pricing": trace_axes.pricing_of(PRICES),
            "seed": seed,
            "align": align,
            "refusals": refusals,
            "semantic_text_only": text_only,
            "split": split,
            "top_k_pairs": 3,
        },
    )
    report = result.report()
    data = report.canonical()
    assert data.decode() == json.dumps(worded(expected), ensure_ascii=False, separators=(",", ":"))
    SCHEMA.validate(json.loads(data))
    text = trace_text.standard_output(expected)
    assert result.text() == text
    assert stratadiff.draw_trace(TraceDocument.load(data)) == text


def worded(value: Json) -> Json:
    """Write an infinite number as the report does."""
    if isinstance(value, dict):
        return {key: worded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [worded(item) for item in value]
    return "+inf" if isinstance(value, float) and math.isinf(value) else value


def test_the_demonstration_fits_the_schema() -> None:
    for align in (False, True):
        result = stratadiff.compare_traces(
            *stratadiff.demo_traces(), levels=stratadiff.LEVELS, rules=RULES, align=align
        )
        SCHEMA.validate(result.report().to_dict())


def test_numbers_at_the_edge_of_a_double_have_a_form() -> None:
    """Measurements may overflow on the way; the report and its text say so in words."""

    def turn(number: float) -> Json:
        usage = {"input_tokens": number, "output_tokens": number, "thinking_tokens": number}
        return {"kind": "chat_response", "payload": {"model": "m", "latency_ms": number, "usage": usage}}

    for old, new in ((1.7e308, -1.7e308), (-1.7e308, 1.7e308), (5e-324, 1.7e308), (10**400, 1)):
        result = stratadiff.compare_traces(
            [turn(old), turn(old)],
            [turn(new), turn(new)],
            levels=stratadiff.LEVELS,
            rules=[],
            pricing={"m": [9, 9]},
        )
        data = result.report().canonical()
        assert not any(word in data for word in (b"Infinity", b"NaN"))
        SCHEMA.validate(json.loads(data))
        assert stratadiff.draw_trace(TraceDocument.load(data)) == result.text()
