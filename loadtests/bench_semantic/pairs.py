"""Question sets over passages, and pairs of questions: one that was answered, one that is asked."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from loadtests.bench_semantic import rewordings

_TRAPS_MAX = 300  # of each family, in each set
_WORDINGS_MAX = 600  # of each set
_BANKING_EXAMPLES = 20  # questions of each intent that are passages

NAMES = (
    *("xquad_en", "faquad_pt", "pira_en", "pira_pt"),
    *("squad_sent_dev", "medquad_en", "banking77_en"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """family: what sort of pair it is.

    same, different   as people judged
    wording           the same question, said a little otherwise, mechanically
    number, negation, opposite, entity
                      a trap: another question, made mechanically by one such change
    traffic           a question that came before, and one that was found to be like it
    """

    family: str
    cached: str
    asked: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """passages: documents as they are written. traffic: questions in the order they are asked."""

    name: str
    language: str
    passages: Sequence[dict[str, Any]]
    traffic: Sequence[str]
    pairs: Sequence[Pair]


def read(data: Path, names: Sequence[str], traffic_max: int, seed: int) -> Iterator[Corpus]:
    """Each set, with at most so many questions of traffic; the seed draws them and all changes."""
    for name in names:
        random = Random(seed)  # noqa: S311  no secret
        if name == "banking77_en":
            yield _banking(data, traffic_max, random)
        else:
            yield _retrieval(data, name, traffic_max, random)


def together(corpora: Iterable[Corpus]) -> Corpus:
    """All of them as one tenant's: the buckets of each alone would see too little to open."""
    passages: list[dict[str, Any]] = []
    all_pairs: list[Pair] = []
    for corpus in corpora:
        renamed = (
            {**passage, "document_id": f"{corpus.name}/{passage['document_id']}"}
            for passage in corpus.passages
        )
        passages += renamed
        all_pairs += corpus.pairs
    return Corpus("all", "", passages, (), all_pairs)


def _retrieval(data: Path, name: str, traffic_max: int, random: Random) -> Corpus:
    language = "pt" if name.endswith("_pt") else "en"
    passages = [
        _passage(line["id"], line["title"] or "", line["text"], language)
        for line in _lines(data / name / "corpus.jsonl.gz")
    ]
    question_lines = list(_lines(data / name / "queries.jsonl.gz"))
    questions = list(dict.fromkeys(line["text"] for line in question_lines))
    traffic = random.sample(questions, min(traffic_max, len(questions)))
    entities = {line["text"]: line["focus"] for line in question_lines if "focus" in line}
    pairs = _made(questions, language, entities, random)
    if name.startswith("pira"):
        pairs += _judged(data, language)
    return Corpus(name, language, passages, traffic, pairs)


def _banking(data: Path, traffic_max: int, random: Random) -> Corpus:
    """It has no passages: some questions of each intent, which nobody asks here, stand for them."""
    examples: defaultdict[str, list[str]] = defaultdict(list)
    questions = []
    for line in _lines(data / "banking77_en" / "pairs.jsonl.gz"):
        if line["split"] == "train" and len(examples[line["label"]]) < _BANKING_EXAMPLES:
            examples[line["label"]].append(line["text"])
        else:
            questions.append(line["text"])
    passages = [
        _passage(f"intent-{number}-{at}", label.replace("_", " "), text, "en")
        for number, (label, texts) in enumerate(sorted(examples.items()))
        for at, text in enumerate(texts)
    ]
    questions = list(dict.fromkeys(questions))
    traffic = random.sample(questions, min(traffic_max, len(questions)))
    return Corpus("banking77_en", "en", passages, traffic, _made(questions, "en", {}, random))


def _judged(data: Path, language: str) -> list[Pair]:
    return [
        Pair("same" if line["label"] else "different", line["a"], line["b"])
        for line in _lines(data / "pira_paraphrase" / "pairs.jsonl.gz")
        if line["lang"] == language and line["a"] != line["b"]
    ]


def _made(
    questions: Sequence[str], language: str, entities: dict[str, str], random: Random
) -> list[Pair]:
    new_pairs: list[Pair] = []
    for family, others in rewordings.made(questions, language, entities, random).items():
        most = _WORDINGS_MAX if family == "wording" else _TRAPS_MAX
        new_pairs += [Pair(family, *pair) for pair in random.sample(others, min(most, len(others)))]
    return new_pairs


def _passage(document_id: str, title: str, text: str, language: str) -> dict[str, Any]:
    return {"document_id": document_id, "title": title, "text": text, "language": language}


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
