"""Settings of extensions: from the sources of the core's, and told wherever these are."""

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from common.command_errors import CommandError
from gateway.configured import extension_settings
from gateway.settings.settings import Settings
from tests.gateway.extensions.test_extensions import example, forgotten, install, site
from tests.gateway.support.commands import command, refused, succeeds

__all__ = ["forgotten", "site"]  # fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.blocking]

MODEL = """
from pydantic import BaseModel, Field, SecretStr
class Own(BaseModel):
    token: SecretStr | None = Field(None)
    rows: int = Field(5, ge=1)
    title: str = Field("none")
"""


class Own(BaseModel):
    """What the extension `suggest` of these tests has read."""

    token: str | None
    rows: int
    title: str


@pytest.fixture
def suggest(site: Path, request: pytest.FixtureRequest) -> None:
    """An extension with settings; each test's is a module of its own."""
    text = example().replace("    open=_open,\n", "    open=_open,\n    settings=Own,\n")
    text = text.replace("_CALL = ", MODEL + "\n_CALL = ")
    install(site, "suggest", f"suggest_{abs(hash(request.node.name))}", text)


def own() -> Own:
    read = extension_settings.read("")["suggest"].model_dump()
    token = read["token"]
    return Own(**read | {"token": token and token.get_secret_value()})


@pytest.mark.usefixtures("suggest")
def test_a_variable_wins_over_a_file_of_a_secret_and_that_over_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own() == Own(token=None, rows=5, title="none")

    (tmp_path / "token").write_text("of-its-file\n")
    table = 'port = 9000\n[extensions.suggest]\ntoken = "of-the-table"\nrows = 7\ntitle = "t"\n'
    (tmp_path / "nearhit.toml").write_text(table)
    monkeypatch.setenv("NEARHIT_CONFIG", str(tmp_path / "nearhit.toml"))
    monkeypatch.setenv("NEARHIT_SUGGEST_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("NEARHIT_SUGGEST_ROWS", "8")

    assert own() == Own(token="of-its-file", rows=8, title="t")
    assert Settings().port == 9000

    report = extension_settings.report(Settings(), extension_settings.read(""))

    differing = {name: report.differing[name] for name in report.differing if "suggest" in name}
    assert differing == {"suggest_token": "(secret)", "suggest_rows": 8, "suggest_title": "t"}
    assert {name: report.origins[name] for name in differing} == {
        "suggest_token": "NEARHIT_SUGGEST_TOKEN_FILE",
        "suggest_rows": "NEARHIT_SUGGEST_ROWS",
        "suggest_title": str(tmp_path / "nearhit.toml"),
    }
    assert report.unknown == report.unused == []


@pytest.mark.usefixtures("suggest")
@pytest.mark.parametrize(
    ("variable", "table", "complaint"),
    [
        ("0", "", "NEARHIT_SUGGEST_ROWS: .*greater than or equal to 1"),
        ("", "suggest.row = 3", "suggest_row is no setting; did you mean suggest_rows"),
        ("", "typo.rows = 3", "extensions.typo is no extension; there are access_explanation, "),
        ("", "suggest = 3", "extensions must have a table for each extension"),
        ("", f"suggest.rows = {'[' * 2_000}", "is no TOML file: maximum recursion depth"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, table: str, complaint: str
) -> None:
    (tmp_path / "nearhit.toml").write_text(f"[extensions]\n{table}\n")
    monkeypatch.setenv("NEARHIT_CONFIG", str(tmp_path / "nearhit.toml"))
    monkeypatch.setenv("NEARHIT_SUGGEST_ROWS", variable)

    with pytest.raises(CommandError, match=complaint):
        extension_settings.read("")


def test_a_setting_that_the_core_has_is_refused(site: Path) -> None:
    text = example().replace("    open=_open,\n", "    open=_open,\n    settings=Own,\n")
    own = "from pydantic import BaseModel\nclass Own(BaseModel):\n    url: str = ''\n\n"
    text = text.replace("_CALL = ", own + "_CALL = ")
    install(site, "database", "of_the_database", text)

    with pytest.raises(CommandError, match="database: the setting NEARHIT_DATABASE_URL is taken"):
        extension_settings.read("")


async def test_check_shows_what_an_extension_reads_and_refuses_what_it_does_not_know() -> None:
    variables = {"NEARHIT_SCIM_SUBJECT": "externalId"}

    done = await succeeds(variables, "config", "check", "--json")
    misspelled = await command({"NEARHIT_SCIM_SUBJCT": "externalId"}, "config", "check")
    invalid = await refused({"NEARHIT_SCIM_SUBJECT": "email"}, "config", "check")

    assert json.loads(done) == {
        "settings": {
            "NEARHIT_SCIM_SUBJECT": {"value": "externalId", "from": "NEARHIT_SCIM_SUBJECT"}
        },
        "unknown": [],
        "unused": [],
        "servers": [],
    }
    assert misspelled.exit_code == 1
    assert "SCIM_SUBJCT is no setting; did you mean NEARHIT_SCIM_SUBJECT?" in misspelled.stdout
    assert "NEARHIT_SCIM_SUBJECT: " in invalid


@pytest.mark.parametrize(
    "variable", ["SUBSCRIPTIONS_RETENTION_DAYS", "AUDIT_LOG_RETENTION_DAYS", "CURATION_ITEMS_MAX"]
)
async def test_a_number_that_no_statement_can_take_is_refused(variable: str) -> None:
    said = await refused({f"NEARHIT_{variable}": "9999999999"}, "config", "check")

    assert f"NEARHIT_{variable}: Input should be less than or equal to " in said


@pytest.mark.parametrize("recorded", ["all", "changes"])
async def test_an_audit_log_that_nothing_tells_of_reads_says_so(recorded: str) -> None:
    off = {"NEARHIT_EXTENSIONS_OFF": "access_log", "NEARHIT_AUDIT_LOG": recorded}

    (unused,) = json.loads(await succeeds(off, "config", "check", "--json"))["unused"]
    silent = json.loads(
        await succeeds(off | {"NEARHIT_AUDIT_LOG": "off"}, "config", "check", "--json")
    )

    assert unused.startswith(f"NEARHIT_AUDIT_LOG={recorded} records changes alone")
    assert silent["unused"] == []


async def test_what_is_switched_off_makes_its_settings_unused_and_refuses_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "nearhit.toml").write_text('[extensions.scim]\nsubject = "email"\n')
    off = {
        "NEARHIT_CONFIG": str(tmp_path / "nearhit.toml"),
        "NEARHIT_EXTENSIONS_OFF": "scim",
        "NEARHIT_SCIM_SUBJECT": "email",
    }

    done = await succeeds(off, "config", "check", "--json")
    shown = await succeeds(off, "config", "check")

    unused = [
        "NEARHIT_SCIM_SUBJECT is not used: the extension scim is off",
        "the table extensions.scim is not used: the extension is off",
    ]
    assert json.loads(done)["unused"] == unused
    assert json.loads(done)["settings"].keys() == {"NEARHIT_EXTENSIONS_OFF"}
    assert all(sentence in shown for sentence in unused)
