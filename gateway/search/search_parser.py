"""Makes a `SearchRequest` of a body; of bodies that differ in the query alone, one is validated.

Agents ask many questions in the same form, and repeat some of them. A body is decoded by the
decoder that also refuses what two readers of JSON may read differently. What remains without the
query is its form: equal forms are equally valid, and mean the same for the same principal.
"""

from collections.abc import Callable

from common.shares.cache import FairCache
from common.shares.threads import TenantThreads
from gateway.bodies import content, schemas
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import SearchRequest, require_within_limits
from gateway.settings.groups.limits import QUERY_CHARACTERS_MAX
from index.tenants.principals import Principal

_REQUESTS_MAX = 1_000  # at most 64 MB with the longest bodies, 2 MB with usual ones
_FORMS_MAX = 1_000


class SearchParser:
    """request_of: makes the request of a principal and a valid body."""

    def __init__(self, request_of: Callable[[Principal, SearchBody], SearchRequest]) -> None:
        self.request_of = request_of
        # By the credential's digest, the query, and the rest of the body, written out with types.
        self._requests: FairCache[tuple[bytes, str, str], SearchRequest] = FairCache(_REQUESTS_MAX)
        self._forms: FairCache[tuple[bytes, str], SearchRequest] = FairCache(_FORMS_MAX)

    def parse(self, principal: Principal, body: bytes) -> SearchRequest:
        """The search that the body asks for. A 400 or 422 `Problem` if it is not valid."""
        fields = content.decode_json(body)
        query = fields.pop("query", None) if isinstance(fields, dict) else None
        if not isinstance(query, str):  # a vector alone, or an error
            return self.parse_other(principal, "body", body, self._validate)
        rest = repr(fields)
        key = (principal.digest, query, rest)
        request = self._requests.get(key)
        if request is None or request.principal is not principal:
            request = self._of_form(principal, query, rest)
            if request is None:
                request = self.request_of(principal, self._validate(body))
            self._requests.put(principal.tenant, key, request)
            self._remember_form(request, rest)
        return request

    def parse_other(
        self, principal: Principal, kind: str, sent: bytes, read: Callable[[bytes], SearchBody]
    ) -> SearchRequest:
        """The search that bytes of this kind ask for. read: reads them; raises a `Problem`."""
        key = (principal.digest, kind, repr(sent))  # no body's rest is written like bytes
        request = self._requests.get(key)
        if request is None or request.principal is not principal:
            request = self.request_of(principal, read(sent))
            self._requests.put(principal.tenant, key, request)
        return request

    async def parse_long(
        self,
        threads: TenantThreads,
        principal: Principal,
        sent: bytes,
        read: Callable[[bytes], SearchBody] | None = None,
    ) -> SearchRequest:
        """The same, read in a thread and not remembered. Raises `Saturated` too."""
        return self.request_of(principal, await threads.run(read or self._validate, sent))

    def _of_form(self, principal: Principal, query: str, rest: str) -> SearchRequest | None:
        """The request, if its form was validated for the principal, and the query is valid in it.

        That is some text within the limit, without controls.
        """
        form = self._forms.get((principal.digest, rest))
        is_short = len(query) <= QUERY_CHARACTERS_MAX
        if form is None or form.principal is not principal or not is_short:
            return None
        return form.asking(query.strip()) if query.isprintable() and query.strip() else None

    def _remember_form(self, request: SearchRequest, rest: str) -> None:
        """Not of a search by a vector alone, nor of one whose query is rewritten or gated."""
        if request.query.text and not request.body.is_conversational:
            digest, tenant = request.principal.digest, request.principal.tenant
            known = self._forms.get((digest, rest))
            if known is None or known.principal is not request.principal:
                self._forms.put(tenant, (digest, rest), request)

    def _validate(self, body: bytes) -> SearchBody:
        search = schemas.parse(SearchBody, body)
        require_within_limits(search)
        return search
