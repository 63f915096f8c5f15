"""Extensions: of the repository and of other distributions, switched on and off."""

import asyncio
import importlib
import pkgutil
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

import gateway as gateway_package
from common.command_errors import CommandError
from gateway.api.routes.table import routes
from gateway.cli import operations
from gateway.cli.start.setting_checks import require_valid
from gateway.configured import (
    configured_embedders,
    configured_parts,
    configured_tracing,
    configured_web_tokens,
    installed_extensions,
)
from gateway.extension import Extension
from gateway.extensions._files import installed_formats
from gateway.extensions._ingest import path_kinds
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.kinds import kind_of, open_source
from gateway.extensions._sources.source import Defaults, Item, RefusedItem
from gateway.monitoring.metrics import Metrics
from gateway.recording.usage_meter import no_usage_meter
from gateway.settings import found_extensions
from gateway.settings.settings import Settings
from index.model.document import Document
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import connected as mcp_connected
from tests.gateway.support.commands import WAIT_S_MAX, process_output, refused
from tests.gateway.support.gateways import problem, running

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "extension"
OWN = (
    "access_explanation",
    "access_log",
    "activity",
    "answers",
    "audits",
    "backup",
    "budgets",
    "console",
    "context_check",
    "conversations",
    "curation",
    "documents_batch",
    "embedded_servers",
    "embedders",
    "evaluation",
    "faqs",
    "formats",
    "import",
    "ingest_commands",
    "jobs",
    "keys",
    "loadtest",
    "mcp",
    "openapi",
    "openfga",
    "opentelemetry",
    "plans",
    "popularity",
    "preprocessing",
    "provenance",
    "rabbitmq",
    "rag",
    "receipts",
    "redis_cluster",
    "reembed",
    "regions",
    "replay",
    "rerankers",
    "scim",
    "search_as",
    "search_batch",
    "search_command",
    "setup_commands",
    "similar_questions",
    "sources",
    "sources_git",
    "sources_postgres",
    "sources_records",
    "sources_web",
    "status_commands",
    "subscriptions",
    "tenants",
    "vector_stores",
    "web_tokens",
    "why_not",
)
_NOT_FORBIDDEN = {
    "gateway.__main__",
    "gateway.extension",
    "gateway.extensions",
}
_OPEN = "    open=_open,\n"
_WORKS = f"{_OPEN}    work=lambda services, stop: _work(services, stop),\n"
_WORK = """
import asyncio
STARTED, ENDED = asyncio.Event(), []
async def _work(services, stop):
    STARTED.set()
    await stop.wait()
    ENDED.append(services)
"""
_ENTRY = """
[nearhit.extensions]
{name} = {module}:EXTENSION
[nearhit.commands]
{name} = {module}_commands:COMMANDS
[nearhit.formats]
{name} = {module}_formats:FORMATS
[nearhit.path_kinds]
{name} = {module}_path_kinds:PATH_KINDS
[nearhit.servers]
{name} = {module}_servers:SERVERS
"""
_LINES = """
from gateway.extensions._sources.kinds import PathKind
from gateway.extensions._sources.source import document
def documents(request):
    for number, line in enumerate(request.path.read_text().splitlines()):
        own = {{"document_id": f"{{request.name}}/{{number}}", "source": request.name}}
        fields = request.defaults.fields() | own
        yield document(fields | {{"title": line, "text": line, "uri": ""}})
PATH_KINDS = (PathKind("{name}", documents, (".lines",)),)
"""
_FORMATS = """
from gateway.extensions._files.extracted import Extracted, ReadOptions, Unreadable
from gateway.extensions._files.formats import Format
def read(content, options):
    if content == b"quiet":
        raise Unreadable("says nothing")
    return Extracted(content.decode().upper(), title="Yells")
FORMATS = (Format("a YELL", ("{suffix}",), read),)
"""
_EMBEDDER = """
from gateway.extension import EmbedderKind, Extension
EXTENSION = Extension("x", embedders={"mine:MODEL": EmbedderKind(lambda *given: given[1])})
"""
_PREPROCESSOR = """
from gateway.extension import Extension
EXTENSION = Extension("x", preprocessor="cutter")
"""
_COMMANDS = """
import typer
COMMANDS = typer.Typer()
@COMMANDS.command()
def {command}():
    "Say a title."
    print("Annual leave")
@COMMANDS.command()
def other():
    pass
"""


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Extensions are found anew within the test, and after it."""
    _forget()
    yield
    _forget()
    load("")


def load(names_off: str) -> list[str]:
    """The names of the extensions that are on; a gateway too loads them before its event loop."""
    installed_formats.formats(names_off)
    return [*installed_extensions.switched_on(names_off)]


def _forget() -> None:
    found_extensions.found.cache_clear()
    installed_formats.formats.cache_clear()
    path_kinds.path_kinds.cache_clear()
    installed_extensions.switched_on.cache_clear()


@pytest.fixture
def site(forgotten: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python imports from, until extensions are forgotten again."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def install(
    site: Path,
    name: str,
    module: str,
    text: str,
    commands: str = "COMMANDS = None",
    formats: str = "FORMATS = ()",
    path_kinds: str = "PATH_KINDS = ()",
    servers: str = "SERVERS = ()",
) -> None:
    """What an installer leaves of a distribution with one extension."""
    (site / f"{module}.py").write_text(text)
    (site / f"{module}_commands.py").write_text(commands)
    (site / f"{module}_formats.py").write_text(formats)
    (site / f"{module}_path_kinds.py").write_text(path_kinds)
    (site / f"{module}_servers.py").write_text(servers)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(_ENTRY.format(name=name, module=module))
    importlib.invalidate_caches()


def example(module: str = "nearhit_suggest") -> str:
    """The example as it runs in the repository, whose packages have no package around them."""
    text = (EXAMPLE / f"{module}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    return re.sub(r"(?m)^from nearhit\.", "from ", text)


@pytest.fixture
def suggesting(site: Path) -> None:
    """The example is installed."""
    install(site, "suggest", "nearhit_suggest", example())
    assert load("vector_stores") == [*(name for name in OWN if name != "vector_stores"), "suggest"]


@pytest.fixture
def working(site: Path, process: str) -> Any:
    """The module of an extension that works beside the jobs of a process."""
    install(site, "suggest", f"working_{process}", example().replace(_OPEN, _WORKS) + _WORK)
    load("")
    return sys.modules[f"working_{process}"]


@pytest.mark.isolated
@pytest.mark.usefixtures("suggesting")
async def test_an_extension_of_somebody_else_answers_callers_within_their_rights(
    settings: Settings, embedder: Embedder
) -> None:
    with_it = settings.model_copy(update={"extensions_off": "vector_stores"})
    async with running(with_it, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        ben = await gateway.caller("ben")
        await ana.put("leave", "25 days.", title="Annual leave", readers=["tenant"])
        await ana.put("pay", "My pay.", title="Annual pay of Ana", uri="https://pay.example/ana")
        own = await ana.call("GET", "/v1/suggest?q=annual")
        others = await ben.call("GET", "/v1/suggest?q=annual")
        empty = await ben.call("GET", "/v1/suggest?q=")
        unknown = await ben.call("GET", "/v1/suggest?q=annual&other=1")
        stranger = await gateway.stranger.call("GET", "/v1/suggest?q=annual")
        described = (await gateway.stranger.call("GET", "/openapi.json")).json()["paths"]

    titles = dict(zip(own.json()[1], own.json()[3], strict=True))
    assert titles == {"Annual leave": "", "Annual pay of Ana": "https://pay.example/ana"}
    assert others.json() == ["annual", ["Annual leave"], [], [""]]
    assert others.headers["content-type"] == "application/x-suggestions+json"
    for answer in (empty, unknown):
        problem(answer, 422)
    problem(stranger, 401)
    assert described["/v1/suggest"]["get"]["parameters"][0]["name"] == "q"


@pytest.mark.thorough
@pytest.mark.isolated
async def test_what_is_switched_off_answers_nothing_and_is_not_described(
    settings: Settings, embedder: Embedder
) -> None:
    # These show whether others are on, and have tests of their own.
    others = ", ".join(name for name in OWN if name not in ("mcp", "openapi"))
    off = settings.model_copy(update={"extensions_off": others})
    async with running(settings, embedder) as complete:
        await complete.tenant("acme")
        admin = await complete.caller("ada", roles=["admin"])
    before = asyncio.all_tasks()
    async with running(off, embedder) as gateway:
        ada = gateway.as_(admin)
        described = (await ada.call("GET", "/openapi.json")).json()["paths"]
        users = await ada.call("GET", "/scim/v2/Users")
        # Nothing renders OpenAI's errors any more, also for one of its clients.
        stores = await ada.call("GET", "/v1/vector_stores", headers={"x-stainless-lang": "js"})
        faq = await ada.call("PUT", "/v1/faqs/a", json={"question": "Anything?", "answer": "No."})
        confidence = await ada.call("GET", "/v1/confidence")
        subscriptions = await ada.call("GET", "/v1/subscriptions")
        keys = await ada.call("GET", "/v1/keys")
        answer = await ada.call("POST", "/v1/answer", json={"query": "anything"})
        batch = await ada.call("POST", "/v1/search/batch", json={"searches": [{"query": "any"}]})
        seen = {"subject": "ben", "search": {"query": "anything"}}
        as_ben = await ada.call("POST", "/v1/search/as", json=seen)
        found = await ada.found("anything")
        async with mcp_connected(ada) as client:
            resources = client.server_capabilities.resources
            tools = [tool.name for tool in (await client.list_tools()).tools]
            (template,) = (await client.list_resource_templates()).resource_templates
            with pytest.raises(MCPError, match="Method not found"):
                async with client.listen(resource_subscriptions=["nearhit://search?query=leave"]):
                    pass
        begun = asyncio.all_tasks() - before

    paths = (
        "scim|vector_stores|faq|curation|confidence|gates|questions|strategies|plan|subscriptions|"
        "keys|tokens|groups|/answer|compress|search/|cache/"
    )
    assert not [path for path in described if re.search(paths, path)]
    assert tools == ["search", "fetch", "list_sources"]
    for missing in (users, stores, faq, confidence, subscriptions, keys, answer, batch, as_ben):
        problem(missing, 404)
    assert found == []
    assert resources is not None
    assert not resources.subscribe
    assert "listen" not in (template.description or "").lower()
    assert not [task for task in begun if "gateway/extensions" in repr(task)]


@pytest.mark.sampled("worker")
@pytest.mark.isolated
@pytest.mark.parametrize("process", ["gateway", "worker"])
async def test_what_an_extension_runs_beside_jobs_runs_until_these_stop(
    working: Any, settings: Settings, embedder: Embedder, process: str
) -> None:
    stop = asyncio.Event()

    if process == "gateway":
        with_jobs = settings.model_copy(update={"serve_jobs": True})
        async with running(with_jobs, embedder), asyncio.timeout(WAIT_S_MAX):
            await working.STARTED.wait()
            assert not working.ENDED
    else:
        worker = asyncio.create_task(operations.run_worker(settings, 60.0, Metrics(), stop))
        async with asyncio.timeout(WAIT_S_MAX):
            await working.STARTED.wait()
            assert not working.ENDED
            stop.set()
            await worker

    assert [type(services).__name__ for services in working.ENDED] == ["SearchServices"]


@pytest.mark.usefixtures("forgotten")
def test_a_name_that_no_extension_has_is_refused() -> None:
    with pytest.raises(CommandError, match=f"there are {', '.join(OWN)}"):
        installed_extensions.switched_on("scim, typo")


def test_two_extensions_of_one_name_are_refused(site: Path) -> None:
    install(site, "scim", "other_scim", example())

    with pytest.raises(CommandError, match="both bring an extension scim"):
        installed_extensions.switched_on("")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import nothing_such\n", "ModuleNotFoundError.*or add broken to NEARHIT_EXTENSIONS_OFF"),
        ("other = 1\n", "AttributeError"),
        ("EXTENSION = 'some text'\n", "is no `gateway.extension.Extension`"),
    ],
)
def test_an_extension_that_is_none_is_named_and_can_be_switched_off(
    site: Path, text: str, complaint: str
) -> None:
    module = f"broken_{abs(hash(text))}"
    install(site, "broken", module, text)

    with pytest.raises(CommandError, match=f"extension broken of {module} 1.0 .*{complaint}"):
        installed_extensions.switched_on("")
    assert [*installed_extensions.switched_on("broken")] == [*OWN]


@pytest.mark.usefixtures("forgotten")
def test_a_call_that_is_taken_is_refused() -> None:
    scim = installed_extensions.switched_on("")["scim"]
    twice: dict[str, Extension[object]] = {"scim": scim, "again": scim}

    with pytest.raises(CommandError, match="extension again: POST /scim/v2/Users is taken"):
        routes(twice)


@pytest.mark.usefixtures("forgotten")
def test_a_kind_of_sources_that_is_taken_is_refused() -> None:
    own = installed_extensions.switched_on("")
    records = own["sources_records"]
    other: Extension[None] = Extension("other", contributes=records.contributes)

    with pytest.raises(CommandError, match="two extensions read sources of one kind"):
        routes({"sources": own["sources"], "records": records, "other": other})


def test_an_extension_makes_the_embedders_of_its_kind_and_no_others(site: Path) -> None:
    install(site, "mine", "mine", _EMBEDDER)

    made: object = configured_embedders.make(Settings(embedder="mine:x"), "mine:x", lambda *_: None)

    assert made == "x"
    for name in ("mine", "mine:", "other:x"):
        with pytest.raises(CommandError, match=f"no embedder '{name}': choose .*, mine:MODEL$"):
            configured_embedders.check(Settings(), name)


def test_one_extension_preprocesses_documents(site: Path) -> None:
    install(site, "cutter", "cutter", _PREPROCESSOR)

    with pytest.raises(CommandError, match="preprocessing and cutter preprocess documents: add"):
        configured_parts.preprocessor(Settings())
    assert configured_parts.preprocessor(Settings(extensions_off="cutter,preprocessing")) is None
    made: object = configured_parts.preprocessor(Settings(extensions_off="preprocessing"))
    assert made == "cutter"


@pytest.mark.usefixtures("forgotten")
def test_a_collector_needs_an_extension_that_sends_spans() -> None:
    off = Settings(otlp_endpoint="http://127.0.0.1:9", extensions_off="opentelemetry")

    with pytest.raises(CommandError, match="NEARHIT_OTLP_ENDPOINT needs one extension"):
        configured_tracing.find(off, "nearhit")
    assert configured_tracing.find(Settings(), "nearhit") is None


@pytest.mark.usefixtures("forgotten")
def test_keys_of_web_tokens_need_an_extension_that_reads_these() -> None:
    off = Settings(jwt_jwks_url="https://login.example/keys", extensions_off="web_tokens")

    with pytest.raises(CommandError, match="NEARHIT_JWT_JWKS_URL needs one extension"):
        configured_web_tokens.find(off)
    assert configured_web_tokens.find(Settings()) is None


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize(
    ("setting", "value"), [("budget_month", 0.0), ("prices", {"embedding": 0.02})]
)
def test_a_budget_and_prices_need_an_extension_that_meters(setting: str, value: Any) -> None:
    off = Settings(extensions_off="budgets", **{setting: value})

    with pytest.raises(CommandError, match=f"NEARHIT_{setting.upper()} needs one extension"):
        require_valid(off)
    assert configured_parts.usage_meter(Settings(extensions_off="budgets")) is no_usage_meter


def test_an_extension_reads_files_of_its_format_and_refuses_them_once_it_is_off(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "yell", "yell", "1 / 0\n", formats=_FORMATS.format(suffix=".yell"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    folder = site / "notes"
    folder.mkdir()
    (folder / "a.YELL").write_text("hello")
    (folder / "b.yell").write_text("quiet")

    def read(names_off: str) -> list[Item]:
        defaults = Defaults(formats=installed_formats.formats(names_off))
        return list(FolderSource(folder, defaults).documents())

    document, refused = read("")
    off = read("yell")

    assert isinstance(document, Document)
    assert (document.title, document.text) == ("Yells", "HELLO\n")
    assert refused == RefusedItem("b.yell", "says nothing")
    why = "is read by the extension yell, which is off"
    assert off == [RefusedItem("a.YELL", why), RefusedItem("b.yell", why)]


def test_files_that_two_extensions_would_read_are_read_by_the_one_that_is_on(site: Path) -> None:
    install(site, "pdfs", "pdfs", "1 / 0\n", formats=_FORMATS.format(suffix=".pdf"))
    install(site, "ends", "ends", "1 / 0\n", formats="import nothing_such\n")

    with pytest.raises(CommandError, match=r"extension pdfs: \.pdf is read already"):
        installed_formats.formats("ends")
    with pytest.raises(CommandError, match=r"extension ends of ends 1\.0 can't be loaded"):
        installed_formats.formats("formats")
    assert installed_formats.formats("formats, ends")[".pdf"].name == "a YELL"
    assert installed_formats.formats("pdfs, ends")[".pdf"].name == "a PDF"


def test_an_extension_reads_a_path_of_its_kind_in_a_process_of_its_own(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "lines", "lines", "1 / 0\n", path_kinds=_LINES.format(name="lines"))
    install(site, "other", "other", "1 / 0\n", path_kinds=_LINES.format(name="csv"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    path = site / "poem.lines"
    path.write_text("One.\nTwo.\n")

    kinds = path_kinds.path_kinds("other")
    source = open_source(kinds[kind_of(path, kinds)], path, Defaults(), name=None, columns={})

    read = [item.document_id for item in source.documents() if isinstance(item, Document)]
    assert read == ["poem/0", "poem/1"]
    assert path_kinds.path_kinds("lines, other")["lines"].missing
    with pytest.raises(CommandError, match="extension other: csv is read already"):
        path_kinds.path_kinds("")


async def test_a_call_that_is_taken_is_told_before_anything_starts(site: Path) -> None:
    text = example().replace('"/v1/suggest"', '"/v1/documents"')
    install(site, "suggest", "taken_suggest", text)

    line = await refused({}, "config", "check")

    assert "extension suggest: GET /v1/documents is taken" in line


@pytest.fixture
def titles(site: Path) -> dict[str, str]:
    """The environment in which an extension adds commands; its other module is of no use."""
    install(site, "titles", "titles", "1 / 0\n", _COMMANDS.format(command="title"))
    return {"PYTHONPATH": str(site)}


async def test_a_command_of_an_extension_is_shown_and_run_without_the_rest_of_it(
    titles: dict[str, str],
) -> None:
    shown = await process_output(titles, "--help")
    ran = await process_output(titles, "title")

    assert shown[0] == 0
    assert "Say a title." in shown[1]
    assert shown[2] == ""
    assert ran == (0, "Annual leave\n", "")


@pytest.mark.thorough
async def test_a_command_of_what_is_switched_off_is_neither_shown_nor_there(
    titles: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "nearhit.toml").write_text('extensions_off = "titles"\n')
    off = titles | {"NEARHIT_CONFIG": str(tmp_path / "nearhit.toml")}

    status, shown, complaint = await process_output(off, "--help")
    missing = await process_output(off, "title")

    assert (status, complaint) == (0, "")
    assert "Say a title." not in shown
    assert missing[0] == 2
    assert "No such command 'title'" in missing[2]


BROKEN_COMMANDS = {  # what is said of them, of which the first word is the name of the extension
    "import nothing_such\n": "imports of imports 1.0 can't be loaded: Module",
    "COMMANDS = 'some text'\n": "texts of texts 1.0 can't be loaded: its commands is no `typer",
    _COMMANDS.format(command="serve"): "an extension brings a command serve, which is taken",
}


@pytest.mark.thorough
async def test_broken_commands_of_extensions_are_told_and_leave_the_others(site: Path) -> None:
    for commands, complaint in BROKEN_COMMANDS.items():
        name = complaint.partition(" ")[0]
        install(site, name, name, "1 / 0\n", commands)
    environment = {"PYTHONPATH": str(site)}

    status, shown, told = await process_output(environment, "--help")
    version = await process_output(environment, "--version")
    core = await process_output(environment, "serve", "--help")

    assert status == 0
    assert "dead-letters" in shown
    assert len(told.splitlines()) == len(BROKEN_COMMANDS)
    for complaint in BROKEN_COMMANDS.values():
        assert complaint in told
    assert (version[0], version[2]) == (core[0], core[2]) == (0, "")
    assert "Port to listen on" in core[1]


def test_the_contract_forbids_extensions_all_of_the_gateway_but_what_is_for_them() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (
        contract
        for contract in linter["contracts"]
        if contract.get("source_modules") == ["gateway.extensions.*"]
    )
    modules = {
        f"gateway.{module.name}" for module in pkgutil.iter_modules(gateway_package.__path__)
    }

    assert modules - set(contract["forbidden_modules"]) == _NOT_FORBIDDEN
