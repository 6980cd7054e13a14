"""What to compare of two traces, and how: the options of every level *(levels §7, §9)*."""

from __future__ import annotations

from stratadiff.core.frozen import Frozen
from stratadiff.errors import UsageError
from stratadiff.traces.refusals import CONTRACT, STRICT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stratadiff.traces.policy import Policy
    from stratadiff.traces.pricing import Pricing
    from stratadiff.traces.rules import PolicyRule

TRACE, SESSION, TURN, SPAN, TOKEN, POLICY = LEVELS = ("trace", "session", "turn", "span", "token", "policy")
"""The levels, in the contract's order."""

SEED = 42
TOP_K_PAIRS = 10
DRILL_DOWN_ROWS = 5


class LevelOptions(Frozen):
    """What to compare, and how.

    Parameters
    ----------
    levels : iterable of str
        Out of :data:`LEVELS`.
    seed : int
        Of the intervals.
    pricing : Pricing, optional
        What tokens cost.
    rules : Policy or sequence of PolicyRule, optional
        For the level policy.
    align : bool
        Pair turns along their alignment instead of by number, at every level.
    refusals : str
        ``contract`` or ``strict``.
    semantic_text_only : bool
        Leave pairs without text out of the semantic axis.
    judge : sequence of float, optional
        A score from 0 to 1 for each pair of the traces.
    split : str, optional
        ``requests``: how the traces were cut into sessions; the reader does it.
    top_k_pairs : int
        Pairs that the token level lists.
    drill_down_rows : int
        Pairs that the turn level lists; 0 for all.
    abstentions : sequence of str, optional
        Phrases that the safety axis looks for, in place of the contract's.

    Raises
    ------
    UsageError
        A value is out of range.
    """

    __slots__ = (
        "abstentions",
        "align",
        "drill_down_rows",
        "judge",
        "levels",
        "pricing",
        "refusals",
        "rules",
        "seed",
        "semantic_text_only",
        "split",
        "top_k_pairs",
    )
    levels: frozenset[str]
    seed: int
    pricing: Pricing | None
    rules: Policy | Sequence[PolicyRule] | None
    align: bool
    refusals: str
    semantic_text_only: bool
    judge: Sequence[float] | None
    split: str | None
    top_k_pairs: int
    drill_down_rows: int
    abstentions: Sequence[str] | None

    def __init__(
        self,
        *,
        levels: Iterable[str] = (TRACE, TURN),
        seed: int = SEED,
        pricing: Pricing | None = None,
        rules: Policy | Sequence[PolicyRule] | None = None,
        align: bool = False,
        refusals: str = CONTRACT,
        semantic_text_only: bool = False,
        judge: Sequence[float] | None = None,
        split: str | None = None,
        top_k_pairs: int = TOP_K_PAIRS,
        drill_down_rows: int = DRILL_DOWN_ROWS,
        abstentions: Sequence[str] | None = None,
    ) -> None:
        chosen = frozenset(levels)
        unknown = sorted(map(repr, chosen.difference(LEVELS)))
        if unknown:
            raise UsageError(f"a level must be one of {', '.join(LEVELS)}, not {unknown[0]}")
        if POLICY in chosen and rules is None:
            raise UsageError("the level policy needs rules")
        if refusals not in (CONTRACT, STRICT):
            raise UsageError(f"refusals must be {CONTRACT} or {STRICT}, not {refusals!r}")
        if split not in (None, "requests"):
            raise UsageError(f"split must be requests or None, not {split!r}")
        for name, value in (
            ("seed", seed),
            ("top_k_pairs", top_k_pairs),
            ("drill_down_rows", drill_down_rows),
        ):
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{name} must be a whole number, not {value!r}")
        if drill_down_rows < 0:
            raise UsageError(f"drill_down_rows must be at least 0, not {drill_down_rows}")
        if isinstance(abstentions, str):
            raise UsageError("abstentions must be a sequence of phrases, not one text")
        self._fill(
            levels=chosen,
            seed=seed,
            pricing=pricing,
            rules=rules,
            align=align,
            refusals=refusals,
            semantic_text_only=semantic_text_only,
            judge=judge,
            split=split,
            top_k_pairs=top_k_pairs,
            drill_down_rows=drill_down_rows,
            abstentions=abstentions,
        )
