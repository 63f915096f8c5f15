"""Log lines: one JSON object each, with the request's id, never with a key."""

import logging
import sys

import orjson
import structlog


def configure(level: str) -> None:
    """Our own lines and those of the libraries, in one form on standard output."""
    minimum = logging.getLevelNamesMapping()[level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
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
