"""What keeps a gateway from starting with its settings, before it connects to anything."""

from collections.abc import Callable, Iterator
from functools import partial

from common.command_errors import CommandError
from gateway.api.routes.table import routes
from gateway.configured import (
    configured_embedders,
    configured_parts,
    configured_region,
    configured_reranker,
    configured_servers,
    configured_tracing,
    configured_web_tokens,
    extension_settings,
)
from gateway.configured.installed_extensions import switched_on
from gateway.search import embedders
from gateway.settings.settings import Settings
from index.errors import IndexStoreError


def require_valid(settings: Settings) -> None:
    """Raises `CommandError` with what each check that fails says."""
    complaints = []
    for check in _checks(settings):
        try:
            check()
        except (CommandError, IndexStoreError) as error:
            complaints.append(str(error))
    if complaints:
        raise CommandError("; ".join(complaints))


def _checks(settings: Settings) -> Iterator[Callable[[], object]]:
    yield partial(configured_servers.provider, settings)
    for name in embedders.names(settings):
        yield partial(configured_embedders.check, settings, name)
    yield partial(configured_parts.preprocessor, settings)
    yield partial(configured_parts.usage_meter, settings)
    yield partial(configured_parts.search_steps, settings)
    yield partial(configured_tracing.find, settings, "nearhit")
    yield partial(configured_web_tokens.check, settings)
    yield partial(configured_region.find, settings)
    yield lambda: routes(switched_on(settings.extensions_off))
    for extension in switched_on(settings.extensions_off).values():
        yield partial(extension.check, settings)
    yield lambda: configured_reranker.find(
        settings, extension_settings.read(settings.extensions_off)
    )
    yield lambda: configured_parts.question_tier(
        settings, extension_settings.read(settings.extensions_off)
    )
