"""XLSX, XLS, XLSB and ODS, by `python-calamine`: a table for each sheet."""

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from html import escape
from io import BytesIO

from gateway.extensions._files import content_kind
from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._html import html_reader
from gateway.extensions.formats.office import office_package

HTML_CHARACTERS_MAX = 32_000_000  # a starting value: cells of a text of the greatest length
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_ZIP = b"PK"


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    if content_kind.HTML.match(content):  # many programs export it as XLS
        return html_reader.read(content, options)
    losses = list(_losses(content)) if content.startswith(_ZIP) else []
    workbook = CalamineWorkbook.from_filelike(BytesIO(content))
    sheets = [sheet for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    hidden = [sheet.name for sheet in sheets if sheet.visible != SheetVisibleEnum.Visible]
    parts: list[str] = []
    characters = 0
    for sheet in sheets:
        if sheet.name in hidden:
            continue
        parts.append(f"<h2>{escape(sheet.name)}</h2><table>")
        tag = "th"
        for row in workbook.get_sheet_by_name(sheet.name).iter_rows():
            line = _row(row, tag)
            characters += len(line)
            if characters > HTML_CHARACTERS_MAX:
                raise Unreadable(f"has more than {HTML_CHARACTERS_MAX:,} characters of cells")
            parts.append(line)
            tag = "td" if line else tag
        parts.append("</table>")
    if not characters:
        raise Unreadable("has no text")
    if hidden:
        losses.append(f"these hidden sheets are not read: {', '.join(hidden)}")
    return Extracted(
        html_reader.convert_text("".join(parts), options).text, title="", losses=losses
    )


def _row(row: Sequence[object], tag: str) -> str:
    """Empty for a row without text; the empty cells at its end are left out."""
    cells = [_shown(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    if not cells:
        return ""
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).upper()
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ")
        case _:
            return str(value).strip()


def _losses(content: bytes) -> Iterator[str]:
    elements = office_package.check(content)
    formulas = [name for name in elements if _SHEET.fullmatch(name) and elements[name]["f"]]
    with zipfile.ZipFile(BytesIO(content)) as archive:
        empty = sum(_formulas_without_value(archive.read(name)) for name in formulas)
    if empty:
        yield f"its formulas without a stored result ({empty:,}) are read as empty cells"
    comments = sum(part["comment"] + part["threadedComment"] for part in elements.values())
    if comments:
        yield f"its comments ({comments:,}) are not read"


def _formulas_without_value(sheet: bytes) -> int:
    from lxml import etree

    number = 0
    for _, cell in etree.iterparse(BytesIO(sheet), tag="{*}c", recover=True):
        names = {etree.QName(child).localname for child in cell}
        number += "f" in names and "v" not in names
        cell.clear()
    return number
