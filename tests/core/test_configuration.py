"""Configuration files by name and content; what is wanted of a value, and what is said of another."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stratadiff.core.configuration import described, integer_of, read_configuration, text_of, value_of
from stratadiff.core.yamltext import PlainScalar, read_yaml
from stratadiff.errors import ConfigurationError, LimitError, NotFoundError, UnreadableError
from stratadiff.limits import MAX_YAML_BYTES

DISPUTED = "one thing to some YAML readers and another to others"


def plain(text: str) -> PlainScalar:
    return PlainScalar(text, 1)


def refusal(reader: Callable[[Any, str], Any], value: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        reader(value, "`x`")
    assert caught.value.code == "configuration"
    return str(caught.value)


# Text.


@pytest.mark.parametrize(
    "spelling", ["no", "on", "1.10", "12:30:45", "010", "true", "2026-05-01", "a b", "=", "-"]
)
def test_u25_text_stays_text(spelling: str) -> None:
    found = text_of(plain(spelling), "`x`")
    assert found == spelling
    assert type(found) is str


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (plain(""), "`x` must be text; found nothing (an empty text is written '')"),
        (plain("~"), "`x` must be text; found ~ (the text is written '~')"),
        (plain("null"), "`x` must be text; found null (the text is written 'null')"),
        (None, "`x` must be text; found null"),
        (True, "`x` must be text; found the boolean true; put it in quotes"),
        (False, "`x` must be text; found the boolean false; put it in quotes"),
        (1.1, "`x` must be text; found the number 1.1; put it in quotes"),
        (12, "`x` must be text; found the number 12; put it in quotes"),
        ([1], "`x` must be text; found a list"),
        ({"a": 1}, "`x` must be text; found a mapping"),
        (b"x", "`x` must be text; found a Python bytes; put it in quotes"),
        ("\ud800", "`x` holds half a surrogate pair, '\\ud800', which no trace can hold; remove it"),
    ],
)
def test_u25_what_is_no_text_is_named(value: Any, message: str) -> None:
    assert refusal(text_of, value) == message


# Integers.


@pytest.mark.parametrize("value", [0, 10, 10**99, plain("0"), plain("10"), plain("-0"), plain("9" * 100)])
def test_integers(value: Any) -> None:
    assert integer_of(value, "`x`") == int(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (plain("010"), "`x` must be a whole number; found 010: write 10 or 8"),
        (plain("08"), "`x` must be a whole number; found 08: write 8"),
        (plain("0o17"), "`x` must be a whole number; found 0o17: write 15"),
        (plain("0x1F"), "`x` must be a whole number; found 0x1F: write 31"),
        (plain("0b11"), "`x` must be a whole number; found 0b11: write 3"),
        (plain("1_000"), "`x` must be a whole number; found 1_000: write 1000"),
        (plain("1e3"), "`x` must be a whole number; found 1e3: write 1000"),
        (plain("1E+3"), "`x` must be a whole number; found 1E+3: write 1000"),
        (plain("3.0"), "`x` must be a whole number; found 3.0: write 3"),
        (plain("3."), "`x` must be a whole number; found 3.: write 3"),
        (plain("+5"), "`x` must be a whole number; found +5: write 5"),
        (plain("3.5"), "`x` must be a whole number; found 3.5"),
        (plain("1e999"), "`x` must be a whole number; found 1e999"),
        (plain("12:30"), "`x` must be a whole number; found '12:30'"),
        (plain("ten"), "`x` must be a whole number; found 'ten'"),
        (plain(""), "`x` must be a whole number; found nothing"),
        (plain("true"), "`x` must be a whole number; found true"),
        (plain("٣"), "`x` must be a whole number; found '٣'"),
        (plain("9" * 5000), "`x` must be a whole number; found '" + "9" * 59 + "…'"),
        (plain("-3"), "`x` must be at least 0; found -3"),
        (-3, "`x` must be at least 0; found the number -3"),
        (True, "`x` must be a whole number; found the boolean true"),
        (1.0, "`x` must be a whole number; found the number 1.0: write 1"),
        (1.5, "`x` must be a whole number; found the number 1.5"),
        (float("inf"), "`x` must be a whole number; found the number inf"),
        ("10", "`x` must be a whole number; found the text '10': write 10 without quotes"),
        ("ten", "`x` must be a whole number; found the text 'ten'"),
        (10**100, "`x` has more than 100 digits; write a smaller number"),
        (None, "`x` must be a whole number; found null"),
        ([], "`x` must be a whole number; found a list"),
    ],
)
def test_u25_what_is_no_integer_is_named_and_what_to_write(value: Any, message: str) -> None:
    assert refusal(integer_of, value) == message


def test_integers_that_python_does_not_write() -> None:
    huge = 10**5000
    advice = "`x` must be text; found a number of thousands of digits; put it in quotes"
    assert refusal(text_of, huge) == advice
    assert refusal(integer_of, huge) == "`x` has more than 100 digits; write a smaller number"


# Any value.


@pytest.mark.parametrize(
    ("spelling", "value"),
    [
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False), ("0", 0), ("-12", -12),
        ("1.50", 1.5), ("-0.5", -0.5), ("12:30:45", "12:30:45"), ("2026-05-01", "2026-05-01"), ("y", "y"),
        ("gpt-4.1", "gpt-4.1"), ("1.2.3", "1.2.3"), ("1-2", "1-2"), ("_", "_"), ("--", "--"), (".", "."),
        ("e5", "e5"), ("0x", "0x"), ("0xZZ", "0xZZ"), ("٣", "٣"), ("1 000", "1 000"),
    ],
)  # fmt: skip
def test_a_plain_scalar_is_what_every_reader_takes_it_for(spelling: str, value: Any) -> None:
    found = value_of(plain(spelling), "`x`")
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (plain("no"), "`x` is no, text to some YAML readers and false to others: write 'no' or false"),
        (plain("ON"), "`x` is ON, text to some YAML readers and true to others: write 'ON' or true"),
        (
            plain("010"),
            f"`x` is 010, {DISPUTED}: write 10 or 8, or '010' for the text",
        ),
        (
            plain("1e3"),
            f"`x` is 1e3, {DISPUTED}: write 1000, or '1e3' for the text",
        ),
        (
            plain(".5"),
            f"`x` is .5, {DISPUTED}: write 0.5, or '.5' for the text",
        ),
        (plain(".inf"), "`x` must be a value that JSON has; found .inf"),
        (plain("-.NaN"), "`x` must be a value that JSON has; found -.NaN"),
        (plain("1e999"), "`x` must be a value that JSON has; found 1e999"),
        (plain("9" * 101), "`x` must be a value that JSON has; found '" + "9" * 59 + "…'"),
        (float("nan"), "`x` must be a value that JSON has; found the number nan"),
        (object(), "`x` must be a value that JSON has; found a Python object"),
        ({1: 2}, "`x` must be text; found the number 1; put it in quotes"),
        (["\ud800"], "`x` holds half a surrogate pair, '\\ud800', which no trace can hold; remove it"),
    ],
)
def test_a_value_that_readers_disagree_about(value: Any, message: str) -> None:
    assert refusal(value_of, value) == message


def test_values_inside_values() -> None:
    text = b"a: [1, '1', x, {b: null, c: 1.5, 'd': \"true\"}]\n"
    found = value_of(read_yaml(text), "`x`")
    assert found == {"a": [1, "1", "x", {"b": None, "c": 1.5, "d": "true"}]}
    assert {type(found), type(found["a"])} == {dict, list}
    assert [type(key) for key in found] == [str]
    assert value_of({"a": (1, True, None, "x")}, "`x`") == {"a": [1, True, None, "x"]}


def test_values_of_callers_are_bounded() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert refusal(value_of, endless) == "`x` is nested deeper than 64 levels"


@given(st.from_regex(r"[-+]?(0[xob]?)?[0-9_a-f]{0,4}(\.[0-9]{0,2})?(e[-+]?[0-9]{0,2})?", fullmatch=True))
def test_readings_agree_with_yaml_where_it_says_number(spelling: str) -> None:
    """What PyYAML, a reader of YAML 1.1, takes for a number is never silently another number or a text."""
    try:
        theirs = yaml.safe_load(spelling) if spelling else None
    except ValueError:
        return  # it takes "0b_" for a number and then fails
    try:
        ours = value_of(plain(spelling), "`x`")
    except ConfigurationError:
        return
    if isinstance(theirs, (int, float)) or isinstance(ours, (int, float)):
        assert (ours, type(ours)) == (theirs, type(theirs))


def test_descriptions() -> None:
    assert described(plain("maybe")) == "'maybe'"
    assert described("x" * 100) == "the text '" + "x" * 59 + "…'"
    assert described("\x1b[0m") == "the text '\\x1b[0m'"
    assert described(()) == "a list"


# Files.


def test_json_by_name_and_by_content(tmp_path: Path) -> None:
    for name in ("a.json", "a.JSON", "a.yaml", "a.yml", "a"):
        path = tmp_path / name
        path.write_text(' \n{"a": [1, 1.0, true, null, "\\ud83d\\ude00", "x"]}')
        found = read_configuration(str(path))
        assert found == {"a": [1, 1.0, True, None, "😀", "x"]}
        assert [type(item) for item in found["a"][:3]] == [int, float, bool]


def test_yaml_in_brackets_is_still_yaml(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("{a: no, b: [1, 'x']}")
    assert read_configuration(str(path)) == {"a": "no", "b": ["1", "x"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1,\n "b": 2,\n "a": 3}', "line 3: the member 'a' is there twice; keep one"),
        (b'{"a": {"tot": 1,\n "to\\u0074": 2}}', "line 2: the member 'tot' is there twice; keep one"),
        (b'{"a": 1,\n "b": tru}', "line 2: not JSON from '}' on"),
        (b'{"a": 1,\n}', "line 2: not JSON from '}' on"),
        (b'{"a": NaN}', "line 1: not JSON from 'NaN}' on"),
        (b'{"a": 010}', "line 1: not JSON from '10}' on"),
        (b'{"a": 1', "line 1: not JSON, something is missing"),
        (b"a: 1", "line 1: not JSON from 'a: 1' on"),
        (b"", "line 1: is empty; nothing but blanks is in it"),
        (b" \n", "line 2: is empty; nothing but blanks is in it"),
        (b'{"a": "\xff"}', "line 1: not UTF-8 (byte 0xff); save it as UTF-8"),
        (b"\xef\xbb\xbf{}", "line 1: starts with a byte-order mark; save it as UTF-8 without one"),
        (b'{"a": ' + b"1" * 5000 + b"}", "holds an integer of thousands of digits; write a smaller one"),
    ],
)
def test_u25_json_is_strict(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(str(path))
    assert str(caught.value) == f"{path}: {message}"


def test_a_repeated_member_counts_in_json_without_the_name(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text('{"a": 1, "a": 2}')
    with pytest.raises(ConfigurationError, match="line 1: the member 'a' is there twice"):
        read_configuration(str(path))


def test_limits(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text("[" * 65 + "]" * 65)
    with pytest.raises(LimitError, match=r"p\.json: line 1: nested deeper than 64 levels"):
        read_configuration(str(path))
    path.write_text("[" * 64 + "]" * 64)
    assert read_configuration(str(path))
    path.write_text("[" * 200_000)
    with pytest.raises(LimitError, match="nested deeper"):
        read_configuration(str(path))
    with open(path, "wb") as stream:
        stream.truncate(MAX_YAML_BYTES + 1)
    with pytest.raises(LimitError, match="more than 16,777,216 bytes"):
        read_configuration(str(path))


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_configuration(str(tmp_path / "none.yaml"))
    with pytest.raises(UnreadableError, match="is a directory"):
        read_configuration(str(tmp_path))
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(UnreadableError, match="is a fifo"):
        read_configuration(str(tmp_path / "pipe.yaml"))
    with pytest.raises(UnreadableError):
        read_configuration("nul\0.yaml")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(json_values)
def test_json_values(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(value, stream)
        assert read_configuration(path) == value
