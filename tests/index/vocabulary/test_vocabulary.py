"""The tenant's words at rest: learned once, found near, and remembered while that is right."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from string import ascii_lowercase
from typing import Any

import asyncpg
import pytest

from index.documents import outbox
from index.model.scope import Scope, everything, resolve
from index.postgres import statements
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from index.text.spelling import LETTERS_MAX, doubtful
from index.vocabulary import vocabulary
from index.vocabulary.extent import Extent
from index.vocabulary.vocabulary import (
    CERTAIN,
    GROUPS_MAX,
    UNKNOWN_MAX,
    Spelling,
    Vocabulary,
)
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

ENGLISH = frozenset({"en"})
LOOK_UP = statements.load()["vocabulary.look_up"]


@pytest.fixture
def observed() -> list[str]:
    """The names of the statements that `watched` ran."""
    return []


@pytest.fixture
async def watched(
    database_url: str, tenants: TenantStore, observed: list[str]
) -> AsyncIterator[Vocabulary]:
    """A vocabulary on a database of its own connections."""
    async with connected(
        database_url, observe=lambda name, _seconds: observed.append(name), statement_timeout_s=10
    ) as database:
        yield Vocabulary(database.searching)


At = Callable[[int], Extent]


@pytest.fixture
async def at(tenants: TenantStore) -> At:
    """A vocabulary of so many words in the history of the test's database."""
    history, _ = await tenants.all_revisions()
    return lambda words: Extent(history, words)


def of(tenant: str, subject: str = "eve") -> Scope:
    return everything(tenant, subject, ())


async def learn(database: Database, words: Iterable[str], tenant: str = "acme") -> None:
    async with database.transaction() as session:
        await outbox.commit(session, tenant, [], "write", {}, words=list(words))


async def counted(
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> Mapping[str, tuple[int, int]]:
    """How many words each tenant's counter and its rows say that it holds."""
    rows = await connection.fetch(
        "SELECT tenant, vocabulary_size, (SELECT count(*) FROM vocabulary"
        " WHERE vocabulary.tenant = tenants.tenant) AS rows FROM tenants"
    )
    return {row["tenant"]: (row["vocabulary_size"], row["rows"]) for row in rows}


async def spelled(
    vocabulary: Vocabulary, scope: Scope, text: str, languages: frozenset[str], **keywords: Any
) -> Spelling:
    """The corrections of the words of a query, as a search asks for them."""
    words = doubtful(text, languages) if languages else ()
    return await vocabulary.spelling(scope, words, languages, **keywords)


def made_up_words(number: int, *, seed: int) -> list[str]:
    """Words of 4 to 12 letters, each once."""
    random = Random(seed)  # noqa: S311  no secret
    words: dict[str, None] = {}
    while len(words) < number:
        words["".join(random.choices(ascii_lowercase, k=random.randint(4, 12)))] = None
    return list(words)


async def test_an_unknown_word_is_taken_for_the_nearest_known_one(
    database: Database, watched: Vocabulary, at: At
) -> None:
    await learn(database, ["lighthouse", "lightship", "harbour"])

    spelling = await spelled(watched, of("acme"), "the old lihgthouse", ENGLISH, extent=at(0))

    assert spelling == Spelling({"lihgthouse": ("lighthouse",)}, extent=at(3))


async def test_nothing_near_is_no_correction_but_may_become_one(
    database: Database, watched: Vocabulary, at: At
) -> None:
    await learn(database, ["harbour"])

    spelling = await spelled(watched, of("acme"), "lihgthouse", ENGLISH, extent=at(0))

    assert spelling == Spelling({}, extent=at(1))
    assert spelling.holds(at(1))
    assert not spelling.holds(at(2))


async def test_tenants_do_not_share_words(database: Database, watched: Vocabulary, at: At) -> None:
    await learn(database, ["lighthouse"], "acme")
    await learn(database, ["lihgthouses"], "beta")

    acme = await spelled(watched, of("acme"), "lihgthouse", ENGLISH, extent=at(0))
    beta = await spelled(watched, of("beta"), "lihgthouse", ENGLISH, extent=at(0))
    nobody = await spelled(watched, of("gamma"), "lihgthouse", ENGLISH, extent=at(0))

    assert acme.corrections == {"lihgthouse": ("lighthouse",)}
    assert beta.corrections == {}  # the plural of it is known there
    assert nobody == Spelling({}, extent=at(0))


async def test_words_of_a_group_correct_its_members_and_nobody_else(
    database: Database, watched: Vocabulary, at: At
) -> None:
    await learn(database, vocabulary.entries(["group:staff"], ["lighthouse", "lightship"]))
    scopes = {
        "member": everything("acme", "eve", ["staff"]),
        "shared alone": resolve("acme", "eve", ["staff"], ["shared"]),
        "no member": everything("acme", "eve", ["board"]),
        "a namesake": everything("beta", "ben", ["staff"]),
        "own documents alone": resolve("acme", "eve", ["staff"], ["private"]),
    }
    found = {
        who: await spelled(watched, scope, "lihgthouse lightship", ENGLISH, extent=at(0))
        for who, scope in scopes.items()
    }
    filtered = await spelled(
        watched, scopes["member"], "lihgthouse", ENGLISH, extent=at(2), is_filtered=True
    )

    corrected = [who for who, spelling in found.items() if spelling.corrections]
    assert corrected == ["member", "shared alone"]
    assert found["member"].corrections == {"lihgthouse": ("lighthouse",)}
    assert filtered == Spelling({}, extent=at(2))


async def test_words_are_kept_for_so_many_groups_of_a_document() -> None:
    readers = ["user:ben", *(f"group:{number:02}" for number in range(GROUPS_MAX + 1))]

    kept = vocabulary.entries(readers, ["harbour"])

    assert kept == [f"group:{number:02}\x1fharbour" for number in range(GROUPS_MAX)]
    assert vocabulary.entries([*readers, "tenant"], ["harbour"]) == ["harbour"]
    assert vocabulary.entries(["user:ben"], ["harbour"]) == []


async def test_a_query_of_words_that_the_language_knows_makes_no_statement(
    watched: Vocabulary, observed: list[str], at: At
) -> None:
    spelling = await spelled(
        watched, of("acme"), "when are the holidays of 2026?", ENGLISH, extent=at(0)
    )

    assert spelling is CERTAIN
    assert spelling.holds(at(0))
    assert observed == []


async def test_a_tenant_without_languages_costs_no_statement(
    watched: Vocabulary, observed: list[str], at: At
) -> None:
    assert await spelled(watched, of("acme"), "lihgthouse", frozenset(), extent=at(0)) is CERTAIN
    assert observed == []


async def test_nobody_is_told_sooner_for_what_others_asked(
    database: Database, watched: Vocabulary, observed: list[str], at: At
) -> None:
    await learn(database, ["zorbified"])
    for subject in ("ana", "eve"):
        for text in ("zorbified", "zorbifeid"):
            await spelled(watched, of("acme", subject), text, ENGLISH, extent=at(1))
            await spelled(watched, of("acme", subject), text, ENGLISH, extent=at(1))

    assert observed == ["vocabulary.look_up"] * 4


async def test_a_known_word_is_looked_up_once_whatever_is_learned_after(
    database: Database, watched: Vocabulary, observed: list[str], at: At
) -> None:
    await learn(database, ["zorbified"])
    first = await spelled(watched, of("acme"), "zorbified", ENGLISH, extent=at(0))
    await learn(database, ["zorbifide"])

    again = await spelled(watched, of("acme"), "Zorbified!", ENGLISH, extent=at(2))

    assert first == again == replace(CERTAIN, era=at(0).era)
    assert observed == ["vocabulary.look_up"]


async def test_a_known_word_of_one_tenant_is_not_remembered_for_another(
    database: Database, watched: Vocabulary, at: At
) -> None:
    await learn(database, ["zorbified"], "acme")
    await learn(database, ["zorbifide"], "beta")
    await spelled(watched, of("acme"), "zorbified", ENGLISH, extent=at(0))

    beta = await spelled(watched, of("beta"), "zorbified", ENGLISH, extent=at(0))

    assert beta.corrections == {"zorbified": ("zorbifide",)}


async def test_a_correction_is_remembered_until_the_vocabulary_has_grown(
    database: Database, watched: Vocabulary, observed: list[str], at: At
) -> None:
    await learn(database, ["lighthouse"])
    first = await spelled(watched, of("acme"), "lihgthouse", ENGLISH, extent=at(0))
    remembered = await spelled(watched, of("acme"), "a lihgthouse", ENGLISH, extent=at(1))
    await learn(database, ["lihgthouse"])

    fresh = await spelled(watched, of("acme"), "lihgthouse", ENGLISH, extent=at(2))

    assert first == remembered
    assert observed == ["vocabulary.look_up"] * 2
    assert fresh == replace(CERTAIN, era=at(0).era)


async def test_a_look_up_shows_this_process_that_the_vocabulary_has_grown(
    database: Database, watched: Vocabulary, at: At
) -> None:
    await learn(database, ["lighthouse"])
    await spelled(watched, of("acme"), "lihgthouse", ENGLISH, extent=at(0))
    await learn(database, ["lihgthoxse"])
    await spelled(watched, of("acme"), "qwertzy", ENGLISH, extent=at(0))

    spelling = await spelled(watched, of("acme"), "lihgthouse", ENGLISH, extent=at(0))

    assert spelling == Spelling({"lihgthouse": ("lihgthoxse", "lighthouse")}, extent=at(2))


async def test_only_so_many_words_of_a_query_are_corrected(
    database: Database, watched: Vocabulary, observed: list[str], at: At
) -> None:
    known = made_up_words(UNKNOWN_MAX + 3, seed=1)
    known = [f"{word}zqxzqx" for word in known]
    await learn(database, [*known, "lighthouse"])
    text = " ".join(["lighthouse", *(f"{word}j" for word in known)])

    spelling = await spelled(watched, of("acme"), text, ENGLISH, extent=at(0))
    remembered = await spelled(watched, of("acme"), text, ENGLISH, extent=spelling.extent or at(0))
    alone = await spelled(watched, of("acme"), f"{known[-1]}j", ENGLISH, extent=at(0))

    assert spelling.corrections == {f"{word}j": (word,) for word in known[:UNKNOWN_MAX]}
    assert remembered == spelling
    assert observed == ["vocabulary.look_up"] * 2
    assert alone.corrections == {f"{known[-1]}j": (known[-1],)}


async def test_words_are_counted_once_however_often_they_are_learned(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    await learn(database, ["lighthouse", "harbour", "harbour"])
    await learn(database, ["harbour", "beacon"])
    await learn(database, ["harbour"])
    await learn(database, [])
    await learn(database, ["harbour"], "beta")

    assert await counted(connection) == {"acme": (3, 3), "beta": (1, 1), "public": (0, 0)}


async def test_what_is_rolled_back_is_neither_learned_nor_counted(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    async def fail_after_learning() -> None:
        async with database.transaction() as session:
            await outbox.commit(session, "acme", [], "write", {}, words=["lighthouse"])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_after_learning()

    assert (await counted(connection))["acme"] == (0, 0)


async def test_writers_that_learn_the_same_words_at_once_all_get_through(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    words = made_up_words(5_000, seed=2)
    orders = [words, words[::-1]] * 2  # in these they would deadlock, were they not sorted

    await asyncio.gather(*(learn(database, some) for some in orders))

    assert (await counted(connection))["acme"] == (5_000, 5_000)


@pytest.mark.thorough
@pytest.mark.slow
async def test_thousands_of_words_are_learned_in_one_statement_and_found_near(
    database: Database, watched: Vocabulary, at: At
) -> None:
    words = made_up_words(20_000, seed=3)
    await learn(database, [*words, "lighthouse"])

    spelling = await spelled(watched, of("acme"), "lightohuse", ENGLISH, extent=at(0))

    assert spelling == Spelling({"lightohuse": ("lighthouse",)}, extent=at(20_001))


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_look_up_reads_what_is_near_by_the_index(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    # Without statistics, as after a first ingestion, and then with them.
    await learn(database, made_up_words(20_000, seed=3), "acme")
    await learn(database, made_up_words(20_000, seed=4), "beta")
    words = made_up_words(5_000, seed=5)
    for group in ("staff", "board"):
        await learn(database, vocabulary.entries([f"group:{group}"], words), "acme")

    fresh = await plan(connection)
    await connection.execute("ANALYZE vocabulary, restricted_words")
    analysed = await plan(connection)

    for lines in fresh, analysed:
        assert "Bitmap Index Scan on vocabulary_near" in lines
        assert "Bitmap Index Scan on restricted_words_near" in lines
        assert "Seq Scan on" not in lines.replace("Seq Scan on tenants", "")


async def plan(connection: "asyncpg.Connection[asyncpg.Record]") -> str:
    rows = await connection.fetch(
        f"EXPLAIN {LOOK_UP}", "acme", ["lihgthouse"], 0.2, 50, 8, ["group:staff"]
    )
    return "\n".join(row[0] for row in rows)


async def test_the_similarity_asked_for_does_not_outlive_the_statement(
    database: Database, connection: "asyncpg.Connection[asyncpg.Record]", tenants: TenantStore
) -> None:
    await learn(database, ["lighthouse"])

    near = [
        (await connection.fetchrow(LOOK_UP, "acme", ["lightxxxse"], similarity, 50, 8, []))
        for similarity in (0.9, 0.2, 0.9)
    ]

    assert [row and row["near_words"] for row in near] == [None, ["lighthouse"], None]
    assert await connection.fetchval("SHOW pg_trgm.similarity_threshold") == "0.3"


@pytest.mark.parametrize(
    "text",
    [
        "100%_'; DROP TABLE vocabulary; -- \\ \" $1 {zqxa,zqxb}",
        "x" * 50_000,
        "東京都庁舎 \ud800 \u0130stanbulq",
        "zqxq" * (LETTERS_MAX // 4),
        " ".join(made_up_words(1_000, seed=5)),
    ],
)
async def test_any_query_is_answered(
    database: Database, watched: Vocabulary, text: str, at: At
) -> None:
    await learn(database, ["zqxq" * (LETTERS_MAX // 4), "istanbul"])

    spelling = await spelled(watched, of("acme"), text, ENGLISH, extent=at(0))

    assert len(spelling.corrections) <= UNKNOWN_MAX
