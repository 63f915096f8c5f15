"""The pages of keys, tokens and groups."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import expect

from tests.gateway.extensions.console.browser import PHONE, Console
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LISTS = ("keys", "tokens")


async def created(console: Console) -> str:
    """The secret that the dialog shows; closes it."""
    secret = await console.page.locator("dialog pre").inner_text()
    await console.page.get_by_role("button", name="I have stored it").click()
    await expect(console.page.get_by_role("dialog")).to_have_count(0)
    return secret


@pytest.mark.thorough
async def test_a_key_is_shown_once_and_works(
    console: Console, gateway: Gateway, admin: Caller
) -> None:
    await console.open(admin.key, "#/keys")
    page = console.page

    await page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Subject").fill("eve")
    await dialog.get_by_label("Name").fill("Eve's laptop")
    await dialog.get_by_label("Groups").fill("sales, board")
    await dialog.get_by_role("button", name="Create").click()
    eve = Caller(gateway.client, await created(console))
    await console.settle()

    told = (await eve.call("GET", "/v1/caller")).json()
    assert (told["subject"], told["groups"]) == ("eve", ["board", "sales"])
    assert eve.key is not None
    assert eve.key not in await page.content()
    await expect(page.get_by_role("region", name="Keys")).to_contain_text("Eve's laptop")


async def test_a_new_key_has_few_rights_and_ends_and_is_shown_until_it_is_stored(
    console: Console, admin: Caller
) -> None:
    await console.open(admin.key, "#/keys")
    page = console.page
    await page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Subject").fill("eve and adam")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("without whitespace")
    await expect(dialog.get_by_label("Subject")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Subject").fill("eve")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog).to_contain_text("It is shown this once")

    for _ in range(3):
        await page.keyboard.press("Escape")
    await expect(dialog).to_contain_text("It is shown this once")
    await dialog.get_by_role("button", name="I have stored it").click()
    await expect(dialog).to_have_count(0)

    keys = (await admin.call("GET", "/v1/keys")).json()["keys"]
    (made,) = [key for key in keys if key["subject"] == "eve"]
    assert made["roles"] == ["reader"]
    lifetime = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89) < lifetime < timedelta(days=92)


@pytest.mark.thorough
async def test_a_dialog_goes_with_its_page_and_a_secret_stays(
    console: Console, admin: Caller
) -> None:
    await console.open(admin.key, "#/search")
    await console.go("Keys and tokens")
    dialog = console.page.get_by_role("dialog")
    await console.page.get_by_role("button", name="Create a key").click()

    await console.page.go_back()
    await expect(dialog).to_have_count(0)

    await console.go("Keys and tokens")
    await console.page.get_by_role("button", name="Create a key").click()
    await dialog.get_by_label("Subject").fill("eve")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog).to_contain_text("It is shown this once")
    await console.page.go_back()
    await expect(dialog).to_contain_text("It is shown this once")


@pytest.mark.thorough
async def test_on_a_phone_no_time_of_a_key_is_cut_off(console: Console, admin: Caller) -> None:
    await console.page.set_viewport_size(PHONE)
    await console.open(admin.key, "#/keys")
    created = console.page.locator("td[data-label=Created]").first
    await created.evaluate(  # as after its first use
        "cell => cell.querySelector('.small').append(cell.querySelector('time').cloneNode(true))"
    )

    cut_off = await console.page.locator("table.cards td").evaluate_all(
        "cells => cells.filter(each => each.scrollWidth > each.clientWidth).length"
    )

    assert cut_off == 0


@pytest.mark.thorough
async def test_a_field_that_is_wrong_is_told_in_the_dialog(console: Console, admin: Caller) -> None:
    await console.open(admin.key, "#/keys")
    await console.page.get_by_role("button", name="Create a key").click()
    dialog = console.page.get_by_role("dialog")

    await dialog.get_by_label("Subject").fill("eve and adam")
    await dialog.get_by_role("button", name="Create").click()

    await expect(dialog.get_by_role("alert")).to_contain_text("without whitespace")
    await expect(dialog.get_by_label("Subject")).to_have_attribute("aria-invalid", "true")


@pytest.mark.thorough
async def test_a_rotated_key_ends_when_that_is_said_and_a_key_is_revoked_after_a_question(
    console: Console, gateway: Gateway, admin: Caller
) -> None:
    eve = await gateway.caller("eve")
    key_id = (await eve.call("GET", "/v1/caller")).json()["key_id"]
    await console.open(admin.key, "#/keys")

    await console.page.get_by_role("button", name=f"Rotate {key_id}").click()
    await console.page.get_by_label("The old key ends").select_option("0")
    await console.page.get_by_role("button", name="Make the new key").click()
    successor = Caller(gateway.client, await created(console))
    told = (await successor.call("GET", "/v1/caller")).json()
    assert told["subject"] == "eve"
    problem(await eve.call("GET", "/v1/caller"), 401)

    await console.page.get_by_role("button", name=f"Revoke {told['key_id']}").click()
    await console.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(console.page.get_by_role("dialog")).to_have_count(0)
    await console.settle()

    problem(await successor.call("GET", "/v1/caller"), 401)
    row = console.page.get_by_role("row").filter(has_text=told["key_id"])
    await expect(row).to_contain_text("revoked")
    await expect(row.get_by_role("button")).to_have_count(0)


async def test_a_token_does_less_and_can_be_revoked(
    console: Console, gateway: Gateway, ben: Caller
) -> None:
    await console.open(ben.key, "#/keys")
    page = console.page
    await expect(page.get_by_role("region", name="Keys")).to_have_count(0)

    await page.get_by_role("button", name="Create a token").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("sales").uncheck()
    await dialog.get_by_label("private").uncheck()
    await dialog.get_by_role("button", name="Create").click()
    agent = Caller(gateway.client, await created(console))
    told = (await agent.call("GET", "/v1/caller")).json()
    assert (told["groups"], told["roles"]) == ([], ["reader"])
    assert told["scopes"] == ["shared", "tenant", "public"]
    await page.get_by_role("button", name=f"Revoke {told['key_id']}").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("No tokens")

    problem(await agent.call("GET", "/v1/caller"), 401)


@pytest.mark.thorough
async def test_an_admin_revokes_another_subjects_token(
    console: Console, ben: Caller, admin: Caller
) -> None:
    made = (await ben.call("POST", "/v1/tokens", json={})).json()
    await console.open(admin.key, "#/keys")

    await console.page.get_by_role("button", name=f"Revoke {made['id']}").click()
    await console.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(console.page.get_by_role("region", name="Tokens")).to_contain_text("No tokens")

    problem(await Caller(ben.client, made["token"]).call("GET", "/v1/caller"), 401)


@pytest.mark.thorough
async def test_members_are_added_and_removed_unless_a_key_names_the_group(
    console: Console, gateway: Gateway, admin: Caller
) -> None:
    eve = await gateway.caller("eve")
    await console.open(admin.key, "#/groups")
    page = console.page
    await expect(page.locator(".empty")).to_contain_text("No groups")

    await page.get_by_label("Group").fill("team/a")
    await page.get_by_label("Subject").fill("eve")
    await page.get_by_role("button", name="Add member").click()
    await page.get_by_role("link", name="team/a").click()
    await expect(page.locator("tbody")).to_contain_text("eve")
    assert (await eve.call("GET", "/v1/caller")).json()["groups"] == ["team/a"]
    await page.get_by_role("button", name="Remove eve").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.locator(".empty")).to_contain_text("No members")
    assert (await eve.call("GET", "/v1/caller")).json()["groups"] == []

    await gateway.caller("ben", groups=["sales"])
    await admin.call("PUT", "/v1/groups/sales/members/ben")
    await page.goto(f"{console.url}/console#/groups/sales")
    await page.get_by_role("button", name="Remove ben").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Remove").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("sales")  # his key names it


@pytest.mark.sampled("light")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(console: Console, ben: Caller, admin: Caller, scheme: str) -> None:
    await ben.call("POST", "/v1/tokens", json={"name": "agent"})
    await admin.call("PUT", "/v1/groups/sales/members/ben")
    await console.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await console.open(admin.key, "#/keys")
    assert await console.violations() == []
    await console.page.get_by_role("button", name="Create a key").click()
    assert await console.violations() == []
    await console.page.keyboard.press("Escape")
    await console.go("Groups")

    assert await console.violations() == []


async def test_a_page_of_keys_and_one_of_tokens_have_an_address_and_back_brings_the_page_before(
    console: Console, gateway: Gateway, admin: Caller
) -> None:
    await asyncio.gather(
        *(gateway.caller(f"{number:03}-{'long' * 20}-نص") for number in range(101)),
        *(admin.call("POST", "/v1/tokens", json={"name": f"agent {n}"}) for n in range(101)),
    )
    page = console.page
    keys, tokens = (page.get_by_role("navigation", name=f"Pages of {one}") for one in LISTS)
    await console.open(admin.key, "#/keys")
    await keys.get_by_role("button", name="Next page").click()
    await expect(keys).to_contain_text("Page 2")
    first = page.url
    await tokens.get_by_role("button", name="Next page").click()
    await expect(tokens).to_contain_text("Page 2")
    rows = await page.locator("main tbody").all_inner_texts()
    second = page.url

    await page.go_back()
    assert page.url == first
    await expect(tokens.get_by_role("button", name="First page")).to_have_count(0)
    await page.goto("about:blank")
    await console.open(admin.key, second.removeprefix(f"{console.url}/console"))
    await console.settle()
    assert await page.locator("main tbody").all_inner_texts() == rows
    await expect(keys.get_by_role("button", name="First page")).to_be_visible()
    await tokens.get_by_role("button", name="First page").click()
    await expect(keys.get_by_role("button", name="First page")).to_be_visible()

    await page.goto("about:blank")
    await console.open(gateway.operator.key, "#/keys")
    await expect(page.get_by_role("region", name="Keys")).to_have_count(0)
    await page.get_by_label("Tenant").fill(gateway.tenant_name)
    await page.get_by_role("button", name="Show keys").click()
    await expect(page.get_by_role("region", name="Keys").locator("tbody tr")).to_have_count(100)
    assert page.url.endswith(f"#/keys?tenant={gateway.tenant_name}")
    wider = await page.locator(".scroll").evaluate("each => each.scrollWidth - each.clientWidth")
    assert wider <= 0  # what one does with a key is in sight
    assert await console.violations() == []
