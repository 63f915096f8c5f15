"""Links to where a source's documents open in a browser."""

from pathlib import Path

import pytest

from gateway.extensions._records import table
from gateway.extensions._sources import base_url
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Defaults
from index.model.document import Document

BASE = "https://wiki.example/docs/"


@pytest.mark.parametrize(
    ("base", "path", "uri", "link"),
    [
        (BASE, "leave.md", "leave.md", "https://wiki.example/docs/leave.md"),
        (BASE[:-1], "leave.md", "leave.md", "https://wiki.example/docs/leave.md"),
        (BASE, "a b/ç?#%.md", "a b/ç?#%.md", "https://wiki.example/docs/a%20b/%C3%A7%3F%23%25.md"),
        (BASE, "http: notes.md", "http: notes.md", "https://wiki.example/docs/http%3A%20notes.md"),
        (BASE, "T-12", "", "https://wiki.example/docs/T-12"),
        (BASE, "leave.md", "hr/leave?lang=en#days", "https://wiki.example/docs/hr/leave?lang=en#days"),
        (BASE, "leave.md", "/hr/leave", "https://wiki.example/docs/hr/leave"),
        (BASE, "leave.md", "https://hr.example/leave", "https://hr.example/leave"),
        (BASE, "leave.md", "urn:isbn:0451450523", "urn:isbn:0451450523"),
        (BASE, "leave.md", "mailto:hr@acme.example", "mailto:hr@acme.example"),
        (f"{BASE}?page=", "a&b", "a&b", f"{BASE}?page=a%26b"),
        (f"{BASE}faq#", "3", "", f"{BASE}faq#3"),
        (BASE, "ç" * 500, "ç" * 500, "ç" * 500),
    ],
)  # fmt: skip
def test_a_link_is_the_base_and_the_path(base: str, path: str, uri: str, link: str) -> None:
    assert base_url.link(base_url.checked(base), path, uri) == link


@pytest.mark.parametrize(
    "url",
    ["wiki", "/docs", "//wiki.example/", "javascript:alert(1)//", "file:///docs/", "https://",
     "https://[wiki/", "https://wiki.example/a b/", ""],
)  # fmt: skip
def test_a_base_that_opens_nowhere_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must be an http or https URL"):
        base_url.checked(url)


def test_the_files_of_a_folder_open_below_its_base(tmp_path: Path) -> None:
    (tmp_path / "hr").mkdir()
    (tmp_path / "hr" / "annual leave.md").write_text("# Leave\n\n25 days.\n")
    (tmp_path / "own.md").write_text("---\nuri: https://hr.example/own\n---\nOwn.\n")

    items = FolderSource(tmp_path, Defaults(base_url=BASE), name="wiki").documents()

    links = {item.document_id: item.uri for item in items if isinstance(item, Document)}
    assert links == {
        "wiki/hr/annual leave.md": f"{BASE}hr/annual%20leave.md",
        "wiki/own.md": "https://hr.example/own",
    }


def test_a_row_opens_by_its_identifier() -> None:
    rows = [
        {"id": "T-1", "text": "one"},
        {"id": "T-2", "text": "two", "uri": "https://b.example/2"},
    ]
    columns = table.map_columns(["id", "text", "uri"], {})

    items = table.items(rows, columns, "tickets", "tickets.csv", Defaults(base_url=BASE))

    links = [item.uri for item in items if isinstance(item, Document)]
    assert links == [f"{BASE}T-1", "https://b.example/2"]
