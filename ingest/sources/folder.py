"""The folder source: the files under a folder, as documents."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from index.model.document import Document
from ingest.parse import file_parsers
from ingest.parse.extract import Extractor
from ingest.sources import confined
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason


class FolderSource:
    """The documents of a folder, or of one file: Markdown, text, HTML, PDF and DOCX.

    Hidden files and folders are left out. A link that leaves the folder is refused; one to a
    folder within it is not followed, since its files are met where they are.

    name: the source's; the folder's own unless given.
    within: a resolved folder that nothing is read outside of; the folder itself unless given.
    file_bytes_max: of any file; by its kind unless given.
    """

    def __init__(
        self,
        root: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        within: Path | None = None,
        file_bytes_max: int | None = None,
    ) -> None:
        self._root = root.resolve()
        self.folder = self._root if self._root.is_dir() else self._root.parent
        self.name = name or self.folder.name
        self._within = within
        self._file_bytes_max = file_bytes_max
        self._defaults = defaults

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, not one file."""
        return self._root == self.folder

    def documents(self) -> Iterator[Item]:
        """Read the files one by one, in the order of their paths.

        Blocks on the disk, and raises nothing for a file: it is refused, with the reason.
        """
        return self.documents_of([self._root])

    def documents_of(self, paths: Iterable[Path]) -> Iterator[Item]:
        """The same of these files and folders alone, which lie in the folder.

        One that is gone by the time it is read is left out, as if it had gone before.
        """
        pending = sorted(paths, reverse=True)
        with Extractor() as extractor:
            while pending:
                path = pending.pop()
                try:
                    if not path.is_dir():
                        yield self._document(path, extractor)
                    else:
                        pending += sorted(self._entries(path), reverse=True)
                except (OSError, ValueError) as error:
                    if not self._went(path):
                        yield RefusedItem(_printable(path.relative_to(self.folder)), reason(error))

    def count(self) -> int:
        """How many items there are; reads no file."""
        if not self._root.is_dir():
            return 1
        return sum(
            self.is_meant(Path(folder, name))
            for folder, _, names in os.walk(self._root)
            for name in names
        )

    def is_meant(self, path: Path) -> bool:
        """Whether it is one of the source's files, going by its name."""
        return not self.is_hidden(path) and path.suffix.lower() in file_parsers.SUFFIXES

    def is_hidden(self, path: Path) -> bool:
        """Whether it is hidden, or in what is."""
        return any(part.startswith(".") for part in path.relative_to(self.folder).parts)

    def _entries(self, path: Path) -> list[Path]:
        """Of a folder, what to read; of a link to a folder nothing, once it is known to be inside.

        Refused before it is looked at: for a folder that has become a link, nothing would mean that
        all its files are gone.
        """
        names = confined.names_within(path, self.folder, self._within)
        if path.is_symlink():
            return []
        return [below for name in names if _is_meant(below := path / name)]

    def _went(self, path: Path) -> bool:
        """Whether it is gone, and not because the folder as a whole is."""
        return path != self._root and self.folder.is_dir() and not os.path.lexists(path)

    def _document(self, path: Path, extractor: Extractor) -> Document:
        uri = path.relative_to(self.folder).as_posix()
        limit = self._file_bytes_max or file_parsers.size_bytes_max(path.suffix)
        content = confined.read_file(path, limit, self.folder, self._within)
        fields = file_parsers.parse_fields(PurePosixPath(uri), content, extractor)
        own = {"document_id": f"{self.name}/{uri}", "source": self.name}
        return document(self._defaults.fields() | {"uri": uri} | fields | own)


def _is_meant(path: Path) -> bool:
    return not path.name.startswith(".") and (
        path.suffix.lower() in file_parsers.SUFFIXES or path.is_dir()
    )


def _printable(path: Path) -> str:
    return path.as_posix().encode(errors="backslashreplace").decode()
