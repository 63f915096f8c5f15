"""What a process logs when it starts and when it stops."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import structlog
from rich.console import Console

from common.version import VERSION
from gateway.monitoring import logs
from gateway.settings.setting_report import SettingReport


def announce(
    console: Console, line_format: logs.Format, text: str, event: str, **fields: object
) -> None:
    """Tell the operator something before the log is open.

    A terminal shows the text. Elsewhere it is a line of the log, in its format and whatever its
    level, so that a program that reads the log meets nothing else.
    """
    if console.is_terminal:
        console.print(text, soft_wrap=True, markup=False)
        return
    timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    line = {"event": event, "level": "info", "timestamp": timestamp, **fields}
    sys.stdout.buffer.write(logs.renderer(line_format)(line) + b"\n")
    sys.stdout.buffer.flush()


@asynccontextmanager
async def logged(process: str, report: SettingReport) -> AsyncIterator[None]:
    """Log the start with the version and the settings that differ from defaults, and the stop.

    Variables that are no settings are warned of: a setting that is misspelled has no effect.
    """
    log = structlog.get_logger()
    log.info(
        "start",
        process=process,
        version=VERSION,
        pid=os.getpid(),
        settings=report.differing,
    )
    for sentence in report.unknown:
        log.warning("unknown_setting", detail=sentence)
    for sentence in report.unused:
        log.info("unused_setting", detail=sentence)
    try:
        yield
    finally:
        log.info("stop", process=process, pid=os.getpid())
