"""The compose files set settings that exist, together in a way that the gateway accepts."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.settings import Settings
from tests.docs.named_tests import ROOT

FILES = ("docker-compose.yml", "examples/regions/docker-compose.yml")


@pytest.fixture(params=FILES)
def services(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(ROOT)
    loaded: dict[str, Any] = yaml.safe_load(Path(request.param).read_text())
    return {name: service for name, service in loaded["services"].items() if "build" in service}


def test_each_service_starts_with_settings_that_exist(
    services: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, service in services.items():
        with monkeypatch.context() as patched:
            for variable, value in service["environment"].items():
                assert variable.removeprefix("NEARHIT_").lower() in Settings.model_fields, variable
                patched.setenv(variable, value.replace("?set a key for the operator", "-" * 16))
            settings = Settings()
        assert settings.database_url is not None, name
        assert settings.redis_url is not None, name
