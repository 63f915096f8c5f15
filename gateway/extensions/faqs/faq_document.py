"""A FAQ and its document, each made from the other; does no I/O.

The question is the title, and the text is the question, the answer and the keywords. Category and
keywords are tags. A FAQ that is inactive is an inactive document.
"""

from collections.abc import Callable
from typing import Any

from gateway.extension import problems
from gateway.extensions._records.faq_text import text_of
from gateway.extensions.faqs.faq_schemas import PRIORITY_MAX, FaqAnswer, FaqBody
from index.model.document import FAQ_SOURCE, Document
from index.text import language_detection

_PREFIX = f"{FAQ_SOURCE}/"


def document_id_of(faq_id: str) -> str:
    return _PREFIX + faq_id


def id_of(document_id: str) -> str:
    return document_id.removeprefix(_PREFIX)


def to_document(faq_id: str, body: FaqBody, default_language: str) -> Document:
    category = () if body.category is None else (body.category,)
    keywords = tuple(word for word in dict.fromkeys(body.keywords) if word != body.category)
    metadata: dict[str, Any] = {"priority": body.priority}
    if body.category is not None:
        metadata["category"] = body.category
    text = text_of(body.question, body.answer, keywords)
    return Document(
        document_id=document_id_of(faq_id),
        title=body.question,
        text=text,
        source=FAQ_SOURCE,
        uri="",
        language=body.language or language_detection.detect_surely(text) or default_language,
        tags=(*category, *keywords),
        metadata=metadata,
        owner=None,
        readers=body.readers,
        chunker="whole",
        is_active=body.active,
    )


def is_faq(document: Document | None) -> bool:
    """Whether it is a FAQ: only an admin writes a document that nobody owns."""
    return (
        document is not None
        and document.source == FAQ_SOURCE
        and document.owner is None
        and document.document_id.startswith(_PREFIX)
    )


def revised(document: Document) -> Callable[[Document | None], Document]:
    """The write of a FAQ; it refuses to replace a document that is none, with a 409 `Problem`."""

    def revise(stored: Document | None) -> Document:
        if stored is not None and not is_faq(stored):
            raise problems.conflict(
                "id", f"The document {stored.document_id} is no FAQ. Choose another id."
            )
        return document

    return revise


def to_faq(document: Document) -> FaqAnswer:
    """The FAQ of a document, also of one that was edited as a document since."""
    category = document.metadata.get("category")
    keywords = tuple(tag for tag in document.tags if tag != category)
    return FaqAnswer(
        id=id_of(document.document_id),
        document_id=document.document_id,
        question=document.title,
        answer=_answer_of(document, keywords),
        category=category if isinstance(category, str) else None,
        keywords=keywords,
        priority=_priority_of(document.metadata.get("priority")),
        active=bool(document.is_active) and bool(document.readers),
        language=document.language,
        readers=document.readers or ("tenant",),
    )


def _answer_of(document: Document, keywords: tuple[str, ...]) -> str:
    """The text without the question before and the keywords after it."""
    answer = document.text.removeprefix(f"# {document.title}\n\n")
    return answer.removesuffix(f"\n\n{', '.join(keywords)}") if keywords else answer


def _priority_of(value: object) -> int:
    """As the list orders it: a value of another type counts as 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(-PRIORITY_MAX, min(PRIORITY_MAX, int(value)))
