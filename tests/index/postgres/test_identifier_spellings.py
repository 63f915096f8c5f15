"""Identifiers whose case was kept get one spelling when it no longer is."""

from typing import TypeAlias

import asyncpg
import pytest

from index.errors import MigrationRefused
from index.invalidation.changes import ChangeLog
from index.postgres.database import Database
from index.postgres.setup.identifier_spellings import IdentifierPolicy
from index.postgres.setup.migrate import IDENTIFIERS, migrate, pending
from index.postgres.setup.shipped_migrations import shipped
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

KEY = """
INSERT INTO keys (key_id, tenant, digest, name, subject, groups, roles, scopes, allowed_groups)
VALUES ($1, 'acme', convert_to($1, 'UTF8'), '', $2, $3, '{reader}', '{tenant}', $4)"""
USER = """
INSERT INTO provisioned_users (tenant, subject, user_name, is_active) VALUES ('acme', $1, $2, $3)"""
DOCUMENT = """
INSERT INTO documents
    (tenant, document_id, source, title, uri, language, tags, metadata, owner, readers)
VALUES ('acme', 'plan', 's', '', '', 'en', '{}', '{}', $1, $2)"""
MERGING = IdentifierPolicy(merges=True)


@pytest.fixture
async def of_kept_case(connection: Connection, tenants: TenantStore) -> None:
    await connection.execute("""
        UPDATE identifier_cases SET identifier_case = 'keep';
        INSERT INTO sources (tenant, source) VALUES ('acme', 's');
    """)


async def test_everything_that_names_a_person_or_a_group_is_respelled(
    database_url: str, connection: Connection, of_kept_case: None
) -> None:
    await connection.execute(DOCUMENT, "Ana", ["user:Jose\u0301", "group:Legal", "tenant"])
    await connection.execute(KEY, "key_1", "Ana", ["Legal", "ops"], ["Legal"])
    await connection.execute("""
        INSERT INTO groups (tenant, group_id, display_name) VALUES ('acme', 'Legal', 'Legal');
        INSERT INTO group_members (tenant, group_id, subject) VALUES ('acme', 'Legal', 'Ana');
        INSERT INTO suspended_subjects (tenant, subject) VALUES ('acme', 'Ben');
        INSERT INTO files (tenant, file_id, subject, filename, purpose, content)
        VALUES ('acme', 'file_1', 'Ana', 'a.txt', 'assistants', '');
        INSERT INTO event_versions
            (tenant, document_id, content_version, access_version, owner, readers)
        VALUES ('acme', 'plan', 1, 1, 'Ana', '{group:Legal}');
        INSERT INTO openfga_stores (tenant) VALUES ('acme');
        INSERT INTO openfga_tuples (tenant, object, relation, holder, kind, target, grantee) VALUES
            ('acme', 'group:Legal', 'member', 'user:Ana', 'member', 'Legal', 'Ana'),
            ('acme', 'doc:Plan', 'viewer', 'user:Ana', 'reader', 'Plan', 'user:Ana');
        INSERT INTO openfga_members (tenant, group_id, subject) VALUES ('acme', 'Legal', 'Ana');
        INSERT INTO openfga_readers (tenant, document_id, reader)
        VALUES ('acme', 'Plan', 'user:Ana');
        INSERT INTO jobs (job_id, tenant, kind, target, subject, attempts_max)
        VALUES ('job_1', 'acme', 'document.write', 'document:Plan', 'Ana', 1);
        INSERT INTO ended_readers (tenant, digest, reader) VALUES ('acme', '', 'user:Cid');
        UPDATE documents SET provenance = '{"by": "agent", "subject": "Dan", "ratified_by": "Eve",
            "held_readers": ["user:Fay", "tenant"]}';
        UPDATE tenants SET quarantine = '{"of": "web", "readers": ["group:Gods"]}'
        WHERE tenant = 'acme';
    """)
    await connection.execute(USER, "Ana", "Ana", True)

    assert await migrate(database_url, shipped()) == [IDENTIFIERS]
    assert await migrate(database_url, shipped()) == []

    readers = ["user:josé", "group:legal", "tenant"]
    for query, row in {
        "SELECT owner, readers FROM documents": ("ana", readers),
        "SELECT allowed_tokens FROM audiences": ([*readers, "owner:ana"],),
        "SELECT subject, groups, allowed_groups FROM keys": ("ana", ["legal", "ops"], ["legal"]),
        "SELECT group_id, display_name FROM groups": ("legal", "Legal"),
        "SELECT group_id, subject FROM group_members": ("legal", "ana"),
        "SELECT subject FROM suspended_subjects": ("ben",),
        "SELECT subject, user_name FROM provisioned_users": ("ana", "Ana"),
        "SELECT subject FROM files": ("ana",),
        "SELECT owner, readers FROM event_versions": ("ana", ["group:legal"]),
        "SELECT target, grantee FROM openfga_tuples WHERE kind = 'member'": ("legal", "ana"),
        "SELECT target, grantee FROM openfga_tuples WHERE kind = 'reader'": ("Plan", "user:ana"),
        "SELECT group_id, subject FROM openfga_members": ("legal", "ana"),
        "SELECT document_id, reader FROM openfga_readers": ("Plan", "user:ana"),
        "SELECT subject FROM jobs": ("ana",),
        "SELECT reader FROM ended_readers": ("user:cid",),
        "SELECT provenance ->> 'subject', provenance ->> 'ratified_by' FROM documents": (
            "dan",
            "eve",
        ),
        "SELECT (provenance -> 'held_readers')::text FROM documents": ('["tenant", "user:fay"]',),
        "SELECT (quarantine -> 'readers')::text FROM tenants WHERE tenant = 'acme'": (
            '["group:gods"]',
        ),
    }.items():
        assert [tuple(each) for each in await connection.fetch(query)] == [row], query
    action = "SELECT action FROM audit_log WHERE action = 'identifiers.respell'"
    assert len(await connection.fetch(action)) == 1


async def test_no_cache_and_no_shard_goes_on_with_what_it_knew_of_the_old_spelling(
    database_url: str,
    connection: Connection,
    tenants: TenantStore,
    database: Database,
    of_kept_case: None,
) -> None:
    await connection.execute(DOCUMENT, None, ["user:Ana", "public"])
    before = await tenants.revisions(["acme", "beta", "public"])

    await migrate(database_url, shipped())

    after = await tenants.revisions(["acme", "beta", "public"])
    changes = ChangeLog(database)
    assert after["beta"] == before["beta"]
    assert after["acme"].access_revision > before["acme"].access_revision
    assert after["acme"].audience_revision > before["acme"].audience_revision
    for partition in ("acme", "public"):
        assert after[partition].revision == before[partition].revision + 1
        since = before[partition].revision
        assert await changes.changes_after("acme", partition, since) is None


@pytest.mark.thorough
async def test_two_spellings_of_one_name_are_listed_and_nothing_is_changed(
    database_url: str, connection: Connection, of_kept_case: None
) -> None:
    await connection.execute(KEY, "key_1", "Ana", ["Legal"], None)
    await connection.execute(KEY, "key_2", "ana", ["legal"], None)
    await connection.execute(KEY, "key_3", "BEN", [], None)

    with pytest.raises(MigrationRefused, match=r"'Ana' \(keys\), 'ana' \(keys\).*--merge-spelling"):
        await migrate(database_url, shipped())
    with pytest.raises(MigrationRefused, match=r"acme: the group 'Legal' .*IDENTIFIER_CASE=keep"):
        await migrate(database_url, shipped())

    subjects = await connection.fetch("SELECT subject FROM keys ORDER BY key_id")
    assert [row["subject"] for row in subjects] == ["Ana", "ana", "BEN"]


async def test_an_operator_who_says_so_merges_the_spellings(
    database_url: str, connection: Connection, of_kept_case: None
) -> None:
    await connection.execute(KEY, "key_1", "Ana", ["Legal", "legal"], None)
    await connection.execute(KEY, "key_2", "ana", [], None)
    await connection.execute("""
        INSERT INTO groups (tenant, group_id, display_name) VALUES
            ('acme', 'Legal', 'Legal'), ('acme', 'LEGAL', NULL), ('acme', 'legal', NULL);
        INSERT INTO group_members (tenant, group_id, subject) VALUES
            ('acme', 'Legal', 'Ana'), ('acme', 'LEGAL', 'ana'), ('acme', 'legal', 'Ben');
        INSERT INTO suspended_subjects (tenant, subject) VALUES ('acme', 'Eve'), ('acme', 'Ana');
    """)
    await connection.execute(USER, "ana", "ana", True)
    await connection.execute(KEY, "key_3", "eve", [], None)

    assert await migrate(database_url, shipped(), identifiers=MERGING) == [IDENTIFIERS]

    keys = await connection.fetch("SELECT subject, groups FROM keys ORDER BY key_id")
    assert [tuple(row) for row in keys] == [("ana", ["legal"]), ("ana", []), ("eve", [])]
    members = await connection.fetch("SELECT group_id, subject FROM group_members ORDER BY subject")
    assert [tuple(row) for row in members] == [("legal", "ana"), ("legal", "ben")]
    assert await connection.fetchval("SELECT count(*) FROM groups") == 1
    suspended = await connection.fetch("SELECT subject FROM suspended_subjects")
    assert [row["subject"] for row in suspended] == ["eve"], "an active user has not left"


async def test_two_users_of_the_identity_provider_are_never_merged(
    database_url: str, connection: Connection, of_kept_case: None
) -> None:
    await connection.execute(USER, "ana", "ana", True)
    await connection.execute(USER, "Ana", "ana-2", False)

    with pytest.raises(MigrationRefused, match="delete one of each there"):
        await migrate(database_url, shipped(), identifiers=MERGING)


@pytest.mark.thorough
async def test_a_deployment_that_keeps_the_case_gets_composed_accents_and_both_names(
    database_url: str, connection: Connection, of_kept_case: None
) -> None:
    keeping = IdentifierPolicy("keep", looks_again=True)
    await connection.execute(KEY, "key_1", "Jose\u0301", [], None)
    await connection.execute(KEY, "key_2", "josé", [], None)

    await migrate(database_url, shipped(), identifiers=keeping)

    subjects = await connection.fetch("SELECT subject FROM keys ORDER BY key_id")
    assert [row["subject"] for row in subjects] == ["José", "josé"]
    assert await pending(database_url, shipped(), identifiers=keeping) == []
    assert await pending(database_url, shipped()) == [IDENTIFIERS]


async def test_a_folded_database_with_tenants_cannot_get_its_case_back(
    database_url: str, tenants: TenantStore
) -> None:
    await migrate(database_url, shipped())

    with pytest.raises(MigrationRefused, match="set it back to fold"):
        await migrate(database_url, shipped(), identifiers=IdentifierPolicy("keep"))


@pytest.mark.thorough
async def test_what_a_process_with_another_setting_wrote_meanwhile_is_found_when_asked(
    database_url: str, connection: Connection, tenants: TenantStore
) -> None:
    await migrate(database_url, shipped())
    await connection.execute(KEY, "key_1", "Ana", [], None)

    assert await migrate(database_url, shipped()) == []
    again = IdentifierPolicy(looks_again=True)
    assert await migrate(database_url, shipped(), identifiers=again) == [IDENTIFIERS]
    assert await connection.fetchval("SELECT subject FROM keys") == "ana"
