"""YAML that keeps its spelling, refuses repeated keys and is bounded."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stratadiff.core.yamltext import PlainScalar, YamlMapping, YamlSequence, read_yaml
from stratadiff.errors import ConfigurationError, LimitError
from stratadiff.limits import MAX_YAML_BYTES, MAX_YAML_DEPTH, MAX_YAML_NODES


@pytest.fixture(params=["libyaml", "pure"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run with and without libyaml."""
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")
    return str(request.param)


def read(text: str | bytes) -> Any:
    return read_yaml(text.encode() if isinstance(text, str) else text, "p.yaml")


def refusal(text: str | bytes, kind: type[Exception] = ConfigurationError) -> str:
    with pytest.raises(kind) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith("p.yaml: ")
    assert "\n" not in message
    return message.removeprefix("p.yaml: ")


def kinds(value: Any) -> Any:
    """Rewrite a value so that plain and quoted scalars are told apart."""
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    if isinstance(value, list):
        return [kinds(item) for item in value]
    return ("plain" if isinstance(value, PlainScalar) else "quoted", str(value))


# Values.


@pytest.mark.parametrize(
    "spelling",
    ["no", "on", "Yes", "true", "null", "~", "010", "1_000", "0x1F", "1e3", "3.0", "1.10", "12:30:45",
     "2026-05-01", ".inf", "=", "a b", "SSN:x", "-", "x#y"],
)  # fmt: skip
def test_u25_a_plain_scalar_keeps_its_spelling(spelling: str, loader: str) -> None:
    found = read(f"key: {spelling}\n") if spelling != "-" else read("key: -x\n")
    assert isinstance(found["key"], PlainScalar)
    assert found["key"] == (spelling if spelling != "-" else "-x")


def test_quotes_blocks_and_tags_tell_plain_from_text(loader: str) -> None:
    text = """
plain: no
single: 'no'
double: "a\\u2028\\x85b"
literal: |
  one
  two
folded: >
  one
  two
empty:
nothing: ''
tagged: !!str 010
forced: ! 010
number: !!int 010
"""
    assert kinds(read(text)) == {
        "plain": ("plain", "no"),
        "single": ("quoted", "no"),
        "double": ("quoted", "a\u2028\x85b"),
        "literal": ("quoted", "one\ntwo\n"),
        "folded": ("quoted", "one two\n"),
        "empty": ("plain", ""),
        "nothing": ("quoted", ""),
        "tagged": ("quoted", "010"),
        "forced": ("quoted", "010"),
        "number": ("plain", "010"),
    }


def test_lines(loader: str) -> None:
    found = read("# comment\na: 1\r\nb:\n  - x\n  - [y,\n     z]\n  - {p: q}\nc: 'quoted'\n")
    assert isinstance(found, YamlMapping)
    assert found.line == 2
    assert found.lines == {"a": 2, "b": 3, "c": 8}
    assert found["a"].line == 2
    items = found["b"]
    assert isinstance(items, YamlSequence)
    assert (items.line, items.lines) == (4, [4, 5, 7])
    assert items[1].lines == [5, 6]
    assert items[2].line == 7


def test_scalars_at_the_top(loader: str) -> None:
    assert kinds(read("--- a\n...\n# end\n")) == ("plain", "a")
    assert kinds(read("--- \n...\n")) == ("plain", "")
    assert kinds(read("%YAML 1.2\n---\n- a\n")) == [("plain", "a")]


def test_anchors_aliases_and_merges(loader: str) -> None:
    found = read("a: &x {p: 1, q: 2}\nb: *x\nc:\n  q: 3\n  <<: *x\nd: {<<: [{p: 9}, *x], r: 4}\n'<<': 5\n")
    assert found["b"] is found["a"]
    assert found["c"] == {"q": "3", "p": "1"}
    assert found["d"] == {"r": "4", "p": "9", "q": "2"}
    assert found["<<"] == "5"
    assert found["c"].lines == {"q": 4, "p": 1}
    # A later anchor of one name hides the earlier one.
    assert read("- &x a\n- *x\n- &x b\n- *x\n") == ["a", "a", "b", "b"]


leaves = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=8)


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(leaves, inner), max_leaves=12))
def test_what_yaml_writes_is_read_back(value: Any) -> None:
    text = yaml.safe_dump(value, allow_unicode=True, default_style='"')
    assert read(text) == value


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(leaves, inner), max_leaves=12))
def test_json_is_read_as_well(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if not any(ord(character) == 0x7F or 0x80 <= ord(character) < 0xA0 for character in text) and (
        "\ufeff" not in text and "\ufffe" not in text and "\uffff" not in text
    ):
        assert read(text) == value


# Refusals.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; nothing but blanks and comments is in it"),
        ("# nothing\n\n", "is empty; nothing but blanks and comments is in it"),
        (b"\xef\xbb\xbfa: 1", "line 1: starts with a byte-order mark; save it as UTF-8 without one"),
        (b"a: 1\nb: \xff\n", "line 2: not UTF-8 (byte 0xff); save it as UTF-8"),
        (b"\xff\xfea\x00:\x00", "line 1: not UTF-8 (byte 0xff); save it as UTF-8"),
        (
            "a: 1\nb: \x07\n",
            "line 2: holds U+0007, which YAML does not allow; write it as an escape in double quotes",
        ),
        ("a: 1\n\tb: 2\n", "line 2: indented with a tab, which YAML does not allow; use spaces"),
        ("a:\n  b: 1\n\tc: 2\n", "line 3: indented with a tab, which YAML does not allow; use spaces"),
        ("a:\n\t- b\n", "line 2: indented with a tab, which YAML does not allow; use spaces"),
        (
            "a: 1\rb: 2\n",
            "line 1: holds a carriage return that is not part of a line end; end lines with LF or CR LF",
        ),
        (
            "a: 1\nb: 'x\u2028y'\n",
            "line 2: holds U+2028, which only some YAML readers take for the end of a line; "
            "write \\u2028 in double quotes",
        ),
        (
            "a: x\x85y\n",
            "line 1: holds U+0085, which only some YAML readers take for the end of a line; "
            "write \\x85 in double quotes",
        ),
        ("a: 1\n---\nb: 2\n", "line 2: a second document starts; keep one to a file"),
        ("a: SSN: x\n", "line 1: not YAML, a colon where none can be; put a text that has a colon in quotes"),
        ("a: 1\nb: @x\n", "line 2: not YAML, no text without quotes starts with '@'; put it in quotes"),
        ("a: 1\nb: *x\n", "line 2: the alias *x has no anchor above it"),
        ("a: &x [*x]\n", "line 1: the alias *x stands inside what it stands for"),
        ("? [a, b]\n: 1\n", "line 1: a key must be text; found a list or a mapping"),
        ("a: &x [1]\n*x : 2\n", "line 2: a key must be text; found a list or a mapping"),
        ("{? {a: b}\n : 1}\n", "line 1: a key must be text; found a list or a mapping"),
        ("<<: x\n", "line 1: << merges a mapping or a list of mappings; found something else"),
        ("<<: [{a: 1}, x]\n", "line 1: << merges a mapping or a list of mappings; found something else"),
        ("<<: {a: 1}\n<<: {b: 2}\n", "line 2: the key << is there twice; give it a list"),
        ("a: !!set {x}\n", "line 1: the tag '!!set' is not allowed; write the plain value"),
        ("a: !mine x\n", "line 1: the tag '!mine' is not allowed; write the plain value"),
        ("a: !!binary aGk=\n", "line 1: the tag '!!binary' is not allowed; write the plain value"),
        (
            "!!python/object/apply:os.system [echo]\n",
            "line 1: the tag '!!python/object/apply:os.system' is not allowed; write the plain value",
        ),
        (
            "a: !!python/name:os.system ''\n",
            "line 1: the tag '!!python/name:os.system' is not allowed; write the plain value",
        ),
        (
            "%TAG ! tag:x,2000:\n---\n!y {a: 1}\n",
            "line 3: the tag 'tag:x,2000:y' is not allowed; write the plain value",
        ),
    ],
)
def test_refused(text: str | bytes, message: str, loader: str) -> None:
    assert refusal(text) == message


@pytest.mark.parametrize(
    "text", ["a: [1, 2\n", "a: 'x\n\n", "a: 'x' y\n", "- a\nb: c\n", 'a: "\\ud800"\n', "%X\n", "a: }"]
)
def test_what_is_no_yaml_is_one_sentence_with_a_line(text: str, loader: str) -> None:
    message = refusal(text)
    assert message.startswith(f"line {text.rstrip().count(chr(10)) + 1}: not YAML")


def test_u25_a_key_given_twice_is_an_error_with_its_line(loader: str) -> None:
    text = "rules:\n  - id: a\n    params: {allowed: [x],\n             allowed: [y]}\n"
    assert refusal(text) == "line 4: the key 'allowed' is there twice, on line 3 already; keep one"
    # However it is written.
    assert refusal("a: 1\n'a': 2\n").startswith("line 2: the key 'a' is there twice")
    assert refusal('1: a\n"1": b\n').startswith("line 2: the key '1' is there twice")
    assert refusal("a: 1\nb: &k a\n? *k\n: 2\n").startswith("line 3: the key 'a' is there twice")


# Bounds.


def test_u25_aliases_are_bounded(loader: str) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    start = time.process_time()
    message = refusal("\n".join(lines), LimitError)
    assert message == "line 6: more than 500,000 values, those of an alias counted each time"
    assert time.process_time() - start < 1


def test_aliases_count_their_depth(loader: str) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 100)]
    # a0 is one level in the mapping's own, and each line adds one.
    assert refusal("\n".join(lines), LimitError) == f"line {MAX_YAML_DEPTH}: nested deeper than 64 levels"
    assert read("\n".join(lines[: MAX_YAML_DEPTH - 1]))


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "[{a: "])
def test_nesting_is_bounded_and_never_overflows_a_stack(opening: str, loader: str) -> None:
    limit = sys.getrecursionlimit()
    message = refusal(opening * 100_000, LimitError)
    assert message == "line 1: nested deeper than 64 levels"
    assert sys.getrecursionlimit() == limit


def test_nesting_up_to_the_bound(loader: str) -> None:
    assert read("- " * MAX_YAML_DEPTH + "x")
    assert read("[" * MAX_YAML_DEPTH + "]" * MAX_YAML_DEPTH)
    refusal("- " * (MAX_YAML_DEPTH + 1) + "x", LimitError)


def test_size_is_bounded() -> None:
    assert refusal(b"#" * (MAX_YAML_BYTES + 1), LimitError) == "more than 16,777,216 bytes; split it"


@pytest.mark.slow
def test_the_number_of_values_is_bounded() -> None:
    assert len(read("- x\n" * (MAX_YAML_NODES - 1))) == MAX_YAML_NODES - 1
    message = refusal("- x\n" * MAX_YAML_NODES, LimitError)
    assert message == "line 500000: more than 500,000 values, those of an alias counted each time"


@given(st.text(st.sampled_from(list("ab:-[]{}&*!|>'\"%@`,?#\n\t ~<.\\u0")), max_size=30))
def test_nothing_but_our_errors(text: str) -> None:
    try:
        read(text)
    except (ConfigurationError, LimitError) as error:
        assert str(error).startswith("p.yaml: ")
