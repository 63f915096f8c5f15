"""A module that few calls need, imported by the first of them or after the start."""

import asyncio
import importlib

from cache.singleflight import Singleflight


class LazyModule:
    """Concurrent callers wait for one import, which takes one thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._imports: Singleflight[None] = Singleflight()
        self.is_loaded = False

    async def load(self) -> None:
        if not self.is_loaded:
            await self._imports.do(self._name, self._import)

    async def _import(self) -> None:
        await asyncio.to_thread(importlib.import_module, self._name)
        self.is_loaded = True
