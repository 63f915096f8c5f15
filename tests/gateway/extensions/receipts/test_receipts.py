"""Receipts: what they state of an answer, who can verify it, and what a forger cannot change."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from starlette.types import Message

from common.command_errors import CommandError
from gateway.api.app import create_app
from gateway.extensions.receipts import receipt_keys
from gateway.extensions.receipts.receipt import (
    CHUNKS_MAX,
    TYPE,
    InvalidReceipt,
    Statement,
    sign,
    verify,
)
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.commands import command as run_command
from tests.gateway.support.commands import refused, succeeds
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
ASKED = b'{"query": "annual leave"}'
WITH_RECEIPT = {"Prefer": "receipt"}


def private_pem(key: Any) -> bytes:
    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "new.pem"
    path.write_bytes(private_pem(Ed25519PrivateKey.generate()))
    return path


@pytest.fixture
def public_file(tmp_path: Path, key_file: Path) -> Path:
    """The public half of the key alone."""
    key = receipt_keys.load([str(key_file)]).signing.public_key()
    path = tmp_path / "public.pem"
    path.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


@pytest.fixture
def newer_file(tmp_path: Path) -> Path:
    path = tmp_path / "newer.pem"
    path.write_bytes(private_pem(Ed25519PrivateKey.generate()))
    return path


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, key_file: Path) -> None:
    monkeypatch.setenv("NEARHIT_RECEIPTS_KEYS", str(key_file))


async def ask(caller: Caller, asked: bytes = ASKED, **headers: str) -> httpx2.Response:
    answer = await caller.call("POST", "/v1/search", content=asked, headers=headers or WITH_RECEIPT)
    assert answer.status_code == 200, answer.text
    return answer


async def published(gateway: Gateway) -> dict[str, Any]:
    answer = await gateway.stranger.call("GET", "/v1/receipts/keys")
    assert answer.status_code == 200, answer.text
    keys: dict[str, Any] = answer.json()
    return keys


def refusal(receipt: str, keys: Mapping[str, Any], **compared: bytes) -> str:
    whole = {"request": None, "answer": None} | compared
    with pytest.raises(InvalidReceipt) as error:
        verify(receipt, keys, **whole)
    return str(error.value)


async def test_fresh_and_cached_answers_have_a_receipt_of_their_own(
    gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    keys = await published(gateway)
    texts = []
    for _ in range(4):  # computed, from memory, and as a repeat would be
        answer = await ask(ana)
        receipt = answer.headers["nearhit-receipt"]

        statement = verify(receipt, keys, request=ASKED, answer=answer.content)

        assert statement.revision == answer.headers["nearhit-revision"]
        texts = [hit["text"].encode() for hit in answer.json()["hits"]]
        assert statement.chunks == tuple(hashlib.sha256(text).hexdigest() for text in texts)
        assert statement.tenant == gateway.tenant_name
    assert texts
    written = await ana.put("leave", LEAVE + " And more.")
    later = await ask(ana)
    statement = verify(later.headers["nearhit-receipt"], keys, request=ASKED, answer=later.content)
    assert statement.revision.partition(";")[0] == str(written["revision"])


@pytest.mark.thorough
async def test_a_receipt_names_the_last_row_of_the_audit_log(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    keys = await published(gateway)

    answer = await ask(ana)

    head = verify(answer.headers["nearhit-receipt"], keys, request=None, answer=None).audit_log
    assert head is not None
    log = (await admin.call("GET", "/v1/audit/log")).json()
    rows = {row["number"]: row["hash"] for row in log["rows"]}
    assert rows[head.number] == head.hash


async def test_scope_and_query_tell_callers_and_questions_apart(
    gateway: Gateway, ana: Caller, ben: Caller
) -> None:
    keys = await published(gateway)
    narrow = {"filter": {"sources": ["wiki"]}}
    token = (await ana.call("POST", "/v1/tokens", json=narrow)).json()["token"]

    ours, theirs, narrowed, other = [
        verify(answer.headers["nearhit-receipt"], keys, request=None, answer=None)
        for answer in (
            await ask(ana),
            await ask(ben),
            await ask(Caller(gateway.client, token)),
            await ask(ana, b'{"query": "travel"}'),
        )
    ]

    assert ours.scope != theirs.scope
    assert ours.query == theirs.query
    assert ours.scope == narrowed.scope
    assert len({ours.query, narrowed.query, other.query}) == 3


async def test_a_receipt_comes_only_when_it_is_asked_for_and_a_repeat_gets_it_too(
    ana: Caller,
) -> None:
    await ana.put("leave", LEAVE)
    for _ in range(3):
        assert "nearhit-receipt" not in (await ask(ana, Prefer="respond-async")).headers
        assert "nearhit-receipt" in (await ask(ana, Prefer="respond-async, receipt")).headers


async def test_nothing_of_a_receipt_can_be_changed(gateway: Gateway, ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    keys = await published(gateway)
    answer = await ask(ana)
    receipt = answer.headers["nearhit-receipt"]
    head, payload, signature = receipt.split(".")
    forger = Ed25519PrivateKey.generate()
    said = jwt.api_jws.decode(receipt, options={"verify_signature": False})
    kid = keys["keys"][0]["kid"]

    def forged(key: Any, algorithm: str, **headers: str) -> str:
        return jwt.api_jws.encode(said, key, algorithm, {"kid": kid, "typ": TYPE} | headers)

    assert "another answer" in refusal(receipt, keys, answer=answer.content + b" ")
    assert "another request" in refusal(receipt, keys, request=ASKED + b" ")
    assert "signature" in refusal(forged(forger, "EdDSA"), keys)
    assert "none of the keys" in refusal(forged(forger, "EdDSA", kid="mine"), keys)
    assert "another kind" in refusal(forged(forger, "EdDSA", typ="JWT"), keys)
    for text in (
        forged("x" * 32, "HS256"),
        forged(None, "none"),
        f"{head}.{payload[:-4]}AAAA.{signature}",
        f"{head}.{payload}.",
        "",
        "a.b.c",
        "é.é.é",
    ):
        assert refusal(text, keys)
    malformed: list[dict[str, Any]] = [
        {},
        {"keys": 7},
        {"keys": [7]},
        {"keys": [{"kid": kid}]},
        {"keys": []},
    ]
    for broken in malformed:
        assert refusal(receipt, broken)


def test_a_receipt_is_not_valid_for_an_answer_of_other_chunks(key_file: Path) -> None:
    keys = receipt_keys.load([str(key_file)])
    texts = [f"Rule {number}." for number in range(CHUNKS_MAX + 1)]
    digests = tuple(hashlib.sha256(text.encode()).hexdigest() for text in texts)
    answer = orjson.dumps({"hits": [{"text": text} for text in texts]})

    def receipt_of(chunks: tuple[str, ...]) -> str:
        statement = Statement(
            iat=0,
            tenant="acme",
            request="",
            query="",
            scope="",
            revision="1",
            answer=hashlib.sha256(answer).hexdigest(),
            chunks=chunks,
            audit_log=None,
        )
        return sign(statement, keys)

    verify(receipt_of(digests[:CHUNKS_MAX]), keys.published, request=None, answer=answer)
    for other in (digests, digests[:1], digests[1:], ()):
        assert "its chunks" in refusal(receipt_of(other), keys.published, answer=answer)


@pytest.mark.thorough
async def test_old_keys_verify_old_receipts_while_a_new_one_signs(
    settings: Settings,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    public_file: Path,
    newer_file: Path,
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        old = (await ask(ana)).headers["nearhit-receipt"]
        old_keys = await published(gateway)
    monkeypatch.setenv("NEARHIT_RECEIPTS_KEYS", f"{newer_file}, {public_file}")
    async with running(settings, embedder) as gateway:
        keys = await published(gateway)
        new = (await ask(gateway.as_(Caller(gateway.client, ana.key)))).headers["nearhit-receipt"]

    for receipt in (old, new):
        verify(receipt, keys, request=ASKED, answer=None)
    assert "none of the keys" in refusal(new, old_keys)
    assert all("d" not in key for key in keys["keys"])


async def test_a_gateway_without_keys_makes_no_receipts(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEARHIT_RECEIPTS_KEYS")
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")

        assert "nearhit-receipt" not in (await ask(ana)).headers
        problem(await gateway.stranger.call("GET", "/v1/receipts/keys"), 404)


def test_files_that_are_no_ed25519_keys_are_refused(tmp_path: Path, public_file: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    other = tmp_path / "other.pem"
    wrong.write_bytes(private_pem(ec.generate_private_key(ec.SECP256R1())))
    other.write_text("no key")

    for path in (wrong, other, public_file, tmp_path / "none.pem", tmp_path):
        with pytest.raises(CommandError, match=f"NEARHIT_RECEIPTS_KEYS: .*{path}"):
            receipt_keys.load([str(path)])


@pytest.mark.thorough
async def test_the_command_verifies_offline(gateway: Gateway, ana: Caller, tmp_path: Path) -> None:
    await ana.put("leave", LEAVE)
    answer = await ask(ana)
    files = {
        "receipt": answer.headers["nearhit-receipt"].encode(),
        "keys": json.dumps(await published(gateway)).encode(),
        "answer": answer.content,
        "request": ASKED,
        "other": b'{"hits": []}',
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    paths = {name: str(tmp_path / name) for name in files}
    command = ("verify", paths["receipt"], "--keys", paths["keys"])
    compared = ("--answer", paths["answer"], "--request", paths["request"])

    valid = await succeeds({}, *command, *compared)
    as_json = json.loads(await succeeds({}, *command, "--json"))

    assert "valid; compared with the answer and the request" in valid
    assert f"\nchunk 1: {as_json['chunks'][0]}\n" in valid
    head = as_json["audit_log"]
    assert f"\naudit_log: {as_json['tenant']}:{head['number']}:{head['hash']}\n" in valid
    assert as_json["request"] == hashlib.sha256(ASKED).hexdigest()
    said = await refused({}, *command, "--answer", paths["other"])
    assert "another answer" in said
    no_keys = await refused({}, "verify", paths["receipt"], "--keys", paths["receipt"])
    assert "no JSON Web Key Set" in no_keys


async def test_a_start_with_a_missing_key_is_refused_in_one_line(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NEARHIT_RECEIPTS_KEYS", str(tmp_path / "none.pem"))
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        sent.append(message)

    with pytest.raises(CommandError):
        await create_app(settings, Metrics(), embedder)(
            {"type": "lifespan", "state": {}}, receive, send
        )

    line = f"NEARHIT_RECEIPTS_KEYS: {tmp_path / 'none.pem'}: No such file or directory"
    assert sent == [{"type": "lifespan.startup.failed", "message": line}]


async def test_the_answer_of_a_receipt_is_given_again_and_what_has_changed_it_is_named(
    gateway: Gateway, ana: Caller, admin: Caller, tmp_path: Path
) -> None:
    assert (await admin.call("PUT", "/v1/replay", json={"days": 2})).status_code == 200
    await ana.put("leave", LEAVE, readers=["tenant"])
    answer = await ask(ana)
    (tmp_path / "receipt").write_text(answer.headers["nearhit-receipt"])
    (tmp_path / "request").write_bytes(ASKED)
    assert admin.key
    settings = {"NEARHIT_URL": str(gateway.client.base_url), "NEARHIT_KEY": admin.key}
    command = ("replay", f"{tmp_path}/receipt", "--request", f"{tmp_path}/request")

    same = await succeeds(settings, *command, "--subject", "ana")
    as_json = json.loads(await succeeds(settings, *command, "--subject", "ana", "--json"))
    changed = await ana.put("leave", LEAVE.replace("25", "30"), readers=["tenant"])
    other = await succeeds(settings, *command, "--subject", "ana")
    assert (await ana.call("DELETE", "/v1/documents/leave")).status_code == 200
    forgotten = await run_command(settings, *command, "--subject", "ana")

    revision = answer.headers["nearhit-revision"].partition(";")[0]
    assert f"revision {revision}: the answer is as the receipt states" in same
    assert "today: the answer is the same" in same
    assert (as_json["is_as_stated"], as_json["today"]["is_same"]) == (True, True)
    assert f"today: another one, since revision {changed['revision']} of" in other
    assert other.endswith("which changed: leave\n")
    assert forgotten.exit_code == 1
    assert "another one than the receipt states" in forgotten.stdout
    assert "documents have been forgotten since" in forgotten.stdout
