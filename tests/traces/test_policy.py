"""Policies are checked when they are loaded; what is refused names rule, file and line (levels 6.1)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stratadiff.errors import ConfigurationError, LimitError, NotFoundError
from stratadiff.limits import MAX_POLICY_RULES
from stratadiff.traces import policy
from stratadiff.traces.policy import Policy, load_policy, violations_of
from stratadiff.traces.reader import trace_of
from stratadiff.traces.rules import KINDS, PolicyRule
from traces.records import response, use


def rule(kind: str = "no_call", **more: Any) -> dict[str, Any]:
    return {"id": "r", "kind": kind, "params": {"tool": "x"}, **more}


def saved(folder: Path, text: str | bytes, name: str = "policy.yaml") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def refusal(folder: Path, text: str | bytes, name: str = "policy.yaml") -> str:
    path = saved(folder, text, name)
    with pytest.raises(ConfigurationError) as caught:
        load_policy(path)
    assert caught.value.where == path
    assert "\n" not in str(caught.value)
    return caught.value.message


# Loading


def test_a_policy_of_every_kind(tmp_path: Path) -> None:
    text = """
apiVersion: shadow.dev/v1alpha1
rules:
  - id: backup-before-migrate
    kind: must_call_before
    params: {first: backup_database, then: run_migration}
    severity: critical
    description: no way back
  - {kind: must_call_once, params: {tool: send}}
  - {kind: no_call, params: {tool: rm}}
  - {kind: max_turns, params: {limit: 9}}
  - {kind: required_stop_reason, params: {allowed: [end_turn, tool_use]}}
  - {kind: max_total_tokens, params: {limit: 0}}
  - {kind: must_include_text, params: {text: Thanks}}
  - {kind: must_include_text_each, params: {text: ""}, scope: session}
  - {kind: forbidden_text, params: {text: "SSN:"}, when: {path: model, op: ==, value: m}}
"""
    found = load_policy(saved(tmp_path, text))
    assert found.warnings == ()
    assert [one.kind for one in found] == list(KINDS)
    assert [one.id for one in found] == ["backup-before-migrate", *(f"rule-{i}" for i in range(1, 9))]
    assert found[0] == PolicyRule(
        "backup-before-migrate",
        "must_call_before",
        {"first": "backup_database", "then": "run_migration"},
        "critical",
        "no way back",
    )
    assert (found[7].scope, found[8].when[0].value) == ("session", "m")
    # The same said in other ways.
    value = yaml.safe_load(text)
    assert load_policy(value) == load_policy(value["rules"]) == load_policy(tuple(value["rules"])) == found
    assert load_policy(saved(tmp_path, json.dumps(value), "policy.json")) == found
    assert load_policy(saved(tmp_path, json.dumps(value["rules"]), "policy")) == found
    assert load_policy(found.rules) == load_policy(iter(found)) == load_policy(found) == found
    assert load_policy(Path(saved(tmp_path, text))) == found
    assert load_policy(saved(tmp_path, text).encode()) == found


def test_u25_text_stays_text(tmp_path: Path) -> None:
    text = """
- {id: on, kind: no_call, params: {tool: no}}
- {id: 1.10, kind: forbidden_text, params: {text: 1.10}}
- {id: 12:30:45, kind: must_include_text, params: {text: 12:30:45}, description: yes}
- {id: 0x1F, kind: required_stop_reason, params: {allowed: [off, 1e3, true]}, severity: info}
"""
    found = load_policy(saved(tmp_path, text))
    assert [one.id for one in found] == ["on", "1.10", "12:30:45", "0x1F"]
    values = [next(iter(one.params.values())) for one in found]
    assert values == ["no", "1.10", "12:30:45", ["off", "1e3", "true"]]
    assert found[2].description == "yes"
    violations = violations_of(trace_of([response("pay 1.10 at 12:30:45", use("no"), stop="off")]), found)
    assert [(one.rule_id, one.detail) for one in violations] == [
        ("on", "forbidden tool `no` called"),
        ("1.10", "forbidden text '1.10' present in response"),
    ]


@pytest.mark.parametrize(
    ("spelling", "found"),
    [
        ("010", "010: write 10 or 8"),
        ("1_000", "1_000: write 1000"),
        ("1e3", "1e3: write 1000"),
        ("3.0", "3.0: write 3"),
        ("yes", "'yes'"),
        ("'10'", "the text '10': write 10 without quotes"),
    ],
)
def test_u25_an_integer_is_written_one_way(spelling: str, found: str, tmp_path: Path) -> None:
    text = f"rules:\n  - id: short\n    kind: max_turns\n    params:\n      limit: {spelling}\n"
    assert refusal(tmp_path, text) == (
        f"rule #0 ('short'): line 5: `limit` must be a whole number; found {found}"
    )


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("10.0", "the number 10.0: write 10"),
        ("true", "the boolean true"),
        ("1e1", "the number 10.0: write 10"),
    ],
)
def test_u25_numbers_of_json_keep_their_class(limit: str, found: str, tmp_path: Path) -> None:
    text = '{"rules": [{"id": "a", "kind": "max_turns", "params": {"limit": ' + limit + "}}]}"
    assert refusal(tmp_path, text, "p.json") == (
        f"rule #0 ('a'): `limit` must be a whole number; found {found}"
    )


def test_u25_repeated_keys(tmp_path: Path) -> None:
    text = "rules:\n- kind: required_stop_reason\n  params:\n    allowed: [a]\n    allowed: [b]\n"
    expected = "line 5: the key 'allowed' is there twice, on line 4 already; keep one"
    assert refusal(tmp_path, text) == expected
    text = '{"rules": [],\n "rules": []}'
    assert refusal(tmp_path, text, "p.json") == "line 2: the member 'rules' is there twice; keep one"


def test_u25_an_alias_bomb(tmp_path: Path) -> None:
    lines = ["- &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(LimitError, match=r"line 6: more than 500,000 values"):
        load_policy(saved(tmp_path, "\n".join(lines)))


HEAD = "- id: a\n  kind: no_call\n  params: {tool: x}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "a policy is a mapping with a list `rules`, or the list; found 'a'"),
        ("--- ''\n", "a policy is a mapping with a list `rules`, or the list; found the text ''"),
        ("rule: []\n", "a policy is a mapping with a list `rules`; `rules` is missing"),
        ("a: 1\nrules:\n", "line 2: `rules` must be a list; found nothing"),
        ("rules: {a: 1}\n", "line 1: `rules` must be a list; found a mapping"),
        (
            "apiVersion: v2\nrules: []\n",
            "line 1: `apiVersion` must be shadow.dev/v1alpha1 or left out; found 'v2'",
        ),
        (HEAD + "- x\n", "rule #1: line 4: must be a mapping; found 'x'"),
        (HEAD + "- [x]\n", "rule #1: line 4: must be a mapping; found a list"),
        (HEAD + "-\n", "rule #1: line 4: must be a mapping; found nothing"),
        (
            HEAD + "- id: b\n",
            "rule #1 ('b'): line 4: `kind` is missing; known kinds are " + ", ".join(sorted(KINDS)),
        ),
        (
            HEAD + "- id: b\n  kind: ltl_formula\n",
            "rule #1 ('b'): line 5: unknown kind 'ltl_formula'; known kinds are " + ", ".join(sorted(KINDS)),
        ),
        (HEAD + "  severity: fatal\n",
         "rule #0 ('a'): line 4: unknown severity 'fatal'; write one of info, warning, error, critical"),
        (HEAD + "  severity:\n",
         "rule #0 ('a'): line 4: `severity` must be text; found nothing (an empty text is written '')"),
        (HEAD + "  scope: turn\n",
         "rule #0 ('a'): line 4: unknown scope 'turn'; write one of trace, session"),
        (HEAD + "  when:\n",
         "rule #0 ('a'): line 4: `when` must be a mapping of path, op and value, or a list of those; "
         "found nothing"),
        (HEAD + "  when:\n  - path: model\n    op: like\n    value: x\n",
         "rule #0 ('a'): line 5: unknown `op` 'like'; known are "
         "==, !=, >, >=, <, <=, in, not_in, contains, not_contains"),
        ("- {id: a, kind: no_call}\n",
         "rule #0 ('a'): line 1: `params` must be a mapping with `tool`; they are missing"),
        ("- id: a\n  kind: no_call\n  params:\n",
         "rule #0 ('a'): line 3: `params` must be a mapping with `tool`; found nothing"),
        ("- id: a\n  kind: no_call\n  params: [x]\n",
         "rule #0 ('a'): line 3: `params` must be a mapping with `tool`; found a list"),
        ("- id: a\n  kind: must_call_before\n  params: {first: x}\n",
         "rule #0 ('a'): line 3: the param `then` is missing; must_call_before takes `first` and `then`"),
        ("- kind: no_call\n  params:\n    tool:\n",
         "rule #0: line 3: `tool` must be text; found nothing (an empty text is written '')"),
        ("- kind: no_call\n  params:\n    tool: ~\n",
         "rule #0: line 3: `tool` must be text; found ~ (the text is written '~')"),
        ("- kind: no_call\n  params:\n    tool: [x]\n", "rule #0: line 3: `tool` must be text; found a list"),
        # A string, not a list: never fires in a peer.
        ("- kind: required_stop_reason\n  params:\n    allowed: tool_use\n",
         "rule #0: line 3: `allowed` must be a list of texts; found 'tool_use'"),
        ("- kind: required_stop_reason\n  params:\n    allowed:\n      - a\n      - [b]\n",
         "rule #0: line 5: item 1 of `allowed` must be text; found a list"),
        ("- id:\n  kind: no_call\n  params: {tool: x}\n",
         "rule #0 (''): line 1: `id` must be text; found nothing (an empty text is written '')"),
        ("- id: [a]\n  kind: no_call\n  params: {tool: x}\n",
         "rule #0: line 1: `id` must be text; found a list"),
        ("- kind: max_turns\n  params: {limit: -1}\n",
         "rule #0: line 2: `limit` must be at least 0; found -1"),
    ],
)  # fmt: skip
def test_every_error_names_rule_and_line(text: str, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, text) == message


def test_errors_carry_file_and_line(tmp_path: Path) -> None:
    path = saved(tmp_path, HEAD + "  scope: turn\n")
    with pytest.raises(ConfigurationError) as caught:
        load_policy(path)
    error = caught.value
    assert (error.where, error.line, error.code) == (path, 4, "configuration")
    assert str(error).startswith(f"{path}: rule #0 ('a'): line 4: ")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "a policy is a mapping with a list `rules`, or the list; found null"),
        (5, "a policy is a mapping with a list `rules`, or the list; found the number 5"),
        ({"rules": "x"}, "`rules` must be a list; found the text 'x'"),
        ({"rules": [5]}, "rule #0: must be a mapping; found the number 5"),
        # What a YAML reader made of `tool: no`.
        ([rule(params={"tool": False})],
         "rule #0 ('r'): `tool` must be text; found the boolean false; put it in quotes"),
        ([rule("max_turns", params={"limit": True})],
         "rule #0 ('r'): `limit` must be a whole number; found the boolean true"),
        ([rule(id=True)], "rule #0: `id` must be text; found the boolean true; put it in quotes"),
        ([rule(params={"tool": "\ud800"})],
         "rule #0 ('r'): `tool` holds half a surrogate pair, '\\ud800', which no trace can hold; remove it"),
    ],
)  # fmt: skip
def test_values_already_parsed_are_checked_as_well(value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_policy(value)
    assert str(caught.value) == message


def test_warnings(tmp_path: Path) -> None:
    text = """
note: x
rules:
  - {id: a, kind: no_call, params: {tool: x, tools: y}, level: error}
  - {kind: no_call, params: {tool: x}}
  - {id: a, kind: no_call, params: {tool: x}, when: {path: x, op: ==, value: 1, also: 2}}
  - {id: rule-1, kind: no_call, params: {tool: x}}
"""
    assert load_policy(saved(tmp_path, text)).warnings == (
        "unknown member 'note' is ignored",
        "rule #0 ('a'): unknown param 'tools' is ignored; no_call takes `tool`",
        "rule #0 ('a'): unknown member 'level' is ignored",
        "rule #2 ('a'): `when` has an unknown member 'also'",
        "rule #2 ('a'): the path 'x' starts with none of request, response, model, stop_reason, "
        "so it is always null",
        "rule #2 ('a'): rule #0 has the same id, so their violations cannot be told apart",
        "rule #3 ('rule-1'): rule #1 has the same id, so their violations cannot be told apart",
    )  # fmt: skip


def test_the_number_of_rules_is_bounded(tmp_path: Path) -> None:
    text = "\n".join(f"- {{id: r{i}, kind: no_call, params: {{tool: x}}}}" for i in range(100_000))
    with pytest.raises(LimitError, match=r"(500,000 values|100,000 rules)"):
        load_policy(saved(tmp_path, text))
    rules = [rule(id=str(i)) for i in range(MAX_POLICY_RULES + 1)]
    with pytest.raises(LimitError, match="has 10,001 rules; at most 10,000 are run"):
        load_policy(rules)
    text = "\n".join(f"- {{id: r{i}, kind: no_call, params: {{tool: x}}}}" for i in range(MAX_POLICY_RULES))
    assert len(load_policy(saved(tmp_path, text))) == MAX_POLICY_RULES


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load_policy(str(tmp_path / "none.yaml"))


def test_hostile_text_is_quoted(tmp_path: Path) -> None:
    message = refusal(tmp_path, '- kind: "\\e]0;T\\a\\r"\n')
    assert "\x1b" not in message
    assert "unknown kind '\\x1b]0;T\\x07\\r'" in message


def test_loading_json_imports_no_yaml(tmp_path: Path) -> None:
    saved(tmp_path, json.dumps([rule()]), "p.json")
    program = (
        "import sys; from stratadiff.traces.policy import load_policy; load_policy(sys.argv[1]);"
        "print([name for name in ('yaml', 're', 'json', 'typing', 'dataclasses') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", program, str(tmp_path / "p.json")],
        capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(policy.__file__).parent.parent.parent)},
    )  # fmt: skip
    assert result.stdout == "[]\n"


def test_a_policy_is_a_sequence() -> None:
    found = load_policy([rule(), rule(id="q")])
    assert isinstance(found, Policy)
    assert (len(found), [one.id for one in found], found[1].id) == (2, ["r", "q"], "q")
