"""Run pairs that differ in their shape: stages, settings, inputs, topology, corpus links, damage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onetrace import merkle

from interop import damage
from interop.recorder import Instrument, Json, Output, Step, chunk, compact, digest, hit, record

Scenario = Callable[[Path], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    """Register a scenario under its function's name."""
    SCENARIOS[make.__name__.replace("_", "-")] = make
    return make


QUESTION: Mapping[str, tuple[bytes, str]] = {"question.txt": (b"How long?", "externally-sourced")}
CHUNKS = compact({"chunks": [chunk("warranty.md", "Twelve months."), chunk("returns.md", "Thirty days.")]})


def _linear(
    load: str = "docs\n",
    hits: str = "p1",
    answer: str = "Twelve months.\n",
    **change: Any,
) -> list[Step]:
    """Return four stages in a line; `change` holds replacements of members of the stage ``retrieve``."""
    retrieve: dict[str, Any] = {
        "outputs": {"hits.json": compact({"hits": [hit(h) for h in hits.split()]})},
        "inputs": QUESTION,
        "instrument": Instrument("retriever", "retriever", "2.0", {"top_k": 3}),
        "constants": {"top_k": 3},
    }
    return [
        Step("load", {"docs.txt": load}),
        Step(
            "split", {"chunks.json": CHUNKS}, instrument=Instrument("splitter", "chunker", "1.0", {"n": 40})
        ),
        Step("retrieve", **(retrieve | change)),
        Step(
            "answer",
            {"answer.txt": answer},
            instrument=Instrument("model", "model-call", "7"),
            output_trust="model-generated",
        ),
    ]


def _pair(root: Path, a: Sequence[Step], b: Sequence[Step], **options: Any) -> None:
    record(root / "a", a, **options)
    record(root / "b", b, **options)


# Linear runs


@scenario
def linear_identical(root: Path) -> None:
    """Two runs of the same content."""
    _pair(root, _linear(), _linear())


@scenario
def linear_downstream(root: Path) -> None:
    """A difference that every later stage carries on."""
    _pair(root, _linear(), _linear(hits="p2 p1", answer="Six months.\n"))


@scenario
def linear_reconverged(root: Path) -> None:
    """A difference in the middle, the same answer; a setting changed in the reconverged stage."""
    b = _linear(hits="p2")
    b[3] = Step(
        "answer",
        b[3].outputs,
        instrument=Instrument("model", "model-call", "8"),
        output_trust="model-generated",
    )
    _pair(root, _linear(), b)


@scenario
def linear_first_stage(root: Path) -> None:
    """The first stage differs, everything after is equal or not."""
    _pair(root, _linear(), _linear(load="docs two\n", answer="Twelve.\n"))


@scenario
def settings_changed(root: Path) -> None:
    """Instrument, configuration and constants changed at the first difference."""
    b = _linear(
        hits="p2",
        instrument=Instrument("retriever-x", "search", "2.1", {"top_k": 4, "nested": {"a": [1, True, 0.5]}}),
        constants={"top_k": 4, "metric": "cosine", "flag": True, "é\u202e": "x\\y"},
    )
    _pair(root, _linear(constants={"top_k": 3, "gone": 1}), b)


@scenario
def settings_only(root: Path) -> None:
    """Settings changed, outputs equal: identical, listed by --all."""
    _pair(root, _linear(), _linear(instrument=Instrument("retriever", "retriever", "2.0", {"top_k": 9})))


@scenario
def pipeline_changed(root: Path) -> None:
    """The pipeline file differs: manifest_digest of every stage."""
    record(root / "a", _linear())
    record(root / "b", _linear(hits="p3"), pipeline="another pipeline")


@scenario
def inputs_changed(root: Path) -> None:
    """Inputs changed, added, removed; trust class changed alone and with the content; names to escape."""
    a = {
        "q.txt": (b"one", "externally-sourced"),
        "gone.txt": (b"g", "operator-authored"),
        "trust.txt": (b"t", "externally-sourced"),
        "both.md": (b"1", "model-generated"),
    }
    b = {
        "trust.txt": (b"t", "operator-authored"),
        "q.txt": (b"two", "externally-sourced"),
        "new.txt": (b"n", "model-generated"),
        "both.md": (b"2", "operator-authored"),
    }
    _pair(root, _linear(inputs=a), _linear(hits="p2", inputs=b))


@scenario
def one_input_changed(root: Path) -> None:
    """One input changed, outputs too; and the same input twice."""
    _pair(root, _linear(), _linear(hits="p2", inputs={"question.txt": (b"When?", "externally-sourced")}))


@scenario
def outcome_refused(root: Path) -> None:
    """A stage that declines, with and without what it had written."""
    _pair(root, _linear(), _linear(outcome="refused"))


@scenario
def outcome_error(root: Path) -> None:
    """A stage that fails after writing: the same outputs, another outcome."""
    _pair(root, _linear(), _linear(outcome="error", hits="p9", answer="\n"))


@scenario
def boundary_before_difference(root: Path) -> None:
    """A boundary on both sides above the difference: could not check."""
    cut = [{"name": "retrieve", "kind": "remote service", "note": "not recorded"}]
    _pair(root, _linear(), _linear(hits="p2"), boundaries=cut)


@scenario
def boundary_after_difference(root: Path) -> None:
    """A boundary below the difference: diverged, the rest could not be checked."""
    a, b = _linear(), _linear(load="x\n", answer="No.\n")
    b[3] = Step("answer", b[3].outputs, boundary=("answer", "remote service", "off the path"))
    _pair(root, a, b)


@scenario
def boundary_unplaceable(root: Path) -> None:
    """A boundary that names no declared stage, put in by hand."""
    _pair(root, _linear(), _linear(hits="p2"))

    def edit(files: damage.RunFiles) -> None:
        files.manifest["boundaries"] = [{"name": "elsewhere\x07", "kind": "k"}]

    damage.change(root / "b", edit)


@scenario
def boundary_names(root: Path) -> None:
    """A boundary whose name and kind hold quotes, backslashes and controls."""
    name = 'it\'s \\ "x"\x07'
    steps = [Step("load", {"a.txt": "1\n"}), Step("it's", {"b.txt": "1\n"})]
    _pair(root, steps, [steps[0], Step("it's", {"b.txt": "2\n"})])

    def edit(files: damage.RunFiles) -> None:
        files.manifest["boundaries"] = [{"name": "it's", "kind": name, "note": name}]

    damage.change(root / "b", edit)


@scenario
def stage_lists_disagree(root: Path) -> None:
    """Receipts of one run declare different stage lists: the first one's counts, a note says so."""
    _pair(root, _linear(), _linear(hits="p2"))

    def edit(files: damage.RunFiles) -> None:
        files.receipts["receipts/02-split.json"]["coverage"]["declared_stages"].append("more")

    damage.change(root / "b", edit)


@scenario
def gap(root: Path) -> None:
    """A receipt known to be missing on one side."""
    b = _linear(hits="p2")
    b[2] = Step("retrieve", gap="disk full")
    _pair(root, _linear(), b)


@scenario
def stages_differ(root: Path) -> None:
    """Other declared stages: not comparable."""
    b = [*_linear(), Step("review", {"r.txt": "ok\n"})]
    _pair(root, _linear(), b)


@scenario
def candidate_stops_early(root: Path) -> None:
    """The candidate has fewer receipts than stages."""
    names = ["load", "split", "retrieve", "answer"]
    _pair(root, _linear(), _linear(hits="p2")[:3], declared=names)


@scenario
def candidate_stops_early_equal(root: Path) -> None:
    """The candidate has fewer receipts, equal so far: could not check."""
    names = ["load", "split", "retrieve", "answer"]
    _pair(root, _linear(), _linear()[:2], declared=names)


@scenario
def candidate_stops_early_odd_names(root: Path) -> None:
    """Stages with quotes in their names that the candidate has no receipt of."""
    names = ["load", "it's", "say so", "naïve"]
    _pair(
        root,
        [Step(name, {"o.txt": name}) for name in names],
        [Step("load", {"o.txt": "x"})],
        declared=names,
    )


@scenario
def stage_names(root: Path) -> None:
    """Stage names with spaces, other scripts, quotes."""
    a = [
        Step("read in", {"a.txt": "1\n"}),
        Step("naïve λόγος", {"b.txt": "2\n"}),
        Step("it's 'it'", {"c.txt": "3\n"}),
    ]
    b = [
        Step("read in", {"a.txt": "1\n"}),
        Step("naïve λόγος", {"b.txt": "x\n"}),
        Step("it's 'it'", {"c.txt": "y\n"}),
    ]
    _pair(root, a, b)


@scenario
def many_stages(root: Path) -> None:
    """Thirty stages, every third differing."""
    _pair(
        root,
        [Step(f"s{i:02d}", {"o.txt": f"stage {i}\n"}, constants={"i": i}) for i in range(30)],
        [
            Step(f"s{i:02d}", {"o.txt": f"stage {i if i % 3 else -i}\n"}, constants={"i": i % 7})
            for i in range(30)
        ],
    )


@scenario
def no_outputs(root: Path) -> None:
    """Stages without outputs on either side or on one."""
    _pair(
        root,
        [Step("a"), Step("b", {"x.txt": "1\n"}), Step("c")],
        [Step("a"), Step("b"), Step("c", {"y.txt": "2\n"})],
    )


# Topologies


PLAN: list[Any] = [
    ("start", "normalise"),
    ("normalise", "merge"),
    ("merge", "check"),
    ("refine", "refine", "repeats"),
    ("merge", "refine"),
    ("refine", "check"),
]


def _dag(
    texts: Mapping[str, str] | None = None,
    *,
    branches: str = "ab",
    rounds: int = 0,
    constants: Mapping[str, Json] | None = None,
    outcome: str = "ok",
) -> list[Step]:
    """Return start, one ``normalise`` per branch, merge, `rounds` of refine, check."""
    texts = texts or {}

    def out(name: str) -> dict[str, Output]:
        return {f"{name.replace('#', '-')}.txt": texts.get(name, f"{name}\n")}

    steps = [Step("start", out("start"), inputs=QUESTION)]
    steps += [
        Step("normalise", out(f"normalise#{b}"), b, reads=["start"], constants=constants or {})
        for b in branches
    ]
    steps.append(Step("merge", out("merge"), reads=[f"normalise#{b}" for b in branches]))
    last = "merge"
    for number in range(1, rounds + 1):
        steps.append(Step("refine", out(f"refine#{number}"), str(number), reads=[last]))
        last = f"refine#{number}"
    steps.append(Step("check", out("check"), reads=[last], outcome=outcome))
    return steps


STAGES = ["start", "normalise", "merge", "refine", "check"]


def _dag_pair(root: Path, a: Sequence[Step], b: Sequence[Step], **options: Any) -> None:
    options = {"declared": STAGES, "edges": PLAN} | options
    _pair(root, a, b, **options)


@scenario
def dag_identical(root: Path) -> None:
    """Two equal runs with branches and a loop."""
    _dag_pair(root, _dag(rounds=2), _dag(rounds=2))


@scenario
def dag_branches_differ(root: Path) -> None:
    """Both branches change: two first differences, downstream below."""
    b = _dag({"normalise#a": "A\n", "normalise#b": "B\n", "merge": "AB\n"}, constants={"form": "NFC"})
    _dag_pair(root, _dag(), b)


@scenario
def dag_reconverged(root: Path) -> None:
    """One branch changes, the merge is equal again."""
    _dag_pair(root, _dag(), _dag({"normalise#b": "other\n"}))


@scenario
def dag_loop(root: Path) -> None:
    """Another number of rounds: one-sided nodes, another upstream below."""
    _dag_pair(root, _dag(rounds=2), _dag({"refine#2": "better\n"}, rounds=4))


@scenario
def dag_one_sided(root: Path) -> None:
    """A branch on the baseline only and one on the candidate only."""
    _dag_pair(root, _dag(branches="ab"), _dag(branches="bcd"))


@scenario
def dag_ten_branches(root: Path) -> None:
    """Twelve branches, so that order by index and by id differ."""
    names = "lkjihgfedcba"
    _dag_pair(root, _dag(branches=names), _dag({f"normalise#{n}": "x\n" for n in "ckl"}, branches=names))


@scenario
def dag_other_order(root: Path) -> None:
    """The same nodes emitted in another order."""
    _dag_pair(root, _dag(branches="abc"), _dag({"normalise#c": "C\n"}, branches="cab"))


@scenario
def dag_boundary(root: Path) -> None:
    """A declared boundary: it and what the plan puts below could not be checked."""
    _dag_pair(
        root,
        _dag(),
        _dag({"normalise#a": "A\n"}),
        boundaries=[{"name": "merge", "kind": "remote", "note": "x"}],
    )


@scenario
def dag_upstream_only(root: Path) -> None:
    """Equal outputs, another upstream."""
    a = [
        Step("start", {"s.txt": "s\n"}),
        Step("side", {"t.txt": "t\n"}),
        Step("end", {"e.txt": "e\n"}, reads=["start"]),
    ]
    b = [a[0], a[1], Step("end", {"e.txt": "e\n"}, reads=["side"])]
    _pair(root, a, b, topology=True)


@scenario
def dag_without_plan(root: Path) -> None:
    """Edges recorded, no approved plan."""
    _pair(
        root,
        _dag(),
        _dag({"start": "other\n"}),
        topology=True,
        declared=["start", "normalise", "merge", "check"],
    )


@scenario
def dag_settings_and_inputs(root: Path) -> None:
    """Instruments, inputs and constants of one branch changed."""
    b = _dag({"start": "s2\n"})
    b[0] = Step(
        "start",
        b[0].outputs,
        inputs={"question.txt": (b"Why?", "operator-authored"), "extra.txt": (b"e", "externally-sourced")},
        instrument=Instrument("reader", "reader", "2", {"x": 1}),
        constants={"lang": "el"},
    )
    _dag_pair(root, _dag(), b)


@scenario
def dag_outcome_differs(root: Path) -> None:
    """Another outcome class with equal outputs in a topology."""
    _dag_pair(root, _dag(), _dag(outcome="error"))


@scenario
def dag_renamed_output(root: Path) -> None:
    """An output renamed: a difference in a topology."""
    b = _dag()
    b[-1] = Step("check", {"verdict.txt": "check\n"}, reads=["merge"])
    _dag_pair(root, _dag(), b)


@scenario
def dag_odd_names(root: Path) -> None:
    """Quotes and other scripts in the names of stages, instances, inputs, outputs and constants."""

    def side(text: str, last: str) -> list[Step]:
        inputs = {"in'.txt": (text.encode(), "externally-sourced")}
        constants = {"k'": text, "é\u202e\\": text}
        return [
            Step("it's", {"o'o.txt": text}, "a'b", inputs=inputs),
            Step("naïve λ", {"é.txt": "same"}, reads=["it's#a'b"], constants=constants),
            Step("end", {"e.txt": "same"}, reads=[last]),
        ]

    _pair(root, side("1", "naïve λ"), side("2", "it's#a'b"), topology=True)


@scenario
def dag_stage_lists_disagree(root: Path) -> None:
    """Receipts of a topology declare different stage lists."""
    _dag_pair(root, _dag(), _dag({"start": "s\n"}))

    def edit(files: damage.RunFiles) -> None:
        files.receipts["receipts/02-normalise_a.json"]["coverage"]["declared_stages"].append("more")

    damage.change(root / "b", edit)


@scenario
def dag_against_linear(root: Path) -> None:
    """A topology against a line: not comparable."""
    record(root / "a", [Step("x", {"o.txt": "1\n"}), Step("y", {"p.txt": "2\n"})])
    record(root / "b", [Step("x", {"o.txt": "1\n"}), Step("y", {"p.txt": "3\n"}, reads=["x"])], topology=True)


@scenario
def dag_repeated_edge(root: Path) -> None:
    """The manifest repeats an edge: verifies, and differs from the other run."""
    _dag_pair(root, _dag(), _dag())

    def edit(files: damage.RunFiles) -> None:
        files.manifest["edges"].append(files.manifest["edges"][0])

    damage.change(root / "b", edit)


# Corpus links


def _ingest(
    folder: Path, docs: Mapping[str, str], *, keep: bool = True, settings: str = "1", **options: Any
) -> str:
    entries = [chunk(doc, text, keep=keep) for doc, text in docs.items()]
    return record(
        folder,
        [
            Step("load", {"docs.txt": "\n".join(docs) + "\n"}),
            Step("chunk", {"chunks.json": compact({"chunks": entries})}, constants={"size": settings}),
        ],
        **options,
    )


def _query(link: Any, hits: str = "p1", answer: str = "Twelve months.\n") -> list[Step]:
    return _linear(hits=hits, answer=answer, link=link)


OLD = {"warranty.md": "Twelve months.\nFrom purchase.\n", "returns.md": "Thirty days.\n", "old.md": "Gone.\n"}
NEW = {"warranty.md": "Six months.\nFrom purchase.\n", "returns.md": "Thirty days.\n", "new.md": "Here.\n"}


@scenario
def corpus_traced(root: Path) -> None:
    """A changed corpus link, both ingest runs found: documents counted, text shown."""
    heads = _ingest(root / "ingest-old", OLD), _ingest(root / "ingest-new", NEW, settings="2")
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2", "Six months.\n"))


@scenario
def corpus_equal_content(root: Path) -> None:
    """Another ingest run of the same content: nothing differs there."""
    heads = _ingest(root / "ingest-old", OLD), _ingest(root / "ingest-new", OLD)
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


@scenario
def corpus_without_text(root: Path) -> None:
    """Ingest runs that kept digests only."""
    heads = _ingest(root / "ingest-old", OLD, keep=False), _ingest(root / "ingest-new", NEW, keep=False)
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


@scenario
def corpus_missing(root: Path) -> None:
    """The candidate's ingest run is not there."""
    head = _ingest(root / "ingest-old", OLD)
    record(root / "a", _query(head))
    record(root / "b", _query(digest(b"nowhere"), "p2"))


@scenario
def corpus_tampered(root: Path) -> None:
    """The candidate's ingest run does not verify."""
    heads = _ingest(root / "ingest-old", OLD), _ingest(root / "ingest-new", NEW)
    damage.flip(root / "ingest-new" / "artifacts" / "01-load" / "docs.txt", 0)
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


@scenario
def corpus_one_link(root: Path) -> None:
    """Only one side records a link."""
    head = _ingest(root / "ingest-old", OLD)
    record(root / "a", _query(None))
    record(root / "b", _query(head, "p2"))


@scenario
def corpus_same_link(root: Path) -> None:
    """The same link on both sides: nothing to trace."""
    head = _ingest(root / "ingest-old", OLD)
    record(root / "a", _query(head))
    record(root / "b", _query(head, "p2"))


@scenario
def corpus_reconverged(root: Path) -> None:
    """A changed link on a stage that reconverged or is the same: named, not traced."""
    heads = _ingest(root / "ingest-old", OLD), _ingest(root / "ingest-new", NEW)
    record(root / "a", _query(heads[0]))
    b = _query(heads[1])
    b[0] = Step("load", {"docs.txt": "other\n"})
    record(root / "b", b)


@scenario
def corpus_elsewhere(root: Path) -> None:
    """Ingest runs in another folder, to be named with --runs-root."""
    heads = _ingest(root / "elsewhere" / "one", OLD), _ingest(root / "elsewhere" / "two", NEW)
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


@scenario
def corpus_inclusion_proof(root: Path) -> None:
    """The link as an object with a member's inclusion proof on one side, bare on the other."""
    head = _ingest(root / "ingest", OLD)
    leaves = [merkle.leaf(doc.encode()) for doc in OLD]

    def link(context: Any) -> None:
        context.corpus_manifest(head, "warranty.md", b"warranty.md", merkle.prove(leaves, 0))

    record(root / "a", _query(head))
    record(root / "b", _query(link, "p2"))


@scenario
def corpus_second_hop(root: Path) -> None:
    """The ingest runs link to runs of their own: named, not followed."""
    heads = []
    for name, docs, far in (("ingest-old", OLD, b"1"), ("ingest-new", NEW, b"2")):
        entries = [chunk(doc, text) for doc, text in docs.items()]
        output = {"chunks.json": compact({"chunks": entries})}
        heads.append(
            record(root / name, [Step("load"), Step("chunk", output, constants={"n": 1}, link=digest(far))])
        )
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


@scenario
def corpus_also_at(root: Path) -> None:
    """Two branches with the same pair of links and one with another pair."""
    heads = [_ingest(root / f"ingest-{i}", {"d.md": f"text {i}\n"}) for i in range(4)]
    for name, links, text in (("a", heads[:2], "1"), ("b", heads[2:], "2")):
        steps = [
            Step("branch", {"o.txt": f"{n}{text}\n"}, n, link=links[n == "z"], constants={"n": 1})
            for n in ("x", "y", "z")
        ]
        record(root / name, [*steps, Step("plain", {"o.txt": f"{text}\n"})], topology=True)


@scenario
def corpus_not_comparable(root: Path) -> None:
    """Ingest runs with other stages, or a topology on one side."""
    one = _ingest(root / "ingest-old", OLD)
    two = record(root / "ingest-new", [Step("gather", {"c.json": CHUNKS})])
    record(root / "a", _query(one))
    record(root / "b", _query(two, "p2"))


@scenario
def corpus_dag_ingest(root: Path) -> None:
    """Ingest runs with a topology and several chunk indexes; documents counted on one stage."""
    heads = []
    for name, docs in (("ingest-old", OLD), ("ingest-new", NEW)):
        parts = [
            Step("chunk", {"c.json": compact({"chunks": [chunk(doc, text)]})}, str(i), reads=["load"])
            for i, (doc, text) in enumerate(docs.items())
        ]
        heads.append(record(root / name, [Step("load", {"l.txt": "x\n"}), *parts], topology=True))
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


@scenario
def corpus_no_index(root: Path) -> None:
    """Ingest runs without a chunk index: documents not counted."""
    heads = [
        record(
            root / f"ingest-{n}",
            [Step("load", {"l.txt": f"{n}\n"}), Step("embed", {"e.bin": b"\0" + n.encode()})],
        )
        for n in ("old", "new")
    ]
    record(root / "a", _query(heads[0]))
    record(root / "b", _query(heads[1], "p2"))


# Records with parts missing by declaration


@scenario
def outputs_kept_none(root: Path) -> None:
    """Both runs declare that they keep no outputs."""
    _pair(root, _linear(), _linear(hits="p2"))
    for name in ("a", "b"):
        _keep_no_outputs(root / name)


@scenario
def outputs_kept_on_one_side(root: Path) -> None:
    """Only the candidate declares that it keeps no outputs."""
    _pair(root, _linear(), _linear(hits="p2"))
    _keep_no_outputs(root / "b")


def _keep_no_outputs(run: Path) -> None:
    def edit(files: damage.RunFiles) -> None:
        files.manifest["outputs_kept"] = "none"
        for receipt in files.receipts.values():
            receipt["coverage"]["outputs_kept"] = "none"

    damage.change(run, edit)
    shutil.rmtree(run / "artifacts")


@scenario
def artifacts_folder_absent(root: Path) -> None:
    """The candidate's artifacts folder is gone: verifies, its text is not shown."""
    _pair(root, _linear(), _linear(hits="p2"))
    shutil.rmtree(root / "b" / "artifacts")


@scenario
def extra_files(root: Path) -> None:
    """Files nobody lists, a left-over lock, staging folders."""
    _pair(root, _linear(), _linear(hits="p2"))
    run = root / "b"
    (run / "receipts" / "99-ghost.json").write_text("{}")
    (run / "artifacts" / "01-load" / "ghost.txt").write_text("ghost\n")
    (run / "artifacts" / "_staging").mkdir()
    (run / "notes.txt").write_text("n\n")
    (run / ".lock").write_text("")


@scenario
def older_format(root: Path) -> None:
    """A 0.1 record against a 0.2 one."""
    _pair(root, _linear(), _linear(hits="p2"))

    def edit(files: damage.RunFiles) -> None:
        files.manifest["format"] = "stage-receipt-chain/0.1"
        del files.manifest["run_id_source"]
        for receipt in files.receipts.values():
            receipt["format"] = "stage-receipt/0.1"
            receipt.pop("digest_source", None)

    damage.change(root / "a", edit)


@scenario
def preview_manifest(root: Path) -> None:
    """A manifest of the preview format: every check is made, the run is compared."""
    _pair(root, _linear(), _linear(hits="p2"))

    def edit(files: damage.RunFiles) -> None:
        files.manifest["format"] = "stage-receipt-chain/0.0-preview"

    damage.change(root / "b", edit)


@scenario
def beside_the_chain(root: Path) -> None:
    """Anchor and signature files that are not valid: annotation for diff, FAIL for verify."""
    _pair(root, _linear(), _linear(hits="p2"))
    head = json.loads((root / "b" / "MANIFEST.json").read_bytes())["chain_head"]
    files = {
        "anchors/1.json": "{}",
        "anchors/2.json": '{"a":1,"a":2}',
        "anchors/x.json": "{}",
        "signatures/1.json": compact({"format": "stage-receipt-signature/0.1", "chain_head": head}),
        "signatures/01.json": "{}",
    }
    for name, content in files.items():
        path = root / "b" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)


@scenario
def no_run_id(root: Path) -> None:
    """The manifest carries no run id."""
    _pair(root, _linear(), _linear(hits="p2"))
    damage.change(root / "b", lambda files: files.manifest.pop("run_id"))


@scenario
def loose_manifest(root: Path) -> None:
    """A manifest with white space, a number, an unknown member and a duplicate: accepted."""
    _pair(root, _linear(), _linear(hits="p2"))
    path = root / "b" / "MANIFEST.json"
    value = json.loads(path.read_bytes()) | {"note": 1}
    path.write_text(json.dumps(value, indent=2)[:-2] + ',\n  "note": 2.50\n}\n')


# Damage that refuses a run


def _refused(name: str, harm: Callable[[Path], object]) -> None:
    def make(root: Path) -> None:
        _pair(root, _linear(), _linear(hits="p2"))
        harm(root / "b")

    make.__doc__ = f"The candidate does not verify: {name}."
    SCENARIOS[f"refused-{name}"] = make


def _swap_receipts(run: Path) -> None:
    one, two = run / "receipts" / "01-load.json", run / "receipts" / "02-split.json"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _append(path: str, content: bytes) -> Callable[[Path], None]:
    def harm(run: Path) -> None:
        with (run / path).open("ab") as out:
            out.write(content)

    return harm


def _manifest_member(name: str, value: Json) -> Callable[[Path], None]:
    def harm(run: Path) -> None:
        damage.change(run, lambda files: files.manifest.__setitem__(name, value), reseal=False)

    return harm


def _receipt_member(path: Sequence[str], value: Json) -> Callable[[Path], None]:
    """Change a member of the third receipt and make the chain fit again."""

    def edit(files: damage.RunFiles) -> None:
        target: Json = files.receipts["receipts/03-retrieve.json"]
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value

    return lambda run: damage.change(run, edit)


_refused("receipt-byte", lambda run: damage.flip(run / "receipts" / "02-split.json", 40))
_refused("artifact-byte", lambda run: damage.flip(run / "artifacts" / "03-retrieve" / "hits.json", 5))
_refused("manifest-head", _manifest_member("chain_head", digest(b"x")))
_refused("receipts-swapped", _swap_receipts)
_refused("receipt-removed", lambda run: (run / "receipts" / "03-retrieve.json").unlink())
_refused("artifact-removed", lambda run: (run / "artifacts" / "03-retrieve" / "hits.json").unlink())
_refused("artifact-emptied", lambda run: (run / "artifacts" / "04-answer" / "answer.txt").write_bytes(b""))
_refused("receipt-newline", _append("receipts/04-answer.json", b"\n"))
_refused("receipt-truncated", lambda run: (run / "receipts" / "02-split.json").write_bytes(b'{"anchor":'))
_refused(
    "chain-missing", lambda run: damage.change(run, lambda files: files.manifest.pop("chain"), reseal=False)
)
_refused(
    "chain-shortened",
    lambda run: damage.change(run, lambda files: files.manifest["chain"].pop(), reseal=False),
)
_refused(
    "chain-reversed",
    lambda run: damage.change(run, lambda files: files.manifest["chain"].reverse(), reseal=False),
)
_refused(
    "trust-class",
    _receipt_member(("outputs",), [{"name": "x", "digest": digest(b""), "trust_class": "nobody"}]),
)
_refused("json-number", _receipt_member(("assertions", "constants", "top_k"), 3))
_refused("completeness", _receipt_member(("coverage", "completeness"), "complete"))
_refused("self-digest", _receipt_member(("receipt_digest",), digest(b"x")))
_refused("time-without-zone", _receipt_member(("time", "started"), "2026-01-02T03:04:00"))
_refused("instrument-null", _receipt_member(("instrument",), None))
_refused("outcome-unknown", _receipt_member(("outcome", "class"), "maybe"))
_refused("escape-in-name", _receipt_member(("outcome",), {"class": "x\x1b\u202e\\"}))
_refused("outputs-kept-lie", _receipt_member(("coverage", "outputs_kept"), "none"))


@scenario
def refused_both(root: Path) -> None:
    """Neither run verifies."""
    _pair(root, _linear(), _linear(hits="p2"))
    damage.flip(root / "a" / "receipts" / "01-load.json", 30)
    (root / "b" / "artifacts" / "02-split" / "chunks.json").unlink()


@scenario
def refused_dag(root: Path) -> None:
    """A topology whose manifest leaves an edge out."""
    _dag_pair(root, _dag(), _dag({"merge": "m\n"}))
    damage.change(root / "b", lambda files: files.manifest["edges"].pop(), reseal=False)


@scenario
def refused_dag_plan(root: Path) -> None:
    """A topology with an edge outside its plan."""
    _dag_pair(root, _dag(), _dag({"merge": "m\n"}))
    damage.change(root / "b", lambda files: files.manifest["declared_edges"].pop(0), reseal=False)
