"""Real questions in the order in which one tenant's callers ask them.

A set does not say when its questions were asked, so they come in a random order, the same in each
run. A question comes as often as the set has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from loadtests.bench_semantic import public_sets
from loadtests.bench_semantic.public_sets import LabelledQuestion, Passages

NAMES = ("banking77_en", "pira_paraphrase", "medquad_en", "squad_sent_dev", "xquad_en")


@dataclass(frozen=True, slots=True)
class Stream:
    """language: of most questions.

    labels: by question; two questions of unequal labels have different answers, as people say.
        Empty if people have said nothing.
    """

    name: str
    language: str
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
        "en",
        passages,
        [question.text for question in ordered],
        {question.text: question.label for question in ordered if question.label},
    )


def _sets(data: Path, name: str) -> tuple[Passages, Sequence[LabelledQuestion]]:
    if name == "banking77_en":
        return public_sets.banking(data)
    if name == "pira_paraphrase":
        languages = ("pira_en", "pira_pt")
        passages = [
            {**passage, "document_id": f"{language}/{passage['document_id']}"}
            for language in languages
            for passage in public_sets.retrieval_passages(data, language)
        ]
        return passages, _paraphrases(data)
    questions = [
        LabelledQuestion(line["text"], _medical_label(line))
        for line in public_sets.lines(data / name / "queries.jsonl.gz")
    ]
    return public_sets.retrieval_passages(data, name), questions


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

    for line in public_sets.lines(data / "pira_paraphrase" / "pairs.jsonl.gz"):
        first, second = root(line["a"]), root(line["b"])
        if line["label"]:
            label_of[second] = first
    return [LabelledQuestion(text, root(text)) for text in list(label_of)]
