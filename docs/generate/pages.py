"""The reference pages, each with the function that writes it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generate import cli, http, metrics, problems, settings

DOCS = Path(__file__).parents[1]
REFERENCE = DOCS / "reference"

WRITERS: Mapping[str, Callable[[], str]] = {
    "settings.md": settings.page,
    "cli.md": cli.page,
    "metrics.md": metrics.page,
    "problems.md": problems.page,
}


def committed() -> list[Path]:
    """Every page that the repository holds: all but those of the HTTP API."""
    built = (REFERENCE / "http.md", *(REFERENCE / http.FOLDER).glob("*.md"))
    return sorted(set(DOCS.rglob("*.md")).difference(built))
