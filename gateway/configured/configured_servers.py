"""What runs PostgreSQL and Redis where the settings name neither: one of the extensions."""

from contextlib import suppress

from common.command_errors import CommandError
from gateway.settings.found_extensions import found
from gateway.settings.groups.lists import listed
from gateway.settings.server_provider import ServerProvider
from gateway.settings.settings import Settings

_DATABASE, _REDIS = "NEARHIT_DATABASE_URL", "NEARHIT_REDIS_URL"


def provider(settings: Settings) -> ServerProvider | None:
    """None if the settings name both servers.

    Raises `CommandError` if they name one alone, or if not exactly one extension that is on runs
    servers.
    """
    if settings.database_url and settings.redis_url:
        return None
    if settings.database_url or settings.redis_url:
        given, other = (_DATABASE, _REDIS) if settings.database_url else (_REDIS, _DATABASE)
        raise CommandError(f"{given} is set and {other} is not: set both or neither")
    off = listed(settings.extensions_off)
    on = {
        name: each
        for name, extension in found().items()
        if name not in off
        for each in extension.load_rows("servers", ServerProvider)
    }
    if not on:
        raise CommandError(
            f"{_DATABASE} and {_REDIS} are not set: set both, to a PostgreSQL with pgvector and a "
            f"Redis, or {_other_way(off)}"
        )
    if len(on) > 1:
        raise CommandError(f"{' and '.join(on)} run servers: add one to NEARHIT_EXTENSIONS_OFF")
    return next(iter(on.values()))


def _other_way(off: list[str]) -> str:
    """What the operator can do to get servers of an extension. off: the extensions that are."""
    for name, extension in found().items():
        with suppress(CommandError):  # it may be off because it can't be loaded
            if name in off and extension.load_rows("servers", ServerProvider):
                return f"remove {name} from NEARHIT_EXTENSIONS_OFF, which runs its own"
    return "install an extension that runs its own"
