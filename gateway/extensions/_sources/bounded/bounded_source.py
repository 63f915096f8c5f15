"""A source that is read in a process of its own, within limits of memory and time.

Its file may have been made to take gigabytes, or an hour, and no library that reads it has limits.
"""

import pickle
from collections.abc import Callable, Iterator

from common.processes.bounded_process import ProcessLimits
from common.processes.module_process import ModuleProcess
from gateway.extensions._sources.bounded import item_codec
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Item, RefusedItem
from ingest.errors import JobRefused

# Starting values, not measured, but for the memory: pyarrow takes 0.7 GB of addresses for itself.
MEMORY_BYTES_MAX = 2**30
CPU_S_MAX = 6 * 3_600
SILENT_S_MAX = 300.0  # without another item; a git source begins with two commands of 120 s
ITEM_BYTES_MAX = 32 * 2**20  # the longest text, with each character escaped, and the other fields
_MESSAGE_BYTES_MAX = ITEM_BYTES_MAX + 65_536
_LIMITS = ProcessLimits(MEMORY_BYTES_MAX, CPU_S_MAX)
_READER = f"{__package__}.reader_process"
_TOO_SLOW = f"has no further item after {SILENT_S_MAX:.0f} s; the rest is not read"
_ENDED = "takes more memory or time to read than the limits; the rest is not read"


class BoundedSource:
    """The documents of the request; `documents` is the function that reads them."""

    def __init__(
        self,
        kind: str,
        documents: Callable[[ReaderRequest], Iterator[Item]],
        request: ReaderRequest,
    ) -> None:
        self.name = request.name
        self.kind = kind
        self._read = documents
        self._request = request
        self._process: ModuleProcess | None = None
        self._is_stopped = False

    def documents(self) -> Iterator[Item]:
        """The items in their order, as soon as the process sends them.

        Does blocking I/O. At a limit, what comes after it is refused as a whole. Raises
        `JobRefused` if the source can never be read.
        """
        try:
            with ModuleProcess(_READER, _LIMITS) as self._process:
                if self._is_stopped:
                    return
                self._process.send(pickle.dumps((self._read, self._request)))
                while message := self._process.receive(_MESSAGE_BYTES_MAX, SILENT_S_MAX):
                    for line in message.splitlines():
                        item = item_codec.decode(line)
                        if isinstance(item, item_codec.EndOfItems):
                            if item.failure is not None:
                                raise JobRefused(item.failure)
                            return
                        yield item
            yield self._refused(_TOO_SLOW)
        except (EOFError, OSError):
            yield self._refused(_ENDED)

    def stop(self) -> None:
        """End `documents` soon; another thread calls it."""
        self._is_stopped = True  # first: the other thread may be about to start the process
        if self._process is not None:
            self._process.kill()

    def _refused(self, why: str) -> RefusedItem:
        return RefusedItem(self._request.path.name or self.name, why, holds="")
