"""The Parquet source: one document a row, as in CSV; needs the extra `parquet`."""

from collections.abc import Iterator
from importlib.util import find_spec

from gateway.extensions._records import table
from gateway.extensions._records.table import Row
from gateway.extensions._sources import confined
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Item, RefusedItem, reason

FILE_BYTES_MAX = 4 * 2**30  # starting values, not measured
ROWS = 256  # of a batch


def documents(request: ReaderRequest) -> Iterator[Item]:
    """The rows in their order. Does blocking I/O; raises nothing for a row or the file.

    A few bytes may name gigabytes: it runs in a process with limits.
    """
    file = request.path.name
    if find_spec("pyarrow") is None:
        message = "needs the extra `parquet`: pip install '.[parquet]' in a checkout"
        yield RefusedItem(file, message, holds="")
        return
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    from gateway.extensions.sources_records import arrow_values

    try:
        with (
            confined.open_file(request.path, FILE_BYTES_MAX, request.within) as content,
            ParquetFile(content) as parquet,
        ):
            names = table.column_names(parquet.schema_arrow.names, request.columns)
            columns = table.map_columns(names, request.columns)
            rows: Iterator[Row] = (
                dict(zip(names, cells, strict=True))
                for batch in parquet.iter_batches(batch_size=ROWS, use_threads=False)
                for cells in zip(*map(arrow_values.values, batch.columns), strict=True)
            )
            yield from table.items(rows, columns, request.name, file, request.defaults)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except ArrowException as error:
        message = " ".join(str(error).split())[:200]
        yield RefusedItem(file, f"is not Parquet that can be read: {message}", holds="")
    except (OSError, ValueError) as error:
        yield RefusedItem(file, reason(error), holds="")
