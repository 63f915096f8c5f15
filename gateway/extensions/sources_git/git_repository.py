"""The Git source: a repository's files at HEAD, its tags, and its changelog by month.

It calls only `git` commands that run no program named by the repository: no hook, filter, pager or
helper. All arguments are constants; values from the repository, such as an object's name, go
through a pipe.
"""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path, PurePosixPath
from threading import Timer

from gateway.extensions._files import file_parsers
from gateway.extensions._files.extract import Extractor
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import (
    BlankItem,
    Item,
    ItemWarning,
    RefusedItem,
    document,
    file_item,
    reason,
)
from index.model.document import Document, normalise
from index.model.document_limits import TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX

# Starting values, not measured.
SECONDS_MAX = 120.0  # of one git command
LISTING_BYTES_MAX = 256 * 2**20
COMMITS_MAX = 20_000  # the newest
TAGS_MAX = 5_000
MESSAGE_CHARACTERS_MAX = 4_000  # of a commit in the changelog

_LINK, _MODULE = "120000", "160000"
_LFS = b"version https://git-lfs.github.com/spec/"
_GIT = (
    "git",
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
    "-c",
    "log.showSignature=false",
    "-c",
    "safe.directory=*",  # for any owner: nothing that the repository names runs
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}
_RECORD_END, _SEPARATOR = "\0", "\x1f"
_TAG_FORMAT = "%(refname)%1f%(creatordate:unix)%1f%(contents)%00"
_LOG_FORMAT = "%ct%x1f%h%x1f%an%x1f%B%x00"


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    object: str
    size: int
    path: str


@dataclass(frozen=True, slots=True)
class _Commit:
    at: datetime
    short: str
    author: str
    message: str


class GitUnreadable(ValueError):
    """The repository cannot be read; the message says why."""


class GitSource:
    """Documents NAME/PATH for the files that a folder source would read, NAME/@tags/TAG, and
    NAME/@log/YYYY-MM for the commits of each month, newest first.

    A file's `metadata` has `commit` and `committed_at`, of its last change; a tag's `tagged_at`.
    The dates of files and the changelog cover the last COMMITS_MAX commits.
    """

    def __init__(self, request: ReaderRequest) -> None:
        self._root = request.path.resolve()
        self.name = request.name
        self._defaults = request.defaults

    def documents(self) -> Iterator[Item]:
        """Files by path, then tags, then months. Does blocking I/O; raises nothing."""
        try:
            self._run("rev-parse", "--verify", "HEAD^{commit}")
            changed = self._last_changes()
        except (OSError, GitUnreadable) as error:
            yield RefusedItem(self._root.name, reason(error), holds="")
            return
        for part, items in (
            ("", self._files(changed)),
            ("@tags", self._tags()),
            ("@log", self._months()),
        ):
            try:
                yield from items
            except (OSError, GitUnreadable) as error:
                yield RefusedItem(part or self._root.name, reason(error), holds=part)

    def _files(self, changed: dict[str, tuple[str, str]]) -> Iterator[Item]:
        entries = [entry for entry in self._entries() if self._is_included(entry)]
        with (
            closing(Extractor(self._defaults.formats, self._defaults.options)) as extractor,
            self._objects() as read_object,
        ):
            for entry in entries:
                try:
                    content = self._content(entry, read_object)
                    parsed = file_parsers.parse(PurePosixPath(entry.path), content, extractor)
                    warnings = [*parsed.losses]
                    item = self._file(entry, parsed.fields, changed.get(entry.path), warnings)
                    yield from (ItemWarning(entry.path, detail) for detail in warnings)
                    yield item
                except GitUnreadable:
                    raise
                except ValueError as error:
                    yield RefusedItem(entry.path, reason(error))

    def _is_included(self, entry: _Entry) -> bool:
        is_hidden = any(part.startswith(".") for part in PurePosixPath(entry.path).parts)
        is_read = _suffix(entry) in self._defaults.formats
        return entry.mode != _MODULE and is_read and not is_hidden

    def _content(self, entry: _Entry, read_object: "_ObjectReader") -> bytes:
        limit = self._defaults.formats[_suffix(entry)].bytes_max
        if entry.mode == _LINK:
            raise ValueError("is a link")
        if entry.size > limit:
            raise ValueError(f"over {limit:,} bytes")
        content = read_object(entry)
        if content.startswith(_LFS):
            raise ValueError("is stored in Git LFS, not in the repository")
        return content

    def _file(
        self,
        entry: _Entry,
        fields: dict[str, object],
        changed: tuple[str, str] | None,
        warnings: list[str],
    ) -> Document | BlankItem:
        metadata = fields.get("metadata")
        dates = dict(zip(("commit", "committed_at"), changed, strict=True)) if changed else {}
        own = {
            "document_id": f"{self.name}/{entry.path}",
            "source": self.name,
            "metadata": dates | (metadata if isinstance(metadata, dict) else {}),
        }
        fields = self._defaults.fields() | {"uri": entry.path} | fields | own
        return file_item(fields, warnings, entry.path)

    def _entries(self) -> Iterator[_Entry]:
        for line in self._run("ls-tree", "-r", "-z", "--long", "HEAD").split(_RECORD_END):
            head, _, path = line.partition("\t")
            if path:
                mode, _, object_name, size = head.split()
                yield _Entry(mode, object_name, 0 if size == "-" else int(size), path)

    def _last_changes(self) -> dict[str, tuple[str, str]]:
        """The last commit that changed each path, and its time, by path."""
        log = self._run(
            "log",
            f"--max-count={COMMITS_MAX}",
            "--no-renames",
            "--name-only",
            "-z",
            "--format=%x1f%h %ct%x1f",
            "HEAD",
        )
        changed: dict[str, tuple[str, str]] = {}
        _, *parts = log.split(_SEPARATOR)
        for head, names in zip(parts[::2], parts[1::2], strict=True):
            short, at = head.split()
            for path in filter(None, names.strip("\n").split(_RECORD_END)):
                changed.setdefault(path.lstrip("\n"), (short, _instant(at).isoformat()))
        return changed

    def _tags(self) -> Iterator[Item]:
        """The newest first; the text is the message of the tag, or of its commit."""
        log = self._run(
            "for-each-ref",
            f"--count={TAGS_MAX}",
            "--sort=-creatordate",
            f"--format={_TAG_FORMAT}",
            "refs/tags",
        )
        for record in filter(str.strip, log.split(_RECORD_END)):
            refname, at, message = record.lstrip("\n").split(_SEPARATOR, 2)
            tag = refname.removeprefix("refs/tags/")
            when = _instant(at) if at else None
            yield self._virtual_document(
                f"@tags/{tag}",
                title=tag,
                text=f"# {tag}" + (f", {when:%Y-%m-%d}" if when else "") + f"\n\n{message.strip()}",
                metadata={"tagged_at": when.isoformat()} if when else {},
            )

    def _months(self) -> Iterator[Item]:
        """The changelog, one document a month, so that past months never change."""
        commits = sorted(self._commits(), key=lambda commit: commit.at, reverse=True)
        for month, group in groupby(commits, key=lambda commit: f"{commit.at:%Y-%m}"):
            entries = list(group)
            yield self._virtual_document(
                f"@log/{month}",
                title=f"Changes of {month}",
                text="\n\n".join([f"# Changes of {month}", *map(_changelog_entry, entries)]),
                metadata={
                    "commits": len(entries),
                    "committed_at": entries[0].at.isoformat(),
                },
            )

    def _commits(self) -> Iterator[_Commit]:
        log = self._run("log", f"--max-count={COMMITS_MAX}", f"--format={_LOG_FORMAT}", "HEAD")
        for record in filter(str.strip, log.split(_RECORD_END)):
            at, short, author, message = record.lstrip("\n").split(_SEPARATOR, 3)
            yield _Commit(_instant(at), short, author, message.strip()[:MESSAGE_CHARACTERS_MAX])

    def _virtual_document(
        self, path: str, *, title: str, text: str, metadata: dict[str, object]
    ) -> Item:
        try:
            return document(
                self._defaults.fields()
                | {
                    "document_id": f"{self.name}/{path}",
                    "source": self.name,
                    "title": title[:TITLE_CHARACTERS_MAX],
                    "text": normalise(text[:TEXT_CHARACTERS_MAX]),
                    "uri": path,
                    "base_url": "",  # the host of a repository has no file of this path
                    "metadata": metadata,
                }
            )
        except ValueError as error:
            return RefusedItem(path, reason(error))

    def _run(self, *arguments: str) -> str:
        """The output of git. Raises `GitUnreadable`."""
        with self._git(arguments) as git:
            assert git.stdout is not None
            output = git.stdout.read(LISTING_BYTES_MAX + 1)
            if len(output) > LISTING_BYTES_MAX:
                raise GitUnreadable(f"`git {arguments[0]}` prints over {LISTING_BYTES_MAX:,} bytes")
            if git.wait():
                raise GitUnreadable(_error_message(git, arguments[0]))
        return output.decode(errors="surrogateescape")

    @contextmanager
    def _objects(self) -> Iterator["_ObjectReader"]:
        with self._git(("cat-file", "--batch"), feed=True) as git:
            yield _ObjectReader(git)

    @contextmanager
    def _git(
        self, arguments: Sequence[str], *, feed: bool = False
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """Run git; kill it at exit, and unless `feed` after SECONDS_MAX."""
        try:
            git = subprocess.Popen(  # noqa: S603  the arguments are constants
                [*_GIT, *arguments],
                cwd=self._root,
                env=_ENVIRONMENT,
                stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except FileNotFoundError:
            raise GitUnreadable("git is not installed") from None
        try:
            if feed:
                yield git
            else:
                with _time_limit(git):
                    yield git
        finally:
            git.kill()
            with suppress(BrokenPipeError):
                git.communicate()


@dataclass(frozen=True, slots=True)
class _ObjectReader:
    """Reads one object after the other from one `git cat-file --batch`."""

    git: "subprocess.Popen[bytes]"

    def __call__(self, entry: _Entry) -> bytes:
        stdin, stdout = self.git.stdin, self.git.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            with _time_limit(self.git):
                stdin.write(entry.object.encode() + b"\n")
                stdin.flush()
                head = stdout.readline(256).split()
                content = stdout.read(entry.size + 1)
        except BrokenPipeError:
            raise GitUnreadable("`git cat-file` has ended") from None
        if head[1:] != [b"blob", str(entry.size).encode()] or len(content) != entry.size + 1:
            raise GitUnreadable("the repository lacks an object, or git was too slow")
        return content[:-1]


@contextmanager
def _time_limit(git: "subprocess.Popen[bytes]") -> Iterator[None]:
    killer = Timer(SECONDS_MAX, git.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


def documents(request: ReaderRequest) -> Iterator[Item]:
    """Of the process that reads the repository."""
    return GitSource(request).documents()


def is_bare(path: Path) -> bool:
    """Whether the path is a repository without a working tree."""
    return all((path / name).exists() for name in ("HEAD", "objects", "refs"))


def _suffix(entry: _Entry) -> str:
    return PurePosixPath(entry.path).suffix.lower()


def _changelog_entry(commit: _Commit) -> str:
    subject, _, body = commit.message.partition("\n")
    entry = f"## {subject}\n\n{commit.at:%Y-%m-%d}, {commit.short}, {commit.author}"
    return f"{entry}\n\n{body.strip()}" if body.strip() else entry


def _instant(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


def _error_message(git: "subprocess.Popen[bytes]", command: str) -> str:
    assert git.stderr is not None
    last_line = git.stderr.read(2_000).decode(errors="replace").strip().split("\n")[-1]
    return f"`git {command}` failed: {last_line or 'it was too slow, or gave no reason'}"
