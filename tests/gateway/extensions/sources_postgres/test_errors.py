"""What a source tells if its server can't be followed, and what an admin then does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.extensions.sources_postgres.server import replication_slot
from gateway.services import Services
from tests.gateway.extensions.sources_postgres.conftest import (
    FollowedServer,
    error_of,
    following,
    put,
    reached,
    source_of,
    wait,
)
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

NOTES = """
CREATE TABLE notes (note integer PRIMARY KEY, article integer, word text);
CREATE VIEW noted AS
SELECT articles.id, title, body, readers FROM articles LEFT JOIN notes ON article = articles.id;
"""
OTHER_IDENTITY = """
ALTER TABLE articles ADD other integer UNIQUE NOT NULL;
ALTER PUBLICATION nearhit SET TABLE articles;
ALTER TABLE articles REPLICA IDENTITY USING INDEX articles_other_key"""
# By what is wrong: statements, settings of the source, and what the error says.
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no publication": ("DROP PUBLICATION nearhit", {}, "CREATE PUBLICATION nearhit FOR TABLE"),
    "not published": (
        "ALTER PUBLICATION nearhit DROP TABLE articles",
        {},
        "ALTER PUBLICATION nearhit ADD TABLE public.articles",
    ),
    "deletes left out": (
        "ALTER PUBLICATION nearhit SET (publish = 'insert')",
        {},
        "leaves out update, delete, truncate",
    ),
    "rows left out": (
        "ALTER PUBLICATION nearhit SET TABLE articles WHERE (id > 7)",
        {},
        "filters the rows",
    ),
    "no relation": ("", {"relation": "public.missing"}, "no table or view public.missing"),
    "no column": ("ALTER TABLE articles DROP COLUMN body", {}, "has no column body"),
    "no key": ("", {"key": "missing"}, "has no column missing"),
    "no replica identity": (
        "ALTER TABLE articles DROP CONSTRAINT articles_pkey",
        {},
        "REPLICA IDENTITY FULL",
    ),
    "another replica identity": (
        OTHER_IDENTITY,
        {},
        "id is not in the replica identity",
    ),
    "table of a view": (
        NOTES,
        {
            "relation": "public.noted",
            "follows": [{"table": "public.articles", "key": "id"}],
        },
        "public.notes is read and not followed",
    ),
    "view without tables": (NOTES, {"relation": "public.noted"}, "read and not followed"),
    "materialized view": (
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM articles",
        {"relation": "public.kept", "follows": [{"table": "public.articles", "key": "id"}]},
        "is a materialized view",
    ),
    "keys of another type": (
        "CREATE VIEW named AS SELECT 'a' || id AS id, title, body, readers FROM articles",
        {"relation": "public.named", "follows": [{"table": "public.articles", "key": "id"}]},
        "be of one type",
    ),
    "no database": ("", {"database": "missing"}, 'database "missing" does not exist'),
    "no role": ("", {"user": "missing"}, 'role "missing" does not exist'),
    "no replication": (
        "CREATE ROLE plain LOGIN; GRANT SELECT ON articles TO plain",
        {"user": "plain"},
        "It needs SELECT on the relation",
    ),
    "no right to read": (
        "CREATE ROLE blind LOGIN REPLICATION",
        {"user": "blind"},
        "permission denied for table articles",
    ),
    "no server": ("", {"port": 1}, "can't be reached"),
}


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("what", WRONG)
@pytest.mark.sampled("no publication", "no column", "table of a view", "no replication")
async def test_a_server_that_can_t_be_followed_is_told_with_what_to_do(
    admin: Caller, server: FollowedServer, what: str
) -> None:
    statements, settings, said = WRONG[what]
    await server.run(statements)

    await put(admin, server.body(**settings))

    assert said in await error_of(admin)
    waited = await wait(admin, "0/1", timeout_s=0.0)
    assert (waited["reached"], waited["lsn"]) == (False, None)
    assert said in waited["last_error"]
    assert (await source_of(admin))["state"] == "failed"


@pytest.mark.usefixtures("followed")
async def test_a_column_that_is_dropped_is_told_and_what_is_put_back_is_copied(
    admin: Caller, server: FollowedServer
) -> None:
    await put(admin, server.body())
    await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))

    lsn = await server.run("ALTER TABLE articles DROP COLUMN body")
    error = await error_of(admin)
    await server.run("ALTER TABLE articles ADD body text DEFAULT 'basalt'")
    await reached(admin, lsn)
    document = await admin.call("GET", "/v1/documents/articles/1")

    assert "has no column body" in error
    assert document.json()["text"] == "basalt"
    assert (await source_of(admin))["last_error"] is None


HUGE = """
INSERT INTO articles SELECT number, 'N', CASE WHEN number = 9 THEN 'dune' END
FROM generate_series(3, 2000) AS number"""
CHANGED_AS_A_WHOLE: dict[str, tuple[str, dict[str, str]]] = {
    "truncated": ("TRUNCATE articles", {}),
    "truncated and filled": (
        "BEGIN; TRUNCATE articles; INSERT INTO articles VALUES (3, 'C', 'cedar'); COMMIT",
        {"articles/3": "cedar"},
    ),
    "rewritten": (
        "ALTER TABLE articles ALTER body TYPE text USING upper(body)",
        {"articles/1": "AMBER", "articles/2": "BASALT"},
    ),
    "view replaced": (
        "CREATE OR REPLACE VIEW shown AS SELECT * FROM articles WHERE id = 2",
        {"articles/2": "basalt"},
    ),
    "huge transaction": (
        HUGE,
        {"articles/1": "amber", "articles/2": "basalt", "articles/9": "dune"},
    ),
}


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("what", CHANGED_AS_A_WHOLE)
async def test_what_no_row_tells_is_copied_anew(
    admin: Caller, server: FollowedServer, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replication_slot, "KEYS_MAX", 1_000)
    statements, expected = CHANGED_AS_A_WHOLE[what]
    await server.run("CREATE VIEW shown AS SELECT * FROM articles")
    await server.run("DROP VIEW shown" if what == "rewritten" else "")
    relation = "public.articles" if what == "rewritten" else "public.shown"
    follows = [{"table": "public.articles", "key": "id"}]
    await put(admin, server.body(relation=relation, follows=follows))
    await reached(
        admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber'), (2, 'B', 'basalt')")
    )

    await reached(admin, await server.run(statements))
    documents = (await admin.call("GET", "/v1/documents")).json()["documents"]
    texts = {
        each["document_id"]: (
            await admin.call("GET", f"/v1/documents/{each['document_id']}")
        ).json()["text"]
        for each in documents
    }

    assert texts == expected


REFUSED: dict[str, str] = {
    "too long": "UPDATE articles SET body = repeat('amber ', 2000000)",
    "no reader": "UPDATE articles SET readers = '{nobody}'",
    "public": "UPDATE articles SET readers = '{public}'",
    "blank": "UPDATE articles SET body = ' '",
    "null": "UPDATE articles SET body = NULL",
}


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("what", REFUSED)
async def test_a_row_that_is_no_document_any_more_leaves_none(
    admin: Caller, server: FollowedServer, what: str
) -> None:
    """Others may read the stored one than may read the row."""
    await put(admin, server.body())
    await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))
    assert (await admin.call("GET", "/v1/documents/articles/1")).status_code == 200

    await reached(admin, await server.run(REFUSED[what]))

    assert (await admin.call("GET", "/v1/documents/articles/1")).status_code == 404
    assert (await source_of(admin))["last_error"] is None


async def test_a_slot_goes_with_the_pause_and_with_the_source(
    admin: Caller, services: Services, server: FollowedServer
) -> None:
    async with following(services):
        await put(admin, server.body())
        await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')"))
        assert await server.slots() == 1
        await put(admin, server.body() | {"paused": True})
        await _until(server.slots, 0)
        await put(admin, server.body())
        await reached(admin, await server.run("UPDATE articles SET body = 'basalt'"))
        assert (await admin.call("DELETE", "/v1/sources/articles")).status_code == 202
        await _until(server.slots, 0)


async def _until(count: Callable[[], Awaitable[int]], expected: int) -> None:
    async with asyncio.timeout(30):
        while await count() != expected:
            await asyncio.sleep(0.02)


async def test_a_document_of_another_source_stays(
    admin: Caller, services: Services, server: FollowedServer
) -> None:
    await admin.put("articles/1", "a note of somebody's", source="notes")
    async with following(services):
        await put(admin, server.body())
        await reached(admin, await server.run("INSERT INTO articles VALUES (1, 'A', NULL)"))
        await reached(admin, await server.run("DELETE FROM articles"))

    kept = (await admin.call("GET", "/v1/documents/articles/1")).json()
    assert kept["text"] == "a note of somebody's"


class TestConfiguration:
    async def test_a_password_is_sealed_for_its_server(
        self, admin: Caller, server: FollowedServer
    ) -> None:
        await put(admin, server.body(password="s3cret"))
        shown = (await source_of(admin))["settings"]
        await put(admin, {"kind": "postgres", "settings": shown})
        again = (await source_of(admin))["settings"]
        await put(admin, server.body(password="s3cret"))
        same = (await source_of(admin))["settings"]
        moved = {"kind": "postgres", "settings": {**shown, "port": 5433}}
        answer = await admin.call("PUT", "/v1/sources/articles", json=moved)

        assert shown["password"].startswith("sealed:")
        assert again == same == shown
        assert "sealed for another server" in problem(answer, 409)["detail"]

    async def test_only_listed_hosts_are_followed(
        self, admin: Caller, server: FollowedServer
    ) -> None:
        body = server.body(host="db.example.com")
        answer = await admin.call("PUT", "/v1/sources/articles", json=body)

        assert "NEARHIT_SOURCES_POSTGRES_HOSTS" in problem(answer, 403)["detail"]

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("host", "/var/run/postgresql"),
            ("host", "a,b"),
            ("relation", "articles"),
            ("relation", 'public."a"'),
            ("follows", [{"table": "public.articles"}] * 17),
            (
                "follows",
                [{"table": "public.a", "through": {"table": "b.c", "column": "d", "key": "e"}}],
            ),
        ],
    )
    async def test_a_wrong_field_is_named(
        self, admin: Caller, server: FollowedServer, field: str, value: Any
    ) -> None:
        answer = await admin.call("PUT", "/v1/sources/articles", json=server.body(**{field: value}))

        errors = problem(answer, 422)["errors"]
        assert field in str(errors)

    async def test_only_followed_sources_are_waited_for(
        self, gateway: Gateway, admin: Caller, server: FollowedServer
    ) -> None:
        body = {"lsn": "0/1"}
        reading = await gateway.caller("reader", roles=["reader"])
        await put(admin, server.body() | {"paused": True})

        missing = await admin.call("POST", "/v1/sources/none/wait", json=body)
        paused = await admin.call("POST", "/v1/sources/articles/wait", json=body)
        wrong = await admin.call("POST", "/v1/sources/articles/wait", json={"lsn": "x"})
        reader = await reading.call("POST", "/v1/sources/articles/wait", json=body)

        assert [each.status_code for each in (missing, paused, wrong, reader)] == [
            404,
            409,
            422,
            403,
        ]
