"""People who write and read documents."""

from tests.gateway.documents.conftest import ana, gateway, people

__all__ = ["ana", "gateway", "people"]
