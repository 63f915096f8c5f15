"""The tree of a page without the text that its readers don't see."""

from lxml import etree, html

from gateway.extensions._html.html_markdown import OMITTED, mark_hidden
from gateway.extensions._html.visibility import SHOWN, Hidden, visibility_of


def visible_tree(content: str, *, marks_hidden: bool) -> etree._Element:
    """marks_hidden: whether the text is marked; otherwise it is left out."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    root = etree.fromstring(content.encode("utf-8", "replace"), parser)
    etree.strip_elements(root, *OMITTED - {"title"}, with_tail=False)
    hidden: dict[etree._Element, Hidden] = {}
    for element in root.iter(etree.Element):
        parent = element.getparent()
        around = SHOWN if parent is None else hidden[parent]
        hidden[element] = visibility_of(element.tag, element.attrib, around)
        if hidden[element]:
            element.text = _hide(element.text, marks_hidden=marks_hidden)
        if around:
            element.tail = _hide(element.tail, marks_hidden=marks_hidden)
    return root


def _hide(text: str | None, *, marks_hidden: bool) -> str | None:
    return mark_hidden(text) if text and marks_hidden else None
