"""`nearhit serve`: a listening socket, what a newcomer needs to begin, and the workers."""

import asyncio
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import uvicorn
from pydantic import SecretStr
from rich.console import Console
from uvicorn.supervisors import Multiprocess

from gateway import direct, supervision
from gateway.errors import NotPossible
from gateway.principal import KEY_START, key_digest
from gateway.settings import Settings
from gateway.wire import KeyBody
from ingest.folder import FolderSource

TENANT = "default"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Keys made for whoever starts Nearhit on its own servers; kept in its data folder."""

    admin_key: str
    key: str


def serve(settings: Settings, console: Console, *, embedded: bool, example: bool) -> None:
    """Serve until told to stop. The socket listens before anything slow begins, so that nobody who
    calls as soon as the address is known is turned away.
    """
    with _listen(settings) as listener:
        url = _url(listener)
        if embedded:
            settings = _begin(settings, console, url, example=example)
        elif settings.admin_key is None:
            settings = _with_admin_key(settings, KEY_START + secrets.token_urlsafe(32))
            console.print(f"operator's key of this start: {admin_key(settings)}", soft_wrap=True)
        console.print(f"listening on {url}", soft_wrap=True)
        os.environ |= environment(settings)
        with _counting_together(settings):
            _run(settings, listener)


def _listen(settings: Settings) -> socket.socket:
    """A socket that callers can connect to from now on."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        raise NotPossible(
            f"can't listen on {settings.host}:{settings.port} ({error.strerror}): "
            "choose another with --port or --host"
        ) from None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _run(settings: Settings, listener: socket.socket) -> None:
    config = uvicorn.Config(
        "gateway.app:create",
        factory=True,
        workers=settings.workers,
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # nothing here asks for the peer's address
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_s,
    )
    if settings.workers > 1:
        Multiprocess(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])


def environment(settings: Settings) -> dict[str, str]:
    """What tells another process of ours the same servers and the same operator's key."""
    assert settings.database_url is not None
    assert settings.redis_url is not None
    return {
        "NEARHIT_DATABASE_URL": settings.database_url.get_secret_value(),
        "NEARHIT_REDIS_URL": settings.redis_url.get_secret_value(),
        "NEARHIT_ADMIN_KEY": admin_key(settings),
    }


def admin_key(settings: Settings) -> str:
    assert settings.admin_key is not None
    return settings.admin_key.get_secret_value()


@contextmanager
def _counting_together(settings: Settings) -> Iterator[None]:
    """Where several workers keep their counts, so that each can tell the sum."""
    if settings.workers == 1:
        yield
        return
    supervision.lead()
    with tempfile.TemporaryDirectory(prefix="nearhit-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


def _begin(settings: Settings, console: Console, url: str, *, example: bool) -> Settings:
    """A tenant and a key to begin with, and a line to paste."""
    credentials = asyncio.run(_credentials(settings))
    if example:
        _fill(settings, console)
    console.print(
        f"operator's key: {credentials.admin_key}\n"
        f"a key of the tenant {TENANT}: {credentials.key}\n\n"
        f"curl -s {url}/v1/search \\\n"
        f"  -H 'Authorization: Bearer {credentials.key}' \\\n"
        '  -d \'{"query": "how many days of annual leave do I get?"}\'\n',
        soft_wrap=True,
        markup=False,
    )
    if settings.admin_key is not None:
        return settings
    return _with_admin_key(settings, credentials.admin_key)


async def _credentials(settings: Settings) -> Credentials:
    """Those of the last start if the key still works, else new ones."""
    path = settings.data_dir / "credentials.json"
    async with direct.tenants(settings) as tenants:
        if path.exists():
            kept = Credentials(**json.loads(path.read_text()))
            if await tenants.key_holder(key_digest(kept.key)) is not None:
                return kept
        await tenants.create(TENANT, "The tenant to begin with")
    body = KeyBody(tenant=TENANT, subject="me", roles=("reader", "writer", "admin"))
    made = Credentials(
        admin_key=KEY_START + secrets.token_urlsafe(32),
        key=await direct.create_key(settings, body),
    )
    path.touch(mode=0o600)
    path.write_text(json.dumps({"admin_key": made.admin_key, "key": made.key}))
    return made


def _fill(settings: Settings, console: Console) -> None:
    source = FolderSource(example_handbook(), owner=None, readers=("tenant",), name="handbook")
    report = asyncio.run(
        direct.ingest(settings, source, TENANT, prune=False, on_item=lambda _report: None)
    )
    console.print(f"example handbook: {report.documents} documents, {report.embedded} embeddings")


def example_handbook() -> Path:
    """The folder of the example, in the package or beside it in a checkout."""
    package = Path(str(resources.files("gateway")))
    installed = package / "handbook"
    return installed if installed.exists() else package.parent / "examples" / "handbook"


def _with_admin_key(settings: Settings, key: str) -> Settings:
    return settings.model_copy(update={"admin_key": SecretStr(key)})
