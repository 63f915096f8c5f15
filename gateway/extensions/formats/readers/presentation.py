"""PPTX: the shapes of each slide in their order, and the speaker's notes."""

import posixpath
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._html import html_reader
from gateway.extensions.formats.number_ranges import ranges
from gateway.extensions.formats.office import office_package

if TYPE_CHECKING:
    from lxml import etree

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLES = ("title", "ctrTitle")
_LEFT_OUT = {"comments": ("cm", "comment"), "charts": ("chart",), "diagrams": ("relIds",)}


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    elements = office_package.check(content)
    parts, hidden, images = [], [], []
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for number, name in enumerate(_slides(archive), start=1):
            slide = _parse(archive, name)
            if slide.get("show") in ("0", "false"):
                hidden.append(number)
                continue
            shown = "".join(_shapes(slide))
            if not shown and slide.find(f".//{_P}pic") is not None:
                images.append(number)
            parts += [shown, *_notes(archive, name)]
    if not any(parts):
        raise Unreadable("has no text; perhaps its slides are images")
    losses = [*_losses(elements, hidden, images)]
    return Extracted(html_reader.convert_text("".join(parts), options).text, losses=losses)


def _losses(
    elements: Mapping[str, Counter[str]], hidden: list[int], images: list[int]
) -> Iterator[str]:
    if hidden:
        yield f"these hidden slides are not read: {ranges(hidden)}"
    if images:
        yield f"on these slides an image seems to hold the text, and is not read: {ranges(images)}"
    counts: Counter[str] = Counter()
    for name, part in elements.items():
        if name.startswith(("ppt/slides/", "ppt/comments")):
            counts.update(part)
    numbers = {noun: sum(counts[name] for name in names) for noun, names in _LEFT_OUT.items()}
    left_out = [f"{noun} ({number})" for noun, number in numbers.items() if number]
    if left_out:
        yield f"these parts are not read: {', '.join(left_out)}"


def _slides(archive: zipfile.ZipFile) -> Iterator[str]:
    """The parts of the slides, in their order."""
    presentation = "ppt/presentation.xml"
    targets = {target.get("Id"): name for name, target in _related(archive, presentation)}
    for slide in _parse(archive, presentation).iter(f"{_P}sldId"):
        yield targets[slide.get(f"{_R}id")]


def _notes(archive: zipfile.ZipFile, slide: str) -> Iterator[str]:
    for name, target in _related(archive, slide):
        if target.get("Type", "").endswith("/notesSlide"):
            bodies = (
                shape
                for shape in _parse(archive, name).iter(f"{_P}sp")
                if _placeholder(shape) == "body"
            )
            notes = "".join(_paragraphs(shape) for shape in bodies)
            if notes:
                yield f"<blockquote><p>Notes:</p>{notes}</blockquote>"


def _related(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, "etree._Element"]]:
    """The parts that a part names, with their relations."""
    folder, name = posixpath.split(part)
    relations = f"{folder}/_rels/{name}.rels"
    if relations in archive.namelist():
        for relation in _parse(archive, relations):
            target = posixpath.join("/" + folder, relation.get("Target", ""))
            yield posixpath.normpath(target).lstrip("/"), relation


def _shapes(slide: "etree._Element") -> Iterator[str]:
    """The title first, wherever it stands."""
    shapes = [shape for shape in slide.iter(f"{_P}sp", f"{_A}tbl") if not _is_fallback(shape)]
    shapes.sort(key=lambda shape: _placeholder(shape) not in _TITLES)
    for shape in shapes:
        if shape.tag == f"{_A}tbl":
            rows = ("".join(_cells(row)) for row in shape.iter(f"{_A}tr"))
            yield f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
        elif _placeholder(shape) in _TITLES:
            title = " ".join(filter(None, map(_text, shape.iter(f"{_A}p"))))
            yield f"<h2>{escape(title)}</h2>" if title else ""
        else:
            yield _paragraphs(shape)


def _is_fallback(shape: "etree._Element") -> bool:
    """Whether the shape repeats another one in an older form."""
    return next(shape.iterancestors(f"{_MC}Fallback"), None) is not None


def _placeholder(shape: "etree._Element") -> str:
    """The kind of the placeholder that the shape fills; empty for none."""
    placeholder = shape.find(f".//{_P}nvPr/{_P}ph")
    return "" if placeholder is None else placeholder.get("type", "body")


def _cells(row: "etree._Element") -> Iterator[str]:
    for cell in row.iter(f"{_A}tc"):
        span = escape(cell.get("gridSpan", "1"))
        if cell.get("hMerge") is None:
            yield f'<td colspan="{span}">{_paragraphs(cell)}</td>'


def _paragraphs(shape: "etree._Element") -> str:
    texts: Iterable[str] = filter(None, map(_text, shape.iter(f"{_A}p")))
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _text(paragraph: "etree._Element") -> str:
    parts = (
        part.text or "" if part.tag == f"{_A}t" else " "
        for part in paragraph.iter(f"{_A}t", f"{_A}br", f"{_A}tab")
    )
    return "".join(parts).strip()


def _parse(archive: zipfile.ZipFile, part: str) -> "etree._Element":
    from lxml import etree

    return etree.fromstring(archive.read(part), etree.XMLParser(resolve_entities=False))
