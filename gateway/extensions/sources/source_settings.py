"""Where the sources of tenants are."""

from pathlib import Path

from pydantic import BaseModel, Field


class SourceSettings(BaseModel):
    """Sources."""

    dir: Path | None = Field(
        None,
        description="folder with one subfolder per tenant, named for the tenant, that contains its "
        "sources; unset: sources with a path are refused",
    )
