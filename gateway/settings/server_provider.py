"""What an extension brings that runs PostgreSQL and Redis where the settings name neither."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command that finds its servers running loads little else
    from rich.console import Console

    from gateway.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class ServerProvider:
    """Commands run on the settings that `own` and `share` yield, which have both URLs.

    own:   runs the servers for `nearhit serve`; raises `CommandError` if another process does.
    share: uses the servers that another process runs, or runs them until the command ends.
    begin: `nearhit serve` calls it on its own servers once it listens, with where it prints, its
        URL, and whether example documents are asked for; it serves with the settings that it gets.
    """

    own: "Callable[[Settings], AbstractContextManager[Settings]]"
    share: "Callable[[Settings], AbstractContextManager[Settings]]"
    begin: "Callable[[Settings, Console, str, bool], Settings]"
