"""The hidden text of a DOCX, which Word shows to nobody: by a run's own format or its styles."""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

from lxml import etree

from gateway.extensions._html.html_markdown import mark_hidden

_CUE = re.compile(rb"""anish\b|:sz\s[^>]{0,99}val=["'][0-2]["']""")
_HALF_POINTS_UNSEEN = 2
_STRUCTURE = frozenset({"rPr", "fldChar", "instrText"})  # without these, fields would not end
_STYLES = "word/styles.xml"
_BASES_MAX = 20


@dataclass(frozen=True, slots=True)
class _Style:
    """hides: None if it does not say so."""

    base: str | None
    hides: bool | None


def rewrite(content: bytes, *, marks_hidden: bool) -> tuple[bytes, int]:
    """The file without its hidden text, or with marks around it, and the length of that text."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"word/\w+\.xml", name)]
        parts = {name: archive.read(name) for name in names}
        if not any(_CUE.search(part) for part in parts.values()):
            return content, 0
        styles = _styles(parts.pop(_STYLES, b""))
        length, rewritten = 0, BytesIO()
        with zipfile.ZipFile(rewritten, "w") as copy:
            for entry in archive.infolist():
                if entry.filename not in parts:
                    copy.writestr(entry, archive.read(entry))
                    continue
                root = _parse(parts[entry.filename])
                length += _hide_runs(root, styles, marks_hidden=marks_hidden)
                copy.writestr(entry, etree.tostring(root))
    return rewritten.getvalue(), length


def _parse(part: bytes) -> etree._Element:
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, huge_tree=True))


def _styles(part: bytes) -> Mapping[str, _Style]:
    if not part:
        return {}
    named = {}
    for style in _parse(part).iter("{*}style"):
        name = style.get(_attribute(style, "styleId"), "")
        named[name] = _Style(_value(style, "basedOn"), _vanishes(style))
    return named


def _hide_runs(root: etree._Element, styles: Mapping[str, _Style], *, marks_hidden: bool) -> int:
    length = 0
    for run in list(root.iter("{*}r")):
        if not _is_hidden(run, styles):
            continue
        for child in list(run):
            name = etree.QName(child).localname if isinstance(child.tag, str) else ""
            length += len(child.text or "") if name == "t" else 0
            if marks_hidden and name == "t":
                child.text = mark_hidden(child.text or "")
            elif not marks_hidden and name not in _STRUCTURE:
                run.remove(child)
    return length


def _is_hidden(run: etree._Element, styles: Mapping[str, _Style]) -> bool:
    """By its own format, or else by its style, or else by that of its paragraph."""
    own = _vanishes(run)
    if own is not None:
        return own
    properties = run.find("{*}rPr")
    if properties is not None and _is_tiny(_value(properties, "sz") or ""):
        return True
    names = [None if properties is None else _value(properties, "rStyle")]
    paragraph = next(run.iterancestors("{*}p"), None)
    if paragraph is not None and (format_ := paragraph.find("{*}pPr")) is not None:
        names.append(_value(format_, "pStyle"))
    return any(_style_hides(name, styles) for name in names)


def _style_hides(name: str | None, styles: Mapping[str, _Style]) -> bool:
    for _ in range(_BASES_MAX):
        style = styles.get(name or "")
        if style is None or style.hides is not None:
            return style is not None and bool(style.hides)
        name = style.base
    return False


def _vanishes(element: etree._Element) -> bool | None:
    properties = element.find("{*}rPr")
    if properties is None:
        return None
    for name in ("vanish", "specVanish"):
        if properties.find(f"{{*}}{name}") is not None:
            return (_value(properties, name) or "true") not in ("0", "false", "off")
    return None


def _is_tiny(half_points: str) -> bool:
    return half_points.isdecimal() and int(half_points) <= _HALF_POINTS_UNSEEN


def _value(element: etree._Element, name: str) -> str | None:
    child = element.find(f"{{*}}{name}")
    value: str | None = None if child is None else child.get(_attribute(child, "val"))
    return value


def _attribute(element: etree._Element, name: str) -> str:
    """The name within the namespace of the element, which strict documents change."""
    return f"{{{etree.QName(element).namespace}}}{name}"
