"""What runs PostgreSQL and Redis where the settings name neither: one of the extensions."""

from contextlib import suppress

from gateway.errors import CommandError
from gateway.installed_extensions import found
from gateway.server_provider import ServerProvider
from gateway.settings.groups.lists import listed
from gateway.settings.settings import Settings


def provider(settings: Settings) -> ServerProvider | None:
    """None if the settings name both servers.

    Raises `CommandError` if they name one alone, or if not exactly one extension that is on runs
    servers.
    """
    urls = {"DATABASE": settings.database_url, "REDIS": settings.redis_url}
    unset = [f"NEARHIT_{name}_URL" for name, url in urls.items() if not url]
    if not unset:
        return None
    if len(unset) < len(urls):
        (given,) = (f"NEARHIT_{name}_URL" for name, url in urls.items() if url)
        raise CommandError(f"{given} is set and {unset[0]} is not: set both or neither")
    off = listed(settings.extensions_off)
    on = {
        name: each
        for name, extension in found().items()
        if name not in off
        for each in extension.load_rows("servers", ServerProvider)
    }
    match list(on.values()):
        case [only]:
            return only
        case []:
            raise CommandError(
                f"{' and '.join(unset)} are not set: set both, to a PostgreSQL with pgvector and a "
                f"Redis, or {_other_way(off)}"
            )
        case _:
            raise CommandError(
                f"the extensions {' and '.join(on)} run servers: leave one on, and add the others "
                "to NEARHIT_EXTENSIONS_OFF"
            )


def _other_way(off: list[str]) -> str:
    """To servers that an extension runs; of those that are off only these modules are loaded."""
    for name, extension in found().items():
        with suppress(CommandError):  # it may be off because it can't be loaded
            if name in off and extension.load_rows("servers", ServerProvider):
                return f"remove {name} from NEARHIT_EXTENSIONS_OFF, which runs its own"
    return "install an extension that runs its own"
