"""Let shadow-diff answer jobs in one process: ``python shadow_driver.py < jobs.json > answers.json``.

It is called through its public functions only. A job is ``{call, …}``, `call` a name of `CALLS`; traces are
paths or records. An answer is ``{"value": …}`` or ``{"raised": "TYPE: MESSAGE"}``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from shadow import _core, hierarchical


def _records(source: Any) -> list[dict[str, Any]]:
    if not isinstance(source, str):
        return source
    with open(source, "rb") as file:
        return [json.loads(line) for line in file]


def _pricing(table: dict[str, Any] | None) -> dict[str, Any] | None:
    if table is None:
        return None
    return {model: tuple(rates) if isinstance(rates, list) else rates for model, rates in table.items()}


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, list) else dataclasses.asdict(value)


def report(baseline: Any, candidate: Any, pricing: Any = None, seeds: tuple[int, ...] = (42,)) -> list[Any]:
    """Give the report of two traces under each seed."""
    b, c, table = _records(baseline), _records(candidate), _pricing(pricing)
    return [_core.compute_diff_report(b, c, table, seed) for seed in seeds]


def sessions(baseline: Any, candidate: Any, pricing: Any = None, seed: int = 42) -> Any:
    """Give the session level."""
    found = hierarchical.diff_by_session(_records(baseline), _records(candidate), _pricing(pricing), seed)
    return _plain(found)


def spans(pairs: list[list[Any]]) -> list[Any]:
    """Give the span level of pairs of payloads, one answer each."""
    return [_guarded(lambda b=b, c=c: _plain(hierarchical.span_diff(b, c))) for b, c in pairs]


def tokens(baseline: Any, candidate: Any, top_k: int = 10) -> Any:
    """Give the token level."""
    return _plain(hierarchical.token_diff(_records(baseline), _records(candidate), top_k))


def policy(baseline: Any, candidate: Any, rules: Any) -> Any:
    """Give the policy level."""
    loaded = hierarchical.load_policy({"apiVersion": "shadow.dev/v1alpha1", "rules": rules})
    return _plain(hierarchical.policy_diff(_records(baseline), _records(candidate), loaded))


def load_policy(document: Any) -> Any:
    """Load a policy and give its rules."""
    return _plain(hierarchical.load_policy(document))


def content_ids(texts: list[str]) -> list[Any]:
    """Give canonical text and content id of JSON texts, one answer each."""

    def one(text: str) -> Any:
        value = json.loads(text)
        return [_core.canonical_bytes(value).decode(), _core.content_id(value)]

    return [_guarded(lambda text=text: one(text)) for text in texts]


def parse(paths: list[str]) -> list[Any]:
    """Parse files, one answer each."""

    def one(path: str) -> Any:
        with open(path, "rb") as file:
            return _core.parse_agentlog(file.read())

    return [_guarded(lambda path=path: one(path)) for path in paths]


CALLS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (report, sessions, spans, tokens, policy, load_policy, content_ids, parse)
}


def _guarded(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"value": call()}
    except Exception as problem:  # whatever it is, it is the peer's answer
        return {"raised": f"{type(problem).__name__}: {problem}"}


def main() -> None:
    """Answer the jobs of standard input."""
    jobs = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        found = []
        for job in jobs:
            function = CALLS[job.pop("call")]
            found.append(_guarded(lambda function=function, job=job: function(**job)))
        json.dump(found, answers)


if __name__ == "__main__":
    main()
