import os
from itertools import islice

import pytest

from loadtests.scenarios import probe
from loadtests.servers import processes


@pytest.mark.thorough
@pytest.mark.slow
def test_no_question_is_asked_twice() -> None:
    questions = list(islice(probe.questions(), 30_000))

    assert len(set(questions)) == len(questions)


def test_a_process_has_memory() -> None:
    assert processes.megabytes([os.getpid()]) > 1
    assert processes.megabytes([]) == 0
