"""Keys, and what people ask for, are told to nobody: not where they belong, and not elsewhere."""

import asyncio
import base64
import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import httpx2
import pytest
from pydantic import SecretStr

from gateway.monitoring import logs
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import ADMIN_KEY
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.routes import ROUTES
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WORDS = ("zanzibar", "quokka")  # of what is asked for, and of nothing else
QUERY = " ".join(WORDS)
LINES_S_MAX = 60.0
LAST = "the-last-one"

BODIES = (
    b"not json",
    b'{"query": 7}',
    b'{"query": "%s", "top_k": -1}' % QUERY.encode(),
    b'{"query": "%s", "%s": 1}' % (QUERY.encode(), QUERY.encode()),
    b'{"query": "%s"' % QUERY.encode(),
)


@pytest.fixture(autouse=True)
def talkative() -> Iterator[None]:
    """Everything that may be logged is."""
    logs.configure("debug")
    yield
    logs.configure("error")


class Wire:
    """Sends what a test says, and keeps all that comes back."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self.told: list[str] = []
        self.statuses: set[int] = set()

    async def send(self, method: str, path: str, **kwargs: object) -> httpx2.Response:
        answer = await self._client.request(method, path, **kwargs)  # type: ignore[arg-type]  # as the client has it
        self.statuses.add(answer.status_code)
        self.told.append(f"{answer.status_code} {answer.headers} {answer.text}")
        return answer


def misplaced(key: str) -> Iterator[dict[str, str]]:
    """Headers with a key where none belongs, or in a form that is none."""
    yield {"Authorization": key}
    yield {"Authorization": f"Basic {key}"}
    yield {"Authorization": f"Bearer  {key}"}
    yield {"Authorization": f"Bearer {key} {key}"}
    yield {"Authorization": f"Bearer {key[:-1]}"}
    yield {"Authorization": f"Basic {base64.b64encode(f'key:{key}'.encode()).decode()}"}
    yield {"Authorization": f"bearer\t{key}"}
    yield {"Authorization": f"Bearer: {key}"}
    yield {"Authorization": f'Bearer "{key}"'}
    yield {"Authorization": f"Token token={key}"}
    yield {"Authorization": f"Bearer {key}.e30.{key}"}  # as if it were a web token
    yield {"Authorization": f"Bearer {base64.b64encode(f'key:{key}'.encode()).decode()}"}
    yield {"Proxy-Authorization": f"Bearer {key}"}
    yield {"Content-Type": key, "Authorization": f"Bearer {key}"}
    yield {"Content-Type": f"application/json; charset={key}", "Authorization": f"Bearer {key}"}
    yield {"Content-Encoding": key, "Authorization": f"Bearer {key}"}
    yield {"Accept": key, "User-Agent": key, "Referer": f"https://agent.example/?key={key}"}
    yield {"X-Api-Key": key}
    yield {"Cookie": f"key={key}"}
    yield {"X-Request-Id": key}
    yield {"X-Request-Id": f"Bearer-{key}"}
    yield {"Request-Timeout": key, "Authorization": f"Bearer {key}"}
    yield {"Prefer": key, "Authorization": f"Bearer {key}"}


async def everywhere(wire: Wire, key: str, bodies: Sequence[bytes]) -> None:
    """Each call with the key as it should be, and with it in all the wrong places."""
    bearer = {"Authorization": f"Bearer {key}"}
    for call in ROUTES:
        if call.path == "/openapi.json":  # one text for all
            continue
        path = re.sub(r"{[^}]*}", "nothing", call.path)
        await wire.send(call.method, path, headers=bearer)
        await wire.send(call.method, path)
        for body in bodies:
            await wire.send(call.method, path, headers=bearer, content=body)
        of_key = re.sub(r"{[^}]*}", key, call.path)
        await wire.send(call.method, of_key, headers=bearer, content=f'{{"{key}": "{key}"}}')
        await wire.send(call.method, f"{path}?key={key}&after={key}&limit={key}", headers=bearer)
    for headers in misplaced(key):
        await wire.send(
            "POST",
            "/v1/search",
            headers={"Content-Type": "application/json"} | headers,
            content=b'{"query": "%s"}' % QUERY.encode(),
        )
    twice = [("Authorization", f"Bearer {key}"), ("Authorization", f"Basic {key}")]
    await wire.send("POST", "/v1/search", headers=twice, json={"query": QUERY})
    for sent in (f'{{"{key}": 1, "{key}": 2}}', f'{{"query": "{key}', f"\ufeff{key}", key):
        await wire.send("POST", "/v1/search", headers=bearer, content=sent)
        await wire.send("POST", "/mcp", headers=bearer, content=sent)
    fields = ("query", "scopes", "filter", "fusion", "language", "semantic", "top_k")
    for field in fields:
        asked = {"query": QUERY, field: key}
        await wire.send("POST", "/v1/search", headers=bearer, json=asked)
    await wire.send("POST", f"/{key}", headers=bearer)
    await wire.send("PATCH", f"/v1/search?{key}", headers=bearer)


async def logged(capfd: pytest.CaptureFixture[str], gateway: Gateway) -> str:
    """All that was written so far, which comes a little later than it was told."""
    await gateway.client.get("/healthz", headers={"X-Request-Id": LAST})
    out = ""
    async with asyncio.timeout(LINES_S_MAX):
        while f'"{LAST}"' not in out:
            captured = capfd.readouterr()
            out += captured.out + captured.err
            await asyncio.sleep(0.01)
    return out


def assert_untold(told: str, *keys: str) -> None:
    for key in keys:
        assert key.removeprefix("nh_") not in told
        assert hashlib.sha256(key.encode()).hexdigest() not in told
        assert base64.b64encode(f"key:{key}".encode()).decode() not in told
    assert len(told) > 1_000


async def test_no_key_and_no_question_is_told_whatever_is_asked_and_whatever_fails(
    settings: Settings, embedder: Embedder, capfd: pytest.CaptureFixture[str]
) -> None:
    assert settings.database_url is not None
    moody = MoodyEmbedder(embedder)
    async with database_proxy(settings.database_url.get_secret_value()) as proxy:
        behind = settings.model_copy(
            update={
                "database_url": SecretStr(proxy.url),
                "log_level": "debug",
                "key_requests_per_s": 0.0,
            }
        )
        async with running(behind, moody) as gateway:
            await gateway.tenant("acme")
            wire = Wire(gateway.client)
            ana = await gateway.caller("ana", roles=["admin"])
            assert ana.key is not None
            token = (await ana.call("POST", "/v1/tokens", json={"expires_in_s": 600})).json()
            wrong = f"nh_{secrets.token_urlsafe(32)}"
            await Caller(gateway.client, ana.key).put("leave", QUERY, readers=["tenant"])
            keys = (wrong, token["token"], ADMIN_KEY, ana.key)  # hers last: she may delete it

            bodies = BODIES if is_thorough() else BODIES[2:]  # those that hold the question
            for key in keys if is_thorough() else (wrong, ana.key):
                # A wrong key is refused before the body is read.
                await everywhere(wire, key, BODIES[-1:] if key == wrong else bodies)
            moody.away = True
            await wire.send("POST", "/v1/search", headers=_bearer(ana), json={"query": QUERY})
            moody.away = False
            proxy.cut()
            for key in keys:
                body = {"query": f"{QUERY} {key[:4]}"}
                headers = {"Authorization": f"Bearer {key}"}
                await wire.send("POST", "/v1/search", headers=headers, json=body)
                await wire.send("GET", "/readyz", headers=headers)
            proxy.mend()
            metrics = (await gateway.client.get("/metrics")).text
            lines = await logged(capfd, gateway)

    password = urlsplit(settings.database_url.get_secret_value()).password
    assert password is not None
    assert {200, 400, 401, 403, 404, 405, 415, 422, 503} <= wire.statuses
    assert 500 not in wire.statuses
    problems = "".join(told for told in wire.told if not told.startswith("20"))
    assert_untold(lines + metrics, *keys, password)
    assert_untold(problems, *keys, password)
    for word in WORDS:
        assert word not in lines + metrics


def _bearer(caller: Caller) -> dict[str, str]:
    return {"Authorization": f"Bearer {caller.key}"}
