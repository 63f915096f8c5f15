"""What a search's body asks for, coming from whoever sent it: a question, and for whom."""

from dataclasses import dataclass, replace

from cache.keys import answer_key
from gateway import problems
from gateway.rag.postprocessor_names import PostprocessorNames
from gateway.search.search_schemas import SearchBody
from gateway.settings import Settings
from index.model import scope
from index.model.query import Query
from index.model.scope import Scope
from index.tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What a search's body asks for, coming from this principal.

    family: of the questions whose answers may do for each other; empty if only its own will do.
    """

    principal: Principal
    scope: Scope
    query: Query
    key: str
    question_group: str
    max_staleness_s: float


def build_search_request(
    principal: Principal, asked: SearchBody, *, edition: str, helpers: PostprocessorNames
) -> SearchRequest:
    """edition: of answers. What the principal may not see is not wanted."""
    names = [name for name in asked.scopes if name in principal.scopes]
    seen = scope.resolve(principal.tenant, principal.subject, principal.groups, names)
    query = asked.canonical(helpers)
    query = replace(query, filter=query.filter.narrowed(principal.filter))
    key = _key(seen, query, edition)
    family = "" if asked.semantic == "off" else _key(seen, replace(query, text=""), edition)
    return SearchRequest(principal, seen, query, key, family, asked.max_staleness_ms / 1000)


def _key(seen: Scope, query: Query, edition: str) -> str:
    fingerprint, digest = seen.fingerprint, query.digest
    return answer_key(tenant=seen.tenant, scope=fingerprint, query=digest, edition=edition)


def require_within_limits(asked: SearchBody, settings: Settings, within: str = "") -> None:
    """A 422 `Problem` for what is well-formed, and more than this server gives.

    within: the path of the search in the body, with a dot at its end.
    """
    if len(asked.query) > settings.query_characters_max:
        most = settings.query_characters_max
        raise problems.invalid_field(f"{within}query", f"must have at most {most:,} characters")
    if asked.top_k > settings.top_k_max:
        raise problems.invalid_field(f"{within}top_k", f"must be at most {settings.top_k_max:,}")
    if asked.rerank and asked.candidates > settings.top_k_max:
        most = settings.top_k_max
        raise problems.invalid_field(f"{within}candidates", f"must be at most {most:,}")
