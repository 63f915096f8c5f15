"""Retrieval sets: passages, questions, and which passages answer a question."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from loadtests.workload import json_lines

NAMES = (
    *("scifact", "squad_sent_dev", "xquad_en", "faquad_pt", "pira_en", "pira_pt", "medquad_en"),
    *("pira_pt_over_en", "pira_en_over_pt"),
)
# Questions of one set over the passages of another; equal identifiers name the same question.
_BILINGUAL = {"pira_pt_over_en": ("pira_pt", "pira_en"), "pira_en_over_pt": ("pira_en", "pira_pt")}
PIECE_WORDS_MAX = 200  # what Nearhit calls an ordinary chunk

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class SetPassage:
    passage_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """answers: the identifiers of the passages that are right."""

    text: str
    answers: Collection[str]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    name: str
    language: str
    passages: Sequence[SetPassage]
    questions: Sequence[SetQuestion]


def read(data: Path, name: str, questions_max: int) -> RetrievalSet:
    """The set, with at most so many of its questions, drawn by a fixed seed; 0 is all of them."""
    asked_in, answered_in = _BILINGUAL.get(name, (name, name))
    folder = data / answered_in
    passages = [
        SetPassage(line["id"], line["title"] or "", line["text"])
        for line in json_lines.read(folder / "corpus.jsonl.gz")
    ]
    answers = _judgements(folder / "qrels.tsv")
    questions = [
        SetQuestion(line["text"], answers[line["id"]])
        for line in json_lines.read(data / asked_in / "queries.jsonl.gz")
        if line["id"] in answers
    ]
    if questions_max:
        questions = Random(1).sample(questions, min(questions_max, len(questions)))  # noqa: S311
    return RetrievalSet(name, "pt" if answered_in.endswith("_pt") else "en", passages, questions)


def pieces(passage: SetPassage) -> list[str]:
    """The passage's text in pieces of at most PIECE_WORDS_MAX words, cut at sentence ends.

    A longer sentence stays whole.
    """
    pieces_of_words: list[list[str]] = [[]]
    words = 0
    for sentence in _SENTENCE_END.split(passage.text.strip()):
        length = len(sentence.split())
        if pieces_of_words[-1] and words + length > PIECE_WORDS_MAX:
            pieces_of_words.append([])
            words = 0
        pieces_of_words[-1].append(sentence)
        words += length
    return [" ".join(sentences) for sentences in pieces_of_words]


def _judgements(file: Path) -> dict[str, set[str]]:
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for line in file.read_text().splitlines():
        question, passage, relevance = line.split("\t")
        if relevance.isdigit() and int(relevance) > 0:  # the first line may be a head
            answers[question].add(passage)
    return dict(answers)
