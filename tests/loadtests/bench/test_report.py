from functools import partial
from pathlib import Path

from rich.console import Console

from loadtests.bench.report import BenchmarkReport, page
from loadtests.bench.section import Bar, Section


def section(figure: float) -> Section:
    bars = [Bar("speed", figure, at_most=1.0), Bar("recall", 0.99, at_least=0.99)]
    return Section("Time", "It flies.", {"speed": figure}, bars, "2026-01-31", "a machine")


def report_in(folder: Path) -> BenchmarkReport:
    return BenchmarkReport(folder / "benchmarks" / "index.json", "# Benchmark\n", ["rich"])


def test_a_target_is_met_up_to_its_limit() -> None:
    assert [bar.held for bar in section(1.0).bars] == [True, True]
    assert [bar.held for bar in section(1.1).bars] == [False, True]


def test_a_report_keeps_what_was_measured_before(tmp_path: Path) -> None:
    report = report_in(tmp_path)

    report.write({"time": section(1.1)})

    assert report.read() == {"time": section(1.1)}
    assert "| speed | 1.1 | at most 1 | **no** |" in page(report.path)
    assert report_in(tmp_path / "other").read() == {}


def test_what_is_not_measured_anew_stays_and_counts_for_nothing(tmp_path: Path) -> None:
    report = report_in(tmp_path)
    report.write({"first": section(1.1), "second": section(1.2)})
    measures = {"first": partial(section, 1.1), "second": partial(section, 0.9)}

    missed = report.measure(measures, ["second"], Console(quiet=True))

    assert missed == []
    assert [stored_section.figures["speed"] for stored_section in report.read().values()] == [
        1.1,
        0.9,
    ]


def test_a_bar_that_is_not_judged_is_never_missed(tmp_path: Path) -> None:
    report = report_in(tmp_path)
    bars = [Bar("speed", 2, at_most=1.0, judged=False), Bar("size", 1, at_most=1.0)]

    missed = report.measure(
        {"time": lambda: Section("Time", "It flies.", {}, bars)}, [], Console(quiet=True)
    )

    assert missed == []
    assert "| speed | 2 | at most 1 | not judged |" in page(report.path)
    assert report.read()["time"].bars == bars


def test_a_bar_of_a_page_without_judgements_is_judged() -> None:
    stored = section(1.1).as_json()
    for bar in stored["bars"]:
        del bar["judged"]

    assert Section.from_json(stored) == section(1.1)


def test_a_bar_that_is_missed_is_told(tmp_path: Path) -> None:
    missed = report_in(tmp_path).measure({"time": partial(section, 2)}, [], Console(quiet=True))

    assert [bar.what for bar in missed] == ["speed"]
