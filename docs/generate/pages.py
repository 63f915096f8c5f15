"""The pages that are written from code and figures: the reference, and those of the benchmarks.

The repository does not hold them; `make docs` builds them for the site.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from docs.generate import cli, http, metrics, problems, settings
from loadtests.bench import report

DOCS = Path(__file__).parents[1]
REFERENCE = DOCS / "reference"
BENCHMARKS = DOCS / "benchmarks"


@cache
def built() -> Mapping[Path, str]:
    """The text of each."""
    reference = {
        "cli.md": cli.page(),
        "metrics.md": metrics.page(),
        "problems.md": problems.page(),
        "settings.md": settings.page(),
        **http.pages(),
    }
    return {
        **{REFERENCE / name: text for name, text in reference.items()},
        **{path.with_suffix(".md"): report.page(path) for path in _figures()},
    }


def committed() -> list[Path]:
    """Every page that the repository holds, whether or not the site is built."""
    figures = {path.with_suffix(".md") for path in _figures()}
    return sorted({*DOCS.rglob("*.md")} - {*REFERENCE.rglob("*.md")} - figures)


def _figures() -> list[Path]:
    return sorted(BENCHMARKS.glob("*.json"))
