"""Records in a file: a bad line is refused, and the others are read."""

from pathlib import Path

import pytest

from gateway.extensions._sources.source import RefusedItem
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.ndjson import LINE_BYTES_MAX, NdjsonReader
from gateway.extensions.import_.readers.record import TOO_MANY_VALUES, Record


def test_a_bad_line_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    file = tmp_path / "docs.ndjson"
    with file.open("wb") as lines:
        lines.write(b'{"text": "A.", "embedding": [1, 2]}\n\n{"text": }\n[1]\n"\xff"\n')
        lines.write(b'{"text": "' + b"x" * LINE_BYTES_MAX + b'"}\n{"id": "b", "text": "B."}')

    reader = NdjsonReader(file, vector="embedding")

    assert reader.count() == 6
    assert [*reader.records()] == [
        Record(1, {"text": "A."}, vector=[1, 2]),
        RefusedItem("line 3", "not JSON"),
        RefusedItem("line 4", "not a JSON object"),
        RefusedItem("line 5", "not JSON"),
        RefusedItem("line 6", f"over {LINE_BYTES_MAX:,} bytes"),
        Record(7, {"id": "b", "text": "B."}),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b'{"text": "caf\xe9"}',
        b"[" * 100_000,
        b'{"text": "\\ud800"}',
        b'{"text": NaN}',
        b"null",
        b"\0",
        b'{"text": "A."} {"text": "B."}',
        b'{"text": "A.',
        b"\xef\xbb\xbf{}",
    ],
)
def test_a_line_that_is_no_json_costs_no_other(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "docs.ndjson"
    file.write_bytes(b'\xef\xbb\xbf{"text": "A."}\n' + line + b'\r\n{"text": "B."}')

    first, refused, last = NdjsonReader(file).records()

    assert (first, last) == (Record(1, {"text": "A."}), Record(3, {"text": "B."}))
    assert isinstance(refused, RefusedItem)


def test_a_file_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(NotImportable, match=r"No such file|Is a directory"):
            NdjsonReader(path).count()


def test_a_line_of_too_many_values_is_not_decoded(tmp_path: Path) -> None:
    file = tmp_path / "records.ndjson"
    lines = [b'{"text":"A.","more":[%b0]}' % (each * 150_001) for each in (b"0,", b"[],")]
    file.write_bytes(b"\n".join([*lines, b'{"text":"B, [and] {so} on."}']))

    *refused, kept = NdjsonReader(file).records()

    assert [item.reason for item in refused if isinstance(item, RefusedItem)] == [
        TOO_MANY_VALUES,
        TOO_MANY_VALUES,
    ]
    assert isinstance(kept, Record)
