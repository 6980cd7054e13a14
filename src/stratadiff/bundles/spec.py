"""The file that says what a bundle is to hold: ``bundle create --from SPEC``.

YAML or JSON. Members are called as in the manifest; ``dataPackage`` and each result's ``markdown`` name
files, beside the spec unless their paths are absolute::

    comparisonId: monday
    startedAt: 2026-01-05T06:00:00Z
    finishedAt: 2026-01-05T06:01:30Z
    reportId: daily
    validPeriod: {start: 2026-01-05T00:00:00+01:00, end: 2026-01-06T00:00:00+01:00}
    timezone: Europe/Berlin
    promptId: daily-report
    promptVersion: 1.10
    promptHash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    dataPackage: monday.yml
    results:
      - {profileId: careful, modelName: large-2, backendId: local, markdown: careful.md}
      - profileId: fast
        modelName: small-1
        error: {category: timeout, message: no answer after 30 s}

Every value is text as it is spelled: ``1.10`` is no number here, and ``no`` no boolean.
"""

from __future__ import annotations

import os

from stratadiff.bundles.writer import write_bundle
from stratadiff.core.configuration import described, member_of, read_configuration, shown, text_of
from stratadiff.core.files import read_file
from stratadiff.core.frozen import Struct
from stratadiff.errors import ConfigurationError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from stratadiff.core.publish import Published

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_TEXTS = (
    "comparisonId",
    "startedAt",
    "finishedAt",
    "reportId",
    "timezone",
    "promptId",
    "promptVersion",
    "promptHash",
)
_TOP = (*_TEXTS, "validPeriod", "dataPackage", "results")
_RESULT_TEXTS = ("profileId", "modelName")
_RESULT_OPTIONAL = ("backendId", "validationStatus", "markdown", "error")


class BundleSpec(Struct):
    """What a spec says, its files read.

    Attributes
    ----------
    fields : dict
        Members of the manifest.
    data_package : bytes
    results : list of dict
        As :func:`~stratadiff.bundles.writer.write_bundle` takes them.
    """

    __slots__ = ("fields", "data_package", "results")  # noqa: RUF023  the order of the file
    fields: dict[str, Any]
    data_package: bytes
    results: list[dict[str, Any]]

    def __init__(self, fields: dict[str, Any], data_package: bytes, results: list[dict[str, Any]]) -> None:
        self._fill(fields=fields, data_package=data_package, results=results)


def create_bundle(dest: Path, spec: Path, *, replace: bool = False, atomic: bool = True) -> Published:
    """Write the bundle that a spec describes.

    Parameters
    ----------
    dest : path-like
        The folder to be made.
    spec : path-like
        The file; a name that ends in ``.json`` is JSON, any other YAML.
    replace, atomic : bool
        As :func:`~stratadiff.bundles.writer.write_bundle` takes them.

    Raises
    ------
    ConfigurationError
        The spec does not say what it must; the line is named.
    InputError, LimitError
        It cannot be read.
    BundleError, OutputError
        As :func:`~stratadiff.bundles.writer.write_bundle`.
    """
    found = read_spec(spec)
    return write_bundle(dest, found.fields, found.data_package, found.results, replace=replace, atomic=atomic)


def read_spec(path: Path) -> BundleSpec:
    """Read a spec and the files that it names.

    Raises
    ------
    ConfigurationError
        A member is missing, unknown or of the wrong type, or a file cannot be read.
    InputError, LimitError
        The spec cannot be read; see :func:`~stratadiff.core.configuration.read_configuration`.
    """
    given = os.fsdecode(path)
    try:
        return _Spec(os.path.dirname(given)).read(read_configuration(given))
    except ConfigurationError as error:
        if error.where:
            raise
        found = ConfigurationError(error.message, where=given)
        found.line = error.line  # the message names it already
        raise found from None


class _Spec:
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def read(self, value: Any) -> BundleSpec:
        spec = _mapping(value, "the spec")
        _check_members(spec, "", _TOP, ())
        fields: dict[str, Any] = {name: member_of(spec, name, text_of, name) for name in _TEXTS}
        period = member_of(spec, "validPeriod", _mapping, "validPeriod")
        fields["validPeriod"] = _texts(period, "validPeriod.", ("start", "end"))
        data_package = member_of(spec, "dataPackage", self._file, "dataPackage")
        results = member_of(spec, "results", _sequence, "results")
        return BundleSpec(
            fields,
            data_package,
            [
                self._result(member_of(results, index, _mapping, f"results[{index}]"), f"results[{index}].")
                for index in range(len(results))
            ],
        )

    def _result(self, result: Any, place: str) -> dict[str, Any]:
        _check_members(result, place, _RESULT_TEXTS, _RESULT_OPTIONAL)
        members: dict[str, Any] = {
            name: member_of(result, name, text_of, place + name)
            for name in (*_RESULT_TEXTS, "backendId", "validationStatus")
            if name in result
        }
        if ("markdown" in result) == ("error" in result):
            raise _at(
                result,
                f"{place[:-1]} must have either markdown, the file of a profile that succeeded, or error, "
                "why it failed",
            )
        if "markdown" in result:
            members["markdown"] = member_of(result, "markdown", self._file, place + "markdown")
        else:
            error = member_of(result, "error", _mapping, place + "error")
            members["error"] = _texts(error, place + "error.", ("category", "message"))
        return members

    def _file(self, value: Any, what: str) -> bytes:
        name = text_of(value, what)
        try:
            return read_file(os.path.join(self.folder, name))
        except InputError as error:
            said = "is missing" if error.message == "missing" else error.message
            raise ConfigurationError(f"{what} names the file {shown(name)}, which {said}") from None


def _texts(members: Any, place: str, names: tuple[str, ...]) -> dict[str, str]:
    _check_members(members, place, names, ())
    return {name: member_of(members, name, text_of, place + name) for name in names}


def _check_members(members: Any, place: str, needed: Iterable[str], optional: Iterable[str]) -> None:
    known = [*needed, *optional]
    for name in members:
        if name not in known:
            line = getattr(members, "lines", {}).get(name, 0)
            where = place.rstrip(".") or "the spec"
            raise ConfigurationError(
                f"{where} has no member {shown(name)}; its members are {', '.join(known)}", line=line
            )
    for name in needed:
        if name not in members:
            raise _at(members, f"{place}{name} is missing")


def _mapping(value: Any, what: str) -> Any:
    if not isinstance(value, dict):
        raise ConfigurationError(f"{what} must be a mapping; found {described(value)}")
    return value


def _sequence(value: Any, what: str) -> Any:
    if not isinstance(value, list):
        raise ConfigurationError(f"{what} must be a list; found {described(value)}")
    return value


def _at(container: Any, message: str) -> ConfigurationError:
    return ConfigurationError(message, line=getattr(container, "line", 0))
