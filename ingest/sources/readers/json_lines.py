"""The lines of a JSON Lines file, each of bounded length."""

from collections.abc import Iterator
from typing import BinaryIO


def lines(file: BinaryIO, bytes_max: int) -> Iterator[tuple[int, bytes]]:
    """The numbers and bytes of non-blank lines, each truncated after bytes_max + 1 bytes."""
    number = 0
    while line := file.readline(bytes_max + 1):
        number += 1
        chunk = line
        while chunk and not chunk.endswith(b"\n"):
            chunk = file.readline(bytes_max)
        if line.strip():
            yield number, line
