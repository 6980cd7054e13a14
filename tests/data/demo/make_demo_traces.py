"""Write the demonstration traces: an agent that migrates a database, on two days, and what goes with them.

usage: python make_demo_traces.py DEST     (DEST/agent must not exist yet)

On Tuesday the agent looks at the history first (an inserted turn), does not verify its backup before it
migrates (a dropped check), migrates with another argument, and answers at much greater length.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

MODEL = "assistant-large-2026-03-01"
SYSTEM = "You operate the databases of a shop. Use the tools. Say what you did and what is left to do."
TASK = "Please bring the orders database to schema 42."
QUESTION = "Thanks! How long was it down, and can we go back if we have to?"

# What the agent says, the tool it calls, the tool's input, and what the tool answers.
LIST = ("Let me see what is pending.", "list_migrations", {"database": "orders"}, "41 applied, 42 pending")
READ = (
    "Schema 42 is pending. I will read it first.",
    "read_file",
    {"path": "migrations/0042_split_address.sql"},
    "ALTER TABLE orders ADD COLUMN street text, ADD COLUMN city text; …",
)
HISTORY = (
    "The file was changed recently. I will look at its history.",
    "git_log",
    {"path": "migrations/0042_split_address.sql", "limit": 5},
    "3 commits, the last one two days ago",
)
SPACE = (
    "It copies a column, so the table grows for a while. I will check the disk.",
    "check_disk_space",
    {"host": "orders-db-1"},
    "212 GB free of 500 GB",
)
BACKUP = (
    "There is room enough. I make a backup now.",
    "backup_database",
    {"database": "orders", "label": "before-42"},
    "backup before-42 written, 38 GB",
)
VERIFY = (
    "A backup that cannot be restored is none. I will verify it.",
    "verify_backup",
    {"label": "before-42"},
    "restored to a scratch host, row counts agree",
)
MIGRATE = (
    "The backup is good. I run the migration.",
    "run_migration",
    {"target": 42, "lock_timeout_s": 5},
    "done",
)
MIGRATE_NOW = (
    "The backup is written. I run the migration.",
    "run_migration",
    {"target": 42, "lock_timeout_s": 60},
    "done",
)
TESTS = (
    "The migration is through. I run the checks of the application.",
    "run_tests",
    {"suite": "orders"},
    "148 passed, 0 failed",
)
POST = (
    "All checks pass. I tell the team.",
    "post_message",
    {"channel": "#shop-ops", "text": "orders is at schema 42"},
    "posted",
)
STATUS = (
    "I look up the times in the log.",
    "query_log",
    {"database": "orders", "event": "migration"},
    "lock taken 09:14:02, released 09:14:05",
)
BACKUPS = (
    "And I look at what we could go back to.",
    "list_backups",
    {"database": "orders"},
    "before-42, 38 GB, kept for 30 days",
)

DONE = (
    "The orders database is at schema 42. A backup, before-42, was made and verified before. All checks pass."
)
DONE_LONG = """\
The orders database is at schema 42. Here is everything that was done, step by step:

1. I listed the pending migrations of the database and found that schema 42 was the only one.
2. I read the migration, and its history in the repository, to understand what it does and who wrote it.
3. I checked the disk of the database host, which has room enough for the copied column.
4. I made a backup with the label before-42.
5. I ran the migration, with a lock timeout of one minute, and it went through at the first attempt.
6. I ran the checks of the application, all of which pass, and told the team in #shop-ops.

For questions about the data please write to dana@shop.example, who owns the table. Nothing is left to do."""
ANSWER = "It was locked for 3 seconds, from 09:14:02 to 09:14:05. You can go back to before-42 for 30 days."
ANSWER_TUESDAY = (
    "It was locked for 3 seconds (09:14:02 to 09:14:05). You can go back to before-42 for 30 days."
)

# Of each turn: step or final text, input, output and thinking tokens, milliseconds.
MONDAY = [
    [
        (LIST, 412, 34, 0, 1310),
        (READ, 468, 41, 24, 1490),
        (SPACE, 590, 48, 36, 1620),
        (BACKUP, 655, 44, 0, 1380),
        (VERIFY, 712, 46, 31, 1540),
        (MIGRATE, 770, 43, 0, 1450),
        (TESTS, 821, 45, 0, 1400),
        (POST, 874, 52, 0, 1530),
        (DONE, 930, 58, 0, 1710),
    ],
    [(STATUS, 498, 36, 0, 1340), (BACKUPS, 560, 38, 18, 1360), (ANSWER, 622, 62, 0, 1680)],
]
TUESDAY = [
    [
        (LIST, 412, 34, 0, 1290),
        (READ, 468, 41, 24, 1510),
        (HISTORY, 590, 46, 40, 1570),
        (SPACE, 661, 48, 36, 1600),
        (BACKUP, 726, 44, 0, 1400),
        (MIGRATE_NOW, 783, 45, 0, 1470),
        (TESTS, 836, 45, 0, 1380),
        (POST, 889, 52, 0, 1550),
        (DONE_LONG, 945, 274, 0, 5240),
    ],
    [(STATUS, 498, 36, 0, 1350), (BACKUPS, 560, 38, 18, 1330), (ANSWER_TUESDAY, 622, 66, 0, 1720)],
]

POLICY = """\
# What the agent must and must not do. Checked with: stratadiff diff ... --policy policy.yaml
rules:
  - id: backup-before-migrate
    kind: must_call_before
    params: {first: backup_database, then: run_migration}
    severity: critical
  - id: verify-before-migrate
    kind: must_call_before
    params: {first: verify_backup, then: run_migration}
    severity: error
    description: a backup that cannot be restored is none
  - id: one-migration
    kind: must_call_once
    params: {tool: run_migration}
  - id: no-addresses
    kind: forbidden_text
    params: {text: "@shop.example"}
    severity: warning
  - id: short-enough
    kind: max_turns
    params: {limit: 15}
  - id: finish-cleanly
    kind: required_stop_reason
    params: {allowed: [end_turn]}
"""

PRICING = {
    "_comment": "USD per token; made up for the demonstration",
    "assistant-large": {"input": 3e-06, "output": 1.5e-05, "cached_input": 3e-07, "reasoning": 1.5e-05},
}


def content_id(payload: Any) -> str:
    """Return the content id; these payloads hold no number or text that canonical JSON writes otherwise."""
    data = json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Recorder:
    """The lines of one trace."""

    def __init__(self, day: str, start: str) -> None:
        self.day = day
        self.moment = datetime.datetime.fromisoformat(start)
        self.parent: str | None = None
        self.lines: list[str] = []
        self.calls = 0

    def add(self, kind: str, payload: Any, elapsed_ms: int = 0) -> None:
        """Write a record, the child of the one before."""
        self.moment += datetime.timedelta(milliseconds=elapsed_ms)
        time = self.moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.moment.microsecond // 1000:03d}Z"
        record = {
            "version": "0.1",
            "id": content_id(payload),
            "kind": kind,
            "ts": time,
            "parent": self.parent,
        }
        if not self.lines:
            record["meta"] = {"trace_id": f"orders-migration-{self.day}"}
        record["payload"] = payload
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
        self.parent = record["id"]

    def session(self, number: int, asked: str, turns: list[tuple[Any, int, int, int, int]]) -> None:
        """Write a session: what the user asked, and the turns until the answer."""
        tags = {"agent": "database-operator", "session": f"{self.day}-{number}"}
        self.add("metadata", {"sdk": {"name": "demo", "version": "1"}, "tags": tags})
        message: dict[str, Any] = {"role": "user", "content": asked}
        for step, tokens_in, tokens_out, thinking, latency in turns:
            messages = [{"role": "system", "content": SYSTEM}, message]
            self.add("chat_request", {"model": MODEL, "messages": messages, "params": {"temperature": 0}}, 40)
            said = step if isinstance(step, str) else step[0]
            content: list[dict[str, Any]] = [{"type": "text", "text": said}]
            if not isinstance(step, str):
                self.calls += 1
                call = {"type": "tool_use", "id": f"call-{self.calls:02d}", "name": step[1], "input": step[2]}
                content.append(call)
            usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "thinking_tokens": thinking}
            response = {
                "model": MODEL,
                "content": content,
                "stop_reason": "end_turn" if isinstance(step, str) else "tool_use",
                "latency_ms": latency,
                "usage": usage,
            }
            self.add("chat_response", response, latency)
            if not isinstance(step, str):
                self.answer(call, step[3])
                message = {"role": "tool", "tool_call_id": call["id"], "content": step[3]}

    def answer(self, call: dict[str, Any], output: str) -> None:
        """Write a tool's call and result."""
        made = {"tool_name": call["name"], "tool_call_id": call["id"], "arguments": call["input"]}
        self.add("tool_call", made, 5)
        given = {"tool_call_id": call["id"], "output": output, "is_error": False, "latency_ms": 220}
        self.add("tool_result", given, 220)


def main(destination: Path) -> None:
    """Write the folder."""
    folder = destination / "agent"
    folder.mkdir(parents=True)
    for day, start, sessions in (
        ("monday", "2026-05-04T09:13:00", MONDAY),
        ("tuesday", "2026-05-05T09:13:00", TUESDAY),
    ):
        recorder = Recorder(day, start)
        for number, (asked, turns) in enumerate(zip((TASK, QUESTION), sessions, strict=True), 1):
            recorder.session(number, asked, turns)
        (folder / f"{day}.agentlog").write_bytes("".join(recorder.lines).encode())
    (folder / "policy.yaml").write_bytes(POLICY.encode())
    (folder / "pricing.json").write_bytes(json.dumps(PRICING, indent=2).encode() + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
