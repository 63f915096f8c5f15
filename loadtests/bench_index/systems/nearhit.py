"""Nearhit, used over HTTP with a key."""

from collections.abc import Iterable, Mapping, Sequence

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.sets import RetrievalSet, SetPassage, SetQuestion
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
    *,
    variant: str = "",
    readers: Sequence[str] = ("tenant",),
) -> list[list[str]]:
    """The passages found for each question, best first.

    variant: distinguishes tenants of one set. readers: of the passages.
    """
    (found,) = rankings_by_setting(retrieval_set, gateway, [{}], variant=variant, readers=readers)
    return found


def rankings_by_setting(
    retrieval_set: RetrievalSet,
    gateway: Service,
    settings: Iterable[Mapping[str, object]],
    *,
    variant: str = "",
    readers: Sequence[str] = ("tenant",),
) -> list[list[list[str]]]:
    """As `rankings`, for each setting: more fields of each search."""
    name = "-".join((retrieval_set.name, *filter(None, [variant]))).replace("_", "-")
    groups = [reader.removeprefix("group:") for reader in readers if reader.startswith("group:")]
    with new_tenant(gateway, name, groups) as tenant:
        tenant.put(documents(retrieval_set, readers))

        def found(question: SetQuestion, setting: Mapping[str, object]) -> list[str]:
            hits = tenant.search(question.text, top_k=DEPTH, document_hits_max=1, **setting)
            return [hit["document_id"] for hit in hits]

        return [
            [found(question, setting) for question in retrieval_set.questions]
            for setting in settings
        ]


def documents(
    retrieval_set: RetrievalSet, readers: Sequence[str] = ("tenant",)
) -> list[dict[str, object]]:
    """The passages as documents; in the set's language, or undeclared if that is empty."""

    def document(passage: SetPassage) -> dict[str, object]:
        fields = {"document_id": passage.passage_id, "title": passage.title, "text": passage.text}
        language = {"language": retrieval_set.language} if retrieval_set.language else {}
        return {**fields, **language, "readers": list(readers)}

    return [document(passage) for passage in retrieval_set.passages]
