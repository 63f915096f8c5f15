"""The version of pgvector that Nearhit requires.

pgvector 0.6.0 to 0.8.1 have CVE-2026-3172: a parallel build of an HNSW index can read rows of other
relations. Nearhit refuses versions before 0.8.4 unless the operator allows them; it then builds
indexes without parallel workers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from index.postgres.functions.function_roles import Connection
from index.postgres.setup.database_problem import DatabaseProblem

NEEDED = "0.8.0"  # the first with iterative index scans
SAFE = "0.8.4"
WITHOUT_PARALLEL_BUILDS = {"max_parallel_maintenance_workers": "0"}

VERSIONS = """
SELECT installed_version AS installed, default_version AS available
FROM pg_available_extensions WHERE name = 'vector'"""


@dataclass(frozen=True, slots=True)
class PgvectorVersions:
    """installed: in the database, if it is; available: on the server, if it is."""

    installed: str | None
    available: str | None


async def read(connection: Connection) -> PgvectorVersions:
    row = await connection.fetchrow(VERSIONS)
    return PgvectorVersions(row["installed"], row["available"]) if row else _NONE


def problems(versions: PgvectorVersions, *, allow_old: bool) -> Sequence[DatabaseProblem]:
    """Empty if the database has, or gets, a version to work with.

    allow_old: whether the operator allows versions from `NEEDED` to before `SAFE`.
    """
    version = versions.installed or versions.available
    if version is None:
        return [
            DatabaseProblem(
                "PostgreSQL has no extension `vector`: "
                f"install pgvector {SAFE} or later on its server"
            )
        ]
    if not is_older(version, NEEDED if allow_old else SAFE):
        return []
    text = (
        f"the database has pgvector {version}, and Nearhit needs {SAFE} or later, because parallel "
        "index builds of 0.6.0 to 0.8.1 can read rows of other tables (CVE-2026-3172): "
        f"{_remedy(versions, version)}"
    )
    update = "ALTER EXTENSION vector UPDATE;" if versions.installed else ""
    return [DatabaseProblem(text, update)]


def is_older(version: str, other: str) -> bool:
    """Compare by number: 0.8.10 is not older than 0.8.4."""
    return _numbers(version) < _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _remedy(versions: PgvectorVersions, version: str) -> str:
    if versions.available and not is_older(versions.available, SAFE):
        return f"its server has {versions.available} already, so update the extension"
    install = f"install {SAFE} or later on its server"
    if versions.installed:
        install = f"{install}, then update the extension"
    if is_older(version, NEEDED):
        return install
    return (
        f"{install}; or set NEARHIT_ALLOW_OLD_PGVECTOR=true, which builds indexes without parallel "
        "workers"
    )


_NONE = PgvectorVersions(None, None)
