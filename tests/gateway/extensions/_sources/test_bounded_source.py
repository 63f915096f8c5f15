"""Sources that are read in a process of their own: what they give, and what ends them."""

from itertools import islice
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from gateway.extensions._ingest import path_kinds
from gateway.extensions._sources.bounded import item_codec
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.kinds import open_source
from gateway.extensions._sources.source import (
    Defaults,
    RefusedItem,
    SkippedFiles,
    Source,
    UnchangedItem,
)
from gateway.extensions.sources_records import delimited
from index.model.document import Document
from index.model.identifiers import IdentifierCase, use_case
from tests.gateway.extensions._sources.files import write

pytestmark = pytest.mark.slow

KINDS = path_kinds.path_kinds("")
DEFAULTS = Defaults(readers=("tenant",))


def opened(kind: str, path: Path) -> Source:
    return open_source(KINDS[kind], path, DEFAULTS, name="x", columns={})


@pytest.mark.thorough
def test_a_table_gives_the_same_items_as_in_this_process(tmp_path: Path) -> None:
    path = write(
        tmp_path / "leads.csv",
        b"id,text,tags,level\n1,Caf\xc3\xa9.,a;b,3\n2,,,\n3,\xff,,\n4,Four.\n5,\xf0\x9f\x8d\x8b,,\n",
    )

    items = list(opened("csv", path).documents())

    assert items == list(delimited.documents(ReaderRequest(path, DEFAULTS, "x")))
    assert len(items) == 5


@pytest.mark.thorough
def test_the_process_reads_names_as_the_deployment_spells_them(tmp_path: Path) -> None:
    path = write(tmp_path / "leads.csv", "id,text,readers\n1,One.,user:Ana\n")
    readers = {}

    try:
        for case in get_args(IdentifierCase):
            use_case(case)
            (document,) = opened("csv", path).documents()
            assert isinstance(document, Document)
            readers[case] = document.readers
    finally:
        use_case("fold")

    assert readers == {"fold": ("user:ana",), "keep": ("user:Ana",)}


@pytest.mark.parametrize(
    "item",
    [
        RefusedItem("a\udcff.md", "not UTF-8", holds=""),
        SkippedFiles("hidden", 2, (".a", ".b")),
        UnchangedItem("x/a"),
        item_codec.EndOfItems(),
    ],
)
def test_what_one_process_sends_the_other_receives(item: item_codec.Message) -> None:
    assert item_codec.decode(item_codec.encode(item)) == item


def test_a_small_parquet_file_that_names_gigabytes_is_refused_and_what_is_before_it_read(
    tmp_path: Path,
) -> None:
    path, rows = tmp_path / "leads.parquet", 256
    schema = pa.schema({"id": pa.string(), "text": pa.dictionary(pa.int32(), pa.string())})
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
        for key, text in (("a", "Harbour."), ("b", "x" * 10_000_000)):
            keys = pa.array([f"{key}{number}" for number in range(rows)])
            texts = pa.DictionaryArray.from_arrays(
                pa.array([0] * rows, pa.int32()), pa.array([text])
            )
            writer.write_table(pa.table([keys, texts], schema=schema))
    assert path.stat().st_size < 20_000

    *read, last = opened("parquet", path).documents()

    assert [item.document_id for item in read if isinstance(item, Document)] == [
        f"x/a{number}" for number in range(rows)
    ]
    assert isinstance(last, RefusedItem)
    assert last.reason.startswith("takes more memory")
    assert last.holds == ""


@pytest.mark.thorough
def test_a_reading_that_is_stopped_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "leads.csv", "text\n" + "Of harbours.\n" * 100_000)
    source = opened("csv", path)
    items = source.documents()
    first = list(islice(items, 2))

    source.stop()

    assert len(first) + len(list(items)) < 100_000


@pytest.mark.thorough
def test_a_source_that_is_stopped_before_it_begins_gives_nothing(tmp_path: Path) -> None:
    source = opened("csv", write(tmp_path / "leads.csv", "text\nOf harbours.\n"))

    source.stop()

    assert list(source.documents()) == []
