"""The written types of the search functions are those that PostgreSQL finds in the statements."""

import re
from collections.abc import Sequence

import pytest

from index.postgres.functions import security_definer_functions
from index.postgres.functions.function_roles import Connection
from index.postgres.functions.function_signatures import SIGNATURES, Signature

pytestmark = pytest.mark.anyio

_TYPES = """
SELECT coalesce(array_agg(format_type(oid, NULL) ORDER BY place), '{}')
FROM unnest($1::oid[]) WITH ORDINALITY AS types (oid, place)"""


async def test_the_signatures_are_those_of_the_statements(connection: Connection) -> None:
    await connection.execute("CREATE TABLE chunks_1 (LIKE chunks)")
    found = {
        name: await _signature(connection, re.sub(r"\{\w+\}", "1", statement))
        for name, statement in security_definer_functions.STATEMENTS.items()
    }

    assert found == SIGNATURES, f"function_signatures.py has to say: {found}"


async def _signature(connection: Connection, statement: str) -> Signature:
    prepared = await connection.prepare(statement)
    attributes = prepared.get_attributes()
    types = await _names(connection, [attribute.type.oid for attribute in attributes])
    return Signature(
        await _names(connection, [parameter.oid for parameter in prepared.get_parameters()]),
        tuple(zip((attribute.name for attribute in attributes), types, strict=True)),
    )


async def _names(connection: Connection, oids: Sequence[int]) -> tuple[str, ...]:
    return tuple(await connection.fetchval(_TYPES, oids))
