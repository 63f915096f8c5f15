"""The lines of a JSON Lines file, each of bounded length."""

from collections.abc import Iterator
from typing import BinaryIO

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def lines(file: BinaryIO, bytes_max: int) -> Iterator[tuple[int, bytes]]:
    """The numbers and bytes of non-blank lines, each truncated after bytes_max + 1 bytes.

    A byte order mark before the first line is none of its bytes.
    """
    number = 0
    while line := file.readline(bytes_max + 1):
        number += 1
        chunk = line
        while chunk and not chunk.endswith(b"\n"):
            chunk = file.readline(bytes_max)
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line.strip():
            yield number, line
