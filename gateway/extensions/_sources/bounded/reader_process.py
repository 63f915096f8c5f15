"""The process that reads a source for `bounded_source`: run as a module, it sends its items."""

import pickle
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

from common.processes.module_process import connect
from gateway.extensions._sources.bounded import item_codec
from gateway.extensions._sources.bounded.bounded_source import ITEM_BYTES_MAX
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Item, RefusedItem
from index.model.identifiers import use_case
from ingest.errors import JobRefused

_REQUEST_BYTES_MAX = 2**20
_TOGETHER_S, _TOGETHER_BYTES = 0.05, 65_536  # starting values
_TOO_LARGE = "takes more memory to read than the limit; the rest is not read"


def _lines(
    documents: Callable[[ReaderRequest], Iterator[Item]], request: ReaderRequest
) -> Iterator[bytes]:
    """The items, and at last the end. Libraries raise any exception."""
    whole, failure = request.path.name or request.name, None
    try:
        for item in documents(request):
            message = item_codec.encode(item)
            if len(message) > ITEM_BYTES_MAX:
                reason = f"has an item of over {ITEM_BYTES_MAX:,} bytes"
                message = item_codec.encode(RefusedItem(whole, reason, holds=""))
            yield message
    except JobRefused as error:
        failure = str(error)
    except MemoryError:
        yield item_codec.encode(RefusedItem(whole, _TOO_LARGE, holds=""))
    except Exception as error:
        reason = f"can't be read: {type(error).__name__}; the rest is not read"
        yield item_codec.encode(RefusedItem(whole, reason, holds=""))
    yield item_codec.encode(item_codec.EndOfItems(failure))


def _serve(connection: Connection) -> None:
    documents, request = pickle.loads(connection.recv_bytes(_REQUEST_BYTES_MAX))  # noqa: S301  the parent's
    use_case(request.identifier_case)
    for message in _together(_lines(documents, request)):
        connection.send_bytes(message)


def _together(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a short time in one message: else sending takes as long as reading."""
    message, sent_s = bytearray(), time.monotonic()
    for line in lines:
        is_late = time.monotonic() - sent_s > _TOGETHER_S
        if message and (is_late or len(message) + len(line) > _TOGETHER_BYTES):
            yield bytes(message)
            message, sent_s = bytearray(), time.monotonic()
        message += line + b"\n"
    yield bytes(message)


if __name__ == "__main__":
    _serve(connect())
