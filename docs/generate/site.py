"""`python -m docs.generate.site` finishes the built site: `llms.txt`, and what no builder checks.

A page that loads a file from another host, or links to a file or a heading that is not there, fails
the build.
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

Nav: TypeAlias = Sequence[Mapping[str, Any] | str]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the navigation: its section, its file below docs, its heading."""

    section: str
    path: str
    title: str


def config() -> Mapping[str, Any]:
    project: Mapping[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    return project["project"]  # type: ignore[no-any-return]  # TOML has no types


def pages() -> list[Page]:
    """Every page of the navigation, in its order."""
    return [Page(section, path, _title(path)) for section, path in _entries(config()["nav"], "")]


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
    for page in pages():
        shutil.copy(DOCS / page.path, SITE / page.path)  # what llms.txt leads to
    (SITE / "llms.txt").write_text(llms_txt(), encoding="utf-8")
    read = {page: _links(page) for page in sorted(SITE.rglob("*.html"))}
    mistakes = [mistake for page in read for mistake in _mistakes(page, read)]
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    sys.exit(bool(mistakes))


class _Links(HTMLParser):
    """The files that a page loads, those that it links to, and the places that others can name."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])
        if tag == "a" and "href" in values:
            self.linked.append(values["href"])
        self.places.add(values.get("id", ""))


def _links(page: Path) -> _Links:
    links = _Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def _mistakes(page: Path, read: Mapping[Path, _Links]) -> Iterator[str]:
    links, name = read[page], page.relative_to(SITE)
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
        elif target in read and parts.fragment and parts.fragment not in read[target].places:
            yield f"{name} links to {url}, which has no such heading"


def _entries(nav: Nav, section: str) -> Iterator[tuple[str, str]]:
    for entry in nav:
        if isinstance(entry, str):
            yield section, entry
            continue
        for title, below in entry.items():
            if isinstance(below, str):
                yield section, below
            else:
                yield from _entries(below, title)


def _title(path: str) -> str:
    lines = (DOCS / path).read_text(encoding="utf-8").splitlines()
    return next(line.removeprefix("# ") for line in lines if line.startswith("# "))


if __name__ == "__main__":
    main()
