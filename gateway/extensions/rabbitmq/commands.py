"""`nearhit dead-letters`: the operator lists events that could not be applied, and replays them."""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson, console

if TYPE_CHECKING:
    from gateway.extensions.rabbitmq.dead_letters import DeadEvent
    from gateway.extensions.rabbitmq.rabbitmq_settings import RabbitmqSettings

# Its lines would stand beside the one that says why the command failed.
logging.getLogger("aiormq").addHandler(logging.NullHandler())

COMMANDS = typer.Typer()

_letters = typer.Typer(no_args_is_help=True)
COMMANDS.add_typer(_letters, name="dead-letters", rich_help_panel="Operation")

_LISTED_MAX = 1_000

Queue = Annotated[
    str | None, typer.Option(help="Only this queue of NEARHIT_RABBITMQ_QUEUES; default: all.")
]


@_letters.callback()
def dead_letters() -> None:
    """Events of RabbitMQ that could not be applied."""


@_letters.command("list")
def list_letters(
    queue: Queue = None,
    limit: Annotated[
        int, typer.Option(help="Maximum number of events of each queue.", min=1, max=_LISTED_MAX)
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List events with the reason why each could not be applied, the oldest first.

    nearhit dead-letters list --json
    """
    with common.errors():
        url, queues = _queues(queue)
        from gateway.extensions.rabbitmq.dead_letters import list_dead_letters  # needs the extra

        letters = [
            letter for name in queues for letter in asyncio.run(list_dead_letters(url, name, limit))
        ]

    def cells(letter: "DeadEvent") -> list[str]:
        version = "" if letter.version is None else str(letter.version)
        what = [letter.type or "", letter.document_id or "", version]
        return [letter.queue, *what, f"{letter.size_bytes:,}", letter.reason]

    names = ("queue", "type", "document", "version", "bytes", "reason")
    common.print_rows(letters, cells, names, "no dead letters", as_json=as_json)


@_letters.command("replay")
def replay_letters(
    queue: Queue = None,
    limit: Annotated[
        int, typer.Option(help="Maximum number of events of each queue.", min=1)
    ] = 1_000_000,
    as_json: AsJson = False,
) -> None:
    """Move events back to their queue, from which a worker applies them.

    Correct the reason first. An event that is older than what is stored changes nothing.

        nearhit dead-letters replay --queue wiki-events
    """
    with common.errors():
        url, queues = _queues(queue)
        from gateway.extensions.rabbitmq.dead_letters import replay_dead_letters  # needs the extra

        moved = {}
        for name in queues:
            moved[name] = asyncio.run(replay_dead_letters(url, name, limit))
            if not as_json:
                console.print(f"moved {moved[name]:,} events back to {name}", markup=False)
    if as_json:
        common.print_json({"moved": moved})


def _queues(only: str | None) -> tuple[str, Sequence[str]]:
    """RabbitMQ's URL and the queues to look at."""
    from gateway.extension import CommandError

    settings: RabbitmqSettings = common.settings_of("rabbitmq")
    if settings.url is None:
        raise CommandError("NEARHIT_RABBITMQ_URL must name the RabbitMQ whose events are applied")
    url, queues = settings.url.get_secret_value(), settings.tenants()
    if only is not None and only not in queues:
        raise CommandError(f"{only} is no queue of NEARHIT_RABBITMQ_QUEUES")
    return url, [only] if only is not None else list(queues)
