"""`nearhit demo`."""

import typer

from gateway.cli import common

COMMANDS = typer.Typer()


@COMMANDS.command(rich_help_panel="Start")
def demo() -> None:
    """Show searches, an edit and a revocation in half a minute, and remove all data at the end.

    nearhit demo
    """
    with common.errors():
        from gateway.extensions.embedded_servers import demo

        demo.run(common.console, common.PACKAGE)
