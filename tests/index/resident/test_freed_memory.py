"""Freed memory goes back to the operating system."""

import platform
import re
from pathlib import Path

import pytest

from index.resident.building import freed_memory

PIECES = 20_000
PIECE_BYTES = 4_096


def private_bytes() -> int:
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    (kilobytes,) = re.findall(r"^Private_Dirty: +(\d+) kB$", rollup, re.MULTILINE)
    return int(kilobytes) * 1024


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_what_lies_between_pieces_in_use_is_given_back() -> None:
    pieces = [bytes(PIECE_BYTES) for _ in range(PIECES)]
    kept = pieces[::64]
    del pieces
    before = private_bytes()

    freed_memory.give_back()

    assert before - private_bytes() > PIECES * PIECE_BYTES / 2
    assert len(kept) == PIECES // 64 + 1
