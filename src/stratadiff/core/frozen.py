"""The base of every result class: slots, filled once, then closed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_set = object.__setattr__


class Frozen:
    """An object whose attributes are set once, by its constructor.

    Written by hand because importing ``dataclasses`` costs more than comparing two runs of usual size.
    """

    __slots__ = ()

    def _fill(self, **fields: Any) -> None:
        for name, value in fields.items():
            _set(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be deleted")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # What pickle and copy know of an object with slots; they would set attributes one by one.
        self._fill(**state[1])

    def __repr__(self) -> str:
        slots: tuple[str, ...] = self.__slots__
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in slots)
        return f"{type(self).__name__}({fields})"


class _Fields:
    """``__dataclass_fields__``, made when something asks: importing ``dataclasses`` is not for free."""

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses  # only for callers of dataclasses.asdict, fields or replace: start-up

        slots: tuple[str, ...] = vars(owner)["__slots__"]
        twin: Any = dataclasses.make_dataclass(owner.__name__, [(name, object) for name in slots])
        fields: dict[str, Any] = twin.__dataclass_fields__
        return fields


class Struct(Frozen):
    """A result with named fields: compared by value, open to the functions of ``dataclasses``.

    ``dataclasses.fields``, ``asdict`` and ``replace`` take it as they take a frozen dataclass. The fields are
    the slots, and a subclass's constructor has a parameter for each.
    """

    __slots__ = ()
    if not TYPE_CHECKING:
        __dataclass_fields__ = _Fields()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        slots: tuple[str, ...] = self.__slots__
        return all(getattr(self, name) == getattr(other, name) for name in slots)

    __hash__ = None  # type: ignore[assignment]  # fields may be lists and dicts

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values ready for JSON: an infinite float as ``"+inf"`` or ``"-inf"``."""
        slots: tuple[str, ...] = self.__slots__
        return {name: plain(getattr(self, name)) for name in slots}


def plain(value: Any) -> Any:
    """Return a field's value as JSON takes it; what came from a trace is handed on as it is."""
    if isinstance(value, Struct):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not -_LARGEST <= value <= _LARGEST:
        return "+inf" if value > 0 else "-inf" if value < 0 else "nan"
    return value


_LARGEST = 1.7976931348623157e308
