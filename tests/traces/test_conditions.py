"""Conditions of policy rules: paths, operators, what is refused (levels 6.4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stratadiff.core.yamltext import read_yaml
from stratadiff.errors import ConfigurationError
from stratadiff.traces.conditions import OPERATORS, Condition, all_hold, conditions_of

REQUEST = {
    "model": "asked",
    "messages": [{"role": "system"}, {"role": "user", "content": "hi there"}],
    "params": {
        "t": 1.5,
        "flag": True,
        "none": None,
        "list": [1, 2, "x", None],
        "map": {"k": 1},
        "7": "seven",
    },
}
RESPONSE = {"model": "answered", "stop_reason": "end_turn", "latency_ms": 10, "content": [{"text": "two"}]}


def holds(path: str, op: str, value: Any, request: Any = REQUEST, response: Any = RESPONSE) -> bool:
    return Condition(path, op, value).holds(request, response)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("request", REQUEST),
        ("request.messages.1.role", "user"),
        ("request.messages.01.role", "user"),
        ("request.params.list.2", "x"),
        ("request.params.7", "seven"),
        ("response.content.0.text", "two"),
        ("response.latency_ms", 10.0),
        ("stop_reason", "end_turn"),
        ("model", "asked"),
        ("request.nothing", None),
        ("request.params.none", None),
        ("request.params.none.deeper", None),
        ("request.params.t.0", None),
        ("request.messages.2", None),
        ("request.messages.-1", None),
        ("request.messages.+1", None),
        ("request.messages.１", None),
        ("request.messages.99999999999999999999", None),
        ("request.messages.first", None),
        ("response.content.0.text.0", None),
        ("request..model", None),
        ("model.x", None),
        ("other", None),
    ],
)
def test_paths(path: str, value: Any) -> None:
    assert holds(path, "==", value)
    assert not holds(path, "!=", value)


def test_a_turn_without_request() -> None:
    assert holds("request", "==", None, None)
    assert holds("request.model", "==", None, None)
    assert holds("model", "==", "answered", None)
    assert holds("model", "==", "answered", {"model": ""})
    assert holds("model", "==", None, None, {})
    assert holds("stop_reason", "==", None, None, {})


@pytest.mark.parametrize(
    ("path", "op", "value", "expected"),
    [
        # By JSON equality: a boolean is no number, 1 is 1.0.
        ("request.params.flag", "==", 1, False),
        ("request.params.flag", "==", True, True),
        ("request.params.map", "==", {"k": 1.0}, True),
        ("request.params.map", "!=", {"k": True}, True),
        # Numbers only.
        ("request.params.t", ">", 1, True),
        ("request.params.t", ">", 1.5, False),
        ("request.params.t", ">=", 1.5, True),
        ("request.params.t", "<", 2, True),
        ("request.params.t", "<=", 1, False),
        ("request.params.flag", ">=", 0, False),
        ("request.params.flag", "<", 5, False),
        ("model", ">", 0, False),
        ("request.nothing", "<", 0, False),
        # Elements.
        ("model", "in", ["asked", "x"], True),
        ("model", "in", ["other"], False),
        ("model", "not_in", ["other"], True),
        ("request.nothing", "in", [None], True),
        ("request.nothing", "not_in", ["x"], True),
        ("request.params.flag", "in", [1], False),
        ("response.latency_ms", "in", [10.0], True),
        ("request.params.list", "contains", 2.0, True),
        ("request.params.list", "contains", None, True),
        ("request.params.list", "contains", True, False),
        ("request.params.list", "not_contains", "y", True),
        # Substrings.
        ("request.messages.1.content", "contains", "there", True),
        ("request.messages.1.content", "contains", "", True),
        ("request.messages.1.content", "not_contains", "there", False),
        ("request.messages.1.content", "contains", 1, False),
        ("request.nothing", "contains", "x", False),
        ("request.nothing", "not_contains", "x", True),
        ("request.params.map", "contains", "k", False),
    ],
)
def test_operators(path: str, op: str, value: Any, expected: bool) -> None:
    assert holds(path, op, value) is expected


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0, 1.5])
    | st.sampled_from("ab "),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(json_values, json_values)
def test_negations(found: Any, value: Any) -> None:
    response = {"x": found}
    for op, negation in (("==", "!="), ("in", "not_in"), ("contains", "not_contains")):
        if op == "in" and not isinstance(value, (list, str)):
            continue
        assert holds("response.x", op, value, None, response) is not holds(
            "response.x", negation, value, None, response
        )
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        more, less = (holds("response.x", op, value, None, response) for op in (">", "<="))
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        assert more + less == is_number


def test_all_must_hold() -> None:
    yes, no = Condition("model", "==", "asked"), Condition("model", "==", "other")
    assert all_hold((), REQUEST, RESPONSE)
    assert all_hold((yes, yes), REQUEST, RESPONSE)
    assert not all_hold((yes, no), REQUEST, RESPONSE)


# Loading.


def test_one_or_a_list() -> None:
    one = {"path": "model", "op": "==", "value": "m"}
    expected = Condition("model", "==", "m")
    assert conditions_of(one) == ((expected,), [])
    assert conditions_of([one, expected]) == ((expected, expected), [])
    assert conditions_of([]) == ((), [])
    assert expected.to_dict() == one


def test_yaml_values_are_what_they_say() -> None:
    text = b"""
- {path: request.params.t, op: '>', value: 1.5}
- {path: model, op: ==, value: 12:30:45}
- {path: request.params.flag, op: ==, value: true}
- {path: model, op: in, value: [a, '1', 1, null]}
"""
    conditions, warnings = conditions_of(read_yaml(text))
    assert [condition.value for condition in conditions] == [1.5, "12:30:45", True, ["a", "1", 1, None]]
    assert warnings == []


def test_warnings() -> None:
    _, warnings = conditions_of({"path": "reqest.x", "op": "==", "value": 1, "note": ""})
    assert warnings == [
        "`when` has an unknown member 'note'",
        "the path 'reqest.x' starts with none of request, response, model, stop_reason, so it is always null",
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "`when` must be a mapping of path, op and value, or a list of those; found null"),
        ("m", "`when` must be a mapping of path, op and value, or a list of those; found the text 'm'"),
        ([[]], "`when` must be a mapping of path, op and value, or a list of those; found a list"),
        ({"op": "==", "value": 1}, "`when` lacks `path`; a condition has path, op and value"),
        ({"path": "model", "value": 1}, "`when` lacks `op`; a condition has path, op and value"),
        ({"path": "model", "op": "=="}, "`when` lacks `value`; a condition has path, op and value"),
        (
            {"path": 5, "op": "==", "value": 1},
            "`path` of a condition must be text; found the number 5; put it in quotes",
        ),
        (
            {"path": "", "op": "==", "value": 1},
            "`path` of a condition is empty; it starts with request or response or model or stop_reason",
        ),
        ({"path": "model", "op": "=~", "value": 1}, "unknown `op` '=~'; known are " + ", ".join(OPERATORS)),
        ({"path": "model", "op": ">", "value": "3"}, "`value` of > must be a number; found the text '3'"),
        (
            {"path": "model", "op": "<=", "value": True},
            "`value` of <= must be a number; found the boolean true",
        ),
        (
            {"path": "model", "op": "in", "value": 5},
            "`value` of in must be a list or a text; found the number 5",
        ),
        (
            {"path": "model", "op": "==", "value": float("nan")},
            "`value` of a condition must be a value that JSON has; found the number nan",
        ),
    ],
)
def test_refused(value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        conditions_of(value)
    assert str(caught.value) == message


def test_u25_words_that_readers_disagree_about() -> None:
    value = read_yaml(b"- {path: a, op: ==, value: 1}\n- path: model\n  op: ==\n  value: no\n")
    with pytest.raises(ConfigurationError) as caught:
        conditions_of(value)
    assert str(caught.value) == (
        "line 2: `value` of a condition is no, text to some YAML readers and false to others: "
        "write 'no' or false"
    )
