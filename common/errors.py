"""The exceptions of this package.

Saturated    a shared resource is in use, and the wait has ended
"""


class Saturated(Exception):
    """A shared resource is in use, and the request has waited for the maximal time.

    by_itself: whether the tenant's own requests use its share.
    """

    def __init__(self, tenant: str, *, by_itself: bool) -> None:
        users = f"requests of {tenant}" if by_itself else "other tenants"
        super().__init__(f"the share of {tenant} is in use by {users}")
        self.by_itself = by_itself
