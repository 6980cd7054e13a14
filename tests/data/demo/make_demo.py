"""Write the demonstration runs: a support assistant on two days.

usage: python make_demo.py DEST     (DEST must not exist yet)
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

OPERATOR = "operator-authored"
MODEL = "model-generated"
EXTERNAL = "externally-sourced"

RETURNS = """\
# Returns

You can return anything within 30 days of delivery, opened or not. Print the label from your order page.

Refunds go to the card you paid with and take up to five working days.
"""

SHIPPING = """\
# Shipping

Orders placed before 14:00 leave the same day. Delivery takes two working days.
"""

WARRANTY_MONDAY = """\
# Warranty

All headphones carry a warranty of 24 months from the date of purchase.

Within the warranty we repair or replace the product free of charge. Keep your receipt: we ask for it.

Damage by water or by a fall is not covered.
"""

WARRANTY_TUESDAY = """\
# Warranty

Wired headphones carry a warranty of 24 months, wireless headphones of 12 months from the date of purchase.

Within the warranty we repair or replace the product free of charge. Keep your receipt: we ask for it.

Damage by water or by a fall is not covered.
"""

REPAIRS_TUESDAY = """\
# Repairs

Out of warranty? A repair at a fixed price of 39 euros is possible for three years after purchase.
"""

QUESTION = "My wireless headphones stopped charging after 14 months. Can you repair them?\n"

ANSWER_MONDAY = """\
Hello,

yes, we can. Headphones carry a warranty of 24 months, so yours are covered.
We repair or replace them free of charge. Please keep your receipt: we ask for it.

You will find the return label on your order page.
Your support team
"""

ANSWER_TUESDAY = """\
Hello,

yes, we can. Wireless headphones carry a warranty of 12 months, so yours are no longer covered.
We repair them at a fixed price of 39 euros.

You will find the return label on your order page.
Your support team
"""

CHECK = {"language": "en", "names_a_person": False, "passed": True, "tone": "friendly"}


def canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def pretty(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Recorder:
    """Records the stages of one linear run."""

    def __init__(self, folder: Path, run_id: str, stages: list[str], day: int) -> None:
        self.folder = folder
        self.run_id = run_id
        self.stages = stages
        self.day = day
        self.chain: list[dict[str, str]] = []
        self.previous: str | None = None

    def stage(
        self,
        name: str,
        instrument: tuple[str, str, str],
        constants: dict[str, str],
        inputs: list[tuple[str, str, bytes, str]],
        outputs: list[tuple[str, str, bytes, str]],
        corpus: str | None = None,
    ) -> None:
        index = len(self.chain) + 1
        stem = f"{index:02d}-{name}"
        place = self.folder / "artifacts" / stem
        place.mkdir(parents=True)
        for output in outputs:
            (place / output[0]).write_bytes(output[2])
        tool, kind, version = instrument
        assertions: dict[str, Any] = {"constants": constants}
        if corpus is not None:
            assertions["corpus_manifest"] = corpus
        receipt = {
            "anchor": {"reason": "demonstration", "state": "unanchored"},
            "assertions": assertions,
            "coverage": {
                "boundaries": [],
                "completeness": "complete" if index == len(self.stages) else "incomplete",
                "declared_stages": self.stages,
                "emitting_stages": self.stages[:index],
            },
            "digest_source": "emitter",
            "emission": {"gaps": [], "policy": "fail-closed"},
            "format": "stage-receipt/0.2",
            "inputs": [self.reference(*item) for item in inputs],
            "instrument": {
                "config_digest": digest(canonical(constants)),
                "id": tool,
                "kind": kind,
                "manifest_digest": digest(b"support-assistant pipeline 7\n"),
                "rederivable": "false" if kind == "model" else "true",
                "version": version,
            },
            "outcome": {"class": "ok"},
            "outputs": [self.reference(*item) for item in outputs],
            "prev": self.previous,
            "run_id": self.run_id,
            "stage": {"index": str(index), "name": name},
            "time": {
                "ended": f"2026-03-{self.day:02d}T08:00:{2 * index:02d}.000+00:00",
                "started": f"2026-03-{self.day:02d}T08:00:{2 * index - 1:02d}.000+00:00",
            },
        }
        data = canonical(receipt)
        path = self.folder / "receipts" / f"{stem}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        self.previous = digest(data)
        self.chain.append(
            {"digest": self.previous, "file": f"receipts/{stem}.json", "index": str(index), "stage": name}
        )

    @staticmethod
    def reference(name: str, media_type: str, data: bytes, trust_class: str) -> dict[str, str]:
        return {
            "bytes": str(len(data)),
            "digest": digest(data),
            "media_type": media_type,
            "name": name,
            "trust_class": trust_class,
        }

    def close(self) -> str:
        assert self.previous is not None
        manifest = {
            "anchor": {"reason": "demonstration", "state": "unanchored"},
            "chain": self.chain,
            "chain_head": self.previous,
            "format": "stage-receipt-chain/0.2",
            "run_id": self.run_id,
            "run_id_source": "caller",
        }
        (self.folder / "MANIFEST.json").write_bytes(canonical(manifest))
        return self.previous


def record_ingest(
    folder: Path, run_id: str, day: int, articles: dict[str, str]
) -> tuple[str, list[dict[str, str]]]:
    run = Recorder(folder, run_id, ["load", "split"], day)
    centre = "\n".join(articles.values()).encode()
    run.stage(
        "load",
        ("help-centre-export", "loader", "3.1.0"),
        {"locale": "en"},
        [("help_centre", "text/markdown", centre, EXTERNAL)],
        [("help-centre.md", "text/markdown", centre, EXTERNAL)],
    )
    chunks = []
    for doc, text in articles.items():
        paragraphs = [part for part in text.split("\n\n") if not part.startswith("# ")]
        for number, paragraph in enumerate(paragraphs):
            body = paragraph.strip()
            chunks.append(
                {
                    "chars": str(len(body)),
                    "digest": digest(body.encode()),
                    "doc": doc,
                    "id": f"{doc}#{number:04d}",
                    "text": body,
                }
            )
    run.stage(
        "split",
        ("paragraph-splitter", "chunker", "1.4.2"),
        {"max_chars": "400"},
        [("help-centre.md", "text/markdown", centre, EXTERNAL)],
        [("chunks.json", "application/json", pretty({"chunks": chunks}), EXTERNAL)],
    )
    return run.close(), chunks


def record_answer(
    folder: Path,
    run_id: str,
    day: int,
    corpus: str,
    hits: list[dict[str, str]],
    answer: str,
    prompt: str,
) -> None:
    run = Recorder(folder, run_id, ["question", "retrieve", "answer", "check"], day)
    question = QUESTION.encode()
    ranked = [
        {"digest": hit["digest"], "id": hit["id"], "rank": str(rank), "text": hit["text"]}
        for rank, hit in enumerate(hits, start=1)
    ]
    found = pretty({"hits": ranked})
    run.stage(
        "question",
        ("ticket-intake", "loader", "2.0.3"),
        {"channel": "email"},
        [("ticket 48211", "text/plain", question, EXTERNAL)],
        [("question.txt", "text/plain", question, EXTERNAL)],
    )
    run.stage(
        "retrieve",
        ("bm25", "retriever", "1.2.0"),
        {"corpus_index_stage": "split", "top_k": "3"},
        [("question.txt", "text/plain", question, EXTERNAL)],
        [("hits.json", "application/json", found, EXTERNAL)],
        corpus,
    )
    run.stage(
        "answer",
        ("small-instruct-8b", "model", "2026-02-11"),
        {"prompt": prompt, "temperature": "0"},
        [
            ("question.txt", "text/plain", question, EXTERNAL),
            ("hits.json", "application/json", found, EXTERNAL),
        ],
        [("answer.md", "text/markdown", answer.encode(), MODEL)],
    )
    run.stage(
        "check",
        ("answer-check", "guardrail", "0.9.1"),
        {"policy": "support-2026-01"},
        [("answer.md", "text/markdown", answer.encode(), MODEL)],
        [("check.json", "application/json", pretty(CHECK), OPERATOR)],
    )
    run.close()


def main(destination: str) -> None:
    place = Path(destination)
    place.mkdir(parents=True)
    monday = {"help/warranty.md": WARRANTY_MONDAY, "help/returns.md": RETURNS, "help/shipping.md": SHIPPING}
    tuesday = {
        "help/warranty.md": WARRANTY_TUESDAY,
        "help/returns.md": RETURNS,
        "help/shipping.md": SHIPPING,
        "help/repairs.md": REPAIRS_TUESDAY,
    }
    corpus, chunks = record_ingest(place / "ingest-monday", "ingest-monday", 2, monday)
    by_id = {chunk["id"]: chunk for chunk in chunks}
    hits = [
        by_id[name] for name in ("help/warranty.md#0000", "help/warranty.md#0001", "help/returns.md#0000")
    ]
    prompt = "Answer from the excerpts only. Be friendly."
    record_answer(place / "monday", "support-monday", 2, corpus, hits, ANSWER_MONDAY, prompt)

    corpus, chunks = record_ingest(place / "ingest-tuesday", "ingest-tuesday", 3, tuesday)
    by_id = {chunk["id"]: chunk for chunk in chunks}
    hits = [
        by_id[name] for name in ("help/warranty.md#0000", "help/repairs.md#0000", "help/warranty.md#0001")
    ]
    prompt = "Answer from the excerpts only. Be friendly and brief."
    record_answer(place / "tuesday", "support-tuesday", 3, corpus, hits, ANSWER_TUESDAY, prompt)


if __name__ == "__main__":
    main(sys.argv[1])
