"""Policy rules: their kinds as a table, what each takes and when it is violated *(levels §6.2, §6.4)*.

A check is a function of a rule's params and a :class:`~stratadiff.traces.turnview.TurnView`. It returns the
places at which the rule is violated: a turn, or None for all the turns together, and what is wrong there.
"""

from __future__ import annotations

from stratadiff.core.configuration import described, integer_of, member_of, shown, text_of
from stratadiff.core.frozen import Frozen, Struct
from stratadiff.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.conditions import Condition
    from stratadiff.traces.turnview import TurnView

    Place: TypeAlias = tuple[int | None, str]
    Params: TypeAlias = dict[str, Any]
    Check: TypeAlias = Callable[[Params, TurnView], Iterable[Place]]

SEVERITIES = ("info", "warning", "error", "critical")
"""From the mildest on."""

SCOPES = ("trace", "session")

RESPONSES, TOOLS, REQUESTS = "responses", "tools", "requests"


def texts_of_list(value: Any, what: str) -> list[str]:
    """Return a value as a list of texts; see :func:`~stratadiff.core.configuration.text_of`."""
    if not isinstance(value, (list, tuple)):
        raise ConfigurationError(f"{what} must be a list of texts; found {described(value)}")
    return [member_of(value, place, text_of, f"item {place} of {what}") for place in range(len(value))]


# When a rule is violated.


def _must_call_before(params: Params, view: TurnView) -> Iterable[Place]:
    then = view.tools.get(params["then"])
    if then is None:
        return
    first = view.tools.get(params["first"])
    if first is None or first.first >= then.first:
        yield then.turns[0], f"`{params['first']}` must be called before `{params['then']}`"


def _must_call_once(params: Params, view: TurnView) -> Iterable[Place]:
    calls = view.tools.get(params["tool"])
    count = len(calls.turns) if calls else 0
    if count != 1:
        yield None, f"tool `{params['tool']}` called {count} times; expected exactly 1"


def _no_call(params: Params, view: TurnView) -> Iterable[Place]:
    calls = view.tools.get(params["tool"])
    if calls is not None:
        detail = f"forbidden tool `{params['tool']}` called"
        for turn in calls.turns:
            yield turn, detail


def _max_turns(params: Params, view: TurnView) -> Iterable[Place]:
    count = len(view.turns)
    if count > params["limit"]:
        yield None, f"trace has {count} turns; max is {params['limit']}"


def _required_stop_reason(params: Params, view: TurnView) -> Iterable[Place]:
    if not view.turns:
        yield None, "trace has no responses"
        return
    reason = view.stop_reason(view.turns[-1])
    if not isinstance(reason, str) or reason not in params["allowed"]:
        yield None, f"final stop_reason {reason!r} not in allowed set {params['allowed']!r}"


def _max_total_tokens(params: Params, view: TurnView) -> Iterable[Place]:
    total = view.token_total
    if total > params["limit"]:
        yield None, f"total token usage {total} exceeds max {params['limit']}"


def _must_include_text(params: Params, view: TurnView) -> Iterable[Place]:
    wanted = params["text"]
    if view.turns and not any(wanted in text for text in view.texts):
        yield None, f"required text {wanted!r} not found in any response"


def _must_include_text_each(params: Params, view: TurnView) -> Iterable[Place]:
    wanted = params["text"]
    detail = f"required text {wanted!r} not found in response"
    return [(turn, detail) for turn, text in zip(view.turns, view.texts, strict=True) if wanted not in text]


def _forbidden_text(params: Params, view: TurnView) -> Iterable[Place]:
    unwanted = params["text"]
    detail = f"forbidden text {unwanted!r} present in response"
    return [(turn, detail) for turn, text in zip(view.turns, view.texts, strict=True) if unwanted in text]


class Kind(Frozen):
    """One kind of rule.

    Attributes
    ----------
    params : dict of str to function
        Every param and how its value is read.
    needs : tuple of str
        What the reader of traces must keep for it.
    check : function
        Params and view to places of violation.
    """

    __slots__ = ("check", "needs", "params")
    params: dict[str, Callable[[Any, str], Any]]
    needs: tuple[str, ...]
    check: Check

    def __init__(
        self, params: dict[str, Callable[[Any, str], Any]], needs: tuple[str, ...], check: Check
    ) -> None:
        self._fill(params=params, needs=needs, check=check)


KINDS = {
    "must_call_before": Kind({"first": text_of, "then": text_of}, (RESPONSES, TOOLS), _must_call_before),
    "must_call_once": Kind({"tool": text_of}, (RESPONSES, TOOLS), _must_call_once),
    "no_call": Kind({"tool": text_of}, (RESPONSES, TOOLS), _no_call),
    "max_turns": Kind({"limit": integer_of}, (), _max_turns),
    "required_stop_reason": Kind({"allowed": texts_of_list}, (RESPONSES,), _required_stop_reason),
    "max_total_tokens": Kind({"limit": integer_of}, (), _max_total_tokens),
    "must_include_text": Kind({"text": text_of}, (RESPONSES,), _must_include_text),
    "must_include_text_each": Kind({"text": text_of}, (RESPONSES,), _must_include_text_each),
    "forbidden_text": Kind({"text": text_of}, (RESPONSES,), _forbidden_text),
}
"""Every kind of rule, by the name that a policy gives."""


class PolicyRule(Struct):
    """One rule of a policy; its constructor checks everything.

    Attributes
    ----------
    id : str
        What violations are named by.
    kind : str
        One of :data:`KINDS`.
    params : dict
        The params of the kind.
    severity : str
        One of :data:`SEVERITIES`.
    description : str
        For people.
    scope : str
        ``"trace"``, or ``"session"`` to run the rule on each session.
    when : tuple of Condition
        All must hold of a turn for the rule to see it; empty: it sees every turn.

    Raises
    ------
    ConfigurationError
        An unknown kind, severity or scope; a param that is missing, has no place there or is of a wrong type.
    """

    __slots__ = ("id", "kind", "params", "severity", "description", "scope", "when")  # noqa: RUF023  as given
    id: str
    kind: str
    params: Params
    severity: str
    description: str
    scope: str
    when: tuple[Condition, ...]

    def __init__(
        self,
        id: str,
        kind: str,
        params: Mapping[str, Any],
        severity: str = "error",
        description: str = "",
        scope: str = "trace",
        when: Any = (),
    ) -> None:
        given = {
            "id": id,
            "kind": kind,
            "params": params,
            "severity": severity,
            "description": description,
            "scope": scope,
            "when": when,
        }
        try:
            self._fill(**checked_fields(given, "")[0])
        except ConfigurationError as error:
            name = shown(id) if isinstance(id, str) else described(id)
            raise ConfigurationError(f"rule {name}: {error.message}") from None

    @classmethod
    def checked(cls, value: Any, default_id: str) -> tuple[PolicyRule, list[str]]:
        """Return the rule that a mapping describes, and warnings about what is in it and ignored.

        Raises
        ------
        ConfigurationError
            As the constructor does; the message says nothing of which rule it is.
        """
        fields, warnings = checked_fields(value, default_id)
        rule = cls.__new__(cls)
        rule._fill(**fields)
        return rule, warnings


def checked_fields(value: Any, default_id: str) -> tuple[dict[str, Any], list[str]]:
    """Return a rule's fields, checked and with their defaults, and the warnings."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"must be a mapping; found {described(value)}")
    if "kind" not in value:
        raise ConfigurationError(f"`kind` is missing; known kinds are {', '.join(sorted(KINDS))}")
    kind = member_of(value, "kind", text_of, "`kind`")
    if kind not in KINDS:
        raise ConfigurationError(
            f"unknown kind {shown(kind)}; known kinds are {', '.join(sorted(KINDS))}",
            line=_line_of(value, "kind"),
        )
    params, warnings = _checked_params(value, kind)
    when: tuple[Condition, ...] = ()
    if "when" in value:
        from stratadiff.traces.conditions import conditions_of  # few policies have conditions: start-up

        when, more = member_of(value, "when", conditions_of, "`when`")
        warnings += more
    known = PolicyRule.__slots__
    warnings += [f"unknown member {shown(name)} is ignored" for name in map(str, value) if name not in known]
    return {
        "id": member_of(value, "id", text_of, "`id`") if "id" in value else default_id,
        "kind": kind,
        "params": params,
        "severity": _one_of(value, "severity", SEVERITIES, "error"),
        "description": member_of(value, "description", text_of, "`description`")
        if value.get("description") not in (None, "")
        else "",
        "scope": _one_of(value, "scope", SCOPES, "trace"),
        "when": when,
    }, warnings


def _checked_params(value: dict[str, Any], kind: str) -> tuple[Params, list[str]]:
    readers = KINDS[kind].params
    names = " and ".join(f"`{name}`" for name in readers)
    given = value.get("params")
    if not isinstance(given, dict):
        found = f"found {described(given)}" if "params" in value else "they are missing"
        line = _line_of(value, "params")
        raise ConfigurationError(f"`params` must be a mapping with {names}; {found}", line=line)
    params = {}
    for name, reader in readers.items():
        if name not in given:
            line = _line_of(value, "params")
            raise ConfigurationError(f"the param `{name}` is missing; {kind} takes {names}", line=line)
        params[name] = member_of(given, name, reader, f"`{name}`")
    unknown = [str(name) for name in given if name not in readers]
    return params, [f"unknown param {shown(name)} is ignored; {kind} takes {names}" for name in unknown]


def _one_of(value: dict[str, Any], name: str, allowed: Sequence[str], default: str) -> str:
    if name not in value:
        return default
    found: str = member_of(value, name, text_of, f"`{name}`")
    if found not in allowed:
        line = _line_of(value, name)
        raise ConfigurationError(
            f"unknown {name} {shown(found)}; write one of {', '.join(allowed)}", line=line
        )
    return found


def _line_of(value: Any, name: str) -> int:
    lines = getattr(value, "lines", {})
    found: int = lines.get(name, 0)
    return found
