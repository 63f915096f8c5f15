"""The machine on which figures are measured."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path


def description(packages: Sequence[str]) -> str:
    """One line: processor, cores, memory, load, system, Python and versions."""
    versions = ", ".join([*_commit(), *(f"{name} {version(name)}" for name in packages)])
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"load {os.getloadavg()[0]:.1f} before; "
        f"{platform.system()}, Python {platform.python_version()}{versions and '; '}{versions}"
    )


def _commit() -> list[str]:
    """The commit of a checkout and whether code has changed; empty for an installed package."""
    folder = Path(__file__).parents[2]
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return []

    def git_output(*arguments: str) -> str:
        command = [git, "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return done.stdout.strip()

    changed = git_output("diff", "--name-only", "HEAD", "--", "*.py", "*.sql")
    return [
        f"commit {git_output('rev-parse', '--short', 'HEAD')}{' and changes' if changed else ''}"
    ]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        model = re.search(r"^model name\s*: (.+)$", information.read_text(), re.MULTILINE)
        if model:
            return model[1]
    return platform.processor() or platform.machine()
