"""`nearhit ingest`: what its paths are read as, and what a person sees meanwhile."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from common.command_errors import CommandError
from gateway.extensions._ingest import ingest_paths, path_kinds
from gateway.extensions._sources.bounded.bounded_source import BoundedSource
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Defaults, Source
from tests.gateway.extensions._sources.files import write
from tests.gateway.support.commands import command, succeeds
from tests.gateway.support.gateways import Caller, Gateway
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.blocking]

WAIT_S_MAX = 120.0


KINDS = path_kinds.path_kinds("")


def opened_sources(named: Sequence[Path], **changes: Any) -> list[ingest_paths.OpenedSource]:
    usual: dict[str, Any] = {
        "name": None,
        "kind": None,
        "kinds": KINDS,
        "columns": [],
        "prune": False,
    }
    return ingest_paths.sources(named, **usual | {"defaults": Defaults()} | changes)


def opened(*named: Path, **changes: Any) -> list[Source]:
    return [each.source for each in opened_sources(named, **changes)]


def kind_of(source: Source) -> str:
    if isinstance(source, BoundedSource):
        return source.kind
    assert isinstance(source, FolderSource)
    return "folder"


# What the paths are.


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("notes", "folder"),
        ("notes.md", "folder"),
        ("notes.pdf", "folder"),
        ("leads.csv", "csv"),
        ("leads.TSV", "csv"),
        ("leads.parquet", "parquet"),
        ("faqs.yaml", "faqs"),
        ("faqs.json", "faqs"),
        ("talks.jsonl", "conversations"),
    ],
)
def test_a_path_goes_by_its_name(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    write(path) if path.suffix else path.mkdir()

    (source,) = opened(path)

    assert kind_of(source) == kind


def test_a_folder_is_a_repository_if_it_is_called_one_or_is_bare(tmp_path: Path) -> None:
    for folder in ("work/.git", "bare.git/objects", "bare.git/refs"):
        (tmp_path / folder).mkdir(parents=True)
    write(tmp_path / "bare.git" / "HEAD")

    work, bare = opened(tmp_path / "work", tmp_path / "bare.git")
    (called,) = opened(tmp_path / "work", kind="git")

    assert [kind_of(source) for source in (work, bare, called)] == ["folder", "git", "git"]
    assert bare.name == "bare"


def test_a_path_is_refused_by_the_name_of_what_reads_it_if_that_is_off(tmp_path: Path) -> None:
    off = path_kinds.path_kinds("sources_git, sources_records")
    table = write(tmp_path / "leads.csv")

    with pytest.raises(CommandError, match=r"is read by the extension sources_git, which is off$"):
        opened(tmp_path, kind="git", kinds=off)
    with pytest.raises(CommandError, match="is read by the extension sources_records, which is o"):
        opened(table, kinds=off)


@pytest.mark.parametrize("name", ["none", "extract", "model"])
def test_who_sums_up_is_one_of_three(name: str) -> None:
    assert ingest_paths.summaries(name) == name
    with pytest.raises(CommandError, match="--summaries must be one of none, extract, model"):
        ingest_paths.summaries(f"{name}s")


def test_a_base_url_is_one_that_opens() -> None:
    assert ingest_paths.base_url("") == ""
    assert ingest_paths.base_url("https://wiki.example") == "https://wiki.example/"
    with pytest.raises(CommandError, match="--base-url must be an http or https URL"):
        ingest_paths.base_url("wiki")


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"name": "one"}, "--source names one source: give exactly one path"),
        (
            {"kind": "mail"},
            "there is no kind 'mail': choose folder, git, csv",
        ),
        ({"columns": ["text"]}, "--column text: write FIELD=NAME"),
        ({"columns": ["text=body"]}, "--column applies only to tables: csv, parquet"),
        ({"prune": True}, "--prune compares a whole folder"),
        ({"defaults": Defaults(chunker="tokens:1")}, "--chunker tokens must have a size from 16"),
        ({"defaults": Defaults(readers=("all",))}, "--reader must be user:ID, group:ID, tenant"),
        ({"defaults": Defaults(owner="a b")}, "--owner must be 1 to 128 characters"),
        ({"defaults": Defaults(tags=("a", ""))}, "--tag String should have at least 1 character"),
    ],
)
def test_what_makes_no_sense_is_told(
    tmp_path: Path, wanted: dict[str, object], reason: str
) -> None:
    named = [write(tmp_path / "a.md"), tmp_path]
    with pytest.raises(CommandError) as refused:
        opened_sources(named, **wanted)

    assert str(refused.value).startswith(reason)


def test_only_one_folder_can_be_watched(tmp_path: Path) -> None:
    note, table = write(tmp_path / "a.md"), write(tmp_path / "b.csv")

    def one_folder(*named: Path) -> str:
        return ingest_paths.one_folder(opened_sources(named))[0].name

    assert one_folder(tmp_path) == tmp_path.name
    for others in ([note], [table], [tmp_path, tmp_path]):
        with pytest.raises(CommandError):
            one_folder(*others)


def test_two_places_of_one_name_are_told_apart_before_any_is_read(tmp_path: Path) -> None:
    for team in ("a", "b"):
        write(tmp_path / team / "docs" / "index.md")
    (tmp_path / "link").symlink_to(tmp_path / "a" / "docs")

    with pytest.raises(CommandError, match=r"would both be the source docs: .* --source NAME"):
        opened(tmp_path / "a" / "docs", tmp_path / "b" / "docs")

    assert [each.name for each in opened(tmp_path / "a" / "docs", tmp_path / "link")] == [
        "docs"
    ] * 2


def test_a_place_is_the_same_by_any_path_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = write(tmp_path / "docs" / "index.md")
    (tmp_path / "link").symlink_to(note.parent)
    monkeypatch.chdir(note.parent)

    ways = (note.parent, Path(), Path("../docs"), tmp_path / "link", note)
    origins = [opened_sources([way], name="x") for way in ways]

    assert len({each.origin.name for (each,) in origins}) == 1
    assert origins[0][0].origin.name.endswith(f":{note.parent.resolve()}")


# The command.


@pytest.mark.slow
async def test_every_kind_is_ingested_and_what_is_bad_is_a_line(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    write(tmp_path / "notes" / "page.html", "<p>Harbours have lighthouses.")
    write(tmp_path / "leads.csv", "key,body\n1,Windmills grind corn.\n2,\n")
    write(tmp_path / "faqs.yaml", "- {question: 'Who bakes?', answer: Bakers do.}\n- {}\n")
    write(tmp_path / "talks.jsonl", json.dumps({"messages": [{"text": "Owls hoot."}]}) + "\n{\n")

    names = ("notes", "faqs.yaml", "talks.jsonl")
    each = [str(tmp_path / name) for name in names]
    first = await command(environment, "ingest", *each, "--tenant", "kinds", "--tag", "all")
    table = await command(
        environment,
        *("ingest", str(tmp_path / "leads.csv"), "--tenant", "kinds"),
        *("--column", "id=key", "--column", "text=body", "--chunker", "whole"),
        *("--summaries", "extract"),
    )

    ana = await gateway.caller("ana", tenant="kinds")
    assert (first.exit_code, table.exit_code) == (1, 1)
    assert (first.stderr, table.stderr) == ("created tenant kinds\n", "")
    assert "refused faqs.yaml, question 2: question: Field required" in first.stdout
    assert "refused talks.jsonl, line 2: Invalid JSON" in first.stdout
    assert "refused leads.csv, row 2: column 'body' is empty" in table.stdout
    for query, document_id in (
        ("lighthouses", "notes/page.html"),
        ("windmills", "leads/1"),
        ("owls", "talks/1"),
    ):
        assert (await ana.found(query, alpha=0))[0] == document_id


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_folder_of_another_place_joins_a_source_only_if_that_is_named(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    for team in ("a", "b"):
        write(tmp_path / team / "docs" / "index.md", f"# Index\n\nOf team {team}.\n")
        write(tmp_path / team / "docs" / f"{team}.md", f"# Team\n\nThe {team} page.\n")
    await gateway.tenant("joined")
    ana = await gateway.caller("ana", tenant="joined")
    first, second = (str(tmp_path / team / "docs") for team in ("a", "b"))
    ingest = ("ingest", "--tenant", "joined", "--prune")
    await succeeds(environment, *ingest, first)

    silent = await command(environment, *ingest, second)
    joined = await command(environment, *ingest, second, "--source", "docs")
    again = await succeeds(environment, *ingest, first)
    (tmp_path / "a" / "docs").rename(tmp_path / "moved")
    moved = await command(environment, *ingest, str(tmp_path / "moved"), "--source", "docs")
    origin = silent.stderr.split("--origin '")[1].split("'")[0]
    same = await succeeds(
        environment, *ingest, str(tmp_path / "moved"), "--source", "docs", "--origin", origin
    )

    assert silent.exit_code == 1
    assert "Choose another name with --source NAME" in silent.stderr
    assert joined.exit_code == 1
    assert "1 documents (0 unchanged), 0 removed" in joined.stdout
    assert "refused index.md: another origin of this source" in joined.stdout
    assert again.startswith("2 documents (2 unchanged), 0 removed")
    assert "0 documents (0 unchanged), 0 removed" in moved.stdout  # both are of the first place
    assert same.startswith("2 documents (2 unchanged), 0 removed")
    for document in ("docs/index.md", "docs/a.md", "docs/b.md"):
        assert (await ana.call("GET", f"/v1/documents/{document}")).status_code == 200
    assert "team a" in (await ana.call("GET", "/v1/documents/docs/index.md")).text


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_prune_of_much_needs_a_yes_and_one_of_all_needs_to_be_told(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    notes = [write(tmp_path / "wiki" / f"{number}.md", f"Note {number}.") for number in range(10)]
    await gateway.tenant("pruned")
    ana = await gateway.caller("ana", tenant="pruned")
    ingest = ("ingest", str(tmp_path / "wiki"), "--tenant", "pruned")
    await succeeds(environment, *ingest)
    for note in notes[:2]:
        note.unlink()
    few = await succeeds(environment, *ingest, "--prune")
    for note in notes[2:5]:
        note.unlink()
    many = await command(environment, *ingest, "--prune")
    told = await succeeds(environment, *ingest, "--prune", "--yes")
    for note in notes[5:]:
        note.unlink()
    every = await command(environment, *ingest, "--prune", "--yes")
    unsure = await command(environment, *ingest, "--prune", "--allow-empty")
    kept = await ana.call("GET", "/v1/documents/wiki/9.md")
    gone = await succeeds(environment, *ingest, "--prune", "--allow-empty", "--yes")

    assert "2 removed" in few
    assert many.exit_code == 1
    assert "kept 3 of 8 documents are no longer in wiki. They stay: to remove" in many.stdout
    assert "3 removed" in told
    assert every.exit_code == unsure.exit_code == 1
    assert "the path may be unmounted" in every.stdout
    assert kept.status_code == 200
    assert "5 removed" in gone


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_reading_that_is_stopped_goes_on_where_it_was(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    for number in range(300):
        write(tmp_path / "many" / f"{number:03}.md", f"# Harbour {number}\n\nOf lamp {number}.")
    await gateway.tenant("stopped")
    ana = await gateway.caller("ana", tenant="stopped")
    arguments = ("ingest", str(tmp_path / "many"), "--tenant", "stopped")

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments),
        env=os.environ | environment,
        stdout=DEVNULL,
        stdin=DEVNULL,
    )
    async with asyncio.timeout(WAIT_S_MAX):
        while not await ana.found("harbour lamp"):
            await asyncio.sleep(0.02)
        process.send_signal(signal.SIGINT)
        code = await process.wait()
    again = await succeeds(environment, *arguments)

    # It may have been done by then, or at the end of its interpreter, which dies of the signal.
    assert code in (0, 130, -signal.SIGINT)
    assert again.startswith("300 documents (")
    assert not again.startswith("300 documents (0 unchanged)")


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_watched_folder_is_kept_in_step_until_it_is_stopped(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    leave = write(tmp_path / "handbook" / "leave.md", "# Leave\n\nEverybody gets 25 days.\n")
    await gateway.tenant("watched")
    ana = await gateway.caller("ana", tenant="watched")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "ingest", str(leave.parent)),
        *("--tenant", "watched", "--watch"),
        env=os.environ | environment,
        stdout=PIPE,
        stdin=DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(WAIT_S_MAX):
            title = (await process.stdout.readline()).decode()
            first = (await process.stdout.readline()).decode()
            await until_found(ana, "handbook/leave.md", "annual leave days")
            write(leave.parent / "travel.md", "# Travel\n\nTrains first.\n")
            second = (await process.stdout.readline()).decode()
            await until_found(ana, "handbook/travel.md", "travel trains")
    finally:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(WAIT_S_MAX):
            rest, _ = await process.communicate()

    assert process.returncode == 130
    assert title == f"watching {leave.parent.resolve()}; Ctrl-C ends it\n"
    # Each line is printed after its commit, so a search finds the document before or after it.
    assert [first.partition(" ")[0], second.partition(" ")[0], rest] == ["1", "1", b""]


async def until_found(caller: Caller, document_id: str, query: str) -> None:
    async with asyncio.timeout(WAIT_S_MAX):
        while document_id not in await caller.found(query):
            await asyncio.sleep(0.02)
