"""The folder source: the Markdown and text files under a folder, as documents."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from index.document import TEXT_CHARACTERS_MAX, Document, normalise
from ingest.markdown import front_matter, title

SUFFIXES = frozenset({".md", ".markdown", ".txt"})
DOCUMENT = TypeAdapter(Document)


@dataclass(frozen=True, slots=True)
class Refused:
    """A file or folder that is there but gave no document.

    path: relative to the folder, as a document's uri is.
    """

    path: str
    reason: str


class FolderSource:
    """The documents of a folder, or of one file; all text is read as Markdown.

    Hidden files and folders are left out. A link that leaves the folder is refused; one to a
    folder within it is not followed, since its files are met where they are.

    owner, readers, tags, language: what holds where front matter says nothing else.
    name: the source's; the folder's own unless given.
    """

    def __init__(
        self,
        root: Path,
        *,
        owner: str | None,
        readers: tuple[str, ...],
        tags: tuple[str, ...] = (),
        language: str = "en",
        name: str | None = None,
        file_bytes_max: int = TEXT_CHARACTERS_MAX,  # a character has a byte or more
    ) -> None:
        self._root = root.resolve()
        self._folder = self._root if self._root.is_dir() else self._root.parent
        self.name = name or self._folder.name
        self._file_bytes_max = file_bytes_max
        self._defaults = {"owner": owner, "readers": readers, "tags": tags, "language": language}

    def documents(self) -> Iterator[Document | Refused]:
        """Read the files one by one, in the order of their paths.

        Blocks on the disk, and raises nothing for a file: it is refused, with the reason.
        """
        pending = [self._root]
        while pending:
            path = pending.pop()
            try:
                _refuse_outside(path, self._folder)
                if not path.is_dir():
                    yield self._document(path)
                elif not path.is_symlink():
                    pending += sorted(_entries(path), reverse=True)
            except (OSError, ValueError) as error:
                yield Refused(_printable(path.relative_to(self._folder)), _reason(error))

    def _document(self, path: Path) -> Document:
        uri = path.relative_to(self._folder).as_posix()
        fields, text = front_matter(normalise(self._text(path)))
        if fields.get("title") is None:
            fields["title"] = title(text) or path.stem.replace("-", " ")
        defaults = self._defaults | {"uri": uri, "metadata": {}}
        own = {"document_id": f"{self.name}/{uri}", "source": self.name, "text": text}
        return DOCUMENT.validate_python(defaults | fields | own)

    def _text(self, path: Path) -> str:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise ValueError("not a regular file")
        with path.open("rb") as file:
            content = file.read(self._file_bytes_max + 1)
        if len(content) > self._file_bytes_max:
            raise ValueError(f"over {self._file_bytes_max} bytes")
        return content.decode("utf-8-sig")


def _entries(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if not path.name.startswith(".") and (path.suffix.lower() in SUFFIXES or path.is_dir()):
            yield path


def _refuse_outside(path: Path, folder: Path) -> None:
    real = Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for a loop of links
    if not real.is_relative_to(folder):
        raise ValueError("links to outside the folder")


def _printable(path: Path) -> str:
    return path.as_posix().encode(errors="backslashreplace").decode()


def _reason(error: OSError | ValueError) -> str:
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        case UnicodeDecodeError():
            return f"not UTF-8: {error.reason} at byte {error.start}"
        case OSError(strerror=str(why)):
            return why
        case _:
            return str(error)
