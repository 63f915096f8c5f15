"""What is read of pgoutput's messages, and of the snapshot that has to see them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions.sources_postgres.server.change_message import (
    ChangedKeys,
    Snapshot,
    lsn_number,
    lsn_text,
)
from gateway.extensions.sources_postgres.server.errors import SourceMisconfigured

TABLE = "public.articles"


def relation(*columns: str, oid: int = 7, name: str = "articles") -> bytes:
    parts = [b"R", struct.pack("!I", oid), b"public\0", name.encode(), b"\0d"]
    parts.append(struct.pack("!h", len(columns)))
    parts += [b"\1" + column.encode() + b"\0" + bytes(8) for column in columns]
    return b"".join(parts)


def row(*values: str | None) -> bytes:
    texts = [None if each is None else each.encode() for each in values]
    cells = [b"n" if each is None else b"t" + struct.pack("!I", len(each)) + each for each in texts]
    return struct.pack("!h", len(values)) + b"".join(cells)


def change(kind: bytes, *rows: bytes, oid: int = 7) -> bytes:
    return kind + struct.pack("!I", oid) + b"".join(rows)


def read(*messages: bytes, column: str | None = "id") -> ChangedKeys:
    keys = ChangedKeys({TABLE: column})
    for message in messages:
        keys.read(message)
    return keys


def test_the_keys_before_and_after_each_change_are_read() -> None:
    keys = read(
        relation("title", "id"),
        change(b"I", b"N" + row("A", "1")),
        change(b"U", b"N" + row("B", "2")),
        change(b"U", b"K" + row(None, "3"), b"N" + row("B", "4")),
        change(b"D", b"K" + row(None, "5")),
        change(b"D", b"O" + row("C", "6")),
        b"C" + bytes(9) + struct.pack("!QQ", 99, 0),
    )

    assert keys.values == {TABLE: {"1", "2", "3", "4", "5", "6"}}
    assert (keys.number, keys.end, keys.copy_because) == (6, 99, "")


def test_other_tables_are_left_out() -> None:
    keys = read(relation("id", oid=8, name="others"), change(b"I", b"N" + row("1"), oid=8))

    assert keys.values == {}


def test_a_table_without_keys_and_a_truncated_one_need_a_copy() -> None:
    changed = read(relation("id"), change(b"I", b"N" + row("1")), column=None)
    truncated = read(relation("id"), b"T" + struct.pack("!IBI", 1, 0, 7))
    other = read(relation("id"), b"T" + struct.pack("!IBI", 1, 0, 8))

    assert changed.copy_because
    assert truncated.copy_because
    assert not other.copy_because


def test_a_key_in_a_message_that_was_cut_is_read_if_it_is_there() -> None:
    whole = change(b"I", b"N" + row("1", "amber" * 100))

    assert read(relation("id", "body"), whole[:64]).values == {TABLE: {"1"}}


@pytest.mark.parametrize(
    "message",
    [
        change(b"I", b"N" + row("amber" * 100, "1"))[:64],
        change(b"U", b"O" + row("amber" * 100, "1"), b"N" + row("b", "1"))[:64],
        change(b"U", b"N" + struct.pack("!h", 2) + b"uu"),  # a long key that has not changed
        change(b"I", b"N" + row("amber", "1"))[:-1],
    ],
)
def test_a_message_without_its_key_is_told_and_never_left_out(message: bytes) -> None:
    with pytest.raises(SourceMisconfigured, match="Publish only"):
        read(relation("body", "id"), message)


def test_a_column_that_is_not_published_is_told() -> None:
    with pytest.raises(SourceMisconfigured, match="has no column id"):
        read(relation("body"))


@given(
    end=st.integers(3, 2**40), running=st.sets(st.integers(0, 1_000)), before=st.integers(-9, 2_000)
)
def test_a_snapshot_sees_what_has_ended_before_it(end: int, running: set[int], before: int) -> None:
    """Of a transaction that the log tells in 32 bits."""
    xid, ids = end - before, {end - each for each in running if 0 < end - each < end}
    text = f"1:{end}:{','.join(map(str, sorted(ids)))}"

    sees = Snapshot.parse(text).sees([xid & 0xFFFFFFFF])

    assert sees is (xid < end and xid not in ids)


@given(st.integers(0, 2**64 - 1))
def test_a_position_is_its_text(number: int) -> None:
    assert lsn_number(lsn_text(number)) == number
