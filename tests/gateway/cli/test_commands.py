"""What commands of `nearhit` say and do, and what they say where they can't."""

import json
import re
from pathlib import Path

import pytest

from tests.gateway.support.commands import LEAVE, command, refused, succeeds
from tests.gateway.support.gateways import Caller, Gateway
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]


async def test_a_tenant_and_a_key_are_made_and_the_key_works(
    environment: dict[str, str], gateway: Gateway
) -> None:
    created = await succeeds(environment, "tenant", "create", "acme", "--name", "Acme Ltda.")
    key = await succeeds(
        environment,
        *("key", "create", "--tenant", "acme", "--subject", "ben"),
        *("--group", "sales", "--group", "people", "--role", "reader"),
        *("--expires", "2099-12-31"),
    )
    ana = await gateway.caller("ana")
    await ana.put("leave", LEAVE, readers=["group:people"])
    ben = Caller(gateway.client, key.strip())

    assert created == "created tenant acme\n"
    assert re.fullmatch(r"nh_[A-Za-z0-9_-]{43}\n", key)
    assert await ben.found("annual leave") == ["leave"]
    assert (await ben.call("PUT", "/v1/documents/own", json={"text": "x"})).status_code == 403
    caller = (await ben.call("GET", "/v1/caller")).json()
    assert caller["expires_at"] == "2099-12-31T23:59:59Z"
    assert (
        await gateway.operator.call("POST", "/v1/tenants", json={"id": "acme"})
    ).status_code == 409


@pytest.mark.thorough
async def test_what_can_not_be_made_is_told_in_a_line(environment: dict[str, str]) -> None:
    await succeeds(environment, "tenant", "create", "twice")

    assert "there is a tenant twice already" in await refused(
        environment, "tenant", "create", "twice"
    )
    assert "id: " in await refused(environment, "tenant", "create", "NOT GOOD")
    assert "there is no tenant nobody" in await refused(
        environment, "key", "create", "--tenant", "nobody"
    )
    assert "there is no tenant nobody" in await refused(
        environment, "tenant", "delete", "nobody"
    )  # before it asks for confirmation
    assert "roles.0: " in await refused(
        environment, "key", "create", "--tenant", "twice", "--role", "king"
    )
    assert "add --role writer" in await refused(
        environment, "key", "create", "--tenant", "twice", "--role", "publisher"
    )
    assert "there is no tenant nobody" in await refused(
        environment, "search", "annual leave", "--tenant", "nobody"
    )
    assert "the question is blank" in await refused(environment, "search", " ")
    assert "/nowhere" in await refused(
        environment | {"NEARHIT_EMBEDDER": "onnx:/nowhere"}, "search", "annual leave"
    )


async def test_a_folder_is_found_over_http_at_once_and_what_it_loses_is_pruned(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (folder / "travel.md").write_text("# Travel\n\nBook trains with the travel desk.\n")
    (folder / "salary.md").write_text("---\nreaders: ['group:finance']\n---\n# Salary bands\n")
    (folder / "broken.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    await gateway.tenant("readers")
    ana = await gateway.caller("ana", tenant="readers")
    fay = await gateway.caller("fay", tenant="readers", groups=["finance"])
    assert await ana.found("leave travel salary") == []  # and so the empty answer is cached
    ingest = ("ingest", str(folder), "--tenant", "readers")

    first = await command(environment, *ingest)
    found_first = set(await ana.found("leave travel salary"))
    (folder / "broken.md").unlink()
    (folder / "travel.md").unlink()
    (folder / "leave.md").write_text(LEAVE.replace("25", "27"))
    second = await succeeds(environment, *ingest)
    found_second = set(await ana.found("leave travel salary"))
    third = await succeeds(environment, *ingest, "--prune")
    found_third = set(await ana.found("leave travel salary"))

    assert first.exit_code == 1  # for what it could not read
    assert "3 documents" in first.stdout
    assert "broken.md" in first.stdout
    assert found_first == {"handbook/leave.md", "handbook/travel.md"}
    assert set(await fay.found("salary")) == {*found_third, "handbook/salary.md"}
    assert "2 documents" in second
    assert found_second == found_first
    assert "27 days" in (await ana.search("annual leave")).text
    assert "1 removed" in third
    assert found_third == {"handbook/leave.md"}


@pytest.mark.thorough
async def test_a_folder_and_what_is_found_of_it_are_told_as_json(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    await gateway.tenant("scripted")
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (folder / "bad.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    (folder / "rows.csv").write_text("id\n1\n")
    to = ("--tenant", "scripted", "--json")

    ingested = await command(environment, "ingest", str(folder), *to)
    found = json.loads(await succeeds(environment, "search", "annual leave", *to))
    audited = json.loads(await succeeds(environment, "audit", "index", *to))

    (read,) = json.loads(ingested.stdout)["sources"]
    assert (ingested.exit_code, ingested.stderr) == (1, "")
    assert (read["source"], read["documents"], read["chunks"]["added"]) == ("handbook", 1, 1)
    assert [item["path"] for item in read["refused"]] == ["bad.md"]
    assert [skipped["examples"] for skipped in read["skipped"]] == [["rows.csv"]]
    assert [hit["document_id"] for hit in found["hits"]] == ["handbook/leave.md"]
    assert (audited["documents"], audited["unrepaired"]) == (1, 0)


@pytest.mark.thorough
async def test_a_search_shows_what_the_principal_may_read(
    environment: dict[str, str], gateway: Gateway
) -> None:
    await gateway.tenant("shown")
    ana = await gateway.caller("ana", tenant="shown")
    text = LEAVE + "\n\x1b]0;hidden\x07\n"
    await ana.put("leave", text, title="Annual [leave]", readers=["group:people"])
    search = ("search", "annual leave", "--tenant", "shown")

    member = await succeeds(environment, *search, "--subject", "ben", "--group", "people")
    stranger = await succeeds(environment, *search, "--subject", "ben")

    assert "Annual [leave]" in member
    assert "Everybody gets 25 days of annual leave a year." in member
    assert re.search(r"^leave \(shared\)$", member, re.MULTILINE)
    assert "\ufffd]0;hidden\ufffd" in member  # no command to the terminal
    assert "25 days" not in stranger


@pytest.mark.thorough
async def test_a_tenant_is_moved_to_another_embedder_and_found_by_whoever_knows_both(
    environment: dict[str, str], gateway: Gateway
) -> None:
    await gateway.tenant("moving")
    ana = await gateway.caller("ana", tenant="moving")
    await ana.put("leave", LEAVE)
    move = ("reembed", "--to", "test", "--tenant", "moving")

    moved = await succeeds(environment, *move)
    again = await succeeds(environment, *move)
    both = environment | {"NEARHIT_EMBEDDER_NEXT": "test"}
    found = await succeeds(both, "search", "leave", "--tenant", "moving", "--subject", "ana")
    unaware = await ana.search("annual leave")

    assert moved == "moved to test: moving\n"
    assert again == "moved to test: no tenant; all were there already\n"
    assert "25 days" in found
    assert unaware.headers["nearhit-degraded"] == "lexical-only"
    assert [hit["document_id"] for hit in unaware.json()["hits"]] == ["leave"]


@pytest.mark.thorough
async def test_what_can_not_be_moved_is_told_in_a_line(environment: dict[str, str]) -> None:
    missing = await refused(environment, "reembed", "--to", "onnx:/nowhere")
    unknown = await refused(environment, "reembed", "--to", "test", "--tenant", "nobody")

    assert "/nowhere" in missing
    assert "there is no tenant nobody" in unknown


@pytest.mark.parametrize(
    ("given", "missing"),
    [("NEARHIT_DATABASE_URL", "NEARHIT_REDIS_URL"), ("NEARHIT_REDIS_URL", "NEARHIT_DATABASE_URL")],
)
async def test_half_of_the_servers_is_refused(
    environment: dict[str, str], given: str, missing: str
) -> None:
    half = {name: value for name, value in environment.items() if name != missing}

    line = await refused(half, "tenant", "create", "acme")

    assert f"{given} is set and {missing} is not" in line
    assert environment[given] not in line  # it holds a password


async def test_each_bad_setting_names_its_variable(environment: dict[str, str]) -> None:
    bad = {
        "NEARHIT_PORT": "a lot",
        "NEARHIT_EMBEDDER": "black magic",
        "NEARHIT_LANGUAGE": "plain English",
        "NEARHIT_DEADLINE_S": "-1",
        "NEARHIT_WORKERS": "0",
        "NEARHIT_ADMIN_KEY": "hush-hush",
        "NEARHIT_CACHE_PREFIX": "app{one}:",
    }

    line = await refused(environment | bad, "tenant", "create", "acme")

    for name in bad:
        assert f"{name}: " in line
    assert "hush-hush" not in line
    assert "NEARHIT_EMBEDDER: does not have this form: `static`: built in; " in line


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NEARHIT_DATABASE_URL", "nonsense"),
        ("NEARHIT_DATABASE_URL", "postgresql://me:hunter2@[bad/x"),
        ("NEARHIT_REDIS_URL", "nonsense"),
        ("NEARHIT_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/x"),
    ],
)
async def test_an_address_where_nothing_is_is_told_in_a_line(
    environment: dict[str, str], name: str, value: str
) -> None:
    line = await refused(environment | {name: value}, "search", "annual leave")

    assert "hunter2" not in line


async def test_a_server_that_is_away_is_told_with_its_address(environment: dict[str, str]) -> None:
    away = environment | {"NEARHIT_DATABASE_URL": "postgresql://me:password@127.0.0.1:1/x"}

    line = await refused(away, "search", "annual leave")

    assert "PostgreSQL at 127.0.0.1:1 can't be reached" in line


@pytest.mark.parametrize("line", [("key", "list"), ("curation", "list")], ids=" ".join)
async def test_a_list_of_a_tenant_that_does_not_exist_is_not_empty(
    environment: dict[str, str], line: tuple[str, ...]
) -> None:
    assert "there is no tenant nope" in await refused(environment, *line, "--tenant", "nope")


@pytest.mark.sampled("tenant list")
@pytest.mark.parametrize(
    "line",
    [
        ("tenant", "list"),
        ("key", "list", "--tenant", "default"),
        ("jobs", "list"),
        ("curation", "list"),
        ("audit", "log"),
        ("status",),
        ("usage",),
    ],
    ids=" ".join,
)
async def test_a_list_is_written_as_json_for_scripts(
    environment: dict[str, str], line: tuple[str, ...]
) -> None:
    await command(environment, "tenant", "create", "default")

    output = json.loads(await succeeds(environment, *line, "--json"))

    if line == ("tenant", "list"):
        assert "default" in [row["tenant"] for row in output]
    else:
        assert isinstance(output, dict if line[0] in ("status", "usage") else list)
