"""The plain form of a comparison of bundles, drawn from its document.

Everything a bundle recorded is escaped here, once, with ``escape_name``; the lines of texts arrive escaped.
"""

from __future__ import annotations

from stratadiff.core.digests import is_bare_digest, short_form
from stratadiff.core.escape import escape_name
from stratadiff.render.terminal import coloured
from stratadiff.render.text import lines_of_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stratadiff.documents.document import Document

    Members = Mapping[str, Any]


def draw_bundles(document: Document, *, colour: bool = False) -> str:
    """Draw a comparison of two bundles, or of the profiles of one.

    Parameters
    ----------
    document : Document
        ``stratadiff-bundlediff/0.1``, fresh or from a file.
    colour : bool
        Colour the removed and added lines of texts.

    Returns
    -------
    str
        Ends with a newline. Holds no control character but newlines, and ESC if `colour`.
    """
    members = document.members
    headline = f"diff: {members['envelope']}"
    if not members["shown"]:
        return f"{headline} — {escape_name(members['reason'])}\n"
    lines = [escape_name(members["first_line"]), ""]
    if members["mode"] == "profiles":
        lines.append(f"bundle: {_bundle(members['bundle'])}")
    else:
        lines += [f"{side:<9}: {_bundle(members[side])}" for side in ("baseline", "candidate")]
        lines += ["", *_cause_lines(members["causes"])]
    outputs = iter(document.plain.outputs) if document.plain.outputs else None
    for profile in members["profiles"]:
        lines += _profile_lines(profile, members["mode"], outputs, colour)
    same = [escape_name(entry["profile"]) for entry in members["profiles"] if entry["verdict"] == "same"]
    if same:
        lines += ["", f"same: {', '.join(same)}"]
    for result in members.get("failed", ()):
        lines += ["", f"== {escape_name(result['profile'])} (failed)", f"error: {_error(result)}"]
    if members.get("data_package") is not None:
        lines += ["", "== data-package.yml (changed)"]
        lines += _text_lines(members["data_package"], outputs, colour)
    lines += ["", headline]
    return "\n".join(lines) + "\n"


def draw_bundle(bundle: Members) -> str:
    """Draw what is in one bundle: its manifest, and a line for every profile.

    Parameters
    ----------
    bundle : mapping
        What :meth:`~stratadiff.Bundle.to_dict` returns.

    Returns
    -------
    str
        Ends with a newline. Holds no control character but newlines.
    """
    prompt = [escape_name(bundle["prompt_id"]), f"version {escape_name(bundle['prompt_version'])}"]
    facts = (
        ("comparison", escape_name(bundle["comparison_id"])),
        ("report", escape_name(bundle["report_id"])),
        ("period", _value(bundle["valid_period"])),
        ("time zone", escape_name(bundle["timezone"])),
        ("prompt", ", ".join([*prompt, bundle["prompt_hash"][:12]])),
        ("started", bundle["started_at"]),
        ("finished", bundle["finished_at"]),
        ("data", f"{bundle['data_package_bytes']:,} bytes, {bundle['data_package_digest'][:12]}"),
        ("profiles", f"{bundle['total']}: {bundle['succeeded']} succeeded, {bundle['failed']} failed"),
    )
    rows = [
        (
            str(result["position"]),
            escape_name(result["profile_id"]),
            result["status"],
            escape_name(result["model_name"])
            + ("" if result["backend_id"] is None else f" ({escape_name(result['backend_id'])})"),
            _error(result) if result["report_path"] is None else result["report_path"],
        )
        for result in bundle["results"]
    ]
    widths = [min(_WIDEST, max(len(row[column]) for row in rows)) for column in range(4)]
    lines = [f"{name:<10}: {fact}" for name, fact in facts]
    lines.append("")
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([f"{row[0]:>{widths[0]}}", *cells[1:], row[4]]))
    return "\n".join(lines) + "\n"


_WIDEST = 32
"""Characters to which a column is padded at most."""


def _bundle(bundle: Members) -> str:
    return (
        f"{escape_name(bundle['comparison_id'])}, report {escape_name(bundle['report_id'])}, "
        f"{escape_name(bundle['started_at'])}, {bundle['succeeded']} of {bundle['total']} profiles succeeded"
    )


def _cause_lines(causes: Sequence[Members]) -> list[str]:
    changed = [cause for cause in causes if cause["status"] == "changed"]
    lines = [f"settings: {len(changed) or 'none'} changed"]
    for cause in changed:
        name = escape_name(cause["name"])
        if cause["kind"] in ("backend", "model"):
            name = f"{cause['kind']} of {name}"
        lines.append(f"  {name}: {_value(cause['baseline'])} -> {_value(cause['candidate'])}")
    return lines


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{escape_name(value['start'])} to {escape_name(value['end'])}"
    return escape_name(short_form(value) if value is None or is_bare_digest(value) else value)


def _profile_lines(
    profile: Members, mode: str, outputs: Iterator[Sequence[str]] | None, colour: bool
) -> list[str]:
    if profile["verdict"] == "same":
        return []
    lines = ["", f"== {escape_name(profile['profile'])} ({profile['verdict']})"]
    left, right = profile["baseline"], profile["candidate"]
    if left is not None and right is not None:
        if mode == "profiles":
            for name, title in (("model_name", "model"), ("backend_id", "backend")):
                if left[name] != right[name]:
                    lines.append(f"{title}: {_value(left[name])} -> {_value(right[name])}")
        if "status" in profile["changes"]:
            lines.append(f"status: {left['status']} -> {right['status']}")
        failures = [side for side in (left, right) if side["error"] is not None]
        if "error" in profile["changes"]:
            errors = [f"- {_error(left)}", f"+ {_error(right)}"]
            lines += map(coloured, errors) if colour else errors
        elif failures and "status" in profile["changes"]:
            lines.append(f"error: {_error(failures[0])}")
    if "text" in profile:
        lines += _text_lines(profile["text"], outputs, colour)
    return lines


def _error(result: Members) -> str:
    return f"{escape_name(result['error']['category'])}: {escape_name(result['error']['message'])}"


def _text_lines(text: Members, outputs: Iterator[Sequence[str]] | None, colour: bool) -> list[str]:
    plain = next(outputs) if outputs is not None else lines_of_document(text)
    return [coloured(line) for line in plain] if colour else list(plain)
