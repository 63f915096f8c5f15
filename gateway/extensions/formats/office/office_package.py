"""The ZIP packages of office formats, checked before a library reads them."""

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from typing import IO
from xml.parsers import expat

from gateway.extensions._files.extracted import Unreadable

# Starting values, not measured; no document that a person wrote exceeds them.
UNPACKED_BYTES_MAX = 200 * 2**20
XML_BYTES_MIN = 2 * 2**20  # the limit of any package's XML is at least this
XML_RATIO_MAX = 64  # of unpacked XML to the file; about 10 in ordinary documents
XML_DEPTH_MAX = 200
FIELDS_MAX = 100  # of Word's fields, nested in each other
ENTRIES_MAX = 10_000
XML_SUFFIXES = (".xml", ".rels")


def check(
    content: bytes, xml_suffixes: tuple[str, ...] = XML_SUFFIXES
) -> Mapping[str, Counter[str]]:
    """By part of XML, how often it has each element, by the name without its namespace.

    Raises `Unreadable` for a package that would take long to read. The sizes in a ZIP's directory
    can be trusted: `zipfile` stops reading an entry there.
    """
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = archive.infolist()
        xml = [entry for entry in entries if entry.filename.lower().endswith(xml_suffixes)]
        _check_sizes(entries, xml, len(content))
        elements = {}
        for entry in xml:
            with archive.open(entry) as part:
                elements[entry.filename] = _count_elements(part)
        return elements


def _check_sizes(
    entries: Sequence[zipfile.ZipInfo], xml_entries: Sequence[zipfile.ZipInfo], size_bytes: int
) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > ENTRIES_MAX or unpacked > UNPACKED_BYTES_MAX:
        raise Unreadable(
            f"unpacks to {len(entries):,} files of {unpacked:,} bytes; the limits are "
            f"{ENTRIES_MAX:,} and {UNPACKED_BYTES_MAX:,}"
        )
    xml = sum(entry.file_size for entry in xml_entries)
    xml_max = max(XML_BYTES_MIN, XML_RATIO_MAX * size_bytes)
    if xml > xml_max:
        raise Unreadable(f"unpacks to {xml:,} bytes of XML; the limit for its size is {xml_max:,}")


def _count_elements(part: IO[bytes]) -> Counter[str]:
    """Refuses deep nesting: the time to read grows with the square of the depth."""
    depth = fields = 0
    counts: Counter[str] = Counter()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, fields
        depth += 1
        counts[name] += 1
        if name.endswith("}fldChar"):
            kind = next((value for key, value in attributes.items() if "fldCharType" in key), "")
            fields += {"begin": 1, "end": -1}.get(kind, 0)
        if depth > XML_DEPTH_MAX or fields > FIELDS_MAX:
            raise Unreadable("is nested too deeply")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_doctype: object) -> None:
        raise Unreadable("declares a document type in its XML")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    with suppress(expat.ExpatError):  # the library reports invalid XML better
        parser.ParseFile(part)
    local: Counter[str] = Counter()
    for name, count in counts.items():
        local[name.rpartition("}")[2]] += count
    return local
