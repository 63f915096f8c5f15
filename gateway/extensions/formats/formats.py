"""The formats that this extension reads."""

from functools import partial
from importlib.util import find_spec

from gateway.extensions._files.formats import Format
from gateway.extensions._html import html_reader
from gateway.extensions.formats.pdf import scans
from gateway.extensions.formats.readers import (
    asciidoc,
    docx,
    epub,
    mail,
    notebook,
    open_document,
    pdf,
    presentation,
    restructured_text,
    rtf,
    source_code,
    spreadsheet,
)
from index.model.document_limits import TEXT_CHARACTERS_MAX

_CODE_SUFFIXES = {
    "bash": "bash sh zsh",
    "c": "c h",
    "clojure": "clj",
    "cpp": "cc cpp cxx hh hpp",
    "csharp": "cs",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl",
    "fsharp": "fs",
    "go": "go",
    "graphql": "graphql",
    "groovy": "gradle groovy",
    "haskell": "hs",
    "hcl": "hcl tf",
    "java": "java",
    "javascript": "cjs js jsx mjs",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "objectivec": "m mm",
    "ocaml": "ml mli",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1",
    "protobuf": "proto",
    "python": "py pyi",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "toml": "toml",
    "typescript": "cts mts ts tsx",
    "vue": "vue",
    "zig": "zig",
}


def _extra(package: str) -> str:
    """Why files can't be read without the package; empty if it is installed."""
    if find_spec(package):
        return ""
    return "needs the extra `files`: pip install '.[files]' in a checkout"


FORMATS = (
    Format("AsciiDoc", (".adoc", ".asciidoc"), asciidoc.read, bytes_max=TEXT_CHARACTERS_MAX),
    Format("a DOCX", (".docx",), docx.read, _extra("mammoth")),
    Format("an EML", (".eml",), mail.read_eml),
    Format("an EPUB", (".epub",), epub.read),
    Format("HTML", (".htm", ".html"), html_reader.read),
    Format("a notebook", (".ipynb",), notebook.read),
    Format("an MSG", (".msg",), mail.read_msg, _extra("oxmsg")),
    Format("an ODP", (".odp",), open_document.read),
    Format("an ODS", (".ods",), spreadsheet.read, _extra("python_calamine")),
    Format("an ODT", (".odt",), open_document.read),
    Format("a PDF", (".pdf",), pdf.read, _extra("pypdf"), scans_s=scans.READING_S_MAX),
    Format("a PPTX", (".pptx",), presentation.read),
    Format(
        "reStructuredText",
        (".rst",),
        restructured_text.read,
        _extra("docutils"),
        TEXT_CHARACTERS_MAX,
    ),
    Format("an RTF", (".rtf",), rtf.read, _extra("striprtf")),
    Format("an XLS", (".xls",), spreadsheet.read, _extra("python_calamine")),
    Format("an XLSB", (".xlsb",), spreadsheet.read, _extra("python_calamine")),
    Format("an XLSX", (".xlsm", ".xlsx"), spreadsheet.read, _extra("python_calamine")),
    *(
        Format(
            "source code",
            tuple(f".{suffix}" for suffix in suffixes.split()),
            partial(source_code.read, language=language),
            bytes_max=TEXT_CHARACTERS_MAX,
        )
        for language, suffixes in _CODE_SUFFIXES.items()
    ),
)
