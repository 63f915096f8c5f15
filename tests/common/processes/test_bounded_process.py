"""A command within limits: what ends it, and what is left of it."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common.processes import supervisor
from common.processes.bounded_process import BoundedProcess, ProcessLimits

pytestmark = pytest.mark.slow

WAIT_S = 60.0
LIMITS = ProcessLimits(memory_bytes=2**30, cpu_s=60)
# It starts a second process in its group; the test holds the other end of their standard input.
TWO_PROCESSES = "import os, time; os.fork(); os.write({0}, b'x'); time.sleep(600)"

_PARENT = """
import os, sys
from pathlib import Path
from common.processes.bounded_process import BoundedProcess, ProcessLimits
command, descriptor, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
limits = ProcessLimits(memory_bytes=2**30, cpu_s=60)
process = BoundedProcess(
    [sys.executable, "-c", command], limits, pass_fds=[descriptor], folder=folder
)
os.close(descriptor)
process.wait()
"""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    receiving, sending = os.pipe()
    yield receiving, sending
    os.close(receiving)


def python(command: str, limits: ProcessLimits) -> int:
    with BoundedProcess([sys.executable, "-c", command], limits) as process:
        return process.wait()


def receive(receiving: int, count: int) -> None:
    """Wait for so many bytes, one of each process."""
    for _ in range(count):
        assert select.select([receiving], [], [], WAIT_S)[0], "the processes have not started"
        assert os.read(receiving, 1)


def assert_all_have_ended(receiving: int) -> None:
    """The pipe ends when no process holds its other end."""
    assert select.select([receiving], [], [], WAIT_S)[0], "a process is still there"
    assert os.read(receiving, 1) == b""


def test_the_status_is_that_of_the_command() -> None:
    assert python("raise SystemExit(7)", LIMITS) == 7


@pytest.mark.parametrize(
    ("command", "limits", "status"),
    [
        ("bytearray(2**29)", ProcessLimits(2**28, 60), 1),
        ("while True: pass", ProcessLimits(2**30, 1), 128 + signal.SIGXCPU),
        (
            "import time; time.sleep(600)",
            ProcessLimits(2**30, 60, seconds=0.1),
            supervisor.TOO_LATE,
        ),
        (
            "import tempfile; f = tempfile.TemporaryFile(); f.write(b'x' * 2_000); f.flush()",
            ProcessLimits(2**30, 60, file_bytes=1_000),
            1,
        ),
    ],
    ids=["memory", "processor", "clock", "file"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep all of them")
def test_a_command_beyond_a_limit_ends(command: str, limits: ProcessLimits, status: int) -> None:
    assert python(command, limits) == status


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep all of them")
def test_the_limits_hold_for_what_a_command_starts() -> None:
    start = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {!r}]))"

    assert python(start.format("bytearray(2**29)"), ProcessLimits(2**28, 60)) == 1


def test_what_a_command_has_started_ends_with_it_and_its_folder_goes(
    pipe: tuple[int, int], tmp_path: Path
) -> None:
    receiving, sending = pipe
    command = f"import os, time\nif os.fork() == 0: time.sleep(600)\nos.write({sending}, b'x')"
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)

    with BoundedProcess(
        [sys.executable, "-c", command], LIMITS, pass_fds=[sending], folder=folder
    ) as process:
        os.close(sending)
        receive(receiving, 1)
        assert process.wait() == 0

    assert_all_have_ended(receiving)
    assert not folder.exists()


def test_a_command_that_is_stopped_leaves_no_process_and_no_folder(
    pipe: tuple[int, int], tmp_path: Path
) -> None:
    receiving, sending = pipe
    folder = tmp_path / "folder"
    folder.mkdir()

    with BoundedProcess(
        [sys.executable, "-c", TWO_PROCESSES.format(sending)],
        LIMITS,
        pass_fds=[sending],
        folder=folder,
    ):
        os.close(sending)
        receive(receiving, 2)

    assert_all_have_ended(receiving)
    assert not folder.exists()


def supervisor_of(parent: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text())


def kill_parent(parent: subprocess.Popen[bytes]) -> None:
    parent.kill()


def terminate_supervisor(parent: subprocess.Popen[bytes]) -> None:
    os.kill(supervisor_of(parent), signal.SIGTERM)


@pytest.mark.sampled("terminate_supervisor")
@pytest.mark.parametrize("end", [kill_parent, terminate_supervisor])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_parent_that_is_killed_leaves_no_process_and_no_folder(
    pipe: tuple[int, int], tmp_path: Path, end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    receiving, sending = pipe
    folder = tmp_path / "folder"
    folder.mkdir()
    parent = subprocess.Popen(  # noqa: S603  the test's own command
        [sys.executable, "-c", _PARENT, TWO_PROCESSES.format(sending), str(sending), str(folder)],
        pass_fds=[sending],
    )
    os.close(sending)
    receive(receiving, 2)
    descriptor = os.pidfd_open(supervisor_of(parent))

    end(parent)

    parent.wait(WAIT_S)
    assert_all_have_ended(receiving)
    assert select.select([descriptor], [], [], WAIT_S)[0], "the supervisor is still there"
    os.close(descriptor)
    assert not folder.exists()
