"""An archive's lines: what is written is read back, whatever a document holds."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gateway.extensions._sources.source import Item, RefusedItem
from gateway.extensions.import_.archive.archive import (
    FORMAT,
    Archive,
    End,
    GroupLine,
    Header,
    encode_line,
)
from gateway.extensions.import_.readers.record import TOO_MANY_VALUES
from index.model.document import (
    METADATA_INTEGER_MAX,
    Document,
    Metadata,
    NewDocumentId,
    normalise,
)
from index.model.form import CONTROLS, INVISIBLE, SURROGATES
from index.model.identifiers import SubjectId
from tests.index.support.samples import a_document

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)
lines = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=60).map(normalise)
ids = st.from_regex(
    re.compile(rf"[^\s{CONTROLS}{INVISIBLE}{SURROGATES}]{{1,40}}"), fullmatch=True
).map(TypeAdapter(SubjectId).validate_python)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-METADATA_INTEGER_MAX, METADATA_INTEGER_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)


def is_document_id(text: str) -> bool:
    try:
        TypeAdapter(NewDocumentId).validate_python(text)
    except ValidationError:
        return False
    return True


documents = st.builds(
    a_document,
    document_id=lines.filter(is_document_id),
    text=texts.map(normalise),
    title=lines.map(str.strip),
    uri=lines,
    source=lines.filter(bool),
    tags=st.lists(lines.map(str.strip).filter(bool), max_size=3).map(tuple),
    metadata=st.dictionaries(
        lines.filter(bool), values | st.lists(values, max_size=3), max_size=3
    ).map(TypeAdapter(Metadata).validate_python),
    owner=st.none() | ids,
    readers=st.lists(ids.map("user:{}".format), max_size=3).map(tuple),
    chunker=st.sampled_from(["structure", "whole", "tokens:500/50"]),
    summaries=st.sampled_from(["none", "extract", "model"]),
    is_active=st.booleans(),
)


def read(content: bytes) -> list[Item]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "archive"
        file.write_bytes(content)
        return list(Archive(file).documents())


def header() -> bytes:
    return encode_line(Header(format=FORMAT, tenant="acme", name="", revision=1, documents=1))


@given(st.lists(documents, max_size=3))
def test_documents_are_read_as_they_were_written(made: list[Document]) -> None:
    whole = header() + encode_line(GroupLine(group="g", members=("ana",)))
    whole += b"".join(map(encode_line, made)) + encode_line(End(documents=len(made)))

    assert read(whole) == made
    assert whole.count(b"\n") == len(made) + 3


@given(documents, st.data())
def test_an_archive_that_was_cut_anywhere_says_so(document: Document, data: st.DataObject) -> None:
    rest = encode_line(document) + encode_line(End(documents=1))
    at = data.draw(st.integers(0, len(rest) - 2))

    found = read(header() + rest[:at])

    assert found[-1] != document
    assert "incomplete" in getattr(found[-1], "reason", "")


def test_a_line_of_too_many_values_is_not_decoded() -> None:
    line = b'{"kind":"document","document_id":"a","metadata":[%b0]}\n' % (b"[]," * 20_001)

    refused, *_ = read(header() + line)

    assert isinstance(refused, RefusedItem)
    assert refused.reason == TOO_MANY_VALUES
