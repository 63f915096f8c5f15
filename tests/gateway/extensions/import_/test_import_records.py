"""`nearhit import --from`: records of other stores become documents of a tenant, once."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import pytest

from gateway.cli import operations
from gateway.extensions._batches.write_batches import DOCUMENTS_MAX
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from gateway.extensions._sources.sync.report import Report
from gateway.extensions.import_ import record_import
from gateway.extensions.import_.readers.ndjson import NdjsonReader
from gateway.extensions.import_.record_mapping import RecordMapping
from gateway.extensions.import_.record_source import RecordSource
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.commands import command, refused, succeeds
from tests.gateway.support.gateways import Gateway
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]

READER = ("--reader", "tenant")
COUNTS = "vectors of 68 records used; embedded: the texts of 1 without a vector, and of 1 with more"


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with open_services(settings, Metrics(), embedder) as opened:
        yield opened


def ndjson(file: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return file


async def vectors(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """As another store has them: not of length 1."""
    rows: list[list[float]] = (3 * await embedder.embed_passages(texts)).tolist()
    return rows


# A file of NDJSON.


async def test_records_come_with_their_ids_texts_metadata_and_vectors(
    environment: dict[str, str],
    gateway: Gateway,
    services: Services,
    embedder: Embedder,
    tmp_path: Path,
) -> None:
    texts = [f"Harbour {number} has a lighthouse." for number in range(70)]
    records = [
        {"id": f"h-{number}", "text": text, "title": f"No. {number}", "page": number, "vector": row}
        for number, (text, row) in enumerate(
            zip(texts, await vectors(embedder, texts), strict=True)
        )
    ]
    del records[3]["vector"]
    records[4]["text"] = " ".join(f"Harbour{number}" for number in range(1_000))
    file = ndjson(tmp_path / "docs.ndjson", [*records, {"id": "h-1", "text": "Again."}, {"id": 9}])
    arguments = ("import", str(file), "--from", "ndjson", "--tenant", "brought")
    with_vectors = ("--space", embedder.space, "--reader", "group:sea")

    planned = await command(environment, *arguments, *with_vectors, "--dry-run")
    first = await command(environment, *arguments, *with_vectors)
    again = await command(environment, *arguments, *with_vectors)

    assert [done.exit_code for done in (planned, first, again)] == [1, 1, 1]  # two are refused
    assert [done.stderr for done in (planned, first, again)] == ["", "created tenant brought\n", ""]
    assert "would write 70 documents; 0 are there already" in planned.stdout
    assert COUNTS in planned.stdout
    assert "documents by who may read them: groups 70" in planned.stdout
    assert first.stdout.startswith(f"vectors: used, in {embedder.space}; ")
    lines = first.stdout.splitlines()
    chunks = len(await stored_chunks(services, "brought", "docs/h-4"))
    added = f"{69 + chunks} added, 0 unchanged, 0 removed, {1 + chunks} embedded"
    assert f"70 documents (0 unchanged); chunks: {added}" in lines
    assert COUNTS in first.stdout
    assert "refused 1: it has no text" in lines
    assert "  record 71 (h-1): an earlier record has the same identifier" in lines
    assert "  record 72 (9): it has no text" in lines
    assert "70 documents (70 unchanged); chunks: 0 added" in again.stdout
    assert ", 0 embedded" in again.stdout
    document = await services.stores.documents.stored("brought", "docs/h-7")
    assert document is not None
    assert (document.document.title, document.document.metadata) == ("No. 7", {"page": 7})
    assert document.document.readers == ("group:sea",)
    await stored_alike(services, embedder, "brought", ["docs/h-7", "docs/h-3", "docs/h-4"])
    ben = await gateway.caller("ben", tenant="brought", groups=["sea"])
    assert (await ben.found("harbour 7 lighthouse"))[0] == "docs/h-7"
    eve = await gateway.caller("eve", tenant="brought")
    assert await eve.found("harbour 7 lighthouse") == []


async def stored_chunks(services: Services, tenant: str, document_id: str) -> tuple[bytes, ...]:
    stored = await services.stores.documents.stored(tenant, document_id)
    assert stored is not None
    return stored.digests


async def stored_alike(
    services: Services, embedder: Embedder, tenant: str, document_ids: Sequence[str]
) -> None:
    """Whether they came along or were computed here, the vectors are those of the texts."""
    for document_id in document_ids:
        stored = await services.stores.documents.stored(tenant, document_id)
        assert stored is not None
        known = await services.stores.documents.known_embeddings(
            tenant, embedder.space, stored.digests
        )
        texts = [stored.document.text[start:end] for start, end in stored.spans]
        own = await embedder.embed_passages(texts)
        for digest, vector in zip(stored.digests, own, strict=True):
            assert float(np.dot(known[digest].to_numpy(), vector)) > 0.999


@pytest.mark.thorough
async def test_vectors_of_another_space_are_refused_before_anything_is_written(
    environment: dict[str, str], services: Services, embedder: Embedder, tmp_path: Path
) -> None:
    texts = [f"Harbour {number}." for number in range(10)]
    rows = await vectors(embedder, texts)
    of_others = rows[1:] + rows[:1]
    named = {"short": [row[:-1] for row in rows], "others": of_others}

    said = {}
    for name, brought in named.items():
        records = [{"text": text, "vector": row} for text, row in zip(texts, brought, strict=True)]
        file = ndjson(tmp_path / f"{name}.ndjson", records)
        arguments = ("import", str(file), "--from", "ndjson", "--tenant", "nobody", *READER)
        said[name] = await refused(environment, *arguments, "--space", embedder.space)
    said["space"] = await refused(environment, *arguments, "--space", "openai-ada-1536")
    plain = ndjson(tmp_path / "plain.ndjson", [{"text": "A."}])
    arguments = ("import", str(plain), "--from", "ndjson", "--tenant", "nobody", *READER)
    said["none"] = await refused(environment, *arguments, "--space", embedder.space)

    dimensions = embedder.dimensions
    assert f"has {dimensions - 1} dimensions; those of the space have {dimensions}" in said["short"]
    assert "are not those of their texts in the space" in said["others"]
    assert f"nobody has vectors of {embedder.space}, not of openai-ada-1536" in said["space"]
    assert "the first records of plain have no vectors to use" in said["none"]
    assert not await services.stores.tenants.exists("nobody")


async def test_a_dry_run_writes_nothing(
    environment: dict[str, str], services: Services, tmp_path: Path
) -> None:
    file = ndjson(tmp_path / "docs.ndjson", [{"text": "A.", "readers": ["public"]}, {"text": "B."}])
    arguments = (
        "import",
        str(file),
        "--from",
        "ndjson",
        "--tenant",
        "planned",
        "--dry-run",
        "--publish",
    )

    said = await command(environment, *arguments)

    assert said.exit_code == 1
    assert "would write 1 documents; 0 are there already" in said.stdout
    assert "documents by who may read them: public 1" in said.stdout
    assert "refused 1: nobody could read it: it has no reader and no owner" in said.stdout
    assert not await services.stores.tenants.exists("planned")


async def test_an_import_that_was_broken_off_goes_on(
    settings: Settings, services: Services, embedder: Embedder, tmp_path: Path
) -> None:
    count = 3 * DOCUMENTS_MAX
    texts = [f"Harbour {number} has a lighthouse." for number in range(count)]
    rows = await vectors(embedder, texts)
    file = ndjson(
        tmp_path / "docs.ndjson",
        [
            {"id": number, "text": text, "vector": row}
            for number, (text, row) in enumerate(zip(texts, rows, strict=True))
        ],
    )

    def stop(report: Report) -> None:
        if report.items == 1:  # of the first batch; the third has not begun
            raise Stopped

    async def imported(on_item: Any) -> Report:
        defaults = Defaults(readers=("tenant",), chunker="whole")
        source = RecordSource(NdjsonReader(file), RecordMapping({}), defaults)
        async with operations.acting_services(settings) as acting:
            return await record_import.import_records(
                acting,
                source,
                "stopped",
                space=embedder.space,
                dry_run=False,
                may_publish=False,
                on_new_tenant=lambda _tenant: None,
                on_vectors=lambda _use: None,
                on_item=on_item,
            )

    with pytest.raises(Stopped):
        await asyncio.create_task(imported(stop))  # who acts in it acts in nothing else
    rest = await asyncio.create_task(imported(lambda _report: None))

    assert DOCUMENTS_MAX <= rest.unchanged < count
    assert (rest.documents, rest.embedded) == (count, 0)
    assert rest.chunks_added == count - rest.unchanged
    assert len(await services.stores.documents.of_source("stopped", "docs")) == count


# A table of PostgreSQL.


@pytest.mark.thorough
async def test_a_table_comes_with_readers_of_a_column(
    environment: dict[str, str], gateway: Gateway, settings: Settings, embedder: Embedder
) -> None:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    texts = ["Harbours have lighthouses.", "Windmills grind corn."]
    rows = await vectors(embedder, texts)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE SCHEMA shop")
        await connection.execute(
            "CREATE TABLE shop.notes (id bigint PRIMARY KEY, content text, team text, cmetadata "
            f"jsonb, embedding vector({embedder.dimensions}))"
        )
        await connection.executemany(
            "INSERT INTO shop.notes VALUES ($1, $2, $3, '{\"page\": 4}', $4::text::vector)",
            [
                (1, texts[0], "sea", json.dumps(rows[0])),
                (2, texts[1], "land", json.dumps(rows[1])),
                (3, "Nobody's.", None, None),
            ],
        )
    finally:
        await connection.close()
    password = url.partition("://")[2].partition("@")[0].partition(":")[2]
    address = url.replace(f":{password}@", "@")
    arguments = ("import", address, "--from", "pgvector", "--tenant", "shop")
    options = ("--collection", "shop.notes", "--column", "readers=team", "--reader-kind", "group")
    secret = {"NEARHIT_IMPORT_SECRET": password}

    done = await command(environment | secret, *arguments, *options, "--space", embedder.space)
    in_address = await refused(
        environment, "import", url, "--from", "pgvector", "--tenant", "shop", *options
    )

    assert done.exit_code == 1
    assert "2 documents (0 unchanged); chunks: 2 added" in done.stdout
    assert ", 0 embedded" in done.stdout
    assert "refused 1: nobody could read it" in done.stdout
    assert password not in done.output
    assert "set NEARHIT_IMPORT_SECRET to it, and leave it out of the address" in in_address
    assert password not in in_address
    ben = await gateway.caller("ben", tenant="shop", groups=["sea"])
    (hit,) = (await ben.search("harbours windmills", metadata=True)).json()["hits"]
    assert (hit["document_id"], hit["metadata"]) == ("notes/1", {"page": 4})


# What the command refuses.


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nothing",), "there is no file nothing"),
        (("http://127.0.0.1:1",), "say what the URL is: --from qdrant, chroma or pgvector"),
        (("nothing", "--dry-run"), "--dry-run needs --from qdrant, chroma, pgvector or ndjson"),
        (("x", "--reader", "tenant"), "--reader needs --from qdrant"),
        (("http://127.0.0.1:1", "--from", "chroma"), "say who may read the documents: --reader"),
        (("x", "--from", "ndjson", "--reader", "hr"), "--reader must be user:ID, group:ID"),
        (("x", "--from", "ndjson", "--owner", "a b"), "--owner must be 1 to 128 characters"),
        (("ftp://h", "--from", "qdrant", *READER), "the address of qdrant must begin with http://"),
        (("http://h", "--from", "qdrant", *READER), "set --collection to the name of the coll"),
        (("postgres://h", "--from", "pgvector", *READER), "set --collection to the name of the ta"),
        (("http://u:p@h", "--from", "chroma", *READER), "the address holds a secret"),
        (("postgres://h/?password=p", "--from", "pgvector", *READER), "the address holds a secret"),
        (("nothing", "--from", "ndjson"), "there is no file nothing"),
        (
            (
                "http://127.0.0.1:1",
                "--from",
                "chroma",
                "--collection",
                "a",
                "--vector",
                "b",
                *READER,
            ),
            "--vector does not apply to Chroma",
        ),
        (
            (str(Path(__file__)), "--from", "ndjson", "--reader-kind", "group", *READER),
            "--reader-kind needs --column readers=NAME",
        ),
        (
            ("http://127.0.0.1:1", "--from", "qdrant", "--collection", "a", *READER),
            "Qdrant can't be reached",
        ),
    ],
)
async def test_what_makes_no_sense_is_told(
    environment: dict[str, str], arguments: Sequence[str], reason: str
) -> None:
    said = await refused(environment, "import", *arguments, "--tenant", "nobody")

    assert said.startswith(f"nearhit: {reason}")


async def test_a_key_that_is_none_is_refused_without_being_repeated(
    environment: dict[str, str],
) -> None:
    arguments = ("http://127.0.0.1:1", "--from", "qdrant", "--collection", "a", *READER)

    said = await refused(
        environment | {"NEARHIT_IMPORT_SECRET": "line\nline"},
        *("import", *arguments, "--tenant", "nobody"),
    )

    assert said == "nearhit: NEARHIT_IMPORT_SECRET has characters that no API key has"


@pytest.mark.thorough
async def test_a_source_that_nearhit_reads_itself_is_not_imported_into(
    environment: dict[str, str], services: Services, tmp_path: Path
) -> None:
    await services.stores.tenants.create("reads", "Reads")
    wiki = SourceConfig("folder", {"path": "wiki"}, None, True, None)
    await SourceStore(services.stores.database).put("reads", "wiki", wiki)
    file = ndjson(tmp_path / "wiki.ndjson", [{"text": "A."}])
    arguments = ("import", str(file), "--from", "ndjson", "--tenant", "reads", *READER)

    said = await refused(environment, *arguments)
    done = await succeeds(environment, *arguments, "--source", "other")

    assert "Nearhit reads a source wiki itself: choose another name by --source" in said
    assert "1 documents (0 unchanged)" in done
