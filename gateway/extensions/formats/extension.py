"""Files of many formats, whose text becomes Markdown."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension(
    "sources read office files, PDF, HTML, e-mail, notebooks and source code"
)
