"""The console of a gateway whose extensions are off offers nothing that would answer 404."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import FilePayload, Response, expect

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import ADMIN_KEY
from tests.gateway.extensions.console.browser import Console
from tests.gateway.extensions.console.test_search_page import ask
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = pytest.mark.anyio


OFF = (
    "answers,curation,evaluation,faqs,mcp,plans,provenance,rag,search_as,similar_questions,vector_stores,"
    "why_not"
)


@pytest.fixture(scope="module")
def names_off(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", OFF)


@pytest.fixture(scope="module")
async def worker(
    module_settings: Settings, embedder: Embedder, names_off: str
) -> AsyncIterator[Gateway]:
    changes = {"extensions_off": names_off}
    async with running(module_settings.model_copy(update=changes), embedder) as started:
        yield started


@pytest.fixture(scope="module")
async def complete(module_settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """A gateway that also makes tenants and keys."""
    async with running(module_settings, embedder) as started:
        yield started


@pytest.fixture
async def gateway(worker: Gateway, complete: Gateway) -> Gateway:
    return Gateway(worker.client, await complete.new_tenant())


@pytest.fixture
async def admin(gateway: Gateway, complete: Gateway) -> Caller:
    tenant = gateway.tenant_name
    return gateway.as_(await complete.caller("ada", tenant=tenant, roles=["admin"]))


@pytest.mark.parametrize(
    ("names_off", "pages_off"),
    [
        (OFF, {"Evaluation", "FAQs", "Questions"}),
        ("activity", {"Audit log", "Insight"}),
        ("access_explanation,budgets,jobs,tenants", {"Jobs", "Tenants"}),
        ("sources", {"Sources"}),
        ("keys", {"Groups", "Keys and tokens"}),
    ],
    indirect=["names_off"],
    scope="module",
)
async def test_no_page_asks_for_what_is_off(
    console: Console, admin: Caller, pages_off: set[str]
) -> None:
    absent: list[str] = []

    def note(response: Response) -> None:
        if response.status == 404:
            absent.append(response.url)

    console.page.on("response", note)
    shown: set[str] = set()
    for key in (admin.key, ADMIN_KEY):
        await console.open(key)
        pages = await console.page.locator("nav a").all_inner_texts()
        shown.update(pages)
        for page in pages:
            await console.go(page)
            await console.settle()

    assert {"Documents", "Operation"} <= shown
    assert not pages_off & shown
    assert absent == []


async def test_insight_shows_searches_without_curation(console: Console, admin: Caller) -> None:
    await console.open(admin.key)
    await console.go("Insight")

    await expect(console.page.get_by_role("region", name="Searches")).to_be_visible()


async def test_a_request_is_shown_in_no_form_that_is_off(console: Console, admin: Caller) -> None:
    await console.open(admin.key)
    await ask(console, "annual leave")
    await console.page.get_by_text("The request as code").click()

    forms = await console.page.get_by_role("tab").all_inner_texts()
    assert forms == ["curl", "Python", "TypeScript"]
    for name in ("Write an answer", "A document that I expected", "A plan of several searches"):
        await expect(console.page.get_by_text(name)).to_have_count(0)


async def test_a_question_is_asked_with_nothing_that_is_off(
    console: Console, admin: Caller
) -> None:
    await console.open(admin.key)
    await console.page.get_by_text("Scopes, filter and ranking").click()

    await expect(console.page.get_by_label("explain the scores")).to_be_visible()
    await expect(console.page.get_by_label("Rerank")).to_have_count(0)
    await expect(console.page.get_by_label("of a similar question")).to_have_count(0)
    await expect(console.page.get_by_text("See as somebody else")).to_have_count(0)


@pytest.mark.thorough
async def test_a_file_that_needs_an_extension_is_refused_with_its_name(
    console: Console, admin: Caller
) -> None:
    await console.open(admin.key, "#/documents")
    await console.page.get_by_role("button", name="Upload files").click()
    file = FilePayload(name="plan.pdf", mimeType="application/pdf", buffer=b"%PDF-1.7")
    await console.page.get_by_label("Files").set_input_files([file])
    await console.page.get_by_role("button", name="Upload", exact=True).click()

    await expect(console.page.get_by_text("its extension vector_stores is off")).to_be_visible()


@pytest.mark.parametrize("names_off", ["openapi"], indirect=True, scope="module")
async def test_the_reference_says_that_its_description_is_off(console: Console) -> None:
    await console.page.goto(f"{console.url}/docs")

    await expect(console.page.locator("main")).to_contain_text("The extension openapi is off")
