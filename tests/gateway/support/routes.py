"""All routes: of the core, and of the extensions that the repository holds."""

from gateway.api.routes.table import routes
from gateway.configured.installed_extensions import switched_on

ROUTES = routes(switched_on(""))
