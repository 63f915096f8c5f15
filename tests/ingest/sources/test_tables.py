"""CSV and Parquet: a document a row, the columns mapped to its fields."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from index.model.document import Document
from ingest.sources.readers.delimited import ROW_CHARACTERS_MAX, DelimitedSource
from ingest.sources.readers.parquet import ParquetSource
from ingest.sources.source import Defaults, Item, RefusedItem
from tests.ingest.sources.files import write

DEFAULTS = Defaults(owner="ana", readers=("tenant",), tags=("all",))


def csv(path: Path, content: str | bytes, columns: Mapping[str, str] | None = None) -> list[Item]:
    source = DelimitedSource(write(path / "leads.csv", content), DEFAULTS, columns=columns)
    return list(source.documents())


def parquet(path: Path, table: pa.Table, columns: Mapping[str, str] | None = None) -> list[Item]:
    file = path / "leads.parquet"
    pyarrow.parquet.write_table(table, file)
    return list(ParquetSource(file, DEFAULTS, columns=columns).documents())


def refused(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.path, item.reason) for item in items if isinstance(item, RefusedItem)]


def texts(items: list[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Document)]


def test_columns_that_are_called_as_fields_are_these_and_the_others_are_metadata(
    tmp_path: Path,
) -> None:
    (document,) = csv(
        tmp_path,
        "\ufeffID,Text,title,tags,readers,office,floor\n"
        '7,"Two lines,\r\nof text",Lamp,"a, b",group:hr; user:rui,Porto,\n',
    )

    assert document == Document(
        document_id="leads/7",
        title="Lamp",
        text="Two lines,\nof text",
        source="leads",
        uri="",
        language="en",
        tags=("a", "b"),
        metadata={"office": "Porto"},
        owner="ana",
        readers=("group:hr", "user:rui"),
        is_active=None,
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_mapping_names_columns_that_are_called_otherwise(
    tmp_path: Path, delimiter: str
) -> None:
    rows = ["key body lang", "a One. pt", "b Two. en"]
    content = "\n".join(row.replace(" ", delimiter) for row in rows)

    items = csv(tmp_path, content, {"id": "key", "text": "body", "language": "lang"})

    found = [(each.document_id, each.text, each.language) for each in items]  # type: ignore[union-attr]
    assert found == [("leads/a", "One.", "pt"), ("leads/b", "Two.", "en")]


def test_rows_without_an_id_are_known_by_their_number(tmp_path: Path) -> None:
    items = csv(tmp_path, "text\nOne.\n\nTwo.\n")

    assert [each.document_id for each in items if isinstance(each, Document)] == [
        "leads/1",
        "leads/2",
    ]


@pytest.mark.parametrize(
    ("content", "columns", "reason"),
    [
        (
            "title,body\nA,B\n",
            {},
            "there is no column 'text'; set --column text=NAME to one of 'title'",
        ),
        (
            "title,body\nA,B\n",
            {"text": "words"},
            "there is no column 'words' for text; the columns are 'title'",
        ),
        (
            "text\nA\n",
            {"words": "text"},
            "there is no field 'words'; the fields are id, title, text",
        ),
        ("text,text\nA,B\n", {}, "there are two columns 'text'"),
        (
            "text,reader\nA,user:ana\n",
            {},
            "reader: not a field; readers and owner define who may read",
        ),
        ("", {}, "there is no column 'text'"),
    ],
)
def test_a_file_whose_columns_are_not_those_wanted_is_refused_whole(
    tmp_path: Path, content: str, columns: dict[str, str], reason: str
) -> None:
    ((path, said),) = refused(csv(tmp_path, content, columns))

    assert path == "leads.csv"
    assert said.startswith(reason)


def test_a_row_whose_id_no_client_can_send_in_a_path_is_refused_and_the_rest_read(
    tmp_path: Path,
) -> None:
    ids = ["../x", ".", "a/./b", "a//b", "/abs", "a\u202eb", "a/access/explain"]
    ids += ["caf\u00e9", "cafe\u0301"]
    rows = "".join(f"{name},text {number}\n" for number, name in enumerate(ids))

    items = csv(tmp_path / "m.csv", f"id,text\n{rows}")

    assert [item.document_id for item in items if isinstance(item, Document)] == ["leads/caf\u00e9"]
    paths, reasons = zip(*refused(items), strict=True)
    assert len(reasons) == len(ids) - 1
    assert paths[0] == "leads.csv, row 1"
    assert "no part . or .. between slashes" in reasons[0]
    assert "invisible" in reasons[5]
    assert "an earlier row also has the id" in reasons[7]


def test_a_bad_row_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    items = csv(
        tmp_path,
        b"id,text,readers\n1,One.,\n2,,\n3,Caf\xe9.,\n4,Four.,everyone\n5,Five.\n1,Again.,\n6,Six.,\n",
    )

    assert texts(items) == ["One.", "Six."]
    assert refused(items) == [
        ("leads.csv, row 2", "column 'text' is empty"),
        ("leads.csv, row 3", "text: not UTF-8"),
        (
            "leads.csv, row 4",
            "readers.0: must be user:ID, group:ID, tenant or public",
        ),
        ("leads.csv, row 5", "has 2 cells, but the header has 3"),
        ("leads.csv, row 6", "an earlier row also has the id '1'"),
    ]


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ('2,"never closed\n3,Three.\n', "unexpected end of data; later rows are not read"),
        ("2," + "x" * (ROW_CHARACTERS_MAX + 1), "a row has over 4,000,000 characters"),
        ('"' + '\n","'.join(["x" * 1_000_000] * 5) + '"', "a row has over 4,000,000 characters"),
    ],
)
def test_what_comes_before_what_can_not_be_parted_is_read(
    tmp_path: Path, rest: str, reason: str
) -> None:
    items = csv(tmp_path, f"id,text\n1,One.\n{rest}")

    assert texts(items) == ["One."]
    ((_, said),) = refused(items)
    assert said.startswith(reason)


def test_parquet_gives_the_same_and_keeps_the_kinds_of_values(tmp_path: Path) -> None:
    table = pa.table(
        {
            "key": ["a", "b", "c"],
            "text": ["One.", None, "Three."],
            "tags": [["x", "y"], [], None],
            "level": [3, None, 5],
            "share": [0.5, float("nan"), None],
            "day": [dt.date(2026, 11, 21), None, None],
        }
    )

    items = parquet(tmp_path, table, {"id": "key"})

    assert refused(items) == [("leads.parquet, row 2", "column 'text' is empty")]
    one, three = (each for each in items if isinstance(each, Document))
    assert (one.document_id, one.tags) == ("leads/a", ("x", "y"))
    assert one.metadata == {"level": 3, "share": 0.5, "day": "2026-11-21"}
    assert (three.tags, three.metadata) == (("all",), {"level": 5})


@pytest.mark.parametrize("content", [b"", b"Not Parquet.", b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_parquet_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    source = ParquetSource(write(tmp_path / "leads.parquet", content), DEFAULTS)

    ((path, reason),) = refused(list(source.documents()))

    assert path == "leads.parquet"
    assert reason.startswith("is not Parquet that can be read: ")
    assert "\n" not in reason


@pytest.mark.parametrize("kind", [DelimitedSource, ParquetSource])
def test_a_file_that_is_not_there_or_too_large_is_refused(
    tmp_path: Path, kind: type[DelimitedSource | ParquetSource]
) -> None:
    with write(tmp_path / "large").open("r+b") as large:
        large.truncate(5 * 2**30)
    sources = [kind(tmp_path / name, DEFAULTS) for name in ("nowhere", "large", ".")]

    reasons = [reason for source in sources for _, reason in refused(list(source.documents()))]

    assert reasons[0] == "No such file or directory"
    assert reasons[1].startswith("over ")
    assert reasons[2] == "not a regular file"
