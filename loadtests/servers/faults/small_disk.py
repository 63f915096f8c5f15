"""A small file system in memory, if this user may mount one."""

import subprocess
from contextlib import suppress
from pathlib import Path

_DISK_MB = 16


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._ballast = folder / "ballast"
        mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m,mode=755", "nearhit", str(folder)]
        self.is_there = subprocess.run(mount, capture_output=True, check=False).returncode == 0  # noqa: S603

    def fill(self) -> None:
        with suppress(OSError), self._ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def clear(self) -> None:
        self._ballast.unlink()

    def remove(self) -> None:
        if self.is_there:
            subprocess.run(["umount", str(self.folder)], check=True)  # noqa: S603, S607
