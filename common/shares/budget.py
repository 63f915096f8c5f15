"""An amount that tenants share. A request that exceeds it is refused at once, and never waits."""

from typing import Literal

Refusal = Literal["all", "tenant"]  # whose limit is reached: that of all tenants, or its own


class FairBudget:
    """Counts what tenants hold, such as requests, connections or bytes.

    total_max: of all tenants together.
    tenant_max: of one tenant. The empty name stands for no tenant, and has no limit of its own.
    """

    def __init__(self, *, total_max: int, tenant_max: int) -> None:
        self._total_max = total_max
        self._tenant_max = tenant_max
        self._total = 0
        self._amounts: dict[str, int] = {}

    def take(self, tenant: str, amount: int = 1) -> Refusal | None:
        """Count the amount, which `give_back` returns; or why nothing was counted."""
        if self._total + amount > self._total_max:
            return "all"
        if tenant:
            held = self._amounts.get(tenant, 0) + amount
            if held > self._tenant_max:
                return "tenant"
            self._amounts[tenant] = held
        self._total += amount
        return None

    def give_back(self, tenant: str, amount: int = 1) -> None:
        self._total -= amount
        if tenant:
            self._amounts[tenant] -= amount
            if not self._amounts[tenant]:
                del self._amounts[tenant]
