"""Sessions of conversations over HTTP: written whole, or turn by turn.

A session is a document: it is read, shared and deleted as one, and found by each search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from starlette.responses import Response

from gateway.extension import (
    AuthenticatedRequest,
    DocumentBody,
    DocumentServices,
    RequestContext,
    document_id_of,
    document_update,
    may_publish,
    preconditions,
    problems,
    require_editable,
    schemas,
    write_answer,
    written_response,
)
from gateway.extensions.conversations import session_text
from gateway.extensions.conversations.conversation_schemas import (
    SAID_AT,
    SAID_ON,
    SPEAKERS,
    NewTurnsBody,
    ReplacedTurn,
    SessionBody,
)
from gateway.extensions.conversations.stored_session import (
    CHUNKER,
    StoredSession,
    require_session,
    require_short,
    session_of,
)
from index.model.document import Document
from index.model.write_order import CONTENT
from ingest.write.revision import Put, Revise, Written, require_written


@dataclass(frozen=True, slots=True)
class ReplacedMessage:
    """A message of a stored session that a new turn replaces."""

    document_id: str
    message: str
    said_on: str


@dataclass(frozen=True, slots=True)
class _Addition:
    """Messages for the end of a session of this day."""

    caller: AuthenticatedRequest
    said_on: str
    messages: Sequence[str]
    speakers: Sequence[str]

    def revise(self, stored: Document | None) -> Document:
        session = require_session(require_editable(self.caller, stored), "document_id")
        if session.said_on != self.said_on:
            raise problems.conflict("document_id", "The session's day has changed. Send it again.")
        return session.adding(self.messages, self.speakers)


async def put_session(context: RequestContext[DocumentServices]) -> Response:
    """Write a session whole. Turns that were replaced stay so if they are in it again."""
    caller = await context.authenticate()
    document_id = document_id_of(context, schemas.NEW_DOCUMENT_ID)
    body = await context.parse_body(SessionBody)
    messages = await context.threads.run(_messages_of, body)
    written = _document_body(body, session_text.joined(messages))
    put = document_update.put_of(caller, document_id, written, context.services.settings.language)

    def revise(stored: Document | None) -> Document:
        document = put.revise(stored)
        if stored is None or session_of(stored) is None:
            return document
        replaced = session_text.replaced_messages(stored.text)
        return replace(document, text=session_text.joined(messages, replaced))

    return await _write(context, caller, replace(put, revise=revise))


async def add_turns(context: RequestContext[DocumentServices]) -> Response:
    """Add turns at a session's end; all else of it stays as it is stored."""
    caller = await context.authenticate()
    document_id = document_id_of(context)
    body = await context.parse_body(NewTurnsBody)
    session = await _session(context, caller, document_id, "document_id")
    replaced = [
        None if turn.replaces is None else await _replaced(context, caller, turn.replaces, number)
        for number, turn in enumerate(body.turns)
    ]
    messages = await context.threads.run(_added_messages, body, session.said_on, replaced)
    speakers = session_text.speakers_of(body.turns)
    revise: Revise = _Addition(caller, session.said_on, messages, speakers).revise
    others = []
    for each in filter(None, replaced):
        if each.document_id == document_id:
            revise = partial(_with_replaced, revise, each)
        else:
            others.append(each)
    # Before another session is changed, whatever keeps the turns from being added is told.
    preconditions.with_preconditions(context.request, revise)(session.document)
    for each in others:
        editable = partial(_with_replaced, partial(require_editable, caller), each)
        await _put(context, caller, _content(caller, each.document_id, editable))
    return await _write(context, caller, _content(caller, document_id, revise))


def _content(caller: AuthenticatedRequest, document_id: str, revise: Revise) -> Put:
    principal = caller.principal
    author = document_update.author_of(principal)
    return Put(document_id, revise, CONTENT, may_publish(principal), author=author)


async def _session(
    context: RequestContext[DocumentServices],
    caller: AuthenticatedRequest,
    document_id: str,
    path: str,
) -> StoredSession:
    """A `Problem` for the field at `path` if the caller may not change it, or it is none."""
    documents = context.services.stores.documents
    stored = await documents.stored(caller.principal.tenant, document_id)
    return require_session(require_editable(caller, stored.document if stored else None), path)


async def _write(
    context: RequestContext[DocumentServices], caller: AuthenticatedRequest, put: Put
) -> Response:
    """Write the session if it is as the request's preconditions say."""
    tenant = caller.principal.tenant
    revise = preconditions.with_preconditions(context.request, put.revise)
    await preconditions.require_no_queued_write(
        context.request, context.services.stores.jobs, tenant, put.document_id
    )
    written = await _put(context, caller, replace(put, revise=revise))
    return written_response(caller, write_answer(written), written)


async def _put(
    context: RequestContext[DocumentServices], caller: AuthenticatedRequest, put: Put
) -> Written:
    with context.span("write"):
        (outcome,) = await context.services.writer.put_all(caller.principal.tenant, [put])
    return require_written(outcome)


def _messages_of(body: SessionBody) -> list[str]:
    return [session_text.message(turn, body.said_on) for turn in body.turns]


def _document_body(body: SessionBody, text: str) -> DocumentBody:
    require_short(text)
    fields = body.model_dump(exclude={"at", "turns", "title", "metadata"}, exclude_unset=True)
    speakers = session_text.speakers_of(body.turns)
    time = {} if body.at == body.said_on else {SAID_AT: body.at}
    return DocumentBody(
        **fields,
        title=session_text.title(body.title, speakers, body.said_on),
        text=text,
        metadata={**body.metadata, **time, SAID_ON: body.said_on, SPEAKERS: [*speakers]},
        chunker=CHUNKER,
    )


async def _replaced(
    context: RequestContext[DocumentServices],
    caller: AuthenticatedRequest,
    named: ReplacedTurn,
    number: int,
) -> ReplacedMessage:
    """The message that a turn replaces; a `Problem` if the caller may not change its session."""
    path = f"turns.{number}.replaces"
    session = await _session(context, caller, named.document_id, f"{path}.document_id")
    text, start = session.document.text, named.start
    message = await context.threads.run(session_text.message_at, text, start)
    if message is None:
        raise problems.invalid_field(f"{path}.start", "no turn of the session begins there")
    return ReplacedMessage(named.document_id, message, session.said_on)


def _added_messages(
    body: NewTurnsBody, said_on: str, replaced: Sequence[ReplacedMessage | None]
) -> list[str]:
    return [
        session_text.message(turn, said_on, "" if each is None else _note(each))
        for turn, each in zip(body.turns, replaced, strict=True)
    ]


def _note(replaced: ReplacedMessage) -> str:
    return f"{replaced.said_on} {session_text.statement_of(replaced.message)}"


def _with_replaced(revise: Revise, replaced: ReplacedMessage, stored: Document | None) -> Document:
    document = revise(stored)
    text = session_text.without(document.text, replaced.message)
    if text is None:
        raise problems.conflict("turns", "A turn to replace has changed since. Search again.")
    return replace(document, text=text)
