"""Log lines: one JSON object each, with the request id, never with a key."""

import asyncio
import logging
import sys

import orjson
import structlog

FLUSH_S = 0.1
KEY_START = "nh_"  # prefix of every key; a text that contains it is never logged or returned


def configure(level: str) -> None:
    """Log Nearhit's own lines and those of libraries as JSON on standard output."""
    minimum = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(orjson.dumps)],
        wrapper_class=structlog.make_filtering_bound_logger(minimum),
        logger_factory=structlog.BytesLoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(
                    lambda line, **_: orjson.dumps(line, default=str).decode()
                ),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(minimum, logging.WARNING), force=True)


class RequestLog:
    """One line per request, written in batches: a system call per line costs 10 % of its time."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def write(self, line: dict[str, object]) -> None:
        """Write the line within FLUSH_S."""
        if not self._lines:
            asyncio.get_running_loop().call_later(FLUSH_S, self.flush)
        self._lines.append(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        sys.stdout.buffer.write(b"".join(lines))
        sys.stdout.buffer.flush()
