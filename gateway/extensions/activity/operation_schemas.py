"""The response bodies of what the operator sees of all processes and tenants."""

from datetime import datetime

from pydantic import Field

from gateway.extension import Body
from gateway.extensions.activity.statistics_schemas import LatencyAnswer
from index.jobs.process_store import ProcessKind


class ProcessAnswer(Body):
    process: str = Field(description="its host and number")
    kind: ProcessKind = Field(description="what it does")
    version: str = Field(description="version of Nearhit that it runs")
    is_warm: bool | None = Field(
        description="whether a gateway has loaded what it loads after its start; null: a worker"
    )
    is_alive: bool = Field(description="whether it has said so within the last minute")
    started_at: datetime = Field(description="when it started")
    seen_s_ago: float = Field(description="seconds since it said so last")


class ProcessesAnswer(Body):
    processes: tuple[ProcessAnswer, ...] = Field(
        description="those that run, and those that were killed within a day"
    )


class PeriodLatencyAnswer(LatencyAnswer):
    start: datetime = Field(description="begin of the hour or the day, in UTC")


class LatenciesAnswer(Body):
    latencies: tuple[PeriodLatencyAnswer, ...] = Field(
        description="of searches that came by themselves, of all tenants"
    )
