"""The reference pages, each with the function that writes it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generate import cli, http, metrics, problems, settings

DOCS = Path(__file__).parents[1]
REFERENCE = DOCS / "reference"

WRITERS: Mapping[str, Callable[[], str]] = {
    "http.md": http.page,
    "settings.md": settings.page,
    "cli.md": cli.page,
    "metrics.md": metrics.page,
    "problems.md": problems.page,
}
