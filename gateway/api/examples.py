"""Examples of bodies for `/openapi.json`: written ones, and ones made of their schemas.

A body or field that has an example in its own model is not listed here. A made example has the
required fields of a request, or the fields that every answer has. Tests validate each against its
model.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_REF_PREFIX = "#/components/schemas/"
_NULL = {"type": "null"}
_DEPTH_MAX = 8  # of a schema that contains itself

REQUESTS: Mapping[str, Any] = {
    "SearchBody": {"query": "How many days of annual leave do I get?", "top_k": 3},
    "AnswerBody": {"query": "How many days of annual leave do I get?", "stream": True},
    "CompressBody": {
        "messages": [
            {"role": "user", "content": "Hello! I moved to Porto. How much leave do I get?"},
            {"role": "assistant", "content": "Everybody gets 25 days of leave a year."},
            {"role": "user", "content": "And in the first year?"},
        ],
        "token_budget": 20,
    },
    "DocumentBody": {
        "title": "Annual leave",
        "text": "Everybody gets 25 days of annual leave a year.",
        "readers": ["group:people"],
        "tags": ["leave"],
        "metadata": {"team": "people"},
    },
    "AccessBody": {"readers": ["tenant"], "active": True},
    "SourceBody": {
        "kind": "folder",
        "settings": {"path": "wiki", "readers": ["tenant"]},
        "schedule": "0 * * * *",
    },
    "SemanticBody": {"error_max": 0.01},
    "FeedbackBody": {"hits": [{"document_id": "team/leave"}, {"chunk_id": 4711}]},
    "PopularityBody": {"counts": "feedback"},
    "TenantBody": {"id": "acme", "name": "Acme Ltd"},
    "KeyBody": {"tenant": "acme", "subject": "ana", "groups": ["people"], "roles": ["writer"]},
    "TokenBody": {"name": "agent", "scopes": ["tenant"], "expires_in_s": 3600},
    "RotateBody": {},
}
# By the name of a field, or of the body and the field.
_BY_FIELD: Mapping[str, Any] = {
    "action": "documents.write",
    "active": True,
    "answer": "You get 25 days a year [1].",
    "cause": "A field of the body has a value that is not allowed.",
    "chunker": "structure",
    "chunk_id": 17,
    "context": None,
    "corrections": None,
    "cursor": None,
    "detail": "Correct top_k.",
    "document_id": "team/leave",
    "end": 46,
    "description": "Rules for everybody",
    "file_id": "file-5f1c",
    "filename": "leave.pdf",
    "group": "people",
    "groups": ["people"],
    "hash": "9b1c6d",
    "id": "9f2c41",
    "item_id": "17",
    "job_id": "job_04d3a3495a556c0a",
    "key": "nh_…",
    "key_id": "key_3f2a",
    "kid": "2025-01",
    "language": "en",
    "languages": ["en"],
    "mark": "[1]",
    "model": "wordllama-l2_supercat-256",
    "min_revision": "17;public=3;of=5f1c2a9b",
    "name": "People",
    "operation": "query",
    "owner": "ana",
    "purpose": "assistants",
    "query": "How many days of annual leave do I get?",
    "question": "How many days of leave do I get?",
    "question_id": "5f1c2a9b",
    "reader": "group:people",
    "readers": ["tenant"],
    "reason": "the subject is a member of people",
    "remedy": "Correct the fields that `errors` lists.",
    "revision": 17,
    "roles": ["reader"],
    "scopes": ["tenant"],
    "score": 0.71,
    "search_query": ["annual leave"],
    "source": "wiki",
    "status_url": "/v1/jobs/job_04d3a3495a556c0a",
    "subject": "ana",
    "tags": ["leave"],
    "tier": "memory",
    "token": "nh_…",
    "target": "key_3f2a",
    "tenant": "acme",
    "text": "Everybody gets 25 days of annual leave a year.",
    "title": "Annual leave",
    "uri": "https://wiki.example/leave",
    "url": "https://wiki.example/hooks",
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    "JobAnswer.kind": "document.write",
    "JobAnswer.target": "document:team/leave",
    "KeyAnswer.id": "key_3f2a",
    "LoggedBody.details": {"documents": {"team/leave": "changed"}},
    "QueuedAnswer.job_id": "job_04d3a3495a556c0a",
    "SourceAnswer.kind": "folder",
    "SourceAnswer.schedule": "0 * * * *",
    "SourceAnswer.settings": {"path": "wiki", "readers": ["tenant"]},
    "ProblemTypeAnswer.statuses": [422],
    "ProblemTypeAnswer.title": "Invalid field",
    "ProblemTypeAnswer.type": "urn:nearhit:problem:invalid-field",
    "TenantAnswer.id": "acme",
    "TenantInventoryAnswer.id": "acme",
    "TenantSummaryBody.id": "acme",
}
_BY_FORMAT: Mapping[str, Any] = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "uri": "https://wiki.example/leave",
}


def of_request(name: str, schemas: Mapping[str, Any]) -> Any:
    """An example of the request body with this name."""
    if name in REQUESTS:
        return REQUESTS[name]
    return _of(schemas[name], schemas, "", only_required=True)


def of_answer(name: str, schemas: Mapping[str, Any]) -> Any:
    """An example of the response body with this name."""
    return _of(schemas[name], schemas, "", only_required=False)


def _of(
    schema: Mapping[str, Any],
    schemas: Mapping[str, Any],
    field: str,
    *,
    only_required: bool,
    depth: int = 0,
) -> Any:
    """An example of the schema; field: the name under which it stands."""

    def of(part: Mapping[str, Any], name: str = field) -> Any:
        return _of(part, schemas, name, only_required=only_required, depth=depth + 1)

    if "$ref" in schema:
        return of(schemas[schema["$ref"].removeprefix(_REF_PREFIX)])
    if "examples" in schema:
        return schema["examples"][0]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        is_left_out = _BY_FIELD.get(field) is None or depth > _DEPTH_MAX
        return None if _NULL in choices and is_left_out else of(_first(choices))
    match schema.get("type"):
        case "object":
            return _object(schema, of, only_required=only_required)
        case "array":
            return _array(schema, of, field) if depth <= _DEPTH_MAX else []
        case kind:
            return _scalar(schema, kind, field)


def _first(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next(choice for choice in choices if choice != _NULL)


def _array(schema: Mapping[str, Any], of: Any, field: str) -> list[Any]:
    listed, item = _BY_FIELD.get(field), schema.get("items", {})
    if isinstance(listed, list) and item.get("type") == "string":
        return listed
    if "prefixItems" in schema:
        return [of(part, "") for part in schema["prefixItems"]]
    return [of(item, "")] if item else []


def _object(schema: Mapping[str, Any], of: Any, *, only_required: bool) -> dict[str, Any]:
    required, body = schema.get("required", ()), schema.get("title")
    shown = {}
    for name, part in schema.get("properties", {}).items():
        if f"{body}.{name}" in _BY_FIELD:
            shown[name] = _BY_FIELD[f"{body}.{name}"]
        elif name in required and "default" not in part:
            shown[name] = of(part, name)
        elif not only_required and part.get("default") is not None:
            shown[name] = part["default"]
    return shown


def _scalar(schema: Mapping[str, Any], kind: str | None, field: str) -> Any:
    own = _BY_FIELD.get(field)
    match kind:
        case "string":
            if schema.get("format") in _BY_FORMAT:
                return _BY_FORMAT[schema["format"]]
            return own if isinstance(own, str) else "leave"
        case "integer":
            return own if isinstance(own, int) else max(1, schema.get("minimum", 1))
        case "number":
            return own if isinstance(own, float) else 0.5
        case "boolean":
            return own if isinstance(own, bool) else False
        case "null":
            return None
        case _:
            return own if own is not None else {}
