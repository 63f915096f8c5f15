"""The extensions that are on: what they bring, and what opens them. The core names none of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import cache, partial
from typing import Any

from pydantic import BaseModel

from common.command_errors import CommandError
from gateway.extension import Extension
from gateway.monitoring.metrics import Metrics
from gateway.services import Services
from gateway.settings.found_extensions import FoundExtension, found
from gateway.settings.groups.lists import listed


def load(extension: FoundExtension) -> Extension[Any]:
    """Raises `CommandError` if its modules can't be imported, or hold something else."""
    loaded = extension.load("extension", Extension)
    assert loaded is not None, "this module makes it an extension"
    return loaded


@cache
def switched_on(names_off: str) -> Mapping[str, Extension[Any]]:
    """The extensions but those that are switched off, by name.

    names_off: the setting `extensions_off`. Raises `CommandError` if it names none that is
    installed, or if another one can't be loaded.
    """
    off = listed(names_off)
    for name in off:
        if name not in found():
            raise CommandError(
                f"NEARHIT_EXTENSIONS_OFF: {name} is no extension; there are {', '.join(found())}"
            )
    return {name: load(extension) for name, extension in found().items() if name not in off}


@cache
def search_fields_off(names_off: str) -> Mapping[str, str]:
    """The fields of searches that no extension serves, each with the name of one that would.

    names_off: as of `switched_on`.
    """
    off, fields_off, served = listed(names_off), dict[str, str](), set[str]()
    for name, extension in found().items():
        if name not in off:
            served.update(extension.load_rows("search_fields", str))
            continue
        with suppress(CommandError):  # it may be off because it can't be loaded
            fields_off |= dict.fromkeys(extension.load_rows("search_fields", str), name)
    return {field: name for field, name in fields_off.items() if field not in served}


@asynccontextmanager
async def opened(
    extensions: Mapping[str, Extension[Any]],
    services: Services,
    own: Mapping[str, BaseModel],
) -> AsyncIterator[Sequence[Callable[[asyncio.Event], Coroutine[None, None, None]]]]:
    """What extensions run beside jobs; what their handlers and jobs use is added to the services.

    own: the settings of each.
    """
    async with AsyncExitStack() as stack:
        beside = []
        for name, extension in extensions.items():
            used = await stack.enter_async_context(extension.open(services, own[name]))
            services.extensions[name] = used
            for method, row in extension.mcp_methods.items():
                services.mcp_methods[method] = (row, used)
            for tool_name, tool in extension.mcp_tools.items():
                services.mcp_tools[tool_name] = (tool, used)
            for kind, job in extension.jobs.items():
                services.worker.add_job(kind, job.handler(used), is_long=job.is_long)
            if extension.audit is not None:
                services.worker.audits.append(partial(extension.audit, used))
            if extension.work is not None:
                beside.append(partial(extension.work, used))
        yield beside


def contributions(
    extensions: Mapping[str, Extension[Any]], own: Mapping[str, BaseModel]
) -> Sequence[tuple[object, BaseModel]]:
    """What these extensions contribute to others. own: the settings of each."""
    return [
        (each, own[name])
        for name, extension in extensions.items()
        for each in extension.contributes
    ]


def with_metrics(metrics: Metrics) -> Metrics:
    """The metrics with those of all extensions, for the reference."""
    for extension in switched_on("").values():
        if extension.metrics is not None:
            extension.metrics(metrics)
    return metrics
