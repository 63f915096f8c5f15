"""A follower that kills itself, as `kill -9` would, at a named step of its work.

    python -m tests.gateway.extensions.sources_postgres.crashing_follower STEP

See `tests.gateway.support.crashing_worker`.
"""

import asyncio
import sys

from gateway.configured import configured_embedders
from gateway.settings.settings import Settings
from tests.gateway.support.crashing_worker import Deadly, die
from tests.gateway.support.workers import worker_services


async def main(step: str) -> None:
    settings, counted = Settings(), Deadly(step, die)
    made = configured_embedders.make_all(settings, counted.embedding_tokens)
    async with worker_services(settings, *made, metrics=counted) as services:
        await services.extensions["sources_postgres"].followers.run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
