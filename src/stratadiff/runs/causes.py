"""Why a node may differ: recorded inputs, tools and settings, side by side (comparison §4)."""

from __future__ import annotations

from stratadiff.core.frozen import Frozen
from stratadiff.runs.names import short, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stratadiff.runs.model import Receipt

INPUT = "input"
TOOL = "tool"
SETTING = "setting"
CORPUS_LINK = "corpus link"

TOOL_MEMBERS = ("id", "kind", "version")
SETTING_MEMBERS = ("config_digest", "manifest_digest")


class InputState(Frozen):
    """What a receipt records of one input: its bytes' digest and the trust class it was read under."""

    __slots__ = ("digest", "trust_class")
    digest: Any
    trust_class: Any

    def __init__(self, digest: Any, trust_class: Any) -> None:
        self._fill(digest=digest, trust_class=trust_class)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InputState):
            return NotImplemented
        return bool(self.digest == other.digest and self.trust_class == other.trust_class)

    def __hash__(self) -> int:
        return hash((str(self.digest), str(self.trust_class)))


class Cause(Frozen):
    """One recorded thing that may explain a difference.

    Attributes
    ----------
    kind : str
        `INPUT`, `TOOL`, `SETTING` or `CORPUS_LINK`.
    name : str
        The input's name, or the member: ``instrument.version``, ``constants.top_k``. Hostile text.
    baseline, candidate
        The value on each side, None where absent: an :class:`InputState` for inputs, the recorded JSON
        value otherwise.
    changed : bool
        The two are not equal.
    """

    __slots__ = ("baseline", "candidate", "changed", "kind", "name")
    kind: str
    name: str
    baseline: Any
    candidate: Any
    changed: bool

    def __init__(self, kind: str, name: str, baseline: Any, candidate: Any) -> None:
        self._fill(
            kind=kind, name=name, baseline=baseline, candidate=candidate, changed=baseline != candidate
        )


def candidate_causes(baseline: Receipt, candidate: Receipt) -> list[Cause]:
    """List every cause that was compared, changed or not, in the format's order (textdiff §4.1).

    Cost is linear in the members of both receipts.
    """
    causes = []
    a_inputs, b_inputs = compared_inputs(baseline), compared_inputs(candidate)
    causes += [
        Cause(INPUT, name, a_inputs.get(name), b_inputs.get(name)) for name in _both(a_inputs, b_inputs)
    ]
    a_tool, b_tool = baseline.instrument, candidate.instrument
    causes += [Cause(TOOL, f"instrument.{name}", a_tool.get(name), b_tool.get(name)) for name in TOOL_MEMBERS]
    causes += [
        Cause(SETTING, f"instrument.{name}", a_tool.get(name), b_tool.get(name)) for name in SETTING_MEMBERS
    ]
    a_constants, b_constants = baseline.constants, candidate.constants
    causes += [
        Cause(SETTING, f"constants.{name}", a_constants.get(name), b_constants.get(name))
        for name in sorted({**a_constants, **b_constants})
    ]
    a_link, b_link = baseline.corpus_link, candidate.corpus_link
    if a_link is not None or b_link is not None:
        causes.append(Cause(CORPUS_LINK, "assertions.corpus_manifest", a_link, b_link))
    return causes


def compared_inputs(receipt: Receipt) -> dict[str, InputState]:
    """Return the inputs that are content, not structure: first position, last value of a repeated name."""
    inputs: dict[str, InputState] = {}
    for item in receipt.inputs:
        name = item.get("name")
        name = name if isinstance(name, str) else "?"  # as the verifier's rows name it
        if not name.startswith("receipt:"):
            inputs[name] = InputState(item.get("digest"), item.get("trust_class"))
    return inputs


def corpus_link(causes: Sequence[Cause]) -> Cause | None:
    """Return the corpus link among the causes, None where neither side records one."""
    return causes[-1] if causes and causes[-1].kind == CORPUS_LINK else None


def settings_lines(
    causes: Sequence[Cause], run_ids: tuple[str | None, str | None] | None = None
) -> list[str]:
    """Write the settings lines of a node (textdiff §4.2).

    Parameters
    ----------
    causes : sequence of Cause
        As :func:`candidate_causes` lists them.
    run_ids : (str or None, str or None), optional
        Run ids of the two linked ingest runs, once a trace reached both.

    Returns
    -------
    list of str
        Raw record text: escape before display.
    """
    changed = [cause for cause in causes if cause.changed and cause.kind in (TOOL, SETTING)]
    lines = [f"settings: {len(changed)} changed" if changed else "settings: none changed"]
    lines += [
        f"  {cause.name}: {value_text(cause.baseline)} -> {value_text(cause.candidate)}" for cause in changed
    ]
    link = corpus_link(causes)
    if link is not None and link.changed:
        sides = [short(link.baseline), short(link.candidate)]
        if run_ids is not None:
            sides = [f"{side} ({run_id_text(run_id)})" for side, run_id in zip(sides, run_ids, strict=True)]
        lines.append("corpus link changed: " + " -> ".join(sides))
    return lines


def settings_changed(causes: Sequence[Cause]) -> bool:
    """Tell whether a tool or a setting changed; the corpus link is not counted."""
    return any(cause.changed and cause.kind in (TOOL, SETTING) for cause in causes)


def run_id_text(run_id: str | None) -> str:
    """Write a run id, ``no run id`` for none."""
    return "no run id" if run_id is None else run_id


def input_lines(causes: Sequence[Cause]) -> list[str]:
    """Write one line per changed input (textdiff §4.3). Raw record text: escape before display."""
    return [_input_line(cause) for cause in causes if cause.changed and cause.kind == INPUT]


def _input_line(cause: Cause) -> str:
    old, new = cause.baseline, cause.candidate
    if old is None:
        trust, what = value_text(new.trust_class), f"added: {value_text(new.digest)}"
    elif new is None:
        trust, what = value_text(old.trust_class), f"removed: {value_text(old.digest)}"
    else:
        trust, what = value_text(old.trust_class), "changed: trust class only"
        if old.trust_class != new.trust_class:
            trust += f" -> {value_text(new.trust_class)}"
        if old.digest != new.digest:
            what = f"changed: {value_text(old.digest)} -> {value_text(new.digest)}"
    return f"input {cause.name} ({trust}) {what}; content not stored"


def _both(baseline: dict[str, Any], candidate: dict[str, Any]) -> list[str]:
    return [*baseline, *(name for name in candidate if name not in baseline)]
