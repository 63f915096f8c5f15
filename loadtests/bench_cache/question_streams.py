"""Streams of real questions over the passages of public sets, as one tenant's callers ask them.

A set does not say when its questions were asked, so they come in a random order, the same in each
run. A question comes as often as the set has it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from loadtests.workload import json_lines

NAMES = ("banking77_en", "pira_paraphrase", "medquad_en", "squad_sent_dev", "xquad_en")
_BANKING_EXAMPLES = 20  # questions of each intent that are passages

Passages = Sequence[dict[str, Any]]  # documents as they are written


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """label: equal for questions that have one answer."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Stream:
    """labels: by question; questions of unequal labels have different answers, as people say.

    Empty if people have said nothing.
    """

    name: str
    passages: Passages
    questions: Sequence[str]
    labels: Mapping[str, str]

    def first(self, most: int) -> "Stream":
        """The stream up to so many questions."""
        return replace(self, questions=self.questions[:most])


def read(data: Path, name: str, seed: int) -> Stream:
    passages, questions = _sets(data, name)
    ordered = Random(seed).sample(questions, len(questions))  # noqa: S311  no secret
    return Stream(
        name,
        passages,
        [question.text for question in ordered],
        {question.text: question.label for question in ordered if question.label},
    )


def _sets(data: Path, name: str) -> tuple[Passages, Sequence[LabelledQuestion]]:
    if name == "banking77_en":
        return _banking(data)
    if name == "pira_paraphrase":
        languages = ("pira_en", "pira_pt")
        passages = [
            {**passage, "document_id": f"{language}/{passage['document_id']}"}
            for language in languages
            for passage in _passages(data, language)
        ]
        return passages, _paraphrases(data)
    questions = [
        LabelledQuestion(line["text"], _medical_label(line))
        for line in json_lines.read(data / name / "queries.jsonl.gz")
    ]
    return _passages(data, name), questions


def _medical_label(line: Mapping[str, str]) -> str:
    """What a question of MedQuAD asks, and of which disease; empty for other sets."""
    return f"{line['qtype']} of {line['focus'].casefold()}" if "qtype" in line else ""


def _paraphrases(data: Path) -> Sequence[LabelledQuestion]:
    """Each text once; those that people took for paraphrases have one label."""
    label_of: dict[str, str] = {}

    def root(text: str) -> str:
        while label_of.setdefault(text, text) != text:
            text = label_of[text]
        return text

    for line in json_lines.read(data / "pira_paraphrase" / "pairs.jsonl.gz"):
        first, second = root(line["a"]), root(line["b"])
        if line["label"]:
            label_of[second] = first
    return [LabelledQuestion(text, root(text)) for text in list(label_of)]


def _banking(data: Path) -> tuple[Passages, Sequence[LabelledQuestion]]:
    """It has no passages: some questions of each intent, which nobody asks here, stand for them."""
    examples: defaultdict[str, list[str]] = defaultdict(list)
    questions = []
    for line in json_lines.read(data / "banking77_en" / "pairs.jsonl.gz"):
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


def _passages(data: Path, name: str) -> Passages:
    language = "pt" if name.endswith("_pt") else "en"
    return [
        _passage(line["id"], line["title"] or "", line["text"], language)
        for line in json_lines.read(data / name / "corpus.jsonl.gz")
    ]


def _passage(document_id: str, title: str, text: str, language: str) -> dict[str, Any]:
    return {"document_id": document_id, "title": title, "text": text, "language": language}
