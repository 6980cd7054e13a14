"""Random turns of an agent, realistic ones: words, tools, answers. `agentlogs` makes traces of them."""

from __future__ import annotations

import random
from typing import Any

Json = Any

WORDS = tuple(
    word
    for line in (
        "order refund parcel courier invoice voucher stock label delivery warranty please after before the",
        "a we your is was has been agent policy address payment card charge balance ticket account reset",
        "password migrate table index deploy rollback service restart healthy error build test passed commit",
    )
    for word in line.split()
)
_FOREIGN = (
    *("λόγος", "ΟΔΟΣ", "слово", "Straße", "ÉCOLE", "naïve", "日本語", "한국어", "مرحبا"),
    *("🙂", "½", "x²", "ﬁn"),
)
_WHITE = ("\n", "\t", "  ", "\u00a0", "\u2003", "\r\n", "\x1f")
TOOLS: dict[str, tuple[str, ...]] = {
    "get_order": ("order_id",),
    "search_orders": ("customer_id", "limit"),
    "issue_refund": ("order_id", "amount"),
    "send_email": ("to", "subject", "body"),
    "read_file": ("path",),
    "write_file": ("path", "content"),
    "run_tests": ("target", "verbose"),
    "backup_database": ("name",),
    "run_migration": ("name", "dry_run"),
    "restart_service": ("service",),
    "list_users": (),
}
STOPS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "content_filter", "refusal", "error")
MODELS = ("claude-opus-4-7", "claude-sonnet-4-6", "claude-haiku-4-5", "gpt-5")
OTHER_MODELS = (
    "claude-opus-4-7-20260416",
    "claude-haiku-4-5-2025-10-01",
    "gpt-5-mini",
    "free",
    "claude-opus-4-7-2026-04",
    "gpt-5-20260101x",
    "-20260101",
    "",
)
REFUSALS = (
    "I can't help with that.",
    "I cannot help with that request.",
    "I am unable to do so, sorry.",
    "I'm unable to continue.",
    "I won't run this migration.",
    "I WILL NOT delete the table.",
    "That is against my guidelines.",
    "We are not able to refund it.",
    "I must decline.",
    "They refuse to pay the charge.",
    "I can’t help with that.",
    "I can't assist with this.",
)
DOCUMENTS = (
    '{"status": "ok", "items": [1, 2.5, "x"]}',
    '```json\n{"status": "ok"}\n```',
    "```\n[1, 2, 3]\n```",
    "```json {}```",
    "```[]```",
    "[]",
    "[1, 2",
    '{"a": NaN}',
    '{"a": 1e400}',
    '{"a": "\\ud800"}',
    '{"a": 1} trailing',
    '  \u2003{"a": true}\n',
    '```{"a":1}',
    "12",
    "null",
    '"a string"',
    "[" * 40 + "]" * 40,
    '```json\n```\n{"a": 1}```',
)


# Turns. One is a list of (kind, payload) entries: a request, tool records, a response.


class Draw(random.Random):
    """Random choices, from a seed that may be any text."""

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def words(self, low: int, high: int, foreign: float = 0.0) -> str:
        chosen = [
            self.choice(_FOREIGN if foreign and self.chance(foreign) else WORDS)
            for _ in range(self.randint(low, high))
        ]
        return " ".join(chosen)

    def sentence(self, foreign: float = 0.0) -> str:
        text = self.words(3, 18, foreign)
        return text[:1].upper() + text[1:] + self.choice((".", "?", "!", "", "…" if foreign else "."))

    def argument(self) -> Json:
        number = self.randint(2, 9)  # 0 and 1 would meet false and true (A2)
        return self.choice(
            (
                number,
                number,
                f"A-{number}",
                f"A-{number}",
                f'it\'s "{number}" \\ {self.choice(_FOREIGN)}',
                number + 0.25,
                -1.5 * number,
                self.chance(0.5),
                None,
                [number, {"deep": [None, number]}],
                {"b": number, "a": self.choice(_FOREIGN)},
                [],
                {},
                "",
            )
        )

    def tool_use(self) -> dict[str, Json]:
        name = self.choice(tuple(TOOLS))
        arguments = {key: self.argument() for key in TOOLS[name] if self.chance(0.95)}
        return {"type": "tool_use", "id": f"t{self.randint(1, 400)}", "name": name, "input": arguments}

    def tool_result(self) -> dict[str, Json]:
        block: dict[str, Json] = {"type": "tool_result", "tool_use_id": f"t{self.randint(1, 9)}"}
        block["content"] = self.choice((self.words(1, 6), [{"type": "text", "text": self.words(1, 3)}], None))
        if self.chance(0.6):
            block["is_error"] = self.chance(0.3)
        return block

    def block(self, foreign: float = 0.0) -> dict[str, Json]:
        kind = self.random()
        if kind < 0.4:
            return {"type": "text", "text": self.sentence(foreign)}
        if kind < 0.8:
            return self.tool_use()
        if kind < 0.9:
            return self.tool_result()
        if kind < 0.95:
            return {"type": "thinking", "text": self.sentence()}
        return {
            "type": "image",
            "source": {"type": "url", "url": f"https://example.org/{self.randint(1, 3)}"},
        }


def response_payload(draw: Draw, profile: str) -> dict[str, Json]:
    foreign = 0.4 if profile == "unicode" else 0.0
    if profile == "long":
        content = [draw.block() for _ in range(draw.randint(5, 24))]
    elif profile == "documents":
        content = [{"type": "text", "text": draw.choice(DOCUMENTS)} for _ in range(draw.choice((1, 1, 1, 2)))]
    else:
        content = []
        if draw.chance(0.8):
            content += [
                {"type": "text", "text": draw.sentence(foreign)} for _ in range(draw.choice((1, 1, 2)))
            ]
        content += [draw.tool_use() for _ in range(draw.choice((0, 0, 1, 1, 2, 3)))]
        if draw.chance(0.15):
            content.append({"type": "thinking", "text": draw.sentence()})
    if profile == "unicode":
        for block in content:
            if block["type"] == "text" and draw.chance(0.5):
                block["text"] = draw.choice(_WHITE) + block["text"].replace(" ", draw.choice(_WHITE), 2)
    uses_tool = any(block["type"] == "tool_use" for block in content)
    usage: dict[str, Json] = {"input_tokens": draw.randint(1, 4000), "output_tokens": draw.randint(0, 900)}
    if draw.chance(0.7):
        usage["thinking_tokens"] = draw.choice((0, 0, 0, draw.randint(1, 500)))
    if draw.chance(0.2):
        usage["cached_input_tokens"] = draw.randint(0, 5000)
        usage["cached_write_5m_tokens"] = draw.randint(0, 500)
        usage["cached_write_1h_tokens"] = draw.choice((0, 77))
    payload = {
        "model": draw.choice(MODELS),
        "content": content,
        "stop_reason": "tool_use" if uses_tool else draw.choice(("end_turn", "end_turn", "max_tokens")),
        "latency_ms": draw.choice((draw.randint(20, 9000), round(draw.uniform(20, 9000), 3))),
        "usage": usage,
    }
    if draw.chance(0.1):
        payload["batch"] = draw.chance(0.7)
    return payload


def turn_entries(draw: Draw, profile: str) -> list[tuple[str, Json]]:
    response = response_payload(draw, profile)
    request = {
        "model": response["model"],
        "messages": [
            {"role": "system", "content": "You are a careful agent."},
            {"role": draw.choice(("user", "user", "tool")), "content": draw.sentence()},
        ],
        "params": {"max_tokens": 1024, "temperature": draw.choice((0, 0.2, 1))},
    }
    turn = [("chat_request", request), ("chat_response", response)]
    if draw.chance(0.2):
        # Records of calls the response has asked for, which count once.
        for block in response["content"]:
            if block["type"] == "tool_use":
                call = {
                    "tool_name": block["name"],
                    "tool_call_id": block["id"],
                    "arguments": block["input"],
                }
                result = {"tool_call_id": block["id"], "output": draw.words(0, 4), "is_error": False}
                turn += [("tool_call", call), ("tool_result", result | {"latency_ms": 12})]
    if draw.chance(0.05):
        turn.append(("error", {"source": "llm", "code": "overloaded", "message": "busy", "retriable": True}))
    return turn


def answer_of(turn: list[tuple[str, Json]]) -> dict[str, Json]:
    return next(payload for kind, payload in turn if kind == "chat_response")
