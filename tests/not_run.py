"""The end of a run: what was not run, and why. In CI nothing may be skipped."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from tests.system_programs import NEEDS

_LEFT_NAME = "left_to_thorough"
_LEFT = pytest.StashKey[int]()  # how many tests were left to `make thorough`


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("thorough"):
            item.config.stash[_LEFT] = item.config.stash.get(_LEFT, 0) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each process of a parallel run has collected, and left out, the same tests."""
    node.config.stash[_LEFT] = getattr(node, "workeroutput", {}).get(_LEFT_NAME, 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: TerminalReporter) -> Iterator[None]:
    yield  # what others say of the run comes first
    if left := terminalreporter.config.stash.get(_LEFT, 0):
        terminalreporter.write_line(f"not run: {_tests(left)} of `make thorough`")
    for reason, number in _reasons(terminalreporter).items():
        tests = _tests(number)
        package = reason.removeprefix(NEEDS)
        if package == reason:
            terminalreporter.write_line(f"not run: {tests}: {reason}", yellow=True)
        else:
            terminalreporter.write_line(
                f"not run: {tests} without {package}; install the package {package}", yellow=True
            )


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number} tests"


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run in CI fails if a test was skipped."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_LEFT_NAME] = session.config.stash.get(_LEFT, 0)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "CI" in os.environ and exitstatus == 0 and reporter and _reasons(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _reasons(reporter: TerminalReporter) -> Counter[str]:
    reasons: Counter[str] = Counter()
    for report in reporter.stats.get("skipped", ()):
        _path, _line, reason = report.longrepr
        reasons[reason.removeprefix("Skipped: ")] += 1
    return reasons
