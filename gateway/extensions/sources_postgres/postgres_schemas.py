"""The configuration of a source that follows another PostgreSQL server."""

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from gateway.extension import Body, with_example
from gateway.extensions._sources.source_schemas import SourceConfiguration, SourceDocuments
from gateway.extensions._web import urls
from index.model.document import Line

NAME_CHARACTERS_MAX = 63  # of PostgreSQL's identifiers
TABLES_MAX = 16  # starting values, not measured
WAIT_S_MAX = 60.0
PASSWORD_CHARACTERS_MAX = 1_024
_LSN = re.compile(r"[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}")


def _host(name: str) -> str:
    """Check the name: no path of a socket, no port, no list of hosts."""
    host = urls.canonical_host(name.lower())
    if host is None or (":" in host and not host.endswith("]")):
        raise ValueError("must be the name or the address of a host")
    return host


def _relation(name: str) -> str:
    """Schema and name, as the catalogue has them; nothing is quoted."""
    schema, dot, relation = name.partition(".")
    if not (schema and dot and relation) or "." in relation or '"' in name:
        raise ValueError("must be SCHEMA.NAME, without quotes")
    return name


def _lsn(text: str) -> str:
    if not _LSN.fullmatch(text):
        raise ValueError("must be a position such as 0/16B3748, as pg_current_wal_lsn() gives it")
    return text


Name: TypeAlias = Annotated[Line, Field(max_length=NAME_CHARACTERS_MAX)]
Relation: TypeAlias = Annotated[
    Line, Field(max_length=2 * NAME_CHARACTERS_MAX + 1), AfterValidator(_relation)
]
Lsn: TypeAlias = Annotated[Line, AfterValidator(_lsn)]


class Through(Body):
    """A followed table with the key of a document for each value of one of its columns."""

    table: Relation = Field(description="a followed table")
    column: Name = Field(description="column that is compared with `key` of the followed table")
    key: Name = Field(description="column with the key of a document")


class FollowedTable(Body):
    """A table whose changes are followed."""

    table: Relation = Field(description="the table, as `SCHEMA.NAME`")
    key: Name | None = Field(
        None,
        description="its column with the key of the documents that a changed row belongs to, or "
        "with what `through` finds them by; null: each change lets everything be copied anew",
    )
    through: Through | None = Field(None, description="null: `key` has the keys of documents")

    @model_validator(mode="after")
    def _check_key(self) -> "FollowedTable":
        if self.through is not None and self.key is None:
            raise ValueError("through needs a key")
        return self


class Columns(Body):
    """By field of a document, the column of the relation."""

    text: Name = Field(description="a row without text is no document")
    title: Name | None = Field(None, description="null: no title")
    uri: Name | None = Field(None, description="where people open it")
    language: Name | None = Field(None, description="null: detected in each text")
    tags: Name | None = Field(None, description="an array, or JSON with a list")
    metadata: Name | None = Field(None, description="JSON with an object")
    owner: Name | None = Field(None, description="null in a row: no owner")
    readers: Name | None = Field(
        None, description="an array, or JSON with a list; null in a row: nobody but the owner"
    )


class PostgresSource(SourceDocuments):
    host: Annotated[Line, AfterValidator(_host)] = Field(
        description="primary server, one of NEARHIT_SOURCES_POSTGRES_HOSTS"
    )
    port: int = Field(5432, ge=1, le=65_535, description="port of the server")
    database: Name = Field(description="database with the relation")
    user: Name = Field(description="a role with REPLICATION that may read the relation")
    password: str | None = Field(
        None,
        max_length=PASSWORD_CHARACTERS_MAX,
        description="sealed when it is stored; what a call answers may be sent back",
    )
    tls: Literal["verify", "off"] = Field(
        "verify",
        description="`off` only within NEARHIT_SOURCES_POSTGRES_NETWORKS",
    )
    publication: Name = Field(description="publication with all followed tables")
    relation: Relation = Field(description="table or view with one row for each document")
    key: Name = Field(
        description="its column with the key of each document, whose identifier is SOURCE/KEY"
    )
    columns: Columns = Field(description="its columns with the fields of documents")
    follows: tuple[FollowedTable, ...] = Field(
        (), max_length=TABLES_MAX, description="tables that a view reads; empty: the table itself"
    )

    @property
    def tables(self) -> tuple[FollowedTable, ...]:
        return self.follows or (FollowedTable(table=self.relation, key=self.key),)


class PostgresSourceBody(SourceConfiguration):
    kind: Literal["postgres"] = Field(
        description="`postgres`: a table or view of another PostgreSQL server, which is followed"
    )
    settings: PostgresSource


class WaitBody(Body):
    model_config = with_example(lsn="0/16B3748", timeout_s=10.0)

    lsn: Lsn = Field(description="what `SELECT pg_current_wal_lsn()` gave after the commit")
    timeout_s: float = Field(
        10.0, ge=0, le=WAIT_S_MAX, description="after which the answer says how far it is"
    )


class WaitAnswer(Body):
    source: str
    reached: bool = Field(
        description="whether every change up to the position asked for is found, or gone"
    )
    lsn: str | None = Field(
        description="position up to which all changes are; null while the relation is copied"
    )
    lag_bytes: int | None = Field(
        description="bytes of the server's log from there to the position asked for; 0: reached"
    )
    last_error: str | None = Field(description="why the server is not followed; null: it is")
