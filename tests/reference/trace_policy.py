"""Policy rules over two traces, by their definition (levels §6, and §9 for aligned turns)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from reference import agentlog, trace_tokens

Records = Sequence[dict[str, Any]]
Rule = dict[str, Any]
Violation = dict[str, Any]
Place = tuple[str, int] | None
Found = Iterator[tuple[int | None, str]]

NO_CHANGE = "  (no change in policy outcomes)"


class Turn(NamedTuple):
    """One turn as rules see it: its number in the trace, its response and its request (agentlog §6)."""

    number: int
    response: dict[str, Any]
    request: dict[str, Any] | None

    @property
    def text(self) -> str:
        """The texts of the response joined by a line feed (levels §6.2)."""
        return "\n".join(agentlog.texts(self.response))


class Call(NamedTuple):
    """One tool call: its turn's number in the trace and the tool's name (agentlog §7)."""

    turn: int
    name: str


class View(NamedTuple):
    """What one rule sees: turns and calls, in order (levels §6.2, §6.4)."""

    turns: list[Turn]
    calls: list[Call]


# The kinds (levels §6.2; the last one §6.4)


def must_call_before(view: View, params: dict[str, Any]) -> Found:
    """Check that one tool is called before another (levels §6.2)."""
    names = [call.name for call in view.calls]
    first, then = params["first"], params["then"]
    if then in names and (first not in names or not names.index(first) < names.index(then)):
        yield view.calls[names.index(then)].turn, f"`{first}` must be called before `{then}`"


def must_call_once(view: View, params: dict[str, Any]) -> Found:
    """Check that a tool is called once (levels §6.2)."""
    tool = params["tool"]
    called = sum(call.name == tool for call in view.calls)
    if called != 1:
        yield None, f"tool `{tool}` called {called} times; expected exactly 1"


def no_call(view: View, params: dict[str, Any]) -> Found:
    """Check that a tool is not called (levels §6.2)."""
    for call in view.calls:
        if call.name == params["tool"]:
            yield call.turn, f"forbidden tool `{call.name}` called"


def max_turns(view: View, params: dict[str, Any]) -> Found:
    """Check the number of turns (levels §6.2)."""
    if len(view.turns) > params["limit"]:
        yield None, f"trace has {len(view.turns)} turns; max is {params['limit']}"


def required_stop_reason(view: View, params: dict[str, Any]) -> Found:
    """Check how the last turn stopped (levels §6.2)."""
    if not view.turns:
        yield None, "trace has no responses"
        return
    reason = view.turns[-1].response.get("stop_reason")
    if not any(agentlog.json_equal(reason, allowed) for allowed in params["allowed"]):
        listed = ", ".join(repr(allowed) for allowed in params["allowed"])
        yield None, f"final stop_reason {reason!r} not in allowed set [{listed}]"


def max_total_tokens(view: View, params: dict[str, Any]) -> Found:
    """Check the tokens of all turns and dimensions (levels §6.2)."""
    total = sum(sum(trace_tokens.counts(turn.response)) for turn in view.turns)
    if total > params["limit"]:
        yield None, f"total token usage {total} exceeds max {params['limit']}"


def must_include_text(view: View, params: dict[str, Any]) -> Found:
    """Check that some turn has a text (levels §6.2)."""
    if view.turns and not any(params["text"] in turn.text for turn in view.turns):
        yield None, f"required text {params['text']!r} not found in any response"


def forbidden_text(view: View, params: dict[str, Any]) -> Found:
    """Check that no turn has a text (levels §6.2)."""
    for turn in view.turns:
        if params["text"] in turn.text:
            yield turn.number, f"forbidden text {params['text']!r} present in response"


def must_include_text_each(view: View, params: dict[str, Any]) -> Found:
    """Check that every turn has a text (levels §6.4)."""
    for turn in view.turns:
        if params["text"] not in turn.text:
            yield turn.number, f"required text {params['text']!r} not found in response"


KINDS: dict[str, Callable[[View, dict[str, Any]], Found]] = {
    "must_call_before": must_call_before,
    "must_call_once": must_call_once,
    "no_call": no_call,
    "max_turns": max_turns,
    "required_stop_reason": required_stop_reason,
    "max_total_tokens": max_total_tokens,
    "must_include_text": must_include_text,
    "forbidden_text": forbidden_text,
    "must_include_text_each": must_include_text_each,
}


# Conditions (levels §6.4)


def looked_up(turn: Turn, path: str) -> Any:
    """Follow a dotted path from a turn; anything missing is null (levels §6.4)."""
    value: Any = {
        "request": turn.request,
        "response": turn.response,
        "model": turn.response.get("model"),
        "stop_reason": turn.response.get("stop_reason"),
    }
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isascii() and part.isdigit():
            # The length first: Python refuses to read integers of thousands of digits.
            index = part.lstrip("0") or "0"
            past = len(index) > 9 or int(index) >= len(value)
            value = None if past else value[int(index)]
        else:
            value = None
    return value


def is_within(item: Any, container: Any) -> bool:
    """Tell whether a list has an element, or a string a substring (levels §6.4)."""
    if isinstance(container, list | tuple):
        return any(agentlog.json_equal(item, element) for element in container)
    return isinstance(container, str) and isinstance(item, str) and item in container


def compares(value: Any, op: str, wanted: Any) -> bool:
    """Compare two numbers; false for anything else (levels §6.4)."""
    if agentlog.json_type(value) != "number" or agentlog.json_type(wanted) != "number":
        return False
    return bool({">": value > wanted, ">=": value >= wanted, "<": value < wanted, "<=": value <= wanted}[op])


def holds(turn: Turn, condition: dict[str, Any]) -> bool:
    """Tell whether a turn meets one condition (levels §6.4)."""
    op: str = condition["op"]
    value, wanted = looked_up(turn, condition["path"]), condition["value"]
    if op in ("==", "!="):
        return agentlog.json_equal(value, wanted) == (op == "==")
    if op in ("in", "not_in"):
        return is_within(value, wanted) == (op == "in")
    if op in ("contains", "not_contains"):
        return is_within(wanted, value) == (op == "contains")
    return compares(value, op, wanted)


# Views


def views(records: Records, rule: Rule, split: str | None = None) -> list[View]:
    """List what a rule is run on: the trace or each session, narrowed by its conditions (levels §6.4)."""
    responses, requests = agentlog.turns(records), agentlog.requests(records)
    calls = agentlog.placed_tool_calls(records)
    found = []
    at = number = 0
    scoped = agentlog.sessions(records, split) if rule.get("scope", "trace") == "session" else [records]
    for session in scoped:
        size = len(agentlog.turns(session))
        turns = [Turn(i, responses[i], requests[i]) for i in range(number, number + size)]
        within = [Call(turn, name) for place, turn, name in calls if at <= place < at + len(session)]
        found.append(View(turns, within))
        at, number = at + len(session), number + size
    if "when" in rule:
        found = [narrowed(view, rule["when"]) for view in found]
        found = [view for view in found if view.turns]
    return found


def narrowed(view: View, when: Any) -> View:
    """Keep the turns that meet all conditions, and their calls (levels §6.4)."""
    conditions = when if isinstance(when, list) else [when]
    turns = [turn for turn in view.turns if all(holds(turn, condition) for condition in conditions)]
    numbers = {turn.number for turn in turns}
    return View(turns, [call for call in view.calls if call.turn in numbers])


def violations(records: Records, rules: Sequence[Rule], split: str | None = None) -> list[Violation]:
    """List the violations of a trace: rules as listed, then turns or calls in order (levels §6.2)."""
    found = []
    for position, rule in enumerate(rules):
        for view in views(records, rule, split):
            for number, detail in KINDS[rule["kind"]](view, rule["params"]):
                found.append(
                    {
                        "rule_id": rule.get("id", f"rule-{position}"),
                        "kind": rule["kind"],
                        "severity": rule.get("severity", "error"),
                        "pair_index": number,
                        "detail": detail,
                    }
                )
    return found


# The diff (levels §6.3)


def key(violation: Violation) -> tuple[Any, ...]:
    """Give what tells violations apart, turns by number (levels §6.3)."""
    return violation["rule_id"], violation["pair_index"], violation["detail"]


def turn_pairs(path: str) -> dict[int, int]:
    """Map candidate turns to baseline turns along a path of steps A, D and I (levels §3.2, §9)."""
    found = {}
    i = j = 0
    for step in path:
        if step == "A":
            found[j] = i
        if step in "AD":
            i += 1
        if step in "AI":
            j += 1
    return found


def aligned_keys(violations: Sequence[Violation], places: Callable[[int], Place]) -> list[tuple[Any, ...]]:
    """List what tells violations apart, turns by place and repeats by ordinal (levels §9, 3)."""
    found = []
    counted: dict[tuple[str, Place], int] = {}
    for violation in violations:
        turn = violation["pair_index"]
        where = violation["rule_id"], None if turn is None else places(turn)
        ordinal = counted.get(where, 0)
        counted[where] = ordinal + 1
        found.append((*where, ordinal))
    return found


def policy_diff(
    baseline: Records,
    candidate: Records,
    rules: Sequence[Rule],
    path: str | None = None,
    split: str | None = None,
) -> dict[str, Any]:
    """Tell regressions and fixes, turns by number or along a path of aligned turns (levels §6.3, §9 3)."""
    old, new = violations(baseline, rules, split), violations(candidate, rules, split)
    if path is None:
        old_keys, new_keys = [key(one) for one in old], [key(one) for one in new]
    else:
        paired = turn_pairs(path)
        old_keys = aligned_keys(old, lambda turn: ("old", turn))
        new_keys = aligned_keys(new, lambda turn: ("old", paired[turn]) if turn in paired else ("new", turn))
    found: dict[str, Any] = {
        "baseline_violations": old,
        "candidate_violations": new,
        "regressions": [one for one, at in zip(new, new_keys, strict=True) if at not in old_keys],
        "fixes": [one for one, at in zip(old, old_keys, strict=True) if at not in new_keys],
    }
    if path is not None:
        both = [
            (old[old_keys.index(at)], one) for one, at in zip(new, new_keys, strict=True) if at in old_keys
        ]
        found["changed"] = [{"baseline": b, "candidate": c} for b, c in both if b["detail"] != c["detail"]]
    return found


# Its text (levels §6.3, §9)


def violation_line(mark: str, violation: Violation) -> str:
    """Write one violation (levels §6.3)."""
    turn = violation["pair_index"]
    where = "trace" if turn is None else f"turn #{turn}"
    return f"    {mark} [{violation['severity']}] {violation['rule_id']} @ {where}: {violation['detail']}"


def text(diff: dict[str, Any]) -> str:
    """Write the policy part (levels §6.3, §9 3)."""
    b, c = len(diff["baseline_violations"]), len(diff["candidate_violations"])
    lines = [f"Policy diff, {b} baseline violation(s), {c} candidate violation(s)"]
    changed = [pair["candidate"] for pair in diff.get("changed", [])]
    parts = (
        ("regressions", "✗", diff["regressions"]),
        ("fixes", "✓", diff["fixes"]),
        ("changed", "~", changed),
    )
    for name, mark, listed in parts:
        if listed:
            lines += [f"  {name} ({len(listed)}):", *(violation_line(mark, one) for one in listed)]
    return "\n".join(lines if len(lines) > 1 else [*lines, NO_CHANGE])
