"""Sessions of conversations are written turn by turn, and each turn is found by itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, DocumentServices, Extension, Services, WrittenAnswer
from gateway.extensions.conversations.conversation_endpoints import add_turns, put_session
from gateway.extensions.conversations.conversation_schemas import NewTurnsBody, SessionBody

_PATH = "/v1/conversations/{document_id:path}"
_ROUTES: tuple[ApiRoute[DocumentServices], ...] = (
    ApiRoute(
        "PUT",
        _PATH,
        put_session,
        needs="writer",
        summary="Write a session of a conversation as a document whose turns are found singly",
        body=SessionBody,
        body_bytes_max=lambda settings: settings.document_inline_bytes_max,
        answer=WrittenAnswer,
        has_preconditions=True,
    ),
    ApiRoute(
        "POST",
        _PATH,
        add_turns,
        needs="writer",
        summary="Add turns to a session of a conversation",
        body=NewTurnsBody,
        body_bytes_max=lambda settings: settings.document_inline_bytes_max,
        answer=WrittenAnswer,
        has_preconditions=True,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[DocumentServices]:
    yield services.documents


EXTENSION = Extension(
    summary="sessions of conversations are written, and each of their turns is found by itself",
    routes=_ROUTES,
    open=_open,
)
