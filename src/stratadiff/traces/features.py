"""What the levels look at of every response, gathered once: numbers, texts, tool calls *(agentlog §3)*.

Both traces share one table of texts and one of tools, so that equal ones have equal ids on the two sides and
whatever is computed of a text is computed once.
"""

from __future__ import annotations

from stratadiff.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from stratadiff.traces.model import Payload, Trace
    from stratadiff.traces.pricing import Pricing, Rates

    Numbers: TypeAlias = list[float | None]
    Pairs: TypeAlias = "range | list[int]"

BASELINE, CANDIDATE = "baseline", "candidate"


def number(value: Any) -> float | None:
    """Return a number field as a double; None for anything that JSON has no number for *(agentlog §3)*."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if double - double == 0.0 else None  # neither infinite nor NaN


class Ids(dict["Any", int]):
    """Ids from 0 in the order in which things are first looked up."""

    def __missing__(self, key: Any) -> int:
        self[key] = found = len(self)
        return found


class Call:
    """A ``tool_use`` block.

    Attributes
    ----------
    name : str
        ``_`` where the block's name is no string.
    tool : int
        Id of ``NAME(KEYS``: the name and the sorted names of the arguments *(levels §1.2)*.
    arguments : Any
        The block's ``input``; None where it has none.
    """

    __slots__ = ("arguments", "name", "tool")

    def __init__(self, name: str, tool: int, arguments: Any) -> None:
        self.name = name
        self.tool = tool
        self.arguments = arguments


class ToolTable:
    """The different ``NAME(KEYS`` of both traces.

    Attributes
    ----------
    names : Ids
        Ids in the order of their first use.
    """

    def __init__(self) -> None:
        self.names = Ids()
        self._seen: dict[tuple[Any, ...], tuple[str, int]] = {}

    def call_of(self, block: Payload) -> Call:
        """Return the call that a block makes.

        Raises
        ------
        TypeError
            A member's name is not text, which only records in memory can have.
        """
        name = block.get("name")
        arguments = block.get("input")
        keys = tuple(arguments) if isinstance(arguments, dict) else ()
        seen = self._seen.get((name, *keys)) if isinstance(name, str) else None
        if seen is None:
            shown = name if isinstance(name, str) else "_"
            seen = (shown, self.names[f"{shown}({','.join(sorted(keys))}"])
            if isinstance(name, str):
                self._seen[(name, *keys)] = seen
        return Call(*seen, arguments)

    def texts(self) -> list[str]:
        """Return ``NAME(KEYS)`` by id."""
        return [f"{name})" for name in self.names]


class Side:
    """The responses of one trace in columns, one value per turn.

    Attributes
    ----------
    which : str
        ``baseline`` or ``candidate``.
    responses : list of dict
        The payloads.
    spaced, lined : list of int
        Id of the texts joined by a space, and by a line feed.
    has_text : list of bool
        Whether a text is not empty.
    calls : list of list of Call
        The tool calls.
    stops : list
        ``stop_reason`` as it is.
    thoughts : list of int
        Number of ``thinking`` blocks.
    latency, output, thinking, cost : list of float or None
        Milliseconds, tokens, tokens, USD; None where absent, or where no cost can be told.
    priced : list of bool
        Whether the model has a price.
    """

    __slots__ = (
        "calls",
        "cost",
        "has_text",
        "latency",
        "lined",
        "output",
        "priced",
        "responses",
        "spaced",
        "stops",
        "thinking",
        "thoughts",
        "which",
    )

    def __init__(
        self,
        which: str,
        responses: list[Payload],
        spaced: Ids,
        lined: Ids,
        tools: ToolTable,
        pricing: Pricing | None,
    ) -> None:
        self.which = which
        self.responses = responses
        self.spaced: list[int] = []
        self.lined: list[int] = []
        self.has_text: list[bool] = []
        self.calls: list[list[Call]] = []
        self.stops: list[Any] = []
        self.thoughts: list[int] = []
        self.latency: Numbers = []
        self.output: Numbers = []
        self.thinking: Numbers = []
        self.cost: Numbers = []
        self.priced: list[bool] = []
        rates: dict[str, Rates | None] = {}
        for payload in responses:
            texts = self._add_content(payload.get("content"), tools)
            self.has_text.append(any(texts))
            if len(texts) == 1:
                self.spaced.append(spaced[texts[0]])
                self.lined.append(lined[texts[0]])
            else:
                self.spaced.append(spaced[" ".join(texts)])
                self.lined.append(lined["\n".join(texts)])
            self.stops.append(payload.get("stop_reason"))
            self.latency.append(number(payload.get("latency_ms")))
            usage = payload.get("usage")
            if isinstance(usage, dict):
                self._add_usage(payload, usage, rates, pricing)
            else:
                self._add_no_usage()

    def __len__(self) -> int:
        return len(self.responses)

    def _add_content(self, content: Any, tools: ToolTable) -> list[str]:
        texts: list[str] = []
        calls: list[Call] = []
        thoughts = 0
        if isinstance(content, list):
            for block in content:
                if not isinstance(block, dict):
                    continue
                kind = block.get("type")
                if kind == "text":
                    text = block.get("text")
                    texts.append(text if isinstance(text, str) else "")
                elif kind == "tool_use":
                    try:
                        calls.append(tools.call_of(block))
                    except TypeError:
                        where = f"{self.which} turn {len(self.calls)}"
                        message = "a tool's input has a member whose name is not text"
                        raise InputError(message, where=where) from None
                elif kind == "thinking":
                    thoughts += 1
        elif isinstance(content, str) and content:
            texts.append(content)
        self.calls.append(calls)
        self.thoughts.append(thoughts)
        return texts

    def _add_no_usage(self) -> None:
        self.output.append(None)
        self.thinking.append(None)
        self.cost.append(None)
        self.priced.append(False)

    def _add_usage(
        self,
        payload: Payload,
        usage: dict[str, Any],
        known: dict[str, Rates | None],
        pricing: Pricing | None,
    ) -> None:
        output = number(usage.get("output_tokens"))
        thinking = number(usage.get("thinking_tokens"))
        self.output.append(output)
        self.thinking.append(thinking)
        model = payload.get("model")
        uncached = number(usage.get("input_tokens"))
        if output is None or uncached is None or not isinstance(model, str):
            self.cost.append(None)
            self.priced.append(False)
            return
        rates = None
        if pricing is not None:
            rates = known[model] if model in known else known.setdefault(model, pricing.rates_of(model))
        self.priced.append(rates is not None)
        if rates is None:
            self.cost.append(0.0)
            return
        cached = number(usage.get("cached_input_tokens")) or 0.0
        write_5m = number(usage.get("cached_write_5m_tokens")) or 0.0
        write_1h = number(usage.get("cached_write_1h_tokens")) or 0.0
        # In the order of levels §1.4: the sum depends on it.
        cost = uncached * rates.input + cached * rates.cached_input + write_5m * rates.cached_write_5m
        cost = cost + write_1h * rates.cached_write_1h + output * rates.output
        cost = cost + (thinking or 0.0) * rates.reasoning
        if rates.batch_discount > 0 and payload.get("batch") is True:
            cost *= rates.batch_discount
        self.cost.append(None if cost != cost else cost)  # NaN: of counts near the end of the double range


class Features:
    """Both traces in columns.

    Parameters
    ----------
    baseline, candidate : Trace
        Read with their responses.
    pricing : Pricing, optional
        What tokens cost.

    Attributes
    ----------
    baseline, candidate : Side
        The columns.
    spaced, lined : list of str
        The different texts of responses, joined by a space and by a line feed, by id.
    tools : ToolTable
        The different tools.
    """

    __slots__ = ("baseline", "candidate", "lined", "spaced", "tools")

    def __init__(self, baseline: Trace, candidate: Trace, pricing: Pricing | None = None) -> None:
        spaced = Ids()
        lined = Ids()
        self.tools = ToolTable()
        shared = (spaced, lined, self.tools, pricing)
        self.baseline = Side(BASELINE, responses_of(baseline), *shared)
        self.candidate = Side(CANDIDATE, responses_of(candidate), *shared)
        self.spaced: list[str] = list(spaced)
        self.lined: list[str] = list(lined)


def responses_of(trace: Trace) -> list[Payload]:
    """Return the responses of a trace.

    Raises
    ------
    TypeError
        It was read without them.
    """
    if trace.responses is None:
        raise TypeError("this trace was read without its responses; needs_of tells what to read")
    return trace.responses


class PairTable:
    """The different pairs of turns that reports are made of.

    A pair that belongs to the whole trace and to a session stands here once, and so do its values.

    Attributes
    ----------
    baseline, candidate : list of int
        The turns of each.
    """

    def __init__(self) -> None:
        self.baseline: list[int] = []
        self.candidate: list[int] = []
        self._places: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.baseline)

    def add(self, baseline: Sequence[int], candidate: Sequence[int]) -> Pairs:
        """Add pairs of turns and return their places, as a range if they are consecutive."""
        places: list[int] = []
        known = self._places
        for pair in zip(baseline, candidate, strict=True):
            place = known.setdefault(pair, len(known))
            if place == len(self.baseline):
                self.baseline.append(pair[0])
                self.candidate.append(pair[1])
            places.append(place)
        first = places[0] if places else 0
        consecutive = range(first, first + len(places))
        return consecutive if places == list(consecutive) else places


def chosen(column: list[Any], places: Pairs) -> list[Any]:
    """Return the values of some pairs."""
    if isinstance(places, range):
        return column[places.start : places.stop]
    return [column[place] for place in places]
