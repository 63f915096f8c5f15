"""A line of the request, and one of the response."""

from pydantic import Field

from gateway.extension import DocumentBody, WrittenAnswer, with_example
from index.model.document import NewDocumentId


class BatchLine(DocumentBody):
    model_config = with_example(document_id="team/leave", text="Everybody gets 25 days.")

    document_id: NewDocumentId


class BatchLineAnswer(WrittenAnswer):
    min_revision: str = Field(
        description="the `Nearhit-Min-Revision` of requests whose answers must contain the write"
    )
