"""The formats of files whose text is extracted, by suffix. A new format gets a row here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from index.model.document_limits import TEXT_CHARACTERS_MAX
from ingest.parse.extracted import Extracted, ReadOptions
from ingest.parse.readers import (
    asciidoc,
    docx,
    epub,
    html,
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

FILE_BYTES_MAX = 32 * 2**20  # a starting value, not measured


@dataclass(frozen=True, slots=True)
class Format:
    """name: with its article, for messages. read: raises `Unreadable`, or what its library raises.

    package: what the reader imports; empty: nothing that a plain installation lacks.
    bytes_max: of a file.
    """

    name: str
    read: Callable[[bytes, ReadOptions], Extracted]
    package: str = ""
    bytes_max: int = FILE_BYTES_MAX

    @property
    def is_installed(self) -> bool:
        return not self.package or find_spec(self.package) is not None


def _code(language: str) -> Format:
    read = partial(source_code.read, language=language)
    return Format("source code", read, bytes_max=TEXT_CHARACTERS_MAX)


_RST = Format("reStructuredText", restructured_text.read, "docutils", bytes_max=TEXT_CHARACTERS_MAX)
_ASCIIDOC = Format("AsciiDoc", asciidoc.read, bytes_max=TEXT_CHARACTERS_MAX)
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

WEB_PAGE = ":page"  # instead of a suffix: HTML of which only the content is wanted, and links
FORMATS: Mapping[str, Format] = {
    WEB_PAGE: Format("HTML", html.read_web_page),
    ".adoc": _ASCIIDOC,
    ".asciidoc": _ASCIIDOC,
    ".docx": Format("a DOCX", docx.read, "mammoth"),
    ".eml": Format("an EML", mail.read_eml),
    ".epub": Format("an EPUB", epub.read),
    ".htm": Format("HTML", html.read),
    ".html": Format("HTML", html.read),
    ".ipynb": Format("a notebook", notebook.read),
    ".msg": Format("an MSG", mail.read_msg, "oxmsg"),
    ".odp": Format("an ODP", open_document.read),
    ".ods": Format("an ODS", spreadsheet.read, "python_calamine"),
    ".odt": Format("an ODT", open_document.read),
    ".pdf": Format("a PDF", pdf.read, "pypdf"),
    ".pptx": Format("a PPTX", presentation.read),
    ".rst": _RST,
    ".rtf": Format("an RTF", rtf.read, "striprtf"),
    ".xls": Format("an XLS", spreadsheet.read, "python_calamine"),
    ".xlsb": Format("an XLSB", spreadsheet.read, "python_calamine"),
    ".xlsm": Format("an XLSX", spreadsheet.read, "python_calamine"),
    ".xlsx": Format("an XLSX", spreadsheet.read, "python_calamine"),
} | {
    f".{suffix}": _code(language)
    for language, suffixes in _CODE_SUFFIXES.items()
    for suffix in suffixes.split()
}
SUFFIXES = frozenset(FORMATS) - {WEB_PAGE}
