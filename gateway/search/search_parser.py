"""Makes a `SearchRequest` of a body; of bodies that differ in the query alone, one is validated.

Agents ask many questions in the same form, and repeat some of them. A body is decoded each time, by
the decoder that also refuses what two readers of JSON may read differently. What remains without
the query is its form: equal forms are equally valid, and mean the same for the same principal.
"""

from collections.abc import Callable

from common.shares.cache import FairCache
from gateway import content, schemas
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import SearchRequest, require_within_limits
from gateway.settings.settings import Settings
from index.tenants.principals import Principal

_REQUESTS_MAX = 1_000  # at most 64 MB with the longest bodies, 2 MB with usual ones
_FORMS_MAX = 1_000


class SearchParser:
    """request_of: makes the request of a principal and a valid body."""

    def __init__(
        self, settings: Settings, request_of: Callable[[Principal, SearchBody], SearchRequest]
    ) -> None:
        self._settings = settings
        self.request_of = request_of
        # By the credential's digest, the query, and the rest of the body, written out with types.
        self._requests: FairCache[tuple[bytes, str, str], SearchRequest] = FairCache(_REQUESTS_MAX)
        self._forms: FairCache[tuple[bytes, str], SearchRequest] = FairCache(_FORMS_MAX)

    def parse(self, principal: Principal, body: bytes) -> SearchRequest:
        """The search that the body asks for. A 400 or 422 `Problem` if it is not valid."""
        fields = content.decode_json(body)
        query = fields.pop("query", None) if isinstance(fields, dict) else None
        if not isinstance(query, str) or not self._is_plain(query):
            return self._validate(principal, body)
        rest = repr(fields)
        request = self._requests.get((principal.digest, query, rest))
        if request is not None and request.principal is principal:
            return request
        form = self._forms.get((principal.digest, rest))
        if form is not None and form.principal is principal:
            request = form.asking(query.strip())
        else:
            request = self._validate(principal, body)
            if not request.body.is_conversational:
                self._forms.put(principal.tenant, (principal.digest, rest), request)
        if not request.body.is_conversational:
            self._requests.put(principal.tenant, (principal.digest, query, rest), request)
        return request

    def parse_other(
        self, principal: Principal, sent: bytes, read: Callable[[bytes], SearchBody]
    ) -> SearchRequest:
        """The search that bytes of another kind ask for. read: reads them; raises a `Problem`."""
        key = (principal.digest, "", repr(sent))  # no body's rest is written like bytes
        request = self._requests.get(key)
        if request is None or request.principal is not principal:
            request = self.request_of(principal, read(sent))
            self._requests.put(principal.tenant, key, request)
        return request

    def _is_plain(self, query: str) -> bool:
        """Whether the query is valid in each form: some text within the limit, and no controls."""
        is_short = len(query) <= self._settings.query_characters_max
        return is_short and query.isprintable() and query.strip() != ""

    def _validate(self, principal: Principal, body: bytes) -> SearchRequest:
        search = schemas.parse(SearchBody, body)
        require_within_limits(search, self._settings)
        return self.request_of(principal, search)
