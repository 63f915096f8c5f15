"""How good each model's answers are, over HTTP: at the defaults, and by vectors alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

from loadtests.bench_index import measures, sets
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.quality import special_questions
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import nearhit
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import new_tenant

PASSAGES_MAX, QUESTIONS_MAX = 200, 100
SETS = ("scifact", "squad_sent_dev", "faquad_pt", "pira_pt_over_en")

Ndcg = Mapping[str, float]  # nDCG@10 by set


def read(data: Path) -> Sequence[RetrievalSet]:
    """Samples of the sets, drawn by a fixed seed; the passages of all questions are in them."""
    intents = special_questions.intents(data)
    return [
        *(sample(sets.read(data, name, QUESTIONS_MAX)) for name in SETS),
        sample(replace(intents, questions=intents.questions[:QUESTIONS_MAX])),
    ]


def sample(whole: RetrievalSet) -> RetrievalSet:
    """At most `PASSAGES_MAX` of the passages, unless more of them answer the questions."""
    relevant = {passage for question in whole.questions for passage in question.relevant}
    others = [passage for passage in whole.passages if passage.passage_id not in relevant]
    count = min(len(others), max(0, PASSAGES_MAX - len(relevant)))
    drawn = Random(1).sample(others, count)  # noqa: S311  the same sample every time
    kept = relevant | {passage.passage_id for passage in drawn}
    passages = [passage for passage in whole.passages if passage.passage_id in kept]
    return replace(whole, passages=passages)


def measure(
    gateway: Service, retrieval_sets: Sequence[RetrievalSet], alphas: Mapping[str, float | None]
) -> dict[str, Ndcg]:
    """nDCG@10 by the name of an alpha, then by set; None is the embedder's own alpha."""
    reached: dict[str, dict[str, float]] = {name: {} for name in alphas}
    for asked in retrieval_sets:
        with new_tenant(gateway, asked.name.replace("_", "-")) as tenant:
            tenant.put(nearhit.documents(asked), lambda _: None)
            for name, alpha in alphas.items():
                options = {} if alpha is None else {"alpha": alpha}
                reached[name][asked.name] = fmean(
                    measures.of(
                        [
                            hit["document_id"]
                            for hit in tenant.search(
                                question.text, top_k=DEPTH, document_hits_max=1, **options
                            )
                        ],
                        question.relevant,
                    ).ndcg
                    for question in asked.questions
                )
    return {name: dict(by_set) for name, by_set in reached.items()}
