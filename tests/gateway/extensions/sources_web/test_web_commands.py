"""Commands that read or import sources of web pages."""

import os
from pathlib import Path

import pytest

from gateway.extensions._sources.source_store import SourceStore
from gateway.services import Services
from gateway.settings.settings import Settings
from tests.gateway.extensions.sources_web.test_web_sources import (
    busy_host,
    configuration,
    host,
    services,
    settings,
)
from tests.gateway.support.commands import command, environment_of
from tests.gateway.support.gateways import Caller
from tests.ingest.support.web_server import WebHost

__all__ = ["busy_host", "host", "services", "settings"]  # fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]


async def test_commands_read_and_import_such_sources(
    settings: Settings, admin: Caller, services: Services, host: WebHost, tmp_path: Path
) -> None:
    await admin.call("PUT", "/v1/sources/help", json=configuration(f"{host.url}/sitemap.xml"))
    environment = environment_of(settings) | {
        name: value for name, value in os.environ.items() if name.startswith("NEARHIT_SOURCES_WEB")
    }
    file = tmp_path / "acme.ndjson"

    audited = await command(environment, "audit", "index")
    exported = await command(environment, "export", "acme", "--to", str(file))
    imported = await command(environment, "import", str(file), "--tenant", "copy")

    assert (exported.exit_code, imported.exit_code) == (0, 0), imported.output
    assert "help" in audited.stdout
    assert "2 documents" in audited.stdout
    copied = await SourceStore(services.stores.database).get("copy", "help")
    assert copied is not None
    assert (copied.kind, copied.settings["pages_per_s"]) == ("web", 10)
