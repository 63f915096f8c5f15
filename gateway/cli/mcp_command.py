"""`nearhit mcp`: the tools over standard input and output, for clients that start a program."""

import asyncio
from typing import Annotated

import typer

from gateway.cli import common
from gateway.errors import CommandError


def mcp(
    url: Annotated[
        str, typer.Option(help="The gateway's address.", envvar="NEARHIT_URL")
    ] = "http://127.0.0.1:8080",
    key: Annotated[
        str | None, typer.Option(help="A key or token of the tenant.", envvar="NEARHIT_KEY")
    ] = None,
) -> None:
    """Offer a running gateway's tools to a desktop client, over standard input and output.

    What is seen is what the key may see. Better set NEARHIT_KEY than give --key: other people of
    this machine may see what a command was started with.
    """
    with common.errors():
        if key is None:
            raise CommandError("no key: set NEARHIT_KEY to a key or token of the tenant")
        from gateway.mcp import proxy

        asyncio.run(proxy.run(url, key))
