import pytest

from gateway.extensions.openfga.collected_tuples import CollectedTuples
from gateway.extensions.openfga.errors import OpenfgaUnavailable
from gateway.extensions.openfga.tuple_store import TupleKey, TupleMeaning

MEANING = TupleMeaning("member", "sales", "ana")


def key(number: int) -> TupleKey:
    return TupleKey(f"group:{number:04}", "member", "user:ana")


def test_changes_count_as_well_as_what_was_read_before_them() -> None:
    tuples = CollectedTuples(tuples_max=3)
    tuples.update({key(1): MEANING, key(2): MEANING})
    tuples.update({key(1): MEANING, key(3): MEANING})

    with pytest.raises(OpenfgaUnavailable, match="more than 3 tuples"):
        tuples.update({key(4): MEANING})


def test_tuples_that_come_and_go_without_end_take_no_room() -> None:
    tuples = CollectedTuples(tuples_max=2, characters_max=100)
    for number in range(1_000):
        tuples.update({key(number): MEANING})
        tuples.update({key(number): None})

    assert tuples.by_key == {}


def test_long_tuples_have_a_limit_together() -> None:
    tuples = CollectedTuples(characters_max=100)
    tuples.update({key(number): MEANING for number in range(4)})

    with pytest.raises(OpenfgaUnavailable, match="of more than 100 characters"):
        tuples.update({key(4): MEANING})
