"""The systemd units run commands that exist, with settings that exist, and stop in time."""

import configparser
import re
from pathlib import Path

import pytest

from gateway.cli.main import app
from gateway.settings.settings import Settings
from tests.deploy.tools import ROOT

UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_runs_a_command_and_waits_for_its_requests(unit: Path) -> None:
    parsed = configparser.RawConfigParser(strict=True)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    parsed.read_string(unit.read_text(encoding="utf-8"))
    service = parsed["Service"]
    program, command = service["ExecStart"].split()

    commands = {
        each.name or each.callback.__name__ for each in app.registered_commands if each.callback
    }
    assert program == "/opt/nearhit/bin/nearhit"
    assert command in commands
    assert int(service["TimeoutStopSec"]) > Settings.model_fields["shutdown_s"].default
    for name in re.findall(r"NEARHIT_([A-Z_]+)=", service.get("Environment", "")):
        assert name.lower() in Settings.model_fields
