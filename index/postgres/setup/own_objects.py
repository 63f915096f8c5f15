"""Which objects of the schema Nearhit has made, by the names in the SQL that makes them.

Others may have objects in the schema too, under the same login: these are never dropped, dumped or
restored.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from index.postgres import connections, statements
from index.postgres.functions import function_roles
from index.postgres.functions.function_roles import Connection
from index.postgres.setup import shipped_migrations

_CREATE = re.compile(
    r"^CREATE (?:UNLOGGED )?(TABLE|VIEW|SEQUENCE|FUNCTION|PROCEDURE) (?:IF NOT EXISTS )?([\w{}]+)",
    re.MULTILINE,
)
_NUMBER = re.compile(r"\{\w+\}")  # such as that of a partition
# Whose the tables are, if there are any: no other program's table has this name.
OWNER = """(
    SELECT relowner FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = 'chunk_partitions'
)"""

# Whether a migration was applied: other programs have a table of that name too.
HAS_BEGUN = """EXISTS (
    SELECT FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'digest'
    WHERE relnamespace = current_schema()::regnamespace AND relname = 'migrations'
)"""


# Functions that roles may call: each start makes those that are missing.
OF_ROLES = "|".join(role.functions for role in function_roles.ALL)


def _names() -> Iterator[tuple[str, str]]:
    """The kind and the name of each object, as the pattern of a regular expression."""
    texts = [shipped_migrations.TABLE, *statements.load().values()]
    for text in (*texts, *(migration.text for migration in shipped_migrations.shipped())):
        for kind, name in _CREATE.findall(text):
            yield kind, _NUMBER.sub(r"\\d+", name)
    yield "FUNCTION", OF_ROLES


def _pattern(*kinds: str) -> str:
    names = sorted({name for kind, name in _names() if kind in kinds})
    return f"({'|'.join(names)})"


# Python and PostgreSQL understand both. A sequence of a column is a part of its table.
RELATIONS = _pattern("TABLE", "VIEW", "SEQUENCE")
ROUTINES = _pattern("FUNCTION", "PROCEDURE")

_OF_OTHERS = f"""
SELECT type, identity, pg_class.oid IS NOT NULL AS is_relation
FROM pg_depend AS object
CROSS JOIN pg_identify_object(classid, objid, 0)
LEFT JOIN pg_class ON classid = 'pg_class'::regclass AND pg_class.oid = objid
LEFT JOIN pg_proc ON classid = 'pg_proc'::regclass AND pg_proc.oid = objid
WHERE refclassid = 'pg_namespace'::regclass AND refobjid = current_schema()::regnamespace
  AND classid <> 'pg_extension'::regclass
  AND NOT coalesce(
    relname ~ '^{RELATIONS}$' AND relowner = {OWNER},
    proname ~ '^{ROUTINES}$' AND proowner = {OWNER},
    false
  )
  AND NOT EXISTS (
    SELECT FROM pg_depend AS part
    LEFT JOIN pg_class AS whole
        ON part.refclassid = 'pg_class'::regclass AND whole.oid = part.refobjid
    WHERE part.classid = object.classid AND part.objid = object.objid
      AND (part.deptype = 'e' OR part.deptype IN ('a', 'i') AND whole.relname ~ '^{RELATIONS}$')
  )"""  # names of ours  # noqa: S608

# By the tables' owner. Not CASCADE, which would take what others have made; nor the schema, which
# may hold the extensions, which most logins can't make again. All tables at once, for they refer to
# each other; a view or a routine goes once nothing uses it.
DROP = f"""
SET LOCAL client_min_messages = warning;
DO $drop$
DECLARE
    owner oid := (SELECT oid FROM pg_roles WHERE rolname = current_user);
    command text;
    dropped integer;
    detail text;
    dependents text;
BEGIN
    LOOP
        dropped := 0;
        dependents := NULL;
        FOR command IN
            SELECT 'DROP TABLE ' || string_agg(oid::regclass::text, ', ') FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relowner = owner
              AND relkind IN ('r', 'p') AND relname ~ '^{RELATIONS}$'
            HAVING count(*) > 0
            UNION ALL
            SELECT format('DROP %s %s', type, identity)
            FROM pg_class CROSS JOIN pg_identify_object('pg_class'::regclass, oid, 0)
            WHERE relnamespace = current_schema()::regnamespace AND relowner = owner
              AND relkind IN ('v', 'S') AND relname ~ '^{RELATIONS}$'
            UNION ALL
            SELECT 'DROP ROUTINE ' || oid::regprocedure FROM pg_proc
            WHERE pronamespace = current_schema()::regnamespace AND proowner = owner
              AND proname ~ '^{ROUTINES}$'
        LOOP
            BEGIN
                EXECUTE command;
                dropped := dropped + 1;
            EXCEPTION WHEN dependent_objects_still_exist THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                dependents := coalesce(dependents, detail);
            END;
        END LOOP;
        EXIT WHEN dependents IS NULL;
        IF dropped = 0 THEN
            RAISE EXCEPTION USING MESSAGE = 'what is not Nearhit''s depends on what is: '
                || replace(dependents, E'\n', '; ') || '. Drop it, and make it again';
        END IF;
    END LOOP;
END $drop$;
"""  # names of ours  # noqa: S608


_TAKEN = f"""
SELECT string_agg(pg_class.oid::regclass::text, ', ' ORDER BY relname) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relname ~ '^{RELATIONS}$'
  AND NOT {HAS_BEGUN}"""  # names of ours  # noqa: S608


@dataclass(frozen=True, slots=True)
class SchemaContents:
    """name: of the schema. of_others: kinds and names of what is not Nearhit's.

    relations_of_others: the names of tables, views and sequences among them. All are quoted.
    """

    name: str
    of_others: Sequence[str]
    relations_of_others: Sequence[str]


async def read(url: str) -> SchemaContents:
    """Raises `DatabaseUnavailable`."""
    async with connections.direct_connection(url) as connection:
        return await contents(connection)


async def taken_names(connection: Connection) -> str | None:
    """Tables of others with names that Nearhit's will have, before its migrations have begun."""
    names: str | None = await connection.fetchval(_TAKEN)
    return names


async def contents(connection: Connection) -> SchemaContents:
    rows = await connection.fetch(_OF_OTHERS)
    return SchemaContents(
        await connection.fetchval("SELECT quote_ident(current_schema())"),
        sorted(f"{row['type']} {row['identity']}" for row in rows),
        [row["identity"] for row in rows if row["is_relation"]],
    )
