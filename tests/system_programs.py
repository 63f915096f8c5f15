"""Programs that some tests need and Python packages don't bring: which are missing, and install.

    python -m tests.system_programs [PACKAGE…]    # what `make test` does first

A test that needs a missing program is not run; the end of the run lists such tests, and in CI it
fails.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

# Debian's and Ubuntu's packages, each with its programs. Servers may stand where only root looks.
PACKAGES = {
    "chromium-headless-shell": ("chromium-headless-shell",),
    "curl": ("curl",),
    "git": ("git",),
    "openssl": ("openssl",),
    "pgbouncer": ("pgbouncer",),
    "prometheus": ("prometheus", "promtool"),
    # What /usr/sbin has of RabbitMQ insists on a user of its own.
    "rabbitmq-server": ("/usr/lib/rabbitmq/bin/rabbitmq-server", "epmd"),
    "redis-server": ("redis-server",),
}
# Node.js from elsewhere brings npm, and Debian's package would then be refused.
_ON_REQUEST = {"npm": ("npm",)}  # by `make examples`
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_APT = ("apt-get", "-qq", "-y", "--no-install-recommends")
NEEDS = "needs "


def find(program: str) -> Path | None:
    found = shutil.which(program, path=_PATH)
    return Path(found) if found else None


def missing(packages: Mapping[str, Sequence[str]] = PACKAGES) -> list[str]:
    return [name for name, programs in packages.items() if not all(map(find, programs))]


def needs(package: str) -> pytest.MarkDecorator:
    """Of a test that is not run without the package."""
    return pytest.mark.skipif(package in missing(), reason=f"{NEEDS}{package}")


def require(package: str, program: str | None = None) -> Path:
    """The package's program, the first unless named; without it the test is not run."""
    found = find(program or PACKAGES[package][0])
    if found is None:
        pytest.skip(f"{NEEDS}{package}")
    return found


def main() -> int:
    """Install what is missing, where that is possible; the tests go on without the rest."""
    known = PACKAGES | _ON_REQUEST
    packages = missing({name: known[name] for name in sys.argv[1:] or PACKAGES})
    if not packages:
        return 0
    become_root = _become_root()
    if become_root is None or find("apt-get") is None:
        print(f"Not installed: {', '.join(packages)}. Tests that need them are not run.")
        return 0
    print(f"Installing for the tests, by apt-get: {', '.join(packages)}", flush=True)
    _apt(become_root, "update")
    # One that can't be installed must not keep the others out.
    if _apt(become_root, "install", *packages):
        for package in packages:
            _apt(become_root, "install", package)
    return 0


def _become_root() -> Sequence[str] | None:
    """What a command begins with to run as root; None if that needs a password."""
    if os.geteuid() == 0:
        return ()
    sudo = ("sudo", "--non-interactive")
    has_sudo = find("sudo") and not subprocess.run([*sudo, "true"], check=False).returncode  # noqa: S603
    return sudo if has_sudo else None


def _apt(become_root: Sequence[str], *words: str) -> int:
    command = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", *_APT, *words]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode  # noqa: S603  apt-get


if __name__ == "__main__":
    sys.exit(main())
