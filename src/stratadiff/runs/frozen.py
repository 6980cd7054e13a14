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

    def __repr__(self) -> str:
        slots: tuple[str, ...] = self.__slots__
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in slots)
        return f"{type(self).__name__}({fields})"
