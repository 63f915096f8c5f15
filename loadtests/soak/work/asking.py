"""One read and its answer, if there is anything to judge."""

import time

from loadtests.load.connection_pool import ConnectionPool
from loadtests.load.response import HttpResponse
from loadtests.soak import reads
from loadtests.soak.audit import ObservedAnswer
from loadtests.soak.model.credentials import IssuedCredential
from loadtests.soak.reads import Read
from loadtests.soak.work.context import SoakContext

_UNAUTHORIZED = 401
_OK = 200


async def ask(
    context: SoakContext,
    connection: ConnectionPool,
    gateway: int,
    credential: IssuedCredential,
    read: Read,
) -> ObservedAnswer | None:
    """None if the read was rejected, or PostgreSQL's history has changed meanwhile."""
    state, epoch, viewer = context.state, context.state.epoch, credential.viewer
    asked_s = time.monotonic() - read.staleness_ms / 1000
    floors = {name: state.floors.at(name, asked_s) for name in (viewer.tenant, "public")}
    reply = await context.send(connection, read.call, credential.secret, read.path)
    answered_s = time.monotonic()
    if reply is None:
        return None
    if epoch != state.epoch or asked_s < state.epoch_s:
        context.audit.counts["not_judged"] += 1
        return None
    if not _is_let_in(context, credential, read, reply, asked_s, answered_s):
        return None
    content = reads.shown(read, reply)
    if content is None:
        context.fail(f"{read.path}: {reply.summary}", read.path, asked_s)
        return None
    return ObservedAnswer(
        viewer=viewer,
        read=read,
        gateway=gateway,
        asked_s=asked_s,
        answered_s=answered_s,
        floors=floors,
        revisions=reply.revisions(viewer.tenant),
        tier=reply.tier,
        shown=content,
        is_degraded=reply.is_degraded,
    )


async def compare(context: SoakContext, answer: ObservedAnswer, kind: str) -> None:
    """Compare with a fresh search, unless a write that matters came between."""
    viewer, state = answer.viewer, context.state
    epoch, changes = state.epoch, state.rights.changes(viewer.tenant, viewer.subject)
    groups = state.rights.groups(viewer.tenant, viewer.subject)
    counting = groups if viewer.groups is None else groups & viewer.groups
    fresh = await context.oracle.read(viewer, counting, answer.read)
    is_same = changes % 2 == 0 and changes == state.rights.changes(viewer.tenant, viewer.subject)
    if fresh is not None and is_same and epoch == state.epoch:
        context.audit.compare(answer, fresh, kind)


def _is_let_in(
    context: SoakContext,
    credential: IssuedCredential,
    read: Read,
    reply: HttpResponse,
    asked_s: float,
    answered_s: float,
) -> bool:
    """Whether the credential was accepted; a wrong decision is a violation."""
    standing = credential.standing(asked_s, answered_s)
    if reply.status == _UNAUTHORIZED:
        context.audit.counts["refused"] += standing == "ended"
        if standing == "works":
            context.fail(f"{read.path}: 401 for a credential that works", read.path, asked_s)
        return False
    if standing == "ended":
        if reply.status == _OK:
            reasons = credential.reasons(asked_s)
            context.audit.let_in(credential.viewer, read.path, reasons)
        return False
    return True
