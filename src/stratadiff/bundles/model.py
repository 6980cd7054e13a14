"""A comparison bundle: its manifest in Python's terms, and its files, read when they are asked for."""

from __future__ import annotations

from stratadiff.bundles.names import DATA_PACKAGE
from stratadiff.core.folders import open_folder, without_trailing
from stratadiff.core.frozen import Frozen, Struct
from stratadiff.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from stratadiff.core.folders import OpenFile, Stamp

VERSION = "weatherreporter.comparison.v1"
SUCCEEDED, FAILED = "succeeded", "failed"
PASSED, SKIPPED = "passed", "skipped"

_NAMED = 12
"""Profiles that a message names at most."""


class Finding(Struct):
    """One way in which a folder is no bundle.

    Attributes
    ----------
    rule : str
        One of :data:`~stratadiff.bundles.rules.RULES`.
    message : str
        What is wrong, where, and what to do about it. May hold names and text of the bundle: escape before
        display.
    """

    __slots__ = ("rule", "message")  # noqa: RUF023  the order in which they are read
    rule: str
    message: str

    def __init__(self, rule: str, message: str) -> None:
        self._fill(rule=rule, message=message)


class BundleError(InputError):
    """A folder, or what is to be written as one, breaks a rule of the format.

    Parameters
    ----------
    rule : str
        Which; also the ``code``.
    message : str
        What is wrong, where, and what to do about it.
    where : str, optional
        The folder.
    """

    default_code = "bundle"

    def __init__(self, rule: str, message: str, *, where: str = "") -> None:
        super().__init__(f"{rule}: {message}", where=where, code=rule)
        self.rule = rule
        self.detail = message

    def __reduce__(self) -> tuple[Any, ...]:
        return _error, (self.rule, self.detail, self.where)


def _error(rule: str, message: str, where: str) -> BundleError:
    return BundleError(rule, message, where=where)


class ValidPeriod(Struct):
    """The half-open period a report is about: RFC 3339 texts, each with its own offset as written."""

    __slots__ = ("start", "end")  # noqa: RUF023  the members' order
    start: str
    end: str

    def __init__(self, start: str, end: str) -> None:
        self._fill(start=start, end=end)


class Failure(Struct):
    """Why a profile has no Markdown."""

    __slots__ = ("category", "message")
    category: str
    message: str

    def __init__(self, category: str, message: str) -> None:
        self._fill(category=category, message=message)


class BundleResult(Struct):
    """What became of one profile.

    Attributes
    ----------
    position : int
        From 1, in the order of selection.
    profile_id, model_name : str
    backend_id : str or None
    status : str
        ``succeeded`` or ``failed``.
    validation_status : str or None
        ``passed`` of a success; None, ``failed`` or ``skipped`` of a failure.
    report_path : str or None
        The name of its Markdown file; None of a failure.
    error : Failure or None
        None of a success.
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "position",
        "profile_id",
        "backend_id",
        "model_name",
        "status",
        "validation_status",
        "report_path",
        "error",
    )
    position: int
    profile_id: str
    backend_id: str | None
    model_name: str
    status: str
    validation_status: str | None
    report_path: str | None
    error: Failure | None

    def __init__(
        self,
        position: int,
        profile_id: str,
        backend_id: str | None,
        model_name: str,
        status: str,
        validation_status: str | None,
        report_path: str | None,
        error: Failure | None,
    ) -> None:
        self._fill(
            position=position,
            profile_id=profile_id,
            backend_id=backend_id,
            model_name=model_name,
            status=status,
            validation_status=validation_status,
            report_path=report_path,
            error=error,
        )

    @property
    def succeeded(self) -> bool:
        """Tell whether there is Markdown."""
        return self.status == SUCCEEDED


class BundleManifest(Struct):
    """``comparison.json`` in the contract's order.

    Attributes
    ----------
    schema_version, comparison_id, started_at, finished_at, report_id, timezone : str
        Timestamps as written.
    prompt_id, prompt_version, prompt_hash : str
    valid_period : ValidPeriod
    data_package_digest : str
        SHA-256 of the data package, 64 hexadecimal digits.
    total, succeeded, failed : int
    results : tuple of BundleResult
    """

    __slots__ = (  # noqa: RUF023  the members' order
        "schema_version",
        "comparison_id",
        "started_at",
        "finished_at",
        "report_id",
        "valid_period",
        "timezone",
        "prompt_id",
        "prompt_version",
        "prompt_hash",
        "data_package_digest",
        "total",
        "succeeded",
        "failed",
        "results",
    )
    schema_version: str
    comparison_id: str
    started_at: str
    finished_at: str
    report_id: str
    valid_period: ValidPeriod
    timezone: str
    prompt_id: str
    prompt_version: str
    prompt_hash: str
    data_package_digest: str
    total: int
    succeeded: int
    failed: int
    results: tuple[BundleResult, ...]

    def __init__(
        self,
        schema_version: str,
        comparison_id: str,
        started_at: str,
        finished_at: str,
        report_id: str,
        valid_period: ValidPeriod,
        timezone: str,
        prompt_id: str,
        prompt_version: str,
        prompt_hash: str,
        data_package_digest: str,
        total: int,
        succeeded: int,
        failed: int,
        results: Iterable[BundleResult],
    ) -> None:
        self._fill(
            schema_version=schema_version,
            comparison_id=comparison_id,
            started_at=started_at,
            finished_at=finished_at,
            report_id=report_id,
            valid_period=valid_period,
            timezone=timezone,
            prompt_id=prompt_id,
            prompt_version=prompt_version,
            prompt_hash=prompt_hash,
            data_package_digest=data_package_digest,
            total=total,
            succeeded=succeeded,
            failed=failed,
            results=tuple(results),
        )


def manifest_of(members: Mapping[str, Any]) -> BundleManifest:
    """Make a manifest of members that keep every rule."""
    return BundleManifest(
        schema_version=members["schemaVersion"],
        comparison_id=members["comparisonId"],
        started_at=members["startedAt"],
        finished_at=members["finishedAt"],
        report_id=members["reportId"],
        valid_period=ValidPeriod(members["validPeriod"]["start"], members["validPeriod"]["end"]),
        timezone=members["timezone"],
        prompt_id=members["promptId"],
        prompt_version=members["promptVersion"],
        prompt_hash=members["promptHash"],
        data_package_digest=members["dataPackage"]["sha256"],
        total=members["total"],
        succeeded=members["succeeded"],
        failed=members["failed"],
        results=[_result_of(result) for result in members["results"]],
    )


def _result_of(members: Mapping[str, Any]) -> BundleResult:
    error = members.get("error")
    return BundleResult(
        position=members["position"],
        profile_id=members["profileId"],
        backend_id=members.get("backendId"),
        model_name=members["modelName"],
        status=members["status"],
        validation_status=members.get("validationStatus"),
        report_path=members.get("reportPath"),
        error=error and Failure(error["category"], error["message"]),
    )


class Bundle(Frozen):
    """A bundle that was read and kept every rule.

    Its files are not held: what is asked for is read then, and is what was validated or an error.

    Attributes
    ----------
    path : str
        As given.
    manifest : BundleManifest
    data_package_bytes : int
        Size of the data package.
    identity, stamps
        What the system said of the folder and of each file when they were validated.
    """

    __slots__ = ("data_package_bytes", "identity", "manifest", "path", "stamps")
    path: str
    manifest: BundleManifest
    data_package_bytes: int
    identity: tuple[int, int]
    stamps: dict[str, Stamp]

    def __init__(
        self, path: str, manifest: BundleManifest, identity: tuple[int, int], stamps: dict[str, Stamp]
    ) -> None:
        size = stamps[DATA_PACKAGE][2]
        self._fill(path=path, manifest=manifest, data_package_bytes=size, identity=identity, stamps=stamps)

    def __repr__(self) -> str:
        manifest = self.manifest
        return (
            f"<Bundle {manifest.comparison_id!r} of {manifest.report_id!r}: "
            f"{manifest.succeeded} of {manifest.total} profiles succeeded>"
        )

    @property
    def results(self) -> tuple[BundleResult, ...]:
        """What became of each profile, in the order of selection."""
        return self.manifest.results

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest's fields, and the size of the data package, as plain values."""
        return {**self.manifest.to_dict(), "data_package_bytes": self.data_package_bytes}

    def result_of(self, profile_id: str) -> BundleResult:
        """Return what became of a profile.

        Raises
        ------
        InputError
            No profile has that id.
        """
        for result in self.results:
            if result.profile_id == profile_id:
                return result
        from stratadiff.core.configuration import shown  # only for what is wrong: start-up

        known = ", ".join(shown(result.profile_id) for result in self.results[:_NAMED])
        more = ", …" if len(self.results) > _NAMED else ""
        raise InputError(
            f"no profile has the id {shown(profile_id)}; there are {known}{more}", where=self.path
        )

    def markdown(self, result: BundleResult | str) -> bytes:
        """Return the Markdown of a profile that succeeded.

        Parameters
        ----------
        result : BundleResult or str
            One of `results`, or a profile id.

        Raises
        ------
        InputError
            No profile has that id, or it failed.
        BundleError
            The file is no longer the one that was validated.
        """
        found = self.result_of(result) if isinstance(result, str) else result
        if found.report_path is None:
            from stratadiff.core.configuration import shown  # only for what is wrong: start-up

            raise InputError(
                f"the profile {shown(found.profile_id)} failed; it has no Markdown", where=self.path
            )
        return self._read(found.report_path)

    def data_package(self) -> bytes:
        """Return the data package, its digest checked again.

        Raises
        ------
        BundleError
            The file is no longer the one that was validated.
        """
        from stratadiff.core.digests import sha256

        data = self._read(DATA_PACKAGE)
        if sha256(data).hexdigest() != self.manifest.data_package_digest:
            raise self._changed("data-package-digest", DATA_PACKAGE)
        return data

    def size_of(self, name: str) -> int:
        """Return the size of a file of the bundle when it was opened, in bytes."""
        return self.stamps[name][2]

    def digest_of(self, name: str) -> str:
        """Return the SHA-256 of a file of the bundle, 64 hexadecimal digits, in constant memory.

        Raises
        ------
        BundleError
            The file is no longer the one that was validated.
        """
        digest: str = self._opened(name, lambda file: file.digest())
        return digest

    def _read(self, name: str) -> bytes:
        data: bytes = self._opened(name, lambda file: file.read(file.size))
        return data

    def _opened(self, name: str, use: Callable[[OpenFile], Any]) -> Any:
        try:
            with open_folder(without_trailing(self.path)) as folder:
                if folder.identity != self.identity:
                    raise self._changed("directory", "the directory")
                with folder.open_file(name) as file:
                    if file.stamp == self.stamps.get(name):
                        found = use(file)
                        if file.is_unchanged():
                            return found
        except BundleError:
            raise
        except InputError as error:
            raise BundleError("entry-type", f"{name} {error.message}", where=self.path) from None
        raise self._changed("entry-type", name)

    def _changed(self, rule: str, what: str) -> BundleError:
        return BundleError(
            rule, f"{what} has changed since the bundle was opened; open it again", where=self.path
        )
