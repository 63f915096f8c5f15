"""The console's frame: how it is served, how one logs in, and what it does in bad times."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, expect

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.console.browser import PHONE, Console, tab
from tests.gateway.support.gateways import Caller, Gateway, connected, problem, running, serving

pytestmark = pytest.mark.anyio

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def assets_of(gateway: Gateway) -> list[str]:
    page = await gateway.client.get("/console")
    return re.findall(r'"(/console/assets/[^"]+)"', page.text)


class TestServing:
    async def test_the_page_is_checked_each_time_and_sent_once(self, gateway: Gateway) -> None:
        first = await gateway.client.get("/console")
        again = await gateway.client.get(
            "/console", headers={"If-None-Match": first.headers["etag"]}
        )

        assert first.status_code == 200
        assert first.headers["cache-control"] == "no-cache"
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]

    async def test_its_files_have_addresses_that_never_change_their_content(
        self, gateway: Gateway
    ) -> None:
        addresses = await assets_of(gateway)

        assert {address.rpartition(".")[2] for address in addresses} == {"css", "js", "svg"}
        for address in addresses:
            answer = await gateway.client.get(address)
            assert answer.status_code == 200
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["x-content-type-options"] == "nosniff"

    @pytest.mark.parametrize("name", ["none.js", "index.html", "..%2Fconsole_files.py"])
    async def test_there_is_no_other_file(self, gateway: Gateway, name: str) -> None:
        folder = (await assets_of(gateway))[0].rpartition("/")[0]

        problem(await gateway.client.get(f"{folder}/{name}"), 404)

    async def test_files_of_another_version_are_not_mixed_in(self, gateway: Gateway) -> None:
        problem(await gateway.client.get("/console/assets/0123456789abcdef/main.js"), 404)

    async def test_every_answer_forbids_foreign_content(self, gateway: Gateway) -> None:
        for address in ("/console", *await assets_of(gateway)):
            headers = (await gateway.client.get(address)).headers
            policy = dict(
                part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
            )
            assert policy["default-src"] == "'none'"
            assert policy["script-src"] == policy["connect-src"] == "'self'"
            assert policy["frame-ancestors"] == policy["trusted-types"] == "'none'"
            assert headers["referrer-policy"] == "no-referrer"
            assert "set-cookie" not in headers

    @pytest.mark.isolated
    async def test_one_setting_turns_it_off(self, settings: Settings, embedder: Embedder) -> None:
        off = settings.model_copy(update={"extensions_off": "console"})

        async with running(off, embedder) as without:
            for address in ("/console", "/console/"):
                problem(await without.client.get(address), 404)
            assert (await without.client.get("/", headers=BROWSER)).status_code == 200

    async def test_a_browser_is_led_to_it_from_the_address_alone(self, gateway: Gateway) -> None:
        led = await gateway.client.get("/", headers=BROWSER)
        told = await gateway.client.get("/")

        assert (led.status_code, led.headers["location"]) == (303, "/console")
        assert told.json()["name"] == "nearhit"
        assert led.headers["vary"] == told.headers["vary"] == "Accept"

    async def test_a_slash_at_the_end_leads_to_the_page(self, gateway: Gateway) -> None:
        answer = await gateway.client.get("/console/")

        assert (answer.status_code, answer.headers["location"]) == (308, "/console")


class TestLoggingIn:
    async def test_what_is_no_key_and_a_wrong_one_are_told_and_a_right_one_enters(
        self, console: Console, ana: Caller, gateway: Gateway
    ) -> None:
        page = console.page
        await page.goto(f"{console.url}/console")
        await expect(page.get_by_label("Key")).to_be_focused()
        assert await console.violations() == []

        await console.log_in("chave única")  # without a request
        await expect(page.get_by_role("alert")).to_contain_text("This is no key")
        await console.log_in("nh_no-such-key")
        await expect(page.get_by_role("alert")).to_contain_text("revoked or expired")
        await expect(page.get_by_role("alert")).not_to_contain_text("Bearer")
        await console.log_in(ana.key)

        await expect(page.locator("header")).to_contain_text("ana")
        await expect(page.locator("header")).to_contain_text(gateway.tenant_name)

    async def test_the_key_is_stored_nowhere(self, console: Console, ana: Caller) -> None:
        await console.open(ana.key)

        stored = await console.page.evaluate(
            "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, "
            "location.href, document.body.outerHTML])"
        )
        assert ana.key is not None
        assert ana.key not in stored
        await console.page.reload()
        await expect(console.page.get_by_label("Key")).to_have_value("")

    async def test_a_revoked_key_is_asked_for_again_and_the_page_stays_for_its_caller_alone(
        self, console: Console, admin: Caller, ana: Caller
    ) -> None:
        keys = [
            (await admin.call("POST", "/v1/keys", json={"subject": "eve"})).json() for _ in "12"
        ]
        page, question = console.page, console.page.get_by_label("Question", exact=True)
        dialog = page.get_by_role("dialog")
        await console.open(keys[0]["key"])
        await question.fill("my secret question")

        async def lose(key_id: str) -> None:
            await admin.call("DELETE", f"/v1/keys/{key_id}")
            await page.get_by_role("button", name="Search", exact=True).click()
            await expect(dialog).to_contain_text("revoked or expired")

        await lose(keys[0]["id"])
        await console.log_in(keys[1]["key"])
        await expect(dialog).to_have_count(0)
        await expect(question).to_have_value("my secret question")
        await expect(page.locator("section .empty")).to_contain_text("No hit")  # asked again
        await lose(keys[1]["id"])
        await console.log_in(ana.key)

        await expect(page.locator("header")).to_contain_text("ana")
        await expect(question).to_have_value("")
        assert "secret" not in page.url

    @pytest.mark.thorough
    async def test_a_key_that_expires_is_asked_for_again_and_the_page_goes_on(
        self, console: Console, gateway: Gateway, admin: Caller
    ) -> None:
        first = await gateway.caller("eve", roles=["writer"])
        second = await gateway.caller("eve", roles=["writer"])
        key_id = (await first.call("GET", "/v1/caller")).json()["key_id"]
        await console.open(first.key, "#/jobs")
        await expect(console.page.locator("main")).to_contain_text("No jobs")

        expired = await admin.call("POST", f"/v1/keys/{key_id}/rotate", json={"overlap_s": 0})
        assert expired.status_code == 201
        dialog = console.page.get_by_role("dialog")  # the page asks by itself
        await expect(dialog).to_contain_text("revoked or expired")
        assert await console.violations() == []
        await console.log_in(second.key)

        await expect(dialog).to_have_count(0)
        await expect(console.page.get_by_role("alert")).to_have_count(0)
        await expect(console.page.locator("main")).to_contain_text("No jobs")


@pytest.mark.thorough
async def test_a_gateway_that_restarts_is_waited_for_and_nothing_is_lost(
    settings: Settings, embedder: Embedder, browser: Browser
) -> None:
    context = await browser.new_context()
    async with serving(settings, embedder) as url, connected(url) as client:
        gateway = Gateway(client)
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", "Everybody gets 25 days of annual leave.")
        console, entering = await tab(context, url), await tab(context, url)
        await console.open(ana.key)
        await console.page.get_by_label("Question", exact=True).fill("annual leave")
        await entering.page.goto(f"{url}/console")

    await entering.log_in(ana.key)
    await expect(entering.page.get_by_role("alert")).to_contain_text("does not answer")
    await console.page.get_by_role("button", name="Search", exact=True).click()
    await expect(console.page.get_by_role("alert")).to_contain_text("does not answer")
    async with serving(settings, embedder, port=urlsplit(url).port or 0):
        await expect(console.page.locator(".status")).to_contain_text("is back")

        await expect(console.page.locator(".hit")).to_have_count(1)
        await expect(entering.page.locator("header")).to_contain_text("ana")
        await context.close()


class TestForEveryone:
    @pytest.mark.thorough
    async def test_light_and_dark_follow_the_system_until_one_chooses(
        self, browser: Browser, gateway: Gateway, ana: Caller
    ) -> None:
        """And the first link of the page skips to the content."""
        context = await browser.new_context(color_scheme="dark", viewport=PHONE)
        opened = await tab(context, str(gateway.client.base_url).rstrip("/"))
        await opened.open(ana.key)
        first = opened.page.locator("a, button, input").first
        await first.focus()
        await expect(first).to_have_text("Skip to the content")
        await opened.page.keyboard.press("Enter")
        await expect(opened.page.locator("#content")).to_be_focused()
        background = "() => getComputedStyle(document.body).backgroundColor"

        dark = await opened.page.evaluate(background)
        await opened.page.get_by_role("button", name="Light or dark").click()
        light = await opened.page.evaluate(background)
        await opened.open(ana.key)

        assert dark != light
        assert await opened.page.evaluate(background) == light
        await context.close()


@pytest.mark.sampled("questions", "jobs")
@pytest.mark.parametrize(
    ("page_name", "control", "choice", "address"),
    [
        ("questions", "button", "Dismissed", "#/questions?state=dismissed"),
        ("faqs", "button", "Inactive", "#/faqs?state=inactive"),
        ("faqs", "Category", "people (1)", "#/faqs?category=%3Dpeople"),
        ("jobs", "State", "failed", "#/jobs?state=failed"),
        ("operation", "Time", "30 days", "#/operation?step=day"),
    ],
    ids=["questions", "faqs", "category", "jobs", "operation"],
)
async def test_what_is_chosen_has_an_address_and_back_brings_the_page_before(
    console: Console,
    gateway: Gateway,
    admin: Caller,
    page_name: str,
    control: str,
    choice: str,
    address: str,
) -> None:
    faq = {"question": "How many days?", "answer": "25.", "category": "people"}
    await admin.call("PUT", "/v1/faqs/days", json=faq)
    key = gateway.operator.key if page_name == "operation" else admin.key
    page = console.page
    await console.open(key, f"#/{page_name}")
    await console.settle()

    async def expect_chosen(*, is_chosen: bool) -> None:
        if control == "button":
            button = page.get_by_role("button", name=choice)
            await expect(button).to_have_attribute("aria-pressed", str(is_chosen).lower())
        else:
            selected = page.get_by_label(control, exact=True).locator("option:checked")
            expected = expect(selected)
            await (
                expected.to_have_text(choice) if is_chosen else expected.not_to_have_text(choice)
            )

    await expect_chosen(is_chosen=False)
    if control == "button":
        await page.get_by_role("button", name=choice).click()
    else:
        await page.get_by_label(control, exact=True).select_option(choice)
    await expect_chosen(is_chosen=True)
    assert urlsplit(page.url).fragment == address.removeprefix("#")

    await page.go_back()
    await expect_chosen(is_chosen=False)
    await page.goto("about:blank")
    await console.open(key, address)
    await expect_chosen(is_chosen=True)


async def test_a_writer_is_offered_nothing_that_is_an_admins(console: Console, ana: Caller) -> None:
    page = console.page
    await console.open(ana.key, "#/faqs")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Search")
    await console.go("Documents")
    await page.goto(f"{console.url}/console#/insight")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Search")

    for name in ("FAQs", "Insight"):
        await expect(page.get_by_role("link", name=name)).to_have_count(0)
    await expect(page.get_by_text("See as somebody else")).to_have_count(0)


class TestFirstSteps:
    @pytest.mark.thorough
    async def test_somebody_who_finds_nothing_yet_is_told_what_to_do_first(
        self, console: Console, gateway: Gateway
    ) -> None:
        fresh = await gateway.new_tenant()
        admin = await gateway.caller("noor", tenant=fresh, roles=["admin"])
        await console.open(admin.key)
        steps = console.page.get_by_role("region", name="First steps")

        await expect(steps.get_by_role("listitem")).to_have_count(4)
        assert await console.violations() == []
        await steps.get_by_role("link", name="Open Documents").click()
        await expect(console.page.locator(".empty")).to_contain_text("Write one, upload files")
        await admin.put("leave", "25 days.")
        await console.page.get_by_role("link", name="ask a question").click()

        await expect(console.page.locator(".empty")).to_contain_text("Ask a question")
        await expect(steps).to_have_count(0)

    async def test_a_reader_is_told_that_nothing_is_shared_yet(
        self, console: Console, gateway: Gateway
    ) -> None:
        fresh = await gateway.new_tenant()
        reader = await gateway.caller("noor", tenant=fresh, roles=["reader"])

        await console.open(reader.key)

        await expect(console.page.locator(".empty")).to_contain_text("Nothing is shared with you")
