"""The pages of sources, jobs and open questions, with a worker that works when it is told to."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.extensions.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.workers import worker_services

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of all tenants' sources."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        folder = tmp_path_factory.mktemp("sources")
        monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(folder))
        monkeypatch.setenv("NEARHIT_SOURCES_WEB_HOSTS", "help.example")
        yield folder


@pytest.fixture(scope="module")
def settings(module_settings: Settings, root: Path) -> Settings:
    changes = {
        "job_retry_delay_s": 0.01,
        "job_attempts_max": 1,
        "confidence_min": 0.99,
    }
    return module_settings.model_copy(update=changes)


@pytest.fixture(scope="module")
async def worker(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    async with running(settings, embedder) as started:
        yield started


@pytest.fixture(scope="module")
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with worker_services(settings, embedder) as made:
        yield made


@pytest.fixture
async def gateway(worker: Gateway) -> Gateway:
    return await worker.with_new_tenant()


@pytest.fixture(autouse=True)
def folder(root: Path, gateway: Gateway) -> Path:
    """What the source of the test's tenant reads."""
    folder = root / gateway.tenant_name / "handbook"
    folder.mkdir(parents=True)
    (folder / "leave.md").write_text("# Leave\n\nEverybody gets 25 days of annual leave a year.\n")
    return folder


async def work(services: Services) -> None:
    await worker_loop.make_worker(services.worker).drain()


async def add_source(console: Console, *, wrong_path: str = "") -> None:
    page = console.page
    await page.get_by_role("button", name="Add a source").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("handbook")
    if wrong_path:
        await dialog.get_by_label("Path").fill(wrong_path)
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("within the tenant's folder")
    await dialog.get_by_label("Path").fill("handbook")
    await dialog.get_by_label("Schedule").fill("0 3 * * *")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator("tbody")).to_contain_text("folder: handbook")


SCRIPT = "<img src=x onerror=\"document.title='stolen'\"><script>alert(1)</script>"


async def test_a_script_in_what_callers_wrote_is_text_on_every_page(
    console: Console, admin: Caller
) -> None:
    await admin.call("PUT", "/v1/search/questions/recording", json={"kept_days": 7})
    faq = {"question": SCRIPT, "answer": SCRIPT, "category": "<i>", "keywords": ["<b>"]}
    written = [
        await admin.call("PUT", "/v1/faqs/evil", json=faq),
        await admin.call("POST", "/v1/keys", json={"subject": "eve", "name": SCRIPT}),
    ]
    assert [answer.status_code for answer in written] == [200, 201]
    for _ in range(2):
        await admin.search(f"who is {SCRIPT}?")
    await wait_for_question(admin)
    await console.open(admin.key)

    for page in ("FAQs", "Questions", "Insight", "Keys and tokens"):
        await console.go(page)
        await expect(console.page.locator("main")).to_contain_text("<img src=x onerror")
        assert await console.page.locator("main img, main script").count() == 0
        assert "stolen" not in await console.page.title()


async def wait_for_question(admin: Caller) -> None:
    """A low-confidence question is stored some time after its answer."""
    async with asyncio.timeout(60):
        while not (await admin.call("GET", "/v1/curation")).json()["items"]:
            await asyncio.sleep(0.05)


class TestSources:
    async def test_what_the_deployment_forbids_is_no_button_to_press(
        self, console: Console, admin: Caller
    ) -> None:
        told = {"receives": False, "allowed": False}
        await console.page.route("**/v1/public-documents", lambda route: route.fulfill(json=told))
        await console.open(admin.key, "#/sources")

        await expect(console.page.get_by_role("button", name="Receive them")).to_be_disabled()

    async def test_a_source_is_added_and_read_and_the_page_follows(
        self, console: Console, services: Services, admin: Caller, ana: Caller
    ) -> None:
        await console.open(admin.key, "#/sources")
        await expect(console.page.locator("main")).to_contain_text("No sources")

        await add_source(console)
        await console.page.get_by_role("button", name="Read now handbook").click()
        await expect(console.page.locator(".status")).to_contain_text("The worker reads it")
        await work(services)
        await expect(console.page.locator("tbody")).to_contain_text("added 1")

        assert await ana.found("annual leave") == ["handbook/leave.md"]

    @pytest.mark.thorough
    async def test_a_source_is_paused_and_resumed_with_its_settings(
        self, console: Console, admin: Caller
    ) -> None:
        await console.open(admin.key, "#/sources")
        await add_source(console, wrong_path="../other")
        before = (await admin.call("GET", "/v1/sources")).json()["sources"][0]

        await console.page.get_by_role("button", name="Pause handbook").click()
        await expect(console.page.locator("tbody")).to_contain_text("paused")
        paused = (await admin.call("GET", "/v1/sources")).json()["sources"][0]
        await console.page.get_by_role("button", name="Resume handbook").click()
        await expect(console.page.locator("tbody")).not_to_contain_text("paused")
        after = (await admin.call("GET", "/v1/sources")).json()["sources"][0]

        assert (paused["state"], paused["settings"]) == ("paused", before["settings"])
        assert after == before

    @pytest.mark.thorough
    async def test_web_pages_are_a_source_whose_url_is_checked_at_its_field(
        self, console: Console, admin: Caller
    ) -> None:
        await console.open(admin.key, "#/sources")
        await console.page.get_by_role("button", name="Add a source").click()
        dialog = console.page.get_by_role("dialog")
        await dialog.get_by_label("Kind").select_option("web")
        await dialog.get_by_label("Name").fill("help")
        await dialog.get_by_label("Only below").fill("/help/")

        await dialog.get_by_label("URL").fill("ftp://help.example/")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_label("URL")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("URL").fill("https://help.example/help/sitemap.xml")
        await dialog.get_by_role("button", name="Save").click()
        await expect(console.page.locator("tbody")).to_contain_text("web: https://help.example")
        await console.page.get_by_role("button", name="Change help").click()
        await expect(dialog.get_by_label("Only below")).to_have_value("/help/")
        await dialog.get_by_label("Pages a second").fill("0.5")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_have_count(0)

        (source,) = (await admin.call("GET", "/v1/sources")).json()["sources"]
        assert (source["kind"], source["settings"]["pages_per_s"]) == ("web", 0.5)
        assert source["settings"]["within"] == "/help/"

    @pytest.mark.thorough
    async def test_deleting_a_source_deletes_its_documents(
        self, console: Console, services: Services, admin: Caller, ana: Caller
    ) -> None:
        await console.open(admin.key, "#/sources")
        await add_source(console)
        await admin.call("POST", "/v1/sources/handbook/reindex")
        await work(services)
        assert await ana.found("annual leave") == ["handbook/leave.md"]

        await expect(console.page.locator("tbody")).to_contain_text("documents 1")
        await console.page.get_by_role("button", name="Delete handbook").click()
        dialog = console.page.get_by_role("dialog")
        await expect(dialog).to_contain_text("You may read 1 document of it.")
        await console.page.keyboard.press("Enter")
        await expect(dialog.get_by_role("alert")).to_contain_text("Type handbook to confirm")
        await dialog.get_by_label("Type handbook to confirm").fill("handbook")
        await dialog.get_by_role("button", name="Delete").click()
        await expect(dialog).to_have_count(0)
        await work(services)
        await expect(console.page.locator("main")).to_contain_text("No sources")

        assert await ana.found("annual leave") == []

    @pytest.mark.thorough
    async def test_a_source_whose_folder_is_empty_asks_an_admin(
        self, console: Console, services: Services, folder: Path, admin: Caller, ana: Caller
    ) -> None:
        source = {"kind": "folder", "settings": {"path": "handbook"}}
        await admin.call("PUT", "/v1/sources/handbook", json=source)
        await admin.call("POST", "/v1/sources/handbook/reindex")
        await work(services)
        await asyncio.to_thread((folder / "leave.md").unlink)
        await admin.call("POST", "/v1/sources/handbook/reindex")
        await work(services)
        await console.open(admin.key, "#/sources")
        await expect(console.page.locator("tbody")).to_contain_text("needs attention")
        await expect(console.page.locator("tbody")).to_contain_text("1 document is no longer there")

        await console.page.get_by_role("button", name="Remove missing handbook").click()
        await console.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        await expect(console.page.get_by_role("dialog")).to_have_count(0)
        await work(services)
        await expect(console.page.locator("tbody")).to_contain_text("idle")

        assert await ana.found("annual leave") == []


class TestJobs:
    @pytest.mark.thorough
    async def test_a_failed_job_is_replayed(
        self, console: Console, services: Services, folder: Path, admin: Caller, ana: Caller
    ) -> None:
        source = {"kind": "folder", "settings": {"path": "handbook"}}
        await admin.call("PUT", "/v1/sources/handbook", json=source)
        moved = await asyncio.to_thread(folder.rename, folder.parent / "moved")
        await admin.call("POST", "/v1/sources/handbook/reindex")
        await work(services)
        await console.open(admin.key, "#/jobs?state=failed")
        rows = console.page.locator("tbody tr")
        await expect(rows).to_have_count(1)

        await asyncio.to_thread(moved.rename, folder)
        await console.page.get_by_label("Choose all that are shown").check()
        await console.page.get_by_role("button", name="Replay 1").click()
        await expect(console.page.locator("main")).to_contain_text("No jobs")
        await work(services)
        await console.page.get_by_label("State").select_option("done")

        await expect(rows.first).to_contain_text("done")
        assert await ana.found("annual leave") == ["handbook/leave.md"]

    async def test_a_writer_follows_its_own_jobs_and_changes_none(
        self, console: Console, services: Services, ana: Caller, ben: Caller
    ) -> None:
        for caller, name in ((ana, "a"), (ben, "b")):
            queued = await caller.call(
                "PUT",
                f"/v1/documents/{name}",
                json={"text": "Annual leave."},
                headers={"Prefer": "respond-async"},
            )
            assert queued.status_code == 202
        await console.open(ana.key, "#/jobs")
        rows = console.page.locator("tbody tr")

        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("waiting")
        await expect(console.page.get_by_role("button", name="Delete")).to_have_count(0)
        await work(services)

        await expect(rows).to_contain_text("done")

    @pytest.mark.thorough
    async def test_older_jobs_are_on_further_pages_and_followed_there(
        self, console: Console, services: Services, ana: Caller
    ) -> None:
        for number in range(51):
            await ana.call(
                "PUT",
                f"/v1/documents/d{number}",
                json={"text": "Annual leave."},
                headers={"Prefer": "respond-async"},
            )
        await console.open(ana.key, "#/jobs")
        rows = console.page.locator("tbody tr")
        await expect(rows).to_have_count(50)
        await expect(rows.first).to_contain_text("document:d50")

        await console.page.get_by_role("button", name="Older jobs").click()
        await expect(rows).to_have_count(1)
        await expect(rows.last).to_contain_text("document:d0")
        await work(services)
        await expect(rows.last).to_contain_text("done")
        assert await console.violations() == []
        await console.page.get_by_role("button", name="Newer jobs").click()

        await expect(rows).to_have_count(50)
        await expect(console.page.get_by_role("button", name="Newer jobs")).to_have_count(0)

    @pytest.mark.thorough
    async def test_a_job_is_deleted_after_a_question(
        self, console: Console, ana: Caller, admin: Caller
    ) -> None:
        queued = await ana.call(
            "PUT",
            "/v1/documents/a",
            json={"text": "Annual leave."},
            headers={"Prefer": "respond-async"},
        )
        job_id = queued.json()["job_id"]
        await console.open(admin.key, "#/jobs")

        await console.page.get_by_role("button", name=f"Delete {job_id}").click()
        await console.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(console.page.locator("main")).to_contain_text("No jobs")

        problem(await admin.call("GET", f"/v1/jobs/{job_id}"), 404)


class TestQuestions:
    async def test_a_question_is_answered_and_the_next_search_finds_the_answer(
        self, console: Console, ana: Caller, admin: Caller
    ) -> None:
        await ana.put("leave", "Annual leave.", readers=["tenant"])
        await ana.search("who keeps the keys?")
        await wait_for_question(admin)
        await console.open(admin.key, "#/questions")
        page = console.page

        await page.get_by_role("button", name="Answer", exact=True).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Answer", exact=True).fill("The concierge keeps the keys.")
        await dialog.get_by_role("button", name="Save the answer").click()
        await expect(page.locator(".empty")).to_contain_text("No open questions")
        await page.get_by_role("button", name="Answered").click()
        await expect(page.get_by_role("article")).to_contain_text("Answered by curation/")

        hits = (await ana.search("who keeps the keys?")).json()["hits"]
        assert "The concierge keeps the keys." in hits[0]["text"]

    @pytest.mark.thorough
    async def test_an_answer_can_become_a_faq(
        self, console: Console, ana: Caller, admin: Caller
    ) -> None:
        await ana.search("who keeps the keys?")
        await wait_for_question(admin)
        await console.open(admin.key, "#/questions")
        await console.page.get_by_role("button", name="Answer", exact=True).click()
        dialog = console.page.get_by_role("dialog")

        await dialog.get_by_label("Answer", exact=True).fill("The concierge.")
        await dialog.get_by_label("Save it as").select_option("faq")
        await dialog.get_by_label("Category").fill("keys")
        await dialog.get_by_role("button", name="Save the answer").click()
        await expect(dialog).to_have_count(0)
        await console.go("FAQs")

        await expect(console.page.locator("tbody tr")).to_contain_text("who keeps the keys?")
        await expect(console.page.locator("tbody tr")).to_contain_text("The concierge.")
        await expect(console.page.locator("tbody tr")).to_contain_text("keys")

    @pytest.mark.thorough
    async def test_the_least_score_is_set_where_its_effect_on_all_answers_is_shown(
        self, console: Console, ana: Caller, admin: Caller
    ) -> None:
        await ana.put("leave", "Annual leave lasts 25 days.", readers=["tenant"])
        for question in ("how long is annual leave?", "how long is annual leave?", "moon keys?"):
            await ana.search(question)
        await wait_for_question(admin)
        await admin.call("PUT", "/v1/confidence", json={"score_min": 0.0})
        (hit,) = (await ana.search("how long is annual leave?")).json()["hits"]  # a sure answer
        await admin.call("PUT", "/v1/confidence", json={})
        least = round(hit["score"] - 0.01, 2)
        await console.open(admin.key, "#/questions")
        await console.page.get_by_text("How sure an answer has to be").click()
        form = console.page.get_by_role("form", name="Least score")
        save = form.get_by_role("button", name="Save")
        effect = form.get_by_role("status")

        await expect(effect).to_contain_text("Type a score")
        await expect(form.locator("svg rect.memory")).to_have_count(2)
        await form.get_by_label("Least score").fill("1")
        await expect(effect).to_contain_text("flagged 4 of 4 answers, 100.0 %")
        await expect(form.locator("svg rect.low_confidence")).to_have_count(2)
        await form.get_by_label("Least score").fill(str(least))
        await expect(effect).to_contain_text("flagged 1 of 4 answers, 25.0 %")
        await expect(form.locator("svg rect.memory")).to_have_count(1)
        await form.get_by_text("What each least score would have flagged").click()
        thresholds = form.locator("table").last.locator("tbody tr")
        await expect(thresholds.first).to_have_text("0.05125.0 %")
        await expect(thresholds.last).to_have_text("1.004100.0 %")
        await form.get_by_label("Of single sources").fill("wiki 0.4")
        await save.click()
        await expect(form.get_by_role("alert")).to_contain_text("must be a name and a score")
        await form.get_by_label("Of single sources").fill("wiki: 0.4")
        await form.get_by_label("Answer instead").fill("Ask the office.")
        assert await console.violations() == []
        await save.click()
        await expect(console.page.locator(".status")).to_contain_text("from the next request on")

        assert (await admin.call("GET", "/v1/confidence")).json() == {
            "score_min": least,
            "sources": {"wiki": 0.4},
            "fallback": "Ask the office.",
        }

    @pytest.mark.thorough
    async def test_of_two_who_answer_one_question_the_second_is_told(
        self, console: Console, ana: Caller, admin: Caller
    ) -> None:
        await ana.search("who keeps the <b>keys</b>?")
        await wait_for_question(admin)
        await console.open(admin.key, "#/questions")
        page = console.page
        await expect(page.get_by_role("article")).to_contain_text("<b>keys</b>")
        (item,) = (await admin.call("GET", "/v1/curation")).json()["items"]
        await page.get_by_role("button", name="Answer", exact=True).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Answer", exact=True).fill("The concierge.")

        path = f"/v1/curation/{item['item_id']}/resolve"
        await admin.call("POST", path, json={"dismiss": True})
        await dialog.get_by_role("button", name="Save the answer").click()

        await expect(dialog.get_by_role("alert")).to_contain_text("dismissed already")
        await expect(dialog.get_by_label("Answer", exact=True)).to_have_value("The concierge.")


@pytest.mark.sampled("light")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(console: Console, ana: Caller, admin: Caller, scheme: str) -> None:
    source = {"kind": "folder", "settings": {"path": "handbook"}}
    await admin.call("PUT", "/v1/sources/handbook", json=source)
    await admin.call("POST", "/v1/sources/handbook/reindex")
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.page.set_viewport_size(PHONE)
    await console.open(admin.key)

    for name in ("Sources", "Jobs", "Questions"):
        await console.go(name)
        assert await console.violations() == []
        width = await console.page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= PHONE["width"]
        cut_off = await console.page.locator(".scroll").evaluate_all(
            "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).length"
        )
        assert cut_off == 0, name
