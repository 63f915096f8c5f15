"""A console whose texts, many of them a tenant's, can't command the terminal."""

import os
import re
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

# All control characters but tab and newline: ESC begins a terminal's commands, and so does U+009B.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def reopen_closed_outputs() -> None:
    """What is written to an output that a shell has closed, as by `>&-`, goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


class SafeConsole(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """What rich makes of each text and cell of a table that it prints."""
        return super().render_str(_CONTROLS.sub("\ufffd", text), **options)
