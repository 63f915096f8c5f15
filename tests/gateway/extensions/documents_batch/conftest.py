"""People who write and read documents."""

from tests.gateway.documents.conftest import ana, people
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures

__all__ = ["ana", "people"]
