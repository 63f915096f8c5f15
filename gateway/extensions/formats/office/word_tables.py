"""Rewrites the tables of a DOCX as `mammoth` reads them.

`mammoth` finds cells that are merged over rows by the columns of the cells before them. It ignores
columns that a row leaves out, cells merged by `hMerge`, and the header that a table's look names,
and merges nothing in a table with bookmarks between its rows or cells.
"""

import zipfile
from io import BytesIO

from lxml import etree

_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT_NAMESPACE = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_W = f"{{{_NAMESPACE}}}"
_FIRST_ROW = 0x0020  # in the value of `tblLook`
COLUMNS_MAX = 63  # of a table in Word


def rewrite(content: bytes) -> bytes:
    """The file with its tables rewritten; the file itself if it has none."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if _is_body(name)}
        changed = {name: _rewrite_part(part) for name, part in parts.items() if b":tbl>" in part}
        if not changed:
            return content
        rewritten = BytesIO()
        with zipfile.ZipFile(rewritten, "w") as copy:
            for entry in archive.infolist():
                part = changed.get(entry.filename)
                copy.writestr(entry, archive.read(entry) if part is None else part)
    return rewritten.getvalue()


def _is_body(name: str) -> bool:
    return name.startswith("word/") and name.endswith(".xml")


def _rewrite_part(part: bytes) -> bytes:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    root = etree.fromstring(part.replace(_STRICT_NAMESPACE.encode(), _NAMESPACE.encode()), parser)
    for table in root.iter(f"{_W}tbl"):
        _mark_header(table)
        _remove_bookmarks(table)
    for row in root.iter(f"{_W}tr"):
        _remove_bookmarks(row)
        _merge_cells(row)
        _fill_grid(row)
    content: bytes = etree.tostring(root)
    return content


def _mark_header(table: etree._Element) -> None:
    """Mark the first row as the header, if no row is and the look of the table has one."""
    rows = table.findall(f"{_W}tr")
    look = table.find(f"{_W}tblPr/{_W}tblLook")
    if look is None or len(rows) < 2 or table.find(f"{_W}tr/{_W}trPr/{_W}tblHeader") is not None:
        return
    if _has_first_row(look):
        etree.SubElement(_properties(rows[0], "trPr"), f"{_W}tblHeader")


def _has_first_row(look: etree._Element) -> bool:
    if (flag := look.get(f"{_W}firstRow")) is not None:
        return flag in ("1", "true", "on")
    try:
        return bool(int(look.get(f"{_W}val", "0"), 16) & _FIRST_ROW)
    except ValueError:
        return False


def _properties(element: etree._Element, name: str) -> etree._Element:
    properties = element.find(f"{_W}{name}")
    if properties is None:
        properties = etree.Element(f"{_W}{name}")
        element.insert(0, properties)
    return properties


def _remove_bookmarks(element: etree._Element) -> None:
    for bookmark in element.findall(f"{_W}bookmarkStart"):
        element.remove(bookmark)


def _merge_cells(row: etree._Element) -> None:
    """Widen each cell by the cells that `hMerge` joins to it."""
    first: etree._Element | None = None
    for cell in row.findall(f"{_W}tc"):
        merge = cell.find(f"{_W}tcPr/{_W}hMerge")
        if merge is None:
            first = None
        elif merge.get(f"{_W}val") == "restart" or first is None:
            first = cell
        else:
            _set_width(first, _width(first) + _width(cell))
            row.remove(cell)


def _fill_grid(row: etree._Element) -> None:
    """Put empty cells where the row leaves out columns before its first cell."""
    properties = row.find(f"{_W}trPr")
    before = None if properties is None else properties.find(f"{_W}gridBefore")
    if properties is None or before is None or not (columns := _number(before)):
        return
    cell = etree.Element(f"{_W}tc")
    _set_width(cell, columns)
    etree.SubElement(cell, f"{_W}p")
    properties.addnext(cell)


def _width(cell: etree._Element) -> int:
    span = cell.find(f"{_W}tcPr/{_W}gridSpan")
    return 1 if span is None else max(_number(span), 1)


def _set_width(cell: etree._Element, columns: int) -> None:
    properties = _properties(cell, "tcPr")
    span = properties.find(f"{_W}gridSpan")
    if span is None:
        span = etree.SubElement(properties, f"{_W}gridSpan")
    span.set(f"{_W}val", str(columns))


def _number(element: etree._Element) -> int:
    value = element.get(f"{_W}val", "")
    return min(int(value), COLUMNS_MAX) if value.isdecimal() else 0
