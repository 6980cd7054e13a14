"""*Diff these two traces*: every level of the comparison in one call each, for programs and the command line.

A trace is given as the path of an ``.agentlog`` file, as the :class:`~stratadiff.traces.model.Trace` that
:func:`read_trace` returns, or as a list of record dictionaries, which are never modified.
"""

from __future__ import annotations

import os

from stratadiff.core.frozen import Frozen
from stratadiff.errors import UsageError
from stratadiff.traces.options import POLICY, SEED, TRACE, TURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from stratadiff.documents.tracereport import TraceDocument
    from stratadiff.traces.compare import SessionReport, TraceComparison, TraceReport, TurnDiff
    from stratadiff.traces.model import Trace
    from stratadiff.traces.policy import Policy, PolicyDiff
    from stratadiff.traces.pricing import Pricing
    from stratadiff.traces.rules import PolicyRule
    from stratadiff.traces.tokens import TokenDiff
    from stratadiff.traces.verify import TraceVerification

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
    TraceSource: TypeAlias = Path | Trace | Sequence[dict[str, Any]]
    PricingSource: TypeAlias = Path | Mapping[str, Any] | Pricing
    RuleSource: TypeAlias = (
        Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Sequence[PolicyRule] | Policy
    )

FAIL_ON = ("never", "minor", "moderate", "severe")
_RANKS = {"info": 1, "minor": 1, "warning": 2, "moderate": 2, "error": 3, "critical": 3, "severe": 3}


class TraceResult(Frozen):
    """What :func:`compare_traces` found.

    Attributes
    ----------
    comparison : TraceComparison
        One field per part of the report; None for a level that was not asked for.
    baseline, candidate : Trace
        What was compared; ``diagnostics`` there hold what the reader noticed.
    warnings : tuple of str
        What is odd about the policy. May hold its text: escape before display.
    fail_on : str
        The severity from which on `exit_code` is 1.
    """

    __slots__ = ("baseline", "candidate", "comparison", "fail_on", "warnings")
    comparison: TraceComparison
    baseline: Trace
    candidate: Trace
    warnings: tuple[str, ...]
    fail_on: str

    def __init__(
        self,
        comparison: TraceComparison,
        baseline: Trace,
        candidate: Trace,
        warnings: Sequence[str] = (),
        fail_on: str = "never",
    ) -> None:
        self._fill(
            comparison=comparison,
            baseline=baseline,
            candidate=candidate,
            warnings=tuple(warnings),
            fail_on=fail_on,
        )

    def __repr__(self) -> str:
        rows = self.comparison.rows
        found = "" if rows is None else f", worst severity {self.comparison.worst_severity}"
        return f"<TraceResult of {self.comparison.pair_count} pairs{found}>"

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 1 if an axis or a policy regression reaches `fail_on`, else 0."""
        if self.fail_on == "never":
            return 0
        reached = [row.severity for row in self.comparison.rows or ()]
        policy = self.comparison.policy_diff
        if policy is not None:
            reached += [violation.severity for violation in policy.regressions]
        return int(any(_RANKS.get(severity, 0) >= _RANKS[self.fail_on] for severity in reached))

    def report(self) -> TraceDocument:
        """Return the trace report: what ``--output-json`` writes, as a document.

        Examples
        --------
        >>> import stratadiff
        >>> report = stratadiff.compare_traces(*stratadiff.demo_traces()).report()
        >>> [row["axis"] for row in report.to_dict()["rows"] if row["severity"] == "severe"]
        ['conformance']
        """
        from stratadiff.documents.tracereport import trace_document

        return trace_document(self.comparison)

    def text(self, *, colour: bool = False) -> str:
        """Return the plain form: what ``stratadiff diff`` prints.

        Parameters
        ----------
        colour : bool
            Colour severities for a terminal.
        """
        from stratadiff import (
            draw_trace,  # the front door may open any floor; rendering stands beside this one
        )

        return draw_trace(self.report(), colour=colour)


def compare_traces(
    baseline: TraceSource,
    candidate: TraceSource,
    *,
    levels: Iterable[str] | None = None,
    rules: RuleSource | None = None,
    pricing: PricingSource | None = None,
    seed: int = SEED,
    align: bool = False,
    refusals: str = "contract",
    abstentions: Sequence[str] | None = None,
    semantic_text_only: bool = False,
    judge: Sequence[float] | None = None,
    split: str | None = None,
    top_k_pairs: int = 10,
    tolerant: bool = False,
    fail_on: str = "never",
) -> TraceResult:
    """Compare two agent traces at the levels asked for.

    Parameters
    ----------
    baseline, candidate : path-like, Trace, or sequence of dict
        Records in memory may carry only ``kind`` and ``payload``; they are not modified.
    levels : iterable of str, optional
        Out of ``trace``, ``session``, ``turn``, ``span``, ``token``, ``policy`` (``LEVELS``). By default
        ``trace`` and ``turn``, and ``policy`` if there are rules.
    rules : path-like, Policy, mapping or sequence, optional
        The policy, as :func:`load_policy` takes it, or rules.
    pricing : path-like, mapping or Pricing, optional
        Model → USD per token, for the cost axis. Without it every response costs 0.
    seed : int
        Of the bootstrap intervals; the same seed gives the same intervals everywhere.
    align : bool
        Pair turns by what they do, so that an inserted turn does not shift the rest, instead of by number.
    refusals : str
        ``"contract"``, or ``"strict"``: whole words, typographic apostrophes, one list at all levels.
    abstentions : sequence of str, optional
        Phrases of the safety axis in place of its own.
    semantic_text_only : bool
        Leave pairs without text on either side out of the semantic axis.
    judge : sequence of float, optional
        A score from 0 to 1 for each pair: the judge axis.
    split : str, optional
        ``"requests"`` starts a session also where the user speaks again.
    top_k_pairs : int
        Pairs listed by the token level.
    tolerant : bool
        Skip lines of a file that cannot be read; ``result.baseline.diagnostics`` names them.
    fail_on : str
        ``minor``, ``moderate`` or ``severe``: when ``result.exit_code`` is 1; ``never`` by default.

    Returns
    -------
    TraceResult
        Its ``comparison`` has a field per level.

    Raises
    ------
    InputError
        A trace, the pricing or the policy cannot be used.
    LimitError
        The alignment of the turns would take more memory than :mod:`stratadiff.limits` allows.
    UsageError
        An argument is out of range.

    Notes
    -----
    Only what the levels need is read and computed; a level costs the same whether asked for alone or with
    others. ``trace`` and ``turn`` of two traces of a thousand turns take a fraction of a second, the token
    level alone of ten thousand turns a few hundredths.

    Examples
    --------
    >>> import stratadiff
    >>> baseline, candidate = stratadiff.demo_traces()
    >>> result = stratadiff.compare_traces(baseline, candidate, align=True, levels=["trace", "token"])
    >>> result.comparison.pair_count
    11
    >>> result.comparison.token_diff.normalised_shift["output_tokens"] > 0
    True
    """
    from stratadiff.traces import compare
    from stratadiff.traces.reader import as_trace

    if levels is None:
        levels = (TRACE, TURN) if rules is None else (TRACE, TURN, POLICY)
    if fail_on not in FAIL_ON:
        raise UsageError(f"fail_on must be one of {', '.join(FAIL_ON)}, not {fail_on!r}")
    policy = None if rules is None else _policy(rules)
    options = compare.LevelOptions(
        levels=(levels,) if isinstance(levels, str) else levels,
        seed=seed,
        pricing=None if pricing is None else _pricing(pricing),
        rules=None if policy is None else policy.rules,
        align=align,
        refusals=refusals,
        abstentions=abstentions,
        semantic_text_only=semantic_text_only,
        judge=judge,
        split=split,
        top_k_pairs=top_k_pairs,
    )
    needs = compare.needs_of(options)
    sides = [as_trace(side, needs, tolerant=tolerant, split=split) for side in (baseline, candidate)]
    comparison = compare.compare_traces(sides[0], sides[1], options)
    return TraceResult(comparison, sides[0], sides[1], () if policy is None else policy.warnings, fail_on)


def verify_trace(path: Path) -> TraceVerification:
    """List every breach of the format in a trace: content ids, parents, order, lines that are no records.

    Parameters
    ----------
    path : path-like
        The file, compressed or not.

    Returns
    -------
    TraceVerification
        ``verifies``, ``breaches``, ``remarks`` and ``record_count``.

    Raises
    ------
    InputError
        The file cannot be read at all.

    Examples
    --------
    >>> import stratadiff
    >>> found = stratadiff.verify_trace(stratadiff.demo_traces()[0])
    >>> found.verifies, found.record_count
    (True, 46)
    """
    from stratadiff.traces import verify

    return verify.verify_trace(os.fsdecode(path))


def trace_diff(
    baseline: TraceSource,
    candidate: TraceSource,
    *,
    pricing: PricingSource | None = None,
    seed: int = SEED,
    align: bool = False,
    refusals: str = "contract",
    abstentions: Sequence[str] | None = None,
    semantic_text_only: bool = False,
    judge: Sequence[float] | None = None,
) -> TraceReport:
    """Compare two traces as wholes: nine axes, the divergences, the worst turns.

    Parameters
    ----------
    baseline, candidate, pricing, seed, align, refusals, abstentions, semantic_text_only, judge
        As in :func:`compare_traces`.

    Returns
    -------
    TraceReport
        ``rows`` has one row per axis.

    Examples
    --------
    >>> import stratadiff
    >>> report = stratadiff.trace_diff(*stratadiff.demo_traces(), align=True)
    >>> report.first_divergence.explanation
    'candidate inserted an extra turn with 1 tool call between baseline turns #1 and #2'
    >>> report.extras["unpaired"]
    {'baseline': 1, 'candidate': 1}
    """
    from stratadiff.traces.compare import TraceReport

    result = compare_traces(
        baseline,
        candidate,
        levels=("trace", "turn"),
        pricing=pricing,
        seed=seed,
        align=align,
        refusals=refusals,
        abstentions=abstentions,
        semantic_text_only=semantic_text_only,
        judge=judge,
    )
    found = result.comparison
    assert found.rows is not None and found.divergences is not None and found.drill_down is not None
    return TraceReport(
        found.rows,
        found.baseline_trace_id,
        found.candidate_trace_id,
        found.pair_count,
        found.first_divergence,
        found.divergences,
        found.drill_down,
        found.extras,
    )


def session_diff(
    baseline: TraceSource,
    candidate: TraceSource,
    *,
    pricing: PricingSource | None = None,
    seed: int = SEED,
    align: bool = False,
    split: str | None = None,
    refusals: str = "contract",
    semantic_text_only: bool = False,
) -> list[SessionReport]:
    """Compare two traces session by session.

    Parameters
    ----------
    baseline, candidate, pricing, seed, align, split, refusals, semantic_text_only
        As in :func:`compare_traces`.

    Returns
    -------
    list of SessionReport
        Sessions are paired by position; the shorter side is padded with empty ones.

    Examples
    --------
    >>> import stratadiff
    >>> for session in stratadiff.session_diff(*stratadiff.demo_traces(), align=True):
    ...     print(session.session_index, session.pair_count, session.worst_severity)
    0 8 minor
    1 3 none
    """
    result = compare_traces(
        baseline,
        candidate,
        levels=("session",),
        pricing=pricing,
        seed=seed,
        align=align,
        split=split,
        refusals=refusals,
        semantic_text_only=semantic_text_only,
    )
    assert result.comparison.sessions is not None
    return result.comparison.sessions


def turn_diff(
    baseline: TraceSource,
    candidate: TraceSource,
    *,
    pricing: PricingSource | None = None,
    align: bool = False,
    refusals: str = "contract",
) -> TurnDiff:
    """Find where two traces part and which pairs of turns differ most.

    Parameters
    ----------
    baseline, candidate, pricing, align, refusals
        As in :func:`compare_traces`.

    Returns
    -------
    TurnDiff
        ``first_divergence``, ``divergences`` and ``drill_down``.
    """
    from stratadiff.traces.compare import TurnDiff

    result = compare_traces(
        baseline, candidate, levels=("turn",), pricing=pricing, align=align, refusals=refusals
    )
    found = result.comparison
    assert found.divergences is not None and found.drill_down is not None
    return TurnDiff(found.first_divergence, found.divergences, found.drill_down)


def token_diff(
    baseline: TraceSource, candidate: TraceSource, top_k_pairs: int = 10, *, align: bool = False
) -> TokenDiff:
    """Compare the token counts of two traces.

    Parameters
    ----------
    baseline, candidate
        As in :func:`compare_traces`.
    top_k_pairs : int
        Pairs in ``worst_pairs`` at most.
    align : bool
        As in :func:`compare_traces`.

    Returns
    -------
    TokenDiff
        Per side and dimension median, p25, p75, p95 (percentiles by linear interpolation), maximum and total.
        A count that is not there counts as 0; ``absent_baseline`` and ``absent_candidate`` say how many.

    Examples
    --------
    >>> import stratadiff
    >>> difference = stratadiff.token_diff(*stratadiff.demo_traces(), top_k_pairs=1)
    >>> difference.baseline["output_tokens"].median, difference.candidate["output_tokens"].maximum
    (44.5, 274)
    >>> difference.worst_pairs[0].pair_index, difference.worst_pairs[0].delta["output_tokens"]
    (8, 216)
    """
    if not align and isinstance(baseline, list) and isinstance(candidate, list):
        from stratadiff.traces.tokens import token_diff_of_records

        return token_diff_of_records(baseline, candidate, top_k_pairs)
    result = compare_traces(baseline, candidate, levels=("token",), align=align, top_k_pairs=top_k_pairs)
    assert result.comparison.token_diff is not None
    return result.comparison.token_diff


def policy_diff(
    baseline: TraceSource, candidate: TraceSource, rules: RuleSource, *, align: bool = False
) -> PolicyDiff:
    """Check the rules of a policy on two traces, and tell what is new and what is gone.

    Parameters
    ----------
    baseline, candidate
        As in :func:`compare_traces`.
    rules : path-like, Policy, mapping or sequence
        What :func:`load_policy` takes or returns, or rules.
    align : bool
        Violations are the same where rule, *aligned* turn and ordinal are; counts in their details do not
        matter, and ``changed`` lists those whose details differ. By default rule, turn number and detail
        decide.

    Returns
    -------
    PolicyDiff
        ``baseline_violations``, ``candidate_violations``, ``regressions``, ``fixes``, ``changed``.

    Examples
    --------
    >>> import stratadiff
    >>> rule = {"id": "verify first", "kind": "must_call_before",
    ...         "params": {"first": "verify_backup", "then": "run_migration"}}
    >>> for violation in stratadiff.policy_diff(*stratadiff.demo_traces(), [rule]).regressions:
    ...     print(f"{violation.rule_id}, turn {violation.pair_index}: {violation.detail}")
    verify first, turn 5: `verify_backup` must be called before `run_migration`
    """
    result = compare_traces(baseline, candidate, levels=("policy",), rules=rules, align=align)
    assert result.comparison.policy_diff is not None
    return result.comparison.policy_diff


def demo_traces() -> tuple[str, str]:
    """Return the paths of two traces of an agent that migrates a database, which come with the package.

    Returns
    -------
    (str, str)
        Baseline and candidate. Beside them lie ``policy.yaml`` and ``pricing.json``. Read, never write there;
        ``stratadiff demo`` makes a copy to play with.
    """
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo", "agent")
    return os.path.join(folder, "monday.agentlog"), os.path.join(folder, "tuesday.agentlog")


def _policy(rules: RuleSource) -> Policy:
    from stratadiff.traces.policy import load_policy

    return load_policy(os.fsdecode(rules) if isinstance(rules, bytes) else rules)


def _pricing(pricing: PricingSource) -> Pricing:
    from stratadiff.traces.pricing import Pricing, load_pricing, pricing_of

    if isinstance(pricing, Pricing):
        return pricing
    if isinstance(pricing, (str, bytes, os.PathLike)):
        return load_pricing(os.fsdecode(pricing))
    return pricing_of(pricing)
