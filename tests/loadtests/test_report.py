from pathlib import Path

from loadtests.bench_index import report
from loadtests.bench_index.section import Bar, Section


def section(figure: float) -> Section:
    bars = [Bar("speed", figure, at_most=1.0), Bar("recall", 0.99, at_least=0.99)]
    return Section("Time", "It flies.", {"speed": figure}, bars, "2026-01-31", "a machine")


def test_a_section_holds_if_all_its_bars_do() -> None:
    assert section(1.0).held
    assert not section(1.1).held


def test_a_report_keeps_what_was_measured_before(tmp_path: Path) -> None:
    file = tmp_path / "benchmarks" / "index.md"

    report.write(file, {"time": section(1.1)})

    assert report.read(file) == {"time": section(1.1)}
    assert "| speed | 1.1 | at most 1 | **no** |" in file.read_text()
    assert report.read(tmp_path / "other.md") == {}
