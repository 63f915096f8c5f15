"""The scripts of the folder `scripts`, which Redis runs by their digests."""

import hashlib
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from redis.exceptions import NoScriptError
from redis.typing import EncodableT

from cache.redis.node import Send

_NAMES = ("look", "swap", "fill", "scan", "drop", "take")
_WITHOUT_SERVER_ID = ("take",)


class LuaScripts:
    def __init__(self) -> None:
        self._scripts = {name: _Script(_source(name)) for name in _NAMES}

    async def evaluate(self, send: Send, name: str, *arguments: EncodableT) -> Any:
        script = self._scripts[name]
        with suppress(NoScriptError):
            return await send("EVALSHA", script.digest, *arguments)
        return await send("EVAL", script.source, *arguments)  # also stores it on the server


class _Script:
    """digest: by which a server knows the source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.digest = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


@cache
def _source(name: str) -> str:
    """The source of a script, with `run.lua` before it unless it does not need the server's id."""
    folder = resources.files(__package__) / "scripts"
    parts = (name,) if name in _WITHOUT_SERVER_ID else ("run", name)
    return "".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts)
