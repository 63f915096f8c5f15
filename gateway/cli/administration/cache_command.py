"""`nearhit cache`: the operator clears cached outputs of models."""

from typing import TYPE_CHECKING

import typer

from gateway.cli import common
from gateway.cli.common import AsJson

if TYPE_CHECKING:
    from gateway.settings.settings import Settings

commands = typer.Typer(no_args_is_help=True)


@commands.callback()
def cache() -> None:
    """Cached outputs of models."""


@commands.command("clear-models")
def clear_models(as_json: AsJson = False) -> None:
    """End all cached vectors of questions and rewritten questions, of all tenants.

    Redis forgets them at once, and each gateway within 15 seconds. Cached answers stay; `nearhit
    tenant clear-cache` ends those of a tenant.

        nearhit cache clear-models
    """

    async def run(settings: "Settings") -> None:
        from cache.errors import CacheUnavailable
        from gateway.caching.redis_cache import open_redis
        from gateway.errors import CommandError
        from gateway.services import model_caches

        async with open_redis(settings) as store:
            try:
                await model_caches(lambda _event: None, store).clear()
            except CacheUnavailable as error:
                raise CommandError(f"Redis: {error}") from None

    common.run(run)
    common.print_result("cleared", {"cleared": True}, as_json=as_json)
