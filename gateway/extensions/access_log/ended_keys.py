"""Keys and tokens that no longer work, found by the credential that a caller has sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class EndedKey:
    """is_revoked: itself, or a key that it was made with; else it has expired."""

    tenant: str
    subject: str
    key_id: str
    is_revoked: bool


class EndedKeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, digests: Sequence[bytes]) -> dict[bytes, EndedKey]:
        """By SHA-256, the keys and tokens among these refused credentials."""
        rows = await self._database.rows("principals.ended_keys", digests)
        return {
            row["digest"]: EndedKey(row["tenant"], row["subject"], row["key_id"], row["is_revoked"])
            for row in rows
        }
