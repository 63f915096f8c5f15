"""Nobody sees what its grants don't admit, and everybody sees all that they do.

Random tenants, documents, principals and changes are compared with a plain model of who may read
what, over HTTP and through warm caches.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any

import httpx2
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.support.access_model import SCOPES, GatewayWorld, WorldDocument, WorldPrincipal
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.sampling import is_thorough

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

# The same names in every tenant: only the tenant itself tells them apart.
SUBJECTS = ("ana", "ben", "eve")
GROUPS = ("sales", "people")
READERS = (
    "tenant",
    "public",
    *(f"user:{subject}" for subject in SUBJECTS),
    *(f"group:{group}" for group in GROUPS),
)
DOCUMENT_IDS = ("a", "b/c", "d e", "f", "g")
QUESTIONS = ("handbook", "entry of the company")


class IsolationPlay:
    """Random changes by each tenant's admin, and what everybody sees in between."""

    def __init__(self, gateways: Sequence[Gateway], seed: int) -> None:
        self.gateways = gateways
        self.random = Random(seed)  # noqa: S311  no secret
        self.numbers = count(1)
        self.admins: dict[str, Caller] = {}
        self.world = GatewayWorld(("globex", "hooli", "initech"))
        self.last_changed = "globex"

    async def set_up(self) -> None:
        for tenant in self.world.tenants:
            await self.gateways[0].tenant(tenant)
            self.admins[tenant] = await self.gateways[0].caller(
                "ada", tenant=tenant, roles=["admin", "publisher"]
            )
        await self.change_reception("globex")
        for tenant in self.world.tenants:
            for subject in SUBJECTS:
                await self.new_principal(tenant, subject)
            for document_id in DOCUMENT_IDS:
                await self.write(tenant, document_id)

    async def change(self) -> None:
        tenant = self.last_changed = self.random.choice(self.world.tenants)
        document_id = self.random.choice(DOCUMENT_IDS)
        kinds = ("write", "share", "share", "delete", "membership", "membership", "key", "receive")
        match self.random.choice(kinds):
            case "write":
                await self.write(tenant, document_id)
            case "share":
                await self.share(tenant, document_id)
            case "delete":
                await self.delete(tenant, document_id)
            case "membership":
                await self.change_membership(tenant)
            case "receive":
                await self.change_reception(tenant)
            case _:
                await self.replace_key(tenant)

    async def write(self, tenant: str, document_id: str) -> None:
        """A new text that every question finds, by which the document is known again."""
        owner = self.random.choice((*SUBJECTS, None))
        text = f"Entry {next(self.numbers)} of the handbook of the company {tenant}."
        readers = self.few(READERS)
        body = {"text": text, "owner": owner, "readers": sorted(readers)}
        answer = await self.admin(tenant).call("PUT", path_of(document_id), json=body)
        assert answer.status_code == 200, answer.text
        self.world.keep(WorldDocument(tenant, document_id, text, owner, readers))

    async def share(self, tenant: str, document_id: str) -> None:
        document = self.world.documents.get((tenant, document_id))
        body: dict[str, Any] = {"readers": sorted(self.few(READERS))}
        if self.random.random() < 0.3:
            body["owner"] = self.random.choice((*SUBJECTS, None))
        path = f"{path_of(document_id)}/access"
        answer = await self.admin(tenant).call("PATCH", path, json=body)
        assert answer.status_code == (200 if document else 404)
        if document:
            owner = body.get("owner", document.owner)
            self.world.keep(replace(document, owner=owner, readers=frozenset(body["readers"])))

    async def delete(self, tenant: str, document_id: str) -> None:
        document = self.world.documents.pop((tenant, document_id), None)
        answer = await self.admin(tenant).call("DELETE", path_of(document_id))
        assert answer.status_code == (200 if document else 404)

    async def change_membership(self, tenant: str) -> None:
        group, subject = self.random.choice(GROUPS), self.random.choice(SUBJECTS)
        path = f"/v1/groups/{group}/members/{subject}"
        if (tenant, group, subject) in self.world.members:
            answer = await self.admin(tenant).call("DELETE", path)
            if self.world.holds_by_key(tenant, subject, group):
                problem(answer, 409)
                return
            self.world.members.remove((tenant, group, subject))
        else:
            answer = await self.admin(tenant).call("PUT", path)
            self.world.members.add((tenant, group, subject))
        assert answer.status_code == 204

    async def change_reception(self, tenant: str) -> None:
        """Let the tenant receive what others make public, or no longer."""
        body = {"receives": tenant not in self.world.receiving}
        answer = await self.admin(tenant).call("PUT", "/v1/public-documents", json=body)
        assert answer.status_code == 200, answer.text
        self.world.receiving ^= {tenant}

    async def replace_key(self, tenant: str) -> None:
        """Revoke a principal's key, and give its subject another one, with other groups."""
        principals = [who for who in self.world.principals if who.tenant == tenant]
        principal = self.random.choice(principals)
        admin = self.admin(tenant)
        revoked = await admin.call("DELETE", f"/v1/keys/{principal.key_id}")
        assert revoked.status_code == 204
        self.world.principals.remove(principal)
        for gateway in self.gateways:
            answer = await gateway.as_(principal.caller).call("GET", "/v1/documents")
            problem(answer, 401)
        await self.new_principal(tenant, principal.subject)

    async def new_principal(self, tenant: str, subject: str) -> None:
        groups = self.few(GROUPS)
        body = {"subject": subject, "groups": sorted(groups), "roles": ["reader"]}
        answer = await self.admin(tenant).call("POST", "/v1/keys", json=body)
        assert answer.status_code == 201, answer.text
        made = answer.json()
        caller = Caller(self.gateways[0].client, made["key"])
        self.world.principals.append(WorldPrincipal(tenant, subject, groups, caller, made["id"]))

    async def look(self, looks: int) -> None:
        """Several principals at once, at any worker: each must see just what the world says."""
        async with asyncio.timeout(30):
            await asyncio.gather(*(self.look_once() for _ in range(looks)))

    async def look_once(self) -> None:
        about = [who for who in self.world.principals if who.tenant == self.last_changed]
        who = self.random.choice(self.random.choice((about, self.world.principals)))
        caller = self.random.choice(self.gateways).as_(who.caller)
        match self.random.choice(("search", "search", "search", "list", "get")):
            case "search":
                await self.compare_search(who, caller)
            case "list":
                listed = (await caller.call("GET", "/v1/documents")).json()["documents"]
                readable = {document_id for document_id, _ in self.world.readable(who)}
                assert {document["document_id"] for document in listed} == readable
            case _:
                await self.compare_get(who, caller)

    async def compare_search(self, who: WorldPrincipal, caller: Caller) -> None:
        asked = self.random.choice((SCOPES, SCOPES, sorted(self.few(SCOPES, at_least=1))))
        fields: dict[str, Any] = {"top_k": 100}
        if asked != SCOPES:
            fields["scopes"] = asked
        question = self.random.choice(QUESTIONS)
        if "public" in fields.get("scopes", ()) and who.tenant not in self.world.receiving:
            body = {"query": question, **fields}
            problem(await caller.call("POST", "/v1/search", json=body), 422)
            return
        answer = await caller.search(question, **fields)
        hits = [
            (hit.get("tenant", who.tenant), hit["document_id"], hit["text"], hit["scope"])
            for hit in answer.json()["hits"]
        ]
        assert sorted(hits) == sorted(
            (
                document.tenant,
                document.document_id,
                document.text,
                self.world.scope_of(who, document, asked),
            )
            for document in self.world.seen(who, asked)
        )

    async def compare_get(self, who: WorldPrincipal, caller: Caller) -> None:
        where = self.random.choice(self.world.tenants), self.random.choice(DOCUMENT_IDS)
        named = "" if where[0] == who.tenant else f"?tenant={where[0]}"
        answer = await caller.call("GET", path_of(where[1]) + named)
        readable = {(each.tenant, each.document_id): each for each in self.world.seen(who)}
        if answer.status_code == 200:
            assert answer.json()["text"] == readable[where].text
        else:
            problem(answer, 404)
            assert where not in readable

    def admin(self, tenant: str) -> Caller:
        return self.random.choice(self.gateways).as_(self.admins[tenant])

    def few(self, values: Sequence[str], *, at_least: int = 0) -> frozenset[str]:
        """Up to two, so that one more or less tells."""
        return frozenset(self.random.sample(values, self.random.randint(at_least, 2)))


def path_of(document_id: str) -> str:
    return f"/v1/documents/{document_id.replace(' ', '%20')}"


@pytest.fixture(scope="module")
async def gateways(
    servers: Servers, databases: DatabaseCopies, embedder: Embedder
) -> AsyncIterator[list[Gateway]]:
    """Two workers on the same servers, for the tests that make tenants of their own."""
    async with (
        fresh_settings(servers, databases) as settings,
        running(settings, embedder) as first,
        running(settings, embedder) as second,
    ):
        yield [first, second]


@pytest.mark.slow
@pytest.mark.isolated
@pytest.mark.sampled("0")
@pytest.mark.parametrize("seed", range(2))
async def test_everybody_sees_what_the_grants_admit_and_nothing_else_whatever_changes(
    gateway: Gateway, other_worker: Gateway, seed: int
) -> None:
    play = IsolationPlay([gateway, other_worker], seed)
    await play.set_up()

    for _ in range(25 if is_thorough() else 12):
        await play.look(8)
        await play.change()
    await play.look(16)

    counts = [await gateway.answers(), await other_worker.answers()]
    for tier in ("memory", "redis", "miss"):  # else the caches would have had no part in it
        assert sum(count[tier] for count in counts) > 0


@dataclass(frozen=True)
class Neighbours:
    """Two tenants, and what the second has that the first must not tell from nothing."""

    ana: Caller
    admin: Caller
    others_document: str
    others_key: str
    others_tenant: str
    others_token: str


@pytest.fixture(scope="module")
async def neighbours(gateways: list[Gateway]) -> Neighbours:
    gateway = gateways[0]
    own, other = f"own-{secrets.token_hex(6)}", f"other-{secrets.token_hex(6)}"
    for tenant in (own, other):
        await gateway.tenant(tenant)
    zoe = await gateway.caller("ana", tenant=other, groups=["sales"])
    await zoe.put("secret", "A secret of the other tenant.", readers=["tenant", "group:sales"])
    key = await gateway.operator.call("POST", "/v1/keys", json={"tenant": other, "subject": "zoe"})
    token = await zoe.call("POST", "/v1/tokens", json={})
    return Neighbours(
        ana=await gateway.caller("ana", tenant=own, groups=["sales"]),
        admin=await gateway.caller("ada", tenant=own, roles=["admin"]),
        others_document="secret",
        others_key=key.json()["id"],
        others_tenant=other,
        others_token=token.json()["id"],
    )


def shape(answer: httpx2.Response) -> tuple[int, bytes, list[str]]:
    """All that an answer tells, but for what is new in each."""
    headers = [f"{name}: {value}" for name, value in answer.headers.items()]
    new = ("date:", "ratelimit:", "x-request-id:", "server-timing:")
    return answer.status_code, answer.content, [it for it in headers if not it.startswith(new)]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/documents/{document}", None),
        ("DELETE", "/v1/documents/{document}", None),
        ("PATCH", "/v1/documents/{document}/access", {"readers": ["public"]}),
        ("POST", "/v1/search", {"query": "x", "filter": {"exclude_documents": ["{document}"]}}),
        ("GET", "/v1/documents?source={document}", None),
        ("DELETE", "/v1/keys/{key}", None),
        ("POST", "/v1/keys", {"tenant": "{tenant}", "subject": "spy"}),
        ("GET", "/v1/keys?tenant={tenant}", None),
        ("POST", "/v1/keys/{key}/rotate", {}),
        ("DELETE", "/v1/tokens/{token}", None),
        ("GET", "/v1/documents/{document}/access/explain?subject=zoe", None),
    ],
)
async def test_what_is_of_another_tenant_answers_like_what_does_not_exist(
    neighbours: Neighbours, method: str, path: str, body: dict[str, Any] | None
) -> None:
    caller = neighbours.admin if "keys" in path or "explain" in path else neighbours.ana

    async def ask(document: str, key: str, tenant: str, token: str) -> httpx2.Response:
        named = {"{document}": document, "{key}": key, "{tenant}": tenant, "{token}": token}
        return await caller.call(method, filled(path, named), json=filled(body, named))

    theirs = await ask(
        neighbours.others_document,
        neighbours.others_key,
        neighbours.others_tenant,
        neighbours.others_token,
    )
    nobodys = await ask("nobodys", f"key_{'0' * 16}", "nobodys", f"tok_{'0' * 16}")

    assert shape(theirs) == shape(nobodys)


def filled(template: Any, named: dict[str, str]) -> Any:
    """The template, of text, lists and dictionaries, with the names in their places."""
    match template:
        case str():
            for place, name in named.items():
                template = template.replace(place, name)
            return template
        case list():
            return [filled(item, named) for item in template]
        case dict():
            return {key: filled(value, named) for key, value in template.items()}
        case _:
            return template


async def test_a_document_of_another_tenant_does_not_take_its_identifier(
    neighbours: Neighbours, gateways: list[Gateway]
) -> None:
    written = await neighbours.ana.put(neighbours.others_document, "My own text.")

    assert written["revision"] == 1
    assert await neighbours.ana.found("secret text") == [neighbours.others_document]
    assert "My own text." in (await neighbours.ana.call("GET", "/v1/documents/secret")).text


async def test_a_public_document_is_found_where_it_is_received_and_listed_at_home_alone(
    gateways: list[Gateway],
) -> None:
    home, abroad = f"home-{secrets.token_hex(6)}", f"abroad-{secrets.token_hex(6)}"
    for tenant in (home, abroad):
        await gateways[0].tenant(tenant)
    ana = await gateways[0].caller("ana", tenant=home, roles=["writer", "publisher"])
    zoe = await gateways[0].caller("zoe", tenant=abroad)
    name = f"notice-{secrets.token_hex(6)}"
    await gateways[0].receive_public(abroad)

    await ana.put(name, f"The public {name}.", readers=["public"])

    assert name in await zoe.found(name, top_k=100)
    assert name in await zoe.found(name, top_k=100, scopes=["public"])
    assert await zoe.found(name, scopes=["private", "shared", "tenant"]) == []
    problem(await zoe.call("GET", f"/v1/documents/{name}"), 404)
    assert (await zoe.call("GET", "/v1/documents")).json()["documents"] == []
    problem(await zoe.call("DELETE", f"/v1/documents/{name}"), 404)
    await ana.call("DELETE", f"/v1/documents/{name}")


async def test_a_name_that_looks_like_a_token_grants_nothing(gateways: list[Gateway]) -> None:
    tenant = f"t-{secrets.token_hex(6)}"
    await gateways[0].tenant(tenant)
    ana = await gateways[0].caller("ana", tenant=tenant)
    await ana.put("own", "For ana's eyes only.")
    await ana.put("shared", "For the group sales.", readers=["group:sales"])

    for subject, groups in (
        ("owner:ana", ["owner:ana", "user:ana", "group:sales", "tenant", "public"]),
        ("user:ana", ["ana"]),
        ("sales", ["group:sales", "sales,people", "{sales}"]),
        ("tenant", []),
    ):
        impostor = await gateways[0].caller(subject, tenant=tenant, groups=groups)
        assert await impostor.found("for ana sales", scopes=["private", "shared", "tenant"]) == []
        assert (await impostor.call("GET", "/v1/documents")).json()["documents"] == []
