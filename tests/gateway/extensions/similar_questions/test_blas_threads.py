"""One thread compares vectors: several wait for each other longer than one takes."""

import os
import subprocess
import sys

import pytest

# What a request with `semantic: bounded` does with 4,000 cached questions, after whatever a command
# imports first. A product of this size is large enough for OpenBLAS to use threads.
COMPARES = """
import gateway.cli.main
import os
import numpy as np
from gateway.extensions.similar_questions.cached_question import CachedQuestion
from gateway.extensions.similar_questions.question_index import QuestionIndex

index = QuestionIndex()
vectors = np.eye(256, dtype=np.float16)
for number in range(4_000):
    question = CachedQuestion("a" * 32, str(number), vectors[number % 256])
    index.add(str(number), question.encode())
nearest = index.nearest("a" * 32, vectors[7].astype(np.float32), 8)
print(nearest[0][1], len(os.listdir("/proc/self/task")))
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_a_question_is_compared_with_thousands_on_one_thread() -> None:
    environment = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}

    compared = subprocess.run(  # noqa: S603
        [sys.executable, "-c", COMPARES],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    similarity, threads = compared.stdout.split()
    assert float(similarity) == 1.0
    assert int(threads) == 1
