"""CSV and Parquet: a document a row, the columns mapped to its fields."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet
import pytest

from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Defaults, Item, ItemWarning, RefusedItem
from gateway.extensions.sources_records import delimited
from gateway.extensions.sources_records import parquet as parquet_reader
from gateway.extensions.sources_records.delimited import ROW_CHARACTERS_MAX
from index.model.document import Document
from tests.gateway.extensions._sources.files import write

DEFAULTS = Defaults(owner="ana", readers=("tenant",), tags=("all",))
READERS = {"csv": delimited.documents, "parquet": parquet_reader.documents}


def csv(path: Path, content: str | bytes, columns: Mapping[str, str] | None = None) -> list[Item]:
    return documents("csv", write(path / "leads.csv", content), columns)


def parquet(path: Path, table: pa.Table, columns: Mapping[str, str] | None = None) -> list[Item]:
    file = path / "leads.parquet"
    pyarrow.parquet.write_table(table, file)
    return documents("parquet", file, columns)


def documents(kind: str, file: Path, columns: Mapping[str, str] | None = None) -> list[Item]:
    request = ReaderRequest(file, DEFAULTS, file.stem, columns or {})
    return list(READERS[kind](request))


def wrong_text(column: pa.Array) -> pa.Array:
    """Bytes as text, as writers do that do not check it."""
    return pa.StringArray.from_buffers(len(column), column.buffers()[1], column.buffers()[2])


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
        ("", {}, "there is no column 'text', nor any other: the file has no header"),
        ("\ufeff\n\n", {}, "there is no column 'text', nor any other: the file has no header"),
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

    assert texts(items) == ["One.", "Caf\u00e9.", "Six."]
    assert refused(items) == [
        ("leads.csv, row 2", "column 'text' is empty"),
        (
            "leads.csv, row 4",
            "readers.0: must be user:ID, group:ID, tenant or public; an ID has no whitespace",
        ),
        ("leads.csv, row 5", "has 2 cells, but the header has 3"),
        ("leads.csv, row 6", "an earlier row also has the id '1'"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,text\n1,Café.\n".encode("utf-16"), ["Café."]),
        ("id\ttext\n1\tCafé.\n".encode("utf-16-le"), ["Café."]),
        ("id;text\n1;café für 5 €\n2;tea\n".encode("cp1252"), ["café für 5 €", "tea"]),
        ("id,text\n1,営業時間は九時です\n".encode("shift_jis"), ["営業時間は九時です"]),
        ("sep=;\r\nid;text\r\n1;a, b\r\n", ["a, b"]),
        ("\ufeffsep=|\r\nid|text\r\n1|a\r\n", ["a"]),
        ("\n\r\n,,\nid,text\n\n1,a\n,\n2,b\n", ["a", "b"]),
        ("id,text,,\n1,a,,\n2,b\n", ["a", "b"]),
        ("id,text,note\n1,a\n2,b,x,,\n", ["a", "b"]),
        (' id , text \n1, a \n2, "b, c"\n', ["a", "b, c"]),
        ('id,text\n1,a 5" screen\n2,b\n', ['a 5" screen', "b"]),
        ('id,text\n1,"5" screen"\n2,b\n', ['5 screen"', "b"]),
        ('id,text\n1,"5 screen\n2,b\n3,c\n', ["5 screen", "b", "c"]),
        ('id\ttext\n1\t"a\n2\tsay "b" now\n', ["a", 'say "b" now']),
        ('id,text,"a\nlong name"\n1,"two\nlines",\n', ["two\nlines"]),
        ('"id, no";"text";"a, b, c"\n7;a;b\n', ["a"]),
        ('text\n"a, b"\nc; d\n', ["a, b", "c; d"]),
        ("id,text\n1,a\0b\n2,c\n", ["a\ufffdb", "c"]),
        ("id,text\r1,a\r2,b\r", ["a", "b"]),
        ("id|text\n1|a, b, c\n", ["a, b, c"]),
        ('id,text\n1,"say ""a"" now"\n', ['say "a" now']),
    ],
)
def test_what_spreadsheets_write_is_read(
    tmp_path: Path, content: str | bytes, expected: list[str]
) -> None:
    items = csv(tmp_path, content)

    assert refused(items) == []
    assert [text.strip() for text in texts(items)] == expected


@pytest.mark.parametrize(
    ("content", "titles"),
    [
        ("Leads of March\nid,text\n1,A, still A\n", ["Leads of March"]),
        ("Leads, March\n\nby Ana\nid,text\n1,A\n", ["Leads March", "by Ana"]),
        ("Leads of March,,\n,,\nid,text,\n1,A,\n", ["Leads of March"]),
        ("Made: 2026-11-26; by Ana\nid,text\n1,A\n", ["Made: 2026-11-26 by Ana"]),
        ('sep=;\n"Leads, ""hot"""\nid;text\n1;A\n', ['Leads, "hot"']),
        ('"Leads of\nMarch"\nid,text\n1,A\n', ["Leads of March"]),
        ('"Leads\nid,"text"\n1,A\n', ["Leads"]),
        ("text of leads\nID\tText\n1\tA\n", ["text of leads"]),
        ("Report\n" * 20 + "id,text\n1,A\n", ["Report"] * 20),
    ],
)
def test_titles_above_the_header_are_not_read_and_the_report_says_so(
    tmp_path: Path, content: str, titles: list[str]
) -> None:
    first, document, *_ = csv(tmp_path, content)

    assert isinstance(document, Document)
    assert (document.document_id, document.text.strip()) == ("leads/1", "A")
    assert isinstance(first, ItemWarning)
    assert first.detail == f"not read, above the header: {', '.join(map(repr, titles))}"


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("Report\nid,note\n1,A\n", None),
        ("Report\n" * 21 + "id,text\n1,A\n", None),
        ("Report\nid,text\n1,A\n", {"title": "name"}),
    ],
)
def test_a_file_in_which_no_row_is_the_header_is_refused_by_its_first(
    tmp_path: Path, content: str, columns: dict[str, str] | None
) -> None:
    ((path, why),) = refused(csv(tmp_path, content, columns))

    assert path == "leads.csv"
    assert "there is no column" in why
    assert "'Report'" in why


def test_a_header_is_found_by_the_columns_that_are_named(tmp_path: Path) -> None:
    content = "Text\nNr,Body,Note\n1,A,text\n2,B,\n"

    items = csv(tmp_path, content, {"id": "Nr", "text": "Body"})

    assert texts(items) == ["A", "B"]


@pytest.mark.parametrize(
    ("row", "metadata"),
    [
        ("1,A,b", {"column 3": "b"}),
        ("1,A,b,,d", {"column 3": "b", "column 5": "d"}),
        ("1,A,,,d,", {"column 5": "d"}),
        ('1,"A","b, c"', {"column 3": "b, c"}),
    ],
)
def test_cells_beyond_the_header_are_metadata_and_the_report_says_so(
    tmp_path: Path, row: str, metadata: dict[str, str]
) -> None:
    first, second, third, warning = csv(tmp_path, f"id,text\n{row}\n2,B\n3,C,x\n")

    assert isinstance(first, Document)
    assert (first.text, first.metadata) == ("A", metadata)
    assert isinstance(second, Document)
    assert second.metadata == {}
    assert isinstance(third, Document)
    assert isinstance(warning, ItemWarning)
    assert warning.detail == (
        "rows with more cells than the header: 2, first row 1; the cells are in the metadata, "
        "from 'column 3' on"
    )


def test_other_columns_are_named_once_and_each_keeps_its_cells(tmp_path: Path) -> None:
    (document,) = csv(tmp_path, "text,note,note,,a\nA,1,2,3,\n")

    assert isinstance(document, Document)
    assert document.metadata == {"note": "1", "note 3": "2", "column 4": "3"}


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ("2,Two,lines.,user:ana\n", 2),
        ('2,"Two.,user:ana\n', 2),
        ("2,Two.\n", 2),
        (f"2,{'x' * (ROW_CHARACTERS_MAX + 1)},user:ana\n", 2),
    ],
)
def test_a_row_whose_cells_may_be_others_is_refused_and_the_rest_read(
    tmp_path: Path, rows: str, number: int
) -> None:
    items = csv(tmp_path, f"id,text,readers\n1,One.,tenant\n{rows}3,Three.,tenant\n")

    assert texts(items) == ["One.", "Three."]
    ((path, _),) = refused(items)
    assert path == f"leads.csv, row {number}"


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


NS = 1_700_000_000_123_456_789


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([NS], pa.timestamp("ns")), "2023-11-14T22:13:20.123456789"),
        (pa.array([NS // 10**9], pa.timestamp("s")), "2023-11-14T22:13:20"),
        (pa.array([NS], pa.timestamp("ns", "Mars/Olympus")), "2023-11-14T22:13:20.123456789+00:00"),
        (pa.array([NS // 10**9], pa.timestamp("s", "+02:00")), "2023-11-14T22:13:20+00:00"),
        (pa.array([NS], pa.timestamp("us")), None),
        (pa.array([-(10**12)], pa.timestamp("s")), "-29719-04-05 22:13:20.000"),
        (pa.array([90_500], pa.duration("ms")), "90.5 s"),
        (pa.array([1], pa.duration("ns")), "0.000000001 s"),
        (pa.array([3_600_000_000_001], pa.time64("ns")), "01:00:00.000000001"),
        (pa.array([19_700], pa.date32()), "2023-12-09"),
        (pa.array([Decimal("1.10")]), "1.10"),
        (pa.array([2**60]), str(2**60)),
        (pa.array([float("inf")]), "inf"),
        (pa.array([b"\xff"]), "/w=="),
        (pa.array(["a"]).dictionary_encode(), "a"),
        (pa.array([[NS]], pa.list_(pa.timestamp("ns", "X/Y"))), ["2023-11-14T22:13:20.123456789"]),
        (pa.array([[{"a": 1, "b": None}]]), ['{"a":1,"b":null}']),
        (pa.array([[1, None]]), [1, None]),
        (pa.array([[0.5] * 384], pa.list_(pa.float32(), 384)), None),
        (pa.array([[0.5] * 384]), None),
        (pa.array([2**62], pa.timestamp("us")), None),
        (pa.array([[2**62, 0]], pa.list_(pa.timestamp("us"))), [None, "1970-01-01T00:00:00"]),
        (pa.array([[{"a": 2**62}]], pa.list_(pa.struct([("a", pa.date64())]))), ['{"a":null}']),
        (wrong_text(pa.array([b"caf\xe9"])), "caf\ufffd"),
        (pa.ListArray.from_arrays([0, 1], wrong_text(pa.array([b"\xe9 tea"]))), ["\ufffd tea"]),
        (pa.array([UUID(int=7).bytes], pa.uuid()), str(UUID(int=7))),
    ],
)
def test_a_cell_of_any_type_is_a_value_of_metadata(
    tmp_path: Path, column: pa.Array, expected: object
) -> None:
    items = parquet(tmp_path, pa.table({"text": ["One."], "value": column}))

    (document,) = (item for item in items if isinstance(item, Document))
    assert document.metadata == ({} if expected is None else {"value": expected})


def test_structs_and_maps_become_names_with_dots(tmp_path: Path) -> None:
    a_map = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    items = parquet(tmp_path, pa.table({"text": ["One."], "s": [{"x": {"y": 2}}], "m": a_map}))

    assert [item.detail for item in items if isinstance(item, ItemWarning)] == [
        "s: a mapping, which is kept as names with dots",
        "m: a mapping, which is kept as names with dots",
    ]
    (document,) = (item for item in items if isinstance(item, Document))
    assert document.metadata == {"s.x.y": 2, "m.k": 1}


def test_a_column_that_cannot_be_kept_is_named_once(tmp_path: Path) -> None:
    items = parquet(tmp_path, pa.table({"text": ["A.", "B."], "vector": [[0.5] * 384] * 2}))

    assert texts(items) == ["A.", "B."]
    (warning,) = (item for item in items if isinstance(item, ItemWarning))
    assert (warning.path, warning.detail.split(",")[0]) == (
        "leads.parquet, row 1",
        "vector: left out",
    )


@pytest.mark.parametrize(("ids", "keys"), [([1, 2], ["1", "2"]), ([1.0, 2.5], ["1", "2.5"])])
def test_numbers_are_identifiers(tmp_path: Path, ids: list[float], keys: list[str]) -> None:
    items = parquet(tmp_path, pa.table({"id": ids, "text": ["A.", "B."]}))

    assert [item.document_id for item in items if isinstance(item, Document)] == [
        f"leads/{key}" for key in keys
    ]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [(["a", None], ("a",)), (["a, b"], ("a, b",)), ([], ()), (["#a"], ("a",))],
)
def test_a_list_of_tags_is_one(tmp_path: Path, tags: list[str], expected: tuple[str]) -> None:
    column = pa.array([tags], pa.list_(pa.string()))
    (document,) = parquet(tmp_path, pa.table({"text": ["A."], "tags": column}))

    assert isinstance(document, Document)
    assert document.tags == expected


def test_a_reader_that_cannot_be_read_is_not_the_default(tmp_path: Path) -> None:
    column = pa.ListArray.from_arrays([0, 1], wrong_text(pa.array([b"group:h\xe9"])))
    (document,) = parquet(tmp_path, pa.table({"text": ["A."], "readers": column}))

    assert isinstance(document, Document)
    assert document.readers == ("group:h\ufffd",)


def test_a_refused_row_keeps_the_document_of_its_identifier(tmp_path: Path) -> None:
    items = parquet(tmp_path, pa.table({"id": [1.0, 2.0], "text": ["A.", ""]}))

    assert [item.holds for item in items if isinstance(item, RefusedItem)] == ["2"]


def test_a_column_that_is_called_exactly_as_a_field_precedes_others(tmp_path: Path) -> None:
    (document,) = csv(tmp_path, "text,Text\nA,B\n")

    assert isinstance(document, Document)
    assert (document.text, document.metadata) == ("A", {"Text": "B"})


@pytest.mark.parametrize("content", [b"", b"Not Parquet.", b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_parquet_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    file = write(tmp_path / "leads.parquet", content)

    ((path, reason),) = refused(documents("parquet", file))

    assert path == "leads.parquet"
    assert reason.startswith("is not Parquet that can be read: ")
    assert "\n" not in reason


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path, kind: str) -> None:
    with write(tmp_path / "large").open("r+b") as large:
        large.truncate(5 * 2**30)
    files = [tmp_path / name for name in ("nowhere", "large", ".")]

    reasons = [reason for file in files for _, reason in refused(documents(kind, file))]

    assert reasons[0] == "No such file or directory"
    assert reasons[1].startswith("over ")
    assert reasons[2] == "not a regular file"
