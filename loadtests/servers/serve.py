"""Run an ASGI application under uvicorn with the settings of the gateway."""

import socket

import uvicorn
from starlette.types import ASGIApp


def serve(app: ASGIApp) -> None:
    """Serve on a free port and print its address as the gateway does."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])
