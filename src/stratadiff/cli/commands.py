"""The whole argument tree, as tables: the commands, their arguments and what each one means."""

from __future__ import annotations

from stratadiff.limits import DEFAULT_CONTEXT, DEFAULT_MAX_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ALGORITHMS = ("myers", "gestalt")
SEVERITIES = ("minor", "moderate", "severe")
LEVELS = ("trace", "session", "turn", "span", "token", "policy")

FLAG = "flag"
TEXT = "text"
NUMBER = "number"
REPEATED = "repeated"

RUNS = "recorded runs"
TRACES = "agent traces"
BOTH = "both"


class Option:
    """One option of one command: its spelling, what it takes, what it is without it, and what it is for."""

    __slots__ = ("choices", "default", "flag", "group", "help", "kind", "metavar", "name")

    def __init__(
        self,
        flag: str,
        kind: str,
        help: str,
        *,
        metavar: str | None = None,
        default: object = None,
        choices: tuple[str, ...] | None = None,
        group: str = BOTH,
    ) -> None:
        self.flag = flag
        self.name = flag[2:].replace("-", "_")
        self.kind = kind
        self.help = help
        self.metavar = metavar
        self.default = False if kind == FLAG else default
        self.choices = choices
        self.group = group


class Positional:
    """One positional argument; ``count`` is None (exactly one), ``"?"`` or ``"+"``, argparse's words."""

    __slots__ = ("count", "help", "metavar", "name")

    def __init__(self, name: str, help: str, *, metavar: str | None = None, count: str | None = None) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.count = count


class Command:
    """One command: a sentence, its arguments, examples, and the module that runs it."""

    __slots__ = ("description", "epilog", "module", "options", "positionals", "summary")

    def __init__(
        self,
        module: str,
        summary: str,
        description: str,
        epilog: str,
        positionals: tuple[Positional, ...],
        options: tuple[Option, ...],
    ) -> None:
        self.module = module
        self.summary = summary
        self.description = description
        self.epilog = epilog
        self.positionals = positionals
        self.options = options


_DIFF = Command(
    "stratadiff.cli.diff",
    "compare two recorded runs, or two agent traces",
    "Compare two recorded runs, or two agent traces. Of runs (run folders, their MANIFEST.json, or two "
    "single receipt files) both are verified, the first stage that differs is found, and --text shows the "
    "text that changed. Of traces (.agentlog files, also compressed with gzip or zstd) nine axes are "
    "compared, the first divergence and the worst turns are named, and options add sessions, tokens, policy "
    "rules and content blocks. Files that are no recordings are compared from Python, with "
    "stratadiff.text_diff.",
    """\
examples:
  stratadiff diff runs/monday runs/tuesday
  stratadiff diff runs/monday runs/tuesday --text
  stratadiff diff runs/monday runs/tuesday --text --stage answer --context 1
  stratadiff diff runs/monday runs/tuesday --text --json > changes.json
  stratadiff diff runs/monday runs/tuesday --text --quiet --out report/
  stratadiff diff monday.agentlog tuesday.agentlog
  stratadiff diff monday.agentlog tuesday.agentlog --align --spans
  stratadiff diff monday.agentlog tuesday.agentlog --token-diff --pricing pricing.json
  stratadiff diff monday.agentlog tuesday.agentlog --policy policy.yaml --fail-on severe
  stratadiff diff monday.agentlog tuesday.agentlog --policy policy.yaml --only policy

exit codes of runs:
  0 identical   1 diverged   2 not comparable, or wrong usage   3 refused: a run does not verify
  4 could not check   74 the result could not be written   130 interrupted   141 output closed
exit codes of traces:
  0 compared   1 --fail-on is met   2 an argument, trace, pricing or policy cannot be used
  74, 130 and 141 as above
""",
    (
        Positional("baseline", "the run or trace to compare against"),
        Positional("candidate", "the run or trace that may differ"),
    ),
    (
        Option("--text", FLAG, "show the text of the outputs that changed", group=RUNS),
        Option(
            "--stage", REPEATED, "with --text: only the named nodes (repeatable)", metavar="NAME", group=RUNS
        ),
        Option("--all", FLAG, "with --text: every node that differs", group=RUNS),
        Option(
            "--context",
            NUMBER,
            f"with --text: unchanged lines around each change (default {DEFAULT_CONTEXT})",
            metavar="N",
            group=RUNS,
        ),
        Option(
            "--max-lines",
            NUMBER,
            f"with --text: lines shown per output (default {DEFAULT_MAX_LINES})",
            metavar="N",
            group=RUNS,
        ),
        Option(
            "--no-follow",
            FLAG,
            "with --text: name a changed corpus link, do not follow it into the linked ingest runs",
            group=RUNS,
        ),
        Option(
            "--follow-corpus",
            FLAG,
            "without --text: follow a changed corpus link one hop and compare the linked ingest runs",
            group=RUNS,
        ),
        Option(
            "--runs-root",
            TEXT,
            "with --text or --follow-corpus: where the linked ingest runs are, one level down "
            "(default: the folder holding the baseline)",
            metavar="DIR",
            group=RUNS,
        ),
        Option(
            "--algorithm",
            TEXT,
            "line diff: myers (default, minimal) or gestalt (byte for byte what onetrace shows)",
            metavar="NAME",
            choices=ALGORITHMS,
            group=RUNS,
        ),
        Option(
            "--strict",
            FLAG,
            "refuse a run also for what the format asks and the reference verifier lets pass",
            group=RUNS,
        ),
        Option(
            "--stages",
            TEXT,
            "stage declaration of a summary (accepted for compatibility)",
            metavar="FILE",
            group=RUNS,
        ),
        Option(
            "--verifier",
            TEXT,
            "another verifier's folder (accepted for compatibility; stratadiff verifies by itself)",
            metavar="DIR",
            group=RUNS,
        ),
        Option(
            "--out",
            TEXT,
            "also write the report into DIR: diff.json, diff.txt and more",
            metavar="DIR",
            group=RUNS,
        ),
        Option("--hierarchical", FLAG, "also one line per session", group=TRACES),
        Option(
            "--token-diff",
            FLAG,
            "also token counts: median and p95 (percentiles by linear interpolation), and the pairs that "
            "changed most",
            group=TRACES,
        ),
        Option(
            "--policy",
            TEXT,
            "also check the rules in FILE (YAML or JSON) on both sides: regressions and fixes",
            metavar="FILE",
            group=TRACES,
        ),
        Option(
            "--spans", FLAG, "also what changed in each turn, content block by content block", group=TRACES
        ),
        Option(
            "--only",
            TEXT,
            f"compute and show only these levels, separated by commas: {', '.join(LEVELS)}",
            metavar="LEVELS",
            group=TRACES,
        ),
        Option(
            "--pricing",
            TEXT,
            "prices per token of each model, for the cost axis (JSON or YAML)",
            metavar="FILE",
            group=TRACES,
        ),
        Option("--seed", NUMBER, "of the bootstrap intervals (default 42)", metavar="N", group=TRACES),
        Option(
            "--align",
            FLAG,
            "pair turns by what they do, not by their number: an inserted turn does not shift the rest",
            group=TRACES,
        ),
        Option(
            "--semantic-text-only",
            FLAG,
            "leave pairs in which neither turn has text out of the semantic axis",
            group=TRACES,
        ),
        Option(
            "--refusals",
            TEXT,
            "what counts as a refusal: contract (default, a phrase anywhere) or strict (whole words, "
            "typographic apostrophes too, one list at all levels)",
            metavar="NAME",
            choices=("contract", "strict"),
            group=TRACES,
        ),
        Option(
            "--judge",
            TEXT,
            "scores for the judge axis: a JSON list with a number from 0 to 1 for each pair",
            metavar="FILE",
            group=TRACES,
        ),
        Option(
            "--split",
            TEXT,
            "requests: start a session also where the user speaks again (default: at metadata records only)",
            metavar="WHERE",
            choices=("requests",),
            group=TRACES,
        ),
        Option(
            "--tolerant",
            FLAG,
            "skip lines that cannot be read, and say so, instead of refusing the trace",
            group=TRACES,
        ),
        Option(
            "--fail-on",
            TEXT,
            "exit with 1 when an axis, or the severity of a policy regression, reaches this: minor (or "
            "info), moderate (warning), severe (error, critical); never (default)",
            metavar="SEVERITY",
            choices=("never", *SEVERITIES),
            group=TRACES,
        ),
        Option("--output-json", TEXT, "also write the trace report to FILE", metavar="FILE", group=TRACES),
        Option(
            "--json",
            FLAG,
            "print a document instead of the plain text: for runs, with --text, onetrace-textdiff/0.3; for "
            "traces the trace report",
        ),
        Option("--no-color", FLAG, "no colour, even on a terminal (as NO_COLOR does); for runs with --text"),
        Option(
            "--quiet", FLAG, "do not print the report: the exit code, and the files asked for, are the result"
        ),
    ),
)

_VERIFY = Command(
    "stratadiff.cli.verify",
    "check that recordings are intact",
    "Check recorded runs (the receipt chain, the receipts, the stored outputs and the topology) and agent "
    "traces (content ids, order and parents of the records).",
    """\
examples:
  stratadiff verify runs/monday
  stratadiff verify runs/* --json
  stratadiff verify runs/monday --strict
  stratadiff verify monday.agentlog
""",
    (
        Positional(
            "runs", "a run folder, its MANIFEST.json, a receipt file, or a trace", metavar="RUN", count="+"
        ),
    ),
    (
        Option("--json", FLAG, "print the result as JSON"),
        Option(
            "--strict",
            FLAG,
            "fail a run also for what the format asks and the reference verifier lets pass (traces are "
            "always checked in full)",
        ),
    ),
)

_DEMO = Command(
    "stratadiff.cli.demo",
    "write recordings to play with, and compare them",
    "Write a bundled pair of recorded runs of a small support assistant and a pair of traces of an agent, "
    "compare them, and print what to try next.",
    """\
examples:
  stratadiff demo
  stratadiff demo /tmp/try-stratadiff
""",
    (
        Positional(
            "folder", "where to write the recordings (default ./stratadiff-demo)", metavar="DIR", count="?"
        ),
    ),
    (),
)

COMMANDS: Final[dict[str, Command]] = {"diff": _DIFF, "verify": _VERIFY, "demo": _DEMO}
