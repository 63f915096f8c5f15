"""SCIM 2.0: an identity provider provisions users and groups."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import Extension, Services
from gateway.extensions.scim.group_provisioning import GroupProvisioning
from gateway.extensions.scim.routes import ROUTES
from gateway.extensions.scim.scim_services import ScimServices, ScimSettings
from gateway.extensions.scim.user_provisioning import UserProvisioning


@asynccontextmanager
async def _open(services: Services, settings: ScimSettings) -> AsyncIterator[ScimServices]:
    database = services.stores.database
    yield ScimServices(settings, UserProvisioning(database), GroupProvisioning(database))


EXTENSION = Extension(
    summary="an identity provider provisions users and groups by SCIM 2.0",
    routes=ROUTES,
    open=_open,
    settings=ScimSettings,
)
