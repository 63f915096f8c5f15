"""What a person sees of `nearhit ingest` while it reads and when it has read."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gateway.extensions._ingest import ingest_progress, path_kinds
from gateway.extensions._ingest.pace import Pace, duration
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.kinds import open_source, suffixes
from gateway.extensions._sources.source import Defaults, RefusedItem, SkippedFiles, Source
from gateway.extensions._sources.sync.report import Report
from tests.gateway.extensions._sources.files import write

KINDS = path_kinds.path_kinds("")


@pytest.fixture
def ten_files(tmp_path: Path) -> FolderSource:
    for number in range(10):
        write(tmp_path / "notes" / f"{number}.md")
    return FolderSource(tmp_path / "notes", Defaults())


def told(source: Source, reports: list[Report], *, terminal: bool = False) -> str:
    """What is printed of these reports, which come every two seconds."""
    printed = StringIO()
    console = Console(file=printed, force_terminal=terminal, width=120)
    clock: Iterator[float] = iter(range(0, 1_000, 2))
    with ingest_progress.progress(console, source, lambda: next(clock)) as on_item:
        for report in reports:
            on_item(report)
    return printed.getvalue()


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is(
    ten_files: FolderSource,
) -> None:
    reports = [
        Report(documents=done, chunks_added=done, chunks_kept=done, embedded=done // 2)
        for done in range(1, 8)
    ]

    lines = told(ten_files, reports).splitlines()

    assert lines == [
        "notes: 3 of 10, 0.5/s, 1 embedded, 83% reused, 14 s left",
        "notes: 6 of 10, 0.5/s, 3 embedded, 75% reused, 8 s left",
    ]


def test_the_time_that_is_left_follows_the_speed_of_the_last_half_minute() -> None:
    """A thousand unchanged documents in a second, and then new ones, one a second."""
    now_s = 0.0
    pace = Pace(2_000, lambda: now_s)
    pace.record(64)
    assert (pace.items_per_s, pace.left_s) == (None, None)  # a batch is no speed

    now_s = 1.0
    pace.record(1_000)
    for _ in range(60):
        now_s += 1.0
        pace.record(1_000 + round(now_s - 1))

    assert pace.items_per_s == 1.0
    assert pace.left_s == 940.0


def test_what_is_loaded_before_the_first_batch_is_no_part_of_the_speed() -> None:
    now_s = 0.0
    pace = Pace(1_500, lambda: now_s)
    pace.record(0)
    now_s = 10.0
    pace.record(64)
    assert (pace.items_per_s, pace.left_s) == (None, None)

    now_s = 12.0
    pace.record(364)

    assert pace.items_per_s == 150.0
    assert pace.left_s == (1_500 - 364) / 150.0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (61, "1 min 1 s"),
        (3_599.6, "1 h 0 min"),
        (90_000, "25 h 0 min"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_skipped_files_are_counted_by_reason_and_named(tmp_path: Path) -> None:
    for name in ("a.md", "b.csv", "c.YAML", "sub/d.png", "sub/e.jsonl", ".git/HEAD", ".env"):
        write(tmp_path / "notes" / name)
    (tmp_path / "notes" / "again").symlink_to(tmp_path / "notes" / "sub")
    source = FolderSource(tmp_path / "notes", Defaults(source_suffixes=suffixes(KINDS.values())))
    report = Report(documents=1)
    report.skipped = [item for item in source.documents() if isinstance(item, SkippedFiles)]
    printed = StringIO()

    ingest_progress.show(Console(file=printed, width=200), report, "notes")

    assert printed.getvalue().splitlines()[1:] == [
        (
            "skipped 3: files of many documents, which you ingest by their own paths "
            "(b.csv, c.YAML, sub/e.jsonl)"
        ),
        "skipped 1: files of other types (sub/d.png)",
        "skipped 2: hidden files and folders (.env, .git)",
        "skipped 1: links to folders, whose files are read at their own paths (again)",
    ]


def test_what_can_not_be_counted_beforehand_says_how_much_is_done(tmp_path: Path) -> None:
    source = open_source(KINDS["csv"], tmp_path / "leads.csv", Defaults(), name=None, columns={})
    reports = [Report(documents=documents) for documents in (400, 800, 1_200)]
    for report in reports:
        report.refuse(RefusedItem("x", "y"))

    lines = told(source, reports).splitlines()

    assert lines == ["leads: 1,201, 200.0/s, 0 embedded, 0% reused"]


def test_a_terminal_gets_a_bar(ten_files: FolderSource) -> None:
    printed = told(ten_files, [Report(documents=10, chunks_kept=10)], terminal=True)

    assert "10/10" in printed
    assert "100% reused" in printed


def test_beyond_the_first_lines_a_file_lists_all() -> None:
    report, printed = Report(), StringIO()
    for number in range(25):
        report.refuse(RefusedItem(f"{number}.md", "is no text", holds=""))
    report.warn("a.md", *(f"warning {number}" for number in range(20)))

    ingest_progress.show(Console(file=printed, width=120), report, "my wiki")

    *_, more = [line for line in printed.getvalue().splitlines() if line.startswith("refused")]
    file = Path(more.removeprefix("refused … and 5 more: see "))
    assert file.read_text() == "".join(f"{number}.md: is no text\n" for number in range(25))
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    assert "more: see" not in printed.getvalue().replace(more, "")
