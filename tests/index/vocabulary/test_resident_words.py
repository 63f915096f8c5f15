"""A shard's words: typos are corrected as without them, and need no statement."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from random import Random
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import numpy as np
import pytest

from index.documents import outbox
from index.model.query import Query
from index.model.scope import Scope, everything, resolve
from index.postgres.database import Database
from index.postgres.functions import security_definer_functions
from index.postgres.functions.function_roles import SHARDS, Connection
from index.resident import columns
from index.resident.building import loading, loading_words
from index.resident.shard import Shard
from index.tenants.tenant_store import TenantStore
from index.text.spelling import Near, vocabulary_words
from index.vocabulary import vocabulary
from index.vocabulary.extent import Extent
from index.vocabulary.resident_words import ResidentWords
from index.vocabulary.vocabulary import Spelling, Vocabulary
from index.vocabulary.word_table import WordTable, trigrams_of
from ingest.write.writer import Writer
from loadtests.workload.questions import with_typo
from tests.index.conftest import connected
from tests.index.support.residence import Residence, residence
from tests.index.support.samples import RecordingEmbedder, a_document, put
from tests.index.vocabulary.test_vocabulary import spelled

pytestmark = pytest.mark.anyio

ENGLISH = frozenset({"en"})
LANGUAGES = (ENGLISH, frozenset({"de", "en"}), frozenset({"ru"}))
ANA = resolve("acme", "ana", [], ["private", "shared", "tenant"])
STAFF = resolve("acme", "ben", ["staff"], ["private", "shared", "tenant"])
SCOPES = (
    ANA,
    STAFF,
    everything("acme", "eve", ["board", "crew"]),
    resolve("acme", "ben", ["staff"], ["shared"]),
    resolve("acme", "ben", ["staff", "board"], ["private"]),
)
WORDS = ("lighthouse", "lightship", "café", "gewächshaus", "åland", "привет", "extraordinarily")


@pytest.fixture
def observed() -> list[str]:
    """The names of the statements that `watched` ran."""
    return []


@pytest.fixture
async def watched(
    database_url: str, tenants: TenantStore, observed: list[str]
) -> AsyncIterator[Database]:
    async with connected(
        database_url, observe=lambda name, _seconds: observed.append(name), statement_timeout_s=10
    ) as database:
        yield database


@pytest.fixture
async def resident(watched: Database, embedder: RecordingEmbedder) -> AsyncIterator[Residence]:
    async with residence(watched, embedder) as opened:
        yield opened


async def learn(database: Database, words: Iterable[str], tenant: str = "acme") -> None:
    async with database.transaction() as session:
        await outbox.commit(session, tenant, [], "write", {}, words=list(words))


async def load(database: Database) -> Shard:
    loaded = await loading.load(database, "acme", chunks_max=10_000)
    assert loaded is not None
    return loaded


async def follow(database: Database, shard: Shard) -> Shard:
    """The shard with the words of now; a document's write raises the revision."""
    changes = await loading.read_changes(database, shard)
    assert changes is not None
    return shard.at_revision(changes.revision, shard.space, changes.stats, changes.words)


def words_of(shard: Shard) -> dict[str, list[str]]:
    """The words of each token."""
    assert shard.words is not None
    found: dict[str, list[str]] = {}
    for table in shard.words.tables:
        found.setdefault(table.token, []).extend(table.words(np.arange(len(table))))
    return {token: sorted(words) for token, words in found.items()}


async def stored(database: Database) -> dict[str, list[str]]:
    async with database.session() as session:
        found: dict[str, list[str]] = {}
        for row in await session.rows("vocabulary.entries", "acme"):
            token, _, word = row["entry"].rpartition("\x1f")
            found.setdefault(token or "tenant", []).append(word)
    return {token: sorted(words) for token, words in found.items()}


def typed(words: Sequence[str], random: Random) -> str:
    """Words with up to three slips each, beside some that are made up."""
    texts = [made_up(random) for _ in range(random.randint(0, 2))]
    for text in random.sample(words, random.randint(1, 2)):
        slips = random.randint(0, 3)
        texts.append(reduce(lambda typo, _: with_typo(typo, random), range(slips), text))
    random.shuffle(texts)
    return " ".join(texts)


def made_up(random: Random) -> str:
    letters = random.choice(("aeilnorst", "aeilnorst", "абвё", "aeøß"))
    return "".join(random.choices(letters, k=random.randint(4, 12)))


async def learn_at_random(database: Database, random: Random) -> list[str]:
    """Learn words for the tenant and three groups; returns all."""
    words = sorted({*(made_up(random) for _ in range(300)), *WORDS})
    for readers in (["tenant"], ["group:staff"], ["group:board"], ["group:board", "group:crew"]):
        some = random.sample(words, random.randint(0, 150))
        await learn(database, vocabulary.entries(readers, some))
    return words


async def spellings(
    database: Database, scope: Scope, text: str, languages: frozenset[str], words: ResidentWords
) -> tuple[Spelling, Spelling]:
    """Those of the words in memory, and those of the database."""
    is_filtered = len(text) % 5 == 0
    in_memory, looked_up = [
        await spelled(
            Vocabulary(database.searching),
            scope,
            text,
            languages,
            extent=words.extent,
            resident=resident,
            is_filtered=is_filtered,
        )
        for resident in (words, None)
    ]
    return in_memory, looked_up


@pytest.mark.sampled("0")
@pytest.mark.parametrize("seed", range(4))
async def test_corrections_are_those_of_the_database(
    watched: Database, observed: list[str], seed: int
) -> None:
    random = Random(seed)  # noqa: S311  no secret
    words = await learn_at_random(watched, random)
    loaded = (await load(watched)).words
    assert loaded is not None

    for _ in range(60):
        scope, languages = random.choice(SCOPES), random.choice(LANGUAGES)
        in_memory, looked_up = await spellings(
            watched, scope, typed(words, random), languages, loaded
        )
        assert in_memory == looked_up

    assert 20 < observed.count("vocabulary.look_up") <= 60


@pytest.mark.sampled("0")
@pytest.mark.parametrize("seed", range(2))
async def test_near_words_are_those_of_the_database(watched: Database, seed: int) -> None:
    """With limits by which most words have more similar ones than are wanted."""
    random = Random(seed)  # noqa: S311  no secret
    words = await learn_at_random(watched, random)
    loaded = (await load(watched)).words
    assert loaded is not None

    for scope in SCOPES:
        texts = [*{*typed(words, random).split(), *random.sample(words, 20)}]
        rows = await watched.searching.rows(
            "vocabulary.look_up", "acme", texts, 0.05, 5, len(texts), scope.grants
        )
        for row in rows:
            near = [] if row["is_known"] else nearest(loaded, row["word"], scope)
            pairs = zip(row["near_words"] or (), row["similarities"] or (), strict=True)
            assert near == [Near(*pair) for pair in pairs]
            assert row["is_known"] is (loaded.without_known([row["word"]], scope.grants) == [])


def nearest(words: ResidentWords, word: str, scope: Scope) -> list[Near]:
    return words.near(word, scope.grants, similarity_min=0.05, count=5, slips_max=100)


async def test_a_word_of_another_group_would_be_noticed(watched: Database) -> None:
    random = Random(1)  # noqa: S311  no secret
    words = await learn_at_random(watched, random)
    loaded = (await load(watched)).words
    assert loaded is not None
    tables = [replace(each, token=each.token.replace("board", "staff")) for each in loaded.tables]
    mixed = replace(loaded, tables=tuple(sorted(tables, key=lambda table: table.token)))

    pairs = [
        await spellings(watched, SCOPES[1], typed(words, random), ENGLISH, mixed) for _ in range(60)
    ]

    assert any(in_memory != looked_up for in_memory, looked_up in pairs)


async def test_no_word_is_compared_that_the_caller_may_not_read(watched: Database) -> None:
    """Else the time of an answer could tell what is near it among the words of others."""

    @dataclass(frozen=True)
    class OfOthers:
        """A table of which nothing but the token can be read."""

        token: str

    random = Random(2)  # noqa: S311  no secret
    words = await learn_at_random(watched, random)
    loaded = (await load(watched)).words
    assert loaded is not None
    tables: list[Any] = [
        each if each.token in {"tenant", "group:staff"} else OfOthers(each.token)
        for each in loaded.tables
    ]
    assert sum(isinstance(each, OfOthers) for each in tables) == 2

    for _ in range(60):
        in_memory, looked_up = await spellings(
            watched,
            *(SCOPES[1], typed(words, random), ENGLISH),
            replace(loaded, tables=tuple(tables)),
        )
        assert in_memory == looked_up


async def test_a_query_with_a_typo_needs_no_statement(
    resident: Residence, writer: Writer, observed: list[str]
) -> None:
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))
    await resident.load(ANA)
    observed.clear()

    found = await resident.searcher.search(ANA, Query("zqxwvk lihgthouse", alpha=0))

    assert found.corrections == {"lihgthouse": ("lighthouse",)}
    assert "vocabulary.look_up" not in observed


async def test_words_of_a_group_correct_its_members_alone(
    resident: Residence, writer: Writer, observed: list[str]
) -> None:
    await put(writer, a_document("tower", "The old harbour."))
    secret = a_document("secret", "The lighthouse.", owner=None, readers=("group:staff",))
    await put(writer, secret)
    await resident.load(ANA)
    await resident.searcher.search(ANA, Query("harbour", alpha=0))
    observed.clear()

    near = await resident.searcher.search(ANA, Query("lihgthouse harbour", alpha=0))
    far = await resident.searcher.search(ANA, Query("zqxwvkab harbour", alpha=0))
    statements = list(observed)
    await put(writer, replace(secret, document_id="later", text="The telescope."))
    found = await resident.search(STAFF, Query("telescpoe lihgthouse", alpha=0))

    assert (near.corrections, far.corrections) == ({}, {})
    assert statements == 2 * statements[: len(statements) // 2]
    assert "vocabulary.look_up" not in statements
    assert {hit.document_id for hit in found.hits} == {"secret", "later"}
    assert resident.events["loaded"] == 1


async def test_a_word_with_a_letter_that_is_not_asked_for_is_looked_up(
    watched: Database, observed: list[str]
) -> None:
    await learn(watched, ["ⰰⰱⰲⰳⰴ", "lighthouse"])
    loaded = (await load(watched)).words
    assert loaded is not None

    for text, look_ups in (("ⰰⰱⰳⰲⰴ", 2), ("lihgthouse", 1)):
        observed.clear()
        in_memory, looked_up = await spellings(watched, ANA, text, ENGLISH, loaded)
        assert in_memory == looked_up
        assert observed.count("vocabulary.look_up") == look_ups


@pytest.fixture
async def ascii_database(database_url: str) -> AsyncIterator[Connection]:
    """A database in which pg_trgm takes ASCII letters alone for parts of words."""
    name = f"nearhit_test_{secrets.token_hex(6)}"
    url = urlunsplit(urlsplit(database_url)._replace(path=f"/{name}"))
    server = await asyncpg.connect(database_url)
    await server.execute(
        f"CREATE DATABASE {name} TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'"
    )
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE EXTENSION pg_trgm")
    yield connection
    await connection.close()
    await server.execute(f"DROP DATABASE {name}")
    await server.close()


async def test_letters_are_those_that_the_database_takes_for_letters(
    ascii_database: Connection, connection: Connection
) -> None:
    random = Random(3)  # noqa: S311  no secret
    words = [*{made_up(random) for _ in range(200)}, *WORDS]
    letters = "".join(sorted({*"".join(words)}))
    statements = security_definer_functions.statements_of(SHARDS)

    for server, has_separators in ((connection, False), (ascii_database, True)):
        separators = await server.fetchval(statements["resident.separators"], letters) or ""
        assert ("ø" in separators) is has_separators
        table = WordTable.of("tenant", words, separators)
        for word in random.sample(words, 30):
            rows = await server.fetch(
                "SELECT word, similarity FROM unnest($1::text[]) AS word,"
                " similarity(word, $2) AS similarity WHERE similarity >= 0.2::real",
                *(words, word),
            )
            similar = table.compare(trigrams_of(word, separators)).nearest(len(table), 0.2)
            assert {tuple(row) for row in rows} == {*similar}


async def test_a_learned_word_corrects_at_once_and_needs_no_new_shard(
    resident: Residence, writer: Writer, observed: list[str]
) -> None:
    await put(writer, a_document("leave"))
    await resident.load(ANA)
    before = await resident.search(ANA, Query("lihgthouse zqxwvk", alpha=0))
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))

    after = await resident.search(ANA, Query("lihgthouse zqxwvk", alpha=0))
    observed.clear()
    await resident.searcher.search(ANA, Query("telescpoe lighthouse", alpha=0))

    assert (before.hits, before.corrections) == ((), {})
    assert after.corrections == {"lihgthouse": ("lighthouse",)}
    assert "vocabulary.look_up" not in observed
    assert resident.events == {"loaded": 1, "followed": 1}


async def test_a_search_that_finds_a_word_learned_asks_the_shard_with_that_word(
    resident: Residence, writer: Writer, observed: list[str]
) -> None:
    await put(writer, a_document("leave"))
    await resident.load(ANA)
    await resident.searcher.search(ANA, Query("zqxwvk", alpha=0))
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))
    observed.clear()

    await resident.searcher.search(ANA, Query("zqxwvk", alpha=0))

    assert observed.count("resident.learned_words") == 1
    assert "vocabulary.look_up" not in observed


@pytest.mark.thorough
async def test_words_of_every_edit_are_learned_and_no_others_are_read(
    watched: Database, writer: Writer, observed: list[str]
) -> None:
    learned = ["lighthouse"]
    await put(writer, a_document("tower", "lighthouse", title=""))
    shard = await load(watched)
    for number, word in enumerate(WORDS[1:]):
        await put(writer, a_document(f"d{number}", f"{word} lighthouse", title=""))
        shard = await follow(watched, shard)
        learned.append(word)
    await put(writer, a_document("again", "lightship", title=""))
    shard = await follow(watched, shard)

    assert words_of(shard) == await stored(watched) == {"tenant": sorted(vocabulary_words(learned))}
    assert observed.count("resident.learned_words") == len(WORDS) - 1


async def test_a_word_that_is_committed_after_the_load_began_is_learned(
    database: Database, writer: Writer
) -> None:
    await put(writer, a_document("leave"))
    async with database.transaction() as session:
        await outbox.commit(session, "acme", [], "write", {}, words=["lighthouse"])
        loaded = await load(database)  # its snapshot does not hold the open transaction
        await put(writer, a_document("travel", "The lightship."), "beta")
    await put(writer, a_document("leave", "Other words."))

    followed = await follow(database, loaded)

    assert "lighthouse" not in words_of(loaded)["tenant"]
    assert "lighthouse" in words_of(followed)["tenant"]
    assert "lightship" not in words_of(followed)["tenant"]


async def test_words_from_before_the_column_and_those_of_another_server_are_left_out(
    database: Database, writer: Writer, connection: Connection
) -> None:
    await put(writer, a_document("tower", "The lighthouse of Norrvik."))
    await connection.execute("UPDATE vocabulary SET learned_by = NULL WHERE word = 'lighthouse'")
    await connection.execute(
        "UPDATE vocabulary SET learned_by = '999999999' WHERE word = 'norrvik'"
    )
    loaded = await load(database)
    await put(writer, a_document("ship", "The lightship."))

    followed = await follow(database, loaded)

    assert words_of(followed)["tenant"] == sorted([*words_of(loaded)["tenant"], "lightship"])
    assert loaded.words is not None
    async with database.shard_snapshot() as session:
        row = await session.row(
            "resident.learned_words", "acme", "tenant", 100, loaded.words.snapshot_xmin
        )
    assert row is not None
    assert row["words"] == ["lightship"]


@pytest.mark.sampled("3")
@pytest.mark.parametrize("words_max", [1, 3])
async def test_a_larger_vocabulary_is_not_in_memory(
    watched: Database, writer: Writer, monkeypatch: pytest.MonkeyPatch, words_max: int
) -> None:
    monkeypatch.setattr(loading_words, "WORDS_MAX", words_max)
    await put(writer, a_document("leave", "The harbour."))
    loaded = await load(watched)
    await put(writer, a_document("tower", "The lighthouse and the lightship of Norrvik."))

    followed = await follow(watched, loaded)
    reloaded = await load(watched)

    assert (loaded.words is None) is (words_max == 1)
    assert (followed.words, reloaded.words) == (None, None)


async def test_words_that_are_not_as_many_as_were_learned_are_not_relied_on(
    watched: Database, writer: Writer, connection: Connection
) -> None:
    await put(writer, a_document("leave"))
    loaded = await load(watched)
    await put(writer, a_document("tower", "The lighthouse of Norrvik."))
    await connection.execute("DELETE FROM vocabulary WHERE word = 'norrvik'")

    followed = await follow(watched, loaded)

    assert loaded.words is not None
    assert followed.words is None


async def test_a_vocabulary_that_has_grown_is_not_judged_by_its_earlier_words(
    watched: Database,
) -> None:
    await learn(watched, ["lighthouse"])
    loaded = (await load(watched)).words
    assert loaded is not None
    await learn(watched, ["telescope"])

    earlier, later = [
        await spelled(
            Vocabulary(watched.searching),
            ANA,
            "telescpoe",
            ENGLISH,
            extent=Extent(loaded.extent.history, words),
            resident=loaded,
        )
        for words in (1, 2)
    ]

    assert earlier.extent == loaded.extent
    assert not earlier.holds(Extent(loaded.extent.history, 2))  # so the search is repeated
    assert later.corrections == {"telescpoe": ("telescope",)}


async def test_only_so_many_unknown_words_are_corrected_as_without_words_in_memory(
    watched: Database,
) -> None:
    await learn(watched, ["lighthouse", "telescope"])
    loaded = (await load(watched)).words
    assert loaded is not None
    far = [f"zqxw{letters}vk" for letters in ("a", "e", "i", "o", "u", "aa", "ee")]

    for text in (
        " ".join([*far, "lihgthouse", "telescpoe"]),
        " ".join(["lihgthouse", *far, "telescpoe"]),
    ):
        with_words = await spelled(
            Vocabulary(watched.searching), ANA, text, ENGLISH, extent=loaded.extent, resident=loaded
        )
        assert with_words.corrections == {"lihgthouse": ("lighthouse",)}


async def test_the_memory_that_words_take_is_counted(database: Database, writer: Writer) -> None:
    await put(writer, a_document("tower", "The lighthouse of Norrvik."))

    loaded = await load(database)

    assert loaded.words is not None
    without = replace(loaded, words=None)
    arrays = columns.split(loaded.words).arrays.values()
    assert loaded.size_bytes - without.size_bytes == sum(array.nbytes for array in arrays)


@pytest.mark.thorough
async def test_writers_that_learn_while_shards_follow_leave_no_word_out(
    watched: Database, writer: Writer
) -> None:
    await put(writer, a_document("leave"))
    shard = await load(watched)
    random = Random(7)  # noqa: S311  no secret
    words = ["".join(random.choices("aeilnorst", k=8)) for _ in range(40)]

    async def write(some: Sequence[str]) -> None:
        for number, word in enumerate(some):
            await put(writer, a_document(f"{some[0]}-{number}", f"{word} {some[-1]}", title=""))

    writes = asyncio.gather(*(write(words[first::4]) for first in range(4)))
    while not writes.done():
        shard = await follow(watched, shard)
    await writes
    shard = await follow(watched, shard)

    assert words_of(shard) == await stored(watched)
