"""A search as it is executed: a canonical query, and the scope that the principal may read."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from cache.keys import answer_key
from gateway.auth.freshness import Freshness, MinRevision, requested_freshness
from gateway.problems import problems
from gateway.search.schemas.search_schemas import SearchBody
from gateway.settings.groups.limits import QUERY_CHARACTERS_MAX, TOP_K_MAX
from index.model import scope
from index.model.query import Filter, PostprocessorNames, Query
from index.model.scope import PUBLIC, Scope
from index.tenants.principals import Principal
from index.text import long_queries

_KEYS_SEEN_MAX = 4  # of one search, which is asked again before and after a change of audiences


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search of this principal; its answer is cached under one of its keys, see `answer_keys`.

    edition:            of the answers.
    form:               digest of the query without its text, which requests of one form share.
    own_key:            equal only for callers with equal grants.
    is_compared:        whether another question's answer may serve it.
    needs_extension:    whether it uses a field that no extension serves.
    keys_seen:          a key and what it was made with, by history and audience revision, for those
                        who see the same; a memory of `key_of`.
    """

    principal: Principal
    body: SearchBody
    scope: Scope
    query: Query
    edition: str
    form: bytes
    own_key: str
    is_compared: bool = False
    needs_extension: bool = False
    keys_seen: dict[tuple[str, int], tuple[str, bytes]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def key_of(self, history: str, audience_revision: int, sight: bytes) -> str:
        """The key of those who see the same.

        sight: the digest of what the scope sees at this audience revision of this history.
        """
        key = _key(self.scope.tenant, sight, self.form, self.query.text, self.edition)
        if len(self.keys_seen) >= _KEYS_SEEN_MAX:
            self.keys_seen.clear()
        self.keys_seen[history, audience_revision] = (key, sight)
        return key

    def group_of(self, sight: bytes) -> str:
        """The key without the text, of questions that may be compared. sight: as of the key."""
        scope_digest = sight or self.scope.fingerprint
        return _key(self.scope.tenant, scope_digest, self.form, "", self.edition)

    def asking(self, question: str) -> "SearchRequest":
        """The same search with another question, which is valid and has no space around it."""
        text = long_queries.normalized(question)
        tenant, grants = self.scope.tenant, self.scope.fingerprint
        return SearchRequest(
            self.principal,
            self.body.model_copy(update={"query": question}),
            self.scope,
            self.query.asking(text),
            self.edition,
            self.form,
            _key(tenant, grants, self.form, text, self.edition),
            self.is_compared,
            self.needs_extension,
        )

    @property
    def asks_in_vain(self) -> bool:
        """Whether it names what is off, or what the principal, as it was read, does not receive."""
        if self.needs_extension:
            return True
        is_named = "scopes" in self.body.model_fields_set and PUBLIC in self.body.scopes
        return is_named and not self.principal.receives_public


def build_search_request(
    principal: Principal,
    body: SearchBody,
    *,
    edition: str,
    postprocessors: PostprocessorNames,
    compares: Callable[[Query], bool] | None,
    fields_off: Collection[str] = (),
) -> SearchRequest:
    """The search, restricted to what the principal may see. edition: of the answers.

    compares: whether a search that allows it may get the answer of another question.
    fields_off: that no extension serves.
    """
    names = [name for name in body.scopes if name in principal.scopes]
    readable = scope.resolve(
        principal.tenant,
        principal.subject,
        principal.groups,
        names,
        receives_public=principal.receives_public,
    )
    query = body.canonical(postprocessors)
    query = replace(
        query,
        filter=query.filter.narrowed(principal.filter),
        corrects="tenant" in principal.scopes and principal.filter == Filter(),
    )
    tenant, grants = readable.tenant, readable.fingerprint
    form = query.asking("").digest
    key = _key(tenant, grants, form, query.text, edition)
    is_compared = body.semantic == "bounded" and compares is not None and compares(query)
    needs_extension = bool(fields_off) and body.first_used(fields_off) is not None
    return SearchRequest(
        principal, body, readable, query, edition, form, key, is_compared, needs_extension
    )


def _key(tenant: str, scope_digest: bytes, form: bytes, text: str, edition: str) -> str:
    """Of an answer; of a group of questions without the text."""
    query = form + text.encode()
    return answer_key(tenant=tenant, scope=scope_digest, query=query, edition=edition)


def require_question(body: SearchBody, path: str = "") -> None:
    """A 422 `Problem` if a search by a vector alone asks for what only words decide."""
    if body.query:
        return
    context = body.context
    needing = {
        "alpha": body.alpha is not None and body.alpha < 1,
        "context.compress": context is not None and context.compress is not False,
        "gate": body.gate is not None,
        "history": "history" in body.model_fields_set,
        "rerank": body.rerank,
    }
    for name, is_used in needing.items():
        if is_used:
            raise problems.invalid_field(f"{path}{name}", "needs a query beside the vector")


def require_within_limits(body: SearchBody, path: str = "") -> None:
    """A 422 `Problem` if a well-formed search exceeds the limits.

    path: of the search in the request's body, with a dot at its end.
    """
    require_question(body, path)
    if len(body.query) > QUERY_CHARACTERS_MAX:
        most = QUERY_CHARACTERS_MAX
        raise problems.invalid_field(f"{path}query", f"must have at most {most:,} characters")
    if body.top_k > TOP_K_MAX:
        raise problems.invalid_field(f"{path}top_k", f"must be at most {TOP_K_MAX:,}")
    if body.rerank and body.candidates > TOP_K_MAX:
        raise problems.invalid_field(f"{path}candidates", f"must be at most {TOP_K_MAX:,}")


def freshness_of(body: SearchBody, min_revision: MinRevision | None, path: str = "") -> Freshness:
    """What the search and the header ask for; a 422 `Problem` if they contradict each other."""
    return requested_freshness(body.consistency, body.max_staleness_ms, min_revision, path)
