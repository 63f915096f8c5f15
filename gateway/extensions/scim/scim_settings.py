"""SCIM's settings."""

from typing import Literal

from pydantic import BaseModel, Field


class ScimSettings(BaseModel):
    """SCIM."""

    subject: Literal["userName", "externalId"] = Field(
        "userName",
        description="attribute of a user provisioned by SCIM that names its subject; it must be "
        "what the subject's claim of web tokens holds",
    )
