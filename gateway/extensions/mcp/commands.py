"""`nearhit mcp`: the MCP tools over standard input and output, for desktop clients."""

import asyncio
from typing import Annotated

import typer

from gateway.cli import common

COMMANDS = typer.Typer()


@COMMANDS.command(rich_help_panel="Start")
def mcp(
    url: Annotated[
        str, typer.Option(help="URL of the gateway.", envvar="NEARHIT_URL")
    ] = "http://127.0.0.1:8080",
    key: Annotated[
        str | None, typer.Option(help="A key or token of the tenant.", envvar="NEARHIT_KEY")
    ] = None,
) -> None:
    """Offer a running gateway's tools to a desktop client, over standard input and output.

    The client sees what the key may see. Prefer NEARHIT_KEY to --key: other users of the machine
    can read the arguments of a command.

        nearhit mcp --url http://127.0.0.1:8080
    """
    with common.errors():
        from gateway.extensions._commands.gateway_address import gateway_address

        address = gateway_address(url, key)
        from gateway.extensions.mcp import proxy

        asyncio.run(proxy.run(*address))
