"""The image has every extra that a gateway in production can use, and runs as the chart expects."""

import re
import tomllib
from typing import Any

import yaml

from gateway.extensions.embedded_servers.owned_servers import PACKAGES
from tests.deploy.tools import CHART, ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# It puts load on a gateway from elsewhere; and 250 MB that read scans, which few have.
LEFT_OUT = {"load", "ocr"}


def directives(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def test_the_image_has_most_extras_and_no_servers() -> None:
    (extras,) = directives("ARG")

    installed = set(extras.removeprefix("EXTRAS=").split(","))
    assert installed == PROJECT["project"]["optional-dependencies"].keys() - LEFT_OUT
    assert '".[$EXTRAS]"' in DOCKERFILE
    assert "uninstall --yes " + " ".join(PACKAGES).replace("_", "-") in DOCKERFILE


def test_every_package_of_the_image_is_pinned() -> None:
    pinned = {
        line.partition("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    extras = PROJECT["project"]["optional-dependencies"]
    required = [
        *PROJECT["project"]["dependencies"],
        *(package for name in extras.keys() - LEFT_OUT for package in extras[name]),
    ]
    names = {re.split(r"[\[>=; ]", requirement)[0].lower() for requirement in required}

    assert names <= pinned
    assert DOCKERFILE.count("--constraint constraints.txt") == DOCKERFILE.count(" install ")


def test_the_image_runs_as_the_number_of_the_chart_on_the_port_of_the_chart() -> None:
    pod = (CHART / "templates" / "_helpers.tpl").read_text(encoding="utf-8")
    (user,) = directives("USER")
    (port,) = directives("EXPOSE")
    service = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["service"]

    assert user == "{}:{}".format(*re.findall(r"runAs(?:User|Group): (\d+)", pod))
    assert int(port) == service["port"]
