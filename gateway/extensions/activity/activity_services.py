"""What the calls of this extension use."""

from dataclasses import dataclass

from gateway.extension import Services, Stores
from gateway.extensions.activity.search_statistics import SearchStatistics
from gateway.extensions.activity.search_statistics_store import SearchStatisticsStore


@dataclass(frozen=True, slots=True)
class ActivityServices:
    gateway: Services
    stores: Stores
    statistics: SearchStatistics
    statistics_store: SearchStatisticsStore
