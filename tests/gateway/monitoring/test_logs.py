"""Log lines of libraries."""

import contextlib
import io
import logging
from collections.abc import Iterator

import orjson
import pytest
import structlog

from gateway.monitoring import logs


@pytest.fixture(autouse=True)
def configured() -> Iterator[None]:
    logs.configure("warning")
    yield
    logs.configure("error")


def test_a_pool_that_can_not_connect_logs_the_error_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("warning")  # again, with the output that is captured
    try:
        raise ConnectionRefusedError(111, "Connection refused")
    except OSError:
        logging.getLogger("asyncpg.pool").warning("Failed to restore; retrying", exc_info=True)

    (line,) = capsys.readouterr().out.splitlines()
    assert orjson.loads(line)["event"] == (
        "Failed to restore; retrying: ConnectionRefusedError(111, 'Connection refused')"
    )


def test_a_traceback_of_our_own_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning")
    try:
        int("seven")
    except ValueError:
        logging.getLogger("gateway.somewhere").exception("it failed")

    assert "Traceback" in capsys.readouterr().out


def test_a_logger_outlives_the_output_of_its_first_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logger = structlog.get_logger().bind()  # as a module's logger is from its first line on
    first = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(first):
        logger.error("first")
    first.close()

    logger.error("second")

    assert orjson.loads(capsys.readouterr().out)["event"] == "second"
