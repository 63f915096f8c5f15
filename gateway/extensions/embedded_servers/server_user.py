"""The user that the servers run as, and the programs that it can reach."""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
from pathlib import Path
from typing import Any


def process_options() -> dict[str, Any]:
    """Return the options that run a program with an empty environment and not as root."""
    options: dict[str, Any] = {"env": {"LC_ALL": "C"}, "cwd": "/"}
    if os.geteuid() == 0:  # Postgres refuses to run as root
        nobody = pwd.getpwnam("nobody")
        options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return options


def give_to_servers(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, "nobody")


def inaccessible_folder(path: Path) -> Path | None:
    """Return the outermost folder of a path that the servers' user cannot enter."""
    if os.geteuid() != 0:
        return None
    folders = reversed([path, *path.parents])
    return next((folder for folder in folders if not folder.stat().st_mode & stat.S_IXOTH), None)


def find_package(name: str, data_dir: Path) -> Path:
    """Return the folder of an installed package, without importing it, or of its copy.

    As root the servers run as nobody, who may not enter the package's own folder.
    """
    spec = importlib.util.find_spec(name)
    assert spec is not None, "the parent has checked that it is installed"
    assert spec.origin is not None
    package = Path(spec.origin).resolve().parent
    return _copy_package(package, data_dir) if inaccessible_folder(package) else package


def _copy_package(package: Path, data_dir: Path) -> Path:
    name = package.name
    copy = data_dir / f"{name}-{importlib.metadata.version(name)}"
    if not copy.exists():
        for other in data_dir.glob(f"{name}-*"):
            shutil.rmtree(other)
        partial = data_dir / f"{name}-partial"
        # The programs load their libraries from this folder beside the package.
        for part in (package, package.with_name(f"{name}.libs")):
            if part.exists():
                shutil.copytree(part, partial / part.name)
        for path in (partial, *partial.rglob("*")):
            path.chmod(0o755)
        partial.rename(copy)
    return copy / name
