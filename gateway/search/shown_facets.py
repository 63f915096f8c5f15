"""Whether a late answer may still show its facets."""

from dataclasses import replace

import orjson

from gateway.bodies.answer_codec import decode_in_steps
from gateway.search.schemas.facet_schemas import FACET_VALUES_MAX
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.search_connections import SearchStatements
from index.search.tables import facets


async def are_facets_visible(
    statements: SearchStatements, scope: Scope, query: Query, body: bytes
) -> bool:
    """Whether each value that the answer shows is among the most frequent of now.

    A count may be an earlier one. Raises `DatabaseUnavailable` and `Saturated`.
    """
    now = await facets.read(statements, scope, replace(query, facet_values_max=FACET_VALUES_MAX))
    shown = (await decode_in_steps(body))["facets"]["fields"]
    return all(
        {orjson.dumps(each["value"]) for each in facet["values"]}
        <= {orjson.dumps(each.value) for each in now.fields[name].values}
        for name, facet in shown.items()
    )
