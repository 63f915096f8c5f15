"""Question sets over passages, and pairs of questions: one that was answered, one that is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from loadtests.bench_semantic import public_sets, rewordings
from loadtests.bench_semantic.public_sets import Passages

_TRAPS_MAX = 300  # of each family, in each set
_WORDINGS_MAX = 600  # of each set

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
    """traffic: questions in the order they are asked."""

    name: str
    language: str
    passages: Passages
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


def _retrieval(data: Path, name: str, traffic_max: int, random: Random) -> Corpus:
    language = public_sets.language_of(name)
    question_lines = list(public_sets.lines(data / name / "queries.jsonl.gz"))
    questions = list(dict.fromkeys(line["text"] for line in question_lines))
    traffic = random.sample(questions, min(traffic_max, len(questions)))
    entities = {line["text"]: line["focus"] for line in question_lines if "focus" in line}
    pairs = _made(questions, language, entities, random)
    if name.startswith("pira"):
        pairs += _judged(data, language)
    return Corpus(name, language, public_sets.retrieval_passages(data, name), traffic, pairs)


def _banking(data: Path, traffic_max: int, random: Random) -> Corpus:
    passages, labelled = public_sets.banking(data)
    questions = list(dict.fromkeys(question.text for question in labelled))
    traffic = random.sample(questions, min(traffic_max, len(questions)))
    return Corpus("banking77_en", "en", passages, traffic, _made(questions, "en", {}, random))


def _judged(data: Path, language: str) -> list[Pair]:
    return [
        Pair("same" if line["label"] else "different", line["a"], line["b"])
        for line in public_sets.lines(data / "pira_paraphrase" / "pairs.jsonl.gz")
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
