"""Environments in which some of the installed packages are missing."""

import sysconfig
from collections.abc import Collection
from pathlib import Path


def link_packages(folder: Path, *, without: Collection[str]) -> Path:
    """A folder of links to all that is installed except some; for `python -S` and PYTHONPATH."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name.partition("-")[0].partition(".")[0] not in without:
            (folder / path.name).symlink_to(path)
    return folder
