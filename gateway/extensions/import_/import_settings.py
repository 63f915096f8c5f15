"""The secret of the store that is imported from."""

from pydantic import BaseModel, Field, SecretStr


class ImportSettings(BaseModel):
    """Import from other stores."""

    secret: SecretStr | None = Field(
        None,
        description="API key of Qdrant or Chroma, or password of PostgreSQL, with which "
        "`nearhit import --from` reads; unset: none, or PostgreSQL's `PGPASSWORD`",
    )
