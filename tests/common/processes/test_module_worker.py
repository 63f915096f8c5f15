"""A process that answers requests within limits of each."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.processes.bounded_process import ProcessLimits
from common.processes.module_worker import ModuleWorker, ProcessEnded, ProcessKilled

pytestmark = pytest.mark.slow

MODULE = "tests.common.processes.sample_worker"


@pytest.fixture
def worker() -> Iterator[ModuleWorker]:
    made = ModuleWorker(MODULE, ProcessLimits(memory_bytes=2**28, cpu_s=60), 1_000)
    yield made
    made.close()


def test_a_request_beyond_its_processor_time_ends_and_the_next_is_answered(
    worker: ModuleWorker,
) -> None:
    with pytest.raises(TimeoutError):
        worker.ask(b"compute", b"0.6", cpu_s=0.5)  # by the clock it would have 5 s

    assert worker.ask(b"wait", b"0", cpu_s=0.2) == b"done"


@pytest.mark.thorough
def test_a_request_that_gets_no_processor_for_longer_than_its_processor_time_is_answered(
    worker: ModuleWorker,
) -> None:
    assert worker.ask(b"wait", b"0.5", cpu_s=0.2) == b"done"


@pytest.mark.thorough
def test_each_request_has_its_own_processor_time(worker: ModuleWorker) -> None:
    for _ in range(3):
        assert worker.ask(b"compute", b"0.2", cpu_s=0.5) == b"done"


@pytest.mark.thorough
def test_a_request_that_only_waits_ends_by_the_clock(worker: ModuleWorker) -> None:
    worker.ask(b"wait", b"0", cpu_s=1)  # the process has started

    with pytest.raises(TimeoutError):
        worker.ask(b"wait", b"3600", cpu_s=0.05)


def test_a_request_beyond_the_memory_is_not_taken_for_a_slow_one(worker: ModuleWorker) -> None:
    with pytest.raises(ProcessEnded) as refused:
        worker.ask(b"fill", str(2**29).encode(), cpu_s=60)
    assert not isinstance(refused.value, ProcessKilled)


def test_a_request_whose_process_somebody_kills_is_asked_once_more(
    worker: ModuleWorker, tmp_path: Path
) -> None:
    assert worker.ask(b"die once", str(tmp_path / "died").encode(), cpu_s=60) == b"done"

    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU):
        with pytest.raises(ProcessKilled):
            worker.ask(b"die", str(int(number)).encode(), cpu_s=60)

    assert worker.ask(b"wait", b"0", cpu_s=60) == b"done"


@pytest.mark.thorough
def test_a_process_that_does_not_start_says_nothing_about_its_request() -> None:
    worker = ModuleWorker(f"{MODULE}_missing", ProcessLimits(memory_bytes=2**28, cpu_s=60), 1_000)

    with pytest.raises(ProcessKilled):
        worker.ask(b"wait", b"0", cpu_s=1)
