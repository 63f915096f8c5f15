"""What is followed, checked in the catalogue of the server before a row is read.

Each problem is told with what to do about it.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.extensions.sources_postgres.postgres_schemas import FollowedTable, PostgresSource
from gateway.extensions.sources_postgres.server.errors import SourceMisconfigured
from index.postgres.functions.function_roles import Connection

_VERSION_MIN = 150_000  # publications of columns
_SERVER = """
SELECT
    current_setting('wal_level') AS wal_level,
    current_setting('server_version_num')::int AS version,
    pg_is_in_recovery() AS is_standby"""
_PUBLICATION = """
SELECT array_remove(ARRAY[
    CASE WHEN NOT pubinsert THEN 'insert' END, CASE WHEN NOT pubupdate THEN 'update' END,
    CASE WHEN NOT pubdelete THEN 'delete' END, CASE WHEN NOT pubtruncate THEN 'truncate' END
], NULL) AS left_out
FROM pg_publication WHERE pubname = $1"""
# The relation, and what it reads, down to tables. storage: another one when all rows are written
# anew, which the log of changes does not tell.
_RELATIONS = """
WITH RECURSIVE reading (oid) AS (
    SELECT pg_class.oid FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname || '.' || relname = ANY ($1::text[])
UNION
    SELECT refobjid
    FROM reading
    JOIN pg_class ON pg_class.oid = reading.oid AND relkind = 'v'
    JOIN pg_rewrite ON ev_class = reading.oid
    JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = pg_rewrite.oid
        AND refclassid = 'pg_class'::regclass AND refobjid <> reading.oid
)
SELECT
    nspname || '.' || relname AS name,
    relkind::text AS kind,
    relpersistence = 'p' AS is_logged,
    relreplident::text AS identity_kind,
    CASE WHEN relkind = 'v' THEN pg_get_viewdef(pg_class.oid) END AS definition,
    pg_relation_filenode(pg_class.oid) AS storage,
    (
        SELECT array_agg(ARRAY[relid::oid, pg_relation_filenode(relid)]::text ORDER BY relid)
        FROM pg_partition_tree(pg_class.oid)
    ) AS partitions,
    ARRAY(
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum
    ) AS columns,
    ARRAY(
        SELECT format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum
    ) AS types,
    ARRAY(
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND (
            relreplident = 'f' OR EXISTS (
                SELECT FROM pg_index
                WHERE indrelid = pg_class.oid AND attnum = ANY (indkey)
                    AND (relreplident, true) IN (('d', indisprimary), ('i', indisreplident))
            )
        )
    ) AS identity,
    published.tablename IS NOT NULL AS is_published,
    published.attnames::text[] AS published_columns,
    published.rowfilter AS row_filter
FROM reading
JOIN pg_class USING (oid)
JOIN pg_namespace ON pg_namespace.oid = relnamespace
LEFT JOIN pg_publication_tables AS published
    ON pubname = $2 AND schemaname = nspname AND tablename = relname
WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY 1"""
_TEXTS = {"character varying": "text"}
_KINDS = {"m": "a materialized view", "f": "a foreign table"}


@dataclass(frozen=True, slots=True)
class FollowedRelation:
    """types: by relation and column. definition: digest of what rows depend on, beside the rows
    themselves; with another one, everything is copied anew.
    """

    types: Mapping[str, Mapping[str, str]]
    definition: str


async def require_server(connection: Connection) -> None:
    """Raises `SourceMisconfigured` if this server can't be followed at all."""
    server = await connection.fetchrow(_SERVER)
    assert server is not None, "the statement has one row"
    if server["version"] < _VERSION_MIN:
        raise SourceMisconfigured("The server is too old: PostgreSQL 15 is the oldest that works.")
    if server["is_standby"]:
        raise SourceMisconfigured("The server is a standby. Name the primary in `host`.")
    if server["wal_level"] != "logical":
        raise SourceMisconfigured(
            f"wal_level is {server['wal_level']}. Set it to logical (ALTER SYSTEM SET wal_level = "
            "logical) and restart the server."
        )


async def read_relation(connection: Connection, config: PostgresSource) -> FollowedRelation:
    """What is followed, as it is now. Raises `SourceMisconfigured`."""
    left_out: list[str] | None = await connection.fetchval(_PUBLICATION, config.publication)
    names = {config.relation, *(table.table for table in config.tables)}
    names |= {table.through.table for table in config.tables if table.through}
    rows = await connection.fetch(_RELATIONS, sorted(names), config.publication)
    relations: dict[str, Mapping[str, Any]] = {row["name"]: dict(row) for row in rows}
    if problem := next(filter(None, _problems(config, left_out, relations)), ""):
        raise SourceMisconfigured(problem)
    types = {name: _types(row) for name, row in relations.items()}
    digest = hashlib.sha256(orjson.dumps(list(map(_depended_on, relations.values()))))
    return FollowedRelation(types, digest.hexdigest())


def _depended_on(row: Mapping[str, Any]) -> list[Any]:
    names = ("name", "definition", "storage", "partitions", "columns", "types")
    return [row[name] for name in names]


def _types(row: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip(row["columns"], row["types"], strict=True))


def _problems(
    config: PostgresSource,
    left_out: Sequence[str] | None,
    relations: Mapping[str, Mapping[str, Any]],
) -> Iterable[str]:
    """What has to be changed, if it is not empty; one may make sense only without those before.

    left_out: the kinds of changes that the publication leaves out; None if there is none.
    """
    yield _relation_problem(config, relations)
    followed = {table.table: table for table in config.tables}
    for row in relations.values():
        if row["kind"] != "v":
            yield _read_table_problem(row, followed)
    tables = ", ".join(f"{name} ({table.key})" for name, table in followed.items() if table.key)
    if left_out is None:
        yield (
            f"There is no publication {config.publication}. As the tables' owner: CREATE "
            f"PUBLICATION {config.publication} FOR TABLE {tables}"
        )
    elif left_out:
        yield (
            f"The publication {config.publication} leaves out {', '.join(left_out)}. ALTER "
            f"PUBLICATION {config.publication} SET (publish = 'insert, update, delete, truncate')"
        )
    for table in config.tables:
        yield _table_problem(config, table, relations.get(table.table))
        yield _through_problem(table, followed, relations)
        yield _type_problem(config, table, relations)


def _relation_problem(config: PostgresSource, relations: Mapping[str, Mapping[str, Any]]) -> str:
    row = relations.get(config.relation)
    if row is None:
        return f"There is no table or view {config.relation} in the database {config.database}."
    named = [config.key, *filter(None, config.columns.model_dump().values())]
    if missing := [name for name in named if name not in _types(row)]:
        return (
            f"{config.relation} has no column {missing[0]}. Put it back, or name another one in "
            "the settings of the source."
        )
    return ""


def _read_table_problem(row: Mapping[str, Any], followed: Mapping[str, FollowedTable]) -> str:
    """Of a table that the relation reads, maybe within other views."""
    name = row["name"]
    if row["kind"] in _KINDS:
        return f"{name} is {_KINDS[row['kind']]}, whose changes are in no log. Read its tables."
    if name not in followed:
        return f"{name} is read and not followed. Add it to `follows`, and to the publication."
    return ""


def _table_problem(
    config: PostgresSource, table: FollowedTable, row: Mapping[str, Any] | None
) -> str:
    name = table.table
    if row is None:
        return f"There is no table {name} in the database {config.database}."
    if row["kind"] == "v":
        return f"{name} is a view. Name in `follows` the tables that it reads."
    if not row["is_logged"]:
        return f"{name} is unlogged, so its changes are in no log. ALTER TABLE {name} SET LOGGED"
    if not row["is_published"]:
        root = "; if it is, SET (publish_via_partition_root = true)" if row["kind"] == "p" else ""
        return (
            f"{name} is not in the publication {config.publication}. ALTER PUBLICATION "
            f"{config.publication} ADD TABLE {name}{root}"
        )
    if row["row_filter"] is not None:
        return f"The publication {config.publication} filters the rows of {name}. Remove WHERE."
    return _key_problem(config, table, row)


def _key_problem(config: PostgresSource, table: FollowedTable, row: Mapping[str, Any]) -> str:
    name, key = table.table, table.key
    if not row["identity"]:
        return (
            f"{name} has no replica identity, so a deleted row is not told. Give it a primary key, "
            f"or ALTER TABLE {name} REPLICA IDENTITY FULL"
        )
    if key is None:
        return ""
    if key not in _types(row):
        return f"{name} has no column {key}. Name another one as its `key`."
    if key not in row["published_columns"]:
        return f"The publication {config.publication} lacks the column {key} of {name}. Add it."
    if key not in row["identity"]:
        return (
            f"{key} is not in the replica identity of {name}, so a deleted row does not tell it. "
            f"ALTER TABLE {name} REPLICA IDENTITY USING INDEX of a unique index with {key}, or FULL"
        )
    return ""


def _through_problem(
    table: FollowedTable,
    followed: Mapping[str, FollowedTable],
    relations: Mapping[str, Mapping[str, Any]],
) -> str:
    through = table.through
    if through is None:
        return ""
    row = relations.get(through.table)
    if row is None or row["kind"] == "v" or through.table not in followed:
        return f"{through.table}, which {table.table} goes through, has to be followed as well."
    for name in (through.column, through.key):
        if name not in _types(row):
            return f"{through.table} has no column {name}. Name another one in `through`."
    return ""


def _type_problem(
    config: PostgresSource, table: FollowedTable, relations: Mapping[str, Mapping[str, Any]]
) -> str:
    """Values of other types would be compared as texts, and never be equal."""
    through, pairs = table.through, []
    if table.key and through:
        pairs.append(((table.table, table.key), (through.table, through.column)))
        pairs.append(((through.table, through.key), (config.relation, config.key)))
    elif table.key:
        pairs.append(((table.table, table.key), (config.relation, config.key)))
    for (name, column), (other, other_column) in pairs:
        kind, other_kind = _types(relations[name])[column], _types(relations[other])[other_column]
        if _TEXTS.get(kind, kind) != _TEXTS.get(other_kind, other_kind):
            return (
                f"{name}.{column} is {kind}, and {other}.{other_column} is {other_kind}: they have "
                "to hold the same values, and be of one type."
            )
    return ""
