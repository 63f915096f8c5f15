"""What the figures were measured on."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path


def description(packages: Sequence[str]) -> str:
    """One line: processor, memory, how busy it is, system, Python, and what of which version."""
    versions = ", ".join([*_commit(), *(f"{name} {version(name)}" for name in packages)])
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"load {os.getloadavg()[0]:.1f} before; "
        f"{platform.system()}, Python {platform.python_version()}{versions and '; '}{versions}"
    )


def _commit() -> list[str]:
    """Of a checkout, and whether its code is another by now; none where it was installed."""
    folder = Path(__file__).parents[2]
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return []

    def told(*arguments: str) -> str:
        command = [git, "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return done.stdout.strip()

    changed = told("diff", "--name-only", "HEAD", "--", "*.py", "*.sql")
    return [f"commit {told('rev-parse', '--short', 'HEAD')}{' and changes' if changed else ''}"]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        model = re.search(r"^model name\s*: (.+)$", information.read_text(), re.MULTILINE)
        if model:
            return model[1]
    return platform.processor() or platform.machine()
