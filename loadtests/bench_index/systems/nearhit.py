"""Nearhit, used over HTTP with a key."""

from collections.abc import Callable

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.sets import RetrievalSet
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import new_tenant

HOW = (
    "one tenant a set, one document a passage, written by `POST /v1/documents/batch` with the "
    "set's language and for the whole tenant; `POST /v1/search` with `top_k` 10 and "
    "`document_hits_max` 1, all else as it is by default"
)


def rankings(
    retrieval_set: RetrievalSet,
    gateway: Service,
    advance: Callable[[int], object],
    **options: object,
) -> list[list[str]]:
    """The passages found for each question, best first. options: more fields of each search."""
    documents = [
        {
            "document_id": passage.passage_id,
            "title": passage.title,
            "text": passage.text,
            "language": retrieval_set.language,
            "readers": ["tenant"],  # slips are corrected by words that the whole tenant may read
        }
        for passage in retrieval_set.passages
    ]
    name = "-".join((retrieval_set.name, *options)).replace("_", "-")
    with new_tenant(gateway, name) as tenant:
        tenant.put(documents, advance)
        hit_lists = [
            tenant.search(question.text, top_k=DEPTH, document_hits_max=1, **options)
            for question in retrieval_set.questions
        ]
    return [[hit["document_id"] for hit in hits] for hits in hit_lists]
