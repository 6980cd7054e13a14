"""Comparison bundles: the first rule a directory breaks, by the format's table alone (bundles 2, 3).

One function reads like the table. Files are opened by their paths: nobody swaps anything here.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import stat
from typing import Any

VERSION = "weatherreporter.comparison.v1"
WHITE_SPACE = {
    chr(code)
    for first, last in (
        (0x9, 0xD), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
        (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
    )
    for code in range(first, last + 1)
}  # fmt: skip
TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(Z|[+-]([0-9]{2}):([0-9]{2}))"
)


class Broken(Exception):  # noqa: N818  the answer, on its way up
    """A rule does not hold."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class Literal:
    """A JSON number: its spelling."""

    def __init__(self, spelling: str) -> None:
        self.spelling = spelling


def need(holds: object, rule: str) -> None:
    """Go on only if the rule holds."""
    if not holds:
        raise Broken(rule)


def first_broken_rule(path: str) -> str | None:
    """Return the id of the first rule that a path breaks, None for a bundle."""
    try:
        check(path)
    except Broken as broken:
        return broken.rule
    return None


def check(path: str) -> None:
    """Go down the table."""
    # directory
    directory = path.rstrip("/") or path[:1]
    try:
        is_directory = stat.S_ISDIR(os.lstat(directory).st_mode)
        names = sorted(os.listdir(os.fsencode(directory))) if is_directory else []
    except (OSError, ValueError):
        raise Broken("directory") from None
    need(is_directory, "directory")
    at = {name: os.path.join(os.fsencode(directory), name) for name in names}
    # entry-type, when listed
    for name in names:
        need(stat.S_ISREG(os.lstat(at[name]).st_mode), "entry-type")
    # entry-set, before the manifest is read
    need(b"comparison.json" in names and b"data-package.yml" in names, "entry-set")
    markdown = [name for name in names if name not in (b"comparison.json", b"data-package.yml")]
    for name in markdown:
        need(name.endswith(b".md"), "entry-set")
    # manifest-json
    need(os.stat(at[b"comparison.json"]).st_size <= 16 * 1024 * 1024, "manifest-json")
    try:
        with open(at[b"comparison.json"], "rb") as file:
            data = file.read()
    except OSError:
        raise Broken("entry-type") from None
    manifest = parsed(data)
    # schema-version
    version = manifest.get("schemaVersion")
    need(not isinstance(version, str) or version == VERSION, "schema-version")
    # manifest-fields
    shape(manifest)
    results = manifest["results"]
    # optional-absent
    for result in results:
        for member in ("backendId", "validationStatus", "reportPath", "error"):
            need(member not in result or result[member] not in (None, ""), "optional-absent")
    # timestamps
    zero = instant("0001-01-01T00:00:00Z")
    started, finished = instant(manifest["startedAt"]), instant(manifest["finishedAt"])
    for member, moment in (("startedAt", started), ("finishedAt", finished)):
        need(moment is not None and moment != zero, "timestamps")
        need(manifest[member].endswith("Z") or manifest[member].endswith("+00:00"), "timestamps")
    need(started is not None and finished is not None and finished >= started, "timestamps")
    # valid-period
    start, end = instant(manifest["validPeriod"]["start"]), instant(manifest["validPeriod"]["end"])
    need(start is not None and end is not None and start < end, "valid-period")
    # identity
    named = [manifest[m] for m in ("comparisonId", "reportId", "timezone", "promptId", "promptVersion")]
    named += [result[member] for result in results for member in ("profileId", "modelName")]
    need(not any(map(is_blank, named)), "identity")
    # digest-form
    for digest in (manifest["promptHash"], manifest["dataPackage"]["sha256"]):
        need(re.fullmatch("[0-9a-f]{64}", digest), "digest-form")
    # data-package-path
    need(manifest["dataPackage"]["path"] == "data-package.yml", "data-package-path")
    # counts
    total, succeeded, failed = (int(manifest[m].spelling) for m in ("total", "succeeded", "failed"))
    successes = [result for result in results if result["status"] == "succeeded"]
    failures = [result for result in results if result["status"] == "failed"]
    need(total >= 2 and total == len(results) and succeeded + failed == total, "counts")
    need(succeeded == len(successes) and failed == len(failures), "counts")
    # positions
    found = [int(result["position"].spelling) for result in results]
    need(found == list(range(1, total + 1)), "positions")
    need(len({result["profileId"] for result in results}) == total, "positions")
    # result-success
    for result in successes:
        need(result.get("validationStatus") == "passed", "result-success")
        need("reportPath" in result and "error" not in result, "result-success")
    paths = [result["reportPath"] for result in successes]
    need(len(set(paths)) == len(paths), "result-success")
    # result-failure
    for result in failures:
        need("reportPath" not in result and "error" in result, "result-failure")
        need(not is_blank(result["error"]["category"]), "result-failure")
        need(not is_blank(result["error"]["message"]), "result-failure")
        need(len(result["error"]["message"].encode("utf-8")) <= 1024, "result-failure")
        need(result.get("validationStatus") in (None, "failed", "skipped"), "result-failure")
    # report-path
    for result in successes:
        position, slug = int(result["position"].spelling), slug_of(result["profileId"])
        widths = {2, max(2, len(str(total)))}
        need(
            result["reportPath"] in {f"{str(position).zfill(width)}-{slug}.md" for width in widths},
            "report-path",
        )
    # entry-set, after the manifest
    need({path.encode("utf-8") for path in paths} == set(markdown), "entry-set")
    # entry-type, on the descriptor; data-package-digest
    content = b""
    for name in [*(path.encode("utf-8") for path in paths), b"data-package.yml"]:
        try:
            with open(at[name], "rb") as file:
                content = file.read()
        except OSError:
            raise Broken("entry-type") from None
    need(hashlib.sha256(content).hexdigest() == manifest["dataPackage"]["sha256"], "data-package-digest")


def parsed(data: bytes) -> Any:
    """Read a manifest's JSON (rule manifest-json)."""

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in members}) == len(members), "manifest-json")
        return dict(members)

    def constant(name: str) -> None:
        raise Broken("manifest-json")

    need(not data.startswith(b"\xef\xbb\xbf"), "manifest-json")
    depth = 0
    for token in re.findall(rb'"(?:[^"\\]|\\.)*"|[][{}]', data, re.DOTALL):
        depth += (token in (b"[", b"{")) - (token in (b"]", b"}"))
        need(depth <= 127, "manifest-json")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=pairs,
            parse_int=Literal,
            parse_float=Literal,
            parse_constant=constant,
        )
    except ValueError:
        raise Broken("manifest-json") from None
    need(isinstance(value, dict), "manifest-json")
    need(not re.search("[\ud800-\udfff]", "".join(strings(value))), "manifest-json")
    return value


def strings(value: Any) -> list[str]:
    """Return every string of a value, names of members included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in [name, *strings(item)]]
    return []


def shape(manifest: Any) -> None:
    """See that every object has its members (rule manifest-fields)."""
    top = (
        "schemaVersion comparisonId startedAt finishedAt reportId validPeriod timezone promptId "
        "promptVersion promptHash dataPackage total succeeded failed results"
    )
    exactly(manifest, top)
    exactly(manifest["validPeriod"], "start end")
    exactly(manifest["dataPackage"], "path sha256")
    for member in ("total", "succeeded", "failed"):
        need(is_integer(manifest[member]), "manifest-fields")
    need(isinstance(manifest["results"], list), "manifest-fields")
    texts = [
        *(manifest[member] for member in top.split()[:5]),
        *(manifest[member] for member in ("timezone", "promptId", "promptVersion", "promptHash")),
        *manifest["validPeriod"].values(),
        *manifest["dataPackage"].values(),
    ]
    for result in manifest["results"]:
        exactly(result, "position profileId modelName status", "backendId validationStatus reportPath error")
        need(is_integer(result["position"]), "manifest-fields")
        need(result["status"] in ("succeeded", "failed"), "manifest-fields")
        texts += [result["profileId"], result["modelName"]]
        # null, like "", is the next rule's.
        texts += [
            result[member]
            for member in ("backendId", "validationStatus", "reportPath")
            if _said(result, member)
        ]
        if _said(result, "error"):
            exactly(result["error"], "category message")
            texts += result["error"].values()
    need(all(isinstance(text, str) for text in texts), "manifest-fields")


def _said(result: dict[str, Any], member: str) -> bool:
    value = result.get(member)
    return not (value is None or value == "")


def exactly(value: Any, members: str, optional: str = "") -> None:
    """See that a value is an object with these members and no other."""
    need(isinstance(value, dict), "manifest-fields")
    need(set(members.split()) <= set(value), "manifest-fields")
    need(set(value) <= set(members.split()) | set(optional.split()), "manifest-fields")


def is_integer(value: Any) -> bool:
    """Tell whether a JSON value is an integer of 64 bits, without fraction or exponent."""
    return (
        isinstance(value, Literal)
        and re.fullmatch("-?[0-9]{1,19}", value.spelling) is not None
        and -(2**63) <= int(value.spelling) < 2**63
    )


def is_blank(text: str) -> bool:
    """Tell whether a text is empty or White_Space alone."""
    return set(text) <= WHITE_SPACE


def slug_of(profile_id: str) -> str:
    """Return the slug of a profile id (section 3)."""
    return re.sub("[^A-Za-z0-9_-]+", "-", profile_id).strip("-_")[:64] or "profile"


def instant(text: str) -> int | None:
    """Return a timestamp as nanoseconds since the year 1, None if it is none."""
    match = TIMESTAMP.fullmatch(text)
    if match is None or text.endswith("-00:00"):
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    try:
        days = datetime.date(year, month, day).toordinal()
        datetime.time(hour, minute, second)
        datetime.time(int(match[9] or 0), int(match[10] or 0))
    except ValueError:
        return None
    offset = (int(match[9] or 0) * 60 + int(match[10] or 0)) * (-1 if match[8][0] == "-" else 1)
    minutes = days * 24 * 60 + hour * 60 + minute - offset
    return (minutes * 60 + second) * 10**9 + int((match[7] or "").ljust(9, "0"))
