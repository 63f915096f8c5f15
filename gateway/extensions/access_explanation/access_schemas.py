"""The response body of `GET /v1/documents/{id}/access/explain`."""

from pydantic import Field

from gateway.extension import Body


class ReaderExplained(Body):
    reader: str = Field(
        description="a reader token of the document, or `owner:` and the owner's subject"
    )
    matches: bool = Field(description="whether the token lets the subject read the document")
    reason: str


class KeyExplained(Body):
    id: str = Field(description="identifier of the key or token")
    name: str
    can_read: bool = Field(description="whether it can read the document")
    reason: str


class AccessExplained(Body):
    document_id: str
    subject: str
    can_read: bool = Field(
        description="whether the subject can read it, by its identity and its group memberships"
    )
    scopes: tuple[str, ...] = Field(
        description="the scopes in which the subject's searches find the document"
    )
    readers: tuple[ReaderExplained, ...]
    keys: tuple[KeyExplained, ...] = Field(
        description="the subject's valid keys and tokens; each may have more or fewer groups"
    )
