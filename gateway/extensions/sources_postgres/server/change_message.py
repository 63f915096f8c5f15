"""Reads the messages of PostgreSQL's plugin pgoutput, version 1 of its protocol. Pure.

Only the values of the followed columns are read. A message may be cut: what is needed usually
stands at its beginning.

Source: PostgreSQL 18, chapter 54.9, Logical Replication Message Formats.
"""

import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from gateway.extensions.sources_postgres.server.errors import SourceMisconfigured

_INT16, _INT32, _INT64 = struct.Struct("!h"), struct.Struct("!I"), struct.Struct("!Q")


@dataclass(slots=True)
class ChangedKeys:
    """What a sequence of messages has changed.

    columns: by followed table, the column whose values are collected; None for a table of which
        each change needs a copy.
    values: by table, those values, before and after.
    end: the position after the last commit, as a number; 0 without one.
    copy_because: why the values do not tell what has changed; empty: they do.
    """

    columns: Mapping[str, str | None]
    values: dict[str, set[str]] = field(default_factory=dict)
    end: int = 0
    copy_because: str = ""
    _tables: dict[int, tuple[str, int]] = field(default_factory=dict)  # by oid: name, column number

    @property
    def number(self) -> int:
        return sum(map(len, self.values.values()))

    def read(self, data: bytes) -> None:
        """Raises `SourceMisconfigured` if a message does not have the values."""
        message = _Message(data)
        try:
            match message.take(1):
                case b"C":
                    message.take(9)
                    self.end = message.int64()
                case b"R":
                    self._read_table(message)
                case b"I" | b"U" | b"D" as kind:
                    self._read_row(message, last=b"O" if kind == b"D" else b"N")
                case b"T":
                    self._read_truncate(message)
        except (struct.error, IndexError, UnicodeDecodeError):
            raise SourceMisconfigured(
                "A changed row is too long. Publish only the columns that are followed: ALTER "
                "PUBLICATION … SET TABLE NAME (KEY), …"
            ) from None

    def _read_table(self, message: "_Message") -> None:
        oid = message.int32()
        table = f"{message.text()}.{message.text()}"
        message.take(1)
        names = list(message.column_names())
        if table not in self.columns:
            return
        column = self.columns[table]
        if column is not None and column not in names:
            raise SourceMisconfigured(
                f"The publication has no column {column} of {table}: add it, or name another one."
            )
        self._tables[oid] = (table, -1 if column is None else names.index(column))

    def _read_row(self, message: "_Message", last: bytes) -> None:
        """last: the kind of its last row, after whose value nothing is needed."""
        table, column = self._tables.get(message.int32(), ("", -1))
        if not table:
            return
        if column < 0:
            self.copy_because = f"{table} has changed"
            return
        values = self.values.setdefault(table, set())
        while kind := message.take(1):
            value = message.value(column, is_last=kind == last)
            if value is not None:
                values.add(value)

    def _read_truncate(self, message: "_Message") -> None:
        number = message.int32()
        message.take(1)
        oids = [message.int32() for _ in range(number)]
        if any(oid in self._tables for oid in oids):
            self.copy_because = "a table was truncated"


class _Message:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, length: int) -> bytes:
        taken = self._data[self._at : self._at + length]
        self._at += length
        return taken

    def int32(self) -> int:
        return int(self._unpack(_INT32))

    def int64(self) -> int:
        return int(self._unpack(_INT64))

    def text(self) -> str:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise IndexError
        text = self._data[self._at : end].decode()
        self._at = end + 1
        return text

    def column_names(self) -> Iterator[str]:
        for _ in range(self._unpack(_INT16)):
            self.take(1)
            yield self.text()
            self.take(8)

    def value(self, column: int, *, is_last: bool) -> str | None:
        """The column's value in the row that begins here; None for null.

        is_last: nothing is needed of what follows the value. Raises `IndexError` if what is needed
        is not there: cut, or left out because it is long and has not changed.
        """
        found = None
        for number in range(self._unpack(_INT16)):
            value = self._column(is_needed=number == column)
            if number == column:
                found = value
                if is_last:
                    self._at = len(self._data)
                    return found
        return found

    def _column(self, *, is_needed: bool) -> str | None:
        match self.take(1):
            case b"n":
                return None
            case b"u" if not is_needed:
                return None
            case b"t":
                length = self.int32()
                raw = self.take(length)
                if len(raw) < length:
                    raise IndexError
                return raw.decode() if is_needed else None
            case _:
                raise IndexError

    def _unpack(self, form: struct.Struct) -> int:
        value: int = form.unpack_from(self._data, self._at)[0]
        self._at += form.size
        return value


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Which transactions a snapshot sees, as `pg_current_snapshot()` tells."""

    end: int
    running: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        _, end, running = text.split(":")
        return cls(int(end), frozenset(int(each) for each in running.split(",") if each))

    def sees(self, xids: Collection[int]) -> bool:
        """Whether it sees all of these, of 32 bits, which have been written to the log.

        A transaction stands in the log before others see it.
        """
        return not any(self._is_running(xid) for xid in xids)

    def _is_running(self, xid: int) -> bool:
        before_end = (self.end - xid) & 0xFFFFFFFF
        if before_end == 0 or before_end >= 1 << 31:
            return True  # it began after the snapshot
        return self.end - before_end in self.running


def lsn_number(lsn: str) -> int:
    high, low = lsn.split("/")
    return int(high, 16) << 32 | int(low, 16)


def lsn_text(number: int) -> str:
    return f"{number >> 32:X}/{number & 0xFFFFFFFF:X}"
