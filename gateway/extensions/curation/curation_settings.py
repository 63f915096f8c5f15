"""The setting of the curation of questions."""

from pydantic import Field, NonNegativeInt
from pydantic_settings import BaseSettings


class CurationSettings(BaseSettings):
    """Curation."""

    items_max: NonNegativeInt = Field(
        1_000,
        description="maximum stored questions with low-confidence answers per tenant; 0: none",
    )
