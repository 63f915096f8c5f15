"""The routes of the console; they are no part of the API, and serve nothing but its files.

The console calls the public API with the key of the person who uses it. So these routes need no
credential, know no tenant, and set no cookie.
"""

from starlette.responses import Response

from gateway.extension import ApiRoute, RequestContext, problems
from gateway.extensions.console.console_files import ConsoleFiles

_YEAR_S = 31_536_000
# No script or style but the gateway's own files, no HTML made from text, no page around it, and no
# connection to another host.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


async def get_page(context: RequestContext[ConsoleFiles]) -> Response:
    return _page(context, "index.html")


async def get_reference(context: RequestContext[ConsoleFiles]) -> Response:
    """What `/openapi.json` says, for people."""
    return _page(context, "reference.html")


def _page(context: RequestContext[ConsoleFiles], name: str) -> Response:
    headers = {**_HEADERS, "Cache-Control": "no-cache"}
    return context.services.pages[name].response(context.request, headers)


async def get_asset(context: RequestContext[ConsoleFiles]) -> Response:
    files, parameters = context.services, context.request.path_params
    file = files.assets.get(parameters["name"])
    if file is None or parameters["fingerprint"] != files.fingerprint:
        raise problems.not_found("path", "The console has no such file. Reload /console.")
    headers = {**_HEADERS, "Cache-Control": f"public, max-age={_YEAR_S}, immutable"}
    return file.response(context.request, headers)


async def redirect_to_page(_: RequestContext[ConsoleFiles]) -> Response:
    """`/console/` is no other page: relative addresses would differ."""
    return Response(status_code=308, headers={"Location": "/console"})


ROUTES: tuple[ApiRoute[ConsoleFiles], ...] = (
    ApiRoute(
        "GET", "/console", get_page, needs="anyone", summary="The console's page", is_page=True
    ),
    ApiRoute(
        "GET",
        "/console/",
        redirect_to_page,
        needs="anyone",
        summary="The console's page",
        is_page=True,
    ),
    ApiRoute(
        "GET", "/docs", get_reference, needs="anyone", summary="The API's reference", is_page=True
    ),
    ApiRoute(
        "GET",
        "/console/assets/{fingerprint}/{name}",
        get_asset,
        needs="anyone",
        summary="A file of the console",
        is_page=True,
    ),
)
