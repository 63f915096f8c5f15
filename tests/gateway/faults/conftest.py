"""A PostgreSQL of each test's own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.gateway.servers.own_postgres import OwnPostgres, own_postgres, place


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        yield made


@pytest.fixture(scope="session")
async def empty_data() -> AsyncIterator[Path]:
    """The data of a server that has stopped, with an empty, migrated database.

    Making it takes ten times as long as copying it.
    """
    with place() as folder:
        async with own_postgres(folder) as started:
            await started.stop()
            yield started.folder


@pytest.fixture
async def postgres(folder: Path, empty_data: Path) -> AsyncIterator[OwnPostgres]:
    async with own_postgres(folder, empty_data) as started:
        yield started
