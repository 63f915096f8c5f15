"""The examples of clients, each run as it stands, against a gateway."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "examples" / "clients"
# What test_packages.py runs.
INSTALLED = {"langchain_retriever.py", "llamaindex_retriever.py", "typescript_client.ts"}
LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


async def said(
    caller: Caller, *command: str, arguments: Sequence[str] = (), asks: bool = True
) -> str:
    assert caller.key is not None
    url = str(caller.client.base_url).rstrip("/")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # for the command `nearhit`
    variables = {"PATH": path, "PYTHONPATH": str(ROOT / "clients" / "python")}
    process = await asyncio.create_subprocess_exec(
        *command,
        *(("how many days of annual leave do I get?",) if asks else ()),
        *arguments,
        env=os.environ | variables | {"NEARHIT_URL": url, "NEARHIT_KEY": caller.key},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


def test_all_examples_are_run() -> None:
    names = {file.name for file in CLIENTS.iterdir() if file.suffix in (".py", ".sh", ".ts")}

    searches = {"ordered_search.py", "popular_first.py", "search_plan.py", "subscriber.py"}
    others = {"curl.sh", "mcp_client.py", "openai_client.py", "provision.py", "receipt.sh"}
    assert names == {*searches, *others, *INSTALLED}


async def test_curl_asks_one_question_and_many(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    one, many = (await said(ana, "sh", str(CLIENTS / "curl.sh"))).splitlines()

    assert one.startswith('{"hits":[{"chunk_id"')
    assert many.startswith('{"answers":[{"hits":[{"chunk_id"')


@pytest.mark.thorough
async def test_a_plan_searches_within_what_it_has_found(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    text = await said(ana, sys.executable, str(CLIENTS / "search_plan.py"), arguments=["25 days"])

    assert text == f"leave {LEAVE}\n"


@pytest.mark.thorough
async def test_an_ordered_search_shows_what_stands_around_its_hits(ana: Caller) -> None:
    await ana.put("old", LEAVE, source="handbook")
    await ana.put("leave", LEAVE + " Ask in time.", relates_to={"replaces": ["old"]}, tags=["hr"])

    text = await said(ana, sys.executable, str(CLIENTS / "ordered_search.py"))

    best, relation, *_ = lines = text.splitlines()
    assert best.startswith("leave has ")
    assert "annual" in best
    assert relation == "  outgoing replaces old"
    assert lines[-1] == "tags hr: 1"


@pytest.mark.thorough
async def test_a_receipt_is_verified_without_the_gateway(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    (tmp_path / "key.pem").write_bytes(key)
    monkeypatch.setenv("NEARHIT_RECEIPTS_KEYS", str(tmp_path / "key.pem"))
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", LEAVE)
        text = await said(ana, "sh", str(CLIENTS / "receipt.sh"))

    assert "tenant: acme" in text
    assert text.rstrip().endswith("valid; compared with the answer and the request")


@pytest.mark.thorough
async def test_a_person_is_provisioned_and_ended(gateway: Gateway) -> None:
    provider = await gateway.caller("idp", roles=["provisioner"])
    ben = await gateway.caller("ben")

    script = str(CLIENTS / "provision.py")
    text = await said(provider, sys.executable, script, arguments=["ben", "Sales"], asks=False)

    assert text == "Sales: 1 member\nben: active False\n"
    problem(await ben.call("POST", "/v1/search", json={"query": "leave"}), 401)


@pytest.mark.thorough
async def test_what_was_found_is_reported_as_opened(ana: Caller, admin: Caller) -> None:
    await ana.put("leave", LEAVE)
    await admin.call("PUT", "/v1/popularity", json={"counts": "feedback"})

    text = await said(ana, sys.executable, str(CLIENTS / "popular_first.py"))

    assert text == f"leave {LEAVE}\nrecorded: 1\n"


@pytest.mark.thorough
async def test_the_subscriber_hears_of_the_answer(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    text = await said(ana, sys.executable, str(CLIENTS / "subscriber.py"), arguments=["1"])

    assert text.startswith("revision ")
    assert "leave # Leave" in text
    assert (await ana.call("GET", "/v1/subscriptions")).json()["subscriptions"] == []


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_openai_client_makes_a_store_and_searches_it(ana: Caller) -> None:
    text = await said(ana, sys.executable, str(CLIENTS / "openai_client.py"))

    assert "leave.md: # Leave" in text
    assert await ana.found("annual leave") == []


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_mcp_client_finds_and_reads(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    text = await said(ana, sys.executable, str(CLIENTS / "mcp_client.py"))

    assert "tools: search, fetch, list_sources, check_context, search_plan" in text
    assert "leave urn:nearhit:document:leave" in text
    assert text.rstrip().endswith("25 days of annual leave a year.")
