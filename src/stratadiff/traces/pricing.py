"""Pricing tables: what a model's tokens cost *(levels §1.4)*."""

from __future__ import annotations

from stratadiff.core.configuration import described, read_configuration, shown
from stratadiff.core.frozen import Frozen
from stratadiff.core.yamltext import PlainScalar
from stratadiff.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

RATE_NAMES = (
    "input",
    "output",
    "cached_input",
    "cached_write_5m",
    "cached_write_1h",
    "reasoning",
    "batch_discount",
)
"""Members of a model's entry, in USD per token; ``batch_discount`` is a factor."""

_INFINITE = float("inf")
_DIGITS = frozenset("0123456789")


class Rates(Frozen):
    """What the tokens of one model cost, in USD each, with the fallbacks of the format applied.

    Attributes
    ----------
    input, output, cached_input, cached_write_5m, cached_write_1h, reasoning : float
        A rate of 0 for cached input or writes is that of the input, for reasoning that of the output.
    batch_discount : float
        Factor for a response of a batch; 0 means none.
    """

    __slots__ = RATE_NAMES
    input: float
    output: float
    cached_input: float
    cached_write_5m: float
    cached_write_1h: float
    reasoning: float
    batch_discount: float

    def __init__(
        self,
        input: float = 0.0,
        output: float = 0.0,
        cached_input: float = 0.0,
        cached_write_5m: float = 0.0,
        cached_write_1h: float = 0.0,
        reasoning: float = 0.0,
        batch_discount: float = 0.0,
    ) -> None:
        self._fill(
            input=input,
            output=output,
            cached_input=cached_input or input,
            cached_write_5m=cached_write_5m or input,
            cached_write_1h=cached_write_1h or input,
            reasoning=reasoning or output,
            batch_discount=batch_discount,
        )


class Pricing(Frozen):
    """A pricing table, every entry of it checked.

    Attributes
    ----------
    models : dict of str to Rates
        By the name that traces call a model.

    Examples
    --------
    >>> pricing = pricing_of({"small-1": [1e-6, 4e-6]})
    >>> pricing.rates_of("small-1-2026-05-01") is pricing.models["small-1"]
    True
    """

    __slots__ = ("models",)
    models: dict[str, Rates]

    def __init__(self, models: dict[str, Rates]) -> None:
        self._fill(models=models)

    def rates_of(self, model: str) -> Rates | None:
        """Return the rates of a model: by its name, else by its name without the date; None if unpriced."""
        rates = self.models.get(model)
        if rates is None:
            name = undated(model)
            if name is not None:
                rates = self.models.get(name)
        return rates


def undated(model: str) -> str | None:
    """Return a model's name without a trailing ``-YYYY-MM-DD`` or ``-YYYYMMDD``, None if it has neither."""
    for size, dashes in ((11, (0, 5, 8)), (9, (0,))):
        end = model[-size:]
        if len(model) > size and all(
            char == "-" if place in dashes else char in _DIGITS for place, char in enumerate(end)
        ):
            return model[:-size]
    return None


def load_pricing(path: str) -> Pricing:
    """Return the pricing table of a file, JSON or YAML.

    Raises
    ------
    ConfigurationError
        Naming the entry that is wrong.
    InputError, LimitError
        As :func:`~stratadiff.core.configuration.read_configuration`.
    """
    return _pricing(read_configuration(path), path)


def pricing_of(table: Mapping[str, Any]) -> Pricing:
    """Return a pricing table that is already parsed.

    Parameters
    ----------
    table : mapping
        Model → ``[input, output]`` or a mapping with members of :data:`RATE_NAMES`, in USD per token. Names
        that start with ``_`` are comments.

    Raises
    ------
    ConfigurationError
        Naming the entry that is wrong.
    """
    return _pricing(table, "")


def _pricing(table: Any, where: str) -> Pricing:
    if not isinstance(table, dict):
        message = f"a pricing table must be a mapping of models to rates; found {described(table)}"
        raise ConfigurationError(message, where=where)
    models = {}
    for model, entry in table.items():
        try:
            if not isinstance(model, str):
                raise ConfigurationError(f"a model's name must be text; found {described(model)}")
            if not model.startswith("_"):
                models[str(model)] = _rates(str(model), entry)
        except ConfigurationError as error:
            line = getattr(entry, "line", 0) or getattr(table, "lines", {}).get(model, 0)
            raise ConfigurationError(error.message, where=where, line=line) from None
    return Pricing(models)


def _rates(model: str, entry: Any) -> Rates:
    what = f"the model {shown(model)}"
    if isinstance(entry, (list, tuple)) and len(entry) == 2:
        entry = {"input": entry[0], "output": entry[1]}
    if not isinstance(entry, dict):
        found = f"a list of {len(entry)}" if isinstance(entry, (list, tuple)) else described(entry)
        raise ConfigurationError(f"{what} must have two rates, [input, output], or named ones; found {found}")
    rates = {}
    for name, value in entry.items():
        if name not in RATE_NAMES:
            known = ", ".join(RATE_NAMES)
            raise ConfigurationError(f"{what} has a rate {shown(str(name))}, which is none of {known}")
        rates[str(name)] = _rate(value, f"{what}: the rate {name}")
    return Rates(**rates)


def _rate(value: Any, what: str) -> float:
    number = value
    if isinstance(value, PlainScalar):
        # A text means nothing here, so `3e-6`, which some YAML readers take for one, is the number.
        number = _json_number(value)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        number = None
    try:
        rate = -1.0 if number is None else float(number)
    except OverflowError:
        rate = _INFINITE
    if not 0.0 <= rate < _INFINITE:
        raise ConfigurationError(f"{what} must be a number of at least 0; found {described(value)}")
    return rate


def _json_number(text: str) -> float | None:
    """Return the number that a YAML scalar spells as JSON would, None for any other scalar."""
    whole, _, fraction = text.lower().partition("e")[0].partition(".")
    is_plain = (
        whole.isdigit() and (whole == "0" or whole[0] != "0") and (fraction.isdigit() or "." not in text)
    )
    try:
        return float(text) if text.isascii() and is_plain and "_" not in text else None
    except ValueError:
        return None
