"""The `nearhit` command."""

import asyncio
import gc
import signal
from importlib import metadata
from typing import Annotated

import typer

from gateway.cli import common, sigterm
from gateway.cli.common import console
from gateway.cli.extension_commands import ExtensibleCommands
from gateway.cli.start import extensions_command

_START = "Start"  # a panel of `nearhit --help`

# What a command imports stays: to look for garbage after each 700 objects takes a fifth of the time
# of importing.
_ALLOCATIONS = 10_000

app = typer.Typer(
    cls=ExtensibleCommands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they may hold a key
    help="""Nearhit answers an AI agent's search in milliseconds, from exactly what it may read.

    Settings come from the environment (NEARHIT_…; `nearhit config check` shows them). Without
    NEARHIT_DATABASE_URL and NEARHIT_REDIS_URL, Nearhit starts its own servers in
    NEARHIT_DATA_DIR.""",
)


def _show_version(is_asked: bool) -> None:  # noqa: FBT001  typer calls it
    if is_asked:
        console.print(metadata.version("nearhit"))
        raise typer.Exit


@app.callback()
def nearhit(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # see `__main__`
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])


@app.command(rich_help_panel=_START)
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0: any free port.", min=0, max=65_535)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that serve requests.", min=1)
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Ingest the example handbook first.")
    ] = False,
) -> None:
    """Serve the HTTP API until stopped; requests in flight are finished first.

    On its own servers it also creates a first tenant and key, and prints a curl command.

        nearhit serve --port 8080 --workers 4
    """
    options = {"host": host, "port": port, "workers": workers}
    with common.errors():
        from gateway.cli.start import serve_command
        from gateway.configured import configured_servers
        from gateway.settings.settings import Settings

        settings = Settings().model_copy(
            update={name: value for name, value in options.items() if value is not None}
        )
        sigterm.exit_at_sigterm()  # until uvicorn handles it
        with common.servers(settings, own=True) as connected:
            provider = configured_servers.provider(settings)
            serve_command.serve(connected, console, provider, example=example)


@app.command(rich_help_panel=_START)
def worker(
    interval_s: Annotated[
        float, typer.Option(help="Seconds between two maintenance runs.", min=0.1)
    ] = 10.0,
) -> None:
    """Run queued jobs, finish interrupted invalidations and build indexes of large tenants.

    Long documents wait for a worker. Run any number of workers. A killed worker loses nothing; a
    stopped worker finishes its jobs or releases them.

        nearhit worker --interval-s 5
    """
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.monitoring import logs

        logs.configure(settings.log_level, line_format=settings.log_format)
        asyncio.run(operations.work(settings, interval_s))


app.command(rich_help_panel=_START)(extensions_command.extensions)
