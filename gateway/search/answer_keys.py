"""The key that the answer to a search is cached under: by what its caller sees, or by its grants.

By what the caller sees (`index/model/sight.py`), so that callers with other grants share answers.
By the grants, if the tenant has turned that off, or if nobody can tell what the caller sees at the
audience revision of the request.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cache.protocol import Revisions
from gateway.search.search_request import SearchRequest
from index.search.sight_reader import Sight, SightReader


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The key of the answer to one search at one audience revision.

    sight: the digest of what its callers see; empty if they are those with equal grants.
    own_key: of callers with equal grants; None if `key` is that one.
    revisions: at which the answer has to be correct, with the audience revision of the key.
    """

    key: str
    sight: bytes
    own_key: str | None
    revisions: Revisions


def known_key(sights: SightReader, search: SearchRequest, revisions: Revisions) -> AnswerKey | None:
    """The key at these revisions; None if what the caller sees has not been read."""
    audience = revisions.audiences.get(search.scope.tenant)
    if audience is None or not search.principal.shares_answers:
        return _by_grants(search, revisions)
    seen = search.keys_seen.get((revisions.history, audience))
    if seen is not None:
        return AnswerKey(*seen, search.own_key, revisions)
    sight = sights.known(search.scope, revisions.history, audience)
    return None if sight is None else _by_sight(search, sight, revisions)


async def read_key(sights: SightReader, search: SearchRequest, revisions: Revisions) -> AnswerKey:
    """The key at these revisions; what the caller sees is read if it has to be."""
    known = known_key(sights, search, revisions)
    if known is not None:
        return known
    audience = revisions.audiences[search.scope.tenant]
    sight = await sights.read(search.scope, revisions.history, audience)
    if sight is None:
        return _by_grants(search, revisions)
    return _by_sight(search, sight, revisions)


def older_keys(
    sights: SightReader, search: SearchRequest, revisions: Revisions
) -> Iterator[AnswerKey]:
    """The known keys of which one may have an answer that is correct at these revisions or later.

    The revisions may be older than the caller's rights: an answer of an earlier audience revision
    may be correct there too.
    """
    current = known_key(sights, search, revisions)
    if current is not None:
        yield current
    if not search.principal.shares_answers:
        return
    tenant = search.scope.tenant
    for sight in sights.recent(search.scope):
        audiences = {tenant: sight.audience_revision}
        if sight.history == revisions.history and audiences != revisions.audiences:
            yield _by_sight(search, sight, replace(revisions, audiences=audiences))


def latest_key(sights: SightReader, search: SearchRequest) -> AnswerKey | None:
    """The key at the audience revision that was read last; None if none was.

    Its revisions hold the audience revision alone.
    """
    tenant = search.scope.tenant
    if not search.principal.shares_answers:
        return _by_grants(search, Revisions(search.principal.history, {}))
    sight = next(iter(sights.recent(search.scope)), None)
    if sight is None:
        return None
    audiences = {tenant: sight.audience_revision}
    return _by_sight(search, sight, Revisions(sight.history, {}, audiences))


def _by_sight(search: SearchRequest, sight: Sight, revisions: Revisions) -> AnswerKey:
    if sight.digest is None:
        return _by_grants(search, revisions)
    key = search.key_of(sight.history, sight.audience_revision, sight.digest)
    return AnswerKey(key, sight.digest, search.own_key, revisions)


def _by_grants(search: SearchRequest, revisions: Revisions) -> AnswerKey:
    return AnswerKey(search.own_key, b"", None, revisions.without_audiences())
