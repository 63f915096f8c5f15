"""The folder source: the files under a folder, as documents."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath

from gateway.extensions._files import file_parsers
from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.formats import TEXT
from gateway.extensions._sources import confined
from gateway.extensions._sources.skipped import HIDDEN, LINKS, SkippedCounter, reason_of_file
from gateway.extensions._sources.source import (
    Defaults,
    Item,
    ItemWarning,
    RefusedItem,
    file_item,
    reason,
)
from index.model.form import composed


class FolderSource:
    """The documents of a folder, or of one file, in the formats that the defaults name.

    Hidden files, hidden folders and files of other types are skipped and counted. A link that
    leaves the folder is refused; a link to a folder within it is skipped, since its files are read
    at their own paths.

    name: None for the folder's name.
    within: the resolved folder that contains all files; None for the source's own folder.
    """

    def __init__(
        self,
        root: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        within: Path | None = None,
    ) -> None:
        self._root = root.resolve()
        self.folder = self._root if self._root.is_dir() else self._root.parent
        self.name = composed(name or self.folder.name)
        self._within = within
        self._defaults = defaults
        self._is_stopped = False

    @property
    def is_folder(self) -> bool:
        """Whether the source is a folder; False for a single file."""
        return self._root == self.folder

    def documents(self) -> Iterator[Item]:
        """Read the files one by one, in the order of their paths.

        Does blocking I/O. An unreadable file is refused with the reason, and raises nothing.
        """
        return self.documents_of([self._root])

    def documents_of(self, paths: Iterable[Path]) -> Iterator[Item]:
        """Read only these files and folders, which are in the folder.

        A file that is deleted before it is read is skipped.
        """
        self._is_stopped = False
        pending = sorted(paths, reverse=True)
        skipped = SkippedCounter(self.folder)
        with closing(Extractor(self._defaults.formats, self._defaults.options)) as extractor:
            while pending and not self._is_stopped:
                path = pending.pop()
                try:
                    if not path.is_dir():
                        yield from self._items(path, extractor)
                    else:
                        pending += sorted(self._entries(path, skipped), reverse=True)
                except (OSError, ValueError) as error:
                    if not self._is_deleted(path):
                        yield RefusedItem(_printable(path.relative_to(self.folder)), reason(error))
        yield from skipped.items()

    def stop(self) -> None:
        """End the reading that runs before its next file."""
        self._is_stopped = True

    def count(self) -> int:
        """The number of items; reads no file."""
        if not self._root.is_dir():
            return 1
        return sum(
            self.is_included(Path(folder, name))
            for folder, _, names in os.walk(self._root)
            for name in names
        )

    def is_included(self, path: Path) -> bool:
        """Whether the path is a file of the source, judged by its name."""
        return not self.is_hidden(path) and path.suffix.lower() in self._defaults.formats

    def is_hidden(self, path: Path) -> bool:
        """Whether the path or a folder above it is hidden."""
        return any(part.startswith(".") for part in path.relative_to(self.folder).parts)

    def _entries(self, path: Path, skipped: SkippedCounter) -> list[Path]:
        """The files and folders to read in a folder; none for a link to a folder.

        A link that leaves the folder raises first: with no entries, all files of a folder that has
        become a link would count as deleted.
        """
        names = confined.names_within(path, self.folder, self._within)
        if path.is_symlink():
            skipped.add(path, LINKS)
            return []
        entries = []
        for child in (path / name for name in sorted(names)):
            if child.name.startswith("."):
                skipped.add(child, HIDDEN)
            elif child.suffix.lower() in self._defaults.formats or child.is_dir():
                entries.append(child)
            else:
                skipped.add(child, reason_of_file(child, self._defaults.source_suffixes))
        return entries

    def _is_deleted(self, path: Path) -> bool:
        """Whether the path is deleted while the source's folder exists."""
        return path != self._root and self.folder.is_dir() and not os.path.lexists(path)

    def _items(self, path: Path, extractor: Extractor) -> list[Item]:
        """The document of a file, after warnings of what it lacks."""
        uri = path.relative_to(self.folder).as_posix()
        place = _printable(path.relative_to(self.folder))
        if place != uri:
            raise ValueError("its name is not UTF-8")
        if composed(uri) != uri and (self.folder / composed(uri)).exists():
            _require_same_file(path, self.folder / composed(uri))
        limit = self._defaults.formats.get(path.suffix.lower(), TEXT).bytes_max
        content = confined.read_file(path, limit, self.folder, self._within)
        parsed = file_parsers.parse(PurePosixPath(uri), content, extractor)
        own = {"document_id": f"{self.name}/{uri}", "source": self.name}
        warnings = [*parsed.losses]
        fields = self._defaults.fields() | {"uri": uri} | parsed.fields | own
        item = file_item(fields, warnings, place)
        return [*(ItemWarning(place, detail) for detail in warnings), item]


def _require_same_file(path: Path, other: Path) -> None:
    """Raise `ValueError` if these are two files, which would be one document."""
    if not path.samefile(other):
        raise ValueError("another file has this name in another of Unicode's forms")


def _printable(path: Path) -> str:
    return path.as_posix().encode(errors="backslashreplace").decode()
