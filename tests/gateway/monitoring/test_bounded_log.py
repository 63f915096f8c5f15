import orjson
import pytest

from gateway.monitoring import logs
from gateway.monitoring.bounded_log import PAUSE_S, BoundedLog


def test_many_events_are_one_line_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning")
    now_s = 0.0
    bounded = BoundedLog("redis", lambda: now_s, state="unreadable")

    for _ in range(100):
        bounded.warn()
    now_s = PAUSE_S
    bounded.warn()

    lines = [orjson.loads(line) for line in capsys.readouterr().out.splitlines()]
    logs.configure("error")
    assert [(line["state"], line["times"]) for line in lines] == [
        ("unreadable", 1),
        ("unreadable", 100),
    ]
