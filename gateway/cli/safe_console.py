"""A console whose texts, many of them a tenant's, can't command the terminal."""

import re
from typing import Any

from rich.console import Console
from rich.text import Text

# All control characters but tab and newline: ESC begins a terminal's commands, and so does U+009B.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class SafeConsole(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """What rich makes of each text and cell of a table that it prints."""
        return super().render_str(_CONTROLS.sub("\ufffd", text), **options)
