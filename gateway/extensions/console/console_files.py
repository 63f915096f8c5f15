"""The files of the console, read once; all but its pages have an address with their hash in it.

The pages name one folder, `/console/assets/HASH/`, whose files never change: a browser keeps them
without asking again. HASH is of all files together, because they must be of one version.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gateway.extension import StaticContent
from gateway.extensions.console import joined_modules

_FOLDER = Path(__file__).parent / "static"
_PAGES = {"index.html": "main.js", "reference.html": "reference.js"}  # with the script of each
_PLACEHOLDER = "HASH"  # in a page, for the folder of the other files
_EXTENSIONS = "EXTENSIONS"  # in a page, for the names of the extensions that are on
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class ConsoleFiles:
    """pages: by name. assets: likewise, in the folder `fingerprint`."""

    pages: Mapping[str, StaticContent]
    fingerprint: str
    assets: Mapping[str, StaticContent]


@cache
def load(extensions: tuple[str, ...]) -> ConsoleFiles:
    """Read the folder's files.

    extensions: names of the extensions that are on; the pages offer nothing of the others.
    """
    bodies = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir())}
    templates = {name: bodies.pop(name) for name in _PAGES}
    bodies = _with_joined_scripts(bodies)
    fingerprint = _digest(*(part for name in bodies for part in (name.encode(), bodies[name])))
    values = {_PLACEHOLDER: fingerprint, _EXTENSIONS: " ".join(extensions)}
    pages = {name: _filled(page, values) for name, page in templates.items()}
    return ConsoleFiles(_contents(pages), fingerprint, _contents(bodies))


def _with_joined_scripts(bodies: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files, with the modules in the scripts of the pages."""
    modules = {name: body.decode() for name, body in bodies.items() if name.endswith(".js")}
    scripts = {name: joined_modules.join(modules, name).encode() for name in _PAGES.values()}
    return {name: body for name, body in bodies.items() if name not in modules} | scripts


def _contents(bodies: Mapping[str, bytes]) -> dict[str, StaticContent]:
    return {
        name: StaticContent.of(body, _MEDIA_TYPES[Path(name).suffix])
        for name, body in bodies.items()
    }


def _filled(template: bytes, values: Mapping[str, str]) -> bytes:
    for placeholder, value in values.items():
        template = template.replace(placeholder.encode(), value.encode())
    return template


def _digest(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
