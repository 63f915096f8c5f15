"""The public sets of questions: passages as documents, and the questions about them."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BANKING_EXAMPLES = 20  # questions of each intent that are passages

Passages = Sequence[dict[str, Any]]  # documents as they are written


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """label: equal for questions that have one answer."""

    text: str
    label: str


def retrieval_passages(data: Path, name: str) -> Passages:
    return [
        _passage(line["id"], line["title"] or "", line["text"], language_of(name))
        for line in lines(data / name / "corpus.jsonl.gz")
    ]


def language_of(name: str) -> str:
    return "pt" if name.endswith("_pt") else "en"


def banking(data: Path) -> tuple[Passages, Sequence[LabelledQuestion]]:
    """It has no passages: some questions of each intent, which nobody asks here, stand for them."""
    examples: defaultdict[str, list[str]] = defaultdict(list)
    questions = []
    for line in lines(data / "banking77_en" / "pairs.jsonl.gz"):
        if line["split"] == "train" and len(examples[line["label"]]) < _BANKING_EXAMPLES:
            examples[line["label"]].append(line["text"])
        else:
            questions.append(LabelledQuestion(line["text"], line["label"]))
    passages = [
        _passage(f"intent-{number}-{at}", label.replace("_", " "), text, "en")
        for number, (label, texts) in enumerate(sorted(examples.items()))
        for at, text in enumerate(texts)
    ]
    return passages, questions


def lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        yield from map(json.loads, opened)


def _passage(document_id: str, title: str, text: str, language: str) -> dict[str, Any]:
    return {"document_id": document_id, "title": title, "text": text, "language": language}
