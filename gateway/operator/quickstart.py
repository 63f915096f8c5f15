"""First start on embedded servers: creates keys, loads an example, prints a curl command."""

import asyncio
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import SecretStr
from rich.console import Console

from gateway.admin.key_schemas import KeyBody
from gateway.auth.credentials import key_digest, make_secret
from gateway.monitoring import process_log
from gateway.operator import operations, source_ingest
from gateway.settings.settings import Settings
from index.tenants.principals import PrincipalStore
from index.tenants.tenant_store import TenantStore
from ingest.sources.folder import FolderSource
from ingest.sources.origin import EXAMPLE
from ingest.sources.report import Report
from ingest.sources.source import Defaults

TENANT = "default"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The operator's key and a key of the first tenant; stored in the data folder."""

    admin_key: str
    key: str


def begin(settings: Settings, console: Console, url: str, *, example: bool) -> Settings:
    """Create missing credentials and print a curl command; return settings with an admin key.

    Keys are shown on a terminal, and wherever the output goes if the example is asked for, which
    is for a trial; otherwise the file is named that has them.
    """
    shows_keys = console.is_terminal or example
    path = settings.data_dir / "credentials.json"
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
        _show_example(settings, console)
    if shows_keys:
        console.print(_curl_command(url, credentials.key, path), soft_wrap=True, markup=False)
    else:
        text = f"keys of the operator and of the tenant {TENANT}: {path}"
        process_log.announce(
            console, settings.log_format, text, "credentials", file=str(path), tenant=TENANT
        )
    if settings.admin_key is not None:
        return settings
    return with_admin_key(settings, credentials.admin_key)


def with_admin_key(settings: Settings, key: str) -> Settings:
    return settings.model_copy(update={"admin_key": SecretStr(key)})


def example_handbook() -> Path:
    """The folder of the example handbook, in the wheel or in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "handbook"
    return installed if installed.exists() else package.parent / "examples" / "handbook"


def ingest_example(settings: Settings, tenant: str) -> Report:
    """Read the example handbook into the tenant, which is created if it does not exist."""
    source = FolderSource(example_handbook(), Defaults(readers=("tenant",)), name="handbook")
    ingesting = source_ingest.ingest(
        settings,
        source,
        tenant,
        EXAMPLE,
        prune=None,
        on_item=lambda _report: None,
        may_publish=True,
    )
    return asyncio.run(ingesting)


async def _valid_credentials(settings: Settings, stored: Credentials | None) -> Credentials:
    """The stored credentials if their key is still valid, else new ones."""
    async with operations.open_database(settings) as database:
        if stored is not None and await PrincipalStore(database).holder_at(key_digest(stored.key)):
            return stored
        await TenantStore(database).create(TENANT, "The tenant to begin with")
    body = KeyBody(tenant=TENANT, subject="me", roles=("reader", "writer", "admin"))
    return Credentials(
        admin_key=stored.admin_key if stored else make_secret(),
        key=await operations.create_key(settings, body),
    )


def _curl_command(url: str, key: str, path: Path) -> str:
    return (
        f"try it with a key of the tenant {TENANT} (stored in {path}):\n\n"
        f"curl -s {url}/v1/search \\\n"
        f"  -H 'Authorization: Bearer {key}' \\\n"
        '  -d \'{"query": "how many days of annual leave do I get?"}\'\n'
    )


def _show_example(settings: Settings, console: Console) -> None:
    report = ingest_example(settings, TENANT)
    documents, unchanged = report.documents, report.unchanged
    text = f"example handbook: {documents} documents, {unchanged} unchanged"
    process_log.announce(
        console, settings.log_format, text, "example", documents=documents, unchanged=unchanged
    )
