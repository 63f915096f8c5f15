"""The Git source: a repository's files at HEAD, its tags, and its changelog by the month.

Reads through the `git` command and what it can print without running anything that the repository
names: no hook, filter, pager or helper. Arguments are constants; what the repository says, such as
an object's name, goes in through a pipe.
"""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path, PurePosixPath
from threading import Timer

from index.model.document import TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX, Document, normalise
from ingest.parse import file_parsers
from ingest.parse.extract import Extractor
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason

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
    "safe.directory=*",  # whoever owns it: nothing that it names is run
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
_END, _BETWEEN = "\0", "\x1f"
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
    """The repository does not give what was asked for; the message says why."""


class GitSource:
    """Documents NAME/PATH for the files that a folder source would take, NAME/@tags/TAG, and
    NAME/@log/YYYY-MM for the commits of each month, newest first.

    `metadata` holds `commit` and `committed_at`, of the last one that changed a file; `tagged_at`.
    The dates of the files and the changelog go back COMMITS_MAX commits.
    """

    def __init__(self, root: Path, defaults: Defaults, *, name: str | None = None) -> None:
        self._root = root.resolve()
        self.name = name or self._root.name.removesuffix(".git")
        self._defaults = defaults

    def documents(self) -> Iterator[Item]:
        """Files by path, then tags, then months. Blocks on the disk and on git; raises nothing."""
        try:
            self._run("rev-parse", "--verify", "HEAD^{commit}")
            changed = self._changed()
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
        entries = list(filter(_is_meant, self._entries()))
        with Extractor() as extractor, self._objects() as ask:
            for entry in entries:
                try:
                    content = self._content(entry, ask)
                    fields = file_parsers.parse_fields(
                        PurePosixPath(entry.path), content, extractor
                    )
                    yield self._file(entry, fields, changed.get(entry.path))
                except GitUnreadable:
                    raise
                except ValueError as error:
                    yield RefusedItem(entry.path, reason(error))

    def _content(self, entry: _Entry, ask: "_Ask") -> bytes:
        limit = file_parsers.size_bytes_max(PurePosixPath(entry.path).suffix)
        if entry.mode == _LINK:
            raise ValueError("is a link")
        if entry.size > limit:
            raise ValueError(f"over {limit:,} bytes")
        content = ask(entry)
        if content.startswith(_LFS):
            raise ValueError("is kept in Git LFS, not in the repository")
        return content

    def _file(
        self, entry: _Entry, fields: dict[str, object], changed: tuple[str, str] | None
    ) -> Document:
        said = fields.get("metadata")
        dates = dict(zip(("commit", "committed_at"), changed, strict=True)) if changed else {}
        own = {
            "document_id": f"{self.name}/{entry.path}",
            "source": self.name,
            "metadata": dates | (said if isinstance(said, dict) else {}),
        }
        return document(self._defaults.fields() | {"uri": entry.path} | fields | own)

    def _entries(self) -> Iterator[_Entry]:
        for line in self._run("ls-tree", "-r", "-z", "--long", "HEAD").split(_END):
            head, _, path = line.partition("\t")
            if path:
                mode, _, found, size = head.split()
                yield _Entry(mode, found, 0 if size == "-" else int(size), path)

    def _changed(self) -> dict[str, tuple[str, str]]:
        """By path, the commit that changed it last, and when."""
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
        _, *parts = log.split(_BETWEEN)
        for head, names in zip(parts[::2], parts[1::2], strict=True):
            short, at = head.split()
            for path in filter(None, names.strip("\n").split(_END)):
                changed.setdefault(path.lstrip("\n"), (short, _instant(at).isoformat()))
        return changed

    def _tags(self) -> Iterator[Item]:
        """The newest first; the message of a tag, or of the commit that it names."""
        log = self._run(
            "for-each-ref",
            f"--count={TAGS_MAX}",
            "--sort=-creatordate",
            f"--format={_TAG_FORMAT}",
            "refs/tags",
        )
        for record in filter(str.strip, log.split(_END)):
            refname, at, message = record.lstrip("\n").split(_BETWEEN, 2)
            tag = refname.removeprefix("refs/tags/")
            when = _instant(at) if at else None
            yield self._told(
                f"@tags/{tag}",
                title=tag,
                text=f"# {tag}" + (f", {when:%Y-%m-%d}" if when else "") + f"\n\n{message.strip()}",
                metadata={"tagged_at": when.isoformat()} if when else {},
            )

    def _months(self) -> Iterator[Item]:
        """The changelog, a document a month: past months never change."""
        commits = sorted(self._commits(), key=lambda commit: commit.at, reverse=True)
        for month, found in groupby(commits, key=lambda commit: f"{commit.at:%Y-%m}"):
            entries = list(found)
            yield self._told(
                f"@log/{month}",
                title=f"Changes of {month}",
                text="\n\n".join([f"# Changes of {month}", *map(_entry, entries)]),
                metadata={
                    "commits": len(entries),
                    "committed_at": entries[0].at.isoformat(),
                },
            )

    def _commits(self) -> Iterator[_Commit]:
        log = self._run("log", f"--max-count={COMMITS_MAX}", f"--format={_LOG_FORMAT}", "HEAD")
        for record in filter(str.strip, log.split(_END)):
            at, short, author, message = record.lstrip("\n").split(_BETWEEN, 3)
            yield _Commit(_instant(at), short, author, message.strip()[:MESSAGE_CHARACTERS_MAX])

    def _told(self, path: str, *, title: str, text: str, metadata: dict[str, object]) -> Item:
        try:
            return document(
                self._defaults.fields()
                | {
                    "document_id": f"{self.name}/{path}",
                    "source": self.name,
                    "title": title[:TITLE_CHARACTERS_MAX],
                    "text": normalise(text[:TEXT_CHARACTERS_MAX]),
                    "uri": path,
                    "metadata": metadata,
                }
            )
        except ValueError as error:
            return RefusedItem(path, reason(error))

    def _run(self, *arguments: str) -> str:
        """What git prints. Raises `GitUnreadable`."""
        with self._git(arguments) as git:
            assert git.stdout is not None
            printed = git.stdout.read(LISTING_BYTES_MAX + 1)
            if len(printed) > LISTING_BYTES_MAX:
                raise GitUnreadable(f"`git {arguments[0]}` prints over {LISTING_BYTES_MAX:,} bytes")
            if git.wait():
                raise GitUnreadable(_complaint(git, arguments[0]))
        return printed.decode(errors="surrogateescape")

    @contextmanager
    def _objects(self) -> Iterator["_Ask"]:
        with self._git(("cat-file", "--batch"), feed=True) as git:
            yield _Ask(git)

    @contextmanager
    def _git(
        self, arguments: Sequence[str], *, feed: bool = False
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """Killed when it is left, or takes too long unless it is fed."""
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
                with _limited(git):
                    yield git
        finally:
            git.kill()
            with suppress(BrokenPipeError):
                git.communicate()


@dataclass(frozen=True, slots=True)
class _Ask:
    """The content of one object after the other, from one `git cat-file --batch`."""

    git: "subprocess.Popen[bytes]"

    def __call__(self, entry: _Entry) -> bytes:
        asked, printed = self.git.stdin, self.git.stdout
        assert asked is not None
        assert printed is not None
        try:
            with _limited(self.git):
                asked.write(entry.object.encode() + b"\n")
                asked.flush()
                head = printed.readline(256).split()
                content = printed.read(entry.size + 1)
        except BrokenPipeError:
            raise GitUnreadable("`git cat-file` has ended") from None
        if head[1:] != [b"blob", str(entry.size).encode()] or len(content) != entry.size + 1:
            raise GitUnreadable("the repository has lost a file, or git was too slow")
        return content[:-1]


@contextmanager
def _limited(git: "subprocess.Popen[bytes]") -> Iterator[None]:
    killer = Timer(SECONDS_MAX, git.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


def is_bare(path: Path) -> bool:
    """Whether it is a repository that nothing is checked out of."""
    return all((path / name).exists() for name in ("HEAD", "objects", "refs"))


def _is_meant(entry: _Entry) -> bool:
    path = PurePosixPath(entry.path)
    hidden = any(part.startswith(".") for part in path.parts)
    return entry.mode != _MODULE and not hidden and path.suffix.lower() in file_parsers.SUFFIXES


def _entry(commit: _Commit) -> str:
    subject, _, body = commit.message.partition("\n")
    told = f"## {subject}\n\n{commit.at:%Y-%m-%d}, {commit.short}, {commit.author}"
    return f"{told}\n\n{body.strip()}" if body.strip() else told


def _instant(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


def _complaint(git: "subprocess.Popen[bytes]", command: str) -> str:
    assert git.stderr is not None
    said = git.stderr.read(2_000).decode(errors="replace").strip().split("\n")[-1]
    return f"`git {command}` failed: {said or 'it was too slow, or gave no reason'}"
