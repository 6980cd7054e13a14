"""Conditions of a policy rule, its member ``when`` *(levels §6.4)*: which turns the rule sees."""

from __future__ import annotations

from stratadiff._kernels.value_ids import equal
from stratadiff.core.configuration import described, shown, text_of, value_of
from stratadiff.core.frozen import Struct
from stratadiff.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from stratadiff.traces.model import Payload

ROOTS = ("request", "response", "model", "stop_reason")
"""What a path may start with."""

_MEMBERS = ("path", "op", "value")
_MAX_INDEX_DIGITS = 9


class Condition(Struct):
    """One condition on a turn.

    Attributes
    ----------
    path : str
        Dotted, over ``request``, ``response`` (their payloads), ``model`` and ``stop_reason``; a part in
        digits is an index into a list.
    op : str
        One of :data:`OPERATORS`.
    value : Any
        What the path's value is compared with.
    """

    __slots__ = ("path", "op", "value")  # noqa: RUF023  as given
    path: str
    op: str
    value: Any

    def __init__(self, path: str, op: str, value: Any) -> None:
        path, op, value = _checked(path, op, value)
        self._fill(path=path, op=op, value=value)

    def holds(self, request: Payload | None, response: Payload) -> bool:
        """Tell whether a turn fulfils the condition."""
        return OPERATORS[self.op](_look_up(self.path.split("."), request, response), self.value)


def conditions_of(value: Any, what: str = "`when`") -> tuple[tuple[Condition, ...], list[str]]:
    """Return the conditions that a rule's ``when`` holds, one or a list of them, and the warnings.

    Raises
    ------
    ConfigurationError
        A condition is no mapping, lacks a member, has an unknown operator, or a value its operator cannot
        compare with.
    """
    warnings: list[str] = []
    entries = value if isinstance(value, (list, tuple)) else [value]
    return tuple(_condition(entry, what, warnings) for entry in entries), warnings


def all_hold(conditions: Sequence[Condition], request: Payload | None, response: Payload) -> bool:
    """Tell whether a turn fulfils every condition."""
    return all(condition.holds(request, response) for condition in conditions)


def _condition(entry: Any, what: str, warnings: list[str]) -> Condition:
    if isinstance(entry, Condition):
        return entry
    if not isinstance(entry, dict):
        raise ConfigurationError(
            f"{what} must be a mapping of path, op and value, or a list of those; found {described(entry)}"
        )
    missing = [name for name in _MEMBERS if name not in entry]
    if missing:
        raise ConfigurationError(f"{what} lacks `{missing[0]}`; a condition has path, op and value")
    warnings += [
        f"{what} has an unknown member {shown(name)}" for name in map(str, entry) if name not in _MEMBERS
    ]
    try:
        found = Condition(entry["path"], entry["op"], entry["value"])
    except ConfigurationError as error:
        raise ConfigurationError(error.message, line=getattr(entry, "line", 0)) from None
    if found.path.partition(".")[0] not in ROOTS:
        roots = ", ".join(ROOTS)
        warnings.append(f"the path {shown(found.path)} starts with none of {roots}, so it is always null")
    return found


def _checked(path: Any, op: Any, value: Any) -> tuple[str, str, Any]:
    path = text_of(path, "`path` of a condition")
    if not path:
        raise ConfigurationError("`path` of a condition is empty; it starts with " + " or ".join(ROOTS))
    op = text_of(op, "`op` of a condition")
    if op not in OPERATORS:
        raise ConfigurationError(f"unknown `op` {shown(op)}; known are {', '.join(OPERATORS)}")
    value = value_of(value, "`value` of a condition")
    if op in _ORDERS and not _is_number(value):
        raise ConfigurationError(f"`value` of {op} must be a number; found {described(value)}")
    if op in ("in", "not_in") and not isinstance(value, (list, str)):
        raise ConfigurationError(f"`value` of {op} must be a list or a text; found {described(value)}")
    return path, op, value


# The value at a path.


def _look_up(parts: list[str], request: Payload | None, response: Payload) -> Any:
    root = parts[0]
    if root == "request":
        found: Any = request
    elif root == "response":
        found = response
    elif root == "model":
        # What was asked for; some producers name the model in the response only.
        found = (request or {}).get("model") or response.get("model")
    elif root == "stop_reason":
        found = response.get("stop_reason")
    else:
        return None
    for part in parts[1:]:
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and part.isascii() and part.isdigit() and len(part) <= _MAX_INDEX_DIGITS:
            index = int(part)
            found = found[index] if index < len(found) else None
        else:
            return None
    return found


# Operators: of what was found and what it is compared with.


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda found, value: _is_number(found) and compare(found, value)


def _contains(container: Any, item: Any) -> bool:
    if isinstance(container, list):
        return any(equal(item, element) for element in container)
    return isinstance(container, str) and isinstance(item, str) and item in container


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    ">": _ordered(lambda found, value: found > value),
    ">=": _ordered(lambda found, value: found >= value),
    "<": _ordered(lambda found, value: found < value),
    "<=": _ordered(lambda found, value: found <= value),
}

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": equal,
    "!=": lambda found, value: not equal(found, value),
    **_ORDERS,
    "in": lambda found, value: _contains(value, found),
    "not_in": lambda found, value: not _contains(value, found),
    "contains": _contains,
    "not_contains": lambda found, value: not _contains(found, value),
}
"""Every operator, by the way it is written."""
