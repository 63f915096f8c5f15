"""The end of a run: what was not run, and why. In CI nothing may be left out."""

import os
from collections import Counter

import pytest
from _pytest.terminal import TerminalReporter

from tests.system_programs import NEEDS


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    for reason, number in _reasons(terminalreporter).items():
        tests = "1 test" if number == 1 else f"{number} tests"
        package = reason.removeprefix(NEEDS)
        if package == reason:
            terminalreporter.write_line(f"not run: {tests}: {reason}", yellow=True)
        else:
            terminalreporter.write_line(
                f"not run: {tests} that need {package}; install the package {package}", yellow=True
            )


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run in CI fails if a test was not run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "CI" in os.environ and exitstatus == 0 and reporter and _reasons(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _reasons(reporter: TerminalReporter) -> Counter[str]:
    reasons: Counter[str] = Counter()
    for report in reporter.stats.get("skipped", ()):
        _path, _line, reason = report.longrepr
        reasons[reason.removeprefix("Skipped: ")] += 1
    return reasons
