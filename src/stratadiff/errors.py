"""Every exception stratadiff raises on purpose.

::

    StratadiffError            has .where (file, line, byte or JSON path) and .code
    ├── InputError             a path cannot be read as what it was given for
    │   ├── NotFoundError      nothing is there
    │   ├── UnreadableError    it is there and cannot be read
    │   ├── UnknownKindError   it is none of the kinds stratadiff takes
    │   └── ConfigurationError a policy, a price table or the like does not say what it must
    ├── LimitError             a documented limit (see stratadiff.limits) is passed
    ├── OutputError            a result cannot be written
    └── UsageError             arguments that contradict each other

A verdict (*diverged*, *refused*, *could not check*) is a result, never an exception.
"""

from __future__ import annotations


class StratadiffError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    message : str
        One sentence: what is wrong, and what to do about it.
    where : str, optional
        File, line, byte offset or JSON path the message speaks of. Hostile text: escape before display.
    code : str, optional
        Stable machine-readable name of the error.
    """

    default_code = "error"

    def __init__(self, message: str, *, where: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.code = code or self.default_code

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class InputError(StratadiffError):
    """A path or value cannot be read as what it was given for."""

    default_code = "input"


class NotFoundError(InputError):
    """Nothing is at the given path."""

    default_code = "not-found"


class UnreadableError(InputError):
    """The path exists and cannot be read."""

    default_code = "unreadable"


class UnknownKindError(InputError):
    """The path is none of the kinds of input stratadiff takes."""

    default_code = "unknown-kind"


class ConfigurationError(InputError):
    """A file or value that configures a comparison is malformed: a policy, a pricing table.

    Parameters
    ----------
    message : str
        One sentence: what was found and what to write instead.
    where : str, optional
        The file.
    line : int, optional
        Line of the file, from 1; 0 if there is none to name. The message names it, too.
    """

    default_code = "configuration"

    def __init__(self, message: str, *, where: str = "", line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message, where=where)
        self.line = line


class LimitError(StratadiffError):
    """A documented limit is passed; :mod:`stratadiff.limits` lists them."""

    default_code = "limit"


class OutputError(StratadiffError):
    """A result cannot be written; nothing partial is left behind."""

    default_code = "output"


class UsageError(StratadiffError):
    """Arguments that are malformed or contradict each other."""

    default_code = "usage"
