"""Sources that are read in a process of their own: what they give, and what ends them."""

import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from index.model.document import Document
from index.model.identifiers import IdentifierCase, use_case
from ingest.errors import JobRefused
from ingest.sources import item_codec
from ingest.sources.kinds import open_source
from ingest.sources.reader_request import ReaderRequest
from ingest.sources.readers import checkout, delimited
from ingest.sources.source import Defaults, Item, RefusedItem, SkippedFiles, Source, UnchangedItem
from tests.gateway.servers.git_server import git, git_server
from tests.ingest.sources.files import write

pytestmark = pytest.mark.slow

DEFAULTS = Defaults(readers=("tenant",))


def opened(kind: str, path: Path) -> Source:
    return open_source(kind, path, DEFAULTS, name="x", columns={})  # type: ignore[arg-type]  # one of them


def test_a_table_gives_the_same_items_as_in_this_process(tmp_path: Path) -> None:
    path = write(
        tmp_path / "leads.csv",
        b"id,text,tags,level\n1,Caf\xc3\xa9.,a;b,3\n2,,,\n3,\xff,,\n4,Four.\n5,\xf0\x9f\x8d\x8b,,\n",
    )

    items = list(opened("csv", path).documents())

    assert items == list(delimited.documents(ReaderRequest("csv", path, DEFAULTS, "x")))
    assert len(items) == 5


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
        item_codec.EndOfItems(None),
    ],
)
def test_what_one_process_sends_the_other_receives(item: Item | item_codec.EndOfItems) -> None:
    message = (
        item_codec.encode_end(item.failure)
        if isinstance(item, item_codec.EndOfItems)
        else item_codec.encode(item)
    )

    assert item_codec.decode(message) == item


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


def test_a_reading_that_is_stopped_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "leads.csv", "text\n" + "Of harbours.\n" * 100_000)
    source = opened("csv", path)
    items = source.documents()
    first = list(islice(items, 2))

    source.stop()

    assert len(first) + len(list(items)) < 100_000


def test_a_source_that_is_stopped_before_it_begins_gives_nothing(tmp_path: Path) -> None:
    source = opened("csv", write(tmp_path / "leads.csv", "text\nOf harbours.\n"))

    source.stop()

    assert list(source.documents()) == []


@pytest.fixture
def bomb(tmp_path: Path) -> Iterator[str]:
    """The URL of a repository of some kilobytes: a million bytes, ten thousand times."""
    root = tmp_path / "git" / "bomb"
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch", "main")
    write(root / "zeros.txt", bytes(1_000_000))
    name = output(root, "hash-object", "-w", "zeros.txt")
    kind, mode = "blob", "100644"
    for _ in range(4):
        entries = "".join(f"{mode} {kind} {name}\t{number}.md\n" for number in range(10))
        name, kind, mode = output(root, "mktree", entries=entries), "tree", "040000"
    head = output(
        root,
        "-c",
        "user.name=Ana",
        "-c",
        "user.email=ana@example.org",
        "commit-tree",
        "-m",
        "x",
        name,
    )
    git(root, "update-ref", "refs/heads/main", head)
    with git_server(tmp_path / "git") as host:
        yield f"http://{host}/bomb/.git"


def output(root: Path, *arguments: str, entries: str | None = None) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(  # noqa: S603  ours
        command, input=entries, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_repository_that_unpacks_to_gigabytes_is_not_checked_out(
    bomb: str, tmp_path: Path
) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    request = ReaderRequest("checkout", Path(), DEFAULTS, "x", url=bomb)

    with pytest.raises(JobRefused, match=f"over {checkout.CHECKOUT_BYTES_MAX:,} bytes"):
        list(checkout.documents(request, folder))

    assert [path.name for path in folder.iterdir()] == [".git"]
