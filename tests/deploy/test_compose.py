"""The compose files have the form of the specification, and set settings that exist together."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.configured import extension_settings
from gateway.settings.setting_sources import unknown_variables
from gateway.settings.settings import Settings
from tests.deploy.tools import ROOT, compose_schema, needs_tools

FILES = ("docker-compose.yml", "examples/regions/docker-compose.yml")


@pytest.fixture(params=FILES)
def compose(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(ROOT)
    loaded: dict[str, Any] = yaml.safe_load(Path(request.param).read_text(encoding="utf-8"))
    return loaded


def ours(compose: dict[str, Any]) -> dict[str, Any]:
    return {name: service for name, service in compose["services"].items() if "build" in service}


@needs_tools
def test_a_compose_file_has_the_form_of_the_specification(compose: dict[str, Any]) -> None:
    import jsonschema  # which takes seconds to load

    jsonschema.Draft202012Validator(compose_schema()).validate(compose)


def test_each_service_starts_with_settings_that_exist(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, service in ours(compose).items():
        with monkeypatch.context() as patched:
            assert unknown_variables(extension_settings.fields(), service["environment"]) == []
            for variable, value in service["environment"].items():
                patched.setenv(variable, value.replace("?set a key for the operator", "-" * 16))
            settings = Settings()
        assert settings.database_url is not None, name
        assert settings.redis_url is not None, name


def test_gateway_and_worker_see_a_folder_to_ingest() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))

    for service in ours(compose).values():
        (mount,) = service["volumes"]
        folder, _, target = mount.removeprefix("${DOCUMENTS:-").partition("}:")
        assert (ROOT / folder).is_dir()
        assert target == "/documents:ro"
