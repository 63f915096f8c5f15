"""What the figures were measured on."""

import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path


def description(packages: Sequence[str]) -> str:
    """One line: processor, memory, how busy it is, system, Python, and the packages' versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"load {os.getloadavg()[0]:.1f} before; "
        f"{platform.system()}, Python {platform.python_version()}; {versions}"
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        model = re.search(r"^model name\s*: (.+)$", information.read_text(), re.MULTILINE)
        if model:
            return model[1]
    return platform.processor() or platform.machine()
