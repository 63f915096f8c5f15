import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from gateway.extensions._files import installed_formats
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.skipped import BROKEN, HIDDEN
from gateway.extensions._sources.source import (
    BlankItem,
    Defaults,
    Item,
    ItemWarning,
    RefusedItem,
    SkippedFiles,
)
from gateway.extensions.formats.office.office_package import UNPACKED_BYTES_MAX
from index.model.document import Document
from index.model.document_limits import TEXT_CHARACTERS_MAX
from tests.gateway.extensions._sources.files import docx, pdf, write, zipped

FORMATS = installed_formats.formats("")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "handbook"
    root.mkdir()
    return root


def read(root: Path) -> list[Item]:
    defaults = Defaults("ana", ("tenant",), ("all",), formats=FORMATS)
    return list(FolderSource(root, defaults).documents())


def refusal(root: Path) -> RefusedItem:
    (refused,) = read(root)
    assert isinstance(refused, RefusedItem)
    return refused


def uris(root: Path) -> list[str]:
    return told(read(root))


def told(items: Iterable[Item]) -> list[str]:
    return [
        item.uri if isinstance(item, Document) else f"!{item.path}"
        for item in items
        if isinstance(item, Document | RefusedItem)
    ]


def test_a_name_with_its_accents_apart_is_that_with_them_composed(folder: Path) -> None:
    write(folder / "cafe\u0301.md")

    (document,) = read(folder)

    assert isinstance(document, Document)
    assert document.document_id == "handbook/caf\u00e9.md"


def test_a_name_that_is_no_unicode_is_refused_in_plain_words(folder: Path) -> None:
    write(folder / os.fsdecode(b"bad\xff.md"))

    assert refusal(folder) == RefusedItem("bad\\udcff.md", "its name is not UTF-8")


def test_two_files_that_would_be_one_document_are_not(folder: Path) -> None:
    write(folder / "cafe\u0301.md", "Apart.")
    write(folder / "caf\u00e9.md", "Composed.")

    assert told(read(folder)) == ["!cafe\u0301.md", "caf\u00e9.md"]


def test_a_file_becomes_a_document_of_the_folder(folder: Path) -> None:
    write(folder / "hr" / "time-off.md", "\ufeffAsk first.\r\n")

    assert read(folder) == [
        Document(
            document_id="handbook/hr/time-off.md",
            title="time off",
            text="Ask first.\n",
            source="handbook",
            uri="hr/time-off.md",
            language="en",
            tags=("all",),
            metadata={},
            owner="ana",
            readers=("tenant",),
            is_active=None,
        )
    ]


def test_front_matter_says_whether_a_document_is_active(folder: Path) -> None:
    write(folder / "a.md", "---\nactive: false\n---\nOld rules.\n")
    write(folder / "b.md", "---\nactive: maybe\n---\nNo rules.\n")

    document, refused = read(folder)

    assert isinstance(document, Document)
    assert isinstance(refused, RefusedItem)
    assert (document.is_active, dict(document.metadata)) == (False, {})
    assert "active: must be true or false" in refused.reason


def test_a_source_can_have_a_name_of_its_own(folder: Path) -> None:
    write(folder / "a.md")

    source = FolderSource(folder, Defaults(), name="people")

    (document,) = source.documents()
    assert isinstance(document, Document)
    assert (source.name, document.source, document.document_id) == (
        "people",
        "people",
        "people/a.md",
    )
    assert FolderSource(folder, Defaults()).name == "handbook"


def test_front_matter_wins_over_what_holds_for_the_folder(folder: Path) -> None:
    write(
        folder / "leave.md",
        "---\ntitle: Férias\nlanguage: pt\ntags: [rh]\nowner: rui\nreaders: ['group:rh']\n"
        "uri: https://example.org/ferias\nlayout: wide\nchunker: whole\n"
        "summaries: extract\n---\n# Leave\n",
    )

    (document,) = read(folder)

    assert isinstance(document, Document)
    assert (document.title, document.language, document.tags) == ("Férias", "pt", ("rh",))
    assert (document.owner, document.readers) == ("rui", ("group:rh",))
    assert (document.uri, document.metadata) == ("https://example.org/ferias", {"layout": "wide"})
    assert (document.chunker, document.summaries) == ("whole", "extract")
    assert (document.document_id, document.text) == ("handbook/leave.md", "# Leave\n")


def test_front_matter_cannot_name_another_document(folder: Path) -> None:
    write(folder / "a.md", "---\ndocument_id: other/b.md\nsource: other\n---\nText.")

    (document,) = read(folder)

    assert isinstance(document, Document)
    assert (document.document_id, document.source) == ("handbook/a.md", "handbook")


def test_the_first_heading_is_the_title_if_front_matter_has_none(folder: Path) -> None:
    write(folder / "a.txt", "---\ntags: []\n---\n\n# Time *off*\n")

    (document,) = read(folder)

    assert isinstance(document, Document)
    assert document.title == "Time off"


@pytest.mark.slow
def test_files_are_met_in_the_order_of_their_paths(folder: Path) -> None:
    for name in ("b/z.md", "b.md", "a.TXT", "b/a.markdown", "c.html", "d.md.bak", "e.csv"):
        write(folder / name)

    assert uris(folder) == ["a.TXT", "b/a.markdown", "b/z.md", "b.md", "c.html"]


def test_hidden_files_and_folders_are_left_out(folder: Path) -> None:
    for name in (".git/a.md", ".a.md", "b/.c/d.md"):
        write(folder / name)

    assert read(folder) == [SkippedFiles(HIDDEN, 3, (".a.md", ".git", "b/.c"))]


def test_one_file_is_a_source_too(folder: Path) -> None:
    write(folder / "a.md")
    write(folder / "b.md")

    (document,) = read(folder / "a.md")

    assert isinstance(document, Document)
    assert document.document_id == "handbook/a.md"


def test_links_are_read_inside_the_folder_and_refused_when_they_leave_it(folder: Path) -> None:
    write(folder / "hr" / "a.md")
    write(folder.parent / "secret" / "b.md")
    (folder / "again.md").symlink_to(folder / "hr" / "a.md")
    (folder / "hr" / "round").symlink_to(folder)
    (folder / "out").symlink_to(folder.parent / "secret")
    (folder / "out.md").symlink_to(folder.parent / "secret" / "b.md")

    assert uris(folder) == ["again.md", "hr/a.md", "!out", "!out.md"]


def test_what_is_no_file_is_refused_without_waiting_for_it(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    (folder / "gone.md").symlink_to(folder / "nothing")
    (folder / "loop.md").symlink_to(folder / "loop.md")

    assert uris(folder) == ["!gone.md", "!loop.md", "!pipe.md"]


def test_a_folder_that_is_not_there_is_refused(folder: Path) -> None:
    assert refusal(folder / "nowhere") == RefusedItem("nowhere", "No such file or directory")


def test_a_file_that_goes_before_it_is_read_is_left_out(folder: Path) -> None:
    for name in "abc":
        write(folder / f"{name}.md")
    reading = FolderSource(folder, Defaults()).documents()

    first = next(reading)
    (folder / "b.md").unlink()

    assert told([first, *reading]) == ["a.md", "c.md"]


def test_files_that_go_with_their_folder_are_refused(folder: Path) -> None:
    for name in "abc":
        write(folder / f"{name}.md")
    reading = FolderSource(folder, Defaults()).documents()

    next(reading)
    shutil.rmtree(folder)

    assert told(reading) == ["!b.md", "!c.md"]


def test_a_name_that_is_not_unicode_is_refused_and_can_be_printed(folder: Path) -> None:
    write(Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")))

    assert refusal(folder).path == "caf\\udce9.md"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", "is no text"),
        pytest.param(b"x" * (TEXT_CHARACTERS_MAX + 1), "over 2,000,000 bytes", id="long"),
        ("---\nreaders:\n---\n", "readers: "),
        ("---\nreaders: [tenant, everyone]\n---\n", "readers.1: must be user:ID, group:ID"),
        ("---\nowner: ana maria\n---\n", "owner: "),
        ("---\nreaders: [tenant]\n", "front matter: must be closed by a line of ---"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(
    folder: Path, content: str | bytes, reason: str
) -> None:
    write(folder / "a.md", content)

    refused = refusal(folder)

    assert refused.path == "a.md"
    assert refused.reason.startswith(reason)


def test_odd_values_of_front_matter_are_kept_with_warnings(folder: Path) -> None:
    write(
        folder / "a.md",
        "---\ntitle: Foo: bar\ntags: a, b\nlanguage: Klingon\nseo: {deep: [[1]]}\n---\nText.\n",
    )

    *warnings, document = read(folder)

    assert isinstance(document, Document)
    assert (document.title, document.tags) == ("Foo: bar", ("a", "b"))
    assert (document.language, document.metadata) == ("en", {"seo.deep": [1]})
    assert [item.detail.split(":")[0] for item in warnings if isinstance(item, ItemWarning)] == [
        "front matter",
        "language",
        "seo",
    ]


def test_one_refused_file_does_not_stop_the_others(folder: Path) -> None:
    write(folder / "a.md")
    write(folder / "b.md", b"\0\1\2\3\xff")
    write(folder / "c.md")

    assert uris(folder) == ["a.md", "!b.md", "c.md"]


@pytest.mark.thorough
@pytest.mark.slow
def test_html_pdf_and_docx_are_read_too(folder: Path) -> None:
    write(folder / "a.html", "<title>Travel</title><p>Trains first.")
    write(folder / "b.pdf", pdf(["Everybody gets 25 days."]))
    write(folder / "c.docx", docx(["Pay", "On the 25th."]))

    documents = [item for item in whole(folder) if isinstance(item, Document)]

    assert [(each.title, each.text) for each in documents] == [
        ("Travel", "Trains first.\n"),
        ("b", "Everybody gets 25 days.\n"),
        ("Pay", "# Pay\n\nOn the 25th.\n"),
    ]


@pytest.mark.slow
def test_every_kind_of_bad_file_is_one_line_and_the_rest_is_read(folder: Path) -> None:
    write(folder / "good.md")
    write(folder / "no.pdf", "Not a PDF.")
    write(folder / "bomb.docx", zipped({"word/document.xml": b" " * (UNPACKED_BYTES_MAX + 1)}))
    write(folder / "front.md", "---\nreaders: [\n---\n")
    write(folder.parent / "secret.md")
    (folder / "outside.md").symlink_to(folder.parent / "secret.md")
    (folder / "broken.md").symlink_to(folder / "nowhere.md")
    for name in ("large.md", "large.pdf"):
        with write(folder / name, "").open("r+b") as large:
            large.truncate(200_000_000)

    items = whole(folder)

    assert [item.uri for item in items if isinstance(item, Document)] == ["good.md"]
    reasons = {item.path: item.reason for item in items if isinstance(item, RefusedItem)}
    assert sorted(reasons) == [
        "bomb.docx",
        "broken.md",
        "front.md",
        "large.md",
        "large.pdf",
        "no.pdf",
        "outside.md",
    ]
    assert reasons["bomb.docx"].startswith("unpacks to 3 files of 209,7")
    assert reasons["broken.md"] == "is a link that leads nowhere"
    assert reasons["front.md"].startswith("front matter: readers ")
    assert reasons["large.md"] == "over 2,000,000 bytes"
    assert reasons["large.pdf"] == "over 33,554,432 bytes"
    assert reasons["no.pdf"].startswith("is not a PDF that can be read: ")
    assert reasons["outside.md"] == "is a link to outside the folder"


def test_counting_reads_no_file_and_leaves_out_what_is_hidden(folder: Path) -> None:
    for name in ("a.md", "b/c.pdf", ".git/d.md", "b/.e.md", "f.bin"):
        write(folder / name)

    assert FolderSource(folder, Defaults(formats=FORMATS)).count() == 2


def whole(root: Path) -> list[Item]:
    return list(FolderSource(root, Defaults(formats=FORMATS)).documents())


def test_a_broken_link_to_what_may_have_been_a_folder_is_named(folder: Path) -> None:
    write(folder / "a.md")
    (folder / "b").symlink_to(folder / "moved")

    assert whole(folder)[1:] == [SkippedFiles(BROKEN, 1, ("b",))]


@pytest.mark.parametrize("suffix", [".html", ".ipynb", ".pdf", ".docx", ".eml", ".rtf", ".py"])
def test_a_file_without_content_is_blank_in_each_format(folder: Path, suffix: str) -> None:
    write(folder / f"a{suffix}", " \n")

    assert read(folder) == [BlankItem(f"handbook/a{suffix}", f"a{suffix}")]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff\u200b\u2060", "---\ntitle: Leave\n---\n"])
def test_a_file_without_text_is_no_document(folder: Path, text: str) -> None:
    write(folder / "a.md", text)

    assert read(folder) == [BlankItem("handbook/a.md", "a.md")]
