"""Who sees a document and why, as it travels."""

from pydantic import Field

from gateway.schemas import Body


class ReaderExplained(Body):
    reader: str = Field(description="one of the document's readers, or `owner:` and its owner")
    admits: bool = Field(description="whether the subject is let in by it")
    why: str


class KeyExplained(Body):
    id: str
    name: str
    sees: bool
    why: str


class AccessExplained(Body):
    document_id: str
    subject: str
    sees: bool = Field(description="by what the subject is and the groups that it is a member of")
    scopes: tuple[str, ...] = Field(description="those in which a search of its finds the document")
    readers: tuple[ReaderExplained, ...]
    keys: tuple[KeyExplained, ...] = Field(
        description="the subject's keys and tokens that work, which may say more groups, or less"
    )
