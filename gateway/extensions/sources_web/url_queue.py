"""The pages that a crawl has still to read: each once, and no more than it may read in all."""

from collections import deque
from collections.abc import Iterator

URLS_BYTES_MAX = 16 * 2**20  # a starting value: 20,000 URLs of 800 characters


class UrlQueue:
    """An iterator of the URLs in the order in which they were added, also while it is iterated.

    urls_max: of all that are ever added.
    left_out: the reason why some are not in it; None while all are.
    """

    def __init__(self, urls_max: int) -> None:
        self.left_out: str | None = None
        self._urls_max = urls_max
        self._waiting: deque[str] = deque()
        self._known: set[str] = set()
        self._size_bytes = 0

    def __iter__(self) -> Iterator[str]:
        while self._waiting:
            yield self._waiting.popleft()

    def add(self, url: str) -> None:
        """Add an ASCII URL, unless it was added before or there is no room."""
        if url in self._known:
            return
        if len(self._known) == self._urls_max:
            self.left_out = f"has more than {self._urls_max:,} pages"
        elif self._size_bytes + len(url) > URLS_BYTES_MAX:
            self.left_out = f"has links of more than {URLS_BYTES_MAX:,} bytes"
        else:
            self._known.add(url)
            self._waiting.append(url)
            self._size_bytes += len(url)
