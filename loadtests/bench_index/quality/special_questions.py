"""Questions of special kinds, over HTTP: intents, one word, dates in words, names with signs."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.sets import RetrievalSet, SetPassage, SetQuestion
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service
from loadtests.workload import json_lines

_QUESTIONS = 300
# The first measurement, less 0.03.
_FIRST_HIT_MIN = {"intents": 0.71, "one word": 0.77, "dates": 0.97, "signs": 0.97}
_EXAMPLES = 10  # questions that stand for an intent
_RARE_PASSAGES_MAX = 3  # that hold the word of a question
_HOW = (
    "*Intents*: ten questions of each of the 77 intents of banking77 are the passages, and others "
    "are asked; a passage of the same intent is relevant. *One word*: a word of a passage that at "
    "most three passages of xquad_en hold. *Dates*: minutes of meetings with a date such as "
    "2025-03-05, asked for as 5 March 2025 or March 5, 2025. *Signs*: how to do one thing in one "
    "programming language, such as C, C++ or C#; passages of other languages say the same "
    "otherwise. The last two are made up. The first hit: the share of questions whose first hit is "
    "relevant."
)
_MONTHS = "January February March April May June July August September October November December"
_WORD = re.compile(r"[a-z]{4,}")
_TOPICS = (
    "backups in the harbour office, whose discs are full",
    "a new ferry line, and what its tickets cost",
    "parking at the station during the works",
    "the summer party and its music",
)
_LANGUAGES = ("C", "C++", "C#", "F#", "R", "Go", "D", "Objective-C", "Visual Basic", "ASP.NET")
_TASKS = {
    "read a file": "Open the file, take one line after the other, and close it in the end.",
    "sort a list": "Compare two elements at a time, and swap them until the order is right.",
    "start a thread": "Give the thread a function, start it, and wait until it has ended.",
    "parse a date": "Split the text at its marks, and turn each part into a number.",
    "send a request": "Open a connection, write the head and the body, and read the answer.",
    "hash a password": "Draw a salt, run the slow function, and store both together.",
}


def measure(run: IndexRun) -> Section:
    makers: Mapping[str, Callable[[Path], RetrievalSet]] = {
        "intents": intents,
        "one word": _one_word,
        "dates": lambda _: _dates(),
        "signs": lambda _: _signs(),
    }
    rows, figures = [], dict[str, tuple[int, float, float]]()
    with service.nearhit() as gateway, run.progress() as progress:
        for name, make in progress.track(makers.items(), description="special questions"):
            asked = make(run.data)
            rankings = nearhit.rankings(asked, gateway)
            pairs = list(zip(rankings, asked.questions, strict=True))
            first = fmean(bool(ranked) and ranked[0] in q.relevant for ranked, q in pairs)
            ndcg = fmean(measures.of(ranked, q.relevant).ndcg for ranked, q in pairs)
            figures[name] = (len(asked.questions), first, ndcg)
            rows.append((name, f"{len(asked.questions)}", f"{first:.3f}", f"{ndcg:.3f}"))
    head = ("kind", "questions", "first hit", "nDCG@10")
    return Section(
        title="Special questions",
        text=f"{_HOW}\n\n{table(head, rows)}",
        figures={"first_hit_and_ndcg": figures},
        bars=[
            Bar(f"first hit of {name}", figures[name][1], at_least=bar)
            for name, bar in _FIRST_HIT_MIN.items()
        ],
    )


def intents(data: Path) -> RetrievalSet:
    """Questions of banking77 over ten examples of each intent."""
    questions = list(json_lines.read(data / "banking77_en" / "pairs.jsonl.gz"))
    random = Random(1)  # noqa: S311  the same choice every time
    random.shuffle(questions)
    passages, asked = [], []
    examples: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for question in questions:
        of_intent = examples[question["label"]]
        if question["split"] == "train" and len(of_intent) < _EXAMPLES:
            of_intent[question["id"]] = 1.0
            passages.append(SetPassage(question["id"], "", question["text"]))
        elif question["split"] != "train":
            asked.append(question)
    return RetrievalSet(
        "banking77",
        "en",
        passages,
        [SetQuestion(each["text"], examples[each["label"]]) for each in asked[:_QUESTIONS]],
    )


def _one_word(data: Path) -> RetrievalSet:
    xquad = sets.read(data, "xquad_en", 1)
    holders: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for passage in xquad.passages:
        for word in _WORD.findall(passage.text.lower()):
            holders[word][passage.passage_id] = 1.0
    words = [
        word for word, passages in sorted(holders.items()) if len(passages) <= _RARE_PASSAGES_MAX
    ]
    chosen = Random(1).sample(words, _QUESTIONS)  # noqa: S311  the same choice every time
    questions = [SetQuestion(word, holders[word]) for word in chosen]
    return RetrievalSet("one_word", "en", xquad.passages, questions)


def _dates() -> RetrievalSet:
    days = [date(2024, 1, 3) + timedelta(days=5 * number) for number in range(_QUESTIONS)]
    passages = [
        SetPassage(
            day.isoformat(),
            "",
            f"Minutes of the meeting of {day.isoformat()}. The board spoke about {topic}.",
        )
        for day, topic in zip(days, _TOPICS * len(days), strict=False)
    ]
    questions = [
        SetQuestion(f"What was decided on {_in_words(day, number)}?", {day.isoformat(): 1.0})
        for number, day in enumerate(days)
    ]
    return RetrievalSet("dates", "en", passages, questions)


def _in_words(day: date, number: int) -> str:
    month = _MONTHS.split()[day.month - 1]
    return f"{month} {day.day}, {day.year}" if number % 2 else f"{day.day} {month} {day.year}"


def _signs() -> RetrievalSet:
    passages = [
        SetPassage(f"{language} {task}", "", f"How to {task} in {language}. {text}")
        for language, (task, text) in product(_LANGUAGES, _TASKS.items())
    ]
    return RetrievalSet("signs", "en", passages, list(_sign_questions()))


def _sign_questions() -> Iterator[SetQuestion]:
    forms = ("How do I {task} in {language}?", "{language}: {task}", "{task} with {language}")
    for language, task in product(_LANGUAGES, _TASKS):
        for form in forms:
            text = form.format(task=task, language=language)
            yield SetQuestion(text, {f"{language} {task}": 1.0})
