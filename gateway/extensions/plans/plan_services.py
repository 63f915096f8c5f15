"""What the calls of search plans and strategies use."""

from dataclasses import dataclass

from gateway.extension import SearchServices
from gateway.extensions.plans.strategy_store import StrategyStore


@dataclass(frozen=True, slots=True)
class PlanServices:
    search: SearchServices
    strategies: StrategyStore
