"""The HTTP call of each write."""

from pathlib import PurePosixPath
from typing import Any
from zlib import crc32

import orjson

from loadtests.load.request import Call
from loadtests.workload.writes import (
    JoinGroup,
    LeaveGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    Write,
)

_LATER = (("Prefer", "respond-async"),)


def of(write: Write, access: dict[str, Any]) -> Call:
    """access: the owner and readers of the document after the write, and its source."""
    match write:
        case PutDocument(_, document_id, text, _, delivery):
            fields = {"title": PurePosixPath(document_id).stem, "text": text, **access}
            if delivery == "batch":
                line = orjson.dumps({"document_id": document_id, **fields})
                return Call("POST", "/v1/documents/batch", line)
            headers = _LATER if delivery == "queued" else ()
            body = orjson.dumps(fields)
            return Call("PUT", f"/v1/documents/{document_id}", body, headers=headers)
        case ShareDocument(_, document_id):
            return Call("PATCH", f"/v1/documents/{document_id}/access", orjson.dumps(access))
        case RemoveDocument(_, document_id):
            return Call("DELETE", f"/v1/documents/{document_id}")
        case JoinGroup(_, group, subject):
            return Call("PUT", f"/v1/groups/{group}/members/{subject}")
        case LeaveGroup(_, group, subject):
            return Call("DELETE", f"/v1/groups/{group}/members/{subject}")


def about(write: Write) -> str:
    """The tenant, and the document or the subject that the write changes."""
    match write:
        case PutDocument() | RemoveDocument() | ShareDocument():
            return f"{write.tenant} {write.document_id}"
        case JoinGroup() | LeaveGroup():
            return f"{write.tenant} {write.subject}"


def lane(write: Write, lanes: int) -> int:
    """The lane of a document or subject, from 0 to lanes - 1: a lane sends its writes in order."""
    return crc32(about(write).encode()) % lanes


def label(write: Write) -> str:
    """The kind of write, for counters and reports."""
    return type(write).__name__.removesuffix("Document").removesuffix("Group").lower()
