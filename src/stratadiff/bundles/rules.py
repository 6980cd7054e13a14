"""What a manifest must hold, rule by rule, in the contract's order *(bundles §2)*.

A rule is a function that yields one message for each thing that breaks it. :data:`MANIFEST_RULES` are the
ones that read members; what comes before and after them, files and bytes, is put in order by
:mod:`stratadiff.bundles.reader`.
"""

from __future__ import annotations

from stratadiff.bundles.model import FAILED, PASSED, SKIPPED, SUCCEEDED, VERSION
from stratadiff.bundles.names import DATA_PACKAGE, accepted_names
from stratadiff.core.digests import is_bare_digest
from stratadiff.core.jsonvalue import LongInteger
from stratadiff.core.moments import instant
from stratadiff.limits import MAX_BUNDLE_MESSAGE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Members: TypeAlias = dict[str, Any]
    Messages: TypeAlias = Iterator[str]

RULES = (
    "directory",
    "entry-type",
    "entry-set",
    "manifest-json",
    "schema-version",
    "manifest-fields",
    "optional-absent",
    "timestamps",
    "valid-period",
    "identity",
    "digest-form",
    "data-package-path",
    "counts",
    "positions",
    "result-success",
    "result-failure",
    "report-path",
    "data-package-digest",
)
"""Every rule. ``entry-type`` and ``entry-set`` are tried again after the manifest."""

# Which members an object has. An optional one may be missing; null and "" are another rule's.
_TEXT, _INTEGER, _OBJECT, _ARRAY = "a text", "an integer", "an object", "an array"
_TOP = {
    "schemaVersion": _TEXT,
    "comparisonId": _TEXT,
    "startedAt": _TEXT,
    "finishedAt": _TEXT,
    "reportId": _TEXT,
    "validPeriod": _OBJECT,
    "timezone": _TEXT,
    "promptId": _TEXT,
    "promptVersion": _TEXT,
    "promptHash": _TEXT,
    "dataPackage": _OBJECT,
    "total": _INTEGER,
    "succeeded": _INTEGER,
    "failed": _INTEGER,
    "results": _ARRAY,
}
_RESULT = {
    "position": _INTEGER,
    "profileId": _TEXT,
    "backendId": _TEXT,
    "modelName": _TEXT,
    "status": _TEXT,
    "validationStatus": _TEXT,
    "reportPath": _TEXT,
    "error": _OBJECT,
}
_PERIOD = {"start": _TEXT, "end": _TEXT}
_PACKAGE = {"path": _TEXT, "sha256": _TEXT}
_ERROR = {"category": _TEXT, "message": _TEXT}
_OPTIONAL = ("backendId", "validationStatus", "reportPath", "error")

_WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters of Unicode property White_Space, the same ones in every version of Python."""

_ZERO_TIME = instant("0001-01-01T00:00:00Z")
_TIMESTAMP = "an RFC 3339 timestamp as 2026-01-02T03:04:05Z"


def is_blank(text: str) -> bool:
    """Tell whether a text is empty or white space alone."""
    return not text.strip(_WHITE_SPACE)


def moment_of(text: str) -> tuple[int, str] | None:
    """Return a timestamp's place in time, None when it is none of the form the format asks for.

    That is RFC 3339 with capital ``T`` and ``Z``, the years 0001 to 9999, at most nine digits of a second,
    and no offset ``-00:00``.
    """
    if text[10:11] != "T" or text[:4] == "0000" or text.endswith(("z", "-00:00")):
        return None
    if text[19:20] == "." and len(text[20:]) - len(text[20:].lstrip("0123456789")) > 9:
        return None
    return instant(text)


def unsupported_version(members: Members) -> str | None:
    """Return the version of a manifest of another version *(rule schema-version)*."""
    version = members.get("schemaVersion")
    return version if isinstance(version, str) and version != VERSION else None


# The members there are, and their types.


def manifest_fields(members: Members) -> Messages:
    """Every member of the contract at every level, no other, each of its type."""
    yield from _object("", members, _TOP)
    if isinstance(members.get("validPeriod"), dict):
        yield from _object("validPeriod.", members["validPeriod"], _PERIOD)
    if isinstance(members.get("dataPackage"), dict):
        yield from _object("dataPackage.", members["dataPackage"], _PACKAGE)
    results = members.get("results")
    for index, result in enumerate(results if isinstance(results, list) else ()):
        place = f"results[{index}]"
        if not isinstance(result, dict):
            yield f"{place} is {_described(result)}, and must be an object"
            continue
        yield from _object(f"{place}.", result, _RESULT)
        status = result.get("status")
        if isinstance(status, str) and status not in (SUCCEEDED, FAILED):
            yield f"{place}.status is {_shown(status)}, and must be {SUCCEEDED} or {FAILED}"
        if isinstance(result.get("error"), dict):
            yield from _object(f"{place}.error.", result["error"], _ERROR)


def _object(place: str, members: Members, table: dict[str, str]) -> Messages:
    for name, kind in table.items():
        is_optional = table is _RESULT and name in _OPTIONAL
        if name not in members:
            if not is_optional:
                yield f"{place}{name} is missing; it must be {kind}"
            continue
        value = members[name]
        if not (_is_of(kind, value) or (is_optional and (value is None or value == ""))):
            yield f"{place}{name} is {_described(value)}, and must be {kind}"
    for name in members:
        if name not in table:
            yield f"{place}{_name(name)} is not a member of the format; remove it"


def _is_of(kind: str, value: Any) -> bool:
    if kind is _TEXT:
        return isinstance(value, str)
    if kind is _INTEGER:
        return type(value) is int and -(2**63) <= value < 2**63
    return isinstance(value, dict if kind is _OBJECT else list)


# The rules that read members, all of the right types by now.


def optional_absent(members: Members) -> Messages:
    """What is not available is left out."""
    for place, result in _results(members):
        for name in _OPTIONAL:
            if name in result and result[name] in (None, ""):
                written = "null" if result[name] is None else '""'
                yield f"{place}.{name} is {written}; leave the member out"


def timestamps(members: Members) -> Messages:
    """Start and end are moments in UTC, in this order."""
    moments = []
    for name in ("startedAt", "finishedAt"):
        text = members[name]
        moment = moment_of(text)
        if moment is None:
            yield f"{name} is {_shown(text)}, and must be {_TIMESTAMP}"
        elif not text.endswith(("Z", "+00:00")):
            yield f"{name} is {_shown(text)}, and must be in UTC, with Z at its end"
        elif moment == _ZERO_TIME:
            yield f"{name} is the zero time, {_shown(text)}; write the time at which it was"
        else:
            moments.append(moment)
    if len(moments) == 2 and moments[1] < moments[0]:
        yield (
            f"finishedAt {_shown(members['finishedAt'])} is earlier than startedAt "
            f"{_shown(members['startedAt'])}; it must be the same moment or a later one"
        )


def valid_period(members: Members) -> Messages:
    """The period is not empty."""
    period = members["validPeriod"]
    moments = []
    for name in ("start", "end"):
        moment = moment_of(period[name])
        if moment is None:
            yield f"validPeriod.{name} is {_shown(period[name])}, and must be {_TIMESTAMP}, any offset"
        else:
            moments.append(moment)
    if len(moments) == 2 and not moments[0] < moments[1]:
        yield (
            f"validPeriod is empty: its start {_shown(period['start'])} must be earlier than its end "
            f"{_shown(period['end'])}"
        )


def identity(members: Members) -> Messages:
    """Whatever names something says something."""
    for name in ("comparisonId", "reportId", "timezone", "promptId", "promptVersion"):
        if is_blank(members[name]):
            yield f"{name} is blank: {_shown(members[name])}; it must say something"
    for place, result in _results(members):
        for name in ("profileId", "modelName"):
            if is_blank(result[name]):
                yield f"{place}.{name} is blank: {_shown(result[name])}; it must say something"


def digest_form(members: Members) -> Messages:
    """Digests are 64 lower-case hexadecimal digits."""
    for place, text in (
        ("promptHash", members["promptHash"]),
        ("dataPackage.sha256", members["dataPackage"]["sha256"]),
    ):
        if not is_bare_digest(text):
            yield f"{place} is {_shown(text)}, and must be 64 digits out of 0-9 and a-f"


def data_package_path(members: Members) -> Messages:
    """The data package has its one name."""
    path = members["dataPackage"]["path"]
    if path != DATA_PACKAGE:
        yield f"dataPackage.path is {_shown(path)}, and must be {DATA_PACKAGE}"


def counts(members: Members) -> Messages:
    """The counts are those of the results, of which there are two at least."""
    total, count = members["total"], len(members["results"])
    if total < 2:
        yield f"total is {total}, and must be at least 2"
    if total != count:
        yield f"total is {total}, and must be the number of results, {count}"
    if members["succeeded"] + members["failed"] != total:
        yield (
            f"succeeded and failed add up to {members['succeeded'] + members['failed']}, and must to total, "
            f"{total}"
        )
    statuses = [result["status"] for result in members["results"]]
    for status in (SUCCEEDED, FAILED):
        if members[status] != statuses.count(status):
            yield (
                f"{status} is {members[status]}, and must be the number of results of that status, "
                f"{statuses.count(status)}"
            )


def positions(members: Members) -> Messages:
    """Results are numbered from 1, and no profile has two."""
    seen: dict[str, int] = {}
    for index, (place, result) in enumerate(_results(members)):
        if result["position"] != index + 1:
            yield f"{place}.position is {result['position']}, and must be {index + 1}: results are in order"
        first = seen.setdefault(result["profileId"], index)
        if first != index:
            yield (
                f"{place}.profileId is {_shown(result['profileId'])}, as results[{first}].profileId is; a "
                "profile has one result"
            )


def result_success(members: Members) -> Messages:
    """A success has passed, has Markdown of its own, and no error."""
    seen: dict[str, str] = {}
    for place, result in _results(members, SUCCEEDED):
        validation = result.get("validationStatus") or None
        if validation != PASSED:
            found = "missing" if validation is None else _shown(validation)
            yield f"{place}.validationStatus is {found}, and must be {PASSED}: the profile succeeded"
        path = result.get("reportPath")
        if not path:
            yield f"{place}.reportPath is missing; the profile succeeded, so name its Markdown file"
        elif seen.setdefault(path, place) != place:
            yield f"{place}.reportPath is {_shown(path)}, as {seen[path]}.reportPath is; each has its own"
        if result.get("error"):
            yield f"{place}.error is there, and the profile succeeded; remove it, or set the status {FAILED}"


def result_failure(members: Members) -> Messages:
    """A failure says why, and has no Markdown."""
    for place, result in _results(members, FAILED):
        if result.get("reportPath"):
            yield f"{place}.reportPath is there, and the profile failed; remove it"
        error = result.get("error")
        if not error:
            yield f"{place}.error is missing; the profile failed, so give a category and a message"
        else:
            for name in ("category", "message"):
                if is_blank(error[name]):
                    yield f"{place}.error.{name} is blank: {_shown(error[name])}; it must say something"
            size = len(error["message"].encode())
            if size > MAX_BUNDLE_MESSAGE_BYTES:
                yield (
                    f"{place}.error.message has {size:,} bytes; at most {MAX_BUNDLE_MESSAGE_BYTES:,} are "
                    "allowed, so shorten it"
                )
        validation = result.get("validationStatus")
        if validation and validation not in (FAILED, SKIPPED):
            yield (
                f"{place}.validationStatus is {_shown(validation)}, and must be {FAILED} or {SKIPPED} or "
                "left out: the profile failed"
            )


def report_path(members: Members) -> Messages:
    """A Markdown file is called by its position and its profile."""
    total = len(members["results"])
    for place, result in _results(members, SUCCEEDED):
        path = result.get("reportPath")
        names = accepted_names(result["position"], total, result["profileId"])
        if path and path not in names:
            yield f"{place}.reportPath is {_shown(path)}, and must be {' or '.join(names)}"


MANIFEST_RULES: tuple[tuple[str, Callable[[Members], Messages]], ...] = (
    ("optional-absent", optional_absent),
    ("timestamps", timestamps),
    ("valid-period", valid_period),
    ("identity", identity),
    ("digest-form", digest_form),
    ("data-package-path", data_package_path),
    ("counts", counts),
    ("positions", positions),
    ("result-success", result_success),
    ("result-failure", result_failure),
    ("report-path", report_path),
)


def _results(members: Members, status: str | None = None) -> Iterator[tuple[str, Members]]:
    for index, result in enumerate(members["results"]):
        if status is None or result["status"] == status:
            yield f"results[{index}]", result


# Words.


def _described(value: Any) -> str:
    if isinstance(value, LongInteger) or (type(value) is int and abs(value) >= 10**60):
        digits = value.text if isinstance(value, LongInteger) else str(value)
        return f"the number {digits[:59]}…"
    if isinstance(value, float) and value - value != 0:
        return "a number beyond a double"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    from stratadiff.core.configuration import described  # only for what is wrong: start-up

    return described(value)


def _shown(text: str) -> str:
    from stratadiff.core.configuration import shown  # only for what is wrong: start-up

    return shown(text)


def _name(name: str) -> str:
    return name if name.isidentifier() and len(name) <= 60 else _shown(name)
