"""`POST /v1/context/events`: what becomes of a context, for as long as its holder listens."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import structlog
from starlette.responses import Response

from cache.protocol import Revisions
from common.errors import Saturated
from gateway.extension import (
    Event,
    EventSender,
    EventStream,
    RequestContext,
    full_scope,
    make_confirmed,
    problems,
    revision_header,
)
from gateway.extensions.context_check.context_check_schemas import ContextEventsBody
from gateway.extensions.context_check.context_services import ContextServices
from gateway.extensions.context_check.held_passages import HeldPassage, PassageState
from gateway.extensions.context_check.passage_bodies import (
    answer_of,
    confirm_states,
    held_of,
    passages_shown,
)
from index.errors import IndexStoreError

LOOK_S = 2.0  # between two looks at the caller's rights and the revisions; a starting value

log = structlog.get_logger()


async def get_context_events(context: RequestContext[ContextServices]) -> Response:
    """Stream the states of all passages, and then of those that change."""
    caller = await context.authenticate()
    body = await context.parse_body(ContextEventsBody)
    held = held_of(caller, body.passages)
    return EventStream(ContextWatch(context, held).send_events, is_long_lived=True)


class _Looked(NamedTuple):
    """states: of all passages. changed: those that the client has not seen, by place."""

    at: tuple[Revisions, int]
    states: Sequence[PassageState]
    changed: Mapping[int, PassageState]


class ContextWatch:
    """Each event is made with the rights of the moment at which it can be sent."""

    def __init__(
        self, context: RequestContext[ContextServices], held: Sequence[HeldPassage]
    ) -> None:
        self._context = context
        self._principal = context.principal
        self._held = held
        self._seen: Sequence[PassageState | None] = [None] * len(held)
        self._seen_at: tuple[Revisions, int] | None = None

    async def send_events(self, send: EventSender) -> None:
        """Send events until the caller's rights end or the client leaves."""
        while True:
            try:
                await send.send_made(self._next_event)
            except problems.Problem as problem:
                if problem.status in (401, 403):
                    await send(Event("ended", {"reason": "revoked"}))
                    return
                log.warning("context_events", state="unavailable", detail=problem.detail)
            except (IndexStoreError, Saturated, TimeoutError) as error:
                log.warning("context_events", state="unavailable", detail=str(error))
            await asyncio.sleep(LOOK_S)
            await send.keep_alive()

    async def _next_event(self) -> Event | None:
        """The states that the client has not seen, confirmed; None without a change."""
        looked = await make_confirmed(self._context, self._look)
        if looked is None:
            return None
        self._seen, self._seen_at = looked.states, looked.at
        if not looked.changed:
            return None
        revision = revision_header(looked.at[0], self._principal.tenant).decode()
        changed = looked.changed.items()
        passages = [{"place": place, **_answer_of(state)} for place, state in changed]
        return Event("states", {"revision": revision, "passages": passages})

    async def _look(self) -> _Looked | None:
        """None if nothing has moved since the states were seen."""
        caller = await self._context.authenticate(self._principal)
        self._principal = principal = caller.principal
        looked_at = (caller.revisions, principal.access_revision)
        if looked_at == self._seen_at:
            return None
        services = self._context.services
        scope = full_scope(caller)
        states = await services.held_passages.check(scope, principal.filter, self._held)
        changed = {
            place: state
            for place, (before, state) in enumerate(zip(self._seen, states, strict=True))
            if before is None or _is_other(before, state)
        }
        confirm_states(principal, changed.values())
        if shown := passages_shown(principal.tenant, changed.values()):
            services.read_log.passages(principal, shown)
        return _Looked(looked_at, states, changed)


def _answer_of(state: PassageState) -> dict[str, Any]:
    at = state.updated_at
    spelt = at and at.isoformat().replace("+00:00", "Z")  # as in every other answer
    return {**answer_of(state), "updated_at": spelt}


def _is_other(before: PassageState, state: PassageState) -> bool:
    """A write that leaves the passage as it is changes the time of the document alone."""
    return (before.state, before.replaced_by) != (state.state, state.replaced_by)
