"""The response body of search statistics."""

from datetime import datetime

from pydantic import Field

from gateway.extension import Body


class PeriodAnswer(Body):
    start: datetime = Field(description="begin of the hour or the day, in UTC")
    tier: str = Field(description="`memory`, `redis`, `semantic` or `miss`: what answered")
    confident: int = Field(description="answers with hits, none of low confidence")
    low_confidence: int = Field(description="answers whose hits had no sufficient score")
    empty: int = Field(description="answers without a hit")


class LatencyAnswer(Body):
    tier: str = Field(description="which cache answered, or `miss`")
    latency_ms_max: int = Field(description="upper bound of the time in the gateway")
    answers: int = Field(description="answers that took longer than the next lower bound")


class AuditsAnswer(Body):
    """Answers that were computed a second time at the same revision, and compared."""

    equal: int = Field(description="number of cached answers that a fresh search repeated")
    other: int = Field(description="that differed: each is a defect, and was dropped")


class SearchStatisticsAnswer(Body):
    periods: tuple[PeriodAnswer, ...] = Field(description="counts by period")
    latencies: tuple[LatencyAnswer, ...] = Field(description="of searches that came by themselves")
    audits: AuditsAnswer = Field(
        description="cached answers that were compared with fresh searches"
    )
    kept_days: int = Field(description="older counts are deleted")
