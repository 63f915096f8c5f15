"""Earlier answers, given again to admins; the audit log records each look."""

from dataclasses import replace

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    SearchRequest,
    json_response,
    problems,
    require_within_limits,
)
from gateway.extensions.replay.past_search import search_past
from gateway.extensions.replay.past_store import Past
from gateway.extensions.replay.replay_schemas import (
    DifferenceAnswer,
    PastAnswer,
    PastBody,
    ReplayBody,
)
from gateway.extensions.replay.replay_services import ReplayServices
from index.audit.audit_log import append
from index.errors import VectorRefused
from index.model.scope import SCOPE_NAMES
from index.tenants.principals import NO_FILTER, Principal
from index.text import lexical

_FIELD = "as_of_revision"


async def get_past(context: RequestContext[ReplayServices]) -> Response:
    """`GET /v1/replay`."""
    admin = (await context.authenticate()).principal
    return json_response(await _window(context.services, admin.tenant))


async def put_past(context: RequestContext[ReplayServices]) -> Response:
    """`PUT /v1/replay`."""
    admin = (await context.authenticate()).principal
    body = await context.parse_body(PastBody)
    await context.services.store.keep(admin.tenant, body.days)
    return json_response(await _window(context.services, admin.tenant))


async def replay(context: RequestContext[ReplayServices]) -> Response:
    """`POST /v1/search/replay`: the bytes of the answer."""
    body, admin = await _asked(context)
    answer, past = await _answer(context.services, admin, body, body.as_of_revision)
    headers = {
        "Nearhit-Revision": str(past.revision),
        "Nearhit-Replay": "complete" if past.is_complete else "incomplete",
        "Cache-Control": "no-store",
    }
    return Response(answer, headers=headers, media_type="application/json")


async def difference(context: RequestContext[ReplayServices]) -> Response:
    """`POST /v1/search/replay/difference`: by halves, a change that made the answer another one."""
    services = context.services
    body, admin = await _asked(context)
    then, past = await _answer(services, admin, body, body.as_of_revision)
    same, other = past.revision, past.current_revision
    if (await _answer(services, admin, body, other))[0] == then:
        return json_response(
            DifferenceAnswer(is_same=True, revision=None, committed_at=None, documents=[])
        )
    while other - same > 1:
        middle = (same + other) // 2
        if (await _answer(services, admin, body, middle))[0] == then:
            same = middle
        else:
            other = middle
    row = await services.store.changes(admin.tenant, other)
    if row is None:  # the window has ended meanwhile
        raise _outside()
    return json_response(
        DifferenceAnswer(
            is_same=False,
            revision=other,
            committed_at=row["committed_at"],
            documents=row["documents"],
        )
    )


async def _window(services: ReplayServices, tenant: str) -> PastAnswer:
    row = await services.store.window(tenant)
    if row is None:
        nothing = dict.fromkeys(("days", "documents", "chunks", "bytes"), 0)
        unknown = dict.fromkeys(("revision", "since", "current_revision", "forgotten_revision"))
        return PastAnswer.model_validate({**nothing, **unknown})
    return PastAnswer.model_validate(dict(row))


async def _asked(context: RequestContext[ReplayServices]) -> tuple[ReplayBody, Principal]:
    """The body and the admin who asks; the look is in the audit log before it is answered."""
    services, caller = context.services, context.principal
    body = await context.parse_body(ReplayBody)
    require_within_limits(body.search, "search.")
    admin = (await context.authenticate(caller)).principal
    if admin.is_token:
        raise problems.forbidden("A token can't see earlier answers. Use the key itself.")
    if services.search.settings.audit_log == "off":
        raise problems.not_configured("It needs the audit log: NEARHIT_AUDIT_LOG=changes or all.")
    if admin.receives_public:
        detail = (
            "this tenant receives public documents of others, of which it keeps no past versions"
        )
        raise problems.conflict(_FIELD, detail)
    async with services.search.stores.database.transaction() as session:
        await append(
            session,
            admin.tenant,
            "search.replay",
            body.subject or "",
            groups=list(body.groups),
            revision=body.as_of_revision,
        )
    return body, admin


async def _answer(
    services: ReplayServices, admin: Principal, body: ReplayBody, revision: int
) -> tuple[bytes, Past]:
    async with services.store.past(admin.tenant, revision) as past:
        if past is None:
            raise _outside()
        if past.analyser != lexical.ANALYSER:
            raise problems.conflict(_FIELD, "words were analysed otherwise at this revision")
        request = services.search.request_of(await _reader(past, body, admin), body.search)
        _require_replayable(request)
        try:
            searcher = services.search.table_searcher
            result = await search_past(searcher, past, request.scope, request.query)
        except VectorRefused as error:
            raise problems.invalid_field(f"search.{error.field}", str(error)) from None
        if result.degraded:
            raise problems.conflict(
                _FIELD,
                "no embedder here has the vectors of this revision, or a word list is not there",
            )
        answer = await services.search.builder.build(result, request.scope, request.query)
        return answer.body, past


async def _reader(past: Past, body: ReplayBody, admin: Principal) -> Principal:
    """Whom the answer is for, with the memberships of then: all scopes, no filter and no role."""
    if body.subject is None and not body.groups:
        return replace(admin, groups=await past.groups(admin.subject, admin.tenant))
    subject = body.subject or ""  # no document has such an owner, and no reader such a name
    members = await past.groups(subject, admin.tenant) if subject else ()
    return replace(
        admin,
        subject=subject,
        groups=tuple(sorted({*members, *body.groups})),
        roles=(),
        scopes=SCOPE_NAMES,
        filter=NO_FILTER,
    )


def _require_replayable(request: SearchRequest) -> None:
    """A 422 `Problem` if the search asks for more than the index: only that has a past."""
    body, query = request.body, request.query
    if body.is_conversational:
        detail = "must have neither `history` nor `gate`: the query is searched as it is"
        raise problems.invalid_field("search", detail)
    if query.postprocessing is not None:
        detail = "must ask for no reranking and no context: what models have said is not kept"
        raise problems.invalid_field("search", detail)
    if query.reads_popularity:
        raise problems.invalid_field("search.boost.popularity", "past popularity is not kept")


def _outside() -> problems.Problem:
    detail = "is outside of what the tenant keeps: GET /v1/replay tells from which revision on"
    return problems.conflict(_FIELD, detail)
