"""`python -m docs.generate.site` finishes the built site: `llms.txt`, and what no builder checks.

A page that loads a file from another host, or links to a file that is not there, fails the build.
"""

import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from docs.generate.pages import DOCS

ROOT = DOCS.parent
SITE = ROOT / "site"
_LOADED = {"iframe": "src", "img": "src", "link": "href", "script": "src", "source": "src"}

Nav: TypeAlias = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the navigation: its section, its file below docs, its name there."""

    section: str
    path: str
    title: str


def config() -> Mapping[str, Any]:
    project: Mapping[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    return project["project"]  # type: ignore[no-any-return]  # TOML has no types


def pages() -> list[Page]:
    """Every page of the navigation, in its order."""
    return list(_entries(config()["nav"], ""))


def llms_txt() -> str:
    """The site for language models: https://llmstxt.org."""
    project = config()
    descriptions = project["extra"]["descriptions"]
    lines = [f"# {project['site_name']}", "", f"> {project['extra']['summary']}"]
    section = None
    for page in pages():
        if page.section != section:
            section = page.section
            lines += ["", f"## {section or 'Start here'}", ""]
        link = f"- [{page.title}]({page.path})"
        lines.append(f"{link}: {descriptions[page.path]}" if page.path in descriptions else link)
    return "\n".join(lines) + "\n"


def main() -> None:
    for page in DOCS.rglob("*.md"):
        shutil.copy(page, SITE / page.relative_to(DOCS))  # what llms.txt leads to
    (SITE / "llms.txt").write_text(llms_txt(), encoding="utf-8")
    mistakes = [mistake for page in sorted(SITE.rglob("*.html")) for mistake in _mistakes(page)]
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    sys.exit(bool(mistakes))


class _Links(HTMLParser):
    """The files that a page loads, and those that it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])
        if tag == "a" and "href" in values:
            self.linked.append(values["href"])


def _mistakes(page: Path) -> Iterator[str]:
    links = _Links()
    links.feed(page.read_text(encoding="utf-8"))
    name = page.relative_to(SITE)
    for url in links.loaded:
        if urlsplit(url).netloc:
            yield f"{name} loads {url}"
    for url in (*links.loaded, *links.linked):
        parts = urlsplit(url)
        if parts.scheme or parts.netloc or not parts.path:
            continue
        base = SITE if parts.path.startswith("/") else page.parent
        target = (base / unquote(parts.path).lstrip("/")).resolve()
        if not (target.exists() and target.is_relative_to(SITE)):
            yield f"{name} links to {url}, which is not there"


def _entries(nav: Nav, section: str) -> Iterator[Page]:
    for entry in nav:
        for title, below in entry.items():
            if isinstance(below, str):
                yield Page(section, below, title)
            else:
                yield from _entries(below, title)


if __name__ == "__main__":
    main()
