"""The peers and floors of agent traces as plain calls; None instead of one whose library is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from peers import library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trace_workloads import Records

DIMENSIONS = ("input_tokens", "output_tokens", "thinking_tokens")


def touch_usages(*sides: Records) -> Callable[[], int]:
    """The floor of the token level: read one count of every usage."""

    def touch() -> int:
        found = 0
        for records in sides:
            for record in records:
                if record["kind"] == "chat_response":
                    found += record["payload"]["usage"]["output_tokens"]
        return found

    return touch


def touch_blocks(*sides: Records) -> Callable[[], int]:
    """The floor of the policy level: look at the type of every block."""

    def touch() -> int:
        found = 0
        for records in sides:
            for record in records:
                if record["kind"] == "chat_response":
                    for block in record["payload"]["content"]:
                        found += block["type"] == "tool_use"
        return found

    return touch


def simdjson_parse(*paths: str) -> Callable[[], None] | None:
    """Parse every line of files with simdjson and keep nothing."""
    simdjson = library("simdjson")
    if simdjson is None:
        return None
    parse = simdjson.Parser().parse

    def run() -> None:
        for path in paths:
            with open(path, "rb") as file:
                for line in file:
                    parse(line)

    return run


def _summaries(numpy: Any, columns: Iterable[Sequence[int]]) -> list[Any]:
    found = []
    for column in columns:
        values = numpy.array(column, dtype=numpy.int64)
        found.append((numpy.percentile(values, (25, 50, 75, 95)), values.max(), values.sum()))
    return found


def _usages_summarised(numpy: Any, usages: Sequence[Sequence[dict[str, int]]]) -> list[Any]:
    columns = [[usage.get(name, 0) for usage in side] for side in usages for name in DIMENSIONS]
    return _summaries(numpy, columns)


def numpy_tokens(a: Records, b: Records) -> Callable[[], Any] | None:
    """Token summaries of records in memory by list comprehensions and numpy; no pairs."""
    numpy = library("numpy")
    if numpy is None:
        return None

    def run() -> Any:
        usages = [[r["payload"]["usage"] for r in side if r["kind"] == "chat_response"] for side in (a, b)]
        return _usages_summarised(numpy, usages)

    return run


def orjson_tokens(*paths: str) -> Callable[[], Any] | None:
    """Token summaries of files by orjson and numpy; no pairs."""
    orjson, numpy = library("orjson"), library("numpy")
    if orjson is None or numpy is None:
        return None
    loads = orjson.loads

    def run() -> Any:
        usages = []
        for path in paths:
            with open(path, "rb") as file:
                records = [loads(line) for line in file]
            usages.append([r["payload"]["usage"] for r in records if r["kind"] == "chat_response"])
        return _usages_summarised(numpy, usages)

    return run


def msgspec_tokens(*paths: str) -> Callable[[], Any] | None:
    """Token summaries of files by msgspec's typed decoder, which skips other members, and numpy; no pairs."""
    msgspec, numpy = library("msgspec"), library("numpy")
    if msgspec is None or numpy is None:
        return None
    usage = msgspec.defstruct("Usage", [(name, int, 0) for name in DIMENSIONS])
    payload = msgspec.defstruct("Payload", [("usage", usage | None, None)])
    record = msgspec.defstruct("Record", [("kind", str), ("payload", payload)])
    decode = msgspec.json.Decoder(record).decode

    def run() -> Any:
        columns: list[list[int]] = []
        for path in paths:
            with open(path, "rb") as file:
                found = [one.payload.usage for one in map(decode, file) if one.kind == "chat_response"]
            columns += [[getattr(one, name) for one in found] for name in DIMENSIONS]
        return _summaries(numpy, columns)

    return run


def shadow_tokens_of_files(a: str, b: str) -> Callable[[], Any] | None:
    """Parse and token level of shadow-diff."""
    core, hierarchical = library("shadow._core"), library("shadow.hierarchical")
    if core is None or hierarchical is None:
        return None

    def run() -> Any:
        sides = []
        for path in (a, b):
            with open(path, "rb") as file:
                sides.append(core.parse_agentlog(file.read()))
        return hierarchical.token_diff(*sides)

    return run


def block_distance(a: Sequence[Any], b: Sequence[Any]) -> Callable[[], Any] | None:
    """Edit script of blocks that are equal or not, by orjson and rapidfuzz: less than the span level asks."""
    orjson, distance = library("orjson"), library("rapidfuzz.distance")
    if orjson is None or distance is None:
        return None
    dumps, sort, editops = orjson.dumps, orjson.OPT_SORT_KEYS, distance.Indel.editops
    return lambda: editops([dumps(one, option=sort) for one in a], [dumps(one, option=sort) for one in b])


def numpy_intervals(columns: Sequence[tuple[Any, Any]], kinds: bytes) -> Callable[[], Any] | None:
    """Paired bootstrap intervals by numpy: one matrix of indices, medians and means along it."""
    numpy = library("numpy")
    if numpy is None:
        return None
    pairs = [tuple(numpy.array(side) for side in pair) for pair in columns]

    def run() -> Any:
        count = len(pairs[0][0])
        draws = numpy.random.default_rng(42).integers(0, count, (1000, count), dtype=numpy.int32)
        found = []
        for (baseline, candidate), kind in zip(pairs, kinds, strict=True):
            statistic = numpy.median if kind == ord("m") else numpy.mean
            deltas = statistic(candidate[draws], axis=1) - statistic(baseline[draws], axis=1)
            found.append(numpy.percentile(deltas, (2.5, 97.5)))
        return found

    return run
