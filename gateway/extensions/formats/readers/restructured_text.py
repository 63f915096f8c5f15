"""reStructuredText, by `docutils` as HTML; what only Sphinx knows is read as plain content."""

import re
from collections import defaultdict
from typing import Any

from gateway.extensions._files import encoding
from gateway.extensions._files.extracted import Extracted, ReadOptions
from gateway.extensions._html import html_reader

_DIRECTIVE = re.compile(
    r"^[ \t]{0,80}\.\.[ \t]+(?:\|[^|\n]{1,80}\|[ \t]+)?([\w.:+-]{1,60}?)::", re.MULTILINE
)
_INCLUDE = re.compile(r"^[ \t]{0,80}(?:\.\.[ \t]+(?:literal)?include::|:file:)", re.MULTILINE)
_TARGET = re.compile(r"\s*<[^<>]*>\Z")  # of `text <target>`
_ROLE = re.compile(r":([\w.:+-]{1,60}?):`")
_WITHOUT_TEXT = frozenset(
    {"toctree", "index", "highlight", "currentmodule", "tabularcolumns", "sectionauthor"}
)
_CODE = ("code", "code-block", "sourcecode")
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "syntax_highlight": "none",
    "doctitle_xform": False,
    "initial_header_level": 1,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "line_length_limit": 1_000_000,
    "_disable_config": True,
}


def read(content: bytes, options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    from docutils.core import publish_parts

    source = encoding.decode(content)
    _register(set(_DIRECTIVE.findall(source)), set(_ROLE.findall(source)))
    parts = publish_parts(source, writer="html5", settings_overrides=_SETTINGS)
    losses = ["files that it includes are not read"] if _INCLUDE.search(source) else []
    return Extracted(html_reader.convert_text(parts["html_body"], options).text, losses=losses)


def _register(names: set[str], roles: set[str]) -> None:
    """Let unknown directives show their content, unknown roles their text, and code any option."""
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives
    from docutils.parsers.rst.languages import en
    from docutils.parsers.rst.roles import register_local_role

    any_option = defaultdict(lambda: directives.unchanged, name=directives.unchanged)

    class AnyContent(Directive):  # type: ignore[misc]  # docutils has no types
        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = any_option

        def run(self) -> list[nodes.Node]:
            if self.name in _WITHOUT_TEXT:
                return []
            shown = nodes.container()
            for line in self.arguments:
                inline, _ = self.state.inline_text(line, self.lineno)
                shown += nodes.paragraph("", "", *inline)
            self.state.nested_parse(self.content, self.content_offset, shown)
            return [shown]

    class Code(AnyContent):
        def run(self) -> list[nodes.Node]:
            code = "\n".join(self.content)
            return [nodes.literal_block(code, code)]

    def show_role(_name: str, _raw: str, text: str, *_place: Any, **_options: Any) -> Any:
        shown = _TARGET.sub("", text).lstrip("~!") or text
        return [nodes.literal(text=shown)], []

    for name in names - set(en.directives):
        directives.register_directive(name, AnyContent)
    for name in _CODE:
        directives.register_directive(name, Code)
    for role in roles - set(en.roles):
        register_local_role(role, show_role)
