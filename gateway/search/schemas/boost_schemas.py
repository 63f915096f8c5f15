"""Boosts in the bodies of searches."""

from pydantic import Field

from gateway.bodies.schemas import Body
from index.model.document import METADATA_INTEGER_MAX, MetadataKey
from index.model.query_parts.boost import Boost, Importance, Recency

# Starting values, not measured.
WEIGHT_MAX = 10.0
HALF_LIFE_DAYS_MAX = 36_500.0


class RecencyBody(Body):
    half_life_days: float = Field(
        ge=0.01,
        le=HALF_LIFE_DAYS_MAX,
        description="a document that changed so many days later ranks as if its score were "
        "`weight` higher",
    )
    weight: float = Field(ge=0, le=WEIGHT_MAX)

    def canonical(self) -> Recency | None:
        return Recency(float(self.half_life_days), float(self.weight)) if self.weight else None


class ImportanceBody(Body):
    key: MetadataKey = Field(
        "priority", description="key of the document's metadata that holds a number"
    )
    full: float = Field(
        1,
        gt=0,
        le=METADATA_INTEGER_MAX,
        description="the number that adds all of `weight`; a smaller one adds its share",
    )
    weight: float = Field(
        ge=0, le=WEIGHT_MAX, description="addition to the score; a negative number subtracts it"
    )

    def canonical(self) -> Importance | None:
        if not self.weight:
            return None
        return Importance(self.key, float(self.full), float(self.weight))


class ReplacedBody(Body):
    weight: float = Field(
        ge=0,
        le=WEIGHT_MAX,
        description="subtraction from the score of a document that a visible one names under "
        "`replaces` in its metadata",
    )


class PopularityBoostBody(Body):
    weight: float = Field(
        ge=0,
        le=WEIGHT_MAX,
        description="addition to the score of a document that one subject of the tenant has opened "
        "today; twice that for three openings, three times for seven, and so on; an opening counts "
        "half after 30 days",
    )


class BoostBody(Body):
    """What is added to the scores of the candidates to rank them by."""

    recency: RecencyBody | None = Field(None, description="boost by the time of the last write")
    importance: ImportanceBody | None = Field(None, description="boost by a number of the metadata")
    replaced: ReplacedBody | None = Field(
        None, description="boost of documents that another one replaces"
    )
    popularity: PopularityBoostBody | None = Field(
        None, description="boost by how often documents were opened"
    )

    def canonical(self) -> Boost | None:
        """None if it adds nothing."""
        recency = None if self.recency is None else self.recency.canonical()
        importance = None if self.importance is None else self.importance.canonical()
        replaced = 0.0 if self.replaced is None else float(self.replaced.weight)
        popularity = 0.0 if self.popularity is None else float(self.popularity.weight)
        if not (recency or importance or replaced or popularity):
            return None
        return Boost(recency, importance, replaced, popularity)


class BoostAnswer(Body):
    """What was added to the hit's `score` to rank it by."""

    recency: float = Field(description="weight times half-lives from 2020 to the document's change")
    importance: float = Field(description="what the number of the metadata added to the score")
    replaced: float = Field(description="what was taken because another document replaces it")
    popularity: float | None = Field(None, description="only with `popularity`")
