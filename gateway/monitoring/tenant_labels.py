"""The label of a tenant in metrics, from a set that does not grow with the tenants."""

OTHER = "other"  # all tenants without a label of their own


class TenantLabels:
    """Gives the first tenants that a process meets labels of their own.

    labels_max: how many. 0: none, so that no tenant's name is in the metrics.
    """

    def __init__(self, labels_max: int) -> None:
        self._labels_max = labels_max
        self._tenants: set[str] = set()

    def label(self, tenant: str) -> str:
        if tenant in self._tenants:
            return tenant
        if len(self._tenants) < self._labels_max:
            self._tenants.add(tenant)
            return tenant
        return OTHER
