"""Settings from files of secrets and from a TOML file."""

import os
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from common.command_errors import CommandError
from gateway.problems import field_errors
from gateway.settings import setting_report, setting_sources
from gateway.settings.settings import Settings

FIELDS = Settings.model_fields


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(setting_sources.PREFIX)]:
        monkeypatch.delenv(name)


def file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_variable_wins_over_a_file_of_a_secret_and_that_over_the_toml_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = 'port = 9000\nregion = "home"\nadmin_key = "of-the-toml-file-0"\nlog_queries = true\n'
    monkeypatch.setenv("NEARHIT_CONFIG", file(tmp_path, "nearhit.toml", config))
    monkeypatch.setenv("NEARHIT_ADMIN_KEY_FILE", file(tmp_path, "key", "of-its-own-file-00\n"))
    monkeypatch.setenv("NEARHIT_PORT", "9001")

    settings = Settings()

    assert settings.admin_key is not None
    assert settings.admin_key.get_secret_value() == "of-its-own-file-00"
    assert (settings.port, settings.region, settings.log_queries) == (9001, "home", True)


@pytest.mark.parametrize("path", ["/dev/zero", "large"])
def test_a_file_without_an_end_is_not_read_into_memory(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(tmp_path, "large", "x" * 1_048_577)
    monkeypatch.setenv("NEARHIT_ADMIN_KEY_FILE", str(tmp_path / path))

    with pytest.raises(CommandError, match="has more than 1,048,576 bytes"):
        Settings()


def test_a_secret_with_a_variable_and_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_ADMIN_KEY", "of-the-variable-00")
    monkeypatch.setenv("NEARHIT_ADMIN_KEY_FILE", file(tmp_path, "key", "of-its-own-file-00"))

    with pytest.raises(CommandError, match="NEARHIT_ADMIN_KEY or NEARHIT_ADMIN_KEY_FILE, not both"):
        Settings()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prot = 9000", "prot is no setting; did you mean port?"),
        ("[servers]\nport = 9000", "servers is no setting"),
        ("port = ", "is no TOML file"),
        ("port = 9000\nport = 9001", "is no TOML file"),
    ],
)
def test_a_toml_file_that_is_wrong_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    monkeypatch.setenv("NEARHIT_CONFIG", file(tmp_path, "nearhit.toml", text))

    with pytest.raises(CommandError, match=reason.replace("?", r"\?")):
        Settings()


@pytest.mark.parametrize("name", ["NEARHIT_CONFIG", "NEARHIT_DATABASE_URL_FILE"])
def test_a_file_that_can_not_be_read_is_named_with_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, str(tmp_path / "absent"))

    with pytest.raises(CommandError, match=f"{name}|DATABASE_URL_FILE.*No such file"):
        Settings()


def test_unknown_variables_are_named_with_the_most_similar_setting() -> None:
    variables = {
        "NEARHIT_DEADLNE_S": "3",
        "NEARHIT_DATABASE_URL": "postgresql://",
        "NEARHIT_ADMIN_KEY_FILE": "/key",
        "NEARHIT_CONFIG": "nearhit.toml",
        "NEARHIT_SERVICE_HOST": "10.0.0.1",  # of Kubernetes
        "NEARHIT_PORT_8080_TCP_ADDR": "10.0.0.1",
        "NEARHIT_PORT_FILE": "/port",  # no secret, so there is no such file
        "HOME": "/root",
    }

    assert setting_sources.unknown_variables(FIELDS, variables) == [
        "NEARHIT_DEADLNE_S is no setting; did you mean NEARHIT_DEADLINE_S?",
        "NEARHIT_PORT_FILE is no setting; did you mean NEARHIT_PORT?",
    ]


def test_the_report_of_settings_shows_no_secret() -> None:
    settings = Settings(
        database_url="postgresql://ana:secret-1@host/db",
        admin_key="secret-2-of-operator",
        otlp_endpoint="http://ana:secret-3@collector:4318",
        port=9000,
    )

    report = setting_report.differing(settings)

    assert report == {
        "database_url": "(secret)",
        "admin_key": "(secret)",
        "otlp_endpoint": "http://…@collector:4318",
        "port": 9000,
    }


def test_a_child_process_gets_a_secret_once() -> None:
    variables = {"NEARHIT_ADMIN_KEY_FILE": "/key", "HOME": "/root"}

    setting_sources.replace(variables, {"NEARHIT_ADMIN_KEY": "of-the-operator"})

    assert variables == {"NEARHIT_ADMIN_KEY": "of-the-operator", "HOME": "/root"}


def test_a_table_is_a_text_or_a_table_of_the_toml_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = '[chat_models]\nanswer = "large"\nrewrite = "a=b, c"\n'
    monkeypatch.setenv("NEARHIT_CONFIG", file(tmp_path, "nearhit.toml", config))
    monkeypatch.setenv("NEARHIT_PRICES", " embedding = 0.02,chat_input=1, ")
    monkeypatch.setenv("NEARHIT_JWT_CLAIMS", "groups=https://example.com/groups?all=1")

    settings = Settings()

    assert settings.chat_models == {"answer": "large", "rewrite": "a=b, c"}
    assert settings.prices == {"embedding": 0.02, "chat_input": 1.0}
    claims = "https://example.com/groups?all=1", "sub"
    assert (settings.claim("groups"), settings.claim("subject")) == claims
    assert setting_report.differing(settings)["prices"] == "embedding=0.02, chat_input=1.0"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rewite=small", "NEARHIT_CHAT_MODELS: rewite: .*'rewrite'"),
        ("rewrite", "NEARHIT_CHAT_MODELS: .*NAME=VALUE.*; rewrite is not"),
        ("=small", "NEARHIT_CHAT_MODELS: .*; =small is not"),
        ("answer=a, answer=b", "NEARHIT_CHAT_MODELS: .*; answer comes twice"),
        ('{"answer": "a"}', "NEARHIT_CHAT_MODELS: .*NAME=VALUE"),
    ],
)
def test_a_table_that_is_none_is_refused(
    text: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_CHAT_MODELS", text)

    with pytest.raises(ValidationError) as refused:
        Settings()

    assert re.search(
        reason, "; ".join(field_errors.of_settings(refused.value, "NEARHIT_", Settings))
    )
