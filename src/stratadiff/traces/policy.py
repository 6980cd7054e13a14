"""Level policy: rules loaded and checked, both traces run through them, and what changed *(levels §6)*."""

from __future__ import annotations

import os

from stratadiff.core.configuration import described, read_configuration, shown
from stratadiff.core.frozen import Struct, plain
from stratadiff.errors import ConfigurationError, LimitError
from stratadiff.limits import MAX_POLICY_RULES
from stratadiff.traces.model import pair_along
from stratadiff.traces.rules import KINDS, REQUESTS, RESPONSES, PolicyRule
from stratadiff.traces.turnview import TurnView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Payload, Trace

    Key: TypeAlias = tuple[Any, ...]
    Rules: TypeAlias = "Policy | Mapping[str, Any] | Iterable[PolicyRule | Mapping[str, Any]]"
    Source: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes] | Rules"

_WANTED = "a policy is a mapping with a list `rules`, or the list; found "

API_VERSION = "shadow.dev/v1alpha1"
"""The one value of ``apiVersion`` that a policy may have."""


class Policy(Struct):
    """The rules of a policy, in order; a sequence of them.

    Attributes
    ----------
    rules : tuple of PolicyRule
        Every one is valid.
    warnings : tuple of str
        What is in the policy and ignored; may hold text of it: escape before display.
    """

    __slots__ = ("rules", "warnings")
    rules: tuple[PolicyRule, ...]
    warnings: tuple[str, ...]

    def __init__(self, rules: tuple[PolicyRule, ...], warnings: tuple[str, ...] = ()) -> None:
        self._fill(rules=rules, warnings=warnings)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[PolicyRule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> PolicyRule:
        return self.rules[index]


class PolicyViolation(Struct):
    """One violation of a rule.

    Attributes
    ----------
    rule_id, kind, severity : str
        Of the rule.
    pair_index : int or None
        The turn, in the numbers of its own trace; None for the whole trace.
    detail : str
        What is wrong. Holds text of the policy and the trace: escape before display.
    """

    __slots__ = ("rule_id", "kind", "severity", "pair_index", "detail")  # noqa: RUF023  the order of the members
    rule_id: str
    kind: str
    severity: str
    pair_index: int | None
    detail: str

    def __init__(self, rule_id: str, kind: str, severity: str, pair_index: int | None, detail: str) -> None:
        self._fill(rule_id=rule_id, kind=kind, severity=severity, pair_index=pair_index, detail=detail)


class PolicyChange(Struct):
    """A violation that both traces have, with another count or stop reason in its detail."""

    __slots__ = ("baseline", "candidate")
    baseline: PolicyViolation
    candidate: PolicyViolation

    def __init__(self, baseline: PolicyViolation, candidate: PolicyViolation) -> None:
        self._fill(baseline=baseline, candidate=candidate)


class PolicyDiff(Struct):
    """What a policy says of two traces.

    Attributes
    ----------
    baseline_violations, candidate_violations : list of PolicyViolation
        In the order of the rules, then of turns and calls.
    regressions : list of PolicyViolation
        The candidate's that the baseline does not have.
    fixes : list of PolicyViolation
        The baseline's that the candidate does not have.
    changed : list of PolicyChange or None
        On both sides with another detail. None where turns are not aligned.
    """

    __slots__ = ("baseline_violations", "candidate_violations", "regressions", "fixes", "changed")  # noqa: RUF023
    baseline_violations: list[PolicyViolation]
    candidate_violations: list[PolicyViolation]
    regressions: list[PolicyViolation]
    fixes: list[PolicyViolation]
    changed: list[PolicyChange] | None

    def __init__(
        self,
        baseline_violations: list[PolicyViolation],
        candidate_violations: list[PolicyViolation],
        regressions: list[PolicyViolation],
        fixes: list[PolicyViolation],
        changed: list[PolicyChange] | None = None,
    ) -> None:
        self._fill(
            baseline_violations=baseline_violations,
            candidate_violations=candidate_violations,
            regressions=regressions,
            fixes=fixes,
            changed=changed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values; ``changed`` only where turns are aligned."""
        names = self.__slots__ if self.changed is not None else self.__slots__[:-1]
        return {name: plain(getattr(self, name)) for name in names}


# Loading.


def load_policy(source: Source) -> Policy:
    """Return a policy, every rule of it checked *(levels §6.1)*.

    Parameters
    ----------
    source : path, mapping or sequence
        A file, YAML or JSON; or what such a file says, already parsed: a mapping with a list ``rules``, or
        the list.

    Returns
    -------
    Policy
        Its warnings name repeated ids and members that are ignored.

    Raises
    ------
    ConfigurationError
        Names the file, the line, the rule by position and id, what was found and what to write.
    LimitError
        More than 10,000 rules, or a file past its limits.
    NotFoundError, UnreadableError
        There is no such file.
    """
    if isinstance(source, Policy):
        return source
    if isinstance(source, (str, bytes, os.PathLike)):
        path = os.fsdecode(source)
        return _policy_of(read_configuration(path), path)
    if isinstance(source, (dict, list, tuple)):
        return _policy_of(source, "")
    try:
        return _policy_of(list(source), "")
    except TypeError:
        raise ConfigurationError(_WANTED + described(source)) from None


def _policy_of(value: Any, where: str) -> Policy:
    warnings: list[str] = []
    entries = _entries_of(value, where, warnings)
    if len(entries) > MAX_POLICY_RULES:
        raise LimitError(f"has {len(entries):,} rules; at most {MAX_POLICY_RULES:,} are run", where=where)
    rules = []
    first_with: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if isinstance(entry, PolicyRule):
            rule, remarks = entry, list[str]()
        else:
            try:
                rule, remarks = PolicyRule.checked(entry, f"rule-{index}")
            except ConfigurationError as error:
                raise _placed(error, entry, index, where) from None
        first = first_with.setdefault(rule.id, index)
        if first != index:
            remarks.append(f"rule #{first} has the same id, so their violations cannot be told apart")
        warnings += [f"rule #{index} ({shown(rule.id)}): {remark}" for remark in remarks]
        rules.append(rule)
    return Policy(tuple(rules), tuple(warnings))


def _entries_of(value: Any, where: str, warnings: list[str]) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, dict):
        raise ConfigurationError(_WANTED + described(value), where=where)
    lines = getattr(value, "lines", {})
    if "apiVersion" in value and value["apiVersion"] != API_VERSION:
        raise ConfigurationError(
            f"`apiVersion` must be {API_VERSION} or left out; found {described(value['apiVersion'])}",
            where=where,
            line=lines.get("apiVersion", 0),
        )
    if "rules" not in value:
        raise ConfigurationError("a policy is a mapping with a list `rules`; `rules` is missing", where=where)
    rules = value["rules"]
    if not isinstance(rules, (list, tuple)):
        raise ConfigurationError(
            f"`rules` must be a list; found {described(rules)}", where=where, line=lines.get("rules", 0)
        )
    known = ("rules", "apiVersion")
    warnings += [f"unknown member {shown(str(name))} is ignored" for name in value if name not in known]
    return list(rules)


def _placed(error: ConfigurationError, entry: Any, index: int, where: str) -> ConfigurationError:
    """Return an error of a rule with the rule's position, id and line."""
    line = error.line or getattr(entry, "line", 0)
    name = entry.get("id") if isinstance(entry, dict) else None
    named = f" ({shown(name)})" if isinstance(name, str) else ""
    message = error.message if error.line or not line else f"line {line}: {error.message}"
    placed = ConfigurationError(f"rule #{index}{named}: {message}", where=where)
    placed.line = line
    return placed


# Running.


def needs(rules: Rules) -> frozenset[str]:
    """Return what a trace must keep for these rules; see :func:`~stratadiff.traces.reader.read_for`."""
    found: set[str] = set()
    for rule in load_policy(rules):
        found.update(KINDS[rule.kind].needs)
        if rule.when:
            found.add(RESPONSES)
        if any(condition.path.split(".")[0] in ("request", "model") for condition in rule.when):
            found.add(REQUESTS)
    return frozenset(found)


def violations_of(trace: Trace, rules: Rules) -> list[PolicyViolation]:
    """Return what violates the rules: in their order, then by turn or call *(levels §6.2)*.

    Cost: texts and calls are gathered once per trace, if a rule asks; each rule is linear in them.
    """
    whole = TurnView(trace)
    sessions: list[TurnView] | None = None
    found = []
    for rule in load_policy(rules):
        views = [whole]
        if rule.scope == "session":
            views = sessions = whole.sessions() if sessions is None else sessions
        if rule.when:
            views = _matching(views, rule)
        check = KINDS[rule.kind].check
        for view in views:
            for turn, detail in check(rule.params, view):
                found.append(PolicyViolation(rule.id, rule.kind, rule.severity, turn, detail))
    return found


def _matching(views: Sequence[TurnView], rule: PolicyRule) -> list[TurnView]:
    """Return the views with the turns that the rule's conditions hold for; none without such turns."""
    from stratadiff.traces.conditions import all_hold  # start-up

    def holds(request: Payload | None, response: Payload) -> bool:
        return all_hold(rule.when, request, response)

    narrowed = [view.where(holds) for view in views]
    return [view for view in narrowed if view.turns]


def policy_diff(baseline: Trace, candidate: Trace, rules: Rules, *, path: bytes | None = None) -> PolicyDiff:
    """Run a policy over two traces and tell what is new and what is gone.

    Parameters
    ----------
    baseline, candidate : Trace
        Read with at least :func:`needs`.
    rules : Policy or sequence
        Rules, or mappings that describe them.
    path : bytes, optional
        The alignment of the turns, steps ``A``, ``D`` and ``I``. With it violations are told apart by rule,
        aligned turn and ordinal, not by their detail *(levels §9, 3)*; else by rule, turn number and detail
        *(levels §6.3)*.
    """
    policy = load_policy(rules)
    old = violations_of(baseline, policy)
    new = violations_of(candidate, policy)
    if path is None:
        old_keys = [_key(violation) for violation in old]
        new_keys = [_key(violation) for violation in new]
    else:
        pairing = pair_along(path)
        partner = dict(zip(pairing.candidate, pairing.baseline, strict=True))
        old_keys = _ordinal_keys(old, lambda turn: turn)
        new_keys = _ordinal_keys(new, lambda turn: partner.get(turn, ~turn))
    had = dict(zip(old_keys, old, strict=True))
    has = frozenset(new_keys)
    changed = None
    if path is not None:
        both = [(had[key], violation) for key, violation in zip(new_keys, new, strict=True) if key in had]
        changed = [PolicyChange(before, after) for before, after in both if before.detail != after.detail]
    return PolicyDiff(
        old,
        new,
        [violation for key, violation in zip(new_keys, new, strict=True) if key not in had],
        [violation for key, violation in zip(old_keys, old, strict=True) if key not in has],
        changed,
    )


def _key(violation: PolicyViolation) -> Key:
    return violation.rule_id, violation.pair_index, violation.detail


def _ordinal_keys(violations: Iterable[PolicyViolation], place_of: Callable[[int], int]) -> list[Key]:
    """Return rule, place and ordinal of each: which of the rule's violations at that place it is.

    `place_of` gives for a turn the baseline's turn, a number below zero for one that is only the candidate's.
    """
    counts: dict[Key, int] = {}
    keys = []
    for violation in violations:
        turn = violation.pair_index
        key = (violation.rule_id, turn if turn is None else place_of(turn))
        ordinal = counts.get(key, 0)
        counts[key] = ordinal + 1
        keys.append((*key, ordinal))
    return keys
