"""The setting of the curation of questions."""

from pydantic import BaseModel, Field, NonNegativeInt


class CurationSettings(BaseModel):
    """Curation."""

    items_max: NonNegativeInt = Field(
        1_000,
        le=2**31 - 1,
        description="maximum stored questions with low-confidence answers per tenant; 0: none",
    )
