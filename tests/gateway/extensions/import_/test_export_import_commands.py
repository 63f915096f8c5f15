"""`nearhit export` and `nearhit import`: a tenant written down and read back is the same."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from io import BytesIO
from pathlib import Path
from random import Random
from typing import BinaryIO, TypeVar

import orjson
import pytest

from common.command_errors import CommandError
from gateway.cli import operations
from gateway.extensions._batches.write_batches import DOCUMENTS_MAX
from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from gateway.extensions._sources.sync.report import Report
from gateway.extensions.import_.archive import archive_export
from gateway.extensions.import_.archive.archive import Archive
from gateway.extensions.import_.archive.archive_import import import_archive
from gateway.extensions.import_.errors import NotImportable
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from index.documents.write_causes import Reading
from index.search.query_embedder import Embedder
from index.tenants.tenant_deletion import TenantDeletion
from ingest.write.revision import Put
from tests.gateway.support.commands import command, environment_of, succeeds
from tests.gateway.support.gateways import Caller, Gateway
from tests.index.support.worlds import made_up_documents

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated]

T = TypeVar("T")


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with open_services(settings, Metrics(), embedder) as opened:
        yield opened


async def exported(settings: Settings, tenant: str) -> list[bytes]:
    to = BytesIO()
    async with operations.retry_while_busy(settings) as database:
        await archive_export.export_tenant(database, tenant, to, lambda _done, _of: None)
    return to.getvalue().splitlines()


async def imported(
    settings: Settings,
    file: Path,
    tenant: str,
    on_item: Callable[[Report], None] = lambda _report: None,
) -> Report:
    async def run() -> Report:
        async with operations.acting_services(settings) as services:
            return await import_archive(
                services,
                Archive(file),
                tenant,
                on_new_tenant=lambda _tenant: None,
                on_item=on_item,
                may_publish=True,
            )

    return await as_command(run())


async def as_command(work: Coroutine[None, None, T]) -> T:
    """In a task of its own: who acts in it acts in nothing else."""
    return await asyncio.create_task(work)


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def is_device(path: Path) -> bool:
    return path.is_char_device()


class Stopped(Exception):
    pass


def as_file(lines: list[bytes], folder: Path) -> Path:
    file = folder / "tenant.ndjson"
    file.write_bytes(b"\n".join(lines) + b"\n")
    return file


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_what_is_exported_and_imported_is_exported_alike(
    settings: Settings, services: Services, tmp_path: Path, seed: int
) -> None:
    """A world made up: documents of all kinds of rights, groups, and a source."""
    random = Random(seed)  # noqa: S311  the same world every time, and no secret
    documents = [document for tenant, document in made_up_documents(seed) if tenant == "acme"]
    assert len(documents) > 5
    await services.stores.tenants.create("acme", "Acme \u2028 Ltda.")
    puts = [
        Put(each.document_id, lambda _, each=each: each, may_publish=True)  # type: ignore[misc]
        for each in documents
    ]
    reading = Reading(await services.stores.documents.next_sequence())
    await services.documents.writer.put_all("acme", puts, reading)
    for number in range(random.randrange(4)):
        members = [f"user-{n}" for n in range(random.randrange(4))]
        await services.stores.tenants.put_group("acme", f"group-{number}", members)
    reads = {"path": "handbook", "readers": ["group:group-0"]}
    await SourceStore(services.stores.database).put(
        "acme", "wiki", SourceConfig("folder", reads, "0 3 * * *", False, None)
    )

    first = await exported(settings, "acme")
    report = await imported(settings, as_file(first, tmp_path), "copy")
    second = await exported(settings, "copy")
    again = await imported(settings, as_file(first, tmp_path), "copy")

    assert report.refused == []
    assert (again.documents, again.unchanged) == (len(documents), len(documents))
    assert len(first) == len(documents) + len(await groups(settings)) + 3
    assert without_defaults(second) == without_defaults(first)
    source = await SourceStore(services.stores.database).get("copy", "wiki")
    assert source is not None
    assert (source.paused, source.next_run_at) == (True, None)


async def groups(settings: Settings) -> list[bytes]:
    return [line for line in await exported(settings, "acme") if b'"kind":"group"' in line]


def without_defaults(lines: list[bytes]) -> list[object]:
    """All but the header; a source says of its settings what it did not say before."""
    told = [orjson.loads(line) for line in lines[1:]]
    return [
        {**each, "settings": {**each["settings"]}["path"]} if each["kind"] == "source" else each
        for each in told
    ]


@pytest.mark.thorough
@pytest.mark.slow
async def test_an_export_is_of_one_instant_though_the_tenant_is_written(
    settings: Settings, services: Services, ana: Caller
) -> None:
    """All documents always say the same number, for each version is one commit."""
    stop, number = asyncio.Event(), 0

    async def write() -> None:
        nonlocal number
        while not stop.is_set():
            number += 1
            lines = b"\n".join(
                b'{"document_id": "doc-%d", "text": "This is version %d."}' % (n, number)
                for n in range(60)  # three pages of an export
            )
            answer = await ana.call("POST", "/v1/documents/batch", content=lines)
            assert answer.status_code == 200

    writing = asyncio.create_task(write())
    while not await services.stores.documents.stored("acme", "doc-59"):
        await asyncio.sleep(0.01)
    exports: list[list[bytes]] = []
    while len(exports) < 5 or number < 6:  # on a busy machine a version takes as long as an export
        exports.append(await exported(settings, "acme"))
    stop.set()
    await writing

    for lines in exports:
        told = [orjson.loads(line) for line in lines]
        texts = {each["text"] for each in told if each["kind"] == "document"}
        assert len(texts) == 1
        assert told[0]["documents"] == told[-1]["documents"] == 60


@pytest.mark.thorough
@pytest.mark.slow
async def test_bad_lines_are_told_and_the_rest_goes_on(
    settings: Settings, ana: Caller, tmp_path: Path
) -> None:
    for number in range(3):
        await ana.put(f"doc-{number}", f"Text {number}.", readers=["tenant"])
    header, first, _, third, _ = await exported(settings, "acme")
    lines = [
        header,
        b"no json",
        b'{"kind": "group", "group": "with space", "members": []}',
        b'{"kind": "source", "source": "odd", "reads": "a fax", "settings": {}, "schedule": null}',
        first,
        b'{"kind": "document", "document_id": "lacking"}',
        first.replace(b'["tenant"]', b'["everybody"]'),
        b'{"kind": "group", "group": "late", "members": []}',
        b'{"kind": "riddle"}',
        third,
    ]

    report = await imported(settings, as_file(lines, tmp_path), "copy")

    assert report.documents == 2
    assert [each.path for each in report.refused] == [
        *("line 2", "line 3", "line 6", "line 7", "line 8", "line 9", "end", "odd")
    ]


@pytest.mark.thorough
@pytest.mark.slow
async def test_an_import_that_was_broken_off_goes_on(
    settings: Settings, ana: Caller, tmp_path: Path
) -> None:
    count = 2 * DOCUMENTS_MAX + 1  # two batches are written at a time
    for number in range(count):
        await ana.put(f"doc-{number:03}", f"Text {number}.")
    lines = await exported(settings, "acme")
    file = as_file(lines, tmp_path)

    def break_off(report: Report) -> None:
        if report.items == 1:  # of the first batch; the third has not begun
            raise Stopped

    with pytest.raises(Stopped):
        await imported(settings, file, "copy", break_off)
    report = await imported(settings, file, "copy")

    assert report.documents == count
    assert DOCUMENTS_MAX <= report.unchanged < count
    assert (await exported(settings, "copy"))[1:] == lines[1:]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"kind":"header","format":2,"tenant":"a","name":"","revision":1,"documents":0}', "2"),
        (b'{"document_id": "leave", "text": "Leave."}', "export"),
        (b"", "export"),
        (b"\x00\xff", "export"),
    ],
)
def test_what_is_no_export_of_this_format_is_refused(tmp_path: Path, text: bytes, why: str) -> None:
    with pytest.raises(NotImportable, match=why):
        Archive(as_file([text], tmp_path))


@pytest.mark.slow
async def test_the_commands_write_and_read_a_file(
    settings: Settings, gateway: Gateway, ana: Caller, tmp_path: Path
) -> None:
    environment = environment_of(settings)
    file = tmp_path / "acme.ndjson"
    await ana.put("leave", "Everybody gets 25 days.", readers=["tenant"])

    to_file = await command(environment, "export", "acme", "--to", str(file))
    to_output = await command(environment, "export", "acme")
    read = await command(environment, "import", str(file), "--tenant", "copy")
    again = await command(environment, "import", str(file), "--tenant", "copy")
    unknown = await command(environment, "export", "nobody")
    (tmp_path / "odd").write_text("odd")
    odd = await command(environment, "import", str(tmp_path / "odd"), "--tenant", "copy")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    short = await command(environment, "import", str(file), "--tenant", "copy")

    assert (to_file.exit_code, to_file.stdout) == (0, "")
    assert to_file.stderr == "exported 1 documents of acme\n"
    assert to_output.stdout_bytes.splitlines()[1:] == (await exported(settings, "copy"))[1:]
    assert (read.exit_code, read.stderr) == (0, "created tenant copy\n")
    assert "1 documents (0 unchanged)" in read.stdout  # after its progress, if it took long
    assert (again.exit_code, again.stderr) == (0, "")
    assert unknown.exit_code == 1
    assert "there is no tenant nobody" in unknown.stderr
    assert odd.exit_code == 1
    assert "nearhit export" in odd.stderr
    assert short.exit_code == 1
    assert "incomplete" in short.stdout
    ben = await gateway.caller("ben", tenant="copy")
    assert await ben.found("how many days") == ["leave"]


@pytest.mark.sampled("half of")
@pytest.mark.parametrize("written", [b"", b"half of"])
async def test_an_export_that_fails_leaves_the_file_of_before(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bytes
) -> None:
    file = tmp_path / "keep.ndjson"
    file.write_bytes(b"precious")

    async def fail(_database: object, _tenant: str, target: BinaryIO, _on_page: object) -> int:
        target.write(written)
        raise CommandError("it failed")

    monkeypatch.setattr(archive_export, "export_tenant", fail)
    failed = await command(environment_of(settings), "export", "acme", "--to", str(file))

    assert failed.exit_code == 1
    assert "it failed" in failed.stderr
    assert file.read_bytes() == b"precious"
    assert files(tmp_path) == [file]


@pytest.mark.thorough
async def test_an_export_replaces_the_file_that_a_link_leads_to(
    settings: Settings, ana: Caller, tmp_path: Path
) -> None:
    file, link = tmp_path / "keep.ndjson", tmp_path / "latest"
    file.write_bytes(b"old")
    link.symlink_to(file.name)

    done = await command(environment_of(settings), "export", "acme", "--to", str(link))

    assert done.exit_code == 0, done.output
    assert link.is_symlink()
    assert file.read_bytes().startswith(b"{")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.thorough
async def test_an_export_into_a_device_is_written_there(settings: Settings, ana: Caller) -> None:
    done = await command(environment_of(settings), "export", "acme", "--to", "/dev/null")

    assert done.exit_code == 0, done.output
    assert is_device(Path("/dev/null"))


async def test_a_full_disk_is_not_taken_for_a_server_that_is_away(
    settings: Settings, ana: Caller
) -> None:
    failed = await command(environment_of(settings), "export", "acme", "--to", "/dev/full")

    assert failed.exit_code == 1
    assert failed.stderr.endswith("No space left on device\n")
    assert "PostgreSQL" not in failed.stderr


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_command_to_delete_a_tenant_asks_first(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    environment = environment_of(settings)

    asked = await command(environment, "tenant", "delete", "acme")
    still = await ana.call("GET", "/v1/documents")
    done = await succeeds(environment, "tenant", "delete", "acme", "--yes")
    gone = await ana.call("GET", "/v1/documents")
    again = await command(environment, "tenant", "delete", "nobody", "--yes")

    assert asked.exit_code == 1
    assert still.status_code == 200
    assert done.startswith("queued ")
    assert gone.status_code == 401
    assert "there is no tenant nobody" in again.stderr


@pytest.mark.slow
async def test_nothing_is_imported_into_a_tenant_that_is_being_deleted(
    settings: Settings, ana: Caller, tmp_path: Path
) -> None:
    await ana.put("leave", "Everybody gets 25 days.")
    file = as_file(await exported(settings, "acme"), tmp_path)
    async with operations.retry_while_busy(settings) as database:
        await TenantDeletion(database).close("acme")

    with pytest.raises(Exception, match="being deleted"):
        await imported(settings, file, "acme")
