"""Is this folder a bundle, and what is in it *(bundles §2)*.

Everything is opened once, from the folder's descriptor, without following links; its type is looked at on the
descriptor, and what was hashed or parsed are the bytes that were read then.
"""

from __future__ import annotations

import os

from stratadiff._kernels.json_scan import pretty
from stratadiff.bundles import rules
from stratadiff.bundles.model import VERSION, Bundle, BundleError, Finding, manifest_of
from stratadiff.bundles.names import DATA_PACKAGE, MANIFEST, SUFFIX
from stratadiff.core.folders import Folder, open_folder, without_trailing
from stratadiff.core.frozen import Struct
from stratadiff.core.jsonvalue import parse_valid
from stratadiff.errors import InputError
from stratadiff.limits import (
    MAX_BUNDLE_FINDINGS,
    MAX_BUNDLE_MANIFEST_BYTES,
    MAX_BUNDLE_MANIFEST_DEPTH,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Protocol, TypeAlias

    from stratadiff.core.folders import Stamp

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

    class File(Protocol):
        """A file of a bundle, open."""

        @property
        def size(self) -> int: ...
        @property
        def stamp(self) -> Stamp: ...
        def read(self, limit: int) -> bytes: ...
        def digest(self) -> str: ...
        def __enter__(self) -> File: ...
        def __exit__(self, *_: object) -> None: ...

    class Source(Protocol):
        """Where the files of a bundle are: a folder, or what is about to be written."""

        def entries(self) -> list[tuple[str, str]]: ...
        def open_file(self, name: str) -> File: ...


_NOT_UTF8, _NOT_JSON, _TOO_DEEP, _REPEATED, _BYTE_ORDER_MARK = range(1, 6)

READINGS = 8
"""Times a folder is read that is replaced by another while it is read."""


class BundleVerification(Struct):
    """What :func:`verify_bundle` found.

    Attributes
    ----------
    path : str
        As given.
    bundle : Bundle or None
        None if a rule is broken.
    findings : tuple of Finding
        What breaks a rule, in the order in which rules are tried.
    is_complete : bool
        False if there may be more to find: only the first was asked for, or there are too many.
    """

    __slots__ = ("path", "bundle", "findings", "is_complete")  # noqa: RUF023  the order in which they are read
    path: str
    bundle: Bundle | None
    findings: tuple[Finding, ...]
    is_complete: bool

    def __init__(
        self, path: str, bundle: Bundle | None, findings: Iterable[Finding], is_complete: bool = True
    ) -> None:
        self._fill(path=path, bundle=bundle, findings=tuple(findings), is_complete=is_complete)

    @property
    def verifies(self) -> bool:
        """Tell whether no rule is broken."""
        return self.bundle is not None


def open_bundle(path: Path) -> Bundle:
    """Read a comparison bundle and check it against every rule of its format.

    Parameters
    ----------
    path : path-like
        The folder; not a link to one.

    Returns
    -------
    Bundle
        Its manifest; Markdown and data package are read when they are asked for.

    Raises
    ------
    BundleError
        ``rule`` is the first rule that is broken.

    Notes
    -----
    The manifest is read, the data package is hashed in pieces, and Markdown is opened: cost is that of
    hashing the data package, memory that of the manifest, which has 16 MiB at most.
    """
    given = os.fsdecode(path)
    found = _examined(given, all_errors=False)
    if found.bundle is None:
        raise BundleError(found.findings[0].rule, found.findings[0].message, where=given)
    return found.bundle


def is_bundle(path: Path) -> bool:
    """Tell whether a folder is a comparison bundle in every respect, so that it may be replaced as one.

    Whatever is wrong with it, also that it is not there or cannot be read, the answer is False.
    """
    return _examined(os.fsdecode(path), all_errors=False).verifies


def verify_bundle(path: Path, *, all_errors: bool = True) -> BundleVerification:
    """List what breaks a rule of the format.

    Parameters
    ----------
    path : path-like
        The folder; not a link to one.
    all_errors : bool
        False stops at the first, True at the 10,000th. Past a manifest that cannot be read (rules
        ``manifest-json``, ``schema-version``, ``manifest-fields``) there is nothing to go on with.

    Returns
    -------
    BundleVerification
    """
    return _examined(os.fsdecode(path), all_errors=all_errors)


def has_manifest(path: str) -> bool:
    """Tell whether a path is a folder with an entry ``comparison.json``, whatever that is: what a comparison
    takes for a bundle.
    """
    return os.path.isdir(path) and os.path.lexists(os.path.join(path, MANIFEST))


def _examined(given: str, *, all_errors: bool) -> BundleVerification:
    bare = without_trailing(given)
    for reading in range(READINGS):
        try:
            folder = open_folder(bare)
        except InputError as error:
            return BundleVerification(given, None, (Finding("directory", _advised(given, error.message)),))
        with folder:
            found = examine_folder(folder, given, all_errors=all_errors)
            if found.verifies or reading == READINGS - 1 or not _was_replaced(bare, folder):
                break
    return found


def _was_replaced(path: str, folder: Folder) -> bool:
    # A writer may put a new bundle in its place at any time, and remove the one that is being read.
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return (status.st_dev, status.st_ino) != folder.identity


def _advised(given: str, message: str) -> str:
    if not given:
        return "the path is empty; give the bundle's directory"
    if "symbolic link" in message:
        return f"{message}; give the directory it leads to"
    return f"{message}; give the bundle's directory"


def examine_folder(folder: Folder, given: str, *, all_errors: bool = False) -> BundleVerification:
    """Check a folder that is open already."""
    work = Examination(folder)
    findings = []
    limit = MAX_BUNDLE_FINDINGS if all_errors else 1
    for finding in work.findings():
        findings.append(finding)
        if len(findings) == limit:
            return BundleVerification(given, None, findings, False)
    if findings:
        return BundleVerification(given, None, findings)
    bundle = Bundle(given, manifest_of(work.members), folder.identity, work.stamps)
    return BundleVerification(given, bundle, ())


class Examination:
    """The rules in their order, over a source of files.

    Attributes
    ----------
    members : dict
        The manifest's; empty until they were all there.
    stamps : dict of str to tuple
        The files that were opened, as they were then.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.members: dict[str, Any] = {}
        self.stamps: dict[str, Stamp] = {}

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong, nothing of a bundle."""
        try:
            entries = self.source.entries()
        except InputError as error:
            yield Finding("directory", f"{error.message}; make it readable")
            return
        for name, kind in entries:
            if kind:
                yield Finding(
                    "entry-type", f"{name} is {kind}, not a regular file; a bundle holds nothing else"
                )
        names = [name for name, _ in entries]
        yield from map(_entry_set, _fixed_names(names))
        readable = {name for name, kind in entries if not kind}
        if MANIFEST in readable:
            yield from self._manifest()
        if self.members:
            yield from self._files(names, readable)

    def _manifest(self) -> Iterator[Finding]:
        try:
            with self.source.open_file(MANIFEST) as file:
                self.stamps[MANIFEST] = file.stamp
                size = file.size
                data = b"" if size > MAX_BUNDLE_MANIFEST_BYTES else file.read(MAX_BUNDLE_MANIFEST_BYTES + 1)
        except InputError as error:
            yield _unreadable(MANIFEST, error)
            return
        size = max(size, len(data))
        message = ""
        value: Any = None
        if size > MAX_BUNDLE_MANIFEST_BYTES:
            message = f"has {size:,} bytes, and at most {MAX_BUNDLE_MANIFEST_BYTES:,} are read"
        else:
            message, value = read_members(data)
        if message:
            yield Finding("manifest-json", f"{MANIFEST} {message}")
            return
        version = rules.unsupported_version(value)
        if version is not None:
            yield Finding(
                "schema-version",
                f"schemaVersion {_shown(version)} is unsupported; {VERSION} is the one that is",
            )
            return
        wrong = False
        for message in rules.manifest_fields(value):
            wrong = True
            yield Finding("manifest-fields", message)
        if wrong:
            return
        for rule, function in rules.MANIFEST_RULES:
            for message in function(value):
                yield Finding(rule, message)
        self.members = value

    def _files(self, names: list[str], readable: set[str]) -> Iterator[Finding]:
        declared: dict[str, str] = {}
        for index, result in enumerate(self.members["results"]):
            if result.get("reportPath"):
                declared.setdefault(result["reportPath"], f"results[{index}]")
        present = {name for name in names if name.endswith(SUFFIX)}
        for path, place in declared.items():
            if path not in present and path not in (MANIFEST, DATA_PACKAGE):
                yield _entry_set(f"{_shown(path)}, named by {place}, is missing; put it back")
        for name in names:
            if name in present and name not in declared:
                yield _entry_set(f"{name} is named by no result; move it elsewhere")
        digest = None
        for name in (*declared, DATA_PACKAGE):
            if name not in readable:
                continue
            try:
                with self.source.open_file(name) as file:
                    self.stamps[name] = file.stamp
                    if name == DATA_PACKAGE:
                        digest = file.digest()
            except InputError as error:
                yield _unreadable(name, error)
        recorded = self.members["dataPackage"]["sha256"]
        if digest is not None and digest != recorded:
            yield Finding(
                "data-package-digest",
                f"the SHA-256 of {DATA_PACKAGE} is {digest}, and dataPackage.sha256 is {_shown(recorded)}; "
                "it is not the file the profiles were given",
            )


def _fixed_names(names: list[str]) -> Iterator[str]:
    for name in (MANIFEST, DATA_PACKAGE):
        if name not in names:
            yield f"{name} is missing; this is no comparison bundle, or not all of one"
    for name in names:
        if name not in (MANIFEST, DATA_PACKAGE) and not name.endswith(SUFFIX):
            yield f"{name} does not belong in a bundle; move it elsewhere"


def _entry_set(message: str) -> Finding:
    return Finding("entry-set", message)


def _unreadable(name: str, error: InputError) -> Finding:
    # It was a regular file when the folder was listed, or is one and the system does not let us.
    said = "has gone since the directory was listed" if error.message == "missing" else error.message
    return Finding("entry-type", f"{name} {said}; a bundle holds regular files that can be read")


def read_members(data: bytes) -> tuple[str, Any]:
    """Parse a manifest *(rule manifest-json)*.

    Returns
    -------
    message : str
        What is wrong with the bytes, ``""`` if nothing is.
    members : dict
        As :func:`~stratadiff.core.jsonvalue.parse_valid` makes it.
    """
    status, offset, _ = pretty(data, MAX_BUNDLE_MANIFEST_DEPTH, 0)  # no room for a result: none is made
    if status in (_NOT_UTF8, _NOT_JSON, _TOO_DEEP, _REPEATED, _BYTE_ORDER_MARK):
        return _not_json(data, status, offset), None
    offset = _lone_surrogate(data)
    if offset >= 0:
        escape = data[offset : offset + 6].decode()
        return f"escapes half a surrogate pair, {escape}, at byte {offset}; write the character itself", None
    value = parse_valid(data.decode())
    if not isinstance(value, dict):
        return "holds JSON that is not an object; a manifest is one", None
    return "", value


def _not_json(data: bytes, status: int, offset: int) -> str:
    if status == _BYTE_ORDER_MARK:
        return "starts with a byte-order mark (EF BB BF); save it as UTF-8 without one"
    if status == _NOT_UTF8:
        return f"is not UTF-8: byte {offset} is 0x{data[offset]:02x}; save it as UTF-8"
    if status == _TOO_DEEP:
        return f"opens more than {MAX_BUNDLE_MANIFEST_DEPTH} containers in each other at byte {offset}"
    if status == _REPEATED:
        from _json import scanstring

        name = scanstring(data[offset + 1 :].decode(), 0)[0]
        return f"has the member {_shown(name)} twice in an object, again at byte {offset}; keep one"
    if not data.strip():
        return "is empty; write the manifest"
    if offset == len(data):
        return f"is not JSON: something is missing at its end, byte {offset}"
    rest = data[offset : offset + 60].decode("utf-8", "replace")
    line = rest[:1] + rest[1:].partition("\n")[0]
    return f"is not one JSON value: byte {offset} starts with {_shown(line)}"


def _lone_surrogate(data: bytes) -> int:
    """Return where half a surrogate pair is escaped, -1 if nowhere; `data` is JSON."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return -1
    import re  # few manifests have any: start-up

    fine = rb"(?:[^\\]++|\\[^u]|\\u(?:[^dD]|[dD][0-7])|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)*+"
    match = re.match(fine, data, re.DOTALL)
    end = match.end() if match else 0
    return end if end < len(data) else -1


def _shown(text: str) -> str:
    from stratadiff.core.configuration import shown  # only for what is wrong: start-up

    return shown(text)
