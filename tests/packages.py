"""Environments in which some of the installed packages are missing."""

import sysconfig
import venv
from collections.abc import Collection, Iterator, Sequence
from importlib import metadata, util
from importlib.metadata import Distribution
from pathlib import Path

from packaging.requirements import Requirement


def link_packages(folder: Path, *, without: Collection[str]) -> Path:
    """A folder of links to all that is installed except some; for `python -S` and PYTHONPATH."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name.partition("-")[0].partition(".")[0] not in without:
            (folder / path.name).symlink_to(path)
    return folder


def make_environment(folder: Path, requirements: Sequence[str]) -> Path:
    """A new virtual environment with links to what `pip install` would bring for requirements.

    pip, which takes half a minute for ninety packages, finds all of them installed. It is there
    itself once `python -m venv` has been called for the folder again.
    """
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for distribution in _required(map(Requirement, requirements)):
        for file in distribution.files or ():
            if ".." not in file.parts:  # as programs are, which the environment would have to start
                _link(Path(str(distribution.locate_file(file))), site / file)
    return folder / "bin"


def _required(requirements: Iterator[Requirement]) -> Iterator[Distribution]:
    """What is installed for the requirements, and for theirs."""
    waiting, found = list(requirements), set[tuple[str, frozenset[str]]]()
    while waiting:
        requirement = waiting.pop()
        asked = requirement.name, frozenset(requirement.extras)
        if asked in found:
            continue
        found.add(asked)
        distribution = metadata.distribution(requirement.name)
        yield distribution
        for each in map(Requirement, distribution.requires or ()):
            extras = requirement.extras or {""}
            if each.marker is None or any(each.marker.evaluate({"extra": name}) for name in extras):
                waiting.append(each)


def _link(file: Path, link: Path) -> None:
    """Link to the file, and to what Python has compiled of it."""
    if link.is_symlink():
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(file)
    if file.suffix == ".py":
        compiled = Path(util.cache_from_source(str(file)))
        if compiled.exists():
            _link(compiled, link.parent / compiled.parent.name / compiled.name)
