"""The protocol's package takes long to import: once a process, whoever needs it."""

import asyncio
import threading

import pytest

from gateway.extensions.mcp.lazy_module import LazyModule


@pytest.mark.anyio
async def test_concurrent_calls_import_a_module_in_one_thread() -> None:
    module = LazyModule("colorsys")
    before = threading.active_count()

    loads = [asyncio.ensure_future(module.load()) for _ in range(20)]
    await asyncio.sleep(0)
    threads = threading.active_count() - before
    await asyncio.gather(*loads)

    assert threads <= 1
    assert module.is_loaded
