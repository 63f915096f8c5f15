"""Any order of changes on a followed server, and what callers may find after each wait."""

import random
from collections.abc import Mapping, Sequence

import asyncpg
import pytest

from tests.gateway.extensions.sources_postgres.conftest import FollowedServer, put, reached
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

ROWS = 1_000
WORDS = ("amber", "basalt", "cedar", "dune", "ember", "fjord", "garnet", "heather")
# An article is read by those of its own readers, and by those of its space.
VIEW = """
CREATE TABLE spaces (space integer PRIMARY KEY, is_open boolean NOT NULL DEFAULT true);
CREATE TABLE space_readers (
    space integer REFERENCES spaces, reader text, PRIMARY KEY (space, reader)
);
ALTER TABLE articles ADD COLUMN space integer NOT NULL DEFAULT 0;
CREATE VIEW shown AS
SELECT id, title, body, space, readers || ARRAY(
    SELECT reader FROM space_readers WHERE space_readers.space = articles.space
) AS readers
FROM articles JOIN spaces USING (space) WHERE is_open;
ALTER PUBLICATION nearhit SET TABLE
    articles (id), spaces (space), space_readers (space, reader);
INSERT INTO spaces SELECT generate_series(0, 4);
"""
THROUGH = {"table": "public.articles", "column": "space", "key": "id"}
FOLLOWS = [
    {"table": "public.articles", "key": "id"},
    {"table": "public.spaces", "key": "space", "through": THROUGH},
    {"table": "public.space_readers", "key": "space", "through": THROUGH},
]
READERS = ("user:ana", "group:board", "tenant")
UPSERT = """
INSERT INTO articles (id, title, body, readers, space) VALUES ($1, 'Note', $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET body = excluded.body"""
MOVE = """
UPDATE articles SET id = $1 + 2000
WHERE id = $1 AND NOT EXISTS (SELECT FROM articles WHERE id = $1 + 2000)"""
CHANGES = (  # each with its weight and its arguments
    (4, UPSERT, ("key", "body", "readers", "space")),
    (
        3,
        "UPDATE articles SET body = $2, readers = $3 WHERE id = $1",
        ("key", "body", "readers"),
    ),
    (3, "UPDATE articles SET readers = $2 WHERE id = $1", ("key", "readers")),
    (2, "UPDATE articles SET space = $2 WHERE id = $1", ("key", "space")),
    (3, "DELETE FROM articles WHERE id = $1", ("key",)),
    (1, MOVE, ("key",)),
    (1, "INSERT INTO space_readers VALUES ($1, $2) ON CONFLICT DO NOTHING", ("space", "reader")),
    (1, "DELETE FROM space_readers WHERE space = $1", ("space",)),
    (1, "UPDATE spaces SET is_open = NOT is_open WHERE space = $1", ("space",)),
)


async def change(connection: "asyncpg.Connection[asyncpg.Record]", choice: random.Random) -> None:
    """A transaction of a few changes, committed or not."""
    transaction = connection.transaction()
    await transaction.start()
    for _ in range(choice.randint(1, 4)):
        ((_, statement, names),) = choice.choices(CHANGES, [weight for weight, _, _ in CHANGES])
        arguments = {
            "key": choice.randrange(ROWS + 200),
            "body": f"about {choice.choice(WORDS)} and {choice.choice(WORDS)} {choice.random()}",
            "readers": choice.sample(READERS, choice.randint(0, 2)),
            "reader": choice.choice(READERS),
            "space": choice.randrange(5),
        }
        await connection.execute(statement, *(arguments[name] for name in names))
    await (transaction.rollback() if choice.random() < 0.2 else transaction.commit())


async def listed(caller: Caller) -> set[str]:
    documents, more = set[str](), dict[str, str]()
    while True:
        page = (await caller.call("GET", "/v1/documents", params=more)).json()
        documents |= {each["document_id"] for each in page["documents"]}
        if page["cursor"] is None:
            return documents
        more = {"cursor": page["cursor"]}


async def is_as_the_server_has_it(
    connection: "asyncpg.Connection[asyncpg.Record]",
    caller: Caller,
    readers: Sequence[str],
    choice: random.Random,
) -> None:
    rows = await connection.fetch("SELECT id, body FROM shown WHERE readers && $1", readers)
    bodies = {f"articles/{row['id']}": row["body"] for row in rows}
    assert await listed(caller) == bodies.keys()
    word = choice.choice(WORDS)
    answer = await caller.search(word, alpha=0.0, top_k=50)
    for hit in answer.json()["hits"]:
        assert word in bodies[hit["document_id"]]
    for document_id in choice.sample(sorted(bodies), min(3, len(bodies))):
        document = (await caller.call("GET", f"/v1/documents/{document_id}")).json()
        assert document["text"] == bodies[document_id]


@pytest.mark.usefixtures("followed")
async def test_callers_find_what_the_server_has_after_each_wait(
    gateway: Gateway, admin: Caller, server: FollowedServer
) -> None:
    callers: Mapping[str, tuple[Caller, list[str]]] = {
        "ana": (await gateway.caller("ana"), ["user:ana", "tenant"]),
        "bo": (await gateway.caller("bo", groups=["board"]), ["group:board", "tenant"]),
    }
    choice = random.Random(20)  # noqa: S311
    await server.run(VIEW)
    lsn = await server.run(
        "INSERT INTO articles SELECT id, 'Note ' || id, 'about ' || ($1::text[])[1 + id % 8] || "
        "' and ' || ($1::text[])[1 + id % 7] || ' ' || id, ARRAY[($2::text[])[1 + id % 3]], id % 5 "
        "FROM generate_series(1, $3::integer) AS id",
        list(WORDS),
        list(READERS),
        ROWS,
    )
    await put(admin, server.body(relation="public.shown", follows=FOLLOWS))
    await reached(admin, lsn)
    connection = await asyncpg.connect(server.url)
    try:
        for _ in range(12):
            for _ in range(choice.randint(1, 5)):
                await change(connection, choice)
            lsn = await connection.fetchval("SELECT pg_current_wal_lsn()::text")
            await reached(admin, lsn)
            for caller, readers in callers.values():
                await is_as_the_server_has_it(connection, caller, readers, choice)
    finally:
        await connection.close()
