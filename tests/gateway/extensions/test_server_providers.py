"""Where the settings name no servers, one extension that is on runs them."""

from pathlib import Path

import pytest

from common.command_errors import CommandError
from gateway.cli import common
from gateway.configured import configured_servers
from gateway.settings.settings import Settings
from tests.gateway.extensions.test_extensions import forgotten, install, site
from tests.gateway.support.commands import fails, refused

__all__ = ["forgotten", "site"]  # fixtures

pytestmark = pytest.mark.anyio

_PROVIDER = """
from contextlib import contextmanager
from gateway.settings.server_provider import ServerProvider
@contextmanager
def run(settings):
    urls = {{"database_url": "postgresql://{name}", "redis_url": "redis://{name}"}}
    yield type(settings).model_validate(urls)
SERVERS = (ServerProvider(run, run, lambda settings, *_: settings),)
"""


def settings_of(**values: str) -> Settings:
    return Settings.model_validate({"database_url": None, "redis_url": None, **values})


@pytest.fixture
def other(site: Path) -> None:
    """Another distribution's extension, whose servers have its name."""
    install(site, "other", "other_provider", "1 / 0\n", servers=_PROVIDER.format(name="other"))


@pytest.mark.usefixtures("other")
def test_commands_run_on_the_servers_of_the_extension_that_is_on() -> None:
    with common.servers(settings_of(extensions_off="embedded_servers")) as connected:
        assert connected.database_url is not None
        assert connected.database_url.get_secret_value() == "postgresql://other"


@pytest.mark.usefixtures("other")
def test_settings_that_name_both_servers_ask_no_extension() -> None:
    settings = settings_of(database_url="postgresql://db", redis_url="redis://cache")

    assert configured_servers.provider(settings) is None


@pytest.mark.usefixtures("other")
def test_two_extensions_that_run_servers_are_refused() -> None:
    with pytest.raises(CommandError, match="embedded_servers and other run servers: add one to"):
        configured_servers.provider(settings_of())


async def test_without_servers_a_command_says_what_to_set_or_to_switch_on() -> None:
    off = {"NEARHIT_EXTENSIONS_OFF": "embedded_servers"}

    status = await refused(off, "status")
    check = await refused(off, "config", "check")
    serve = await fails(off, "serve")  # it needs the main thread

    for line in (status, check, serve):
        assert "NEARHIT_DATABASE_URL and NEARHIT_REDIS_URL are not set: set both" in line
        assert "or remove embedded_servers from NEARHIT_EXTENSIONS_OFF" in line
