"""A bundle produced: one report run under several profiles *(bundles §5)*."""

from __future__ import annotations

import os
import time

from stratadiff.bundles.manifest import cut, is_mapping, repaired
from stratadiff.bundles.model import Failure
from stratadiff.bundles.rules import is_blank
from stratadiff.bundles.writer import NewResult, bundle_files, claim, write_bundle
from stratadiff.core.frozen import Struct
from stratadiff.core.publish import check_destination

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from typing import Any, TypeAlias

    from stratadiff.core.publish import Published

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    Run: TypeAlias = Callable[[Any, bytes], bytes | str]
    Outcome: TypeAlias = tuple[bytes | None, Failure | None]


class Profile(Struct):
    """A profile to run a report under.

    Parameters
    ----------
    profile_id, model_name : str
    backend_id : str, optional
    """

    __slots__ = ("profile_id", "model_name", "backend_id")  # noqa: RUF023  the parameters' order
    profile_id: str
    model_name: str
    backend_id: str | None

    def __init__(self, profile_id: str, model_name: str, backend_id: str | None = None) -> None:
        self._fill(profile_id=profile_id, model_name=model_name, backend_id=backend_id)


def build_bundle(
    dest: Path,
    report: Mapping[str, Any],
    data_package: bytes,
    profiles: Iterable[Profile | Mapping[str, Any]],
    run: Run,
    *,
    executor: Executor | None = None,
    replace: bool = False,
    atomic: bool = True,
    clock: Callable[[], int] = time.time_ns,
) -> Published:
    """Run a report under several profiles, and write what comes out as a comparison bundle.

    Parameters
    ----------
    dest : path-like
        The folder to be made.
    report : mapping
        The manifest's members that are the report's, by their names in the format: ``reportId``,
        ``validPeriod``, ``timezone``, ``promptId``, ``promptVersion``, ``promptHash``; ``comparisonId`` if it
        is not to be made up. ``startedAt`` and ``finishedAt`` are taken from the clock unless they are there.
    data_package : bytes
        Given to every run, and kept in the bundle.
    profiles : iterable of Profile or mapping
        In the order of selection, two at least. A mapping has ``profileId``, ``modelName`` and perhaps
        ``backendId``, and whatever else `run` wants.
    run : callable
        Called as ``run(profile, data_package)``; returns Markdown as text or bytes, or raises.
    executor : concurrent.futures.Executor, optional
        Runs the profiles; by default they run here, one after the other. A process pool needs a `run` that it
        can pickle.
    replace, atomic : bool
        As :func:`~stratadiff.bundles.writer.write_bundle` takes them.
    clock : callable
        Nanoseconds since 1970-01-01 UTC.

    Returns
    -------
    Published

    Raises
    ------
    BundleError
        Something given would break a rule of the format: fewer than two profiles (``counts``), two with one
        id (``positions``), a blank id (``identity``). Nothing was run.
    OutputError
        It cannot be written. Where that is known before, nothing was run.

    Notes
    -----
    An exception makes a failed result: its category is the exception's ``category`` attribute if that is a
    text that is not blank, else its class's name in kebab case; its message is its text, or the class's name.
    So do a future that was cancelled and a pool that broke. ``KeyboardInterrupt``, ``SystemExit`` and others
    that are no ``Exception`` pass through; runs that have not started are cancelled, nothing is published.
    """
    where = os.fsdecode(dest)
    chosen = list(profiles)
    fields = {"comparisonId": os.urandom(16).hex(), **report}
    given_times: dict[str, Any] = {
        name: fields.pop(name) for name in ("startedAt", "finishedAt") if name in fields
    }
    started = clock()
    times = {"startedAt": utc(started), "finishedAt": utc(started), **given_times}
    _rehearse(where, {**fields, **times}, data_package, chosen)
    check_destination(where, claim=claim if replace else None)
    if executor is None:
        outcomes = [attempt(run, profile, data_package) for profile in chosen]
    else:
        outcomes = _run_there(executor, chosen, data_package, run)
    times = {"startedAt": utc(started), "finishedAt": utc(max(started, clock())), **given_times}
    results = [
        _new_result(profile, markdown, failure)
        for profile, (markdown, failure) in zip(chosen, outcomes, strict=True)
    ]
    return write_bundle(dest, {**fields, **times}, data_package, results, replace=replace, atomic=atomic)


def _rehearse(where: str, fields: Mapping[str, Any], data_package: bytes, profiles: Sequence[Any]) -> None:
    """Break now what would break a rule once everything has run."""
    pending = Failure("pending", "not run yet")
    bundle_files(where, fields, data_package, [_new_result(profile, None, pending) for profile in profiles])


def _new_result(profile: Any, markdown: bytes | None, failure: Failure | None) -> Mapping[str, Any]:
    if not is_mapping(profile):
        return NewResult(
            profile.profile_id, profile.model_name, markdown, failure, profile.backend_id
        ).members()
    names = ("profileId", "modelName", "backendId")
    members = {name: profile[name] for name in names if name in profile}
    return {**members, "markdown": markdown, "error": failure}


def _run_there(executor: Executor, profiles: Sequence[Any], data_package: bytes, run: Run) -> list[Outcome]:
    futures: list[Future[Outcome] | Failure] = []
    outcomes: list[Outcome] = []
    try:
        for profile in profiles:
            try:
                futures.append(executor.submit(attempt, run, profile, data_package))
            except Exception as error:  # a pool that broke, or was shut down
                futures.append(failure_of(error))
        for future in futures:
            if isinstance(future, Failure):
                outcomes.append((None, future))
                continue
            try:
                outcomes.append(future.result())
            except Exception as error:  # cancelled, or the pool broke
                outcomes.append((None, failure_of(error)))
    except BaseException:
        for future in futures:
            if not isinstance(future, Failure):
                future.cancel()
        raise
    return outcomes


def attempt(run: Run, profile: Any, data_package: bytes) -> Outcome:
    """Run one profile, in whatever process; an exception becomes a failure there, so that it need not be one
    that can be pickled.
    """
    try:
        markdown = run(profile, data_package)
        if isinstance(markdown, str):
            return markdown.encode(), None
        if isinstance(markdown, (bytes, bytearray, memoryview)):
            return bytes(markdown), None
        raise TypeError(f"run returned {type(markdown).__name__}, and must return text or bytes")
    except Exception as error:
        return None, failure_of(error)


def failure_of(error: Exception) -> Failure:
    """Return what a failed result says of an exception."""
    name = type(error).__name__
    try:
        category = error.category  # type: ignore[attr-defined]
    except Exception:
        category = None
    if not isinstance(category, str) or is_blank(category):
        category = _kebab(name)
    try:
        message = str(error)
    except Exception:
        message = ""
    message = cut(repaired(message))
    if is_blank(message):
        message = name
    # A class may be called anything, too.
    return Failure("error" if is_blank(category) else category, "error" if is_blank(message) else message)


def _kebab(name: str) -> str:
    """Write a class's name in kebab case: ``HTTPError`` → ``http-error``."""
    parts = []
    for index, character in enumerate(name):
        before, after = name[index - 1 : index], name[index + 1 : index + 2]
        if character.isupper() and before not in ("", "_") and (not before.isupper() or after.islower()):
            parts.append("-")
        parts.append("-" if character == "_" else character.lower())
    return "".join(parts).strip("-")


def utc(nanoseconds: int) -> str:
    """Return a moment as RFC 3339 text in UTC, with as many digits as it needs."""
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    year, month, day, hour, minute, second, *_ = time.gmtime(seconds)
    digits = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{digits}Z"
