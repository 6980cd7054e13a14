"""Pricing tables: files, look-up, what is refused (levels 1.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reference import trace_axes
from stratadiff.errors import ConfigurationError, InputError, NotFoundError
from stratadiff.traces.pricing import RATE_NAMES, Pricing, Rates, load_pricing, pricing_of, undated

DATA = Path(__file__).parent.parent / "data" / "agentlog"


def written(folder: Path, text: str, name: str = "pricing.yaml") -> Pricing:
    (folder / name).write_text(text, encoding="utf-8")
    return load_pricing(str(folder / name))


def test_golden_table() -> None:
    found = load_pricing(str(DATA / "pricing.json")).models
    assert sorted(found) == ["claude-haiku-4-5", "claude-opus-4-7", "claude-sonnet-4-6", "gpt-5"]
    haiku = found["claude-haiku-4-5"]
    assert [getattr(haiku, name) for name in RATE_NAMES] == [8e-07, 4e-06, 8e-07, 8e-07, 8e-07, 4e-06, 0.0]
    assert found["claude-opus-4-7"].cached_write_1h == 3e-05


def test_rates_that_are_not_given_fall_back() -> None:
    rates = pricing_of({"m": {"input": 1, "output": 2, "cached_input": 0, "reasoning": 0.0}}).models["m"]
    assert (rates.cached_input, rates.cached_write_5m, rates.reasoning) == (1.0, 1.0, 2.0)
    assert pricing_of({"m": {}}).models["m"].input == 0.0
    with pytest.raises(AttributeError, match="immutable"):
        rates.input = 3.0  # type: ignore[misc]


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    yaml = written(
        tmp_path,
        "_note: made up\nm: [3e-6, 1.5E-5]\n"
        "n: {input: 0.000001, output: 1, batch_discount: 0.5}\n2024: [1, 2]\n",
    )
    json = written(
        tmp_path,
        '{"_note": 1, "m": [3e-6, 1.5e-5], '
        '"n": {"input": 1e-6, "output": 1, "batch_discount": 0.5}, "2024": [1, 2]}',
        "p.json",
    )
    shown = [
        {model: [getattr(rates, name) for name in RATE_NAMES] for model, rates in table.models.items()}
        for table in (yaml, json)
    ]
    assert shown[0] == shown[1]
    assert list(shown[0]) == ["m", "n", "2024"]
    assert all(type(model) is str for model in yaml.models)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-5-2026-05-01", "gpt-5"),
        ("gpt-5-20260501", "gpt-5"),
        ("m-0000-99-99", "m"),
        ("a-2026-05-01-2026-05-01", "a-2026-05-01"),
        ("-2026-05-01", None),
        ("-20260501", None),
        ("gpt-5", None),
        ("gpt-2026-5-01", None),
        ("gpt_20260501", None),
        ("gpt-2026050", None),
        ("gpt-2026-05-0१", None),
        ("gpt-202605011", None),
        ("", None),
    ],
)
def test_undated(model: str, name: str | None) -> None:
    assert undated(model) == name == trace_axes.undated(model)


def test_look_up() -> None:
    pricing = pricing_of({"m": [1, 2], "m-2026-05-01": [3, 4], "_x": 5})
    assert [rates.input if rates else None for rates in map(pricing.rates_of, ("m", "m-2026-05-01"))] == [
        1,
        3,
    ]
    assert pricing.rates_of("m-2026-05-02") is pricing.models["m"]
    assert pricing.rates_of("m-2026-05-02-2026-05-02") is None  # one date only
    assert pricing.rates_of("_x") is None
    assert pricing.rates_of("other") is None
    assert isinstance(pricing.models["m"], Rates)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "a pricing table must be a mapping of models to rates; found a list"),
        (None, "a pricing table must be a mapping of models to rates; found null"),
        ({"m": [1]}, "the model 'm' must have two rates, [input, output], or named ones; found a list of 1"),
        (
            {"m": [1, 2, 3]},
            "the model 'm' must have two rates, [input, output], or named ones; found a list of 3",
        ),
        ({"m": 1}, "the model 'm' must have two rates, [input, output], or named ones; found the number 1"),
        ({"m": "1"}, "the model 'm' must have two rates, [input, output], or named ones; found the text '1'"),
        ({"m": None}, "the model 'm' must have two rates, [input, output], or named ones; found null"),
        (
            {"m": {"inptu": 1}},
            "the model 'm' has a rate 'inptu', which is none of input, output, cached_input, "
            "cached_write_5m, cached_write_1h, reasoning, batch_discount",
        ),
        (
            {"m": [1, -1]},
            "the model 'm': the rate output must be a number of at least 0; found the number -1",
        ),
        ({"m": ["1", 1]}, "the model 'm': the rate input must be a number of at least 0; found the text '1'"),
        (
            {"m": [True, 1]},
            "the model 'm': the rate input must be a number of at least 0; found the boolean true",
        ),
        (
            {"m": [float("nan"), 1]},
            "the model 'm': the rate input must be a number of at least 0; found the number nan",
        ),
        (
            {"m": [float("inf"), 1]},
            "the model 'm': the rate input must be a number of at least 0; found the number inf",
        ),
        ({"m": {"input": None}}, "the model 'm': the rate input must be a number of at least 0; found null"),
        ({1: [1, 1]}, "a model's name must be text; found the number 1"),
    ],
)
def test_refused_tables(table: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        pricing_of(table)
    assert str(caught.value) == message
    assert isinstance(caught.value, InputError)
    if isinstance(table, dict) and 1 not in table:
        with pytest.raises(ValueError, match=r"m|table"):
            trace_axes.pricing_of(table)


def test_numbers_of_any_size() -> None:
    with pytest.raises(ConfigurationError, match="at least 0"):
        pricing_of({"m": [10**400, 1]})
    assert pricing_of({"m": (10**20, 0)}).models["m"].input == 1e20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m: [1, 2]\nm: [2, 3]\n", "line 2"),
        (
            "m:\n  input: abc\n",
            "line 2: the model 'm': the rate input must be a number of at least 0; found 'abc'",
        ),
        ("m: [010, 1]\n", "line 1: the model 'm': the rate input must be a number of at least 0"),
        ("m: [1_000, 1]\n", "line 1: the model 'm': the rate input"),
        ("m: [.5, 1]\n", "line 1: the model 'm': the rate input"),
        ("m: ['1', 1]\n", "line 1: the model 'm': the rate input"),
        ("m: [-1, 1]\n", "line 1: the model 'm': the rate input"),
        ("m: [1e999, 1]\n", "line 1: the model 'm': the rate input"),
        ("m: [1e, 1]\n", "line 1: the model 'm': the rate input"),
        ("- m\n", "a pricing table must be a mapping"),
    ],
)
def test_refused_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        written(tmp_path, text)
    assert message in str(caught.value)
    assert caught.value.where == str(tmp_path / "pricing.yaml")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load_pricing(str(tmp_path / "none.json"))
