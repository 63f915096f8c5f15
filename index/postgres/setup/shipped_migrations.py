"""The migrations `index/migrations/*.sql` of this version."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    name text PRIMARY KEY, digest bytea NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)"""


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    text: str

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.text.encode()).digest()


def shipped() -> list[Migration]:
    """The migrations of this version, in the order of their names."""
    files = (Path(__file__).parents[2] / "migrations").iterdir()
    return sorted(
        (
            Migration(file.name, file.read_text(encoding="utf-8"))
            for file in files
            if file.name.endswith(".sql")
        ),
        key=lambda migration: migration.name,
    )
