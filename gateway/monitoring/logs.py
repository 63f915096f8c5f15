"""Log lines: one JSON object each or one text, with the request id, never with a key."""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, BinaryIO, Literal, TypeAlias, cast

import orjson
import structlog
from structlog.typing import Processor

from common import current_span

FLUSH_S = 0.1
KEY_START = "nh_"  # prefix of every key; a text that contains it is never logged or returned


Format: TypeAlias = Literal["json", "text"]
Render: TypeAlias = Callable[[Mapping[str, object]], bytes]

_logfmt = structlog.processors.LogfmtRenderer(
    key_order=("timestamp", "level", "event"), drop_missing=True, bool_as_flag=False
)


def renderer(line_format: Format) -> Render:
    """json: one object a line. text: `key=value` pairs, the time first. Without the line's end."""
    return _json if line_format == "json" else _text


def _json(line: Mapping[str, object]) -> bytes:
    return orjson.dumps(line, default=str)


def _text(line: Mapping[str, object]) -> bytes:
    return _logfmt(None, "", dict(line)).encode()


class _Output:
    """Standard output as it is at each line: a logger may outlive the one of its first line."""

    def write(self, line: bytes) -> None:
        sys.stdout.buffer.write(line)

    def flush(self) -> None:
        sys.stdout.buffer.flush()


def configure(level: str, *, line_format: Format = "json") -> None:
    """Log Nearhit's own lines and those of libraries on standard output, in one format."""
    render = renderer(line_format)
    minimum = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _add_trace_ids,
    ]
    structlog.configure(
        processors=[*shared, lambda _logger, _name, line: render(line)],
        wrapper_class=structlog.make_filtering_bound_logger(minimum),
        logger_factory=structlog.BytesLoggerFactory(cast("BinaryIO", _Output())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                lambda _logger, _name, line: render(line).decode(),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(minimum, logging.WARNING), force=True)
    logging.getLogger("asyncpg.pool").addFilter(_shorten)


def _add_trace_ids(
    _logger: Any, _method: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    trace_id, span_id = current_span.ids()
    if trace_id and "trace_id" not in line:
        line["trace_id"], line["span_id"] = trace_id, span_id
    return line


def _shorten(record: logging.LogRecord) -> bool:
    """Replace the traceback of a line by its error: each retry of the pool has one in an outage."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        record.msg, record.args = f"{record.getMessage()}: {error!r}", ()
        record.exc_info = None
    return True


class RequestLog:
    """One line per request, written in batches: a system call per line costs 10 % of its time."""

    def __init__(self, line_format: Format = "json") -> None:
        self._render = renderer(line_format)
        self._lines: list[bytes] = []

    def write(self, line: dict[str, object]) -> None:
        """Write the line within FLUSH_S."""
        if not self._lines:
            asyncio.get_running_loop().call_later(FLUSH_S, self.flush)
        self._lines.append(self._render(line) + b"\n")

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        sys.stdout.buffer.write(b"".join(lines))
        sys.stdout.buffer.flush()
