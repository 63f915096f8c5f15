"""The files of the console, read once; all but the page have an address with their hash in it.

The page names one folder, `/console/assets/HASH/`, whose files never change: a browser keeps them
without asking again. HASH is of all files together, because modules import each other by relative
names and must be of one version.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_PAGE = "index.html"
_PLACEHOLDER = "HASH"  # in the page, for the folder of the other files
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class ConsoleFile:
    body: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class ConsoleFiles:
    """page_etag: quoted, as in the header. assets: by name, in the folder `fingerprint`."""

    page: ConsoleFile
    page_etag: str
    fingerprint: str
    assets: Mapping[str, ConsoleFile]


@cache
def load() -> ConsoleFiles:
    """Read the folder's files."""
    found = {
        path.name: ConsoleFile(path.read_bytes(), _MEDIA_TYPES[path.suffix])
        for path in sorted(_FOLDER.iterdir())
    }
    template = found.pop(_PAGE)
    fingerprint = _digest(*(part for name in found for part in (name.encode(), found[name].body)))
    page = template.body.replace(_PLACEHOLDER.encode(), fingerprint.encode())
    return ConsoleFiles(
        ConsoleFile(page, template.media_type), f'"{_digest(page)}"', fingerprint, found
    )


def _digest(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
