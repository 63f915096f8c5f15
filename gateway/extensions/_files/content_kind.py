"""What a file is by its content, to say why it cannot be read as what its suffix says."""

import re

HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype html|html|head|meta|table)\b",
    re.IGNORECASE,
)
_COMPOUND = re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")  # OLE, of MS-CFB
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # the stream of MS-OFFCRYPTO
_KINDS = {
    "a PDF": (re.compile(rb"\s*%PDF-"), (".pdf",)),
    "an RTF": (re.compile(rb"\s*\{\\rtf"), (".rtf",)),
    "HTML": (HTML, (".htm", ".html")),
    "an Office file from before 2007": (_COMPOUND, (".msg", ".xls")),
}


def mismatch(suffix: str, content: bytes) -> str | None:
    """Why content that its reader refused is not of the suffix; None if it seems to be."""
    if not content:
        return "is empty"
    if _COMPOUND.match(content) and _ENCRYPTED in content:
        return "is encrypted"
    for kind, (start, suffixes) in _KINDS.items():
        if start.match(content) and suffix not in suffixes:
            return f"is {kind}, although its name ends in {suffix}"
    return None
