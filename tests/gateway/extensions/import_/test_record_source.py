"""Records of a store as documents: what is kept, what is refused, and which vectors are used."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions._sources.source import Defaults, RefusedItem
from gateway.extensions.import_ import refused_records
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import DEPTH_MAX, Record, flat
from gateway.extensions.import_.record_mapping import RecordMapping
from gateway.extensions.import_.record_source import RecordSource
from gateway.extensions.import_.refused_records import RefusedRecords
from index.model.document import Document
from ingest.chunkers import whole
from tests.gateway.extensions.import_.fake_reader import FakeReader

DEFAULTS = Defaults(readers=("tenant",), chunker="whole")

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
names = st.text(alphabet="abc", min_size=1, max_size=2)
trees = st.recursive(scalars, lambda below: st.dictionaries(names, below, max_size=4), max_leaves=9)


def opened(*records: Record | RefusedItem, mapping: Any = None, **fields: Any) -> RecordSource:
    return RecordSource(FakeReader(records), RecordMapping(mapping or {}, **fields), DEFAULTS)


def only(source: RecordSource) -> Document:
    (document,) = source.documents(None)
    assert len(source.refused) == 0
    return document


def refusals(source: RecordSource, dimensions: int | None = None) -> list[tuple[str, str]]:
    assert [*source.documents(dimensions)] == []
    return [(item.path, item.reason) for item in source.refused.first]


# Fields and metadata.


def test_a_record_becomes_a_document_with_its_metadata() -> None:
    """As LangChain writes it to Qdrant."""
    values = {
        "page_content": "Everybody gets 25 days.",
        "title": "Leave",
        "metadata": {"team": "people", "page": 4, "draft": False, "loc": {"line": 7}},
        "labels": ["a", "b"],
        "nothing": None,
    }

    document = only(opened(Record("7f", values)))

    assert document == Document(
        document_id="docs/7f",
        title="Leave",
        text="Everybody gets 25 days.",
        source="docs",
        uri="",
        language="en",
        tags=(),
        metadata={
            "team": "people",
            "page": 4,
            "draft": False,
            "loc.line": 7,
            "labels": ["a", "b"],
        },
        owner=None,
        readers=("tenant",),
        chunker="whole",
        is_active=None,
    )


def test_what_the_operator_maps_goes_before_what_the_store_has() -> None:
    values = {"key": "leave", "body": "Old.", "answer": "New.", "who": "ana", "acl": ["hr", "it"]}
    columns = {"id": "key", "text": "answer", "owner": "who", "readers": "acl"}

    document = only(
        opened(Record(5, values, "Beside."), mapping=columns, drop=["body"], reader_kind="group")
    )

    assert document.document_id == "docs/leave"
    assert (document.text, document.owner) == ("New.", "ana")
    assert document.readers == ("group:hr", "group:it")
    assert document.metadata == {}


@pytest.mark.parametrize("value", ["public", ["public"], "tenant", "user:ana"])
def test_with_a_kind_no_identifier_of_a_store_is_taken_for_public(value: object) -> None:
    record = Record(1, {"text": "Plan.", "team": value})

    document = only(opened(record, mapping={"readers": "team"}, reader_kind="group"))

    assert [reader.partition(":")[0] for reader in document.readers] == ["group"]


def test_a_value_with_the_name_of_another_keeps_both() -> None:
    values = {"text": "A.", "page": 1, "metadata": {"page": 2}}

    assert only(opened(Record(1, values))).metadata == {"page": 1, "metadata.page": 2}


def test_relations_of_a_record_become_metadata_under_their_names() -> None:
    values = {"text": "A.", "relates_to": {"follows": ["one", "two"], "replaces": "old"}}

    assert only(opened(Record(1, values))).metadata == {
        "follows": ["one", "two"],
        "replaces": "old",
    }


@given(st.dictionaries(names, trees, max_size=4))
def test_flattening_loses_no_value(values: dict[str, object]) -> None:
    try:
        flattened = flat({"metadata": values, **values})
    except ValueError:
        return  # two get the same name, so the record is refused

    assert len(flattened) == 2 * leaves(values)


def leaves(values: dict[str, Any]) -> int:
    return sum(leaves(value) if isinstance(value, dict) else 1 for value in values.values())


def test_objects_nested_too_deep_are_refused() -> None:
    nested: dict[str, object] = {"leaf": 1}
    for _ in range(DEPTH_MAX):
        nested = {"in": nested}

    refused = refusals(opened(Record(1, {"text": "A.", "meta": nested})))

    assert refused == [("record 1 (1)", f"objects are nested more than {DEPTH_MAX} deep")]


# Who may read.


@pytest.mark.parametrize("name", ["acl", "Readers", "access", "owner", "permissions"])
def test_a_value_that_may_say_who_may_read_has_to_be_mapped_or_dropped(name: str) -> None:
    record = Record(1, {"text": "A.", "metadata": {name: ["ana"]}})

    with pytest.raises(NotImportable, match=f"set --column readers={name} .* by --drop {name}"):
        opened(record)
    assert only(opened(record, drop=[name])).metadata == {}


def test_such_a_value_of_a_later_record_refuses_that_record() -> None:
    records = [Record(number, {"text": "A."}) for number in range(20)]
    late = Record("late", {"text": "B.", "acl": {"users": ["ana"]}})
    source = opened(*records, late)

    assert len([*source.documents(None)]) == 20
    (refused,) = source.refused.first
    assert refused.path == "record 21 (late)"
    assert "'acl.users' may say who may read" in refused.reason


def test_a_record_that_nobody_could_read_is_refused() -> None:
    records = [
        Record("owned", {"text": "A.", "who": "ana"}),
        Record("open", {"text": "A.", "acl": "group:hr"}),
        Record("neither", {"text": "A."}),
        Record("empty", {"text": "A.", "acl": []}),
    ]
    mapping = RecordMapping({"owner": "who", "readers": "acl"})

    source = RecordSource(FakeReader(records), mapping, Defaults(chunker="whole"))
    documents = [*source.documents(None)]

    assert [document.document_id for document in documents] == ["docs/owned", "docs/open"]
    assert source.refused.by_reason() == [
        ("nobody could read it: it has no reader and no owner", 2)
    ]
    assert source.readers == {"owner": 1, "groups": 1}


@pytest.mark.parametrize("value", [{"groups": ["hr"]}, [{"id": "hr"}], [None], [["hr"]], [True]])
def test_readers_that_can_not_be_read_do_not_become_the_default(value: object) -> None:
    records = [*(Record(number, {"text": "A."}) for number in range(8))]
    odd = Record("odd", {"text": "B.", "teams": value})
    source = RecordSource(
        FakeReader([*records, odd]), RecordMapping({"readers": "teams"}, (), "group"), DEFAULTS
    )

    assert len([*source.documents(None)]) == 8
    ((reason, number),) = source.refused.by_reason()
    assert number == 1
    assert reason.startswith("teams")


def test_a_value_is_not_both_mapped_and_dropped() -> None:
    with pytest.raises(NotImportable, match="--drop leaves out acl, which --column readers=acl"):
        opened(Record(1, {"text": "A."}), mapping={"readers": "acl"}, drop=["acl"])


# What is refused.


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Record(None, {"text": "A."}), "it has no identifier: set --column id=NAME"),
        (Record(1, {"text": " \n "}), "it has no text"),
        (Record(1, {"text": "A.", "m": [{"b": 1}]}), "metadata.m: must be text, a number"),
        (Record("a\nb", {"text": "A."}), "document_id: must be one line of text"),
        (Record(1, {"text": "A.", "m": "x" * 4_097}), "metadata.m: must be text, a number"),
    ],
)
def test_what_is_no_document_is_refused_by_its_reason(record: Record, reason: str) -> None:
    ((_, stated),) = refusals(opened(record))

    assert stated.startswith(reason)


def test_of_records_with_the_same_identifier_the_first_is_kept() -> None:
    source = opened(*(Record("same", {"text": text}) for text in ("First.", "Second.")))

    assert [document.text for document in source.documents(None)] == ["First."]
    assert source.refused.by_reason() == [("an earlier record has the same identifier", 1)]


def test_if_no_value_is_the_text_the_names_are_listed() -> None:
    with pytest.raises(NotImportable, match=r"--column text=NAME to one of 'inhalt', 'quelle'$"):
        opened(Record(1, {"inhalt": "A.", "quelle": "B."}))


def test_a_failing_store_ends_the_documents_and_is_told() -> None:
    records = [Record(number, {"text": "A."}) for number in range(30)]

    source = RecordSource(FakeReader(records, failure="it is away"), RecordMapping({}), DEFAULTS)

    assert len([*source.documents(None)]) == 30
    assert source.failure is not None
    assert source.failure.startswith("it is away. The import is not complete: repeat the command")


def test_refused_records_take_a_bounded_amount_of_memory() -> None:
    refused = RefusedRecords()
    for number in range(1_000):
        refused.add(RefusedItem("x" * 1_000, f"reason {number % 500} " + "y" * 1_000))

    assert len(refused) == 1_000
    assert len(refused.first) == refused_records.LISTED_MAX
    assert len(refused.by_reason()) == refused_records.REASONS_MAX + 1
    assert refused.by_reason()[0] == ("other reasons", 800)
    assert all(len(item.path) == refused_records.CHARACTERS_MAX for item in refused.first)


# Vectors.


def test_the_vector_of_a_record_is_that_of_its_documents_only_chunk() -> None:
    records = [
        Record("short", {"text": "A."}, vector=[3.0, 4.0]),
        Record("long", {"text": "word " * 2_000}, vector=[1.0, 0.0]),
        Record("none", {"text": "B."}),
    ]
    source = opened(*records)

    ids = [document.document_id for document in source.documents(2)]
    embeddings = source.take_embeddings(ids)

    assert [*embeddings] == [whole.chunks("A.")[0].digest]
    (vector,) = embeddings.values()
    assert np.allclose(vector.to_numpy(), [0.6, 0.8], atol=1e-3)
    assert (source.vectors.used, source.vectors.longer, source.vectors.missing) == (1, 1, 1)
    assert source.take_embeddings(ids) == {}


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ([1.0], "its vector has 1 dimensions; those of the space have 2"),
        ([0.0, 0.0], "its vector is zero or not finite"),
        ([float("inf"), 0.0], "its vector is zero or not finite"),
        ([[1.0, 0.0]], "its vector is no list of numbers"),
        ("words", "its vector is no list of numbers"),
        ({"indices": [1], "values": [1.0]}, "its vector is no list of numbers"),
    ],
)
def test_a_vector_that_is_not_of_the_space_refuses_its_record(vector: Any, reason: str) -> None:
    source = opened(Record(1, {"text": "A."}, vector=vector))

    assert refusals(source, 2) == [("record 1 (1)", reason)]
    with pytest.raises(NotImportable, match=reason):
        opened(Record(1, {"text": "A."}, vector=vector)).sample(2)


@pytest.mark.parametrize("vector", [[1.0], [0.0, 0.0], [float("nan"), 1.0], "words", {}])
def test_a_vector_that_is_not_of_the_space_costs_no_other_record(vector: Any) -> None:
    bad, good = Record(1, {"text": "A."}, vector=vector), Record(2, {"text": "B."}, vector=[0, 2])

    ((_, unit),) = opened(bad, good).sample(2)

    assert unit.tolist() == [0, 1]
    assert [document.text for document in opened(bad, good).documents(2)] == ["B."]


def test_the_names_of_values_are_found_after_many_refused_records() -> None:
    refused = [RefusedItem(f"line {number}", "not JSON") for number in range(100)]
    source = opened(*refused, Record(101, {"inhalt": "A."}), mapping={"text": "inhalt"})

    assert [document.text for document in source.documents(None)] == ["A."]
    assert len(source.refused) == 100


def test_vectors_that_are_not_used_are_not_judged() -> None:
    source = opened(Record(1, {"text": "A."}, vector=[]))

    assert len([*source.documents(None)]) == 1
