"""The JSON schemas of path and query parameters."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from gateway.bodies import schemas
from gateway.http.route import Parameter

Schema: TypeAlias = Mapping[str, Any]

_ID: Schema = schemas.ID.json_schema()
_SUBJECT: Schema = schemas.SUBJECT.json_schema()
_SOURCE: Schema = schemas.SOURCE.json_schema()
_TENANT: Schema = schemas.TENANT.json_schema()

IN_PATH: Mapping[str, Schema] = {
    "document_id": schemas.DOCUMENT_ID.json_schema(),
    "group": schemas.GROUP.json_schema(),
    "job_id": _ID,
    "key_id": _ID,
    "name": schemas.GATE.json_schema(),
    "source": _SOURCE,
    "subject": _SUBJECT,
    "tenant": _TENANT,
    "type": schemas.LINE.json_schema(),
}


def one_of(*values: str) -> Parameter:
    return Parameter({"type": "string", "enum": list(values)})


def cursor(pattern: str | None = None) -> Parameter:
    constraint = {} if pattern is None else {"pattern": pattern}
    return Parameter(
        {"type": "string", "description": "`cursor` of the previous page"} | constraint
    )


def limit(maximum: int = 100) -> Parameter:
    return Parameter({"type": "integer", "minimum": 1, "maximum": maximum})


DAY = Parameter({"type": "string", "format": "date"})
INSTANT = Parameter({"type": "string", "format": "date-time"})
LINE = Parameter(schemas.LINE.json_schema())
SUBJECT = Parameter(_SUBJECT, is_required=True)
TENANT = Parameter(_TENANT)

LINE_CURSOR = LINE
NUMBER_CURSOR = cursor("^[0-9]{1,18}$")
