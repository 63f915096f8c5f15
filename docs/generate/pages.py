"""The pages that are written from code and figures, each with the function that writes it.

The repository holds the reference, except for what a program shows by itself: the HTTP API
(`/openapi.json`) and the commands (`--help`). `make docs` builds these, and the pages of the
benchmarks, for the site alone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generate import cli, http, metrics, problems, settings
from loadtests.bench import report

DOCS = Path(__file__).parents[1]
REFERENCE = DOCS / "reference"
BENCHMARKS = DOCS / "benchmarks"

WRITERS: Mapping[str, Callable[[], str]] = {
    "settings.md": settings.page,
    "metrics.md": metrics.page,
    "problems.md": problems.page,
}


def of_the_site_alone() -> Mapping[Path, str]:
    """The text of each page that the repository does not hold."""
    api = {REFERENCE / name: text for name, text in http.pages().items()}
    figures = {path.with_suffix(".md"): report.page(path) for path in _figures()}
    return {REFERENCE / "cli.md": cli.page(), **api, **figures}


def committed() -> list[Path]:
    """Every page that the repository holds, whether or not the site is built."""
    built = {*(REFERENCE / http.FOLDER).glob("*.md"), REFERENCE / "http.md", REFERENCE / "cli.md"}
    built |= {path.with_suffix(".md") for path in _figures()}
    return sorted(set(DOCS.rglob("*.md")) - built)


def _figures() -> list[Path]:
    return sorted(BENCHMARKS.glob("*.json"))
