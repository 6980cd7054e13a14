"""YAML to values that keep what the author wrote.

YAML readers turn words into booleans and numbers (``no``, ``1.10``, ``12:30:45``), each version of YAML in
its own way, and keep the last of two equal keys. Here nothing is turned into anything: a scalar without
quotes is a :class:`PlainScalar` with its spelling, and who wants a number or a boolean of it asks
:mod:`stratadiff.core.configuration`. A key given twice is an error.

PyYAML (libyaml where it is built in) makes events of the text; the values are put together here, without
recursion, since PyYAML's own composer has a stack to overflow and knows no limits.
"""

from __future__ import annotations

from stratadiff.errors import ConfigurationError, LimitError
from stratadiff.limits import MAX_YAML_BYTES, MAX_YAML_DEPTH, MAX_YAML_NODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CORE = "tag:yaml.org,2002:"
_AS_PLAIN = frozenset(_CORE + name for name in ("int", "float", "bool", "null"))
_CONTAINER_TAGS = frozenset((None, "!", _CORE + "map", _CORE + "seq"))
_MERGE = "<<"

# Characters at which YAML 1.1 ends a line and YAML 1.2 does not, so that readers disagree about the text.
_DISPUTED = (("\x85", "\\x85"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))


class PlainScalar(str):
    """A scalar written without quotes: its text as it stands in the file.

    Attributes
    ----------
    line : int
        Line of the file, from 1.
    """

    __slots__ = ("line",)
    line: int

    def __new__(cls, text: str, line: int = 0) -> PlainScalar:
        found = super().__new__(cls, text)
        found.line = line
        return found


class YamlMapping(dict[str, "Any"]):
    """A mapping that knows where it stands.

    Attributes
    ----------
    line : int
        Line at which it starts, from 1.
    lines : dict of str to int
        The line of each key.
    """

    __slots__ = ("line", "lines")
    line: int
    lines: dict[str, int]

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines = {}


class YamlSequence(list["Any"]):
    """A sequence that knows where it stands.

    Attributes
    ----------
    line : int
        Line at which it starts, from 1.
    lines : list of int
        The line of each item.
    """

    __slots__ = ("line", "lines")
    line: int
    lines: list[int]

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines = []


def read_yaml(data: bytes, where: str = "") -> Any:
    """Return the value of a YAML text.

    Parameters
    ----------
    data : bytes
        UTF-8, one document.
    where : str, optional
        The file, for messages.

    Returns
    -------
    YamlMapping, YamlSequence, PlainScalar or str
        A ``str`` that is no PlainScalar was written in quotes, as a block (``|``, ``>``) or with the tag
        ``!!str``. What an alias stands for is the same object as at its anchor. A merge key ``<<`` has done
        its work. Do not modify it.

    Raises
    ------
    ConfigurationError
        It is not YAML, not UTF-8, empty or several documents; a key is there twice or is no text; a tag asks
        for more than text, lists and mappings.
    LimitError
        It is larger than 16 MiB, nested deeper than 64, or has more than 500,000 values, those of an alias
        counted each time.

    Notes
    -----
    Linear in the size of the text; about 3 µs per value with libyaml, 30 µs without.
    """
    return _Composer(_checked_text(data, where), where).compose()


def _checked_text(data: bytes, where: str) -> str:
    # What PyYAML would let through, or would report without a line.
    if len(data) > MAX_YAML_BYTES:
        raise LimitError(f"more than {MAX_YAML_BYTES:,} bytes; split it", where=where)
    if data.startswith(_BYTE_ORDER_MARK):
        raise ConfigurationError(
            "starts with a byte-order mark; save it as UTF-8 without one", where=where, line=1
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8", where=where, line=line
        ) from None
    for character, escape in _DISPUTED:
        if character in text:
            raise ConfigurationError(
                f"holds U+{ord(character):04X}, which only some YAML readers take for the end of a line; "
                f"write {escape} in double quotes",
                where=where,
                line=_line_at(text, text.index(character)),
            )
    if text.count("\r") != text.count("\r\n"):
        at = text.replace("\r\n", "..").index("\r")
        raise ConfigurationError(
            "holds a carriage return that is not part of a line end; end lines with LF or CR LF",
            where=where,
            line=_line_at(text, at),
        )
    return text


def _line_at(text: str, index: int) -> int:
    return text.count("\n", 0, index) + 1


def _line(event: Any) -> int:
    return event.start_mark.line + 1  # type: ignore[no-any-return]


class _Open:
    """A container whose end has not been read."""

    __slots__ = ("anchor", "height", "is_merging", "key", "merged", "node_count", "value")

    def __init__(self, value: YamlMapping | YamlSequence, anchor: str | None, node_count: int) -> None:
        self.value = value
        self.anchor = anchor
        self.node_count = node_count  # of the document before it
        self.height = 1
        self.key: str | None = None  # a mapping's key that waits for its value
        self.is_merging = False  # the key that waits is a merge key
        self.merged: list[YamlMapping] | None = None


class _Composer:
    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.open: list[_Open] = []
        # Anchor to value, number of values in it, levels of nesting; None while it is open.
        self.anchors: dict[str, tuple[Any, int, int] | None] = {}
        self.node_count = 0
        self.root: Any = None

    def compose(self) -> Any:
        import yaml  # 15 ms: start-up

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            events = loader(self.text)
            try:
                self._run(events, yaml)
            finally:
                events.dispose()
        except yaml.YAMLError as error:
            raise self._worded(error) from None
        return self.root

    def _run(self, events: Any, yaml: Any) -> None:
        next_event = events.get_event
        documents = 0
        while True:
            event = next_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._start(event, kind is yaml.MappingStartEvent)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._end()
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents == 2:
                    raise self._error(event, "a second document starts; keep one to a file")
            elif kind is yaml.StreamEndEvent:
                break
        if documents == 0:
            raise ConfigurationError("is empty; nothing but blanks and comments is in it", where=self.where)

    # Events to values.

    def _scalar(self, event: Any) -> None:
        self._count(event, 1)
        tag = event.tag
        line = _line(event)
        if tag is None:
            value = PlainScalar(event.value, line) if not event.style else event.value
        elif tag in ("!", _CORE + "str"):
            value = event.value
        elif tag in _AS_PLAIN:
            value = PlainScalar(event.value, line)
        else:
            raise self._bad_tag(event, tag)
        if event.style == '"' and not value.isascii():
            self._check_surrogates(event, value)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1, 0)
        self._put(event, value, 0)

    def _start(self, event: Any, is_mapping: bool) -> None:
        if event.tag not in _CONTAINER_TAGS:
            raise self._bad_tag(event, event.tag)
        if len(self.open) == MAX_YAML_DEPTH:
            raise self._too_deep(event)
        if self.open and isinstance(self.open[-1].value, YamlMapping) and self.open[-1].key is None:
            raise self._error(event, "a key must be text; found a list or a mapping")
        before = self.node_count
        self._count(event, 1)
        line = _line(event)
        value = YamlMapping(line) if is_mapping else YamlSequence(line)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.open.append(_Open(value, event.anchor, before))

    def _end(self) -> None:
        done = self.open.pop()
        value = done.value
        if done.merged is not None:
            _merge(value, done.merged)
        if done.anchor is not None:
            self.anchors[done.anchor] = (value, self.node_count - done.node_count, done.height)
        self._put(None, value, done.height)

    def _alias(self, event: Any) -> None:
        try:
            found = self.anchors[event.anchor]
        except KeyError:
            raise self._error(event, f"the alias *{event.anchor} has no anchor above it") from None
        if found is None:
            raise self._error(event, f"the alias *{event.anchor} stands inside what it stands for")
        value, size, height = found
        if len(self.open) + height > MAX_YAML_DEPTH:
            raise self._too_deep(event)
        self._count(event, size)
        self._put(event, value, height)

    def _put(self, event: Any, value: Any, height: int) -> None:
        # An end event puts a container that started as a value: only others can be keys.
        if not self.open:
            self.root = value
            return
        top = self.open[-1]
        if height >= top.height:
            top.height = height + 1
        container = top.value
        if isinstance(container, YamlSequence):
            container.append(value)
            container.lines.append(_line(event) if event is not None else value.line)
        elif top.key is None:
            self._key(event, top, value)
        elif top.is_merging:
            top.key = None
            top.is_merging = False
            top.merged = self._mergeable(event, value)
        else:
            container[top.key] = value
            top.key = None

    def _key(self, event: Any, top: _Open, key: Any) -> None:
        if not isinstance(key, str):
            raise self._error(event, "a key must be text; found a list or a mapping")
        lines: Any = top.value.lines
        line = _line(event)
        name = str(key)
        top.key = name
        if name == _MERGE and isinstance(key, PlainScalar):
            if top.merged is not None:
                raise self._error(event, "the key << is there twice; give it a list")
            top.is_merging = True
            return
        if name in lines:
            raise self._error(
                event, f"the key {_short(name)} is there twice, on line {lines[name]} already; keep one"
            )
        lines[name] = line

    def _mergeable(self, event: Any, value: Any) -> list[YamlMapping]:
        sources = [value] if isinstance(value, YamlMapping) else value
        if not isinstance(sources, list) or not all(isinstance(one, YamlMapping) for one in sources):
            line = _line(event) if event is not None else value.line
            raise ConfigurationError(
                "<< merges a mapping or a list of mappings; found something else", where=self.where, line=line
            )
        return sources

    # Limits and errors.

    def _check_surrogates(self, event: Any, value: str) -> None:
        # libyaml refuses the escape of half a pair, PyYAML's own scanner does not.
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self._error(event, "not YAML: found an escape of half a surrogate pair") from None

    def _count(self, event: Any, nodes: int) -> None:
        self.node_count += nodes
        if self.node_count > MAX_YAML_NODES:
            raise LimitError(
                f"line {_line(event)}: more than {MAX_YAML_NODES:,} values, those of an alias "
                "counted each time",
                where=self.where,
            )

    def _too_deep(self, event: Any) -> LimitError:
        return LimitError(
            f"line {_line(event)}: nested deeper than {MAX_YAML_DEPTH} levels", where=self.where
        )

    def _bad_tag(self, event: Any, tag: str | None) -> ConfigurationError:
        shown = "!!" + tag[len(_CORE) :] if tag and tag.startswith(_CORE) else tag
        return self._error(event, f"the tag {_short(str(shown))} is not allowed; write the plain value")

    def _error(self, event: Any, message: str) -> ConfigurationError:
        return ConfigurationError(message, where=self.where, line=_line(event))

    def _worded(self, error: Any) -> ConfigurationError | LimitError:
        character = getattr(error, "character", None)
        if character is not None:  # a reader's error: what no YAML text may hold
            point = character if isinstance(character, int) else ord(character)
            at = max(self.text.find(chr(point)), 0)
            return ConfigurationError(
                f"holds U+{point:04X}, which YAML does not allow; write it as an escape in double quotes",
                where=self.where,
                line=_line_at(self.text, at),
            )
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context)
        # At the end of the text the mark stands on a line that is not there.
        number = min(mark.line, self.text.rstrip().count("\n"))
        if "nesting depth" in problem:
            return LimitError(
                f"line {number + 1}: nested deeper than {MAX_YAML_DEPTH} levels", where=self.where
            )
        line = self.text.split("\n", number + 1)[number]
        if "\t" in line[: len(line) - len(line.lstrip())]:
            message = "indented with a tab, which YAML does not allow; use spaces"
        elif "mapping values are not allowed" in problem:
            message = "not YAML, a colon where none can be; put a text that has a colon in quotes"
        elif "cannot start any token" in problem:
            first = _short(line[mark.column : mark.column + 1])
            message = f"not YAML, no text without quotes starts with {first}; put it in quotes"
        else:
            message = f"not YAML: {problem}"
        return ConfigurationError(message, where=self.where, line=number + 1)


def _merge(into: Any, sources: list[YamlMapping]) -> None:
    for source in sources:
        for key, value in source.items():
            if key not in into:
                into[key] = value
                into.lines[key] = source.lines[key]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
