"""Read odd files of every format, as a folder's reading does.

    python -m tests.fuzz.files [--each 30] [--seed 1]

Exits with 1 if a file ends in neither a document nor a reason, if it takes longer
than its size allows, or if the process that reads it takes more memory than its limit. As many are
read at once as the machine has cores.
"""

import argparse
import os
import random
import resource
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import PurePosixPath
from queue import SimpleQueue

from common.processes.module_worker import WALL_S_PER_CPU_S
from gateway.extensions._files import file_parsers, installed_formats
from gateway.extensions._files.extract import (
    BYTES_PER_S,
    MEMORY_BYTES_MAX,
    SECONDS_MAX,
    SECONDS_MIN,
    Extractor,
)
from gateway.extensions._sources.source import Defaults, document, reason
from tests.fuzz.odd_files import odd_files

_REASON_CHARACTERS_MAX = 500
_GRACE_S = 10.0  # to end a process and start the next one on a busy machine


def main() -> None:
    parser = argparse.ArgumentParser(description="Read odd files of every format.")
    parser.add_argument("--each", type=int, default=30, help="damaged files of each format")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)  # noqa: S311  no secret
    ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
    slowest: defaultdict[str, float] = defaultdict(float)
    wrong = []
    formats = installed_formats.formats("")
    readers = os.cpu_count() or 1
    free: SimpleQueue[Extractor] = SimpleQueue()

    def read(odd: tuple[str, str, bytes]) -> tuple[str, str, str, str, float]:
        suffix, name, content = odd
        extractor = free.get()
        started_s = time.monotonic()
        end, fault = _read(extractor, suffix, content)
        taken_s = time.monotonic() - started_s
        free.put(extractor)
        cpu_s = min(SECONDS_MIN + len(content) / BYTES_PER_S, SECONDS_MAX)
        if taken_s > cpu_s * WALL_S_PER_CPU_S + _GRACE_S:
            fault = fault or f"takes {taken_s:.0f} s"
        return suffix, name, end, fault, taken_s

    with ExitStack() as stack:
        for _ in range(readers):
            free.put(stack.enter_context(closing(Extractor(formats))))
        pool = stack.enter_context(ThreadPoolExecutor(readers))
        for suffix, name, end, fault, taken_s in pool.map(read, odd_files(rng, arguments.each)):
            if fault:
                wrong.append(f"{suffix}, {name}: {fault}")
            if taken_s > 1:
                print(f"{suffix}, {name}: {taken_s:.1f} s, {end}", flush=True)
            ends[suffix][end.partition(":")[0]] += 1
            slowest[suffix] = max(slowest[suffix], taken_s)
    for suffix, counts in ends.items():
        print(f"{suffix}: slowest {slowest[suffix]:.1f} s, {dict(counts.most_common(4))}")
    memory_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1_024
    print(f"the most memory of a process: {memory_bytes / 2**20:,.0f} MiB")
    if memory_bytes > MEMORY_BYTES_MAX:
        wrong.append("a process takes more memory than its limit")
    if wrong:
        raise SystemExit("\n".join(wrong))


def _read(extractor: Extractor, suffix: str, content: bytes) -> tuple[str, str]:
    """How the reading ends, and what is wrong about it; empty for nothing."""
    own = {"document_id": f"odd/file{suffix}", "source": "odd", "uri": f"file{suffix}"}
    try:
        parsed = file_parsers.parse(PurePosixPath(own["uri"]), content, extractor)
        document(Defaults(readers=("tenant",)).fields() | parsed.fields | own)
    except ValueError as error:
        why = reason(error)
        is_one_line = bool(why) and "\n" not in why and len(why) <= _REASON_CHARACTERS_MAX
        return why, "" if is_one_line else f"has no reason of one line: {why[:100]!r}"
    except Exception as error:
        return "an error", f"raises {type(error).__name__}: {error}"
    return "a document", ""


if __name__ == "__main__":
    main()
