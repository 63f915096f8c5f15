"""The process that reads a source for `bounded_source`: run as a module, it sends its items."""

import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import assert_never

from common.processes.module_process import connect
from index.model.identifiers import use_case
from ingest.errors import JobRefused
from ingest.sources import item_codec
from ingest.sources.bounded_source import ITEM_BYTES_MAX, REQUEST, ReaderRequest
from ingest.sources.readers.checkout import CheckoutSource
from ingest.sources.readers.conversations import ConversationSource
from ingest.sources.readers.delimited import DelimitedSource
from ingest.sources.readers.faqs import FaqSource
from ingest.sources.readers.git import GitSource
from ingest.sources.readers.parquet import ParquetSource
from ingest.sources.source import Item, RefusedItem

_REQUEST_BYTES_MAX = 2**20
_TOGETHER_S, _TOGETHER_BYTES = 0.05, 65_536  # starting values
_TOO_LARGE = "takes more memory to read than the limit; the rest is not read"


def _documents(request: ReaderRequest, folder: Path) -> Iterator[Item]:
    path, defaults, name, within = request.path, request.defaults, request.name, request.within
    match request.kind:
        case "git":
            return GitSource(path, defaults, name=name).documents()
        case "csv":
            source = DelimitedSource(
                path, defaults, name=name, columns=request.columns, within=within
            )
            return source.documents()
        case "parquet":
            table = ParquetSource(path, defaults, name=name, columns=request.columns, within=within)
            return table.documents()
        case "faqs":
            return FaqSource(path, defaults, name=name, within=within).documents()
        case "conversations":
            return ConversationSource(path, defaults, name=name, within=within).documents()
        case "checkout":
            checkout = CheckoutSource(
                folder, defaults, url=request.url, branch=request.branch, path=path, name=name
            )
            return checkout.documents()
        case kind:
            assert_never(kind)


def _lines(request: ReaderRequest, folder: Path) -> Iterator[bytes]:
    """The items, and at last the end. Libraries raise any exception."""
    whole, failure = request.path.name or request.name, None
    try:
        for item in _documents(request, folder):
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
    yield item_codec.encode_end(failure)


def _serve(connection: Connection) -> None:
    request = REQUEST.validate_json(connection.recv_bytes(_REQUEST_BYTES_MAX))
    use_case(request.identifier_case)
    folder = Path(connection.recv_bytes(_REQUEST_BYTES_MAX).decode())
    for message in _together(_lines(request, folder)):
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
