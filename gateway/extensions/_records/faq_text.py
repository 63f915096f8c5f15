"""The text of a question and its answer, as a document has it."""

from collections.abc import Sequence

from index.model.document import normalise


def text_of(question: str, answer: str, keywords: Sequence[str] = ()) -> str:
    """The document's text; it contains the keywords, so that searches find them."""
    parts = [f"# {question}", answer.strip(), *filter(None, [", ".join(keywords)])]
    return normalise("\n\n".join(parts))
