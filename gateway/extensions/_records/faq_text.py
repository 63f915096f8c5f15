"""A question and its answer as a document has them: the text, and what identifies it."""

from collections.abc import Sequence
from hashlib import blake2b

from index.model.document import normalise


def text_of(question: str, answer: str, keywords: Sequence[str] = ()) -> str:
    """The document's text; it contains the keywords, so that searches find them."""
    parts = [f"# {question}", answer.strip(), *filter(None, [", ".join(keywords)])]
    return normalise("\n\n".join(parts))


def id_of(question: str) -> str:
    """The identifier of a question that is given none."""
    return blake2b(question.casefold().encode(), digest_size=8).hexdigest()
