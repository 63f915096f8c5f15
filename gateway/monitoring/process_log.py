"""What a process logs when it starts and when it stops."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata

import structlog

from gateway import setting_report, setting_sources
from gateway.settings import Settings

VERSION = metadata.version("nearhit")


@asynccontextmanager
async def logged(process: str, settings: Settings) -> AsyncIterator[None]:
    """Log the start with the version and the settings that differ from defaults, and the stop.

    Variables that are no settings are warned of: a setting that is misspelled has no effect.
    """
    log = structlog.get_logger()
    log.info(
        "start",
        process=process,
        version=VERSION,
        pid=os.getpid(),
        settings=setting_report.differing(settings),
    )
    for sentence in setting_sources.unknown_variables(Settings.model_fields, os.environ):
        log.warning("unknown_setting", detail=sentence)
    try:
        yield
    finally:
        log.info("stop", process=process, pid=os.getpid())
