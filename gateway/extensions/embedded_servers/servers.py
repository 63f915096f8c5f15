"""The servers where the settings name none, and what a first `nearhit serve` on them makes."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.extensions.embedded_servers import owned_servers
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.server_provider import ServerProvider

if TYPE_CHECKING:  # a command that finds the servers running loads no gateway
    from rich.console import Console

    from gateway.extension import Settings
    from gateway.extensions._sources.sync.report import Report

_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The operator's key and a key of the first tenant; stored in the data folder."""

    admin_key: str
    key: str


def example_handbook() -> Path:
    """The folder of the example handbook, in the wheel or in a checkout."""
    package = Path(__file__).parent
    installed = package / "handbook"
    return installed if installed.exists() else package.parents[2] / "examples" / "handbook"


def ingest_example(settings: "Settings", tenant: str) -> "Report":
    """Read the example handbook into the tenant, which is created if it does not exist."""
    from gateway.cli import operations
    from gateway.extensions._ingest import source_ingest
    from gateway.extensions._ingest.origin import EXAMPLE
    from gateway.extensions._sources.folder import FolderSource
    from gateway.extensions._sources.source import Defaults

    source = FolderSource(example_handbook(), Defaults(readers=("tenant",)), name="handbook")
    ingesting = source_ingest.ingest(
        operations.acting_services(settings),
        source,
        tenant,
        EXAMPLE,
        prune=None,
        on_item=lambda _report: None,
        may_publish=True,
    )
    return asyncio.run(ingesting)


def _data_dir(settings: "Settings") -> Path:
    return settings.data_dir or owned_servers.default_data_dir()


@contextmanager
def _connected(
    settings: "Settings", start: Callable[[Path], AbstractContextManager[Servers]]
) -> "Iterator[Settings]":
    from pydantic import SecretStr

    with start(_data_dir(settings)) as servers:
        yield settings.model_copy(
            update={
                "database_url": SecretStr(servers.database_url),
                "redis_url": SecretStr(servers.redis_url),
            }
        )


def _begin(
    settings: "Settings",
    console: "Console",
    url: str,
    example: bool,  # noqa: FBT001  `ServerProvider` has it so
) -> "Settings":
    """Create missing credentials and print a curl command; return settings with an admin key.

    Keys are shown on a terminal, and wherever the output goes if the example is asked for, which
    is for a trial; otherwise the file is named that has them.
    """
    from pydantic import SecretStr

    from gateway.extension import announce

    shows_keys = console.is_terminal or example
    path = _data_dir(settings) / "credentials.json"
    stored = Credentials(**json.loads(path.read_text())) if path.exists() else None
    credentials = asyncio.run(_valid_credentials(settings, stored))
    if credentials is not stored:
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(credentials)))
        if settings.admin_key is None and shows_keys:
            console.print(
                f"operator's key, shown only once: {credentials.admin_key}", soft_wrap=True
            )
    if example:
        report = ingest_example(settings, _TENANT)
        counts = {"documents": report.documents, "unchanged": report.unchanged}
        text = f"example handbook: {report.documents} documents, {report.unchanged} unchanged"
        announce(console, settings.log_format, text, "example", **counts)
    if shows_keys:
        console.print(_curl_command(url, credentials.key, path), soft_wrap=True, markup=False)
    else:
        text = f"keys of the operator and of the tenant {_TENANT}: {path}"
        announce(console, settings.log_format, text, "credentials", file=str(path), tenant=_TENANT)
    admin_key = settings.admin_key or SecretStr(credentials.admin_key)
    return settings.model_copy(update={"admin_key": admin_key, "serve_jobs": runs_jobs(settings)})


def runs_jobs(settings: "Settings") -> bool:
    """Whether `serve` runs jobs: as no worker runs on its servers, unless the operator says no."""
    return settings.serve_jobs or "serve_jobs" not in settings.model_fields_set


async def _valid_credentials(settings: "Settings", stored: Credentials | None) -> Credentials:
    """The stored credentials if their key is still valid, else new ones."""
    from gateway.cli import operations
    from gateway.extension import key_digest, make_key, make_secret
    from index.tenants.principals import PrincipalStore
    from index.tenants.tenant_store import TenantStore

    async with operations.open_database(settings) as database:
        if stored is not None and await PrincipalStore(database).holder_at(key_digest(stored.key)):
            return stored
        await TenantStore(database).create(_TENANT, "The tenant to begin with")
    key, record = make_key(subject="me", roles=("reader", "writer", "admin"))
    await operations.store_key(settings, _TENANT, record)
    return Credentials(admin_key=stored.admin_key if stored else make_secret(), key=key)


def _curl_command(url: str, key: str, path: Path) -> str:
    return (
        f"try it with a key of the tenant {_TENANT} (stored in {path}):\n\n"
        f"curl -s {url}/v1/search \\\n"
        f"  -H 'Authorization: Bearer {key}' \\\n"
        '  -d \'{"query": "how many days of annual leave do I get?"}\'\n'
    )


SERVERS = (
    ServerProvider(
        own=lambda settings: _connected(settings, owned_servers.own_servers),
        share=lambda settings: _connected(settings, owned_servers.attach_or_start),
        begin=_begin,
    ),
)
