"""Where systems are started: the world to fill them with, a PostgreSQL, a folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import uvloop

from loadtests.bench_peers.world import PeerWorld


@dataclass(frozen=True, slots=True)
class PeerSetup:
    world: PeerWorld
    database_url: str
    folder: Path

    @property
    def keys(self) -> Sequence[str]:
        """By caller, for systems that have no keys of their own."""
        return [f"key-{number}" for number in range(len(self.world.callers))]

    def settings(self, name: str, **more: object) -> Path:
        """A file of settings for a process: these, and who has which key."""
        callers = dict(zip(self.keys, map(asdict, self.world.callers), strict=True))
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps({"callers": callers, **more}))
        return file

    def log(self, name: str) -> Path:
        """A folder for a process to log in."""
        folder = self.folder / f"{name}-log"
        folder.mkdir()
        return folder

    def database(self, name: str) -> str:
        """The URL of a new database in the PostgreSQL that Nearhit uses."""
        uvloop.run(self._create(name))
        return urlunsplit(urlsplit(self.database_url)._replace(path=f"/{name}"))

    async def _create(self, name: str) -> None:
        connection = await asyncpg.connect(self.database_url)
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()
