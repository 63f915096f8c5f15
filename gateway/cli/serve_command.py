"""`nearhit serve`: a listening socket, and the workers that answer on it."""

import asyncio
import os
import resource
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from rich.console import Console
from uvicorn.supervisors import Multiprocess

from gateway.auth.credentials import make_secret
from gateway.cli import common
from gateway.errors import CommandError
from gateway.http.connection import Connection
from gateway.operator import operations, quickstart
from gateway.search import embedders
from gateway.settings import Settings
from gateway.worker import parent_watch

_OTHER_FILES = 512  # of a worker: of PostgreSQL's and Redis's connections, and its own


def serve(settings: Settings, console: Console, *, embedded: bool, example: bool) -> None:
    """Serve until told to stop. The socket listens before anything slow begins, so that nobody who
    calls as soon as the address is known is turned away.
    """
    for name in embedders.names(settings):
        embedders.check(settings, name)  # here it is one line for a person
    with _listen(settings) as listener:
        url = _url(listener)
        if embedded:
            settings = quickstart.begin(settings, console, url, example=example)
            settings = settings.model_copy(update={"serve_jobs": True})  # there is no worker
        else:
            asyncio.run(operations.try_database(settings))  # here it is one line for a person
        if settings.admin_key is None:
            settings = quickstart.with_admin_key(settings, make_secret())
            console.print(f"operator's key of this start: {admin_key(settings)}", soft_wrap=True)
        console.print(f"listening on {url}", soft_wrap=True)
        os.environ |= environment(settings)
        _allow_connections(settings.connections_max)
        with _counting_together(settings):
            _run(settings, listener)


def _listen(settings: Settings) -> socket.socket:
    """A socket that callers can connect to from now on."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        raise CommandError(
            f"can't listen on {settings.host}:{settings.port} ({error.strerror}): "
            "choose another with --port or --host"
        ) from None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _allow_connections(number: int) -> None:
    """A limit of open files that leaves room for so many, as far as the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _run(settings: Settings, listener: socket.socket) -> None:
    config = uvicorn.Config(
        f"{common.PACKAGE}.api.app:create",
        factory=True,
        workers=settings.workers,
        loop="uvloop",
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # who is believed, the gateway decides by itself
        server_header=False,
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=settings.shutdown_s,
    )
    if settings.workers > 1:
        Multiprocess(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])


def environment(settings: Settings) -> dict[str, str]:
    """What tells another process of ours the same servers and the same operator's key."""
    assert settings.database_url is not None
    assert settings.redis_url is not None
    return {
        "NEARHIT_DATABASE_URL": settings.database_url.get_secret_value(),
        "NEARHIT_REDIS_URL": settings.redis_url.get_secret_value(),
        "NEARHIT_ADMIN_KEY": admin_key(settings),
        "NEARHIT_SERVE_JOBS": str(settings.serve_jobs),
    }


def admin_key(settings: Settings) -> str:
    assert settings.admin_key is not None
    return settings.admin_key.get_secret_value()


@contextmanager
def _counting_together(settings: Settings) -> Iterator[None]:
    """Where several workers keep their counts, so that each can tell the sum."""
    if settings.workers == 1:
        yield
        return
    parent_watch.watch_children()
    with tempfile.TemporaryDirectory(prefix="nearhit-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield
