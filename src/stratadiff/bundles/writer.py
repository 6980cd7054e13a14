"""A bundle written whole or not at all *(bundles §4)*.

What is to be written is put together in memory and goes through the reader's own rules before anything is
made on the disk.
"""

from __future__ import annotations

import os

from stratadiff.bundles.manifest import cut, encodes, is_mapping, manifest_bytes, repaired, utc_text
from stratadiff.bundles.model import FAILED, PASSED, SUCCEEDED, VERSION, BundleError, Failure
from stratadiff.bundles.names import DATA_PACKAGE, MANIFEST, report_name
from stratadiff.bundles.reader import READINGS, Examination, examine_folder
from stratadiff.core.digests import sha256
from stratadiff.core.frozen import Struct
from stratadiff.core.publish import Occupant, publish_folder
from stratadiff.errors import InputError, OutputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeAlias

    from stratadiff.core.folders import Folder, Stamp
    from stratadiff.core.publish import Published

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_MARKDOWN = "markdown"


class NewResult(Struct):
    """What became of a profile, to be written.

    Parameters
    ----------
    profile_id, model_name : str
    markdown : bytes or str, optional
        Of a profile that succeeded.
    error : Failure, optional
        Of a profile that failed.
    backend_id : str, optional
    validation_status : str, optional
        Of a failure: ``failed`` or ``skipped``. A success has ``passed``.
    """

    __slots__ = ("profile_id", "model_name", "markdown", "error", "backend_id", "validation_status")  # noqa: RUF023  the parameters' order
    profile_id: str
    model_name: str
    markdown: bytes | str | None
    error: Failure | None
    backend_id: str | None
    validation_status: str | None

    def __init__(
        self,
        profile_id: str,
        model_name: str,
        markdown: bytes | str | None = None,
        error: Failure | None = None,
        backend_id: str | None = None,
        validation_status: str | None = None,
    ) -> None:
        self._fill(
            profile_id=profile_id,
            model_name=model_name,
            markdown=markdown,
            error=error,
            backend_id=backend_id,
            validation_status=validation_status,
        )

    def members(self) -> dict[str, Any]:
        """Return it as :func:`write_bundle` takes it, too."""
        return {
            "profileId": self.profile_id,
            "modelName": self.model_name,
            "backendId": self.backend_id,
            "validationStatus": self.validation_status,
            "error": self.error,
            _MARKDOWN: self.markdown,
        }


def write_bundle(
    dest: Path,
    manifest_fields: Mapping[str, Any],
    data_package: bytes,
    results: Iterable[NewResult | Mapping[str, Any]],
    *,
    replace: bool = False,
    atomic: bool = True,
) -> Published:
    """Write a comparison bundle from results at hand.

    Parameters
    ----------
    dest : path-like
        The folder to be made. The one above it must be there.
    manifest_fields : mapping
        The manifest's members by their names in the format: ``comparisonId``, ``startedAt``, ``finishedAt``,
        ``reportId``, ``validPeriod``, ``timezone``, ``promptId``, ``promptVersion``, ``promptHash``. Times
        are RFC 3339 texts or aware ``datetime`` objects. The others are made here; given nevertheless, they
        must be right.
    data_package : bytes
        What every profile was given.
    results : iterable of NewResult or mapping
        In the order of selection. A mapping has the members of the format but for those that follow from the
        rest, and the Markdown of a success as ``markdown``.
    replace : bool
        Replace a bundle at the destination. Anything else there is refused and untouched in any case.
    atomic : bool
        False accepts a moment without a destination where the system cannot exchange two folders in one step.

    Returns
    -------
    Published
        ``path`` is absolute; ``leftovers`` are what killed runs have left beside it.

    Raises
    ------
    BundleError
        What is to be written would break ``rule``; nothing was written.
    OutputError
        It cannot be written; the destination is as it was.

    Notes
    -----
    In an error's category and message lone surrogates become U+FFFD, and a message of more than 1,024 bytes
    is cut. Nothing else is repaired.
    """
    where = os.fsdecode(dest)
    files = bundle_files(where, manifest_fields, data_package, results)
    return publish_folder(where, files, claim=claim if replace else None, atomic=atomic)


def bundle_files(
    where: str,
    manifest_fields: Mapping[str, Any],
    data_package: bytes,
    results: Iterable[NewResult | Mapping[str, Any]],
) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files of a bundle, the manifest last.

    Raises
    ------
    BundleError
        They would break ``rule``.
    """
    package = data_package if type(data_package) is bytes else bytes(memoryview(data_package))
    given = [result.members() if isinstance(result, NewResult) else dict(result) for result in results]
    files: dict[str, bytes] = {DATA_PACKAGE: package}
    made = []
    for index, result in enumerate(given):
        markdown = result.pop(_MARKDOWN, None)
        if isinstance(markdown, str):
            if not encodes(markdown):
                raise InputError(
                    f"results[{index}].markdown holds half a surrogate pair; remove it", where=where
                )
            markdown = markdown.encode()
        members = _result_members(result, index, len(given), has_markdown=markdown is not None)
        made.append(members)
        path = members.get("reportPath")
        if markdown is not None and isinstance(path, str):
            files[path] = markdown if type(markdown) is bytes else bytes(memoryview(markdown))
    statuses = [members["status"] for members in made]
    members = {
        "schemaVersion": VERSION,
        "dataPackage": {"path": DATA_PACKAGE, "sha256": sha256(package).hexdigest()},
        "total": len(made),
        "succeeded": statuses.count(SUCCEEDED),
        "failed": statuses.count(FAILED),
        "results": made,
        **manifest_fields,
    }
    for name in ("startedAt", "finishedAt"):
        if name in members:
            members[name] = utc_text(members[name])
    try:
        files[MANIFEST] = manifest_bytes(members)
        for finding in Examination(_Planned(files)).findings():
            raise BundleError(finding.rule, finding.message)
    except BundleError as error:
        raise BundleError(error.rule, error.detail, where=where) from None
    return list(files.items())


def claim(parent: Folder, name: str) -> Occupant:
    """Return a bundle that may be replaced.

    Raises
    ------
    OutputError
        It is no bundle.
    FileNotFoundError
        Nothing is there any more.
    """
    for _ in range(READINGS):
        try:
            folder = parent.open_folder(name)
        except FileNotFoundError:
            raise
        except (OSError, ValueError):
            raise OutputError("is there already and is no directory; only a bundle is replaced") from None
        with folder:
            found = examine_folder(folder, name)
            if found.bundle is not None:
                return Occupant(found.bundle.identity, found.bundle.stamps)
            status = parent.status(name)
            if (status.st_dev, status.st_ino) == folder.identity:
                break  # otherwise another writer has put a new one there meanwhile
    finding = found.findings[0]
    raise OutputError(
        f"is there already and is no bundle ({finding.rule}: {finding.message}); only a bundle is replaced"
    )


# What is to be written, as the reader sees it.


class _PlannedFile:
    __slots__ = ("_data", "size", "stamp")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)
        self.stamp: Stamp = (0, 0, len(data), 0, 0)

    def __enter__(self) -> _PlannedFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, limit: int) -> bytes:
        return self._data[:limit]

    def digest(self) -> str:
        return sha256(self._data).hexdigest()


class _Planned:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def entries(self) -> list[tuple[str, str]]:
        return [(name, "") for name in sorted(self._files)]

    def open_file(self, name: str) -> _PlannedFile:
        return _PlannedFile(self._files[name])


# Members.


def _result_members(
    given: Mapping[str, Any], index: int, total: int, *, has_markdown: bool
) -> dict[str, Any]:
    members = {name: value for name, value in given.items() if value is not None}
    members.setdefault("position", index + 1)
    status = members.setdefault("status", SUCCEEDED if has_markdown else FAILED)
    if has_markdown:
        if status == SUCCEEDED:
            members.setdefault("validationStatus", PASSED)
        profile_id = members.get("profileId")
        if isinstance(profile_id, str):
            members.setdefault("reportPath", report_name(index + 1, total, profile_id))
    error: Any = members.get("error")
    if isinstance(error, Failure):
        error = {"category": error.category, "message": error.message}
    if is_mapping(error):
        error = {name: repaired(value) for name, value in error.items()}
        message = error.get("message")
        if isinstance(message, str):
            error["message"] = cut(message)
        members["error"] = error
    return members
