"""A comment that names the trace of a statement, as sqlcommenter has it.

asyncpg and PostgreSQL know a prepared statement by its text, and a comment that differs for each
request makes each text a new one. So a commented statement is prepared by itself, run once and
closed; all others have no comment, and stay prepared.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import asyncpg

from index.postgres.functions.function_roles import Connection

_TRACEPARENT = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
# Empty: no comment.
_COMMENT: ContextVar[str] = ContextVar("statement_comment", default="")


@contextmanager
def commenting(traceparent: str) -> Iterator[None]:
    """Let this task's statements name the trace; not behind a pooler. Empty: no comment.

    Raises `ValueError` for any other text, which would be a part of the statements.
    """
    if traceparent and _TRACEPARENT.fullmatch(traceparent) is None:
        raise ValueError("it is no traceparent")
    token = _COMMENT.set(f" /*traceparent='{traceparent}'*/" if traceparent else "")
    try:
        yield
    finally:
        _COMMENT.reset(token)


async def fetch(
    connection: Connection, statement: str, arguments: Sequence[Any]
) -> "list[asyncpg.Record]":
    """The rows of a statement, with the comment of this task if it has one."""
    comment = _COMMENT.get()
    if not comment:
        return await connection.fetch(statement, *arguments)
    prepared = await connection.prepare(statement + comment)
    return await prepared.fetch(*arguments)
