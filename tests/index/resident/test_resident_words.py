"""A shard's words: typos are corrected as without them, and most other words need no statement."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from random import Random

import numpy as np
import pytest

from index.documents import outbox
from index.model.query import Query
from index.model.scope import resolve
from index.postgres.database import Database, announce_to_nobody, connect
from index.postgres.functions.function_roles import Connection
from index.resident.building import loading, loading_words
from index.resident.shard import Shard
from index.tenants.tenant_store import TenantStore
from index.text import near_words, vocabulary
from index.text.near_words import NearWords
from index.text.vocabulary import Extent, Vocabulary
from ingest.write.writer import Writer
from loadtests.workload.typos import with_typo
from tests.index.support.residence import Residence, residence
from tests.index.support.samples import RecordingEmbedder, a_document, put

pytestmark = pytest.mark.anyio

ENGLISH = frozenset({"en"})
ANA = resolve("acme", "ana", [], ["private", "shared", "tenant"])
WORDS = ("lighthouse", "lightship", "café", "gewächshaus", "åland", "привет", "extraordinarily")


@pytest.fixture
def observed() -> list[str]:
    """The names of the statements that `watched` ran."""
    return []


@pytest.fixture
async def watched(
    database_url: str, tenants: TenantStore, observed: list[str]
) -> AsyncIterator[Database]:
    async with connect(
        database_url,
        connections_max=10,
        statement_timeout_s=10,
        observe=lambda name, _seconds: observed.append(name),
        announce=announce_to_nobody,
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


def hashes_of(words: Iterable[str]) -> set[int]:
    joined = b"".join(part for word in words for part in near_words.vocabulary_hashes(word))
    return {value for part in NearWords.of(joined).parts for value in part.tolist()}


def near_hashes(shard: Shard) -> set[int]:
    assert shard.words is not None
    assert shard.words.near is not None
    return {value for part in shard.words.near.parts for value in part.tolist()}


def typed(words: Sequence[str], random: Random) -> str:
    """Words with up to three slips each, beside some that are made up."""
    texts = [made_up(random) for _ in range(random.randint(0, 2))]
    for text in random.sample(words, random.randint(1, 2)):
        slips = random.randint(0, 3)
        texts.append(reduce(lambda typo, _: with_typo(typo, random), range(slips), text))
    random.shuffle(texts)
    return " ".join(texts)


def made_up(random: Random) -> str:
    return "".join(random.choices("aeilnorst", k=random.randint(4, 12)))


async def test_postgresql_computes_the_hashes_that_typed_words_are_compared_with(
    database: Database, tenants: TenantStore
) -> None:
    words = [*WORDS, *(letters * 4 for letters in ("a", "äb", "дом", "abcdefghij"))]
    await learn(database, ["harbour"])
    await learn(database, words, "beta")

    loaded = await loading.load(database, "beta", chunks_max=10)

    assert loaded is not None
    assert near_hashes(loaded) == hashes_of(words)


async def test_a_vocabulary_is_read_in_parts(
    database: Database, tenants: TenantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_words, "_PAGE_WORDS", 2)
    await learn(database, WORDS)

    loaded = await load(database)

    assert near_hashes(loaded) == hashes_of(WORDS)


@pytest.mark.parametrize("seed", range(3))
async def test_corrections_are_those_of_the_database(
    watched: Database, observed: list[str], seed: int
) -> None:
    random = Random(seed)  # noqa: S311  no secret
    words = sorted({*(made_up(random) for _ in range(300)), *WORDS})
    await learn(watched, words)
    loaded = (await load(watched)).words
    assert loaded is not None

    for _ in range(100):
        text = typed(words, random)
        with_words = await Vocabulary(watched).spelling(
            ANA, text, ENGLISH, extent=loaded.extent, resident=loaded
        )
        without = await Vocabulary(watched).spelling(ANA, text, ENGLISH, extent=loaded.extent)
        assert with_words == without

    assert 100 < observed.count("vocabulary.look_up") < 180


async def test_a_word_that_nothing_corrects_is_not_looked_up(
    resident: Residence, writer: Writer, observed: list[str]
) -> None:
    await put(writer, a_document("tower", "The old lighthouse of Norrvik."))
    await resident.load(ANA)
    observed.clear()

    for text in ("zqxwvk tower", "xylograph wvutsr", "norrvik qqqqqqqq"):
        found = await resident.searcher.search(ANA, Query(text))
        assert found.corrections == {}
    assert "vocabulary.look_up" not in observed

    found = await resident.searcher.search(ANA, Query("zqxwvk lihgthouse", alpha=0))
    assert found.corrections == {"lihgthouse": ("lighthouse",)}
    assert observed.count("vocabulary.look_up") == 1


async def test_with_words_that_only_groups_may_read_every_unknown_word_is_looked_up(
    resident: Residence, writer: Writer, observed: list[str]
) -> None:
    """Else the look-up would tell that a word of a hidden document is near."""
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
    ben = resolve("acme", "ben", ["staff"], ["private", "shared", "tenant"])
    found = await resident.search(ben, Query("telescpoe lihgthouse", alpha=0))

    assert (near.corrections, far.corrections) == ({}, {})
    assert statements == 2 * statements[: len(statements) // 2]
    assert statements.count("vocabulary.look_up") == 2
    assert {hit.document_id for hit in found.hits} == {"secret", "later"}
    assert resident.events["loaded"] == 1


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

    async with watched.session() as session:
        stored = {row["entry"] for row in await session.rows("vocabulary.entries", "acme")}
    assert len(stored) == len(learned)
    assert near_hashes(shard) == hashes_of(stored)
    assert shard.words is not None
    assert shard.words.without_known(sorted(stored)) == []
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

    assert near_hashes(followed) - near_hashes(loaded) >= hashes_of(["lighthouse"])
    assert near_hashes(followed).isdisjoint(hashes_of(["lightship"]) - hashes_of(["lighthouse"]))


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

    assert near_hashes(followed) == near_hashes(loaded) | hashes_of(["lightship"])
    assert loaded.words is not None
    async with database.shard_snapshot() as session:
        row = await session.row(
            "resident.learned_words", "acme", loaded.words.snapshot_xmin, 8, 6, 12, 100
        )
    assert row is not None
    assert len(row["digests"]) == vocabulary.DIGEST_BYTES  # of one word


async def test_too_many_learned_words_send_unknown_words_to_the_database(
    watched: Database, writer: Writer, observed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_words, "LEARNED_WORDS_MAX", 1)
    await put(writer, a_document("leave"))
    loaded = await load(watched)
    await put(writer, a_document("tower", "The lighthouse and the lightship."))

    followed = await follow(watched, loaded)

    assert followed.words is loaded.words
    assert "resident.learned_words" not in observed
    assert loaded.words is not None
    now = Extent(loaded.history, loaded.words.extent.words + 2)
    spelling = await Vocabulary(watched).spelling(
        ANA, "lihgthouse", ENGLISH, extent=now, resident=followed.words
    )
    assert spelling.corrections == {"lihgthouse": ("lighthouse",)}


async def test_a_larger_vocabulary_has_no_hashes_in_memory(
    watched: Database, writer: Writer, observed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading_words, "NEAR_WORDS_MAX", 1)
    await put(writer, a_document("tower", "The lighthouse of Norrvik."))

    words = (await load(watched)).words

    assert words is not None
    assert words.near is None
    assert "resident.near_words" not in observed
    spelling = await Vocabulary(watched).spelling(
        ANA, "lihgthouse zqxwvk", ENGLISH, extent=words.extent, resident=words
    )
    assert spelling.corrections == {"lihgthouse": ("lighthouse",)}
    assert observed.count("vocabulary.look_up") == 1


async def test_words_that_are_not_as_many_as_were_learned_are_not_relied_on(
    watched: Database, writer: Writer, connection: Connection
) -> None:
    await put(writer, a_document("leave"))
    loaded = await load(watched)
    await put(writer, a_document("tower", "The lighthouse of Norrvik."))
    await connection.execute("DELETE FROM vocabulary WHERE word = 'norrvik'")

    followed = await follow(watched, loaded)

    assert followed.words is not None
    assert loaded.words is not None
    assert followed.words.near is None
    assert followed.words.extent == loaded.words.extent


async def test_a_word_learned_between_memory_and_look_up_corrects_the_others_too(
    watched: Database, observed: list[str]
) -> None:
    await learn(watched, ["lighthouse"])
    loaded = (await load(watched)).words
    assert loaded is not None
    await learn(watched, ["telescope"])

    spelling = await Vocabulary(watched).spelling(
        ANA, "telescpoe lihgthouse", ENGLISH, extent=loaded.extent, resident=loaded
    )

    assert spelling.corrections == {"telescpoe": ("telescope",), "lihgthouse": ("lighthouse",)}
    assert spelling.extent == Extent(loaded.extent.history, 2)
    assert observed.count("vocabulary.look_up") == 2


async def test_a_vocabulary_that_has_grown_is_not_judged_by_its_earlier_words(
    watched: Database,
) -> None:
    await learn(watched, ["lighthouse"])
    loaded = (await load(watched)).words
    assert loaded is not None
    await learn(watched, ["telescope"])

    earlier, later = [
        await Vocabulary(watched).spelling(
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
        with_words = await Vocabulary(watched).spelling(
            ANA, text, ENGLISH, extent=loaded.extent, resident=loaded
        )
        assert with_words.corrections == {"lihgthouse": ("lighthouse",)}


async def test_the_memory_that_words_take_is_counted(database: Database, writer: Writer) -> None:
    await put(writer, a_document("tower", "The lighthouse of Norrvik."))

    loaded = await load(database)

    assert loaded.words is not None
    without = replace(loaded, words=None)
    hashes = len(near_hashes(loaded)) * np.dtype(np.uint32).itemsize
    assert loaded.size_bytes - without.size_bytes == hashes + loaded.words.hashes.nbytes


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

    async with watched.session() as session:
        stored = {row["entry"] for row in await session.rows("vocabulary.entries", "acme")}
    assert near_hashes(shard) == hashes_of(stored)
