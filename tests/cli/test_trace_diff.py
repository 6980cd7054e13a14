"""``stratadiff diff`` of agent traces: golden text and JSON through the whole command, and the options."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cli.command import Answer, run
from cli.recorded import record_pair
from reference import agentlog, trace_report, trace_text
from render.test_trace_text import COLOUR, DATA, NAMES, PARTS, golden, text_of
from traces.records import request, response, use

Json = Any

ALL = ["--hierarchical", "--token-diff", "--spans", "--policy", "policy.json"]
PRICED = ["--pricing", "pricing.json"]


def diff(name: str, *options: str, terminal: bool = False) -> Answer:
    """Compare a golden pair."""
    pair = [f"{name}.{side}.agentlog" for side in ("baseline", "candidate")]
    return run(["diff", *pair, *options], DATA, terminal=terminal)


@pytest.mark.parametrize("name", NAMES)
def test_golden_text(name: str) -> None:
    answer = diff(name, *ALL, *PRICED)
    assert answer.code == 0
    assert answer.output.decode() == text_of(golden(name), *PARTS)


@pytest.mark.parametrize("name", NAMES)
def test_golden_json(name: str, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    answer = diff(name, *ALL, *PRICED, "--output-json", str(target), "--json")
    data = target.read_bytes()
    assert answer.output == data
    assert data.endswith(b"}\n")
    found, expect = json.loads(data), golden(name)
    assert json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" == data
    report = expect["report"]
    assert list(found) == [*report, "sessions", "token_diff", "policy_diff", "spans"]
    for member in report:
        assert dumped(found[member]) == dumped(report[member]), member
    assert dumped(found["token_diff"]) == dumped(expect["tokens"])
    assert dumped(found["policy_diff"]) == dumped(expect["policy"])
    changes = [[] for _ in expect["spans"]]
    for pair in found["spans"]:
        changes[pair["pair_index"]] = [
            {key: change[key] for key in ("kind", "block_index", "summary")} for change in pair["changes"]
        ]
    assert changes == expect["spans"]
    sessions = [
        {
            **{key: value for key, value in session.items() if key != "report"},
            "rows": session["report"]["rows"],
        }
        for session in found["sessions"]
    ]
    assert dumped(sessions) == dumped(expect["sessions"])


def dumped(value: Json) -> str:
    """Return the text of a value: 1 and 1.0 are not the same there, nor are members in another order."""
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    "name", ["devops-migration-order", "coding-turn-inserted", "support-session-missing"]
)
@pytest.mark.parametrize(
    "options", [[], ["--align"], ["--only", "trace"], ["--only", "policy,turn,span"]], ids=" ".join
)
def test_the_reference_says_the_same(name: str, options: list[str]) -> None:
    """Bytes of both forms, with options that the golden data does not have."""
    records = [
        agentlog.read((DATA / f"{name}.{side}.agentlog").read_bytes())[0]
        for side in ("baseline", "candidate")
    ]
    levels = tuple(options[1].split(",")) if "--only" in options else trace_report.LEVELS
    expected = trace_report.document(
        *records,
        {
            "levels": levels,
            "pricing": json.loads((DATA / "pricing.json").read_bytes()),
            "rules": json.loads((DATA / "policy.json").read_bytes())["rules"],
            "align": "--align" in options,
        },
    )
    given = [*options, *ALL, *PRICED]
    assert diff(name, *given).output.decode() == trace_text.standard_output(expected)
    assert diff(name, *given, "--json").output.decode() == (
        json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n"
    )


ONLY = {
    "trace": ({"rows", "extras"}, "axis  "),
    "session": ({"sessions"}, "Hierarchical diff"),
    "turn": ({"first_divergence", "divergences", "drill_down"}, "first divergence"),
    "span": ({"spans"}, "span-level changes"),
    "token": ({"token_diff"}, "Token-level diff"),
    "policy": ({"policy_diff"}, "Policy diff"),
}


@pytest.mark.parametrize("level", ONLY)
def test_only_one_level(level: str) -> None:
    members, words = ONLY[level]
    options = ["--only", level, "--policy", "policy.json"]
    text = diff("devops-migration-order", *options).output.decode()
    assert words in text
    assert sum(other[1] in text for other in ONLY.values()) == 1
    found = json.loads(diff("devops-migration-order", *options, "--json").output)
    head = {"baseline_trace_id", "candidate_trace_id", "pair_count", "extras"}
    assert set(found) == head | members
    assert set(found["extras"]) == (
        {"unpaired", "changed", "text_pairs"} if level == "trace" else {"unpaired"}
    )


def test_only_outweighs_the_flags() -> None:
    alone = diff("devops-migration-order", "--only", "turn")
    flagged = diff("devops-migration-order", "--only", "turn", *ALL)
    assert (flagged.code, flagged.output) == (alone.code, alone.output)
    assert "its rules are not applied" in flagged.error
    assert b"worst severity" not in alone.output


def test_only_is_in_the_order_of_the_contract() -> None:
    first = diff("devops-migration-order", "--only", "policy,token,trace", "--policy", "policy.json")
    assert first == diff(
        "devops-migration-order", "--only", "trace,token,policy,trace", "--policy", "policy.json"
    )
    text = first.output
    assert text.index(b"Trace diff") < text.index(b"Token-level diff") < text.index(b"Policy diff")


FAIL_ON = [
    ("support-identical", "minor", [], 0),
    ("devops-migration-order", "never", [], 0),
    ("devops-migration-order", "severe", [], 1),
    ("devops-migration-order", "minor", [], 1),
    ("devops-migration-order", "severe", ["--only", "turn"], 0),
    ("devops-migration-order", "severe", ["--only", "policy", "--policy", "policy.json"], 1),
    ("support-empty-candidate", "severe", ["--policy", "policy.json"], 1),
    ("support-empty-candidate", "severe", [], 0),
]


@pytest.mark.parametrize(("name", "severity", "options", "code"), FAIL_ON)
def test_fail_on(name: str, severity: str, options: list[str], code: int) -> None:
    answer = diff(name, *options, *PRICED, "--fail-on", severity)
    assert answer.code == code
    assert diff(name, *options, *PRICED, "--fail-on", severity, "--quiet") == (code, b"", answer.error)
    assert diff(name, *options, *PRICED).output == answer.output


@pytest.mark.parametrize(
    ("severity", "met"),
    [("info", "minor"), ("warning", "moderate"), ("error", "severe"), ("critical", "severe")],
)
def test_ranks_of_policy_regressions(tmp_path: Path, severity: str, met: str) -> None:
    record_pair(tmp_path, [response("a")], [response("secret")])
    rule = {"id": "r", "kind": "forbidden_text", "params": {"text": "secret"}, "severity": severity}
    (tmp_path / "p.json").write_text(json.dumps([rule]))
    argv = ["diff", "a.agentlog", "b.agentlog", "--only", "policy", "--policy", "p.json", "--fail-on"]
    codes = [run([*argv, level], tmp_path).code for level in ("minor", "moderate", "severe")]
    place = ("minor", "moderate", "severe").index(met)
    assert codes == [1] * (place + 1) + [0] * (2 - place)


def test_fail_on_without_a_level_it_looks_at_is_said() -> None:
    answer = diff("devops-migration-order", "--only", "turn,span", "--fail-on", "minor")
    assert answer.error == (
        "stratadiff: --fail-on looks at the levels trace and policy, and --only leaves both out\n"
    )


def test_seed_decides_the_intervals_alone() -> None:
    first = json.loads(diff("mixed-120", "--only", "trace", "--json").output)
    same = json.loads(diff("mixed-120", "--only", "trace", "--json", "--seed", "42").output)
    other = json.loads(diff("mixed-120", "--only", "trace", "--json", "--seed=-7").output)
    assert first == same
    changed = {
        key for a, b in zip(first["rows"], other["rows"], strict=True) for key in a if a[key] != b[key]
    }
    assert changed
    assert changed <= {"ci95_low", "ci95_high", "severity", "flags"}


def test_judge_scores(tmp_path: Path) -> None:
    record_pair(tmp_path, [response("a"), response("b")], [response("a"), response("c")])
    (tmp_path / "scores.json").write_text("[1, 0.25]")
    argv = ["diff", "a.agentlog", "b.agentlog", "--json", "--judge", "scores.json"]
    rows = {row["axis"]: row for row in json.loads(run(argv, tmp_path).output)["rows"]}
    assert (rows["judge"]["n"], rows["judge"]["candidate_median"]) == (2, 0.625)


def test_semantic_text_only_and_strict_refusals(tmp_path: Path) -> None:
    old = [response(use("x")), response(use("x")), response("The API won't be affected.")]
    new = [response(use("x")), response(use("x")), response("something else altogether")]
    record_pair(tmp_path, old, new)

    def rows(*options: str) -> Json:
        argv = ["diff", "a.agentlog", "b.agentlog", "--json", *options]
        return {row["axis"]: row for row in json.loads(run(argv, tmp_path).output)["rows"]}

    assert (rows()["semantic"]["n"], rows()["semantic"]["candidate_median"]) == (3, 1.0)
    only = rows("--semantic-text-only")["semantic"]
    assert (only["n"], only["candidate_median"]) == (1, 0.0)
    record_pair(
        tmp_path, [response("The API won't be affected.")], [response("I can\u2019t help with that.")]
    )
    for options, expected in (((), (1.0, 0.0)), (("--refusals", "contract"), (1.0, 0.0))):
        safety = rows(*options)["safety"]
        assert (safety["baseline_median"], safety["candidate_median"]) == expected
    safety = rows("--refusals", "strict")["safety"]
    assert (safety["baseline_median"], safety["candidate_median"]) == (0.0, 1.0)


def test_split_requests(tmp_path: Path) -> None:
    asked = request(messages=[{"role": "user", "content": "?"}])
    records = [asked, response("a"), asked, response("b")]
    record_pair(tmp_path, records, records)
    argv = ["diff", "a.agentlog", "b.agentlog", "--only", "session"]
    assert run(argv, tmp_path).output.startswith(b"Hierarchical diff, 1 session(s):\n")
    assert run([*argv, "--split", "requests"], tmp_path).output.startswith(
        b"Hierarchical diff, 2 session(s):\n"
    )


def test_align_pairs_past_an_inserted_turn() -> None:
    found = json.loads(diff("weak/turn-inserted", "--align", "--json").output)
    assert found["extras"]["unpaired"] == {"baseline": 0, "candidate": 1}
    assert {row["severity"] for row in found["rows"]} == {"none"}


def test_the_aligned_policy_lists_what_changed(tmp_path: Path) -> None:
    name = "weak/policy-count-in-detail"
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(json.loads((DATA / f"{name}.json").read_bytes())["policy"]))
    options = ["--only", "policy", "--policy", str(policy)]
    assert diff(name, *options).output.decode() == (
        "Policy diff, 1 baseline violation(s), 1 candidate violation(s)\n"
        "  regressions (1):\n    ✗ [error] max-turns @ trace: trace has 5 turns; max is 2\n"
        "  fixes (1):\n    ✓ [error] max-turns @ trace: trace has 4 turns; max is 2\n"
    )
    assert diff(name, *options, "--align").output.decode() == (
        "Policy diff, 1 baseline violation(s), 1 candidate violation(s)\n"
        "  changed (1):\n    ~ [error] max-turns @ trace: trace has 5 turns; max is 2\n"
    )


def test_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    plain = diff("devops-migration-order", *ALL).output
    coloured = diff("devops-migration-order", *ALL, terminal=True).output
    assert coloured != plain
    assert COLOUR.sub("", coloured.decode()).encode() == plain
    assert diff("devops-migration-order", *ALL, "--no-color", terminal=True).output == plain
    assert diff("devops-migration-order", "--json", terminal=True).output.count(b"\x1b") == 0
    monkeypatch.setenv("NO_COLOR", "1")
    assert diff("devops-migration-order", *ALL, terminal=True).output == plain


def test_compressed_traces_and_names_that_say_nothing(tmp_path: Path) -> None:
    name = "devops-migration-order"
    for side in ("baseline", "candidate"):
        data = (DATA / f"{name}.{side}.agentlog").read_bytes()
        (tmp_path / f"{side}.agentlog.gz").write_bytes(gzip.compress(data))
        (tmp_path / f"{side}.log").write_bytes(data)
    plain = diff(name)
    for ending in (".agentlog.gz", ".log"):
        assert run(["diff", f"baseline{ending}", f"candidate{ending}"], tmp_path) == plain
    zstandard = pytest.importorskip("zstandard")
    for side in ("baseline", "candidate"):
        data = (DATA / f"{name}.{side}.agentlog").read_bytes()
        (tmp_path / f"{side}.zst").write_bytes(zstandard.ZstdCompressor().compress(data))
    assert run(["diff", "baseline.zst", "candidate.zst"], tmp_path) == plain


def test_output_is_the_same_bytes_every_time() -> None:
    first = diff("support-unicode", *ALL, *PRICED, "--json")
    assert diff("support-unicode", *ALL, *PRICED, "--json") == first
