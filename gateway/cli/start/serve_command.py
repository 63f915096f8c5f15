"""`nearhit serve`: a listening socket and the workers that serve it."""

import asyncio
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from pydantic import SecretStr
from rich.console import Console
from uvicorn.supervisors import Multiprocess

from common.command_errors import CommandError
from gateway.auth.credentials import make_secret
from gateway.cli import common, operations
from gateway.cli.start import setting_checks
from gateway.cli.start.shared_folder import shared_folder
from gateway.configured.installed_extensions import switched_on
from gateway.http.transport.connection import Connection
from gateway.monitoring import process_log
from gateway.settings import setting_sources
from gateway.settings.server_provider import ServerProvider
from gateway.settings.settings import Settings
from gateway.worker import parent_watch

# A worker that loads on a busy machine is silent for longer than uvicorn's 5 s, and would be
# replaced again and again. A starting value, not measured.
_SILENT_S_MAX = 30
_FORCED_END_S = 1.0
_OTHER_FILES = 512  # of a worker besides clients: PostgreSQL, Redis and its own


def serve(
    settings: Settings, console: Console, provider: ServerProvider | None, *, example: bool
) -> None:
    """Serve until a signal. provider: what runs the servers that the settings name.

    What would stop a worker at its start fails here, as one line, before anything listens. After
    that, a caller that connects early waits instead of being refused.
    """
    setting_checks.require_valid(settings)  # before the database is asked, which may take long
    asyncio.run(operations.require_servable(settings))
    with _listen(settings) as listener:
        url = _url(listener)
        if provider is not None:
            settings = provider.begin(settings, console, url, example)
        if settings.admin_key is None and console.is_terminal:  # a log must not hold the key
            settings = settings.model_copy(update={"admin_key": SecretStr(make_secret())})
            console.print(f"operator's key of this start: {admin_key(settings)}", soft_wrap=True)
        text = f"listening on {url}"
        for extension in switched_on(settings.extensions_off).values():
            if extension.home:
                text += f"; people begin at {url}{extension.home}"
        process_log.announce(console, settings.log_format, text, "listening", url=url)
        setting_sources.replace(os.environ, environment(settings))
        _raise_file_limit(settings.connections_max)
        with shared_metrics(settings), shared_shards(settings):
            _run(settings, listener)


def _listen(settings: Settings) -> socket.socket:
    """Open the socket; callers can connect from now on."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=4_096)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]  # the rest is the address again
        raise CommandError(
            f"can't listen on {settings.host}:{settings.port}: {reason}; choose another address "
            "with --port and --host, or NEARHIT_PORT and NEARHIT_HOST"
        ) from None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _raise_file_limit(connections_max: int) -> None:
    """Raise the limit of open files for this many connections, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections_max + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))


class _Server(uvicorn.Server):
    """A uvicorn that a second Ctrl-C, which `uv run` and npm send too, ends as orderly as one."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.force_exit:
            for connection in list(self.server_state.connections):
                connection.transport.abort()  # its requests end as when their client has gone
            if self.server_state.tasks:
                await asyncio.wait(self.server_state.tasks, timeout=_FORCED_END_S)
            await self.lifespan.shutdown()


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
        proxy_headers=False,  # the gateway reads proxy headers itself
        server_header=False,
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=settings.shutdown_s,
        timeout_worker_healthcheck=_SILENT_S_MAX,
    )
    if settings.workers > 1:
        Multiprocess(config, sockets=[listener]).run()
    else:
        _Server(config).run(sockets=[listener])


def environment(settings: Settings) -> dict[str, str]:
    """Environment variables that give a child process the same servers and operator's key."""
    assert settings.database_url is not None
    assert settings.redis_url is not None
    variables = {
        "NEARHIT_DATABASE_URL": settings.database_url.get_secret_value(),
        "NEARHIT_REDIS_URL": settings.redis_url.get_secret_value(),
        "NEARHIT_SERVE_JOBS": str(settings.serve_jobs),
    }
    if settings.admin_key is not None:
        variables["NEARHIT_ADMIN_KEY"] = admin_key(settings)
    return variables


def admin_key(settings: Settings) -> str:
    assert settings.admin_key is not None
    return settings.admin_key.get_secret_value()


@contextmanager
def shared_metrics(settings: Settings) -> Iterator[None]:
    """A folder in which several workers share their metrics, so that each can report the sum."""
    if settings.workers == 1:
        yield
        return
    parent_watch.watch_children()
    with shared_folder("nearhit-metrics-", None) as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        yield


@contextmanager
def shared_shards(settings: Settings) -> Iterator[None]:
    """A folder in which several workers share the memory of shards, unless the operator named one.

    Memory then holds a tenant once instead of once for each worker.
    """
    if settings.workers == 1 or settings.shard_folder is not None or not settings.shard_bytes_max:
        yield
        return
    with shared_folder("nearhit-shards-", settings.shard_bytes_max) as folder:
        os.environ["NEARHIT_SHARD_FOLDER"] = str(folder)
        yield
